"""Compiled sums for a fit: residuals by bin, and curvature by pairs of cells. See ``FitSums`` of the protocol.

All sums are of integers: each record's residual is first rounded to a multiple of 2**-50. So neither the order of
records nor their division among threads, chunks or machines can show in a sum.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from privet.privacy.counting import CURVATURE_BITS, LOW_BITS, RESIDUAL_BITS
from privet.structure.compiled import kernel, spread
from privet.structure.fit_losses import LogCosh
from privet.structure.terms import UNIT

BLOCK = 2**9  # records, whose bins stay in the cache
HELD = 2**3  # blocks; so many residuals of up to 2**50 are summed in 64 bits
SHIFT = CURVATURE_BITS - 24  # weights of curvature have 24 bits, those of cells log2(UNIT)
WHOLE, FINE, LOW = float(2**RESIDUAL_BITS), float(2**24), 2**LOW_BITS - 1
UNIT_BITS = UNIT.bit_length() - 1


class Layout:
    """The terms of a question as flat arrays, for compiled code."""

    def __init__(self, terms, tables):
        first = [term.attributes[0] if term.attributes else -1 for term in terms]
        second = [term.attributes[1] if len(term.attributes) == 2 else -1 for term in terms]
        columns = [[*term.levels, *(np.zeros(1, np.int32),) * (2 - len(term.levels))] for term in terms]
        sizes = [len(column) for pair in columns for column in pair]
        self.attributes = np.array([first, second], dtype=np.int32)
        self.levels = np.concatenate([column for pair in columns for column in pair]).astype(np.int32)
        self.level_starts = np.array([0, *np.cumsum(sizes)[:-1]], dtype=np.int64)
        self.strides = np.array([t.sides[1] if len(t.attributes) == 2 else 1 for t in terms], dtype=np.int32)
        self.bin_starts = np.array([0, *np.cumsum([term.bins for term in terms])], dtype=np.int64)
        self.tables = np.ascontiguousarray(np.concatenate(tables), dtype=np.float64)

    @property
    def arrays(self):
        return self.attributes, self.levels, self.level_starts, self.strides, self.bin_starts, self.tables


def fit_sums(features, labels, places, question, threads):
    """(bin, column, limb) sums of residuals over the records of a table, or of one of its chunks."""
    layout, columns = Layout(question.terms, question.tables), question.columns
    bins = int(layout.bin_starts[question.free])
    partial = np.zeros((threads, bins, columns, 2), dtype=np.int64)
    arguments = (question.offset, *_loss(question), question.class_weights, question.free, partial)
    spread(_add_residuals, threads, features, labels, places, *layout.arrays, *arguments)
    return partial.sum(axis=0)


def fit_curvature(features, labels, places, question, threads):
    """(cell, cell) sums of curvature of the free terms, the upper triangle only."""
    layout, free = Layout(question.terms, question.tables), question.terms[: question.free]
    width = max(term.cells.shape[1] for term in free)
    starts = np.concatenate([[0], np.cumsum([term.size for term in free])])
    cells = np.concatenate([_padded(t.cells + start, width) for t, start in zip(free, starts, strict=False)])
    weights = np.concatenate([_padded(term.weights, width) for term in free]).astype(np.int64)
    partial = np.zeros((threads, int(starts[-1]), int(starts[-1])), dtype=np.int64)
    arguments = (question.offset, *_loss(question), question.class_weights, question.free)
    sums = (cells.astype(np.int32), weights, partial)
    spread(_add_curvature, threads, features, labels, places, *layout.arrays, *arguments, *sums)
    return partial.sum(axis=0)


def _loss(question):
    """A margin, and the values of classes that are bins of a number; none for classes."""
    loss = question.loss
    return (0.0, np.array(loss.values)) if isinstance(loss, LogCosh) else (loss.margin, np.empty(0))


def _padded(rows, width):
    return np.pad(rows, ((0, 0), (0, width - rows.shape[1])))


@njit(cache=True, nogil=True)
def _find_bins(start, size, features, places, attributes, levels, level_starts, strides, bin_starts, found):
    """The bin of each record of a block in every term, counted across all terms."""
    for t in range(attributes.shape[1]):
        one, two, mine, first = attributes[0, t], attributes[1, t], found[t], bin_starts[t]
        if one < 0:
            for i in range(size):
                mine[i] = first + max(places[start + i], 0)
            continue
        of_one, column, stride = levels[level_starts[2 * t] :], features[one, start : start + size], strides[t]
        for i in range(size):
            mine[i] = first + of_one[np.uint32(column[i])] * stride
        if two >= 0:
            of_two, other = levels[level_starts[2 * t + 1] :], features[two, start : start + size]
            for i in range(size):
                mine[i] += of_two[np.uint32(other[i])]


@njit(cache=True, nogil=True)
def _find_residuals(start, size, found, tables, offset, margin, values, labels, shares):
    """(column, record) the probability of each class, by scores less the margin of a record's own class, less 1 there.

    With one column, those of the second class; or, with values, the hyperbolic tangent of what a score is off. Terms
    come in order, so that a record's score does not depend on the records around it.
    """
    columns = tables.shape[1]
    for c in range(columns):
        mine = shares[c]
        mine[:size] = offset[c]
        for t in range(found.shape[0]):
            bins = found[t]
            for i in range(size):
                mine[i] += tables[np.uint32(bins[i]), c]
    if values.size:
        only = shares[0]
        for i in range(size):
            only[i] = math.tanh(only[i] - values[labels[start + i]])
        return
    if columns == 1:
        only = shares[0]
        for i in range(size):
            own = 1.0 if labels[start + i] == 1 else 0.0
            score = only[i] - margin if own else only[i] + margin
            shrunk = math.exp(-abs(score))
            likelier = 1.0 / (1.0 + shrunk)
            only[i] = (likelier if score >= 0 else shrunk * likelier) - own
        return
    for i in range(size):
        label = labels[start + i]
        shares[label, i] -= margin
        most = shares[0, i]
        for c in range(1, columns):
            most = max(most, shares[c, i])
        total = 0.0
        for c in range(columns):
            shares[c, i] = math.exp(shares[c, i] - most)
            total += shares[c, i]
        for c in range(columns):
            shares[c, i] /= total
        shares[label, i] -= 1.0


@kernel
def _add_residuals(
    first, last, features, labels, places, attributes, levels, level_starts, strides, bin_starts, tables, offset,
    margin, values, class_weights, free, partial,
):  # fmt: skip
    records, columns, threads = labels.shape[0], tables.shape[1], partial.shape[0]
    found = np.empty((attributes.shape[1], BLOCK), dtype=np.int32)
    apart = np.empty((columns, BLOCK))
    residual = np.empty(BLOCK, dtype=np.int64)
    sums = np.zeros((columns, partial.shape[1]), dtype=np.int64)
    blocks = (records + BLOCK - 1) // BLOCK
    for thread in range(first, last):
        held = 0
        for block in range(thread, blocks, threads):
            start = block * BLOCK
            size = min(BLOCK, records - start)
            _find_bins(start, size, features, places, attributes, levels, level_starts, strides, bin_starts, found)
            _find_residuals(start, size, found, tables, offset, margin, values, labels, apart)
            for c in range(columns):
                for i in range(size):
                    weight = class_weights[labels[start + i]] if places[start + i] >= 0 else 0.0
                    residual[i] = np.int64(np.rint(weight * apart[c, i] * WHOLE))
                mine = sums[c]
                for t in range(free):
                    bins = found[t]
                    for i in range(size):
                        mine[np.uint32(bins[i])] += residual[i]
            held += 1
            if held == HELD:
                _carry(sums, partial[thread])
                held = 0
        _carry(sums, partial[thread])


@njit(cache=True, nogil=True)
def _carry(sums, limbs):
    """Move the sums into the limbs, before they can overflow."""
    for c in range(sums.shape[0]):
        for b in range(sums.shape[1]):
            limbs[b, c, 0] += sums[c, b] >> LOW_BITS
            limbs[b, c, 1] += sums[c, b] & LOW
            sums[c, b] = 0


@kernel
def _add_curvature(
    first, last, features, labels, places, attributes, levels, level_starts, strides, bin_starts, tables, offset,
    margin, values, class_weights, free, cells, weights, partial,
):  # fmt: skip
    records, columns, threads, width = labels.shape[0], tables.shape[1], partial.shape[0], cells.shape[1]
    found = np.empty((attributes.shape[1], BLOCK), dtype=np.int32)
    apart = np.empty((columns, BLOCK))
    mine_cells = np.empty(free * width, dtype=np.uint32)
    mine_weights = np.empty(free * width, dtype=np.int64)
    blocks = (records + BLOCK - 1) // BLOCK
    for thread in range(first, last):
        sums = partial[thread]
        for block in range(thread, blocks, threads):
            start = block * BLOCK
            size = min(BLOCK, records - start)
            _find_bins(start, size, features, places, attributes, levels, level_starts, strides, bin_starts, found)
            _find_residuals(start, size, found, tables, offset, margin, values, labels, apart)
            for i in range(size):
                if places[start + i] < 0:
                    continue
                bend = 0.0
                if values.size:
                    bend = 1.0 - apart[0, i] ** 2
                else:
                    for c in range(columns):
                        bend += abs(apart[c, i]) * (1.0 - abs(apart[c, i]))
                bend *= class_weights[labels[start + i]] * (1.0 if columns == 1 else 0.5)
                bent = np.int64(bend * FINE)
                many = 0
                for t in range(free):
                    b = np.uint32(found[t, i])
                    for m in range(width):
                        if weights[b, m] > 0:
                            mine_cells[many] = cells[b, m]
                            mine_weights[many] = weights[b, m]
                            many += 1
                for m in range(many):
                    row, heavy = sums[mine_cells[m]], (bent * mine_weights[m]) >> (UNIT_BITS - SHIFT)
                    for other in range(m, many):
                        row[mine_cells[other]] += (heavy * mine_weights[other]) >> UNIT_BITS
