"""Trees in blocks of levels (Bai et al.'s DPEA): each block one mechanism over all its subtrees, then leaf counts."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np

from privet.growing.grower import MAX_LEAVES, Nodes, Progress
from privet.privacy.frontier import Frontier
from privet.privacy.samplers.tree_space import TreeSpace
from privet.structure.splits import Test, Tests
from privet.trees.tree import Tree

Measure = Literal["attributes", "subtrees"]


@dataclass(frozen=True, slots=True)
class Embedding:
    """A tree of ``depth`` tests on a path, in blocks of at most ``block`` levels.

    A path meets every block and then a leaf's counts, and all of them get the same share of epsilon. Bai et al. count
    layers, D = depth + 1: eps' = eps / (ceil((D-1)/d) + 1), which is eps / 2 for a whole tree as their text says.
    """

    depth: int
    block: int

    @property
    def depths(self) -> list[int]:
        """The depth of each block."""
        return [min(self.block, self.depth - start) for start in range(0, self.depth, self.block)]

    def share(self, epsilon: Fraction) -> Fraction:
        """What each block, and the counts of a leaf, may cost.

        >>> Embedding(depth=7, block=3).share(Fraction(1))
        Fraction(1, 4)
        """
        return epsilon / (len(self.depths) + 1)


def block_space(tests: Tests, n_classes: int, depth: int, measure: Measure = "attributes") -> TreeSpace:
    """All subtrees of exactly that many levels, without labels; what is equally likely is an attribute or a subtree."""
    return TreeSpace(
        tests,
        n_classes,
        leaf_prior=(0.0,) * depth,
        test_prior=np.ones(len(tests)),
        class_weights=(1,) * n_classes,
        labelled=False,
        by_subtree=measure == "subtrees",
    )


def grow_blocks(
    frontier: Frontier, embedding: Embedding, measure: Measure, epsilon: Fraction, progress: Progress | None = None
) -> Tree:
    """Draw block after block exactly, then buy class counts in the leaves. Only the depth stops it, and a public cap.

    A drawn block is released; where its leaves would be too many it is cut short, which looks at nothing else.
    """
    each, tests = embedding.share(epsilon), Tests.multiway(frontier.schema)
    nodes, allowed, leaves = Nodes(frontier.schema), np.ones((1, len(tests)), dtype=bool), 0
    for number, depth in enumerate(embedding.depths):
        space = block_space(tests, frontier.schema.n_classes, depth, measure)
        drawn = frontier.sample_trees_all(
            [space.among(left) for left in allowed], each, what=f"blocks of {depth} levels"
        )
        level = [(sketch, 0) for sketch in drawn]
        for _ in range(depth):
            asked = [sketch.test[node] for sketch, node in level]
            arity = tests.arity[asked]
            fits = leaves + len(level) + np.cumsum(arity - 1) <= MAX_LEAVES
            leaves += int((~fits).sum())
            index = [test if fit else -1 for test, fit in zip(asked, fits, strict=True)]
            here: list[Test | None] = [tests[i] if i >= 0 else None for i in index]
            finer = _finish_level(nodes, frontier, here, each)
            if finer is None:
                return nodes.grown().tree
            frontier = finer
            allowed = np.repeat(_without(allowed, index)[fits], arity[fits], axis=0)
            level = [
                (sketch, sketch.first_child[node] + child)
                for (sketch, node), fit, children in zip(level, fits, arity, strict=True)
                for child in range(children if fit else 0)
            ]
        if progress is not None:
            progress(number + 1, len(embedding.depths))
    _finish_level(nodes, frontier, [None] * frontier.size, each)
    return nodes.grown().tree


def _without(allowed: np.ndarray, index: list[int]) -> np.ndarray:
    left = allowed.copy()
    left[np.arange(len(index)), index] = False
    return left


def _finish_level(nodes: Nodes, frontier: Frontier, tests: list[Test | None], epsilon: Fraction) -> Frontier | None:
    """Buy counts for the leaves of a level and split the rest; None where nothing is left to split."""
    counts = np.full((frontier.size, frontier.schema.n_classes), np.nan)
    leaves = np.array([i for i, test in enumerate(tests) if test is None], dtype=np.intp)
    if leaves.size:
        counts[leaves] = frontier.class_counts_all(epsilon, leaves, what="leaf class counts")
    nodes.add_level(tests, counts, np.full(frontier.size, np.nan))
    return None if leaves.size == len(tests) else frontier.split(tests)
