"""Compiled prediction over flat arrays."""

from __future__ import annotations

import numpy as np

from privet.structure.compiled import kernel
from privet.structure.descent import BLOCK, by_blocks, descend


def tally(features, roots, depths, attribute, kind, cut, first_child, vote, best):
    """(record, class) votes of the leaves, one leaf a tree: their sum, or with ``best`` their maximum."""
    total = np.zeros((features.shape[1], vote.shape[1]))
    by_blocks(_tally, features, roots, depths, attribute, kind, cut, first_child, vote, best, total)
    return total


@kernel
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
                    ballot = vote[node[j], c]
                    total[start + j, c] = max(total[start + j, c], ballot) if best else total[start + j, c] + ballot
