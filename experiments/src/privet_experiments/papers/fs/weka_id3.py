"""Non-private ID3 on binary attributes, as Weka's ``Id3`` grew it for Friedman & Schuster's Table 1.

To full depth and unpruned: a node splits on the attribute of largest information gain (the first of the best) until no
split improves the gain, and then says its majority class (the first of the largest). A split that improves the gain
has records on both sides, so no branch is empty. A table of binary attributes has few distinct records, so the learner
works on their counts: tens of thousands of fits take seconds. For any other table there is
:class:`privet.recipes.unsound.reference.ID3Reference`.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

from privet.structure.compiled import call

TINY = 1e-6  # bits; Weka takes a smaller gain for none


def distinct_records(attributes: int) -> npt.NDArray[np.uint8]:
    """(attributes, records) every record there can be; bit ``a`` of a record's number is its attribute ``a``."""
    return ((np.arange(2**attributes) >> np.arange(attributes)[:, None]) & 1).astype(np.uint8)


def count_records(
    features: npt.NDArray[np.uint8], labels: npt.NDArray[np.uint8], classes: int
) -> npt.NDArray[np.int64]:
    """(distinct record, class) counts of a table of binary codes (attributes, records)."""
    attributes = len(features)
    number = (1 << np.arange(attributes)) @ features.astype(np.int64)
    counts = np.bincount(number * classes + labels, minlength=2**attributes * classes)
    return np.asarray(counts.reshape(-1, classes), dtype=np.int64)


def learn(counts: npt.NDArray[np.int64], attributes: int) -> npt.NDArray[np.int64]:
    """The class that the tree gives each distinct record, from their (distinct record, class) counts."""
    says = np.zeros(len(counts), dtype=np.int64)
    call(_learn, counts, attributes, says)
    return says


@njit(cache=True, nogil=True)
def _learn(counts, attributes, says):
    """A node is a stretch of ``order``, whose records are moved together as it splits."""
    records, classes = counts.shape
    order = np.arange(records)
    stack = [(0, records, 0)]  # from, to, and the attributes used above as bits
    tally = np.empty((2, classes), dtype=np.int64)
    while len(stack) > 0:
        start, stop, used = stack.pop()
        totals = np.zeros(classes, dtype=np.int64)
        for i in range(start, stop):
            for c in range(classes):
                totals[c] += counts[order[i], c]
        whole, size = _bits(totals), max(totals.sum(), 1)
        best, best_gain = -1, TINY
        for a in range(attributes):
            if used >> a & 1:
                continue
            tally[:] = 0
            for i in range(start, stop):
                for c in range(classes):
                    tally[order[i] >> a & 1, c] += counts[order[i], c]
            gain = (whole - _bits(tally[0]) - _bits(tally[1])) / size
            if gain > best_gain:
                best, best_gain = a, gain
        if best < 0:
            for i in range(start, stop):
                says[order[i]] = np.argmax(totals)
            continue
        middle = start  # partition the stretch in place: zeros of the attribute first
        for i in range(start, stop):
            if order[i] >> best & 1 == 0:
                order[i], order[middle] = order[middle], order[i]
                middle += 1
        stack.append((start, middle, used | 1 << best))
        stack.append((middle, stop, used | 1 << best))


@njit(cache=True, nogil=True)
def _bits(counts):
    """Size times entropy."""
    size, bits = counts.sum(), 0.0
    for count in counts:
        if count > 0:
            bits -= count * np.log2(count / size)
    return bits
