"""A table to small integer codes, by the schema and nothing else.

No content of a row can raise here, for an exception that depends on a row is itself a release: numbers are clipped to
their bounds, what is missing or no number takes the missing code (``low`` where none is declared), unknown categories
take the public fallback, records of unknown label are dropped.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.errors import TableError
from privet.schema.facts import Attribute, Categorical, Numeric, Schema
from privet.schema.tables import Array, Columns, as_column, cells_of, number_of, numbers_of, open_table

MAX_TABLE = 2**16  # entries of a lookup table; more would not stay in cache


@dataclass(frozen=True, eq=False, repr=False)
class Codes:
    """An encoded table. It holds private records, so it shows none, not even how many there are."""

    features: Array  # (attributes, records), one attribute contiguous, uint8 where that is enough, read-only
    labels: Array | None  # (records,)
    levels: Mapping[int, NDArray[np.int32]] | None = None  # attribute index -> quantised values, for sums

    def __repr__(self) -> str:
        return f"Codes(attributes={len(self.features)}, records=<private>)"


@dataclass(frozen=True, slots=True)
class Quantum:
    """The public step in which a numeric attribute is summed: exact integer sums have exact integer noise.

    A record contributes ``level = rint(clip(value) / step)``, from ``low`` to ``high``. Whole numbers within 2**30
    keep step 1; others are cut at 2**20 steps to the larger bound. A missing value has level 0 where the schema
    declares missing values, which then are to be left out of counts as well. Elsewhere it is read as the lower bound,
    as in its code: a 0 outside the bounds would be more than one record may contribute.
    """

    step: float
    low: int
    high: int

    @classmethod
    def of(cls, numeric: Numeric) -> Quantum:
        reach = max(abs(numeric.low), abs(numeric.high))
        whole = numeric.integer and reach <= 2**30 and numeric.low.is_integer() and numeric.high.is_integer()
        step = 1.0 if whole else max(reach / 2**20, math.ulp(0.0))  # the least number, should the quotient underflow
        return cls(step, round(numeric.low / step), round(numeric.high / step))

    @property
    def bound(self) -> int:
        """The most that one record can add to a sum, or take from it."""
        return max(abs(self.low), abs(self.high))

    def levels(self, numeric: Numeric, column: Any) -> NDArray[np.int32]:
        """The level of every cell of a column."""
        values = values_of(numeric, as_column(column))
        known = np.nan_to_num(values, nan=numeric.low, posinf=numeric.high, neginf=numeric.low)
        levels = np.rint(np.clip(known, numeric.low, numeric.high) / self.step).astype(np.int32)
        if numeric.missing is not None:
            levels[np.isnan(values)] = 0
        return levels


def encode(schema: Schema, table: Any, labels: Any = None, *, levels: bool = False) -> Codes:
    """Encode a table and its labels, which are a column of the table when not given apart.

    Tables: pandas, polars, pyarrow, a mapping of columns, a structured array (columns by name, in any order, others
    ignored), or a 2-D array with columns in schema order and the label last.
    """
    columns = open_for(table, schema, with_label=labels is None)
    classes = _label_codes(schema, columns.read(schema.label.name) if labels is None else as_column(labels))
    features = _features(schema, columns)
    quantised = {
        a: Quantum.of(attribute).levels(attribute, columns.read(attribute.name))
        for a, attribute in enumerate(schema.attributes)
        if levels and isinstance(attribute, Numeric)
    }
    if classes.size != features.shape[1]:
        raise TableError("labels must have one entry for each record of the table; their lengths differ")
    known = classes >= 0
    if not known.all():
        features, classes = np.compress(known, features, axis=1), classes[known]
        quantised = {a: column[known] for a, column in quantised.items()}
    classes = classes.astype(_code_type(schema.n_classes))
    for array in (features, classes, *quantised.values()):
        array.setflags(write=False)
    return Codes(features, classes, quantised if levels else None)


def encode_features(schema: Schema, table: Any) -> Array:
    """Encode a table for prediction: no label is needed and no record is dropped."""
    features = _features(schema, open_for(table, schema, with_label=False))
    features.setflags(write=False)
    return features


def decode_labels(schema: Schema, codes: Any) -> Array:
    """The declared labels of label codes, of their own type (objects where the types are mixed)."""
    values = schema.label.values
    alike = len({type(value) for value in values}) == 1
    return np.asarray(values, dtype=None if alike else object)[np.asarray(codes, dtype=np.intp)]


def open_for(table: Any, schema: Schema, *, with_label: bool) -> Columns:
    columns = open_table(table, (*schema.names, schema.label.name))
    wanted = (*schema.names, schema.label.name) if with_label else schema.names
    lacking = [name for name in wanted if name not in columns.names]
    if lacking:
        raise TableError(f"the table lacks {', '.join(map(repr, lacking))}; expected the columns {', '.join(wanted)}")
    return columns


def _features(schema: Schema, columns: Columns) -> Array:
    dtype = _code_type(max(schema.arities))
    features = np.empty((len(schema.attributes), columns.read(schema.names[0]).size), dtype)
    for row, attribute in zip(features, schema.attributes, strict=True):
        column = columns.read(attribute.name)
        if column.size != row.size:
            raise TableError(f"column {attribute.name!r} differs in length from {schema.names[0]!r}")
        _encode_column(attribute, column, row)
    return features


def _code_type(arity: int) -> type[np.unsignedinteger[Any]]:
    return np.uint8 if arity <= 256 else np.uint16


def _encode_column(attribute: Attribute, column: Array, out: Array, unknown: int | None = None) -> None:
    """Integers through a table of all they can be, which never copies them as floats; the rest cell by cell."""
    if column.dtype.kind in "biu":
        if column.dtype.itemsize == 1:
            # Through bytes, so that int8 and bool index the table without a sign.
            every = np.arange(256, dtype=np.uint8).view(np.int8 if column.dtype.kind == "i" else np.uint8)
            np.take(_codes(attribute, every, unknown).astype(out.dtype), column.view(np.uint8), out=out, mode="clip")
            return
        limits = np.iinfo(column.dtype)
        low, high = _integer_span(attribute)
        low, high = max(low, int(limits.min)), min(high, int(limits.max))
        if 0 <= high - low < min(MAX_TABLE, column.size):
            codes = _codes(attribute, np.arange(low, high + 1), unknown).astype(out.dtype)
            np.take(codes, np.clip(column, low, high).astype(np.intp) - low, out=out, mode="clip")
            return
    out[:] = _codes(attribute, column, unknown)


def _integer_span(attribute: Attribute) -> tuple[int, int]:
    """Whole numbers at both ends beyond which every whole number has the same code."""
    if isinstance(attribute, Numeric):
        marker = number_of(attribute.missing)
        told = [attribute.low, attribute.high, *([marker] if math.isfinite(marker) else [])]
    else:
        told = [key for key in spellings_of(attribute) if not isinstance(key, str)] or [0.0]
    return math.floor(min(told)) - 1, math.ceil(max(told)) + 1


def _codes(attribute: Attribute, column: Array, unknown: int | None = None) -> Array:
    if isinstance(attribute, Categorical):
        codes: Array = find_codes(spellings_of(attribute), column)
        codes[codes < 0] = attribute.fallback if unknown is None else unknown
        return codes
    values = values_of(attribute, column)
    # No need to clip: all cuts lie within the bounds, so values beyond a bound already share its bin.
    codes = np.searchsorted(attribute.cuts, values, side="left")
    codes[np.isnan(values)] = 0 if attribute.missing is None else attribute.arity - 1
    return codes


def _label_codes(schema: Schema, column: Array) -> Array:
    """Codes of labels, -1 where unknown."""
    codes = np.empty(column.size, np.int32)
    _encode_column(schema.label, column, codes, unknown=-1)
    return codes


def spellings_of(attribute: Categorical) -> dict[Any, int]:
    """Every way to write a declared value, the exact one first: "1" may arrive as 1 or 1.0, True as "true"."""
    spellings = {value: i for i, value in enumerate(attribute.values)}
    for i, value in enumerate(attribute.values):
        spellings.setdefault(str(value).strip(), i)
    # The shortest text has the first claim on a number: 1 means "1" rather than "01".
    for i, value in sorted(enumerate(attribute.values), key=lambda item: len(str(item[1]))):
        for way in _other_ways(value):
            spellings.setdefault(way, i)
    return spellings


def _other_ways(value: Any) -> Iterator[Any]:
    text = str(value).strip()
    if text.lower() in ("true", "false"):
        yield from (text.lower(), text.capitalize(), text.lower() == "true")
    number = number_of(text)
    if math.isfinite(number):
        yield from (number, str(number), *([str(int(number))] if number.is_integer() else []))


def find_codes(spellings: dict[Any, int], column: Array) -> NDArray[np.int32]:
    """The code of every cell, -1 where it is no declared value."""
    cells = cells_of(column)
    try:
        codes = np.array([spellings.get(cell, -1) for cell in cells], dtype=np.int32)
    except Exception:  # some cell cannot be hashed or compared: take them one at a time
        codes = np.full(len(cells), -1, np.int32)
    for row in np.flatnonzero(codes < 0).tolist():
        cell = cells[row]
        try:
            text = cell.decode(errors="replace") if isinstance(cell, bytes) else cell
            codes[row] = spellings.get(text.strip() if isinstance(text, str) else text, -1)
        except Exception:  # a cell may be any object whatever; it then is an unknown value
            continue
    return codes


def values_of(numeric: Numeric, column: Array) -> NDArray[np.float64]:
    """The numbers of a column, NaN where there is none."""
    values = numbers_of(column)
    marker = number_of(numeric.missing)
    return values if math.isnan(marker) else np.where(values == marker, np.nan, values)
