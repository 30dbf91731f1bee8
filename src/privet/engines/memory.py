"""Records in memory, as small integer codes, counted by compiled kernels."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from privet.errors import ParameterError
from privet.privacy.counting import (
    Coins,
    Descend,
    FitCurvature,
    FitSums,
    Ints,
    Joint,
    LevelSum,
    Lookup,
    LossSums,
    Only,
    Partition,
    Question,
    Refine,
    Shards,
    Step,
    Tally,
    carried,
    single_attributes,
)
from privet.schema import Schema
from privet.structure.comparisons import LABEL
from privet.structure.compiled import thread_count
from privet.structure.splits import Tests
from privet.tables.encoding import Codes
from privet.tables.frozen import Frozen

PARALLEL_FROM = 20_000  # records; on a busy machine it can take 4 ms, a scheduler's tick, to wake a thread
PASS_COUNTS = 2**23  # joint counts per pass: another pass costs nothing here, memory does
KEPT, KEPT_BYTES = 4, 2**26  # cached partitions: four, or more if they fit into these bytes

Places = npt.NDArray[np.int32]
"""The cell of every record; -1 for records outside the partition."""


class MemoryEngine:
    """Exact counts of encoded records; see :class:`privet.privacy.counting.Engine`."""

    def __init__(
        self,
        schema: Schema,
        codes: Codes,
        frozen: Frozen | None = None,
        *,
        caveats: Sequence[str] = (),
        coins: Sequence[npt.NDArray[Any]] = (),
    ) -> None:
        if codes.labels is None:
            raise ParameterError("codes must hold labels: encode the table with its label column")
        self.schema = schema
        self._features = codes.features
        self._labels = codes.labels
        self._levels = dict(codes.levels or {})
        self.caveats = tuple(caveats)
        self.unit = codes.unit
        self._frozen = frozen
        self._offsets = np.asarray(schema.offsets, dtype=np.int64)
        self._coins = list(coins)  # the coins of the records, by number of the throw
        self._places: OrderedDict[tuple[Any, ...], Places] = OrderedDict()
        self._lock = threading.Lock()

    def answer(self, questions: Sequence[Question]) -> list[Ints]:
        return [self._answer(question) for question in questions]

    def add(self, questions: Sequence[Question], totals: Sequence[Ints]) -> None:
        """Add the answers of these records to ``totals``, so that chunks can follow one another."""
        for question, total in zip(questions, totals, strict=True):
            if isinstance(question, LevelSum):
                total += self._level_sum(question)
            elif isinstance(question, FitSums):
                total += self._fit_sums(question)
                if not isinstance(question, FitCurvature):
                    total[:] = carried(total)
            elif isinstance(question, LossSums):
                total += self._loss_sums(question)
            elif question.tuples in (((),), single_attributes(self.schema)):
                total += self._tally(question)
            else:
                self._add_tuples(question, total)

    def shards(self, cells: Partition, count: int, coins: Coins) -> Partition:
        thrown = np.asarray(coins(count, self._labels.size))
        self._coins.append(thrown.astype(np.uint8 if count <= 256 else np.int32))
        return cells.then(Shards(len(self._coins) - 1), count)

    def check_joint(self, tests: Tests, depth: int) -> None:
        """Never refuses: bitsets need no tables."""

    def joint(self, cells: Partition, tests: Tests, depth: int) -> Joint:
        """By tables or by bitsets, whichever is faster. The counts are the same."""
        from privet.engines.joint_tables import JointTables, tables_pay

        if tables_pay(self.schema, tests, depth, int(np.count_nonzero(self.places(cells) == 0))):
            return JointTables(self, cells, tests, depth, pass_counts=PASS_COUNTS)
        return self.joint_by_bitsets(cells, tests)

    def joint_by_bitsets(self, cells: Partition, tests: Tests) -> Joint:
        """Joint counts for sets of any size."""
        from privet.engines.joint_counts import JointCounts

        return JointCounts(self._features, self._labels, self.places(cells), tests, self.schema.n_classes)

    def with_schema(self, schema: Schema) -> MemoryEngine:
        if schema == self.schema:
            return self
        if self._frozen is None:
            raise ParameterError("these records are codes of another schema; privet.protect keeps what new cuts need")
        return type(self)(schema, self._frozen.codes(schema), self._frozen, caveats=self.caveats)

    def take(self, records: npt.NDArray[np.intp]) -> MemoryEngine:
        """An engine over some of these records, by number; a repeated number repeats the record."""
        return MemoryEngine(self.schema, Codes(np.ascontiguousarray(self._features[:, records]), self._labels[records]))

    def codes(self, cells: Partition) -> Codes:
        """The codes of a partition's records, for work record by record. Private, like the engine."""
        inside = self.places(cells) >= 0
        whole = bool(inside.all())
        features, labels = self._features, self._labels
        return Codes(
            features if whole else np.ascontiguousarray(features[:, inside]),
            labels if whole else labels[inside],
            unit=self.unit,
        )

    def frozen(self, cells: Partition) -> Frozen:
        """The same, in a form from which numbers can be cut anew."""
        if self._frozen is None:
            raise ParameterError("these records are codes of one schema; privet.protect keeps what new cuts need")
        return self._frozen.take(np.flatnonzero(self.places(cells) >= 0))

    # -- the program of a partition --------------------------------------------------------------------------------

    def places(self, cells: Partition) -> Places:
        """The cell of every record. The last few partitions are cached, so that a level costs one step."""
        with self._lock:
            known = self._places.get(cells.steps)
            if known is not None:
                self._places.move_to_end(cells.steps)
                return known
        if not cells.steps:
            places: Places = np.zeros(self._labels.size, dtype=np.int32)
        else:
            *above, step = cells.steps
            places = self._step(self.places(Partition(tuple(above))), step)
        with self._lock:
            self._places[cells.steps] = places
            while len(self._places) > max(KEPT, KEPT_BYTES // max(places.nbytes, 1)):
                self._places.popitem(last=False)
        return places

    def _step(self, places: Places, step: Step) -> Places:
        from privet.engines import kernels

        few = _records_per_thread()
        match step:
            case Refine(tests):
                first = np.cumsum(tests.arity) - tests.arity
                columns = tests.attribute, tests.kind, tests.cut, first
                return np.asarray(kernels.route(self._features, places, *columns, few))
            case Descend(routes):
                number = np.cumsum(routes.is_leaf, dtype=np.int32) - np.int32(1)
                return np.asarray(kernels.send_down(self._features, places, number, routes.descent, few))
            case Only(cell):
                return np.where(places == cell, np.int32(0), np.int32(-1))
            case Shards(coins):
                return np.where(places == 0, self._coins[coins].astype(np.int32), np.int32(-1))
            case Lookup(attribute, children, parts):
                codes = self._labels if attribute == LABEL else self._features[attribute]
                child = np.array(children, dtype=np.int32)[codes]
                return np.where((places >= 0) & (child >= 0), places * np.int32(parts) + child, np.int32(-1))

    # -- counting --------------------------------------------------------------------------------------------------

    def _answer(self, question: Question) -> Ints:
        match question:
            case Tally():
                return self._tally(question)
            case LevelSum():
                return self._level_sum(question)
            case FitSums():
                return self._fit_sums(question)
            case LossSums():
                return self._loss_sums(question)

    def _fit_sums(self, question: FitSums) -> Ints:
        from privet.engines import fit_kernels

        places = self.places(question.cells)
        records = self._features, self._labels, places
        threads = _threads(places.size)
        if isinstance(question, FitCurvature):
            return np.asarray(fit_kernels.fit_curvature(*records, question, threads))
        return carried(fit_kernels.fit_sums(*records, question, threads))

    def _tally(self, tally: Tally) -> Ints:
        from privet.engines import kernels

        places, shape = self.places(tally.cells), (tally.cells.size, self.schema.n_classes)
        if tally.tuples == ((),):
            return np.asarray(kernels.class_histogram(self._labels, places, *shape, _threads(places.size)))[:, None]
        records = self._features, self._labels, places
        if tally.tuples == single_attributes(self.schema):
            return np.asarray(kernels.level_histogram(*records, self._offsets, *shape, _threads(places.size)))
        counts: Ints = np.zeros((tally.cells.size, int(tally.offsets(self.schema)[-1]), shape[1]), dtype=np.int64)
        self._add_tuples(tally, counts)
        return counts

    def _add_tuples(self, tally: Tally, counts: Ints) -> None:
        from privet.engines import kernels

        members = np.array([a for names in tally.tuples for a in names], dtype=np.int64)
        arities = np.array(self.schema.arities, dtype=np.int64)[members]
        ends = np.cumsum([len(names) for names in tally.tuples]).astype(np.int64)
        facts = members, arities, ends, tally.offsets(self.schema)
        kernels.add_tuples(self._features, self._labels, self.places(tally.cells), *facts, counts)

    def _level_sum(self, question: LevelSum) -> Ints:
        from privet.engines import kernels

        levels = self._levels.get(question.attribute)
        if levels is None and self._frozen is not None:
            levels = self._levels[question.attribute] = self._frozen.levels(question.attribute)
        if levels is None:
            name = self.schema.names[question.attribute]
            raise ParameterError(f"no values of {name!r} were kept for sums; freeze the table, as privet.protect does")
        places = self.places(question.cells)
        return np.asarray(kernels.value_sums(levels, places, question.cells.size, _threads(places.size)))

    def _loss_sums(self, question: LossSums) -> Ints:
        from privet.engines import kernels

        places = self.places(question.cells)
        shape = question.cells.size, _threads(places.size)
        return np.asarray(kernels.loss_sums(self._features, self._labels, places, question.evidence, *shape))


def _threads(records: int) -> int:
    """The number of threads for a count. Waking a second one costs more than counting a small table."""
    return thread_count() if records >= PARALLEL_FROM else 1


def _records_per_thread() -> int:
    return max(PARALLEL_FROM // 2, 1)
