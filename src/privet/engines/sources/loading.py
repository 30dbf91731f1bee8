"""A source as a table in memory, for commands that look at records more than once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

from privet.addresses import safe
from privet.engines.attempts import SOURCE_FAILED, attempt
from privet.engines.sources import Source, open_source
from privet.engines.sources.files import Files
from privet.errors import TableError
from privet.schema import Schema


def load_table(name: str, schema: Schema, *, with_label: bool = True, quoted_line_breaks: bool = False) -> Any:
    """The columns that a schema declares, of all records of a source: a path, a pattern, a folder or an address.

    >>> import tempfile
    >>> from privet import Categorical, Schema
    >>> schema = Schema((Categorical("cough", ("no", "yes")),), Categorical("state", ("well", "sick")))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for part in ("a", "b"):
    ...         with open(f"{folder}/{part}.csv", "w") as file:
    ...             _ = file.write("cough,state\\nyes,sick\\n")
    ...     table = load_table(f"{folder}/*.csv", schema)
    >>> table["cough"].tolist()
    ['yes', 'yes']
    """
    columns = schema.columns if with_label else schema.names
    source = open_source(name, quoted_line_breaks=quoted_line_breaks)
    if isinstance(source, Files):
        return source.whole(columns)
    if not isinstance(source, Source):
        raise TableError("a table must be named by a path, a pattern, a folder or an address")
    return attempt(lambda: _gathered(source, columns), SOURCE_FAILED, tries=1)


def load_first(name: str, most: int) -> tuple[tuple[str, ...], Any]:
    """The names of all columns of a source, and its first records: at least ``most`` of them, if it has so many.

    For its owner, who has not said yet which columns are wanted (``privet schema draft``).
    """
    source: Any = open_source(name)
    if not hasattr(source, "names"):
        raise TableError(f"{safe(name)} cannot list its columns; write the schema by hand: privet schema keys")
    names = attempt(lambda: tuple(filter(None, source.names())), SOURCE_FAILED, tries=1)
    if not names:
        raise TableError(f"{safe(name)} has no columns with a name; give it some")
    return names, attempt(lambda: _gathered(source, names, most), SOURCE_FAILED, tries=1)


def _gathered(source: Source, columns: Sequence[str], most: int | None = None) -> Any:
    header, batches, read = source.header(columns), list[Any](), 0
    for batch in source.batches(columns):
        batches.append(batch)
        read += len(batch[columns[0]])
        if most is not None and read >= most:
            break
    if isinstance(header, Mapping):
        return {name: list(chain.from_iterable(batch[name] for batch in batches)) for name in columns}
    import pyarrow as arrow  # type: ignore[import-untyped]

    return arrow.Table.from_batches(batches, schema=header.schema)
