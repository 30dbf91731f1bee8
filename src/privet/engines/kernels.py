"""Compiled counting over integer codes. Integer sums, so the order in which threads work cannot show."""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from privet.structure.descent import BLOCK, child, descend

OUTSIDE = -1
"""The cell of a record that has left the frontier."""


@njit(parallel=True, cache=True, nogil=True)
def level_histogram(features, labels, cells, offsets, n_cells, n_classes, threads):
    """(cell, bin, class) counts of a level: one pass, with a private histogram per thread.

    features (attributes, records), labels and cells (records,); cells holds OUTSIDE for records that do not count.
    Three habits make it fast: no branch and no signed index in the inner loops (records outside go to a cell of their
    own that is thrown away), attributes in pairs (one load of the key serves both), counters of 32 bits.
    """
    n_attributes, n_records = features.shape
    n_bins = offsets[n_attributes]
    partial = np.zeros((threads, n_cells + 1, n_classes, n_bins), dtype=np.uint32)  # fewer than 2**32 records
    one = np.uint32(1)
    block = 4096  # records; their cell-and-class keys stay in the first-level cache for all attributes
    n_blocks = (n_records + block - 1) // block
    for thread in prange(threads):
        mine = partial[thread].reshape(-1)
        keys = np.empty(block, dtype=np.int64)
        for b in range(thread, n_blocks, threads):
            start = b * block
            size = min(block, n_records - start)
            for i in range(size):
                cell = cells[start + i]
                keys[i] = ((n_cells if cell < 0 else cell) * n_classes + labels[start + i]) * n_bins
            for a in range(0, n_attributes - 1, 2):
                left, right = features[a, start : start + size], features[a + 1, start : start + size]
                of_left, of_right = mine[offsets[a] :], mine[offsets[a + 1] :]
                for i in range(size):
                    key = np.uintp(keys[i])
                    of_left[key + np.uintp(left[i])] += one
                    of_right[key + np.uintp(right[i])] += one
            if n_attributes % 2:
                last, of_last = features[n_attributes - 1, start : start + size], mine[offsets[n_attributes - 1] :]
                for i in range(size):
                    of_last[np.uintp(keys[i]) + np.uintp(last[i])] += one
    counts = np.zeros((n_cells, n_bins, n_classes), dtype=np.int64)
    for cell in prange(n_cells):
        for thread in range(threads):
            for label in range(n_classes):
                for b in range(n_bins):
                    counts[cell, b, label] += partial[thread, cell, label, b]
    return counts


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
    """
    routed = np.empty(cells.shape[0], dtype=np.int32)
    for i in prange(cells.shape[0]):
        cell = cells[i]
        if cell < 0 or attribute[cell] < 0:
            routed[i] = OUTSIDE
            continue
        routed[i] = first_child[cell] + child(features[attribute[cell], i], kind[cell], cut[cell])
    return routed


@njit(parallel=True, cache=True, nogil=True)
def send_down(features, cells, place, roots, depths, attribute, kind, cut, first_child):
    """The leaf of each record in the tree of its cell; the trees are those of a ``Routes.descent``.

    place (nodes,) numbers the leaves among themselves. Records outside walk along, in the first tree, and stay outside.
    """
    records = cells.shape[0]
    arrived = np.empty(records, dtype=np.int32)
    depth = depths.max()
    for block in prange((records + BLOCK - 1) // BLOCK):
        start = block * BLOCK
        node = np.empty(min(BLOCK, records - start), dtype=np.int32)
        for j in range(len(node)):
            node[j] = roots[max(cells[start + j], 0)]
        descend(features, start, node, depth, attribute, kind, cut, first_child)
        for j in range(len(node)):
            arrived[start + j] = OUTSIDE if cells[start + j] < 0 else place[node[j]]
    return arrived
