"""From a table to an engine: the one place that knows which engine counts which kind of source."""

from __future__ import annotations

from typing import Any

from privet.engines.attempts import SOURCE_FAILED, attempt
from privet.engines.chunks import ChunkEngine
from privet.engines.memory import MemoryEngine
from privet.engines.sources import Source, open_source
from privet.engines.sources.spark import SparkTable
from privet.errors import ParameterError
from privet.privacy.counting import Engine
from privet.privacy.dataset import PrivateDataset
from privet.privacy.ledger import Ledger
from privet.schema import Schema
from privet.tables.declared import refuse_source
from privet.tables.files import caveats_of
from privet.tables.frozen import admitted, freeze


def open_engine(source: Any, schema: Schema, labels: Any = None, *, for_one_fit: bool = False) -> Engine:
    """An engine over the records of a source. A source that can never fit the schema is refused before it is read.

    Records are kept in a form from which any cut of a number can be made. ``for_one_fit`` keeps only the codes of this
    one schema, which takes an eighth of the memory.
    """
    place = open_source(source)
    if place is not None:
        if labels is not None:
            raise ParameterError("a source holds the column of its labels; leave them out")
        refuse_source(schema, header_of(place, schema), with_label=True)
        if isinstance(place, SparkTable):
            from privet.engines.spark import SparkEngine

            return SparkEngine.read(place, schema, for_one_fit=for_one_fit)
        return ChunkEngine.read(place, schema, for_one_fit=for_one_fit)
    refuse_source(schema, source, labels, with_label=True)
    caveats = caveats_of(source)
    if for_one_fit:
        return MemoryEngine(schema, admitted(schema, source, labels), caveats=caveats)
    frozen = freeze(schema, source, labels)
    return MemoryEngine(schema, frozen.codes(schema), frozen, caveats=caveats)


def header_of(source: Source | SparkTable, schema: Schema) -> Any:
    """The columns that a schema wants of a source, as a table without a record."""
    return attempt(lambda: source.header(schema.columns), SOURCE_FAILED, tries=1)


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
