"""From a table to an engine: the only module that knows which engine counts which kind of source."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import chain
from types import TracebackType
from typing import Any, Self

from privet.addresses import safe
from privet.engines.attempts import SOURCE_FAILED, attempt
from privet.engines.chunks import ChunkEngine
from privet.engines.memory import MemoryEngine
from privet.engines.sources import Source, connected, open_source
from privet.engines.sources.files import Files
from privet.engines.sources.spark import SparkTable
from privet.errors import ParameterError, TableError
from privet.privacy.counting import Engine
from privet.privacy.dataset import PrivateDataset
from privet.privacy.ledger import Ledger
from privet.schema import Schema
from privet.tables.declared import refuse_source
from privet.tables.files import caveats_of
from privet.tables.frozen import admitted, freeze


class OpenTable:
    """An open table: its header was read, once, and suits the schema. No record was read yet.

    A table that can never suit the schema is refused. A database is connected to once, for header and records, and
    stays connected until ``close`` or the end of the ``with`` block.

    It is a :class:`~privet.engines.sources.Source` itself, so no reader fetches the header again.
    """

    heading: Any
    """The names and, where they are declared, the types of the columns: the table itself, or a table of no record."""

    def __init__(
        self,
        table: Any,
        schema: Schema,
        labels: Any = None,
        *,
        with_label: bool = True,
        also: Sequence[str] = (),
        quoted_line_breaks: bool = False,
    ) -> None:
        self.labels = labels
        self._columns = (*dict.fromkeys((*(schema.columns if with_label else schema.inputs), *also)),)
        self._table, self._stack = table, ExitStack()
        self._source: Source | SparkTable | None = None
        named = open_source(table, quoted_line_breaks=quoted_line_breaks)
        if named is not None and labels is not None:
            raise ParameterError("a source holds the column of its labels; leave them out")
        try:
            self.heading = table if named is None else attempt(lambda: self._connect(named), SOURCE_FAILED, tries=1)
            refuse_source(schema, self.heading, labels, with_label=with_label)
        except BaseException:
            self.close()
            raise

    def _connect(self, named: Source | SparkTable) -> Any:
        self._source = self._stack.enter_context(connected(named))
        return self._source.header(self._columns)

    @property
    def caveats(self) -> tuple[str, ...]:
        return tuple(caveats_of(self._table) if self._source is None else self._source.caveats)

    def header(self, columns: Sequence[str]) -> Any:
        return self.heading

    def batches(self, columns: Sequence[str]) -> Iterator[Any]:
        assert isinstance(self._source, Source)
        yield from self._source.batches(columns)

    def engine(self, schema: Schema, *, for_one_fit: bool = False) -> Engine:
        """Read all records. ``schema`` may cut numbers differently from the schema that the table was opened with.

        Numbers can be cut anew, unless ``for_one_fit`` keeps only the codes of this schema, an eighth of the memory.
        """
        if isinstance(self._source, SparkTable):
            from privet.engines.spark import SparkEngine

            return SparkEngine.read(self._source, schema, for_one_fit=for_one_fit)
        if self._source is not None:
            return ChunkEngine.read(self, schema, for_one_fit=for_one_fit)
        if for_one_fit:
            return MemoryEngine(schema, admitted(schema, self._table, self.labels), caveats=self.caveats)
        frozen = freeze(schema, self._table, self.labels)
        return MemoryEngine(schema, frozen.codes(schema), frozen, caveats=self.caveats)

    def load(self) -> Any:
        """All records as a table in memory, for work that reads them more than once."""
        if self._source is None:
            return self._table
        if isinstance(self._source, SparkTable):
            raise TableError(
                "this work needs all records in the memory of one process, and these stay on their cluster"
            )
        if isinstance(self._source, Files):
            return self._source.whole(self._columns)
        return attempt(self._gather, SOURCE_FAILED, tries=1)

    def _gather(self) -> Any:
        return _together(self.heading, list(self.batches(self._columns)), self._columns)

    def close(self) -> None:
        self._stack.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


def open_engine(source: Any, schema: Schema, labels: Any = None, *, for_one_fit: bool = False) -> Engine:
    """An engine over the records of a source; see :class:`OpenTable`."""
    with OpenTable(source, schema, labels) as table:
        return table.engine(schema, for_one_fit=for_one_fit)


def load_table(
    name: str, schema: Schema, *, with_label: bool = True, also: Sequence[str] = (), quoted_line_breaks: bool = False
) -> Any:
    """The columns that a schema declares, of all records of a source: a path, a pattern, a folder or an address.

    ``also`` names more columns to read, for work that is not private.

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
    how: dict[str, Any] = {"with_label": with_label, "also": also, "quoted_line_breaks": quoted_line_breaks}
    with OpenTable(name, schema, **how) as table:
        return table.load()


