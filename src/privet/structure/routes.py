"""Public trees of tests, end to end: where a record goes, before anybody has looked at a record.

A forest predicts by sending records down its trees, and a random forest learns by counting who arrives where. Both need
the same flat arrays and the same guarantee that following them ends in a leaf, so both get them from here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from privet.errors import ParameterError
from privet.schema import Schema
from privet.structure.splits import Kind, Tests

Index = npt.NDArray[np.int32]


class Descent(NamedTuple):
    """What the compiled kernels read: a leaf carries a threshold that no code passes and leads to itself."""

    roots: Index
    depths: Index
    attribute: Index
    kind: npt.NDArray[np.int8]
    cut: Index
    first_child: Index


@dataclass(frozen=True, eq=False)
class Routes:
    """Trees over one schema: a row of ``tests`` for each node, children contiguous and after their parent.

    Tree ``t`` is nodes ``roots[t]`` up to ``roots[t + 1]``, its root first; ``first_child`` counts across all trees.
    """

    schema: Schema
    tests: Tests
    first_child: Index
    roots: Index

    def __post_init__(self) -> None:
        nodes = len(self.tests)
        for name in ("first_child", "roots"):
            column = np.array(getattr(self, name), dtype=np.int32)
            column.setflags(write=False)  # what was checked stays as it was
            object.__setattr__(self, name, column)
        object.__setattr__(self, "tests", self.tests.take(np.arange(nodes)))
        if len(self.roots) == 0 or self.roots[0] != 0 or (np.diff(self.roots, append=nodes) < 1).any():
            raise ParameterError("roots must ascend from 0: every tree has a node at least")
        if self.first_child.shape != (nodes,):
            raise ParameterError(f"first_child must have one entry for each of {nodes} nodes")
        if not self.tests.take(np.flatnonzero(~self.is_leaf)).fits(self.schema):
            raise ParameterError("a node has a test that the schema does not have")
        self._check_children()

    @classmethod
    def of_trees(cls, schema: Schema, trees: Sequence[Any]) -> Routes:
        """The trees of a forest (``trees.Tree``), end to end."""
        sizes = [len(tree) for tree in trees]
        roots = np.cumsum([0, *sizes[:-1]])
        columns = {n: np.concatenate([getattr(tree, n) for tree in trees]) for n in ("attribute", "kind", "cut")}
        first_child = np.concatenate([tree.first_child for tree in trees]) + np.repeat(roots, sizes)
        return cls(schema, Tests.of_columns(schema, **columns), first_child, roots)

    def __len__(self) -> int:
        """The number of trees."""
        return len(self.roots)

    def tree(self, t: int) -> Routes:
        """One of the trees, alone."""
        nodes = self.nodes_of(t)
        return Routes(self.schema, self.tests.take(nodes), self.first_child[nodes] - nodes[0], np.zeros(1, np.int32))

    def nodes_of(self, t: int) -> npt.NDArray[np.intp]:
        return np.arange(self.roots[t], self.roots[t + 1] if t + 1 < len(self) else len(self.tests))

    @property
    def is_leaf(self) -> npt.NDArray[np.bool_]:
        return np.asarray(self.tests.attribute < 0)

    @cached_property
    def leaves(self) -> npt.NDArray[np.intp]:
        """The leaves of all trees, in order; their place here is the cell of who arrives there."""
        return np.flatnonzero(self.is_leaf)

    @cached_property
    def owner(self) -> npt.NDArray[np.intp]:
        """The tree of each node."""
        return np.repeat(np.arange(len(self)), np.diff(self.roots, append=len(self.tests)))

    @cached_property
    def parent(self) -> npt.NDArray[np.intp]:
        """The parent of each node, -1 for a root."""
        parent = np.full(len(self.tests), -1, dtype=np.intp)
        inner = np.flatnonzero(~self.is_leaf)
        parent[self._children()] = np.repeat(inner, self.tests.arity[inner])
        return parent

    @cached_property
    def level(self) -> npt.NDArray[np.intp]:
        """How many tests lie above each node."""
        level, above = np.zeros(len(self.tests), dtype=np.intp), self.parent.copy()
        while (going := above >= 0).any():
            level[going] += 1
            above[going] = self.parent[above[going]]
        return level

    @cached_property
    def levels(self) -> list[npt.NDArray[np.intp]]:
        """The nodes of each level, from the roots down."""
        order = np.argsort(self.level, kind="stable")
        return np.split(order, np.cumsum(np.bincount(self.level))[:-1])

    @cached_property
    def descent(self) -> Descent:
        leaf = self.is_leaf
        nodes = np.arange(len(self.tests), dtype=np.int32)
        depths = np.maximum.reduceat(self.level, self.roots).astype(np.int32)
        attribute = np.where(leaf, 0, self.tests.attribute).astype(np.int32)
        kind = np.where(leaf, Kind.THRESHOLD, self.tests.kind).astype(np.int8)
        cut = np.where(leaf, np.iinfo(np.int32).max, self.tests.cut).astype(np.int32)
        return Descent(self.roots, depths, attribute, kind, cut, np.where(leaf, nodes, self.first_child))

    def _children(self) -> npt.NDArray[np.intp]:
        """All children, family by family in the order of their parents."""
        inner = ~self.is_leaf
        arity = self.tests.arity[inner].astype(np.intp)
        before = np.cumsum(arity) - arity
        return np.repeat(self.first_child[inner] - before, arity) + np.arange(arity.sum())

    def _check_children(self) -> None:
        inner = np.flatnonzero(~self.is_leaf)
        last = np.append(self.roots[1:], len(self.tests))[self.owner[inner]]
        first = self.first_child[inner].astype(np.int64)
        if ((first <= inner) | (first + self.tests.arity[inner] > last)).any():
            raise ParameterError("children must follow their parent, within its tree")
        reached = np.bincount(self._children(), minlength=len(self.tests))
        reached[self.roots] += 1
        if (reached != 1).any():
            raise ParameterError("every node but a root must have exactly one parent")
