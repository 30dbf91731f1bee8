"""Typed columns of every library that privet reads: what holds cells, and which cells it can hold.

Every container keeps each cell as it is, whatever stands beside it: its type is declared, not guessed from the cells.
So one record more or less must change the code of no other, and nothing may raise; the fuzz of the encoding asks that
of all of them.

>>> next(c for c in containers() if c.name == "polars UInt64").build([2**63 + 5, None]).to_list()
[9223372036854775813, None]
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd  # type: ignore[import-untyped]
import polars as pl
import pyarrow as pa  # type: ignore[import-untyped]
from encoding_cells import BYTES, DAYS, DECIMALS, FLOATS, IDS, MIXED, TEXTS, TIMES, UNSIGNED, WHOLE


@dataclass(frozen=True)
class Container:
    """A kind of column: a name, how to make one of cells, and cells to make it of.

    ``faithful``: a cell in it says what it says in a list (a narrower float does not, nor do ticks of a clock).
    """

    name: str
    build: Callable[[Sequence[Any]], Any]
    cells: tuple[Any, ...]
    faithful: bool = True


def containers() -> Iterator[Container]:
    """Every container, in a fixed order."""
    yield from _objects()
    yield from _numbers()
    yield from _booleans()
    yield from _texts()
    yield from _moments()
    yield from _others()


def _object_array(cells: Sequence[Any]) -> Any:
    return np.fromiter(cells, dtype=object, count=len(cells))


def _masked(cells: Sequence[Any], dtype: str) -> Any:
    return _with_mask(cells, np.array([0 if cell is None else cell for cell in cells], dtype))


def _with_mask(cells: Sequence[Any], data: Any) -> Any:
    return np.ma.masked_array(data, [cell is None for cell in cells])


def _numpy(cells: Sequence[Any], dtype: Any) -> Any:
    return np.array(list(cells), dtype=dtype)


def _pandas(cells: Sequence[Any], dtype: Any) -> Any:
    return pd.Series(list(cells), dtype=dtype)


def _polars(cells: Sequence[Any], dtype: Any) -> Any:
    return pl.Series(list(cells), dtype=dtype, strict=True)


def _pandas_frame(cells: Sequence[Any], dtype: Any) -> Any:
    return _pandas(cells, dtype).to_frame()


def _polars_frame(cells: Sequence[Any], dtype: Any) -> Any:
    return _polars(cells, dtype).to_frame()


def _arrow(cells: Sequence[Any], dtype: pa.DataType) -> Any:
    return pa.chunked_array([pa.array(list(cells), dtype)])


def _in_pandas(cells: Sequence[Any], dtype: pa.DataType) -> Any:
    return _wrapped(_arrow(cells, dtype))


def _dictionary(cells: Sequence[Any], dtype: pa.DataType) -> Any:
    return pa.chunked_array([pa.array(list(cells), dtype).dictionary_encode()])


def _arrow_array(cells: Sequence[Any], dtype: pa.DataType) -> Any:
    return pa.array(list(cells), dtype)


def _pandas_array(cells: Sequence[Any], dtype: Any) -> Any:
    return pd.array(list(cells), dtype=dtype)


def _pandas_index(cells: Sequence[Any], dtype: Any) -> Any:
    return pd.Index(list(cells), dtype=dtype)


def _pandas_categories(cells: Sequence[Any], dtype: Any) -> Any:
    return pd.Categorical(list(cells), dtype=dtype)


def _narrow(cells: Sequence[float], dtype: str) -> Any:
    return np.array(list(cells), "f8").clip(-6e4, 6e4).astype(dtype)


def _both_arrow(name: str, dtype: pa.DataType, cells: Iterable[Any], faithful: bool = True) -> Iterator[Container]:
    text = tuple(cells)
    yield Container(f"pyarrow {name}", partial(_arrow, dtype=dtype), text, faithful)
    yield Container(f"pandas ArrowDtype {name}", partial(_in_pandas, dtype=dtype), text, faithful)


def _objects() -> Iterator[Container]:
    yield Container("list", list, MIXED)
    yield Container("tuple", tuple, MIXED)
    yield Container("numpy object", _object_array, MIXED)
    yield Container("numpy object column", lambda cells: _object_array(cells)[:, None], MIXED)
    yield Container("pandas object", lambda cells: pd.Series(_object_array(cells), dtype=object), MIXED)
    yield Container("polars Object", lambda cells: pl.Series(values=list(cells), dtype=pl.Object), MIXED)
    yield Container("numpy masked object", lambda cells: _with_mask(cells, _object_array(cells)), MIXED)


def _numbers() -> Iterator[Container]:
    for kind in ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", ">i2", ">u8"):
        limits = np.iinfo(kind)
        ends = {int(limits.min), int(limits.max)}
        whole = tuple(sorted(n for n in {*WHOLE, *IDS, *UNSIGNED, *ends} if limits.min <= n <= limits.max))
        some = (None, *whole)
        yield Container(f"numpy {kind}", partial(_numpy, dtype=kind), whole)
        yield Container(f"numpy masked {kind}", partial(_masked, dtype=kind), some)
        if kind.startswith(">"):
            continue
        title = np.dtype(kind).name.replace("int", "Int").replace("uI", "UI")
        yield Container(f"pandas {title}", partial(_pandas, dtype=title), some)
        yield Container(f"pandas array {title}", partial(_pandas_array, dtype=title), some)
        yield Container(f"pandas index {title}", partial(_pandas_index, dtype=title), some)
        yield Container(f"polars {title}", partial(_polars, dtype=getattr(pl, title)), some)
        yield Container(f"pandas frame {title}", partial(_pandas_frame, dtype=title), some)
        yield Container(f"polars frame {title}", partial(_polars_frame, dtype=getattr(pl, title)), some)
        arrow = pa.from_numpy_dtype(np.dtype(kind))
        yield from _both_arrow(title, arrow, some)
        yield Container(f"pyarrow array {title}", partial(_arrow_array, dtype=arrow), some)
        yield Container(f"pyarrow dictionary {title}", partial(_dictionary, dtype=arrow), some)
        categories = pd.CategoricalDtype(pd.Index(whole, dtype=kind))
        yield Container(f"pandas categories {title}", partial(_pandas, dtype=categories), some)
        yield Container(f"pandas Categorical {title}", partial(_pandas_categories, dtype=categories), some)
    yield Container("polars Int128", partial(_polars, dtype=pl.Int128), (None, *WHOLE, *IDS, *UNSIGNED))
    for kind in ("f2", "f4", "f8", "g"):
        yield Container(f"numpy {kind}", partial(_narrow, dtype=kind), FLOATS, faithful=False)
    for bits in (32, 64):
        floats = (None, *(x for x in FLOATS if bits == 64 or x != 1e300))
        yield Container(f"pandas Float{bits}", partial(_pandas, dtype=f"Float{bits}"), floats, bits == 64)
        yield Container(f"polars Float{bits}", partial(_polars, dtype=getattr(pl, f"Float{bits}")), floats, bits == 64)
        yield from _both_arrow(f"float{bits}", pa.from_numpy_dtype(np.dtype(f"f{bits // 8}")), floats, bits == 64)
    some_decimals = (None, *DECIMALS)
    yield from _both_arrow("decimal", pa.decimal128(30, 2), some_decimals)
    yield from _both_arrow("decimal256", pa.decimal256(50, 2), some_decimals)
    yield Container("polars Decimal", partial(_polars, dtype=pl.Decimal(30, 2)), some_decimals)


def _booleans() -> Iterator[Container]:
    yield Container("numpy bool", partial(_numpy, dtype="?"), (True, False))
    yield Container("pandas boolean", partial(_pandas, dtype="boolean"), (True, False, None))
    yield Container("polars Boolean", partial(_polars, dtype=pl.Boolean), (True, False, None))
    yield from _both_arrow("bool", pa.bool_(), (True, False, None))


def _texts() -> Iterator[Container]:
    some = (None, *TEXTS)
    yield Container("numpy U", partial(_numpy, dtype="U"), TEXTS, faithful=False)  # drops a zero byte at the end
    yield Container("numpy StringDType", partial(_numpy, dtype=np.dtypes.StringDType()), TEXTS)
    yield Container("numpy S", partial(_numpy, dtype="S"), BYTES)
    for kind in ("string", "string[pyarrow]", "string[python]", *(["str"] if pd.__version__ >= "3" else [])):
        yield Container(f"pandas {kind}", partial(_pandas, dtype=kind), some)
    yield Container("pandas category", partial(_pandas, dtype="category"), some)
    for title, polars in (("String", pl.String), ("Categorical", pl.Categorical), ("Enum", pl.Enum(TEXTS))):
        yield Container(f"polars {title}", partial(_polars, dtype=polars), some)
    for arrow in (pa.string(), pa.large_string(), pa.string_view()):
        yield Container(f"pyarrow {arrow}", partial(_arrow, dtype=arrow), some)
    yield Container("pandas ArrowDtype string", partial(_in_pandas, dtype=pa.string()), some)
    yield Container("pyarrow dictionary", partial(_dictionary, dtype=pa.string()), some)
    yield Container("pyarrow dictionary of views", partial(_dictionary, dtype=pa.string_view()), some)
    yield Container("pyarrow dictionary with a null", _places, (None, 0, 1, 2), faithful=False)
    yield Container("pyarrow chunks", lambda cells: pa.chunked_array([[cell] for cell in cells], pa.string()), some)
    yield Container("pyarrow no UTF-8", _no_utf8, BYTES, faithful=False)
    yield Container("pandas no UTF-8", lambda cells: _wrapped(_no_utf8(cells)), BYTES, faithful=False)
    yield from _both_arrow("binary", pa.binary(), (None, *BYTES))
    yield Container("polars Binary", partial(_polars, dtype=pl.Binary), (None, *BYTES))


def _places(cells: Sequence[int | None]) -> Any:
    """A null can be listed, and a value twice."""
    return pa.chunked_array([pa.DictionaryArray.from_arrays(pa.array(cells, pa.uint64()), pa.array([None, "a", "a"]))])


def _no_utf8(cells: Sequence[bytes]) -> Any:
    """Bytes that call themselves text, as a file can hold them."""
    ends = np.cumsum([0, *map(len, cells)]).astype(np.int32)
    buffers = [None, pa.py_buffer(ends.tobytes()), pa.py_buffer(b"".join(cells))]
    return pa.chunked_array([pa.Array.from_buffers(pa.string(), len(cells), buffers)])


def _wrapped(arrow: Any) -> Any:
    return pd.Series(pd.arrays.ArrowExtensionArray(arrow))


def _moments() -> Iterator[Container]:
    """By ticks of a clock, for libraries hold dates that Python cannot."""
    ticks = (None, 0, 1, 18263, 1577934245, 1577934245000600, 2**31 - 1, 2**62, -(2**62))
    for unit in ("generic", "Y", "M", "W", "D", "h", "m", "25s", "ps", "as"):
        yield Container(f"numpy M8[{unit}]", partial(_numpy_ticks, unit=unit), ticks, faithful=False)
    masked = partial(_numpy_ticks, unit="s")
    yield Container("numpy masked M8", lambda cells: _with_mask(cells, masked(cells)), ticks, faithful=False)
    for unit in ("s", "ms", "us", "ns"):
        yield Container(f"numpy M8[{unit}]", partial(_numpy_ticks, unit=unit), ticks, faithful=False)
        yield Container(f"pandas M8[{unit}]", partial(_pandas_ticks, unit=unit), ticks, faithful=False)
        for zone in (None, "Europe/Berlin"):
            arrow = pa.timestamp(unit, zone)
            yield Container(f"pyarrow {arrow}", partial(_arrow_ticks, dtype=arrow), ticks, faithful=False)
            yield Container(f"pandas {arrow}", partial(_wrapped_ticks, dtype=arrow), ticks, faithful=False)
            if unit != "s":
                polars = pl.Datetime(unit, zone)  # type: ignore[arg-type]
                yield Container(f"polars {polars}", partial(_polars_ticks, dtype=polars), ticks, faithful=False)
    days = (None, 0, 1, 18263, -1, 2**31 - 1)
    yield Container("pyarrow date32", partial(_arrow_ticks, dtype=pa.date32()), days, faithful=False)
    yield Container("pandas date32", partial(_wrapped_ticks, dtype=pa.date32()), days, faithful=False)
    yield Container("polars Date", partial(_polars_ticks, dtype=pl.Date), days, faithful=False)
    yield Container("pyarrow date64", partial(_arrow, dtype=pa.date64()), (None, *DAYS))
    zoned = tuple(time.replace(tzinfo=datetime.UTC) for time in TIMES)
    yield Container("pandas zoned", partial(_pandas, dtype="datetime64[us, Europe/Berlin]"), (None, *zoned))
    yield Container("pandas to_datetime", _inferred, (None, *TIMES))
    yield Container("pandas dates", partial(_pandas, dtype="datetime64[ns]"), (None, *TIMES))


def _inferred(cells: Sequence[Any]) -> Any:
    """Here pandas 3 takes the unit from all cells: the text of a date must not follow it."""
    return pd.Series(pd.to_datetime(pd.Series(list(cells), dtype=object)))


def _numpy_ticks(cells: Sequence[int | None], unit: str) -> Any:
    return np.array([-(2**63) if cell is None else cell for cell in cells], np.int64).view(f"M8[{unit}]")


def _pandas_ticks(cells: Sequence[int | None], unit: str) -> Any:
    return pd.Series(_numpy_ticks(cells, unit))


def _arrow_ticks(cells: Sequence[int | None], dtype: pa.DataType) -> Any:
    return _arrow(cells, pa.int32() if dtype == pa.date32() else pa.int64()).cast(dtype)


def _wrapped_ticks(cells: Sequence[int | None], dtype: pa.DataType) -> Any:
    return _wrapped(_arrow_ticks(cells, dtype))


def _polars_ticks(cells: Sequence[int | None], dtype: Any) -> Any:
    return _polars(cells, pl.Int32 if dtype == pl.Date else pl.Int64).cast(dtype)


def _others() -> Iterator[Container]:
    nested: list[tuple[str, pa.DataType, Any, tuple[Any, ...]]] = [
        ("null", pa.null(), pl.Null, (None,)),
        ("list", pa.list_(pa.int64()), pl.List(pl.Int64), (None, [1], [])),
        ("pair", pa.list_(pa.int64(), 2), pl.Array(pl.Int64, 2), (None, [1, 2])),
        ("struct", pa.struct({"a": pa.int64()}), pl.Struct({"a": pl.Int64}), (None, {"a": 1})),
        ("duration", pa.duration("us"), pl.Duration("us"), (None, datetime.timedelta(7))),
        ("time", pa.time64("us"), pl.Time, (None, datetime.time(1))),
    ]
    for name, arrow, polars, cells in nested:
        yield from _both_arrow(name, arrow, cells)
        yield Container(f"polars {name}", partial(_polars, dtype=polars), cells)
    yield from _both_arrow("map", pa.map_(pa.string(), pa.int64()), (None, [("a", 1)]))
    yield Container("numpy m8", partial(_numpy, dtype="m8[s]"), tuple(np.timedelta64(n, "s") for n in (0, 7, "NaT")))
    yield Container("pandas period", partial(_pandas, dtype="period[D]"), (None, pd.Period("2020-01-02", "D")))
    yield Container("pandas sparse", partial(_pandas, dtype=pd.SparseDtype("int64", 0)), (0, 1, 7))
    yield Container("numpy complex", partial(_numpy, dtype="c16"), (1 + 0j, 1j))
    yield Container("numpy void", partial(_numpy, dtype=[("a", "i8")]), ((1,), (7,)))
