"""Joint counts of tests: how many records of each class meet every set of two tests and a prefix.

Tests are bitsets over the records of a cell, classes one after another and each padded to whole words. A prefix is
dealt with by keeping only the records that meet it, so that longer prefixes cost less, and the side of a test that
fewer records meet is the one that is counted, so that they cost less still.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit, prange, types
from numba.extending import intrinsic

from privet.structure.descent import child
from privet.structure.splits import Tests

Array = npt.NDArray[Any]
_ONE = np.uint64(1)


class JointCounts:
    """Counts of intersections of binary tests in one cell; ``met[t]`` is the child of test t that counts as met."""

    def __init__(self, features: Array, labels: Array, cells: Array, tests: Tests, n_classes: int) -> None:
        records = np.flatnonzero(cells == 0)
        records = records[np.argsort(labels[records], kind="stable")]
        sizes = np.bincount(labels[records], minlength=n_classes)
        self.class_counts = sizes.astype(np.int64)
        self._starts = np.concatenate([[0], np.cumsum((sizes + 63) // 64)]).astype(np.int64)
        self._bits, self.met = _pack(
            features, records, sizes, self._starts, tests.attribute, tests.kind.astype(np.int64), tests.cut
        )
        self.singles = _count(self._bits, self._starts).T.copy()  # (class, test)

    def pairs(self, prefixes: npt.NDArray[np.int64]) -> npt.NDArray[np.int32]:
        """(prefix, test, class, test): records that meet all tests of a prefix and both others. One thread a prefix."""
        return np.asarray(_pairs(self._bits, self._starts, prefixes))


@intrinsic
def _ones(typing_context, word):
    """The number of ones in a word; LLVM turns loops of it into vector code."""

    def generate(context, builder, signature, arguments):
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate


@njit(parallel=True, cache=True, nogil=True)
def _pack(features, records, sizes, starts, attribute, kind, cut):
    n_tests, n_classes, n_words = attribute.size, sizes.size, starts[-1]
    bits = np.zeros((n_tests, n_words), dtype=np.uint64)
    met = np.zeros(n_tests, dtype=np.int64)
    for t in prange(n_tests):
        column = features[attribute[t]]
        total = 0
        for flip in range(2):
            total = 0
            first = 0
            for c in range(n_classes):
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
    return bits, met


@njit(parallel=True, cache=True, nogil=True)
def _count(bits, starts):
    counts = np.zeros((bits.shape[0], starts.size - 1), dtype=np.int64)
    for t in prange(bits.shape[0]):
        for c in range(starts.size - 1):
            for w in range(starts[c], starts[c + 1]):
                counts[t, c] += _ones(bits[t, w])
    return counts


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


@njit(parallel=True, cache=True, nogil=True)
def _pairs(bits, starts, prefixes):
    n_tests, n_classes = bits.shape[0], starts.size - 1
    counts = np.zeros((prefixes.shape[0], n_tests, n_classes, n_tests), dtype=np.int32)
    for p in prange(prefixes.shape[0]):
        if prefixes.shape[1] == 0:
            packed, kept = bits, starts
        else:
            packed, kept = _keep(bits, starts, prefixes[p])
        # A set of tests is asked for with its largest test in s or t, so pairs below the prefix are never read.
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
    return counts
