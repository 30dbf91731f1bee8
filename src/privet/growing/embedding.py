"""Trees in blocks of levels (Bai et al.'s DPEA): each block one mechanism over all its subtrees, then leaf counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Literal

import numpy as np

from privet.growing.grower import MAX_LEAVES, Nodes, Progress
from privet.growing.mcmc import LEAF, ExactStop, Node, OpenBlock, Shape
from privet.privacy.counting import class_counts, only
from privet.privacy.dataset import PrivateDataset
from privet.privacy.frontier import Frontier
from privet.privacy.samplers.tree_space import Sketch, TreeSpace
from privet.privacy.unproven import open_engine
from privet.structure.splits import Multiway, Test, Tests
from privet.trees.tree import Tree

Search = Callable[[OpenBlock], Node]
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


def space_size(arities: Sequence[int], layers: int) -> int:
    """How many subtrees a block of that many layers (one more than its tests on a path) has.

    >>> [space_size([2] * 16, layers) for layers in (2, 3, 4, 5)]
    [16, 3600, 138297600, 112813600960569600]
    """

    @cache
    def subtrees(left: tuple[tuple[int, int], ...], levels: int) -> int:
        if levels == 0:
            return 1
        total = 0
        for arity, number in left:
            fewer = tuple((a, n - (a == arity)) for a, n in left if n > (a == arity))
            total += number * subtrees(fewer, levels - 1) ** arity
        return total

    return subtrees(tuple(sorted(Counter(a for a in arities if a > 1).items())), layers - 1)


# ---- sound ----------------------------------------------------------------------------------------------------------


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
        level = [_shape(sketch, tests) for sketch in drawn]
        for _ in range(depth):
            arity = np.array([len(shape.children) for shape in level])
            fits = leaves + len(level) + np.cumsum(arity - 1) <= MAX_LEAVES
            leaves += int((~fits).sum())
            index = [shape.attribute if fit else -1 for shape, fit in zip(level, fits, strict=True)]
            here: list[Test | None] = [tests[i] if i >= 0 else None for i in index]
            finer = _finish_level(nodes, frontier, here, each)
            if finer is None:
                return nodes.grown().tree
            frontier = finer
            allowed = np.repeat(_without(allowed, index)[fits], arity[fits], axis=0)
            level = [child for shape, fit in zip(level, fits, strict=True) if fit for child in shape.children]
        if progress is not None:
            progress(number + 1, len(embedding.depths))
    _finish_level(nodes, frontier, [None] * frontier.size, each)
    return nodes.grown().tree


def _shape(sketch: Sketch, tests: Tests, node: int = 0) -> Shape:
    """A drawn block as a tree whose nodes name tests."""
    test, first = sketch.test[node], sketch.first_child[node]
    if test < 0:
        return LEAF
    return Shape(test, tuple(_shape(sketch, tests, first + child) for child in range(int(tests.arity[test]))))


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


# ---- as published ---------------------------------------------------------------------------------------------------


def grow_published(
    data: PrivateDataset,
    embedding: Embedding,
    epsilon: Fraction,
    search: Search,
    rule: ExactStop,
    why: str,
    progress: Progress | None = None,
) -> Tree:
    """Algorithm 1: NOT PRIVATE, since it reads exact counts. The ledger shows what the paper says it spends."""
    engine, cells = open_engine(data, "embedded as published", why)
    each = embedding.share(epsilon)
    root = _Branch()
    waiting = [] if rule.stops(class_counts(engine, cells))[0] else [(root, cells, frozenset[int]())]
    for number, depth in enumerate(embedding.depths):
        data.ledger.charge(each, f"block {number + 1}, as published")
        deeper: list[tuple[_Branch, object, frozenset[int]]] = []
        for branch, cells, used in waiting:
            block = OpenBlock(engine, cells, used, depth, rule)
            if block.free(used):
                for leaf, node, path in branch.grow(search(block), used):
                    deeper.append((leaf, only(*node.place), path))
        waiting = deeper
        if progress is not None:
            progress(number + 1, len(embedding.depths))
    return _label(data.frontier(), root, each)


class _Branch:
    """A node of a tree that may still grow."""

    def __init__(self) -> None:
        self.attribute, self.children = -1, list[_Branch]()

    def grow(self, node: Node, used: frozenset[int]) -> list[tuple[_Branch, Node, frozenset[int]]]:
        """Take on a subtree; its leaves that no rule stopped, and the attributes on their paths."""
        if not node.children:
            return [] if node.stopped else [(self, node, used)]
        self.attribute, self.children = node.attribute, [_Branch() for _ in node.children]
        pairs = zip(self.children, node.children, strict=True)
        return [leaf for branch, child in pairs for leaf in branch.grow(child, used | {node.attribute})]


def _label(frontier: Frontier, root: _Branch, epsilon: Fraction) -> Tree:
    """Noisy class counts in the leaves; the only part of the published method that is private."""
    nodes, level, here = Nodes(frontier.schema), [root], frontier
    while True:
        tests: list[Test | None] = [Multiway(branch.attribute) if branch.children else None for branch in level]
        finer = _finish_level(nodes, here, tests, epsilon)
        if finer is None:
            return nodes.grown().tree
        here, level = finer, [child for branch in level for child in branch.children]
