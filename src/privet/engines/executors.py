"""Code that runs on Spark's executors, as functions of Arrow batches: rows to chunks, to codes, to counts.

A chunk is one row: its number, its class counts, and its arrays as bytes. Where rows are bounded by unit, each record
is a row of its own first, so that Spark can group the rows of a unit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from importlib.resources import files
from typing import Any

import numpy as np
import numpy.typing as npt

from privet.engines.memory import MemoryEngine
from privet.engines.parts import class_sizes, evened
from privet.privacy.counting import Ints, Question
from privet.schema import Schema
from privet.schema.attributes import Numeric
from privet.structure.compiled import threads
from privet.tables.encoding import Codes, code_type, encode
from privet.tables.frozen import Frozen, bounded, freeze, freeze_rows
from privet.tables.units import ID_WORDS, columns_of, row_words

Array = npt.NDArray[Any]
Batches = Iterable[Any]

DIGEST = "digest string"
CHUNK = "part int, number int, classes array<int>, arrays array<binary>"
ROW = "unit binary, record binary"
COUNTS = "question int, slice int, counts binary"
SLICE = 2**18  # counts in a row: 2 MB


@dataclass(frozen=True)
class Digest:
    """Reports which privet is installed here."""

    def __call__(self, batches: Batches) -> Iterator[Any]:
        for _ in batches:
            yield _batch(digest=[own_digest()])


def own_digest() -> str:
    """A hash of all of privet's code."""
    found = sha256()
    for name, content in own_files(".py"):
        found.update(f"{name} {len(content)} ".encode() + content)
    return found.hexdigest()


def own_files(*endings: str) -> Iterator[tuple[str, bytes]]:
    """The files of the package, by their path in it; the package may be a folder or an archive."""

    def walk(folder: Any, above: str) -> Iterator[tuple[str, bytes]]:
        for entry in sorted(folder.iterdir(), key=lambda entry: str(entry.name)):
            if entry.is_dir():
                yield from () if entry.name == "__pycache__" else walk(entry, f"{above}{entry.name}/")
            elif entry.name.endswith(endings):
                yield above + entry.name, entry.read_bytes()

    return walk(files("privet"), "privet/")


@dataclass(frozen=True)
class Freeze:
    """From a table to chunks: frozen records, or codes if the engine serves a single fit."""

    schema: Schema
    for_one_fit: bool
    size: int  # of a chunk

    def __call__(self, batches: Batches) -> Iterator[Any]:
        return _numbered((self._columns(batch) for batch in batches), self.size, self.schema.n_classes)

    def _columns(self, batch: Any) -> list[Array]:
        if self.for_one_fit:
            codes = encode(self.schema, batch)
            return [*codes.features, np.asarray(codes.labels)]
        frozen = freeze(self.schema, batch)
        return [*frozen.columns, frozen.labels]


@dataclass(frozen=True)
class Unroll:
    """From a table to one row per record, with its unit."""

    schema: Schema

    def __call__(self, batches: Batches) -> Iterator[Any]:
        for batch in batches:
            frozen, ids = freeze_rows(self.schema, batch)
            assert ids is not None
            words = row_words(frozen.columns, frozen.labels)
            yield _batch(unit=[one.tobytes() for one in ids], record=[one.tobytes() for one in words])


@dataclass(frozen=True)
class Bound:
    """From rows, grouped by unit, to chunks of the admitted rows."""

    schema: Schema
    for_one_fit: bool
    size: int  # of a chunk

    def __call__(self, batches: Batches) -> Iterator[Any]:
        like = [np.empty(0, dtype) for dtype in _types(self.schema, frozen=True)]
        units, records = bytearray(), bytearray()
        for batch in batches:
            for all_, column in ((units, batch.column(0)), (records, batch.column(1))):
                all_ += b"".join(column.to_pylist())
        ids = np.frombuffer(units, np.uint64).reshape(-1, ID_WORDS)
        *frozen, labels = columns_of(np.frombuffer(records, np.uint64).reshape(-1, len(like)), like)
        kept = bounded(Frozen(self.schema, tuple(frozen), labels), ids)
        codes = kept.codes(self.schema) if self.for_one_fit else None
        columns = [*kept.columns, kept.labels] if codes is None else [*codes.features, np.asarray(codes.labels)]
        return _numbered([columns], self.size, self.schema.n_classes)


@dataclass(frozen=True)
class Cut:
    """From frozen chunks to chunks of codes."""

    schema: Schema

    def __call__(self, batches: Batches) -> Iterator[Any]:
        for part, number, arrays in _chunks(batches):
            codes = _thawed(self.schema, arrays).codes(self.schema)
            yield _chunk(part, number, [*codes.features, np.asarray(codes.labels)], self.schema.n_classes)


