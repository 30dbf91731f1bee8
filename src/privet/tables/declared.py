"""Declared names and types of a source's columns, and refusals that follow from them.

A fit must not raise because of a row, since everyone can see whether it raises. It may raise because of what no row can
change: the names of the columns, the width of an array, and types that the source fixes before it holds a record. A
refusal here depends on those and on the schema alone. Neighbouring tables agree in both, so they are refused together
or not at all. The proof is ``docs/proofs/refusals.md``.

Which types count as declared follows from one question: could a single cell have changed the type?

- Arrow (and so Parquet) and polars columns have a type that every cell has to obey: a null leaves it as it is, and a
  foreign cell does not get in. The same holds for pandas' nullable dtypes (``Int64``, ``boolean``, ...) and its
  ``ArrowDtype``, which pandas never picks by itself.
- NumPy's integers and floats, of a *label* that no number can be, are refused as well: a caller who passes an array of
  numbers declares its labels to be numbers. A missing label leaves them numbers. A text among them would not, so that
  must have been settled before the array was made (the condition in ``docs/proofs/refusals.md``).
- In all else the dtypes of NumPy, and those that pandas infers (``object``, ``int64``, ``float64``, ``bool``, ``str``,
  but also ``datetime64``, ``period`` and ``interval``, and the categories of a ``category``), say what the cells
  happened to be: ``read_csv(parse_dates=...)`` gives dates, and text as soon as one cell is no date. They never decide.
- Arrow's and polars' *null* type says only that no cell was there to infer a type from. It never decides either.

A type is refused only where every value that it can hold would be missing or unknown. The column of the unit is the
exception: there a floating type is refused wherever it stands, NumPy's and pandas' too, since floats can make one
person of two.
"""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

import narwhals as nw
import numpy as np

from privet.errors import MissingColumnsError, TableError
from privet.schema.attributes import Attribute, Numeric, column_read
from privet.schema.facts import Schema
from privet.tables.foreign import nearest_column
from privet.tables.frames import is_nameless, known_series, number_of
from privet.tables.units import FLOATING, floating_unit

_NULLABLE = re.compile(r"(U?Int|Float)\d+")  # pandas' nullable numbers; NumPy's names are in small letters


class Kind(StrEnum):
    """Declared types, only as fine as needed to see that no value of a type can fit. Text can be anything."""

    BOOLEAN = "booleans"
    NUMBER = "numbers"
    TIME = "dates, times or durations"
    NESTED = "lists or records"


def refuse_source(schema: Schema, table: Any, labels: Any = None, *, with_label: bool) -> None:
    """Raise ``TableError`` for names, a width or declared types with which no record could be read.

    ``with_label`` says whether the label is needed, from the table or given separately as ``labels``. Only names and
    types are read. Undecidable cases are not refused.

    >>> import polars
    >>> from privet.schema import Categorical, Schema
    >>> schema = Schema((Categorical("cough", (False, True)),), Categorical("class", ("Healthy", "Sick")))
    >>> table = polars.DataFrame({"cough": [True, False], "class": [True, False]})
    >>> refuse_source(schema, table, with_label=True)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    privet.errors.TableError: column 'class' is declared to hold booleans, and no label of the schema is written so...
    """
    refuse_sparse(table)
    inside = with_label and labels is None
    wanted = (*schema.attributes, schema.label) if inside else schema.attributes
    columns = None
    if is_nameless(table):
        _refuse_width(schema, table, inside)
    else:
        columns = _columns(table)
    unit = schema.unit if with_label else None
    if columns is not None:
        _refuse_lacking(
            list(dict.fromkeys([*map(column_read, wanted), *([unit.name] if unit else [])])), columns, schema.label.name
        )
    elif unit is not None:
        raise TableError(f"an array has no column names, so its column {unit.name!r} cannot be found; give a frame")
    declared = [
        (attribute, kind_of((columns or {}).get(attribute.name)))
        for attribute in schema.attributes
        if attribute.reading is None or not attribute.reading.changes_cells
    ]
    if with_label:
        declared.append((schema.label, _label_kind(schema, table, columns, labels)))
    refused = [
        _refusal(attribute, kind, attribute is schema.label)
        for attribute, kind in declared
        if kind is not None and not _may_hold(attribute, kind)
    ]
    if unit is not None and is_floating((columns or {})[unit.name]):
        refused.append(floating_unit(unit.name))
    if refused:
        raise TableError("; ".join(refused) + (". Nothing was charged" if with_label else ""))


