"""A table to small integer codes, by the schema and nothing else.

No content of a row can raise here, for an exception that depends on a row is itself a release: numbers are clipped to
their bounds, what is missing or no number takes the missing code (``low`` where none is declared), unknown categories
take the public fallback, records of unknown label are dropped. :func:`check` and :func:`infer` look at the records
themselves; they are for the data owner and lie outside privacy.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from privet.errors import TableError
from privet.schema import Attribute, Categorical, Numeric, Schema

Array = NDArray[Any]

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
        values = _values(numeric, as_column(column))
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
    columns = _open(table, schema, with_label=labels is None)
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
    features = _features(schema, _open(table, schema, with_label=False))
    features.setflags(write=False)
    return features


def decode_labels(schema: Schema, codes: Any) -> Array:
    """The declared labels of label codes, of their own type (objects where the types are mixed)."""
    values = schema.label.values
    alike = len({type(value) for value in values}) == 1
    return np.asarray(values, dtype=None if alike else object)[np.asarray(codes, dtype=np.intp)]


# ---- tables -------------------------------------------------------------------------------------------------------


class Columns(NamedTuple):
    """A table as named columns, each read only when asked for."""

    names: tuple[str, ...]
    read: Callable[[str], Array]


def open_table(table: Any, positional: Sequence[str] = ()) -> Columns:
    """Any supported table; ``positional`` names the columns of a 2-D array (``x0``, ``x1``, ... by default)."""
    if isinstance(table, Mapping):
        named = {str(name): column for name, column in table.items()}
        return Columns(tuple(named), lambda name: as_column(named[name]))
    if isinstance(table, np.ndarray):
        if table.dtype.names:
            return Columns(table.dtype.names, lambda name: as_column(table[name]))
        if table.ndim != 2:
            raise TableError(f"an array must have 2 dimensions (records, attributes), not {table.ndim}")
        width = table.shape[1]
        if positional and width > len(positional):
            raise TableError(f"the array has {width} columns; expected, in this order: {', '.join(positional)}")
        names = tuple(positional[:width]) or tuple(f"x{i}" for i in range(width))
        return Columns(names, lambda name: as_column(table[:, names.index(name)]))
    try:
        frame = nw.from_native(table, eager_only=True)
        native = {str(name): name for name in frame.columns}
    except (TypeError, nw.exceptions.NarwhalsError) as error:
        raise TableError(
            f"cannot read a table of type {type(table).__name__}: give a pandas, polars or pyarrow table held in "
            "memory and without duplicate columns, a mapping of columns, or a 2-D array"
        ) from error
    return Columns(tuple(native), lambda name: as_column(frame.get_column(native[name])))


def as_column(values: Any) -> Array:
    """One column (array, series or sequence) as a one-dimensional array, of objects where types are mixed."""
    column: Array
    if not isinstance(values, np.ndarray):
        values = nw.from_native(values, series_only=True, pass_through=True)
    if isinstance(values, nw.Series):
        # By list where pyarrow's to_numpy would read a null as some category.
        listed = values.dtype in (nw.Categorical, nw.Enum)
        column = np.fromiter(values.to_list(), object, len(values)) if listed else values.to_numpy()
    elif isinstance(values, np.ma.MaskedArray):
        column = values.data.astype(object)
        column[np.ma.getmaskarray(values)] = None
    elif hasattr(values, "__array__"):
        column = np.asarray(values)
    elif isinstance(values, Sequence) and not isinstance(values, str | bytes):
        column = np.fromiter(values, dtype=object, count=len(values))  # np.asarray would turn [1, "a"] into text
    else:
        raise TableError(f"a column must be an array, a series or a list, not {type(values).__name__}")
    if column.ndim == 2 and column.shape[1] == 1:
        column = column[:, 0]
    if column.ndim != 1:
        raise TableError(f"a column must have one dimension, not {column.ndim}")
    return column


def _open(table: Any, schema: Schema, *, with_label: bool) -> Columns:
    columns = open_table(table, (*schema.names, schema.label.name))
    wanted = (*schema.names, schema.label.name) if with_label else schema.names
    lacking = [name for name in wanted if name not in columns.names]
    if lacking:
        raise TableError(f"the table lacks {', '.join(map(repr, lacking))}; expected the columns {', '.join(wanted)}")
    return columns


# ---- cells to codes -----------------------------------------------------------------------------------------------


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
        marker = _number(attribute.missing)
        told = [attribute.low, attribute.high, *([marker] if math.isfinite(marker) else [])]
    else:
        told = [key for key in _spellings(attribute) if not isinstance(key, str)] or [0.0]
    return math.floor(min(told)) - 1, math.ceil(max(told)) + 1


def _codes(attribute: Attribute, column: Array, unknown: int | None = None) -> Array:
    if isinstance(attribute, Categorical):
        codes: Array = _find(_spellings(attribute), column)
        codes[codes < 0] = attribute.fallback if unknown is None else unknown
        return codes
    values = _values(attribute, column)
    # No need to clip: all cuts lie within the bounds, so values beyond a bound already share its bin.
    codes = np.searchsorted(attribute.cuts, values, side="left")
    codes[np.isnan(values)] = 0 if attribute.missing is None else attribute.arity - 1
    return codes


def _label_codes(schema: Schema, column: Array) -> Array:
    """Codes of labels, -1 where unknown."""
    codes = np.empty(column.size, np.int32)
    _encode_column(schema.label, column, codes, unknown=-1)
    return codes


def _spellings(attribute: Categorical) -> dict[Any, int]:
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
    number = _number(text)
    if math.isfinite(number):
        yield from (number, str(number), *([str(int(number))] if number.is_integer() else []))


def _find(spellings: dict[Any, int], column: Array) -> NDArray[np.int32]:
    """The code of every cell, -1 where it is no declared value."""
    cells = _cells(column)
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


def _cells(column: Array) -> list[Any]:
    # Dates as text: tolist() would turn nanosecond dates into plain integers.
    cells: list[Any] = (column.astype(str) if column.dtype.kind in "mM" else column).tolist()
    return [cell.decode(errors="replace") for cell in cells] if column.dtype.kind == "S" else cells


def _values(numeric: Numeric, column: Array) -> NDArray[np.float64]:
    """The numbers of a column, NaN where there is none."""
    values = _numbers(column)
    marker = _number(numeric.missing)
    return values if math.isnan(marker) else np.where(values == marker, np.nan, values)


def _numbers(column: Array) -> NDArray[np.float64]:
    if column.dtype.kind in "biuf":
        with np.errstate(over="ignore"):  # a long double beyond float64 is an infinity, to be clipped
            return column.astype(np.float64, copy=False)
    return np.fromiter(map(_number, _cells(column)), np.float64, column.size)


def _number(cell: Any) -> float:
    try:
        return float(cell)
    except OverflowError:
        return math.inf if cell > 0 else -math.inf
    except Exception:  # a cell may be any object whatever; it then is no number
        return math.nan


# ---- outside privacy ----------------------------------------------------------------------------------------------


REMEDIES = {
    "missing": "read as the lowest value or the fallback category",
    "not a number": "read as missing",
    "out of range": "clipped to the bounds",
    "not whole": "binned as it is",
    "unknown": "read as the fallback category",
    "missing label": "dropped",
    "unknown label": "dropped",
}  # what a fit does about each fault


@dataclass(frozen=True)
class Finding:
    """One kind of fault in one column: how many rows have it and the first of them, counted from 0."""

    column: str
    fault: str
    count: int
    rows: tuple[int, ...]

    def __str__(self) -> str:
        rows = ", ".join(map(str, self.rows)) + (", ..." if self.count > len(self.rows) else "")
        return f"{self.column}: {self.count} {self.fault} (rows {rows}); at fit: {REMEDIES[self.fault]}"


@dataclass(frozen=True)
class CheckReport:
    """What :func:`check` found. It tells of single records and must not be published."""

    findings: tuple[Finding, ...]
    records: int
    bad_rows: int

    @property
    def ok(self) -> bool:
        return not self.findings

    def to_dict(self) -> dict[str, Any]:
        return {"private": False, "ok": self.ok, **asdict(self)}

    def __str__(self) -> str:
        lines = [
            "This check reads the records themselves: it is outside privacy, for the data owner only; do not publish.",
            f"{self.records} records, {self.bad_rows or 'none'} with faults (rows are counted from 0).",
        ]
        return "\n".join([*lines, *(f"- {finding}" for finding in self.findings)])


def check(schema: Schema, table: Any, labels: Any = None, limit: int = 10) -> CheckReport:
    """Count and locate bad rows before a fit. OUTSIDE PRIVACY: for the data owner's eyes only.

    A missing number is no fault where the schema declares a missing marker. Values themselves are not shown.
    """
    columns = _open(table, schema, with_label=labels is None)
    findings, bad = [], np.zeros(columns.read(schema.names[0]).size, dtype=bool)
    for attribute in (*schema.attributes, schema.label):
        given = attribute is schema.label and labels is not None
        column = as_column(labels) if given else columns.read(attribute.name)
        if column.size != bad.size:
            raise TableError(f"column {attribute.name!r} differs in length from {schema.names[0]!r}")
        for fault, rows in _faults(attribute, column).items():
            if rows.any():
                named = f"{fault} label" if attribute is schema.label else fault
                first = tuple(np.flatnonzero(rows)[:limit].tolist())
                findings.append(Finding(attribute.name, named, int(rows.sum()), first))
                bad |= rows
    return CheckReport(tuple(findings), bad.size, int(bad.sum()))


def _faults(attribute: Attribute, column: Array) -> dict[str, NDArray[np.bool_]]:
    if isinstance(attribute, Categorical):
        unknown = _find(_spellings(attribute), column) < 0
        absent = unknown & _absent(column)
        return {"missing": absent, "unknown": unknown & ~absent}
    values, told = _values(attribute, column), _numbers(column)
    # A number that became NaN was the missing marker.
    absent = np.isnan(values) & (~np.isnan(told) | _absent(column, str(attribute.missing or "")))
    outside = (values < attribute.low) | (values > attribute.high)
    return {
        "missing": absent & (attribute.missing is None),
        "not a number": np.isnan(values) & ~absent,
        "out of range": outside,
        "not whole": ~outside & ~np.isnan(values) & (values != np.rint(values)) & attribute.integer,
    }


def _absent(column: Array, marker: str = "") -> NDArray[np.bool_]:
    """Where a cell says that there is nothing: None, NaN, NA, NaT, empty text or the declared marker."""
    if column.dtype.kind in "biuf":
        return np.isnan(_numbers(column))

    def absent(cell: Any) -> bool:
        if isinstance(cell, str):
            return cell.strip() in ("", marker)
        nan = isinstance(cell, float | np.floating) and bool(cell != cell)
        return cell is None or nan or type(cell).__name__ in ("NAType", "NaTType")

    return np.fromiter(map(absent, _cells(column)), bool, column.size)


def infer(table: Any, label: Any) -> Schema:
    """A schema read off the data, marked ``inferred``. OUTSIDE PRIVACY: what uses it has epsilon = infinity.

    ``label`` is a column's name or the labels themselves. A column is numeric when all it holds, but for missing
    cells and "?", are numbers (also written as text).
    """
    columns = open_table(table)
    apart = not isinstance(label, str)
    if not apart and label not in columns.names:
        raise TableError(f"the table lacks the label column {label!r}; its columns are {', '.join(columns.names)}")
    labels = as_column(label) if apart else columns.read(label)
    name = "class" if apart else label
    names = [other for other in columns.names if other != name]
    known = _distinct(labels[~_absent(labels)])
    return Schema(
        tuple(_infer_attribute(other, columns.read(other)) for other in names),
        Categorical(name, known, basis="observed"),
        inferred=True,
    )


def _infer_attribute(name: str, column: Array) -> Attribute:
    absent = _absent(column, "?")
    values = _numbers(column[~absent])
    finite = values[np.isfinite(values)]
    if column.dtype.kind == "b" or not finite.size or np.isnan(values).any():
        listed = _distinct(column[~absent])
        return Categorical(name, (*listed, "?") if absent.any() or not listed else listed, basis="observed")
    low, high = float(finite.min()), float(finite.max())
    whole = bool((finite == np.rint(finite)).all())
    missing = "?" if absent.any() else None
    return Numeric(name, low, high if low < high else low + 1, whole, missing=missing, basis="observed")


def _distinct(column: Array) -> tuple[Any, ...]:
    return tuple(sorted(set(_cells(column)), key=lambda value: (str(type(value)), value)))
