"""Folders of Parquet files, plain or partitioned as Hive and Spark write them (``ward=north/part-0.parquet``).

The value of a partition is text, whatever the other folders' names: ``code=01`` is '01' beside ``code=7`` and
beside ``code=x``. A type that is guessed from all folders would let one record decide how others are read.

Refusals follow from names and declared types: neither rows nor values of partitions decide, and none is shown.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote_to_bytes

from privet.addresses import safe
from privet.errors import TableError
from privet.tables.parquet import decoded, is_text, parquet_batches, parquet_header, parquet_names, read_parquet

ENDINGS = (".parquet", ".pq", "")  # Hive gives its files no ending
NO_VALUE = "__HIVE_DEFAULT_PARTITION__"  # what Hive, Spark and Arrow call the partition of null


class Part(NamedTuple):
    """A file of a folder, and the partition values from the folders above it."""

    path: Path
    cells: dict[str, str | None]


def folder_header(folder: Path, names: Sequence[str]) -> Any:
    """The wanted columns as an empty Arrow table; partitions are text."""
    return common_header(safe(folder), [_header(part, names) for part in _parts(folder, names)])


def folder_batches(folder: Path, names: Sequence[str]) -> Iterator[Any]:
    """The wanted columns of all files as Arrow record batches, file by file in the order of their names."""
    for part in _parts(folder, names):
        for batch in parquet_batches(part.path, _own(part, names)):
            yield _with_cells(batch, part, names)


def read_folder(folder: Path, names: Sequence[str]) -> Any:
    """The wanted columns of all files as one Arrow table."""
    parts = _parts(folder, names)
    header = common_header(safe(folder), [_header(part, names) for part in parts])
    return joined(header, [_with_cells(read_parquet(part.path, _own(part, names)), part, names) for part in parts])


def folder_names(folder: Path) -> tuple[str, ...]:
    """The names of all columns: those of the files, then the partitions."""
    parts = _parts(folder, ())
    return tuple(dict.fromkeys([*(name for part in parts for name in parquet_names(part.path)), *parts[0].cells]))


def common_header(where: str, headers: Sequence[Any]) -> Any:
    """The header of several files, each an empty Arrow table. They must declare the same types.

    A column of the null type, in a file without values, agrees with any other, and so do all kinds of text.
    """
    import pyarrow as arrow  # type: ignore[import-untyped]

    first, fields = headers[0], []
    for name in first.column_names:
        types = [header.schema.field(name).type for header in headers]
        typed = [one for one in types if not arrow.types.is_null(one)] or types[:1]
        if any(one != typed[0] and not (is_text(one) and is_text(typed[0])) for one in typed):
            raise TableError(
                f"the files of {where} declare different types for the column {name!r}; write them with one type"
            )
        same = all(one == types[0] for one in types)
        fields.append(arrow.field(name, typed[0] if same or not is_text(typed[0]) else arrow.large_string()))
    return arrow.schema(fields).empty_table()


def joined(header: Any, tables: Iterable[Any]) -> Any:
    """Arrow tables under their common header. Only texts, and columns of the null type, change their type."""
    import pyarrow as arrow

    like = [
        arrow.table([table.column(field.name).cast(field.type) for field in header.schema], schema=header.schema)
        for table in tables
    ]
    return arrow.concat_tables([header, *like])


def _header(part: Part, names: Sequence[str]) -> Any:
    return _with_cells(parquet_header(part.path, _own(part, names)), part, names)


def _own(part: Part, names: Sequence[str]) -> list[str]:
    """The columns that the file itself must have."""
    return [name for name in names if name not in part.cells]


def _with_cells(table: Any, part: Part, names: Sequence[str]) -> Any:
    """A table or a batch with the wanted partitions as further columns, each of one text."""
    import pyarrow as arrow

    for name, cell in part.cells.items():
        if name in names:
            table = table.append_column(name, arrow.repeat(arrow.scalar(cell, arrow.string()), table.num_rows))
    return table


# ---- what a folder holds ------------------------------------------------------------------------------------------


def _parts(folder: Path, names: Sequence[str]) -> list[Part]:
    where = safe(folder)
    try:
        parts = list(_walk(folder, {}, where))
    except OSError as error:
        raise TableError(f"cannot read the folder {where}: {error.strerror}") from None
    if not parts:
        raise TableError(f"the folder {where} holds no Parquet file; check the path")
    if any(list(part.cells) != list(parts[0].cells) for part in parts):
        raise TableError(
            f"the files of {where} lie in different partitions; all must be below the same columns, in the same order"
        )
    wanted = [name for name in parts[0].cells if name in names or not names]
    for name in dict.fromkeys(name for part in parts if wanted for name in parquet_names(part.path) if name in wanted):
        raise TableError(f"the column {name!r} of {where} is a partition and a column of a file too; drop one")
    return parts


def _walk(folder: Path, cells: dict[str, str | None], where: str) -> Iterator[Part]:
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        key, equals, value = entry.name.partition("=")
        if entry.name.startswith(".") or (entry.name.startswith("_") and not equals):
            continue  # what writers leave beside the data: _SUCCESS, _metadata, .crc
        path = Path(entry.path)
        if entry.is_dir():
            yield from _walk(path, cells | ({_decoded(key) or "": _cell(value)} if equals else {}), where)
        elif path.suffix.lower() in ENDINGS:
            yield Part(path, cells)
        else:
            raise TableError(
                f"the folder {where} holds a file that does not end in .parquet or .pq; move it away, or name the "
                "files by a pattern"
            )


def _cell(value: str) -> str | None:
    return None if value == NO_VALUE else _decoded(value)


def _decoded(text: str) -> str | None:
    """The name of a folder without its %-escapes; None if it is not UTF-8."""
    return decoded(unquote_to_bytes(text.encode("utf-8", "surrogateescape")))
