"""Tables as named columns of cells, from any library: narwhals adapts the frames."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from privet.errors import TableError
from privet.tables.cells import each, moment, number_of, plain_of

Array = NDArray[Any]
_INTEGERS = (nw.Int8, nw.Int16, nw.Int32, nw.Int64, nw.UInt8, nw.UInt16, nw.UInt32, nw.UInt64, nw.Boolean)


class Repeated(NamedTuple):
    """A column as its distinct cells and, for every record, the index of its cell; -1 for null."""

    cells: Array
    places: NDArray[np.intp]


class Columns(NamedTuple):
    """A table as named columns, each read on access."""

    names: tuple[str, ...]
    read: Callable[[str], Array]
    repeated: Callable[[str], Repeated | None] = lambda name: None
    """Text and categories, where it is cheaper to read every distinct cell once; None for other columns."""


def open_table(table: Any, positional: Sequence[str] = ()) -> Columns:
    """Open any supported table; ``positional`` names unnamed columns (``x0``, ``x1``, ... by default)."""
    if isinstance(table, Mapping):
        named = {str(name): column for name, column in table.items()}
        return Columns(tuple(named), lambda name: as_column(named[name]), lambda name: _repeated(named[name]))
    if isinstance(table, list | tuple):
        return _rows(table, positional)
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
        frame = nw.from_native(_whole(table), eager_only=True)
        native = {str(name): name for name in frame.columns}
    except (TypeError, nw.exceptions.NarwhalsError):
        raise TableError(
            f"cannot read a table of type {type(table).__name__}: give a pandas, polars or pyarrow table held in "
            "memory and without duplicate columns, a mapping of columns, a 2-D array or a list of lists"
        ) from None  # the cause can show the table's own names, which are a record where the header was forgotten

    def column(name: str) -> nw.Series[Any]:
        return frame.get_column(native[name])

    return Columns(tuple(native), lambda name: as_column(column(name)), lambda name: _repeated(column(name)))


def _whole(table: Any) -> Any:
    """The table; an Arrow batch as an Arrow table, because narwhals takes no batches."""
    batch = type(table).__module__.startswith("pyarrow.") and type(table).__name__ == "RecordBatch"
    return sys.modules["pyarrow"].Table.from_batches([table]) if batch else table


def _repeated(values: Any) -> Repeated | None:
    """The distinct cells of text or categories, by the type of a column: as its library lists them, or Arrow."""
    if isinstance(values, np.ndarray | list | tuple):
        return None
    series = known_series(values)
    if not isinstance(series, nw.Series):
        return None
    native: Any = series.to_native()
    dtype: Any = getattr(native, "dtype", None)
    if type(dtype).__name__ == "CategoricalDtype":
        return Repeated(as_column(dtype.categories.to_series()), native.cat.codes.to_numpy().astype(np.intp))
    try:
        if hasattr(native, "chunks"):
            return _listed(native)
        if type(dtype).__name__ == "ArrowDtype" or getattr(dtype, "storage", "") == "pyarrow":
            return _listed(native.array.__arrow_array__())
        if hasattr(native, "to_arrow") and _kind(series) in (nw.String, nw.Categorical, nw.Enum):
            return _listed(native.to_arrow())
    except Exception:  # no pyarrow beside polars, or more text than a dictionary holds: the cells are read one by one
        pass
    return None


def _listed(column: Any) -> Repeated | None:
    """Arrow's own dictionary of a column of text; it only compares whether two cells are the same bytes."""
    import pyarrow  # type: ignore[import-untyped]

    types = pyarrow.types
    column = column if hasattr(column, "chunks") else pyarrow.chunked_array([column])
    if types.is_string(column.type) or types.is_large_string(column.type):
        column = column.dictionary_encode()
    elif not types.is_dictionary(column.type) or column.num_chunks > 1:  # chunks can have dictionaries of their own
        return None
    if not column.num_chunks:
        return None
    listed = as_column(column.chunk(0).dictionary)
    places = np.concatenate([_places(chunk) for chunk in column.chunks])
    return Repeated(listed, np.where((places < 0) | (places >= listed.size), -1, places))


