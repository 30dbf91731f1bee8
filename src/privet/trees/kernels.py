"""Compiled prediction over flat arrays."""

from __future__ import annotations

import numpy as np
from numba import njit, prange


@njit(parallel=True, cache=True, nogil=True)
def apply(features, attribute, kind, cut, first_child):
    """The leaf of each record. Kinds are those of ``privet.splits.Kind``: 0 threshold, 1 one category, 2 multiway."""
    leaves = np.empty(features.shape[1], dtype=np.int32)
    for i in prange(features.shape[1]):
        node = np.int64(0)
        while attribute[node] >= 0:
            code = np.int64(features[attribute[node], i])
            if kind[node] == 0:
                child = np.int64(code > cut[node])
            elif kind[node] == 1:
                child = np.int64(code != cut[node])
            else:
                child = code
            node = first_child[node] + child
        leaves[i] = node
    return leaves
