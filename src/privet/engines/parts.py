"""Regroup rows that come in batches: into chunks of one size, or with all rows of a unit in one part.

To choose among the rows of a unit they must be together, and batches bring them in any order. So rows are distributed
by a hash of their unit into a fixed number of parts, which lie in a ``Spill``; then the parts are processed one by one.
A part is held in memory: a 256th of the rows, or the rows of the largest unit, if that is more. This writes the rows to
disk once more: 8 bytes for each column of a row, and 32 for its unit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from privet.engines.spill import Array, Kept, Spill
from privet.privacy.counting import Ints
from privet.schema import Schema
from privet.tables.frozen import Frozen, bounded, freeze_rows
from privet.tables.units import ID_WORDS, Words, columns_of, keyed_hash, row_words

PARTS = 256
FEW = 2**17  # rows that are bounded at once, without parts
DEALING = bytes(16)  # the hash key for parts; which part a unit falls into does not matter


def evened(pieces: Iterable[list[Array]], size: int) -> Iterator[list[Array]]:
    """The same rows in pieces of ``size``; the last may be smaller or empty."""
    waiting: list[list[Array]] = []
    held = 0
    for piece in pieces:
        waiting.append(piece)
        held += piece[-1].size
        while held > size:
            joined = [np.concatenate(parts) for parts in zip(*waiting, strict=True)]
            yield [column[:size] for column in joined]
            waiting, held = [[column[size:] for column in joined]], held - size
    if waiting:
        yield [np.concatenate(parts) for parts in zip(*waiting, strict=True)]


def class_sizes(labels: Array, classes: int) -> Ints:
    return np.bincount(labels, minlength=classes).astype(np.int64)


def bounded_parts(schema: Schema, batches: Iterable[Any]) -> Iterator[Frozen]:
    """The rows admitted by the schema's unit; all rows of a unit are in one part."""
    dealt: list[list[Kept]] | None = None
    waiting: list[Words] = []
    spill, like = Spill(), list[Array]()
    for batch in batches:
        frozen, ids = freeze_rows(schema, batch)
        assert ids is not None
        like = like or [*frozen.columns, frozen.labels]
        waiting.append(np.concatenate([ids, row_words(frozen.columns, frozen.labels)], axis=1))
        if dealt is not None or sum(map(len, waiting)) > FEW:
            dealt = dealt or [[] for _ in range(PARTS)]
            _deal(np.concatenate(waiting), dealt, spill)
            waiting = []
    if dealt is None:
        yield _taken_up(schema, waiting, like)
        return
    for part in dealt:
        yield _taken_up(schema, [spill.get(kept) for kept in part], like)


def _deal(rows: Words, dealt: list[list[Kept]], spill: Spill) -> None:
    part = (keyed_hash(list(rows[:, :ID_WORDS].T), DEALING) % np.uint64(PARTS)).astype(np.intp)
    order = np.argsort(part, kind="stable")
    ends = np.cumsum(np.bincount(part, minlength=PARTS))
    for number, some in enumerate(np.split(order, ends[:-1])):
        if some.size:
            dealt[number].append(spill.put(rows[some]))


def _taken_up(schema: Schema, rows: list[Words], like: list[Array]) -> Frozen:
    words = np.concatenate(rows) if rows else np.empty((0, ID_WORDS + len(like)), dtype=np.uint64)
    *columns, labels = columns_of(words[:, ID_WORDS:], like)
    return bounded(Frozen(schema, tuple(columns), labels), words[:, :ID_WORDS])
