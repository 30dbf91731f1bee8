"""The compiled descent, shared by all code that sends records down trees."""

from __future__ import annotations

import numpy as np
from numba import njit

from privet.structure import splits
from privet.structure.compiled import GRAIN, kernel, spread

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
            here = np.uint32(node[j])  # unsigned, so that numba does not check for indices from the end
            code = features[np.uint32(attribute[here]), start + j]
            node[j] = first_child[here] + child(code, kind[here], cut[here])


@kernel
def apply(first, last, features, roots, depths, attribute, kind, cut, first_child, leaves):
    """(record, tree) leaves of the records in a range of blocks, each leaf numbered within its own tree."""
    records = features.shape[1]
    for block in range(first, last):
        start = block * BLOCK
        node = np.empty(min(BLOCK, records - start), dtype=np.int32)
        for t in range(len(roots)):
            node[:] = roots[t]
            descend(features, start, node, depths[t], attribute, kind, cut, first_child)
            for j in range(len(node)):
                leaves[start + j, t] = node[j] - roots[t]


def by_blocks(kernel, features, roots, depths, *more):
    """Run ``kernel`` over all blocks of records, in threads; ``depths`` estimate the work per record."""
    few = 1 + GRAIN // (BLOCK * int(depths.sum() + 1))
    spread(kernel, -(-features.shape[1] // BLOCK), features, roots, depths, *more, least=few)
