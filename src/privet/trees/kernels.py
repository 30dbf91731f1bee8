"""Compiled prediction over flat arrays."""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from privet.structure.descent import BLOCK, descend


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
