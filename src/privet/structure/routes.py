"""Public trees of tests, stored end to end: they route records, and were made without reading any.

A forest predicts by sending records down its trees, and a random forest learns by counting records in leaves. Both use
these flat arrays, and rely on every route ending in a leaf.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from privet.errors import ParameterError
from privet.schema import Schema
from privet.structure.faults import children_of, structure_fault
from privet.structure.splits import Kind, Test, Tests

Index = npt.NDArray[np.int32]

PARALLEL_FROM = 20_000  # records times trees; some 50 microseconds of work


class _Descent(NamedTuple):
    """The arrays of the compiled kernels: a leaf has a threshold that no code exceeds and leads to itself."""

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
        for name in ("first_child", "roots"):
            column = np.array(getattr(self, name), dtype=np.int32)
            column.setflags(write=False)  # so that it cannot change after the check
            object.__setattr__(self, name, column)
        object.__setattr__(self, "tests", self.tests.take(np.arange(len(self.tests))))
        if fault := structure_fault(self.schema, self.tests, self.first_child, self.roots):
            raise ParameterError(f"the tree {fault}")

    def to_dict(self) -> dict[str, Any]:
        """The columns as lists, which JSON can hold."""
        tests = self.tests
        columns: dict[str, npt.NDArray[Any]]
        columns = {"attribute": tests.attribute, "kind": tests.kind, "cut": tests.cut, "first_child": self.first_child}
        return {name: column.tolist() for name, column in columns.items()}

    @classmethod
    def in_level_order(cls, schema: Schema, tests: Iterable[Test | None]) -> Routes:
        """One tree from its tests, None for a leaf: level by level, each from left to right.

        >>> from privet.schema import Categorical
        >>> from privet.structure.splits import Multiway
        >>> schema = Schema((Categorical("sex", ("f", "m")),), Categorical("ill", ("no", "yes")))
        >>> Routes.in_level_order(schema, [Multiway(0), None, None]).first_child.tolist()
        [1, -1, -1]
        """
        table = Tests.of(schema, tests)
        return cls(schema, table, first_children(table.arity), np.zeros(1, dtype=np.int32))

    @classmethod
    def end_to_end(cls, schema: Schema, trees: Iterable[Sequence[npt.NDArray[Any]]]) -> Routes:
        """Trees from columns of their own: attribute, kind, cut and first child."""
        attribute, kind, cut, first_child = zip(*trees, strict=True)
        sizes = [len(column) for column in attribute]
        roots = np.cumsum([0, *sizes[:-1]])
        tests = Tests.of_columns(schema, *map(np.concatenate, (attribute, kind, cut)))
        return cls(schema, tests, np.concatenate(first_child) + np.repeat(roots, sizes), roots)

    def __len__(self) -> int:
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
        """The leaves of all trees, in order. A leaf's position here is the cell of its records."""
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
        parent[children_of(self.tests, self.first_child)] = np.repeat(inner, self.tests.arity[inner])
        return parent

    @cached_property
    def level(self) -> npt.NDArray[np.intp]:
        """The number of tests above each node.

        Each step looks twice as far up as the one before, so even a tree that is one long path takes few steps.
        """
        nodes = len(self.tests)
        above = np.append(np.where(self.parent < 0, nodes, self.parent), nodes)  # the last one stands above all roots
        level = (above < nodes).astype(np.intp)
        while (above < nodes).any():
            level += level[above]
            above = above[above]
        return level[:-1]

    @cached_property
    def levels(self) -> list[npt.NDArray[np.intp]]:
        """The nodes of each level, from the roots down."""
        order = np.argsort(self.level, kind="stable")
        return np.split(order, np.cumsum(np.bincount(self.level))[:-1])

    @cached_property
    def descent(self) -> _Descent:
        leaf = self.is_leaf
        nodes = np.arange(len(self.tests), dtype=np.int32)
        depths = np.maximum.reduceat(self.level, self.roots).astype(np.int32)
        attribute = np.where(leaf, 0, self.tests.attribute).astype(np.int32)
        kind = np.where(leaf, Kind.THRESHOLD, self.tests.kind).astype(np.int8)
        cut = np.where(leaf, np.iinfo(np.int32).max, self.tests.cut).astype(np.int32)
        return _Descent(self.roots, depths, attribute, kind, cut, np.where(leaf, nodes, self.first_child))

    def apply(self, features: npt.NDArray[Any]) -> Index:
        """(record, tree) the leaf of each record in each tree, numbered within the tree; ``features`` are codes."""
        from privet.structure import descent

        self.check(features)
        leaves = np.empty((features.shape[1], len(self)), dtype=np.int32)
        descent.by_blocks(descent.apply, features, *self.descent, leaves)
        return leaves

    def check(self, features: npt.NDArray[Any]) -> None:
        """Raise :class:`ParameterError` for codes (attributes, records) that the trees cannot read."""
        schema, wanted = self.schema, len(self.schema.attributes)
        if features.ndim != 2 or len(features) != wanted or not np.issubdtype(features.dtype, np.integer):
            raise ParameterError(
                f"features must be integer codes, {wanted} attributes x records, as privet.tables.encoding makes them"
            )
        for a in self._addresses if features.shape[1] else ():
            arity = schema.arities[a]
            if features[a].min() < 0 or features[a].max() >= arity:
                raise ParameterError(f"features hold codes of {schema.names[a]!r} that its {arity} values lack")

    @cached_property
    def _addresses(self) -> list[int]:
        """The attributes whose codes are used as indices: those of multiway tests."""
        multiway = ~self.is_leaf & (self.tests.kind == Kind.MULTIWAY)
        return np.unique(self.tests.attribute[multiway]).tolist()


def first_children(arity: npt.NDArray[Any]) -> Index:
    """The first child of each node of a tree in level order, from how many children each has; -1 for a leaf."""
    return np.where(arity > 0, 1 + np.cumsum(arity) - arity, -1).astype(np.int32)