def refuse_sparse(table: Any) -> None:
    """Raise for a sparse matrix: an encoder made it from columns that privet reads by itself.

    >>> import scipy.sparse
    >>> refuse_sparse(scipy.sparse.eye(3))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    privet.errors.TableError: X is a sparse matrix; do not one-hot encode: privet reads categories by itself...
    """
    if hasattr(table, "tocsr"):
        raise TableError("X is a sparse matrix", parameter="X", fix=f"{_ONE_HOT}. {_GIVE}")


_ONE_HOT = "do not one-hot encode: privet reads categories by itself"
_GIVE = "Give the table as it was before, a column for each attribute of the schema"


def _label_kind(schema: Schema, table: Any, columns: Mapping[str, Any] | None, labels: Any) -> Kind | None:
    """The kind of the labels, wherever they are. NumPy's numeric dtypes count as declared here."""
    if labels is not None:
        _refuse_wide_labels(schema, labels)
        column = known_series(labels) if len(getattr(labels, "shape", ())) == 2 else labels
    elif columns is None and len(getattr(table, "shape", (0, 0))) != 2:
        return None  # not a table: opening it raises
    else:
        column = table if columns is None else columns[schema.label.name]
    dtype = getattr(nw.to_native(column, pass_through=True), "dtype", None)
    numbers = isinstance(dtype, np.dtype) and dtype.kind in "iuf"
    return Kind.NUMBER if numbers else kind_of(column)


def _refuse_wide_labels(schema: Schema, labels: Any) -> None:
    """Raise for labels of more than one column, by the shape of an array or a frame."""
    shape = getattr(labels, "shape", ())
    if hasattr(labels, "tocsr") or (isinstance(shape, tuple) and len(shape) == 2 and shape[1] != 1):
        such = "one number for each record" if schema.predicts_number else f"such as {_listed(schema.classes)}"
        fix = f"do not one-hot encode labels: give the labels themselves, {such}"
        raise TableError("y must be one column", parameter="y", fix=fix)


def attribute_order(schema: Schema, table: Any) -> tuple[str, ...] | None:
    """The schema's attributes in the order of a table with names; None for one without names."""
    if is_nameless(table):
        return None
    return tuple(name for name in _columns(table) or () if name in schema.inputs)


def kind_of(column: Any) -> Kind | None:
    """The kind of values that a column is declared to hold; None if no type was declared, or one that fits all."""
    column = nw.to_native(column, pass_through=True)
    dtype = getattr(column, "dtype", getattr(column, "type", None))
    arrow = getattr(dtype, "pyarrow_dtype", dtype)  # of pandas' ArrowDtype
    home = type(arrow).__module__.partition(".")[0]
    if home == "pyarrow":
        return _arrow_kind(arrow)
    if home == "polars":
        return _polars_kind(arrow)
    if home == "pandas":
        name = str(getattr(dtype, "name", ""))
        return Kind.BOOLEAN if name == "boolean" else Kind.NUMBER if _NULLABLE.fullmatch(name) else None
    return None


def is_floating(column: Any) -> bool:
    """Whether a column has a floating type of any library, also as a category or a dictionary.

    >>> import pandas
    >>> is_floating(pandas.Series([1, None])), is_floating(pandas.Series([1, None], dtype="Int64")), is_floating([1.0])
    (True, False, False)
    """
    column = nw.to_native(column, pass_through=True)
    dtype: Any = getattr(column, "dtype", getattr(column, "type", None))
    dtype = getattr(dtype, "pyarrow_dtype", dtype)  # of pandas' ArrowDtype
    dtype = getattr(getattr(dtype, "categories", None), "dtype", dtype)  # of pandas' category
    dtype = getattr(dtype, "value_type", dtype)  # of Arrow's dictionary
    home = type(dtype).__module__.partition(".")[0]
    if home == "pyarrow":
        from pyarrow import types  # type: ignore[import-untyped]

        return bool(types.is_floating(dtype))
    if home == "polars":
        return bool(dtype.is_float())
    if isinstance(column, array | memoryview) or (home not in ("numpy", "pandas") and hasattr(column, "__array__")):
        dtype = np.asarray(column).dtype
    return getattr(dtype, "kind", "") in tuple(FLOATING)


def _arrow_kind(dtype: Any) -> Kind | None:
    from pyarrow import types

    if types.is_boolean(dtype):
        return Kind.BOOLEAN
    if types.is_integer(dtype) or types.is_floating(dtype) or types.is_decimal(dtype):
        return Kind.NUMBER
    if types.is_temporal(dtype):
        return Kind.TIME
    return Kind.NESTED if types.is_nested(dtype) else None


def _polars_kind(dtype: Any) -> Kind | None:
    if type(dtype).__name__ == "Boolean":
        return Kind.BOOLEAN
    if dtype.is_numeric():
        return Kind.NUMBER
    if dtype.is_temporal():
        return Kind.TIME
    return Kind.NESTED if dtype.is_nested() else None


