"""What a source declares about its columns, names and types, and what is refused because of it.

A fit must not raise because of a row, since everyone can see whether it raises. It may raise because of what no row can
change: the names of the columns, the width of an array, and types that the source fixes before it holds a record. A
refusal here depends on those and on the schema alone. Neighbouring tables agree in both, so they are refused together
or not at all. The proof is ``docs/proofs/refusals.md``.

Which types count as declared follows from one question: could a single cell have changed the type?

- Arrow (and so Parquet) and polars columns have a type that every cell has to obey: a null leaves it as it is, and a
  foreign cell does not get in. The same holds for pandas' nullable dtypes (``Int64``, ``boolean``, ...) and its
  ``ArrowDtype``, which pandas never picks by itself.
- NumPy's dtypes, and those that pandas infers (``object``, ``int64``, ``float64``, ``bool``, ``str``, but also
  ``datetime64``, ``period`` and ``interval``, and the categories of a ``category``), say what the cells happened to be:
  ``read_csv(parse_dates=...)`` gives dates, and text as soon as one cell is no date. They never decide.
- Arrow's and polars' *null* type says only that no cell was there to infer a type from. It never decides either.

A type is refused only where every value that it can hold would be missing or unknown.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

import narwhals as nw
import numpy as np

from privet.errors import TableError
from privet.schema.facts import Attribute, Numeric, Schema
from privet.schema.tables import is_nameless, number_of

_NULLABLE = re.compile(r"(U?Int|Float)\d+")  # pandas' nullable numbers; NumPy's names are in small letters


class Kind(StrEnum):
    """Declared types, only as fine as needed to see that no value of a type can fit. Text can be anything."""

    BOOLEAN = "booleans"
    NUMBER = "numbers"
    TIME = "dates, times or durations"
    NESTED = "lists or records"


def refuse_source(schema: Schema, table: Any, labels: Any = None, *, with_label: bool) -> None:
    """Raise ``TableError`` for names, a width or declared types with which no record could be read.

    ``with_label`` says whether the label is needed, from the table or given apart as ``labels``. Only names and types
    are read. What cannot be decided from them is not refused.

    >>> import polars
    >>> from privet.schema import Categorical, Schema
    >>> schema = Schema((Categorical("cough", (False, True)),), Categorical("class", ("Healthy", "Sick")))
    >>> table = polars.DataFrame({"cough": [True, False], "class": [True, False]})
    >>> refuse_source(schema, table, with_label=True)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    privet.errors.TableError: column 'class' is declared to hold booleans, and no label of the schema is written so...
    """
    inside = with_label and labels is None
    wanted = (*schema.attributes, schema.label) if inside else schema.attributes
    columns = None
    if is_nameless(table):
        _refuse_width(schema, table, inside)
    else:
        columns = _columns(table)
    unit = schema.unit if with_label else None
    if columns is not None:
        _refuse_lacking([fact.name for fact in (*wanted, *([unit] if unit else []))], columns)
    elif unit is not None:
        raise TableError(f"an array has no names, so nobody can tell {unit.name!r} in it; give a frame")
    declared = [(attribute, kind_of((columns or {}).get(attribute.name))) for attribute in wanted]
    if with_label and labels is not None:
        declared.append((schema.label, kind_of(labels)))
    refused = [
        _refusal(attribute, kind, attribute is schema.label)
        for attribute, kind in declared
        if kind is not None and not _may_hold(attribute, kind)
    ]
    if refused:
        raise TableError("; ".join(refused) + (". Nothing was charged" if with_label else ""))


def attribute_order(schema: Schema, table: Any) -> tuple[str, ...] | None:
    """The schema's attributes in the order in which a table with names has them; None for one without names."""
    if is_nameless(table):
        return None
    return tuple(name for name in _columns(table) or () if name in schema.names)


def kind_of(column: Any) -> Kind | None:
    """The kind of values that a column is declared to hold; None where no type was declared, or one that fits all."""
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


def _arrow_kind(dtype: Any) -> Kind | None:
    from pyarrow import types  # type: ignore[import-untyped]

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
    """Whether some value of that kind could be one of the attribute's. Says yes where that is not sure."""
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
    listed = ", ".join(map(repr, attribute.values[:5])) + (", ..." if len(attribute.values) > 5 else "")
    whose = "no label" if is_label else "no value"
    return f"{where}, and {whose} of the schema is written so; write the values as {listed}, or change the schema"


# ---- names --------------------------------------------------------------------------------------------------------


def _columns(table: Any) -> dict[str, Any] | None:
    """The columns as their library has them, by name; None for a table of some foreign make."""
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


_TWICE = "two columns of the table have the same name, so that nobody can tell which is meant; rename or drop one"


def _refuse_lacking(wanted: Sequence[str], columns: Mapping[str, Any]) -> None:
    lacking = [name for name in wanted if name not in columns]
    if not lacking:
        return
    message = f"the table lacks {', '.join(map(repr, lacking))}; expected the columns "
    message += ", ".join(wanted)
    if any(name.endswith(f"__{short}") for name in columns for short in lacking):
        message += ". A ColumnTransformer puts its steps' names in front: set verbose_feature_names_out=False"
    elif columns and all(name.isdigit() for name in columns):
        message += ". Its columns have numbers for names: name them, or give an array with columns in this order"
    raise TableError(message)


def _refuse_width(schema: Schema, array: Any, inside: bool) -> None:
    """Only an array has a width: that of a list is the width of its records, and they must not decide."""
    if not isinstance(array, np.ndarray):
        return
    expected = (*schema.names, schema.label.name) if inside else schema.names
    if array.ndim == 2 and array.shape[1] != len(expected):
        raise TableError(
            f"the array has {array.shape[1]} columns; expected {len(expected)}, in this order: {', '.join(expected)}. "
            "An array has no names, so that its columns are read in the schema's order; give a frame to go by names"
        )
