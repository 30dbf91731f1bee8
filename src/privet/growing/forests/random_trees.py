"""Trees with random tests. They read no record, so they are public and cost nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from privet.growing.greedy.candidates import TestKind
from privet.schema import Numeric, Schema
from privet.structure.compiled import call
from privet.structure.routes import Routes
from privet.structure.splits import Kind


@dataclass(frozen=True)
class RandomTrees:
    """A public plan for drawing random trees.

    An attribute with a child for every value is used once on a path. A number can be cut again, at a uniform point of
    what the path leaves of its domain. With ``distinct_roots`` every attribute is a root once before any is one twice.
    Children share the expected ``support`` of their parent equally, and a branch ends where it is ``least`` or less.
    ``max_leaves`` bounds each tree: a child for every value of eleven attributes makes hundreds of millions.
    """

    trees: int
    depth: int
    tests: TestKind = "mixed"
    distinct_roots: bool = False
    max_leaves: int = 1024
    support: float = np.inf
    least: float = 0.0

    def draw(self, schema: Schema, random: np.random.Generator) -> Routes:
        """Draw the trees; ``random`` is for public choices only.

        >>> from privet.schema import Categorical
        >>> schema = Schema((Numeric("age", 0, 120), Categorical("sex", ("f", "m"))), Categorical("ill", (False, True)))
        >>> routes = RandomTrees(trees=3, depth=2).draw(schema, np.random.default_rng(0))
        >>> len(routes), int(routes.level.max())
        (3, 2)
        """
        arity = np.asarray(schema.arities, dtype=np.int64)
        kinds = test_kinds(schema, self.tests)
        grown = [self._grow(arity, kinds, root, random) for root in self._roots(kinds, random)]
        return Routes.end_to_end(schema, grown)

    def _grow(
        self, arity: npt.NDArray[np.int64], kinds: npt.NDArray[np.int64], root: int, random: np.random.Generator
    ) -> tuple[npt.NDArray[Any], ...]:
        """(attribute, kind, cut, first_child) of the nodes of one tree."""
        from privet.growing.forests.kernels import random_structure

        most, seed = self._most_nodes(arity, kinds), int(random.integers(2**32))
        columns = tuple(np.empty(most, dtype=kind) for kind in (np.int32, np.int8, np.int32, np.int32))
        limits = self.depth, self.max_leaves, root, float(self.support), float(self.least)
        nodes = call(random_structure, arity, kinds, *limits, seed, *columns)
        return tuple(column[:nodes].copy() for column in columns)

    def _roots(self, kinds: npt.NDArray[np.int64], random: np.random.Generator) -> list[int]:
        usable = np.flatnonzero(kinds >= 0)
        if not self.distinct_roots or len(usable) == 0:
            return [-1] * self.trees
        rounds = -(-self.trees // len(usable))
        return np.concatenate([random.permutation(usable) for _ in range(rounds)])[: self.trees].tolist()

    def _most_nodes(self, arity: npt.NDArray[np.int64], kinds: npt.NDArray[np.int64]) -> int:
        """A bound on a tree's nodes: fewer inner nodes than leaves, no level wider than the widest test allows."""
        widest = int(np.where(kinds == Kind.MULTIWAY, arity, 2).max(initial=1))
        full = 1
        for _ in range(self.depth):
            full = full * widest + 1
            if full >= 2 * self.max_leaves:
                return 2 * self.max_leaves
        return full


def test_kinds(schema: Schema, tests: TestKind) -> npt.NDArray[np.int64]:
    """The kind of test that each attribute carries, -1 where it has one value only."""
    number = Kind.MULTIWAY if tests == "multiway" else Kind.THRESHOLD
    category = Kind.ONE_CATEGORY if tests == "binary" else Kind.MULTIWAY
    kinds = [number if isinstance(attribute, Numeric) else category for attribute in schema.attributes]
    return np.where(np.asarray(schema.arities) > 1, kinds, -1).astype(np.int64)


test_kinds.__test__ = False  # type: ignore[attr-defined]  # tell pytest that this is no test
