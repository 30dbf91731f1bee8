"""The compiled way down a tree, shared by all that sends records there."""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from privet.structure import splits

BLOCK = 512  # records that pass through one tree before the next: their codes and the tree stay in cache


child = njit(cache=True, nogil=True)(splits.child)


@njit(cache=True, nogil=True)
def descend(features, start, node, depth, attribute, kind, cut, first_child):
    """Move ``node[j]``, where record ``start + j`` is, down to its leaf; the arrays are those of ``Routes.descent``.

    All records go one level at a time and a leaf leads to itself, so no branch depends on a record and the processor
    works on many of them at once: three times as fast as one record after the other.
    """
    for _ in range(depth):
        for j in range(len(node)):
            here = np.uint32(node[j])  # unsigned: numba need not ask whether an index counts from the end
            code = features[np.uint32(attribute[here]), start + j]
            node[j] = first_child[here] + child(code, kind[here], cut[here])


@njit(cache=True, nogil=True)
def apply_block(leaves, features, block, roots, depths, attribute, kind, cut, first_child):
    start = block * BLOCK
    node = np.empty(min(BLOCK, len(leaves) - start), dtype=np.int32)
    for t in range(len(roots)):
        node[:] = roots[t]
        descend(features, start, node, depths[t], attribute, kind, cut, first_child)
        for j in range(len(node)):
            leaves[start + j, t] = node[j] - roots[t]


@njit(parallel=True, cache=True, nogil=True)
def apply(features, roots, depths, attribute, kind, cut, first_child):
    """(record, tree) leaves, each numbered within its own tree."""
    leaves = np.empty((features.shape[1], len(roots)), dtype=np.int32)
    for block in prange((len(leaves) + BLOCK - 1) // BLOCK):
        apply_block(leaves, features, block, roots, depths, attribute, kind, cut, first_child)
    return leaves


@njit(cache=True, nogil=True)
def apply_few(features, roots, depths, attribute, kind, cut, first_child):
    """The same on one thread: to wake another costs more than a few records do."""
    leaves = np.empty((features.shape[1], len(roots)), dtype=np.int32)
    for block in range((len(leaves) + BLOCK - 1) // BLOCK):
        apply_block(leaves, features, block, roots, depths, attribute, kind, cut, first_child)
    return leaves
