"""Bai et al.'s trees in blocks of levels, as published (Algorithm 1). NOT PRIVATE."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import cache

from privet.growing.whole.blocks import Blocks, Levels
from privet.models.tree import Tree
from privet.privacy.counting import class_counts
from privet.privacy.dataset import PrivateDataset
from privet.progress import Progress
from privet.recipes.unsound.mcmc import Asked, ExactStop, Found, OpenBlock, OpenLeaf, Path
from privet.recipes.unsound.nonprivate import open_engine
from privet.structure.splits import Multiway

Search = Callable[[OpenBlock, Fraction], Found]
"""Finds a subtree of a block for the epsilon that the paper claims it costs."""


def space_size(arities: Sequence[int], layers: int) -> int:
    """The number of subtrees of a block with that many layers (one more than its tests on a path).

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
    """Algorithm 1: NOT PRIVATE, since it reads exact counts. The ledger shows the cost that the paper claims."""
    engine, cells = open_engine(data, "embedded as published", why, whole="a Markov chain")
    attribute = dict[Path, int]()  # of every inner node
    stopped = rule.stops(class_counts(engine, cells))[0]
    waiting = [] if stopped else [OpenLeaf((), cells, frozenset())]
    for number, depth in enumerate(blocks.depths):
        each = blocks.each(epsilon, number)
        data.ledger.charge(each, f"block {number + 1}, as published")
        deeper = list[OpenLeaf]()
        for path, cells, used in waiting:
            block = OpenBlock(engine, cells, used, depth, rule)
            if block.free(used):
                found = search(block, each)
                attribute.update(_attributes(found.asked, path))
                deeper += [leaf._replace(path=path + leaf.path) for leaf in found.open]
        waiting = deeper
        if progress is not None:
            progress(number + 1, len(blocks.depths))
    # Noisy class counts in the leaves: the only part of the published method that is private.
    growing, level = Levels(data.level(), blocks.for_leaves(epsilon)), [Path()]
    while level:
        tests = [Multiway(attribute[path]) if path in attribute else None for path in level]
        growing.add(tests)
        families = zip(level, tests, strict=True)
        level = [(*path, k) for path, test in families if test for k in range(test.arity(data.schema))]
    return growing.tree()


def _attributes(asked: Asked, path: Path) -> Iterator[tuple[Path, int]]:
    """The attributes of a subtree's inner nodes, below ``path``."""
    if asked:
        attribute, children = asked
        yield path, attribute
        for k, child in enumerate(children):
            yield from _attributes(child, (*path, k))