def gathered(engine: Engine, work: str, *, values: bool = False, from_cluster: bool = False) -> MemoryEngine:
    """All records in one engine in memory, for work record by record.

    Those of a cluster stay there, unless ``from_cluster`` says that the owner wants them here.
    """
    if isinstance(engine, ChunkEngine):
        return engine.gather(values=values)
    if from_cluster:
        from privet.engines.spark import SparkEngine

        if isinstance(engine, SparkEngine):
            return engine.gather()
    if not isinstance(engine, MemoryEngine):
        raise ParameterError(
            f"{work} needs all records in the memory of one process, and these stay on their cluster; use a data "
            "frame or a file, or choose another recipe"
        )
    return engine


def protect(table: Any, schema: Schema, ledger: Ledger, *, labels: Any = None) -> PrivateDataset:
    """Put a table behind the privacy layer.

    Parameters
    ----------
    table : pandas, polars or pyarrow table, dict of columns, numpy array, or a source
        The records; the label column is taken from it unless ``labels`` is given. A source is read once, in batches,
        and never held in memory as a whole: a path or a pattern of ``.csv`` and ``.parquet`` files,
        ``"duckdb:///file.db?table=t"``, ``"postgresql://...?table=t"``, a DuckDB relation, an Arrow dataset or reader.
        A Spark DataFrame stays on its cluster and is counted there.
    schema : Schema
        The public facts. Values outside it never raise: ``privet.owner.check_table`` tells the owner about them.
        Names and declared types do, where no record could be read.
    ledger : Ledger
        What may be spent on these records. Use one ledger for everything that is asked of the same people.

    >>> import privet
    >>> from privet.datasets.clinic import clinic
    >>> schema, table = clinic(1000)
    >>> privet.protect(table, schema, privet.Ledger(1))  # doctest: +ELLIPSIS
    <PrivateDataset of (...), <Ledger ...>>
    """
    return PrivateDataset(open_engine(table, schema, labels), ledger)


def load_first(name: str, most: int) -> tuple[tuple[str, ...], Any]:
    """The names of all columns of a source, and at least its first ``most`` records, if it has so many.

    For the owner, before columns are chosen (``privet schema draft``).
    """
    source: Any = open_source(name)
    if not hasattr(source, "names"):
        raise TableError(f"{safe(name)} cannot list its columns; write the schema by hand: privet schema keys")
    names = attempt(lambda: tuple(filter(None, source.names())), SOURCE_FAILED, tries=1)
    if not names:
        raise TableError(f"{safe(name)} has no columns with a name; give it some")

    def first() -> Any:
        batches, read = list[Any](), 0
        for batch in source.batches(names):
            batches.append(batch)
            read += len(batch[names[0]])
            if read >= most:
                break
        return _together(source.header(names), batches, names)

    return names, attempt(first, SOURCE_FAILED, tries=1)


def _together(heading: Any, batches: Sequence[Any], columns: Sequence[str]) -> Any:
    if isinstance(heading, Mapping):
        return {name: list(chain.from_iterable(batch[name] for batch in batches)) for name in columns}
    import pyarrow as arrow  # type: ignore[import-untyped]

    return arrow.Table.from_batches(batches, schema=heading.schema)
