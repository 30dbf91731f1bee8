"""Encode a table as small integer codes. The codes of a record depend only on the schema and its own cells.

:func:`privet.tables.cells.reader_of` defines the code of a cell. Where that finds none, it is the attribute's public
``fallback``; a record whose label is unknown is dropped. The code here computes the same faster. No content of a row
can raise, since an exception that depends on a row is a release. So tables that differ by one record become codes that
differ by at most one record, and the codes of two batches are the codes of their union.

The proof is in ``docs/proofs/encoding.md``, the treatment of each value in ``docs/guide/values.md``.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.errors import MissingColumnsError, TableError
from privet.schema.attributes import Attribute, Categorical, Numeric
from privet.schema.facts import Schema, Unit
from privet.tables.cells import UNKNOWN, each, number_of, reader_of, spellings_of
from privet.tables.frames import Array, Columns, as_column, cells_of, numbers_of, open_table
from privet.tables.readings import read_columns

MAX_TABLE = 2**16  # entries of a lookup table; more would not stay in cache


@dataclass(frozen=True, eq=False, repr=False)
class Codes:
    """An encoded table. It holds private records, so its repr shows none, not even their number."""

    features: Array  # (attributes, records), one attribute contiguous, uint8 where that is enough, read-only
    labels: Array | None  # (records,)
    levels: Mapping[int, NDArray[np.int32]] | None = None  # attribute index -> quantised values, for sums
    unit: Unit | None = None  # each has at most its bound of rows here

    def __repr__(self) -> str:
        return f"Codes(attributes={len(self.features)}, records=<private>)"


@dataclass(frozen=True, slots=True)
class Quantum:
    """The public step in which a numeric attribute is summed. Sums are then integers and get exact integer noise.

    A record contributes ``level = rint(clip(value) / step)``, from ``low`` to ``high``. Whole numbers within 2**30 keep
    step 1; for others the larger bound is 2**20 steps. Where the schema declares missing values, a missing value has
    level 0, and must be left out of counts as well. Elsewhere it is the midpoint of the bounds, as in its code: a 0
    outside the bounds would exceed what one record may contribute.
    """

    step: float
    low: int
    high: int

    @classmethod
    def of(cls, numeric: Numeric) -> Quantum:
        reach = max(abs(numeric.low), abs(numeric.high))
        whole = numeric.integer and reach <= 2**30 and numeric.low.is_integer() and numeric.high.is_integer()
        step = 1.0 if whole else max(reach / 2**20, math.ulp(0.0))  # the smallest number, if the quotient underflows
        return cls(step, round(numeric.low / step), round(numeric.high / step))

    @property
    def bound(self) -> int:
        """The most that one record can add to a sum, or subtract from it."""
        return max(abs(self.low), abs(self.high))

    def levels(self, numeric: Numeric, column: Any) -> NDArray[np.int32]:
        """The level of every cell of a column."""
        values = values_of(numeric, as_column(column))
        known = np.where(np.isnan(values), numeric.middle, values)
        levels = np.rint(np.clip(known, numeric.low, numeric.high) / self.step).astype(np.int32)
        if numeric.missing is not None:
            levels[np.isnan(values)] = 0
        return levels


def encode(schema: Schema, table: Any, labels: Any = None, *, levels: bool = False) -> Codes:
    """Encode a table and its labels, which are a column of the table unless given separately.

    Tables: pandas, polars, pyarrow, a mapping of columns, a structured array (columns by name, in any order, others
    ignored), or a 2-D array with columns in schema order and the label last.
    """
    columns = open_for(table, schema, with_label=labels is None)
    classes = read_labels(schema, columns, labels)
    features = _features(schema, columns)
    quantised = {
        a: Quantum.of(attribute).levels(attribute, read_values(attribute, columns))
        for a, attribute in enumerate(schema.attributes)
        if levels and isinstance(attribute, Numeric)
    }
    if classes.size != features.shape[1]:
        raise TableError("labels must have one entry for each record of the table; their lengths differ")
    known = classes >= 0
    if not known.all():
        features, classes = np.compress(known, features, axis=1), classes[known]
        quantised = {a: column[known] for a, column in quantised.items()}
    classes = classes.astype(code_type(schema.n_classes))
    for array in (features, classes, *quantised.values()):
        array.setflags(write=False)
    return Codes(features, classes, quantised if levels else None)


def encode_features(schema: Schema, table: Any) -> Array:
    """Encode a table for prediction: no label is needed and no record is dropped."""
    features = _features(schema, open_for(table, schema, with_label=False))
    features.setflags(write=False)
    return features


def decode_labels(schema: Schema, codes: Any) -> Array:
    """The declared labels of label codes, in their own type (objects if the types are mixed)."""
    values = schema.classes
    alike = len({type(value) for value in values}) == 1
    return np.asarray(values, dtype=None if alike else object)[np.asarray(codes, dtype=np.intp)]


def open_for(table: Any, schema: Schema, *, with_label: bool, with_unit: bool = False) -> Columns:
    columns = read_columns(schema, open_table(table, (*schema.inputs, schema.label.name)), with_label=with_label)
    wanted = (*schema.names, schema.label.name) if with_label else schema.names
    wanted += (schema.unit.name,) if with_unit and schema.unit else ()
    lacking = [name for name in wanted if name not in columns.names]
    if lacking:
        message = f"the table lacks {', '.join(map(repr, lacking))}; expected the columns {', '.join(wanted)}"
        raise MissingColumnsError(message, tuple(lacking))
    return columns


def _features(schema: Schema, columns: Columns) -> Array:
    dtype = code_type(max(schema.arities))
    first = read_codes(schema.attributes[0], columns, dtype, schema.attributes[0].fallback)
    features = np.empty((len(schema.attributes), first.size), dtype)
    features[0] = first
    for row, attribute in zip(features[1:], schema.attributes[1:], strict=True):
        column = read_codes(attribute, columns, dtype, attribute.fallback)
        if column.size != row.size:
            raise TableError(f"column {attribute.name!r} differs in length from {schema.names[0]!r}")
        row[:] = column
    return features


def read_codes(attribute: Attribute, columns: Columns, dtype: Any, unknown: int) -> Array:
    """The codes of one column of a table. If the table lists its distinct cells, each is read once."""
    repeated = columns.repeated(attribute.name)
    column = columns.read(attribute.name) if repeated is None else repeated.cells
    codes = np.empty(column.size + 1, dtype)
    encode_column(attribute, column, codes[:-1], unknown)
    codes[-1] = unknown  # of a null, whose place is -1
    return codes[:-1] if repeated is None else codes[repeated.places]


def read_values(numeric: Numeric, columns: Columns) -> NDArray[np.float64]:
    """The numbers of one column of a table, NaN if there is none."""
    repeated = columns.repeated(numeric.name)
    if repeated is None:
        return values_of(numeric, columns.read(numeric.name))
    return np.append(values_of(numeric, repeated.cells), np.nan)[repeated.places]


def code_type(arity: int) -> type[np.unsignedinteger[Any]]:
    return np.uint8 if arity <= 256 else np.uint16


def encode_column(attribute: Attribute, column: Array, out: Array, unknown: int) -> None:
    """The code of every cell by :func:`privet.tables.cells.reader_of`, or ``unknown``.

    The method depends on the column's type and the schema; all give the answer of the definition.
    """
    data, absent = np.ma.getdata(column), np.ma.getmask(column)
    if data.dtype.kind in "biu":
        _encode_integers(attribute, data, out, unknown)
    elif isinstance(attribute, Numeric):
        out[:] = bins_of(attribute, numbers_of(data), unknown)
    elif data.dtype.kind == "f":
        with np.errstate(over="ignore"):  # as in numbers_of
            out[:] = _matches(attribute, data.astype(np.float64, copy=False), unknown)
    else:
        codes = np.fromiter(each(reader_of(attribute), cells_of(data)), np.int32, data.size)
        out[:] = np.where(codes == UNKNOWN, unknown, codes)
    if np.any(absent):
        out[absent] = unknown


def _encode_integers(attribute: Attribute, column: Array, out: Array, unknown: int) -> None:
    """Encode by a lookup table of all relevant integers, without a copy as floats; unless they lie too far apart."""
    if column.dtype.itemsize == 1:
        # View them as bytes, so that int8 and bool can index the table without a sign.
        every = np.arange(256, dtype=np.uint8).view(np.int8 if column.dtype.kind == "i" else np.uint8)
        np.take(
            _integer_codes(attribute, every, unknown).astype(out.dtype), column.view(np.uint8), out=out, mode="clip"
        )
        return
    limits = np.iinfo(column.dtype)
    low, high = _integer_span(attribute)
    low, high = max(low, int(limits.min)), min(high, int(limits.max))
    if not 0 <= high - low < MAX_TABLE:
        out[:] = _integer_codes(attribute, column, unknown)
        return
    inside = np.clip(column, low, high)
    # Unsigned numbers may overflow intp before the subtraction, signed ones their own type after it.
    steps = inside - column.dtype.type(low) if column.dtype.kind == "u" else inside.astype(np.intp) - low
    every = np.array(range(low, high + 1), dtype=column.dtype)
    np.take(
        _integer_codes(attribute, every, unknown).astype(out.dtype),
        steps.astype(np.intp, copy=False),
        out=out,
        mode="clip",
    )


def _integer_span(attribute: Attribute) -> tuple[int, int]:
    """Whole numbers at both ends beyond which every whole number has the same code."""
    if isinstance(attribute, Numeric):
        marker = number_of(attribute.missing)
        numbers = [attribute.low, attribute.high, *([marker] if math.isfinite(marker) else [])]
    else:
        numbers = [key for key in spellings_of(attribute) if not isinstance(key, str)] or [0]
    return math.floor(min(numbers)) - 1, math.ceil(max(numbers)) + 1


def _integer_codes(attribute: Attribute, column: Array, unknown: int) -> Array:
    if isinstance(attribute, Numeric):
        return bins_of(attribute, numbers_of(column), unknown)
    return _matches(attribute, column, unknown)


def bins_of(numeric: Numeric, numbers: NDArray[np.float64], unknown: int) -> Array:
    values = _present(numeric, numbers)
    # No need to clip: all cuts lie within the bounds, so values beyond a bound already share its bin.
    codes = np.searchsorted(numeric.cuts, values, side="left")
    codes[np.isnan(values)] = unknown
    return codes


def _matches(attribute: Categorical, column: Array, unknown: int) -> Array:
    """The codes of numbers, by a search among the declared values that a column of this type can hold."""
    numbers = [(key, code) for key, code in spellings_of(attribute).items() if not isinstance(key, str)]
    if column.dtype.kind == "f":
        limit = sys.float_info.max
        code_of = {float(key): code for key, code in numbers if abs(key) <= limit and float(key) == key}
    else:
        least, most = np.iinfo(column.dtype).min, np.iinfo(column.dtype).max
        code_of = {int(key): code for key, code in numbers if least <= key <= most and int(key) == key}
    if not code_of:
        return np.full(column.size, unknown)
    keys = np.array(sorted(code_of), dtype=column.dtype)
    codes = np.array([code_of[key] for key in sorted(code_of)])
    place = np.minimum(np.searchsorted(keys, column), keys.size - 1)
    return np.where(keys[place] == column, codes[place], unknown)


def label_codes(schema: Schema, column: Array) -> Array:
    """Codes of labels, -1 where unknown."""
    codes = np.empty(column.size, np.int32)
    encode_column(schema.label, column, codes, UNKNOWN)
    return codes


def read_labels(schema: Schema, columns: Columns, labels: Any = None) -> Array:
    """Codes of labels, given separately or as a column of the table."""
    source = columns if labels is None else read_columns(schema, open_table({schema.label.name: labels}))
    return read_codes(schema.label, source, np.int32, UNKNOWN)


def values_of(numeric: Numeric, column: Array) -> NDArray[np.float64]:
    """The numbers of a column, NaN if there is none: :func:`privet.tables.cells.value_of`, a column at a time."""
    return _present(numeric, numbers_of(column))


def _present(numeric: Numeric, numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    marker = number_of(numeric.missing)
    return numbers if math.isnan(marker) else np.where(numbers == marker, np.nan, numbers)
