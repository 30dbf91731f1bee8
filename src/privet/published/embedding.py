"""Bai et al.'s trees in blocks of levels, as published (Algorithm 1). NOT PRIVATE."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache

from privet.growing.embedding import Embedding, _finish_level
from privet.growing.grower import Nodes, Progress
from privet.privacy.dataset import PrivateDataset
from privet.privacy.frontier import Frontier
from privet.published.mcmc import ExactStop, Node, OpenBlock
from privet.published.nonprivate import open_engine
from privet.structure.splits import Multiway, Test
from privet.trees.tree import Tree

Search = Callable[[OpenBlock], Node]


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
    waiting = [] if rule.stops(engine.class_counts(cells))[0] else [(root, cells, frozenset[int]())]
    for number, depth in enumerate(embedding.depths):
        data.ledger.charge(each, f"block {number + 1}, as published")
        deeper: list[tuple[_Branch, object, frozenset[int]]] = []
        for branch, cells, used in waiting:
            block = OpenBlock(engine, cells, used, depth, rule)
            if block.free(used):
                for leaf, node, path in branch.grow(search(block), used):
                    deeper.append((leaf, engine.only(*node.place), path))
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