def _may_hold(attribute: Attribute, kind: Kind) -> bool:
    """Whether some value of that kind could be one of the attribute's; True if in doubt."""
    if kind is Kind.NESTED:
        return False
    if isinstance(attribute, Numeric):
        return kind is not Kind.TIME  # True is read as 1
    written = [str(value).strip().lower() for value in attribute.values]
    numbers = [number_of({"true": "1", "false": "0"}.get(text, text)) for text in written]
    if kind is Kind.BOOLEAN:
        return any(number in (0, 1) for number in numbers)
    if kind is Kind.NUMBER:
        return any(math.isfinite(number) for number in numbers)
    return any(character.isdigit() for text in written for character in text)  # no date is written without a digit


def _refusal(attribute: Attribute, kind: Kind, is_label: bool) -> str:
    where = f"column {attribute.name!r} is declared to hold {kind}"
    if kind is Kind.NESTED:
        return f"{where}, and an attribute is a single value; take the part that is meant"
    if isinstance(attribute, Numeric):
        return f"{where}, and the schema declares a number; give one, such as the year or the number of days"
    listed = _listed(attribute.values)
    whose = "no label" if is_label else "no value"
    return f"{where}, and {whose} of the schema is written so; write the values as {listed}, or change the schema"


def _listed(values: Sequence[Any]) -> str:
    return ", ".join(map(repr, values[:5])) + (", ..." if len(values) > 5 else "")


# ---- names --------------------------------------------------------------------------------------------------------


def _columns(table: Any) -> dict[str, Any] | None:
    """The columns as their library has them, by name; None for an unknown kind of table."""
    if isinstance(table, Mapping):
        pairs = list(table.items())
    elif isinstance(table, np.ndarray):
        pairs = [(name, table[name]) for name in table.dtype.names or ()]
    else:
        try:
            frame = nw.from_native(table, eager_only=True)
            pairs = [(name, frame.get_column(name)) for name in frame.columns]
        except nw.exceptions.DuplicateError:
            raise TableError(_TWICE) from None  # the library's message would show the table's own names
        except (TypeError, nw.exceptions.NarwhalsError):
            return None
    columns = {str(name): column for name, column in pairs}
    if len(columns) < len(pairs):
        raise TableError(_TWICE)
    return columns


_TWICE = "two columns of the table have the same name; rename or drop one"


def _refuse_lacking(wanted: Sequence[str], columns: Mapping[str, Any], label: str) -> None:
    lacking = [name for name in wanted if name not in columns]
    if not lacking:
        return
    message = f"the table lacks {', '.join(map(repr, lacking))}; expected the columns "
    message += ", ".join(wanted)
    if any(name.endswith(f"__{short}") for name in columns for short in lacking):
        message += ". A ColumnTransformer puts its steps' names in front: set verbose_feature_names_out=False"
    elif any(name.startswith(f"{short}{mark}") for name in columns for short in lacking for mark in "_=") or any(
        _is_sparse(column) for column in columns.values()
    ):
        message += f". {_ONE_HOT[0].upper()}{_ONE_HOT[1:]}. {_GIVE}"
    elif {name.casefold() for name in lacking} <= {name.casefold() for name in columns}:
        message += ". Its names differ from the schema's in capital letters"
    elif lacking == [label]:
        message += ". Or give the labels apart, as y"
    elif len(lacking) == 1 and (meant := nearest_column(lacking[0], wanted, list(columns))):
        message += f"; {meant}"
    elif columns and all(name.isdigit() for name in columns):
        message += ". Its columns have numbers for names: name them, or give an array with columns in this order"
    raise MissingColumnsError(message, tuple(lacking))


def _is_sparse(column: Any) -> bool:
    """Whether a column is a sparse one of pandas, as encoders make them."""
    return str(getattr(nw.to_native(column, pass_through=True), "dtype", "")).startswith("Sparse")


def _refuse_width(schema: Schema, array: Any, inside: bool) -> None:
    """Only an array has a width: that of a list is the width of its records, which must not decide."""
    if not isinstance(array, np.ndarray):
        return
    expected = (*schema.inputs, schema.label.name) if inside else schema.inputs
    if array.ndim == 2 and array.shape[1] != len(expected):
        raise TableError(
            f"the array has {array.shape[1]} columns; expected {len(expected)}, in this order: {', '.join(expected)}. "
            "An array has no names, so that its columns are read in the schema's order; give a frame to go by names"
            + (f". If it comes from an encoder: {_ONE_HOT}" if array.shape[1] > len(expected) else "")
        )
