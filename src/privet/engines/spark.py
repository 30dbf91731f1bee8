"""Records on a Spark cluster. Their codes stay in Spark's storage; only sums of counts leave the cluster, unless the
owner takes a snapshot.

Codes are stored by a checkpoint: a reliable one where the session has a checkpoint folder, else a local one, on the
executors. Never by ``persist`` alone: lost data is then recomputed, rows of a shuffle come in another order, and a
record would get another record's coin. Each chunk carries its number, and the driver throws the coins once, for the
records of each chunk. Lost executors thus end in the same counts or in an ``EngineError``.
"""

from __future__ import annotations

import atexit
import shutil
import tempfile
import threading
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from privet.engines import executors
from privet.engines.attempts import SOURCE_FAILED, attempt
from privet.engines.chunks import CHUNK, CUT
from privet.engines.memory import MemoryEngine
from privet.engines.sources.spark import SparkTable
from privet.errors import ParameterError
from privet.privacy.counting import (
    Coins,
    FitCurvature,
    FitSums,
    Ints,
    Joint,
    LevelSum,
    Partition,
    Question,
    Shards,
    asks_classes_only,
    carried,
)
from privet.schema import Schema
from privet.structure.splits import Tests

CLUSTER_FAILED = (
    "the Spark job that counts failed three times; what was charged for this question stays charged. Spark's own "
    "message is left out. If executors were lost, set a checkpoint folder (sparkContext.setCheckpointDir), and fit "
    "again"
)
FEW = 2**20  # counts that every partition may send to the driver; more are first added up on the cluster

_shipped: set[str] = set()
_lock = threading.Lock()


