"""Parquet files: whole, in pieces, or their header alone.

A text that is not UTF-8 becomes null: reading such a cell would raise an error that shows it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from privet.addresses import safe
from privet.errors import MissingColumnsError, TableError
from privet.tables.foreign import nearest_column

PIECE = 2**17  # records; enough to amortise calls, few enough to keep a dozen columns small
READ_AHEAD = 2**20  # bytes of a column read at a time, so that a row group of any size takes no more memory
_FIX = "write the table with columns of these names"


def check_names(path: Path, header: Sequence[str], names: Sequence[str], fix: str) -> None:
    """Refuse a table that lacks a wanted column or has it twice. Only names close to a wanted one are shown."""
    found = Counter(header)
    twice = next((name for name in names if found[name] > 1), None)
    if twice is not None:
        raise TableError(f"{safe(path)} has two columns called {twice!r}; rename one")
    lacking = [name for name in names if name not in found]
    if lacking:
        plural = "s"[: len(lacking) > 1]
        listed = ", ".join(map(repr, lacking))
        meant = nearest_column(lacking[0], names, header) if len(lacking) == 1 else ""
        message = f"{safe(path)} lacks the column{plural} {listed} that the schema declares; {meant or fix}"
        raise MissingColumnsError(message, tuple(lacking))


def read_parquet(path: Path, names: Sequence[str]) -> Any:
    """The wanted columns as an Arrow table."""
    with _opened(path, names) as file:
        table = file.read(columns=list(names))
    for place, field in enumerate(table.schema):
        table = table.set_column(place, field, _legible(table.column(place)))
    return table


def parquet_batches(path: Path, names: Sequence[str]) -> Iterator[Any]:
    """The wanted columns as Arrow record batches. Texts come as dictionaries, so that equal ones are read once."""
    with _opened(path, names) as file:
        texts = [field.name for field in file.schema_arrow if field.name in names and is_text(field.type)]
    with _opened(path, names, read_dictionary=texts, pre_buffer=False, buffer_size=READ_AHEAD) as file:
        yield from file.iter_batches(PIECE, columns=list(names), use_threads=False)


def parquet_header(path: Path, names: Sequence[str]) -> Any:
    """The wanted columns as an empty Arrow table."""
    with _opened(path, names) as file:
        return file.schema_arrow.empty_table().select([name for name in file.schema_arrow.names if name in names])


def parquet_names(path: Path) -> tuple[str, ...]:
    with _opened(path, ()) as file:
        return tuple(file.schema_arrow.names)


@contextmanager
def _opened(path: Path, names: Sequence[str], **options: Any) -> Iterator[Any]:
    try:
        import pyarrow as arrow  # type: ignore[import-untyped]
        from pyarrow import parquet
    except ImportError as error:
        raise TableError(
            "reading Parquet needs the package pyarrow: run `pip install pyarrow`, or give the table as CSV"
        ) from error
    try:
        with parquet.ParquetFile(path, **options) as file:
            check_names(path, file.schema_arrow.names, names, _FIX)
            yield file
    except TableError:
        raise
    # Without the cause, which can quote the file.
    except (arrow.ArrowException, OSError, ValueError):
        raise TableError(f"{safe(path)} is not a Parquet table that can be read; copy or write it again") from None


def is_text(dtype: Any) -> bool:
    """Whether an Arrow type is text, in a dictionary or not."""
    from pyarrow import types

    plain = dtype.value_type if types.is_dictionary(dtype) else dtype
    return bool(types.is_string(plain) or types.is_large_string(plain))


def _legible(column: Any) -> Any:
    """The column, with null for a text that is not UTF-8."""
    import pyarrow as arrow

    if not is_text(column.type):
        return column
    try:
        column.validate(full=True)
    except arrow.ArrowException:
        plain = column.type.value_type if arrow.types.is_dictionary(column.type) else column.type
        cells = column.cast(plain).cast(arrow.large_binary()).to_pylist()
        texts = [None if cell is None else decoded(cell) for cell in cells]
        return arrow.chunked_array([arrow.array(texts, column.type)])
    return column


def decoded(text: bytes) -> str | None:
    """A text, or None if it is not UTF-8."""
    try:
        return text.decode()
    except UnicodeDecodeError:
        return None