def _places(chunk: Any) -> NDArray[np.intp]:
    return np.asarray(np.ma.filled(as_column(chunk.indices).astype(np.intp), -1))


def is_nameless(table: Any) -> bool:
    """Whether a table has no column names, so that its columns are in the schema's order."""
    return isinstance(table, list | tuple) or (isinstance(table, np.ndarray) and not table.dtype.names)


def _rows(rows: Sequence[Any], positional: Sequence[str]) -> Columns:
    """A list of records, each a list of cells. Short records have missing cells; extra cells are not read.

    So no record can stop the others from being read, and the width of a record changes nothing for them. None is an
    empty record; anything else that is not a list is refused.
    """
    if not all(row is None or isinstance(row, list | tuple) or _is_line(row) for row in rows):
        raise TableError(
            "a list must hold records, each a list of cells in the order of the schema, as in [[63, 'no']]"
        )
    width = max((len(row) for row in rows if row is not None), default=0)
    names = tuple(positional) or tuple(f"x{i}" for i in range(width))  # without a schema nothing is private
    place = {name: i for i, name in enumerate(names)}

    def read(name: str) -> Array:
        at = place[name]
        return _objects([row[at] if row is not None and at < len(row) else None for row in rows])

    return Columns(names, read)


def _is_line(row: Any) -> bool:
    return isinstance(row, np.ndarray) and row.ndim == 1


def as_column(values: Any) -> Array:
    """One column (array, series or sequence) as a one-dimensional array, masked where the source has null.

    Integers with nulls stay integers: as floats, numbers of 16 digits would change in all records. Mixed types become
    an array of objects, and :mod:`privet.tables.cells` reads each by itself.
    """
    column: Array
    if not isinstance(values, np.ndarray):
        values = known_series(values)
    if isinstance(values, nw.Series):
        column = _series_column(values)
    elif hasattr(values, "__array__"):
        column = values if isinstance(values, np.ma.MaskedArray) else np.asarray(values)
    elif isinstance(values, Sequence) and not isinstance(values, str | bytes):
        column = _objects(values)  # np.asarray would turn [1, "a"] into text
    else:
        raise TableError(f"a column must be an array, a series or a list, not {type(values).__name__}")
    if column.ndim == 2 and column.shape[1] == 1:
        column = column[:, 0]
    if column.ndim != 1:
        raise TableError(f"a column must have one dimension, not {column.ndim}")
    return column


def known_series(values: Any) -> Any:
    """A narwhals series, from any of its libraries: NumPy would make floats of integers with nulls."""
    library = type(values).__module__.partition(".")[0]
    if library == "pyarrow" and hasattr(values, "dictionary_encode") and not hasattr(values, "chunks"):
        values = sys.modules["pyarrow"].chunked_array([values])
    if library == "pandas" and hasattr(values, "__array__") and not hasattr(values, "iloc"):
        values = sys.modules["pandas"].Series(values)
    try:
        known = nw.from_native(values, eager_only=True, allow_series=True, pass_through=True)
    except nw.exceptions.DuplicateError:  # it would show the table's own names
        raise TableError("a column must be one column, not a table of several") from None
    if not isinstance(known, nw.DataFrame):
        return known
    if len(known.columns) != 1:
        raise TableError(f"a column must be one column, not a table of {len(known.columns)}")
    return known.get_column(known.columns[0])


