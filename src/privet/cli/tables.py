"""Tables from files. Cells of a CSV stay text: the schema says what they mean, and a reader that guesses types also
guesses missing values."""

from __future__ import annotations

import csv
import gzip
import sys
import zlib
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from privet.errors import TableError

if TYPE_CHECKING:
    import numpy as np

    from privet.schema import Schema

    Column = np.ndarray[Any, Any]

SUFFIXES = {".csv": "csv", ".csv.gz": "csv", ".parquet": "parquet", ".pq": "parquet"}
CHUNK = 100_000  # rows held as Python text at a time; as arrays they take a tenth of that


def read_table(path: Path, schema: Schema, *, with_label: bool) -> Any:
    """The columns that the schema declares, by name, in a form that ``Schema.encode`` takes; others are left out."""
    wanted = (*schema.names, schema.label.name) if with_label else schema.names
    kind = next((kind for suffix, kind in SUFFIXES.items() if path.name.lower().endswith(suffix)), None)
    if not path.exists():
        raise TableError(f"there is no table {str(path)!r}; check the path")
    if not path.is_file():
        raise TableError(f"{str(path)!r} is not a file")
    if kind is None:
        raise TableError(f"cannot tell what {str(path)!r} is by its name; it must end in {', '.join(SUFFIXES)}")
    table, names = (_read_parquet if kind == "parquet" else _read_csv)(path, set(wanted))
    lacking = [name for name in wanted if name not in names]
    if lacking:
        raise TableError(
            f"{str(path)!r} lacks the column{'s'[: len(lacking) > 1]} {', '.join(map(repr, lacking))} that the schema "
            f"declares; it has {', '.join(names)}"
        )
    return table


# ---- CSV ----------------------------------------------------------------------------------------------------------


def _read_csv(path: Path, wanted: set[str]) -> tuple[dict[str, Column], list[str]]:
    try:
        with _open_text(path) as lines:
            return _columns(path, lines, wanted)
    except UnicodeDecodeError as error:
        raise TableError(f"{str(path)!r} is not UTF-8 text; write it again in UTF-8") from error
    except csv.Error as error:
        raise TableError(f"{str(path)!r} is not a CSV table: {error}") from error
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise TableError(f"{str(path)!r} is not a whole gzip file: {error}") from error
    except OSError as error:
        raise TableError(f"cannot read the table {str(path)!r}: {error.strerror}") from error


def _open_text(path: Path) -> IO[str]:
    opener: Any = gzip.open if path.name.lower().endswith(".gz") else open
    # utf-8-sig: a spreadsheet's byte order mark would otherwise become part of the first name.
    text: IO[str] = opener(path, "rt", encoding="utf-8-sig", newline="")
    return text


def _columns(path: Path, lines: IO[str], wanted: set[str]) -> tuple[dict[str, Column], list[str]]:
    import numpy as np

    csv.field_size_limit(sys.maxsize)
    rows = csv.reader(lines)
    header = next(rows, None)
    if not header:
        raise TableError(f"{str(path)!r} is empty: it needs a header row of column names")
    header = [name.strip() for name in header]
    twice = next((name for name in header if header.count(name) > 1 and name in wanted), None)
    if twice is not None:
        raise TableError(f"{str(path)!r} has two columns called {twice!r}; rename one")
    places = {name: i for i, name in enumerate(header) if name in wanted}
    parts: dict[str, list[Column]] = {name: [np.empty(0, dtype=np.str_)] for name in places}
    even = _rows(path, rows, len(header))
    while chunk := list(islice(even, CHUNK)):
        cells = list(zip(*chunk, strict=True))
        for name, i in places.items():
            parts[name].append(np.array(cells[i], dtype=np.str_))
    return {name: np.concatenate(columns) for name, columns in parts.items()}, header


def _rows(path: Path, rows: Any, width: int) -> Iterator[list[str]]:
    """The rows, all of one width; blank lines are no rows."""
    for row in rows:
        if len(row) == width:
            yield row
        elif row:
            raise TableError(
                f"{str(path)!r} has {width} column names, but the row in line {rows.line_num} has {len(row)} cells"
            )


# ---- Parquet ------------------------------------------------------------------------------------------------------


def _read_parquet(path: Path, wanted: set[str]) -> tuple[Any, list[str]]:
    try:
        import pyarrow as arrow  # type: ignore[import-untyped]
        from pyarrow import parquet
    except ImportError as error:
        raise TableError(
            "reading Parquet needs the package pyarrow: run `pip install pyarrow`, or give the table as CSV"
        ) from error
    try:
        file = parquet.ParquetFile(path)
        names = file.schema_arrow.names
        return file.read(columns=[name for name in names if name in wanted]), names
    except (arrow.ArrowException, OSError) as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise TableError(f"{str(path)!r} is not a Parquet table that can be read: {reason}") from error
