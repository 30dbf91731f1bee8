"""Compiled counting over integer codes. Integer sums, so the order in which threads work cannot show."""

from __future__ import annotations

import numpy as np
from numba import njit, prange

OUTSIDE = -1
"""The cell of a record that has left the frontier."""


@njit(parallel=True, cache=True, nogil=True)
def level_histogram(features, labels, cells, offsets, n_cells, n_classes, threads):
    """(cell, bin, class) counts of a level: one pass, with a private histogram per thread and attribute block.

    features (attributes, records), labels and cells (records,); cells holds OUTSIDE for records that do not count.
    """
    n_attributes, n_records = features.shape
    n_bins = offsets[n_attributes]
    partial = np.zeros((threads, n_cells, n_bins, n_classes), dtype=np.int64)
    block = 8192  # records; their cell-and-class keys stay in the first-level cache for all attributes
    n_blocks = (n_records + block - 1) // block
    for thread in prange(threads):
        mine = partial[thread].reshape(-1)
        base = np.empty(block, dtype=np.int64)
        for b in range(thread, n_blocks, threads):
            start = b * block
            stop = min(start + block, n_records)
            for i in range(start, stop):
                cell = cells[i]
                base[i - start] = -1 if cell < 0 else cell * n_bins * n_classes + labels[i]
            for a in range(n_attributes):
                shift = offsets[a]
                column = features[a]
                for i in range(start, stop):
                    key = base[i - start]
                    if key >= 0:
                        mine[key + (shift + column[i]) * n_classes] += 1
    return partial.sum(axis=0)


@njit(parallel=True, cache=True, nogil=True)
def class_histogram(labels, cells, n_cells, n_classes, threads):
    """(cell, class) counts."""
    n_records = labels.shape[0]
    partial = np.zeros((threads, n_cells, n_classes), dtype=np.int64)
    for thread in prange(threads):
        for i in range(thread * n_records // threads, (thread + 1) * n_records // threads):
            if cells[i] >= 0:
                partial[thread, cells[i], labels[i]] += 1
    return partial.sum(axis=0)


@njit(parallel=True, cache=True, nogil=True)
def value_sums(values, cells, n_cells, threads):
    """(cell,) sums of an integer column."""
    n_records = values.shape[0]
    partial = np.zeros((threads, n_cells), dtype=np.int64)
    for thread in prange(threads):
        for i in range(thread * n_records // threads, (thread + 1) * n_records // threads):
            if cells[i] >= 0:
                partial[thread, cells[i]] += values[i]
    return partial.sum(axis=0)


@njit(parallel=True, cache=True, nogil=True)
def route(features, cells, attribute, kind, cut, first_child):
    """The cell of each record one level down.

    attribute, kind, cut and first_child describe the test of each old cell; attribute -1 means that it has none.
    Kinds are those of ``privet.splits.Kind``: 0 threshold, 1 one category, 2 multiway.
    """
    routed = np.empty(cells.shape[0], dtype=np.int32)
    for i in prange(cells.shape[0]):
        cell = cells[i]
        if cell < 0 or attribute[cell] < 0:
            routed[i] = OUTSIDE
            continue
        code = np.int64(features[attribute[cell], i])
        if kind[cell] == 0:
            child = np.int64(code > cut[cell])
        elif kind[cell] == 1:
            child = np.int64(code != cut[cell])
        else:
            child = code
        routed[i] = first_child[cell] + child
    return routed