@dataclass(frozen=True)
class Count:
    """From chunks, frozen or of codes, to the sums of all answers: one row per slice of each."""

    schema: Schema
    questions: Sequence[Question]
    frozen: bool
    coins: Sequence[Any]  # broadcast: for each throw, the coins of each chunk's records

    def __call__(self, batches: Batches) -> Iterator[Any]:
        totals: list[Ints] | None = None
        for part, number, arrays in _chunks(batches):
            thrown = [one.value[part, number] for one in self.coins]
            engine = _engine(self.schema, arrays, self.frozen, thrown)
            with threads(1):  # Spark gives a task one processor
                if totals is None:
                    totals = engine.answer(self.questions)
                else:
                    engine.add(self.questions, totals)
        for question, total in enumerate(totals or ()):
            flat = np.ascontiguousarray(total, dtype=np.int64).reshape(-1)
            for number, start in enumerate(range(0, flat.size, SLICE)):
                yield _sliced(question, number, flat[start : start + SLICE])


@dataclass(frozen=True)
class Add:
    """Add up the same slice of several partitions."""

    def __call__(self, table: Any) -> Any:
        import pyarrow as arrow  # type: ignore[import-untyped]

        total = sum(np.frombuffer(one, np.int64) for one in table.column("counts").to_pylist())
        question, number = table.column("question")[0].as_py(), table.column("slice")[0].as_py()
        return arrow.Table.from_batches([_sliced(question, number, np.asarray(total))])


def answers_of_none(schema: Schema, questions: Sequence[Question], throws: int) -> list[Ints]:
    """The answers of an empty engine: zeros, in the shape of each answer."""
    empty = [b""] * (len(schema.attributes) + 1)
    answers = _engine(schema, empty, True, [np.empty(0, np.uint8)] * throws).answer(questions)
    return [np.ascontiguousarray(answer) for answer in answers]


def thawed(schema: Schema, chunks: Sequence[list[bytes]]) -> Frozen:
    """The records of several frozen chunks, one after another."""
    nothing = [b""] * (len(schema.attributes) + 1)
    return _thawed(schema, [b"".join(column) for column in zip(nothing, *chunks, strict=True)])


# ---- rows -----------------------------------------------------------------------------------------------------------


def _engine(schema: Schema, arrays: list[bytes], frozen: bool, coins: Sequence[Array]) -> MemoryEngine:
    if frozen:
        kept = _thawed(schema, arrays)
        return MemoryEngine(schema, kept.codes(schema), kept, coins=coins)
    types = _types(schema, frozen=False)
    labels = np.frombuffer(arrays[-1], types[-1])
    features = np.frombuffer(b"".join(arrays[:-1]), types[0]).reshape(len(arrays) - 1, labels.size)
    return MemoryEngine(schema, Codes(features, labels, unit=schema.unit), coins=coins)


def _thawed(schema: Schema, arrays: list[bytes]) -> Frozen:
    typed = zip(arrays, _types(schema, frozen=True), strict=True)
    *columns, labels = (np.frombuffer(array, dtype) for array, dtype in typed)
    return Frozen(schema, tuple(columns), labels, schema.unit)


def _types(schema: Schema, *, frozen: bool) -> list[Any]:
    """The types of a chunk's arrays, the labels last."""
    label = code_type(schema.n_classes)
    if not frozen:
        return [code_type(max(schema.arities))] * len(schema.attributes) + [label]
    kinds = [np.float64 if isinstance(a, Numeric) else code_type(a.arity) for a in schema.attributes]
    return [*kinds, np.float64 if schema.predicts_number else label]


def _numbered(pieces: Iterable[list[Array]], size: int, classes: int) -> Iterator[Any]:
    """Chunks of one size, each with its partition and its number there."""
    from pyspark import TaskContext

    context = TaskContext.get()
    assert context is not None
    for number, columns in enumerate(evened(pieces, size)):
        yield _chunk(context.partitionId(), number, columns, classes)


def _chunks(batches: Batches) -> Iterator[tuple[int, int, list[bytes]]]:
    for batch in batches:
        for row in batch.to_pylist():
            yield row["part"], row["number"], row["arrays"]


def _chunk(part: int, number: int, columns: Sequence[Array], classes: int) -> Any:
    arrays = [np.ascontiguousarray(column).tobytes() for column in columns]
    labels = columns[-1]  # the values of a number to predict have no classes yet: codes are counted, once cut
    sizes = class_sizes(labels if labels.dtype.kind == "u" else labels[:0].astype(np.uint8), classes)
    return _batch(part=[part], number=[number], classes=[sizes], arrays=[arrays])


def _sliced(question: int, number: int, counts: Array) -> Any:
    return _batch(question=[question], slice=[number], counts=[counts.tobytes()])


def _batch(**columns: list[Any]) -> Any:
    import pyarrow as arrow

    binary = arrow.binary()
    types = {
        "arrays": arrow.list_(binary),
        "classes": arrow.list_(arrow.int32()),
        "counts": binary,
        "unit": binary,
        "record": binary,
        "digest": arrow.string(),
    }
    arrays = [arrow.array(column, types.get(name, arrow.int32())) for name, column in columns.items()]
    return arrow.RecordBatch.from_arrays(arrays, names=list(columns))
