"""Bai et al.'s trees in blocks of levels, as published (Algorithm 1). NOT PRIVATE."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import cache
from typing import Any

from privet.growing.blocks import Blocks
from privet.growing.grower import Progress
from privet.growing.levels import Levels
from privet.privacy.counting import class_counts, only
from privet.privacy.dataset import PrivateDataset
from privet.published.mcmc import ExactStop, Node, OpenBlock
from privet.published.nonprivate import open_engine
from privet.structure.splits import Multiway
from privet.trees.tree import Tree

Search = Callable[[OpenBlock], Node]
Path = tuple[int, ...]
Open = tuple[Path, Any, frozenset[int]]  # a leaf that may grow: its path, its records, the attributes above it


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
    blocks: Blocks,
    epsilon: Fraction,
    search: Search,
    rule: ExactStop,
    why: str,
    progress: Progress | None = None,
) -> Tree:
    """Algorithm 1: NOT PRIVATE, since it reads exact counts. The ledger shows what the paper says it spends."""
    engine, cells = open_engine(data, "embedded as published", why)
    # A path is the children that were taken on the way; an inner node has an attribute.
    attribute = dict[Path, int]()
    stopped = rule.stops(class_counts(engine, cells))[0]
    waiting = list[Open]() if stopped else [(Path(), cells, frozenset[int]())]
    for number, depth in enumerate(blocks.depths):
        data.ledger.charge(blocks.each(epsilon), f"block {number + 1}, as published")
        deeper = list[Open]()
        for path, cells, used in waiting:
            block = OpenBlock(engine, cells, used, depth, rule)
            if block.free(used):
                deeper += [
                    (leaf, only(*node.place), on_path)
                    for leaf, node, on_path in _open_leaves(search(block), path, used, attribute)
                ]
        waiting = deeper
        if progress is not None:
            progress(number + 1, len(blocks.depths))
    # Noisy class counts in the leaves: the only part of the published method that is private.
    growing, level = Levels(data.frontier(), blocks.for_leaves(epsilon)), [Path()]
    while level:
        tests = [Multiway(attribute[path]) if path in attribute else None for path in level]
        growing.add(tests)
        families = zip(level, tests, strict=True)
        level = [(*path, k) for path, test in families if test for k in range(test.arity(data.schema))]
    return growing.tree()


def _open_leaves(
    node: Node, path: Path, used: frozenset[int], attribute: dict[Path, int]
) -> Iterator[tuple[Path, Node, frozenset[int]]]:
    """Record the attributes of a subtree. Returns its leaves that no rule stopped, with the attributes above."""
    if not node.children:
        if not node.stopped:
            yield path, node, used
        return
    attribute[path] = node.attribute
    for k, child in enumerate(node.children):
        yield from _open_leaves(child, (*path, k), used | {node.attribute}, attribute)
