"""From a table to an engine: the one place that knows which engine counts which kind of source."""

from __future__ import annotations

from typing import Any

from privet.engines.memory import MemoryEngine
from privet.privacy.counting import Engine
from privet.privacy.dataset import PrivateDataset
from privet.privacy.ledger import Ledger
from privet.schema import Schema
from privet.schema.declared import refuse_source
from privet.schema.encoding import encode
from privet.schema.files import caveats_of
from privet.schema.frozen import freeze


def open_engine(source: Any, schema: Schema, labels: Any = None, *, for_one_fit: bool = False) -> Engine:
    """An engine over the records of a source. A source that can never fit the schema is refused before it is read.

    Records are kept in a form from which any cut of a number can be made. ``for_one_fit`` keeps only the codes of this
    one schema, which takes an eighth of the memory.
    """
    refuse_source(schema, source, labels, with_label=True)
    caveats = caveats_of(source)
    if for_one_fit:
        return MemoryEngine(schema, encode(schema, source, labels), caveats=caveats)
    frozen = freeze(schema, source, labels)
    return MemoryEngine(schema, frozen.codes(schema), frozen, caveats=caveats)


def protect(table: Any, schema: Schema, ledger: Ledger, *, labels: Any = None) -> PrivateDataset:
    """Put a table behind the privacy layer.

    Parameters
    ----------
    table : pandas, polars or pyarrow table, dict of columns, or numpy array
        The records; the label column is taken from it unless ``labels`` is given.
    schema : Schema
        The public facts. Values outside it never raise: ``schema.check(table)`` tells the owner about them. Names and
        declared types do, where no record could be read.
    ledger : Ledger
        What may be spent on these records. Use one ledger for everything that is asked of the same people.

    >>> import privet
    >>> from privet.datasets.clinic import clinic
    >>> schema, table = clinic(1000)
    >>> privet.protect(table, schema, privet.Ledger(1))  # doctest: +ELLIPSIS
    <PrivateDataset of (...), <Ledger ...>>
    """
    return PrivateDataset(open_engine(table, schema, labels), ledger)
