"""The compiled way down a tree, shared by all that sends records there."""

from __future__ import annotations

import numpy as np
from numba import njit

BLOCK = 512  # records that pass through one tree before the next: their codes and the tree stay in cache


@njit(cache=True, nogil=True)
def child(code, kind, cut):
    """Which child a code goes to. Kinds are those of ``privet.structure.splits.Kind``."""
    if kind == 0:  # threshold
        return np.int32(code > cut)
    if kind == 1:  # one category
        return np.int32(code != cut)
    return np.int32(code)  # multiway


@njit(cache=True, nogil=True)
def descend(features, start, node, depth, attribute, kind, cut, first_child):
    """Move ``node[j]``, where record ``start + j`` is, down to its leaf; the arrays are those of ``routes.Descent``.

    All records go one level at a time and a leaf leads to itself, so no branch depends on a record and the processor
    works on many of them at once: three times as fast as one record after the other.
    """
    for _ in range(depth):
        for j in range(len(node)):
            here = np.uint32(node[j])  # unsigned: numba need not ask whether an index counts from the end
            code = features[np.uint32(attribute[here]), start + j]
            node[j] = first_child[here] + child(code, kind[here], cut[here])
