"""Joint counts of tests: how many records of each class meet every set of two tests and a prefix.

Tests are bitsets over the records of a cell, classes one after another and each padded to whole words. Two tricks make
it fast. Only the records that meet a prefix are kept, so longer ones cost less. And the side of a test with fewer
records counts as met.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit, types
from numba.extending import intrinsic

from privet.structure.compiled import GRAIN, kernel, spread
from privet.structure.descent import child
from privet.structure.splits import Tests

Array = npt.NDArray[Any]
_ONE = np.uint64(1)

NARROW = 2**31 - 1  # records that 32 bits can count; a draw reads mostly pairs, so they are kept short


class JointCounts:
    """Counts of intersections of binary tests in one cell; ``met[t]`` is the child of test t that counts as met."""

    def __init__(self, features: Array, labels: Array, cells: Array, tests: Tests, n_classes: int) -> None:
        records = np.flatnonzero(cells == 0)
        records = records[np.argsort(labels[records], kind="stable")]
        sizes = np.bincount(labels[records], minlength=n_classes)
        self.class_counts = sizes.astype(np.int64)
        self._starts = np.concatenate([[0], np.cumsum((sizes + 63) // 64)]).astype(np.int64)
        self._bits = np.zeros((len(tests), self._starts[-1]), dtype=np.uint64)
        self.met = np.zeros(len(tests), dtype=np.int64)
        facts = tests.attribute, tests.kind.astype(np.int64), tests.cut
        few = 1 + GRAIN // (records.size + 1)
        spread(_pack, len(tests), features, records, sizes, self._starts, *facts, self._bits, self.met, least=few)
        self.singles = np.zeros((n_classes, len(tests)), dtype=np.int64)
        spread(_count, len(tests), self._bits, self._starts, self.singles, least=64 * few)

    def pairs(self, prefixes: npt.NDArray[np.int64]) -> Array:
        """(prefix, test, class, test): records that meet all tests of a prefix and both others. One thread per prefix.

        The first of both must lie beyond the prefix: a set is queried with its two largest tests outside it.
        """
        n_classes, n_tests = self.singles.shape
        width = np.int32 if int(self.class_counts.sum()) <= NARROW else np.int64
        counts = np.zeros((len(prefixes), n_tests, n_classes, n_tests), dtype=width)
        few = 1 + GRAIN // (n_tests * (n_tests * n_classes + self._bits.size) + 1)
        spread(_pairs, len(prefixes), self._bits, self._starts, prefixes, counts, least=few)
        return counts


@intrinsic
def _ones(typing_context, word):
    """The number of ones in a word; LLVM turns loops of it into vector code."""

    def generate(context, builder, signature, arguments):
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate


@kernel
def _pack(start, stop, features, records, sizes, starts, attribute, kind, cut, bits, met):
    """The bitsets of some tests, and the child of each that counts as met."""
    for t in range(start, stop):
        column = features[attribute[t]]
        total = 0
        for flip in range(2):
            total = 0
            first = 0
            for c in range(sizes.size):
                for i in range(sizes[c]):
                    if child(column[records[first + i]], kind[t], cut[t]) == flip:
                        bits[t, starts[c] + (i >> 6)] |= _ONE << np.uint64(i & 63)
                        total += 1
                first += sizes[c]
            if flip == 0 and 2 * total > records.size:
                bits[t] = 0
                continue
            met[t] = flip
            break


@kernel
def _count(start, stop, bits, starts, counts):
    for t in range(start, stop):
        for c in range(starts.size - 1):
            ones = np.uint64(0)
            for w in range(starts[c], starts[c + 1]):
                ones += _ones(bits[t, w])
            counts[c, t] = ones


@njit(cache=True, nogil=True)
def _keep(bits, starts, prefix):
    """The bitsets restricted to the records that meet the prefix, packed anew."""
    n_tests, n_classes = bits.shape[0], starts.size - 1
    mask = bits[prefix[0]].copy()
    for p in range(1, prefix.size):
        mask &= bits[prefix[p]]
    kept = np.zeros(starts.size, dtype=np.int64)
    total = 0
    for c in range(n_classes):
        inside = 0
        for w in range(starts[c], starts[c + 1]):
            inside += _ones(mask[w])
        total += inside
        kept[c + 1] = kept[c] + (inside + 63) // 64
    word = np.empty(total, dtype=np.int64)
    bit = np.empty(total, dtype=np.uint64)
    place = np.empty(total, dtype=np.int64)
    n = 0
    for c in range(n_classes):
        inside = 0
        for w in range(starts[c], starts[c + 1]):
            left = mask[w]
            while left:
                lowest = _ones((left & (~left + _ONE)) - _ONE)
                word[n], bit[n], place[n] = w, lowest, kept[c] * 64 + inside
                inside += 1
                n += 1
                left &= left - _ONE
    packed = np.zeros((n_tests, kept[-1]), dtype=np.uint64)
    for t in range(n_tests):
        for i in range(total):
            one = (bits[t, word[i]] >> bit[i]) & _ONE
            packed[t, place[i] >> 6] |= one << np.uint64(place[i] & 63)
    return packed, kept


@kernel
def _pairs(start, stop, bits, starts, prefixes, counts):
    n_tests, n_classes = bits.shape[0], starts.size - 1
    for p in range(start, stop):
        if prefixes.shape[1] == 0:
            packed, kept = bits, starts
        else:
            packed, kept = _keep(bits, starts, prefixes[p])
        # Pairs of two tests below the end of the prefix are never read.
        last = prefixes[p, -1] if prefixes.shape[1] else -1
        for s in range(n_tests):
            first = packed[s]
            if not first.any():
                continue
            for t in range(max(s, last + 1 if s <= last else s), n_tests):
                second = packed[t]
                for c in range(n_classes):
                    both = np.uint64(0)
                    for w in range(kept[c], kept[c + 1]):
                        both += _ones(first[w] & second[w])
                    counts[p, s, c, t] = both
                    counts[p, t, c, s] = both
