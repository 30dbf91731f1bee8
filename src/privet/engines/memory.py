"""Records in memory, as small integer codes, counted by compiled kernels."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from privet.errors import ParameterError
from privet.privacy.counting import (
    Cells,
    Coins,
    Descend,
    Ints,
    LevelSum,
    Only,
    Question,
    Refine,
    Shards,
    Tally,
    single_attributes,
)
from privet.privacy.dataset import PrivateDataset
from privet.privacy.ledger import Ledger
from privet.schema import Numeric, Schema
from privet.schema.encoding import Codes, encode
from privet.structure.splits import Tests

if TYPE_CHECKING:
    from privet.engines.joint_counts import JointCounts

PARALLEL_FROM = 20_000  # records; on a busy machine a thread that must be woken can take a scheduler's tick, 4 ms
KEPT, KEPT_BYTES = 4, 2**26  # partitions whose records' cells are remembered: so many, or more of a small table

Places = npt.NDArray[np.int32]
"""The cell of every record; -1 for records outside the partition."""


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
        self._coins: list[npt.NDArray[Any]] = []
        self._places: OrderedDict[tuple[Any, ...], Places] = OrderedDict()
        self._lock = threading.Lock()

    def answer(self, questions: Sequence[Question]) -> list[Ints]:
        return [self._tally(q) if isinstance(q, Tally) else self._level_sum(q) for q in questions]

    def shards(self, cells: Cells, count: int, coins: Coins) -> Cells:
        thrown = np.asarray(coins(count, self._labels.size))
        self._coins.append(thrown.astype(np.uint8 if count <= 256 else np.int32))
        return cells.then(Shards(len(self._coins) - 1), count)

    def joint(self, cells: Cells, tests: Tests, depth: int) -> JointCounts:
        from privet.engines.joint_counts import JointCounts

        return JointCounts(self._features, self._labels, self.places(cells), tests, self.schema.n_classes)

    def with_schema(self, schema: Schema) -> MemoryEngine:
        if schema == self.schema:
            return self
        raise ParameterError("these records were encoded for another schema; encode the table again")

    def bootstrap(self, cells: Cells, coins: Coins) -> MemoryEngine:
        """NOT PRIVATE: the records of a partition, as many as there are, drawn with replacement."""
        inside = np.flatnonzero(self.places(cells) >= 0)
        drawn = inside[coins(max(inside.size, 1), inside.size)]
        return MemoryEngine(self.schema, Codes(np.ascontiguousarray(self._features[:, drawn]), self._labels[drawn]))

    # -- the program of a partition --------------------------------------------------------------------------------

    def places(self, cells: Cells) -> Places:
        """The cell of every record. The last few partitions are remembered, so that a level costs one step."""
        with self._lock:
            known = self._places.get(cells.steps)
            if known is not None:
                self._places.move_to_end(cells.steps)
                return known
        if not cells.steps:
            places: Places = np.zeros(self._labels.size, dtype=np.int32)
        else:
            *above, step = cells.steps
            places = self._step(self.places(Cells(tuple(above))), step)
        with self._lock:
            self._places[cells.steps] = places
            while len(self._places) > max(KEPT, KEPT_BYTES // max(places.nbytes, 1)):
                self._places.popitem(last=False)
        return places

    def _step(self, places: Places, step: Refine | Descend | Only | Shards) -> Places:
        from privet.engines import kernels

        match step:
            case Refine(tests):
                first = np.cumsum(tests.arity) - tests.arity
                with _threads(places.size):
                    return np.asarray(
                        kernels.route(self._features, places, tests.attribute, tests.kind, tests.cut, first)
                    )
            case Descend(routes):
                number = np.cumsum(routes.is_leaf, dtype=np.int32) - np.int32(1)
                with _threads(places.size):
                    return np.asarray(kernels.send_down(self._features, places, number, *routes.descent))
            case Only(cell):
                return np.where(places == cell, np.int32(0), np.int32(-1))
            case Shards(coins):
                return np.where(places == 0, self._coins[coins].astype(np.int32), np.int32(-1))

    # -- counting --------------------------------------------------------------------------------------------------

    def _tally(self, tally: Tally) -> Ints:
        from privet.engines import kernels

        places, shape = self.places(tally.cells), (tally.cells.size, self.schema.n_classes)
        with _threads(places.size) as threads:
            if tally.tuples == ((),):
                counts = kernels.class_histogram(self._labels, places, *shape, threads)
                return np.asarray(counts)[:, None]
            if tally.tuples == single_attributes(self.schema):
                return np.asarray(
                    kernels.level_histogram(self._features, self._labels, places, self._offsets, *shape, threads)
                )
            members = [a for names in tally.tuples for a in names]
            ends = np.cumsum([len(names) for names in tally.tuples])
            arities = np.array([self.schema.arities[a] for a in members], dtype=np.int64)
            return np.asarray(
                kernels.tuple_histogram(
                    self._features,
                    self._labels,
                    places,
                    np.array(members, dtype=np.int64),
                    arities,
                    ends.astype(np.int64),
                    tally.offsets(self.schema),
                    *shape,
                )
            )

    def _level_sum(self, question: LevelSum) -> Ints:
        from privet.engines import kernels

        if question.attribute not in self._levels:
            name = self.schema.names[question.attribute]
            raise ParameterError(f"no values of {name!r} were kept for sums; protect the table with levels=True")
        places = self.places(question.cells)
        with _threads(places.size) as threads:
            sums = kernels.value_sums(self._levels[question.attribute], places, question.cells.size, threads)
        return np.asarray(sums)


def protect(table: Any, schema: Schema, ledger: Ledger, *, labels: Any = None) -> PrivateDataset:
    """Put a table behind the privacy layer.

    Parameters
    ----------
    table : pandas, polars or pyarrow table, dict of columns, or numpy array
        The records; the label column is taken from it unless ``labels`` is given.
    schema : Schema
        The public facts. Values outside it never raise: ``schema.check(table)`` tells the owner about them.
    ledger : Ledger
        What may be spent on these records. Use one ledger for everything that is asked of the same people.

    >>> import privet
    >>> from privet.datasets.clinic import clinic
    >>> schema, table = clinic(1000)
    >>> privet.protect(table, schema, privet.Ledger(1))  # doctest: +ELLIPSIS
    <PrivateDataset of (...), <Ledger ...>>
    """
    needs_levels = any(isinstance(attribute, Numeric) for attribute in schema.attributes)
    return PrivateDataset(MemoryEngine(schema, encode(schema, table, labels, levels=needs_levels)), ledger)


@contextmanager
def _threads(records: int) -> Iterator[int]:
    """How many threads the kernels inside the block may use. Waking a second one costs more than a small table."""
    from numba import get_num_threads, set_num_threads

    most = int(get_num_threads())
    try:
        few = most if records >= PARALLEL_FROM else 1
        set_num_threads(few)
        yield few
    finally:
        set_num_threads(most)
