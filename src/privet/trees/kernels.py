"""Compiled prediction over flat arrays."""

from __future__ import annotations

import numpy as np
from numba import njit

from privet.structure.compiled import GRAIN, spread
from privet.structure.descent import BLOCK, child, descend


def apply(features, attribute, kind, cut, first_child):
    """The leaf of each record."""
    leaves = np.empty(features.shape[1], dtype=np.int32)
    spread(_apply, len(leaves), features, attribute, kind, cut, first_child, leaves, least=GRAIN)
    return leaves


def apply_all(features, roots, depths, attribute, kind, cut, first_child):
    """(record, tree) leaves, each numbered within its own tree; the arrays are those of ``routes.Descent``."""
    leaves = np.empty((features.shape[1], len(roots)), dtype=np.int32)
    _by_blocks(_apply_all, features, roots, depths, attribute, kind, cut, first_child, leaves)
    return leaves


def tally(features, roots, depths, attribute, kind, cut, first_child, vote, best):
    """(record, class) votes of the leaves, one leaf a tree: their sums, or with ``best`` the largest of them."""
    total = np.zeros((features.shape[1], vote.shape[1]))
    _by_blocks(_tally, features, roots, depths, attribute, kind, cut, first_child, vote, best, total)
    return total


def _by_blocks(kernel, features, roots, depths, *more):
    few = 1 + GRAIN // (BLOCK * int(depths.sum() + 1))
    spread(kernel, -(-features.shape[1] // BLOCK), features, roots, depths, *more, least=few)


@njit(cache=True, nogil=True)
def _apply(start, stop, features, attribute, kind, cut, first_child, leaves):
    """The leaf of each record in a range."""
    for i in range(start, stop):
        node = 0
        while attribute[node] >= 0:
            node = first_child[node] + child(features[attribute[node], i], kind[node], cut[node])
        leaves[i] = node


@njit(cache=True, nogil=True)
def _apply_all(first, last, features, roots, depths, attribute, kind, cut, first_child, leaves):
    """Of the records in a range of blocks."""
    records = features.shape[1]
    for block in range(first, last):
        start = block * BLOCK
        node = np.empty(min(BLOCK, records - start), dtype=np.int32)
        for t in range(len(roots)):
            node[:] = roots[t]
            descend(features, start, node, depths[t], attribute, kind, cut, first_child)
            for j in range(len(node)):
                leaves[start + j, t] = node[j] - roots[t]


@njit(cache=True, nogil=True)
def _tally(first, last, features, roots, depths, attribute, kind, cut, first_child, vote, best, total):
    """Trees come in order, so sums do not depend on the number of threads."""
    records, classes = features.shape[1], vote.shape[1]
    for block in range(first, last):
        start = block * BLOCK
        node = np.empty(min(BLOCK, records - start), dtype=np.int32)
        for t in range(len(roots)):
            node[:] = roots[t]
            descend(features, start, node, depths[t], attribute, kind, cut, first_child)
            for j in range(len(node)):
                for c in range(classes):
                    said = vote[node[j], c]
                    total[start + j, c] = max(total[start + j, c], said) if best else total[start + j, c] + said
