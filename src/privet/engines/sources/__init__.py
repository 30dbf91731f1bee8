"""Sources of tables: files, databases, readers of other libraries. A source is read once, in batches of records.

Only the columns that a schema declares are read. A permanent fault of a source (no such file or table, a missing
column, a package that is not installed) is a ``TableError``. A failure during reading comes as the library's own
exception, which can quote a record; the engine turns it into an ``EngineError`` with a fixed text. Other packages add
sources by an entry point (:mod:`privet.engines.sources.others`).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from privet.addresses import is_address, scheme_of
from privet.engines.sources.places import refuse_address
from privet.engines.sources.spark import Spark, SparkTable
from privet.tables.files import is_there


@runtime_checkable
class Source(Protocol):
    """A table that is read in batches.

    A source that has to connect also has ``connected()``, a context manager that returns a connected source. A source
    can also have ``names()``, the names of all its columns, for ``privet schema draft``.
    """

    @property
    def caveats(self) -> tuple[str, ...]:
        """What a certificate must state about how the records are read."""

    def header(self, columns: Sequence[str]) -> Any:
        """The columns as an empty table: names and, where declared, types."""

    def batches(self, columns: Sequence[str]) -> Iterator[Any]:
        """All records, in tables that fit into memory: Arrow record batches, or mappings of columns."""


def open_source(table: Any, *, quoted_line_breaks: bool = False) -> Source | SparkTable | None:
    """The source for a path, an address or an object of another library; None if it is a table itself.

    >>> open_source("duckdb:///clinic.db?table=patients")
    <the DuckDB database>
    >>> open_source({"age": [31, 64]}) is None
    True
    """
    if isinstance(table, str | PathLike):
        return _by_name(fspath(table), quoted_line_breaks)
    if isinstance(table, Source | SparkTable):
        return table
    if _is_from("duckdb", "DuckDBPyRelation", table):
        from privet.engines.sources.duckdb import Relation

        return Relation(table)
    if _is_from("pyarrow.dataset", "Dataset", table) or _is_from("pyarrow.dataset", "Scanner", table):
        from privet.engines.sources.arrow import Scanned

        return Scanned(table)
    if _is_from("pyspark.sql", "DataFrame", table):
        return SparkTable(table)
    if _is_from("pyarrow", "RecordBatchReader", table):
        from privet.engines.sources.arrow import Reader

        return Reader(table)
    return None


def connected(source: Source | SparkTable) -> AbstractContextManager[Source | SparkTable]:
    """The source, connected once for its header and its batches. Most need no connection, or have one already."""
    connect = getattr(source, "connected", None)
    return nullcontext(source) if connect is None else connect()


def _by_name(name: str, quoted_line_breaks: bool) -> Source:
    scheme = scheme_of(name) if "://" in name else ""
    if scheme == "duckdb":
        from privet.engines.sources.duckdb import DuckDB

        return DuckDB.parse(name)
    if scheme in ("postgresql", "postgres"):
        from privet.engines.sources.postgres import Postgres

        return Postgres.parse(name)
    if scheme == "excel":
        from privet.engines.sources.excel import Excel

        return Excel.parse(name)
    if scheme == "spark":
        return Spark.parse(name)
    if scheme:
        from privet.engines.sources.others import open_other

        if (other := open_other(scheme, name)) is not None:
            return other
    if is_address(name) and not is_there(Path(name)):
        refuse_address(name)
    from privet.engines.sources.files import Files

    return Files.named(name, quoted_line_breaks=quoted_line_breaks)


def _is_from(module: str, kind: str, table: Any) -> bool:
    """Whether a table is of a library's class. If the library was not imported, it is not."""
    return module in sys.modules and isinstance(table, getattr(sys.modules[module], kind))
