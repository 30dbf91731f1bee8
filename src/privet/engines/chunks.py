"""Records of a source as encoded chunks of one size, counted a chunk at a time.

The source is read once, while the engine is opened, so before anything is charged. A chunk is codes, in memory or in an
unnamed file (``spill.py``). A partition is a public program (``privet.privacy.counting.Partition``), replayed on every
chunk; only coins are stored, with the chunk of their records. All answers are sums of integers over chunks, so neither
the order nor the boundaries of chunks can show.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from privet.engines.attempts import SOURCE_FAILED, attempt
from privet.engines.memory import MemoryEngine
from privet.engines.parts import bounded_parts, class_sizes, evened
from privet.engines.sources import Source
from privet.engines.spill import Array, Kept, Spill
from privet.errors import ParameterError
from privet.privacy.counting import Coins, Ints, Joint, Partition, Question, Shards, asks_classes_only
from privet.schema import Schema
from privet.structure.splits import Tests
from privet.tables.encoding import Codes, encode
from privet.tables.frozen import Frozen, freeze

CHUNK = 2**17  # records: enough to amortise calls, few enough to stay in the caches

CUT = "these records are codes of another schema; privet.protect keeps what new cuts need"


class Chunk(NamedTuple):
    """One chunk, as handles into a ``Spill``."""

    classes: Ints
    """How many records of each class it has."""
    features: Kept
    labels: Kept
    frozen: tuple[Kept, ...] | None
    """The columns from which other cuts can be made, the labels last; None if the engine serves one fit only."""

    @property
    def size(self) -> int:
        return int(self.classes.sum())


class _Columns(Sequence[Array]):
    """The columns of a chunk, each read from its ``Spill`` on access."""

    def __init__(self, spill: Spill, kept: Sequence[Kept]) -> None:
        self._spill, self._kept = spill, kept

    def __getitem__(self, place: Any) -> Any:
        return self._spill.get(self._kept[place])

    def __len__(self) -> int:
        return len(self._kept)


class ChunkEngine:
    """Exact counts of the records of a source; see :class:`privet.privacy.counting.Engine`."""

    def __init__(
        self, schema: Schema, chunks: Sequence[Chunk], spill: Spill, frozen: Spill, caveats: Sequence[str] = ()
    ) -> None:
        self.schema = schema
        self.unit = schema.unit  # rows were chosen while they were read
        self.caveats = tuple(caveats)
        self.passes = 0  # how often the records were read, for tests and benchmarks
        self._chunks, self._spill, self._frozen = tuple(chunks), spill, frozen
        self._coins: list[list[Kept]] = []
        self._lock = threading.Lock()

    @classmethod
    def read(cls, source: Source, schema: Schema, *, for_one_fit: bool = False, size: int = CHUNK) -> ChunkEngine:
        """Read a source, once. ``for_one_fit`` keeps only the codes of this schema, an eighth of the memory."""
        spill, frozen = Spill(), Spill()

        def chunks() -> list[Chunk]:
            pieces = _pieces(source, schema, for_one_fit, size)
            return [_keep(schema, columns, for_one_fit, spill, frozen) for columns in evened(pieces, size)]

        return cls(schema, attempt(chunks, SOURCE_FAILED, tries=1), spill, frozen, source.caveats)

    def answer(self, questions: Sequence[Question]) -> list[Ints]:
        if asks_classes_only(questions):
            return [np.sum([chunk.classes for chunk in self._chunks], axis=0)[None, None] for _ in questions]
        self.passes += 1
        totals = self._opened(0).answer(questions)
        for number in range(1, len(self._chunks)):
            self._opened(number).add(questions, totals)
        return totals

    def shards(self, cells: Partition, count: int, coins: Coins) -> Partition:
        dtype = np.uint8 if count <= 256 else np.int32
        thrown = [self._spill.put(np.asarray(coins(count, chunk.size)).astype(dtype)) for chunk in self._chunks]
        with self._lock:
            self._coins.append(thrown)
            return cells.then(Shards(len(self._coins) - 1), count)

    def check_joint(self, tests: Tests, depth: int) -> None:
        """Never refuses: bitsets need no tables."""

    def joint(self, cells: Partition, tests: Tests, depth: int) -> Joint:
        """By tables over tuples of attributes, or by bitsets of all records in memory, whichever is faster."""
        from privet.engines.joint_tables import JointTables, tables_pay

        if tables_pay(self.schema, tests, depth, sum(chunk.size for chunk in self._chunks)):
            return JointTables(self, cells, tests, depth)
        return self.gather().joint_by_bitsets(cells, tests)

    def with_schema(self, schema: Schema) -> ChunkEngine:
        if schema == self.schema:
            return self
        spill, chunks = Spill(), []
        for chunk in self._chunks:
            frozen = self._thawed(chunk)
            if frozen is None:
                raise ParameterError(CUT)
            chunks.append(_keep_codes(schema, frozen.codes(schema), spill, chunk.frozen))
        return type(self)(schema, chunks, spill, self._frozen, self.caveats)

    def gather(self, *, values: bool = False) -> MemoryEngine:
        """All records in one engine in memory, with their coins, for work that cannot go chunk by chunk.

        With ``values`` also the values from which numbers can be cut anew, where they were kept.
        """
        get = self._spill.get
        features = np.concatenate([get(chunk.features) for chunk in self._chunks], axis=1)
        labels = np.concatenate([get(chunk.labels) for chunk in self._chunks])
        coins = [np.concatenate([get(kept) for kept in thrown]) for thrown in self._coins]
        frozen = None
        if values and all(chunk.frozen is not None for chunk in self._chunks):
            kept = [[self._frozen.get(column) for column in chunk.frozen or ()] for chunk in self._chunks]
            *columns, frozen_labels = map(np.concatenate, zip(*kept, strict=True))
            frozen = Frozen(self.schema, tuple(columns), frozen_labels, self.unit)
        codes = Codes(features, labels, unit=self.unit)
        return MemoryEngine(self.schema, codes, frozen, caveats=self.caveats, coins=coins)

    # -- inside ----------------------------------------------------------------------------------------------------

    def _opened(self, number: int) -> MemoryEngine:
        """A chunk as an engine of its own. Values to sum are read only on access."""
        chunk, get = self._chunks[number], self._spill.get
        codes = Codes(get(chunk.features), get(chunk.labels), unit=self.unit)
        return MemoryEngine(self.schema, codes, self._thawed(chunk), coins=[get(one[number]) for one in self._coins])

    def _thawed(self, chunk: Chunk) -> Frozen | None:
        if chunk.frozen is None:
            return None
        *columns, labels = chunk.frozen
        return Frozen(self.schema, _Columns(self._frozen, columns), self._frozen.get(labels), self.unit)


# ---- from batches to chunks -----------------------------------------------------------------------------------------


def _pieces(source: Source, schema: Schema, for_one_fit: bool, size: int) -> Iterator[list[Array]]:
    """The records of each batch as columns, the labels last; at least one batch, which may be empty."""
    batches = _sliced(source, schema, size)
    if schema.unit is not None:
        for part in bounded_parts(schema, batches):
            yield _coded(part, schema) if for_one_fit else [*part.columns, part.labels]
    elif for_one_fit:
        yield from (_encoded(schema, batch) for batch in batches)
    else:
        yield from ([*part.columns, part.labels] for part in (freeze(schema, batch) for batch in batches))


def _sliced(source: Source, schema: Schema, size: int) -> Iterator[Any]:
    """The header first, as an empty batch, then all batches in parts of at most ``size``."""
    yield source.header(schema.columns)
    for batch in source.batches(schema.columns):
        rows = getattr(batch, "num_rows", 0)
        yield from (batch.slice(start, size) for start in range(0, rows, size)) if rows > size else (batch,)


def _coded(part: Frozen, schema: Schema) -> list[Array]:
    codes = part.codes(schema)
    return [*codes.features, np.asarray(codes.labels)]


def _encoded(schema: Schema, batch: Any) -> list[Array]:
    codes = encode(schema, batch)
    assert codes.labels is not None
    return [*codes.features, codes.labels]


def _keep(schema: Schema, columns: list[Array], for_one_fit: bool, spill: Spill, frozen: Spill) -> Chunk:
    *features, labels = columns
    if for_one_fit:
        return _keep_codes(schema, Codes(np.stack(features), labels), spill)
    kept = tuple(frozen.put(column) for column in columns)
    return _keep_codes(schema, Frozen(schema, tuple(features), labels).codes(schema), spill, kept)


def _keep_codes(schema: Schema, codes: Codes, spill: Spill, frozen: tuple[Kept, ...] | None = None) -> Chunk:
    assert codes.labels is not None
    classes = class_sizes(codes.labels, schema.n_classes)
    return Chunk(classes, spill.put(codes.features), spill.put(codes.labels), frozen)
