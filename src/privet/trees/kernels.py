"""Compiled prediction over flat arrays."""

from __future__ import annotations

import numpy as np
from numba import njit, prange

BLOCK = 512  # records that pass through one tree before the next: their codes and the tree stay in cache


@njit(cache=True, nogil=True)
def _leaf(features, i, node, attribute, kind, cut, first_child):
    """The leaf of record ``i`` below ``node``. Kinds are those of ``privet.splits.Kind``."""
    while attribute[node] >= 0:
        code = np.int64(features[attribute[node], i])
        if kind[node] == 0:  # threshold
            child = np.int64(code > cut[node])
        elif kind[node] == 1:  # one category
            child = np.int64(code != cut[node])
        else:  # multiway
            child = code
        node = first_child[node] + child
    return node


@njit(parallel=True, cache=True, nogil=True)
def apply(features, attribute, kind, cut, first_child):
    """The leaf of each record."""
    leaves = np.empty(features.shape[1], dtype=np.int32)
    for i in prange(features.shape[1]):
        leaves[i] = _leaf(features, i, np.int64(0), attribute, kind, cut, first_child)
    return leaves


@njit(parallel=True, cache=True, nogil=True)
def apply_all(features, roots, attribute, kind, cut, first_child):
    """(record, tree) leaves, each numbered within its own tree, of trees laid end to end."""
    records = features.shape[1]
    leaves = np.empty((records, len(roots)), dtype=np.int32)
    for block in prange((records + BLOCK - 1) // BLOCK):
        for t in range(len(roots)):
            for i in range(block * BLOCK, min((block + 1) * BLOCK, records)):
                leaves[i, t] = _leaf(features, i, roots[t], attribute, kind, cut, first_child) - roots[t]
    return leaves


@njit(parallel=True, cache=True, nogil=True)
def add_votes(features, roots, attribute, kind, cut, first_child, vote):
    """(record, class) sums of the votes of the leaves, one leaf a tree, added in the order of the trees."""
    records, classes = features.shape[1], vote.shape[1]
    total = np.zeros((records, classes))
    for block in prange((records + BLOCK - 1) // BLOCK):
        for t in range(len(roots)):
            for i in range(block * BLOCK, min((block + 1) * BLOCK, records)):
                leaf = _leaf(features, i, roots[t], attribute, kind, cut, first_child)
                for c in range(classes):
                    total[i, c] += vote[leaf, c]
    return total
