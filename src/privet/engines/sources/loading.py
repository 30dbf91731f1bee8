"""A source as a table in memory, for commands that look at records more than once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from privet.engines.attempts import SOURCE_FAILED, attempt
from privet.engines.sources import Source, connected, open_source
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
    if not isinstance(source, Source):
        raise TableError("a table must be named by a path, a pattern, a folder or an address")
    with connected(source) as open_one:
        assert isinstance(open_one, Source)
        return gather(open_one, columns)


def gather(source: Source, columns: Sequence[str], header: Any = None) -> Any:
    """All records of a connected source; its header, where it was fetched already, is not fetched again."""
    if isinstance(source, Files):
        return source.whole(columns)

    def batches() -> Any:
        import pyarrow as arrow  # type: ignore[import-untyped]

        found = source.header(columns) if header is None else header
        return arrow.Table.from_batches(source.batches(columns), schema=found.schema)

    return attempt(batches, SOURCE_FAILED, tries=1)
