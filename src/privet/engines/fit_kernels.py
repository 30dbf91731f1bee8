"""Compiled sums for a fit: residuals by bin, and curvature by pairs of cells. See ``FitSums`` of the protocol.

What is summed is whole: each record's residual is rounded to a multiple of 2**-50 first. So neither the order of
records nor their division among threads, chunks or machines can show in a sum.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from privet.privacy.counting import CURVATURE_BITS, LOW_BITS, RESIDUAL_BITS
from privet.structure.compiled import spread
from privet.structure.terms import UNIT

BLOCK = 2**12  # records; so many residuals of 2**50 still fit into 64 bits, and their bins into the cache
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
    """(bin, column, limb) sums of residuals over some records: those of a table, or of one chunk of it."""
    layout, columns = Layout(question.terms, question.tables), question.columns
    bins = int(layout.bin_starts[question.free])
    partial = np.zeros((threads, bins, columns, 2), dtype=np.int64)
    arguments = (question.offset, question.class_weights, question.free, partial)
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
    arguments = (question.offset, question.class_weights, question.free, cells.astype(np.int32), weights, partial)
    spread(_add_curvature, threads, features, labels, places, *layout.arrays, *arguments)
    return partial.sum(axis=0)


def _padded(rows, width):
    return np.pad(rows, ((0, 0), (0, width - rows.shape[1])))


@njit(cache=True, nogil=True)
def _find_bins(start, size, features, places, attributes, levels, level_starts, strides, bin_starts, found):
    """The bin of each record of a block in every term, counted across all terms."""
    for t in range(attributes.shape[1]):
        one, two = attributes[0, t], attributes[1, t]
        if one < 0:
            for i in range(size):
                found[t, i] = bin_starts[t] + max(places[start + i], 0)
            continue
        of_one = levels[level_starts[2 * t] : level_starts[2 * t + 1]]
        column = features[one]
        for i in range(size):
            found[t, i] = bin_starts[t] + of_one[np.uint32(column[start + i])] * strides[t]
        if two >= 0:
            of_two = levels[level_starts[2 * t + 1] :]
            other = features[two]
            for i in range(size):
                found[t, i] += of_two[np.uint32(other[start + i])]


@njit(cache=True, nogil=True)
def _shares(found, i, tables, offset, score):
    """The probability of each class for one record into ``score``; with one column, that of the second class."""
    columns = tables.shape[1]
    for c in range(columns):
        score[c] = offset[c]
    for t in range(found.shape[0]):
        for c in range(columns):
            score[c] += tables[found[t, i], c]
    if columns == 1:
        if score[0] >= 0:
            score[0] = 1.0 / (1.0 + math.exp(-score[0]))
        else:
            grown = math.exp(score[0])
            score[0] = grown / (1.0 + grown)
        return
    most = score[0]
    for c in range(1, columns):
        most = max(most, score[c])
    total = 0.0
    for c in range(columns):
        score[c] = math.exp(score[c] - most)
        total += score[c]
    for c in range(columns):
        score[c] /= total


@njit(cache=True, nogil=True)
def _add_residuals(
    first, last, features, labels, places, attributes, levels, level_starts, strides, bin_starts, tables, offset,
    class_weights, free, partial,
):  # fmt: skip
    records, columns, threads = labels.shape[0], tables.shape[1], partial.shape[0]
    bins = partial.shape[1]
    found = np.empty((attributes.shape[1], BLOCK), dtype=np.int64)
    residual = np.empty((BLOCK, columns), dtype=np.int64)
    block_sums = np.zeros((bins, columns), dtype=np.int64)
    score = np.empty(columns)
    blocks = (records + BLOCK - 1) // BLOCK
    for thread in range(first, last):
        for block in range(thread, blocks, threads):
            start = block * BLOCK
            size = min(BLOCK, records - start)
            _find_bins(start, size, features, places, attributes, levels, level_starts, strides, bin_starts, found)
            for i in range(size):
                label = labels[start + i]
                if places[start + i] < 0 or class_weights[label] == 0.0:
                    for c in range(columns):
                        residual[i, c] = 0
                    continue
                _shares(found, i, tables, offset, score)
                score[0 if columns == 1 else label] -= 1.0 if columns > 1 or label == 1 else 0.0
                for c in range(columns):
                    residual[i, c] = np.int64(np.rint(class_weights[label] * score[c] * WHOLE))
            for t in range(free):
                for i in range(size):
                    b = found[t, i]
                    for c in range(columns):
                        block_sums[b, c] += residual[i, c]
            for b in range(bins):
                for c in range(columns):
                    partial[thread, b, c, 0] += block_sums[b, c] >> LOW_BITS
                    partial[thread, b, c, 1] += block_sums[b, c] & LOW
                    block_sums[b, c] = 0


@njit(cache=True, nogil=True)
def _add_curvature(
    first, last, features, labels, places, attributes, levels, level_starts, strides, bin_starts, tables, offset,
    class_weights, free, cells, weights, partial,
):  # fmt: skip
    records, columns, threads, width = labels.shape[0], tables.shape[1], partial.shape[0], cells.shape[1]
    found = np.empty((attributes.shape[1], BLOCK), dtype=np.int64)
    score = np.empty(columns)
    mine_cells = np.empty(free * width, dtype=np.int32)
    mine_weights = np.empty(free * width, dtype=np.int64)
    blocks = (records + BLOCK - 1) // BLOCK
    for thread in range(first, last):
        sums = partial[thread]
        for block in range(thread, blocks, threads):
            start = block * BLOCK
            size = min(BLOCK, records - start)
            _find_bins(start, size, features, places, attributes, levels, level_starts, strides, bin_starts, found)
            for i in range(size):
                if places[start + i] < 0:
                    continue
                _shares(found, i, tables, offset, score)
                bend = 0.0
                for c in range(columns):
                    bend += score[c] * (1.0 - score[c])
                bend *= class_weights[labels[start + i]] * (1.0 if columns == 1 else 0.5)
                bent = np.int64(bend * FINE)
                many = 0
                for t in range(free):
                    b = found[t, i]
                    for m in range(width):
                        if weights[b, m] > 0:
                            mine_cells[many] = cells[b, m]
                            mine_weights[many] = weights[b, m]
                            many += 1
                for m in range(many):
                    row, heavy = sums[mine_cells[m]], (bent * mine_weights[m]) >> (UNIT_BITS - SHIFT)
                    for other in range(m, many):
                        row[mine_cells[other]] += (heavy * mine_weights[other]) >> UNIT_BITS
