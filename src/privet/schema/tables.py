"""Tables as named columns of cells, whatever library made them: narwhals adapts the frames."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from privet.errors import TableError

Array = NDArray[Any]


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


def cells_of(column: Array) -> list[Any]:
    # Dates as text: tolist() would turn nanosecond dates into plain integers.
    cells: list[Any] = (column.astype(str) if column.dtype.kind in "mM" else column).tolist()
    return [cell.decode(errors="replace") for cell in cells] if column.dtype.kind == "S" else cells


def numbers_of(column: Array) -> NDArray[np.float64]:
    if column.dtype.kind in "biuf":
        with np.errstate(over="ignore"):  # a long double beyond float64 is an infinity, to be clipped
            return column.astype(np.float64, copy=False)
    return np.fromiter(map(number_of, cells_of(column)), np.float64, column.size)


def number_of(cell: Any) -> float:
    try:
        return float(cell)
    except OverflowError:
        return math.inf if cell > 0 else -math.inf
    except Exception:  # a cell may be any object whatever; it then is no number
        return math.nan
