"""Compiled growing of random trees, without records."""

from __future__ import annotations

import numpy as np
from numba import njit

from privet.structure.compiled import kernel


@kernel
def random_structure(arity, kinds, depth, most_leaves, root, support, least, seed, attribute, kind, cut, first_child):
    """Grow a random tree: fill in attribute, kind, cut and first_child, level by level; returns the number of nodes.

    arity, kinds (attributes,): the number of codes, and the kind of test (``splits.Kind``; -1 for none). Each node
    draws an attribute that the path leaves open, uniformly, then one of its tests. A node is a leaf at ``depth``, where
    its estimated support (``support`` at the root, shared equally by children) is not above ``least``, where nothing is
    open, or where its children would be too many. ``root`` is the attribute of the root, -1 for any.
    """
    np.random.seed(seed)  # noqa: NPY002 - numba's own generator, for public choices
    most_nodes = attribute.size
    attribute[:], kind[:], cut[:], first_child[:] = -1, 0, 0, -1
    parent, branch = np.full(most_nodes, -1, dtype=np.int32), np.zeros(most_nodes, dtype=np.int32)
    level, expected = np.zeros(most_nodes, dtype=np.int32), np.full(most_nodes, support)
    low, high, left, open_ones = np.empty_like(arity), np.empty_like(arity), np.empty_like(arity), np.empty_like(arity)
    nodes, leaves, node = 1, 1, -1
    # A test has two children at least: where they are too many, no node that is left can have one.
    while node + 1 < nodes and leaves < most_leaves and nodes + 2 <= most_nodes:
        node += 1
        if level[node] >= depth or expected[node] <= least:
            continue
        low[:], high[:], left[:] = 0, arity - 1, arity
        here = node
        while parent[here] >= 0:
            above, side = parent[here], branch[here]
            a = attribute[above]
            if kind[above] == 0:
                if side == 0:
                    high[a] = min(high[a], cut[above])
                else:
                    low[a] = max(low[a], cut[above] + 1)
                left[a] = high[a] - low[a] + 1
            elif kind[above] == 1 and side == 1:
                left[a] -= 1
            else:
                left[a] = 1
            here = above
        n_open = 0
        for b in range(arity.size):
            if kinds[b] >= 0 and left[b] > 1:
                open_ones[n_open] = b
                n_open += 1
        if n_open == 0:
            continue
        a = open_ones[np.random.randint(n_open)]  # noqa: NPY002
        if node == 0 and root >= 0:
            a = root
        children = arity[a] if kinds[a] == 2 else 2
        if leaves + children - 1 > most_leaves or nodes + children > most_nodes:
            continue
        attribute[node], kind[node], first_child[node] = a, kinds[a], nodes
        if kinds[a] == 0:
            cut[node] = low[a] + np.random.randint(high[a] - low[a])  # noqa: NPY002
        elif kinds[a] == 1:
            cut[node] = _free_category(node, a, arity[a], attribute, cut, parent)
        for side in range(children):
            parent[nodes], branch[nodes], level[nodes] = node, side, level[node] + 1
            expected[nodes] = expected[node] / children
            nodes += 1
        leaves += children - 1
    return nodes


@njit(cache=True, nogil=True)
def _free_category(node, a, arity, attribute, cut, parent):
    """A category that no test above has split off. At least two are left."""
    while True:
        value, here, free = np.random.randint(arity), parent[node], True  # noqa: NPY002
        while here >= 0:
            if attribute[here] == a and cut[here] == value:
                free = False
            here = parent[here]
        if free:
            return value