class SparkEngine:
    """Exact counts of records on a cluster; see :class:`privet.privacy.counting.Engine`."""

    def __init__(self, schema: Schema, coded: Any, frozen: Any, caveats: Sequence[str] = ()) -> None:
        self.schema = schema
        self.unit = schema.unit  # rows were chosen while they were read
        self.caveats = tuple(caveats)
        self.passes = 0  # how many jobs have counted, for tests and benchmarks
        self._coded, self._frozen = coded, frozen
        # The position and class counts of each chunk.
        self._classes = sorted((row.part, row.number, row.classes) for row in coded.drop("arrays").collect())
        self._coins: list[Any] = []
        self._lock = threading.Lock()

    @classmethod
    def read(cls, table: SparkTable, schema: Schema, *, for_one_fit: bool = False, size: int = CHUNK) -> SparkEngine:
        """Read a table, once, on its cluster."""

        def opened() -> SparkEngine:
            rows = table.select(schema.columns)
            ship(rows.sparkSession)
            if schema.unit is None:
                kept = _mapped(rows, executors.Freeze(schema, for_one_fit, size), executors.CHUNK)
            else:
                unrolled = _mapped(rows, executors.Unroll(schema), executors.ROW)
                together = unrolled.repartition(max(rows.rdd.getNumPartitions(), 1), "unit")
                kept = _mapped(together, executors.Bound(schema, for_one_fit, size), executors.CHUNK)
            frozen = _kept(kept)
            if for_one_fit:
                return cls(schema, frozen, None, table.caveats)
            return cls(schema, _kept(_mapped(frozen, executors.Cut(schema), executors.CHUNK)), frozen, table.caveats)

        return attempt(opened, SOURCE_FAILED, tries=1)

    def answer(self, questions: Sequence[Question]) -> list[Ints]:
        if asks_classes_only(questions):
            total = np.zeros(self.schema.n_classes, dtype=np.int64)
            for _, _, classes in self._classes:
                total += classes
            return [total[None, None].copy() for _ in questions]
        self.passes += 1
        summed = any(isinstance(question, LevelSum) for question in questions)
        if summed and self._frozen is None:
            raise ParameterError("no values were kept for sums; protect the table, as privet.protect does")
        count = executors.Count(self.schema, tuple(questions), summed, tuple(self._coins))

        def job() -> list[Ints]:
            totals = executors.answers_of_none(self.schema, questions, len(self._coins))
            flat = [total.reshape(-1) for total in totals]  # views, through which the totals are filled
            slices = _mapped(self._frozen if summed else self._coded, count, executors.COUNTS)
            many = sum(total.size for total in flat) > FEW
            if many:
                slices = slices.groupBy("question", "slice").applyInArrow(_function(executors.Add()), executors.COUNTS)
            for row in slices.toLocalIterator() if many else slices.collect():
                counts, start = np.frombuffer(row.counts, np.int64), row.slice * executors.SLICE
                flat[row.question][start : start + counts.size] += counts
            return [
                carried(total) if isinstance(question, FitSums) and not isinstance(question, FitCurvature) else total
                for question, total in zip(questions, totals, strict=True)
            ]

        return attempt(job, CLUSTER_FAILED)

    def shards(self, cells: Partition, count: int, coins: Coins) -> Partition:
        dtype = np.uint8 if count <= 256 else np.int32
        thrown = {
            (part, number): np.asarray(coins(count, sum(classes))).astype(dtype)
            for part, number, classes in self._classes
        }
        with self._lock:
            self._coins.append(self._coded.sparkSession.sparkContext.broadcast(thrown))
            return cells.then(Shards(len(self._coins) - 1), count)

    def check_joint(self, tests: Tests, depth: int) -> None:
        from privet.engines.joint_tables import check_joint_tables

        check_joint_tables(self.schema, tests, depth)

    def joint(self, cells: Partition, tests: Tests, depth: int) -> Joint:
        from privet.engines.joint_tables import JointTables

        return JointTables(self, cells, tests, depth)

    def gather(self) -> MemoryEngine:
        """All records in one engine in memory, for the owner's snapshot: the only way for records to leave."""
        if self._frozen is None:
            raise ParameterError(CUT)

        def fetched() -> MemoryEngine:
            rows = sorted(self._frozen.toLocalIterator(), key=lambda row: (row.part, row.number))
            frozen = executors.thawed(self.schema, [row.arrays for row in rows])
            return MemoryEngine(self.schema, frozen.codes(self.schema), frozen, caveats=self.caveats)

        return attempt(fetched, SOURCE_FAILED, tries=1)

    def with_schema(self, schema: Schema) -> SparkEngine:
        if schema == self.schema:
            return self
        if self._frozen is None:
            raise ParameterError(CUT)

        def cut() -> SparkEngine:
            coded = _kept(_mapped(self._frozen, executors.Cut(schema), executors.CHUNK))
            return type(self)(schema, coded, self._frozen, self.caveats)

        return attempt(cut, CLUSTER_FAILED)


def _mapped(frame: Any, work: Callable[[Any], Any], columns: str) -> Any:
    return frame.mapInArrow(_function(work), columns)


def _function(work: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A plain function for Spark, which inspects arguments that a callable object does not show."""
    return lambda given: work(given)


def _kept(frame: Any) -> Any:
    folder = frame.sparkSession.sparkContext.getCheckpointDir()
    return frame.checkpoint(True) if folder else frame.localCheckpoint(True)


def ship(session: Any) -> None:
    """Send this privet to the executors, unless they have the same. They need numpy, numba, narwhals and pyarrow."""
    context = session.sparkContext
    with _lock:
        if context.applicationId in _shipped:
            return
        if not _installed_there(session):
            context.addPyFile(str(_archive()))
        _shipped.add(context.applicationId)


def _installed_there(session: Any) -> bool:
    many = session.sparkContext.defaultParallelism
    try:
        probes = session.range(0, many, numPartitions=many)
        found = _mapped(probes, executors.Digest(), executors.DIGEST).collect()
    except Exception:  # there is no privet at all
        return False
    return {row.digest for row in found} == {executors.own_digest()}


def _archive() -> Path:
    """The package as an archive. It lives as long as this process: Spark fetches it when it starts an executor."""
    folder = tempfile.mkdtemp(prefix="privet-spark-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    path = Path(folder) / "privet.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in executors.own_files(""):
            archive.writestr(name, content)
    return path