def _series_column(series: nw.Series[Any]) -> Array:
    """Read by the declared type of a series, never through a list or an array that one cell could change or stop."""
    native: Any = series.to_native()
    dtype: Any = getattr(native, "dtype", None)
    if isinstance(dtype, np.dtype):
        return np.asarray(native.to_numpy())  # narwhals would look into a column of objects for its type
    if type(dtype).__name__ == "ArrowDtype" or getattr(dtype, "storage", "") == "pyarrow":
        return as_column(native.array.__arrow_array__())
    if type(dtype).__name__ == "CategoricalDtype":
        listed = cells_of(as_column(dtype.categories.to_series()))
        return _objects([*listed, None])[native.cat.codes.to_numpy()]  # code -1, a null, takes the last
    if hasattr(native, "chunks") and hasattr(native.type, "index_type"):
        return np.concatenate([_objects([]), *map(_listed_cells, native.chunks)])
    kind = _kind(series)
    if kind in (nw.List, nw.Struct, nw.Array, nw.Duration, nw.Time):
        return np.ma.masked_array(np.zeros(len(series), np.bool_), True)  # no number and no category among these
    if kind in _INTEGERS:
        if not series.null_count():
            return series.to_numpy()
        filled = series.fill_null(False if kind == nw.Boolean else 0)
        return np.ma.masked_array(filled.to_numpy(), series.is_null().to_numpy())
    if kind.is_float() or kind in (nw.Date, nw.Datetime):
        return series.to_numpy()  # null is NaN or NaT; a zone becomes UTC
    try:
        # Text never as an array: polars makes one of fixed width if no cell is null, and that loses a NUL at the end.
        return _objects(series.to_list())
    except Exception:  # pyarrow stops at text that is no UTF-8 and at dates beyond Python's: read them one at a time
        return _objects([_cell(series, row) for row in range(len(series))])


def _kind(series: nw.Series[Any]) -> nw.dtypes.DType:
    try:
        return series.dtype
    except Exception:  # narwhals has no word for the type, such as decimals of a negative scale
        return nw.Unknown()


def _listed_cells(chunk: Any) -> Array:
    """The cells of a pyarrow dictionary. pyarrow decodes only some of them itself, and its NumPy has no nulls."""
    listed, places = cells_of(as_column(chunk.dictionary)), _places(chunk)
    return _objects([*listed, None])[np.where((places < 0) | (places > len(listed)), len(listed), places)]


def _cell(series: nw.Series[Any], row: int) -> Any:
    try:
        return series[row : row + 1].to_list()[0]
    except Exception:
        return None


def _objects(cells: Sequence[Any]) -> Array:
    return np.fromiter(cells, dtype=object, count=len(cells))


def cells_of(column: Array) -> list[Any]:
    """The cells of a column as objects, None where masked; dates as text, whatever their unit."""
    data, absent = np.ma.getdata(column), np.ma.getmask(column)
    cells: list[Any]
    if data.dtype.kind in "mM" and (data.dtype.kind == "m" or np.datetime_data(data.dtype)[0] == "generic"):
        cells = [None] * data.size  # durations, and moments in no unit
    elif data.dtype.kind == "M":
        # Not by tolist(), which turns nanoseconds into plain integers.
        cells = list(each(moment, np.datetime_as_string(data).tolist()))
        absent = absent | np.isnat(data)
    else:
        cells = data.tolist()
        cells = list(each(plain_of, cells)) if data.dtype.kind == "S" else cells
    for row in np.flatnonzero(absent).tolist():
        cells[row] = None
    return cells


def numbers_of(column: Array) -> NDArray[np.float64]:
    """The number of every cell, NaN if there is none: :func:`privet.tables.cells.number_of`, a column at a time."""
    data, absent = np.ma.getdata(column), np.ma.getmask(column)
    if data.dtype.kind not in "biuf":
        return np.fromiter(each(number_of, cells_of(column)), np.float64, data.size)
    with np.errstate(over="ignore"):  # a long double beyond float64 is an infinity, to be clipped
        values = data.astype(np.float64, copy=False)
    return np.where(absent, np.nan, values) if np.any(absent) else values
