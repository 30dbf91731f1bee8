"""Validation of flat arrays as trees: checked here once, and relied on everywhere else.

The compiled kernels check nothing: with a child out of range they would read foreign memory. So every structure,
including those from files, is validated here first.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from privet.schema import Schema
from privet.structure.splits import Tests


def structure_fault(schema: Schema, tests: Tests, first_child: npt.NDArray[Any], roots: npt.NDArray[Any]) -> str | None:
    """The fault of trees that are stored end to end, in words that follow 'the tree ...', or None.

    Every test fits the schema. Children follow their parents, lie in their tree and belong to one parent each, so every
    node is reached exactly once and there is no cycle.
    """
    nodes = len(tests)
    if nodes == 0:
        return "has no nodes"
    if len(roots) == 0 or roots[0] != 0 or (np.diff(roots, append=nodes) < 1).any():
        return "has its roots out of place: they must ascend from 0, and every tree has a node at least"
    if first_child.shape != (nodes,):
        return f"has children for {len(first_child)} nodes: first_child must have one entry for each of {nodes}"
    return tests.fault(schema) or _child_fault(tests, first_child, roots)


def children_of(tests: Tests, first_child: npt.NDArray[Any]) -> npt.NDArray[np.intp]:
    """All children, family by family in the order of their parents."""
    inner = tests.arity > 0
    arity = tests.arity[inner].astype(np.intp)
    before = np.cumsum(arity) - arity
    return np.repeat(first_child[inner] - before, arity) + np.arange(arity.sum())


def _child_fault(tests: Tests, first_child: npt.NDArray[Any], roots: npt.NDArray[Any]) -> str | None:
    ends = np.append(roots[1:], len(tests))
    inner = np.flatnonzero(tests.arity)
    last = ends[np.searchsorted(roots, inner, side="right") - 1]
    first = first_child[inner].astype(np.int64)
    wrong = (first <= inner) | (first + tests.arity[inner] > last)
    if wrong.any():
        return f"has children out of place at node {inner[wrong][0]}: they must follow it and lie in its tree"
    parents = np.bincount(children_of(tests, first_child), minlength=len(tests))
    parents[roots] += 1  # a root counts as its own parent
    if (parents != 1).any():
        node = int(np.flatnonzero(parents != 1)[0])
        return f"does not reach node {node} exactly once, but {parents[node]} times"
    return None
