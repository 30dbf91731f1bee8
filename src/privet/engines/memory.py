"""Records in memory, as small integer codes, counted by compiled kernels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from privet.errors import ParameterError
from privet.privacy.dataset import PrivateDataset
from privet.privacy.ledger import Ledger
from privet.schema import Numeric, Schema
from privet.schema.declared import refuse_source
from privet.schema.encoding import Codes, encode
from privet.schema.files import caveats_of
from privet.structure.compiled import thread_count
from privet.structure.routes import Routes
from privet.structure.splits import Test, Tests

if TYPE_CHECKING:
    from privet.engines.joint_counts import JointCounts

Ints = npt.NDArray[np.int64]

PARALLEL_FROM = 20_000  # records; on a busy machine a thread that must be woken can take a scheduler's tick, 4 ms


@dataclass(frozen=True, slots=True, eq=False)
class MemoryCells:
    """The cell of every record; -1 for records outside the partition."""

    of_record: npt.NDArray[np.int32]
    size: int


class MemoryEngine:
    """Exact counts of encoded records; see :class:`privet.privacy.counting.Engine`."""

    def __init__(self, schema: Schema, codes: Codes) -> None:
        if codes.labels is None:
            raise ParameterError("codes must hold labels: encode the table with its label column")
        self.schema = schema
        self._features = codes.features
        self._labels = codes.labels
        self._levels = codes.levels or {}
        self._offsets = np.asarray(schema.offsets, dtype=np.int64)

    def root(self) -> MemoryCells:
        return MemoryCells(np.zeros(self._labels.shape[0], dtype=np.int32), 1)

    def refine(self, cells: MemoryCells, tests: Sequence[Test | None]) -> MemoryCells:
        from privet.engines import kernels

        table = Tests.of(self.schema, tests)
        first = np.cumsum(table.arity) - table.arity
        routed = kernels.route(
            self._features, cells.of_record, table.attribute, table.kind, table.cut, first, _records_per_thread()
        )
        return MemoryCells(routed, int(table.arity.sum()))

    def descend(self, cells: MemoryCells, routes: Routes) -> MemoryCells:
        from privet.engines import kernels

        place = np.cumsum(routes.is_leaf, dtype=np.int32) - np.int32(1)
        arrived = kernels.send_down(self._features, cells.of_record, place, routes.descent, _records_per_thread())
        return MemoryCells(arrived, len(routes.leaves))

    def shards(self, cells: MemoryCells, count: int, coins: Callable[[int, int], Ints]) -> MemoryCells:
        thrown = coins(count, cells.of_record.size).astype(np.int32)
        return MemoryCells(np.where(cells.of_record == 0, thrown, np.int32(-1)), count)

    def bootstrap(self, cells: MemoryCells, coins: Callable[[int, int], Ints]) -> MemoryEngine:
        """NOT PRIVATE: the records of a partition, as many as there are, drawn with replacement."""
        inside = np.flatnonzero(cells.of_record >= 0)
        drawn = inside[coins(max(inside.size, 1), inside.size)]
        return MemoryEngine(self.schema, Codes(np.ascontiguousarray(self._features[:, drawn]), self._labels[drawn]))

    def only(self, cells: MemoryCells, cell: int) -> MemoryCells:
        return MemoryCells(np.where(cells.of_record == cell, np.int32(0), np.int32(-1)), 1)

    def counts(self, cells: MemoryCells) -> Ints:
        from privet.engines import kernels

        shape = cells.size, self.schema.n_classes
        threads = _threads(self._labels.size)
        counts = kernels.level_histogram(self._features, self._labels, cells.of_record, self._offsets, *shape, threads)
        return np.asarray(counts)

    def class_counts(self, cells: MemoryCells) -> Ints:
        from privet.engines import kernels

        threads = _threads(self._labels.size)
        counts = kernels.class_histogram(self._labels, cells.of_record, cells.size, self.schema.n_classes, threads)
        return np.asarray(counts)

    def level_sums(self, cells: MemoryCells, attribute: int) -> Ints:
        from privet.engines import kernels

        if attribute not in self._levels:
            name = self.schema.names[attribute]
            raise ParameterError(f"no values of {name!r} were kept for sums; protect the table with levels=True")
        threads = _threads(self._labels.size)
        return np.asarray(kernels.value_sums(self._levels[attribute], cells.of_record, cells.size, threads))

    def joint(self, cells: MemoryCells, tests: Tests) -> JointCounts:
        from privet.engines.joint_counts import JointCounts

        return JointCounts(self._features, self._labels, cells.of_record, tests, self.schema.n_classes)


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
    refuse_source(schema, table, labels, with_label=True)
    needs_levels = any(isinstance(attribute, Numeric) for attribute in schema.attributes)
    dataset = PrivateDataset(MemoryEngine(schema, encode(schema, table, labels, levels=needs_levels)), ledger)
    for caveat in caveats_of(table):
        ledger.add_caveat(caveat)
    return dataset


def _threads(records: int) -> int:
    """How many threads a count may use. Waking a second one costs more than counting a small table."""
    return thread_count() if records >= PARALLEL_FROM else 1


def _records_per_thread() -> int:
    return max(PARALLEL_FROM // 2, 1)
