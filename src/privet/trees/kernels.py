"""Compiled prediction over flat arrays."""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from privet.structure.descent import BLOCK, child, descend


@njit(parallel=True, cache=True, nogil=True)
def apply(features, attribute, kind, cut, first_child):
    """The leaf of each record."""
    leaves = np.empty(features.shape[1], dtype=np.int32)
    for i in prange(features.shape[1]):
        node = 0
        while attribute[node] >= 0:
            node = first_child[node] + child(features[attribute[node], i], kind[node], cut[node])
        leaves[i] = node
    return leaves


@njit(parallel=True, cache=True, nogil=True)
def apply_all(features, roots, depths, attribute, kind, cut, first_child):
    """(record, tree) leaves, each numbered within its own tree; the arrays are those of ``routes.Descent``."""
    records = features.shape[1]
    leaves = np.empty((records, len(roots)), dtype=np.int32)
    for block in prange((records + BLOCK - 1) // BLOCK):
        start = block * BLOCK
        node = np.empty(min(BLOCK, records - start), dtype=np.int32)
        for t in range(len(roots)):
            node[:] = roots[t]
            descend(features, start, node, depths[t], attribute, kind, cut, first_child)
            for j in range(len(node)):
                leaves[start + j, t] = node[j] - roots[t]
    return leaves


@njit(parallel=True, cache=True, nogil=True)
def tally(features, roots, depths, attribute, kind, cut, first_child, vote, best):
    """(record, class) votes of the leaves, one leaf a tree: their sums, or with ``best`` the largest of them.

    Trees come in order, so sums do not depend on the number of threads.
    """
    records, classes = features.shape[1], vote.shape[1]
    total = np.zeros((records, classes))
    for block in prange((records + BLOCK - 1) // BLOCK):
        start = block * BLOCK
        node = np.empty(min(BLOCK, records - start), dtype=np.int32)
        for t in range(len(roots)):
            node[:] = roots[t]
            descend(features, start, node, depths[t], attribute, kind, cut, first_child)
            for j in range(len(node)):
                for c in range(classes):
                    said = vote[node[j], c]
                    total[start + j, c] = max(total[start + j, c], said) if best else total[start + j, c] + said
    return total
