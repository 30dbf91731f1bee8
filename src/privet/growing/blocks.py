"""Trees drawn in blocks of levels: each block is one mechanism over all its subtrees, exactly sampled."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np

from privet.growing.grower import MAX_LEAVES, Progress
from privet.growing.levels import Levels
from privet.privacy.frontier import Frontier
from privet.privacy.samplers.tree_space import Meter, TreeSpace
from privet.structure.routes import first_children
from privet.structure.splits import Tests
from privet.trees.tree import Tree

Measure = Literal["attributes", "subtrees"]

PER_BLOCK = 100  # steps of progress
EVERY = 0.2  # seconds between two looks at how far a draw has come


@dataclass(frozen=True)
class Blocks:
    """A tree of ``depth`` tests on a path, in blocks of at most as many levels as ``space`` has.

    Blocks share equally what ``leaf_share`` of epsilon, for class counts in the leaves, leaves over. Early leaves are
    final; leaves at the full depth of a block are drawn again by the next one. Without a space nothing is drawn.
    """

    space: TreeSpace | None
    depth: int
    leaf_share: Fraction = Fraction(0)

    @property
    def block(self) -> int:
        """The most levels of a block."""
        return 1 if self.space is None else max(self.space.depth, 1)

    @property
    def depths(self) -> list[int]:
        """The depth of each block. A labelled tree without a test is still drawn: its label is."""
        least = 1 if self.space is not None and self.space.labelled else 0
        return [min(self.block, self.depth - start) for start in range(0, max(self.depth, least), self.block)]

    def each(self, epsilon: Fraction) -> Fraction:
        """What a block may cost."""
        return (epsilon - self.for_leaves(epsilon)) / max(len(self.depths), 1)

    def for_leaves(self, epsilon: Fraction) -> Fraction:
        """What the class counts of a leaf may cost."""
        return epsilon * self.leaf_share


def embedding(tests: Tests, n_classes: int, depth: int, block: int, measure: Measure = "attributes") -> Blocks:
    """Bai et al.'s plan: a path meets every block and then a leaf's counts, and all of them cost the same.

    They count layers, D = depth + 1: eps' = eps / (ceil((D-1)/d) + 1), which is eps / 2 for a whole tree as their text
    says.

    >>> from privet.schema import Categorical, Schema
    >>> schema = Schema([Categorical(name, (0, 1)) for name in "abcdefgh"], Categorical("ill", ("no", "yes")))
    >>> embedding(Tests.multiway(schema), 2, depth=7, block=3).each(Fraction(1))
    Fraction(1, 4)
    """
    space = block_space(tests, n_classes, min(block, depth), measure) if depth else None
    return Blocks(space, depth, Fraction(1, -(-depth // block) + 1))


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


def grow_blocks(frontier: Frontier, blocks: Blocks, epsilon: Fraction, progress: Progress | None = None) -> Tree:
    """Draw block after block, and buy class counts in the leaves if they have a share.

    Without labels a public cap bounds the leaves: where a drawn block has too many it is cut short, which looks at
    nothing else.
    """
    growing, depths, space = Levels(frontier, blocks.for_leaves(epsilon)), blocks.depths, blocks.space
    labels = [0]  # of the cells that are still open
    for number, depth in enumerate(depths):
        assert space is not None
        if number == 0:
            tests, leaves = space.tests, 0
            left = np.ones((1, len(tests)), dtype=bool)  # (cell, test): the tests that are not yet on its path
        block = space.of_depth(depth)
        spaces = [block if row.all() else block.among(row) for row in left]
        what = "whole trees" if space.labelled else f"blocks of {depth} levels"
        with _watched(progress, number, len(depths)) as meter:
            drawn = growing.frontier.sample_trees_all(spaces, blocks.each(epsilon), what=what, meter=meter)
        # Where each cell is in the tree that was drawn for it; the columns of a tree stand in level order.
        arities = np.append(tests.arity, 0)  # test -1 is a leaf
        place = [((test, label, first_children(arities[test]).tolist()), 0) for test, label in drawn]
        for level in range(depth + 1):
            labels = [label[node] for (_, label, _), node in place]
            if level == depth or not place:
                break
            asked = np.array([test[node] for (test, _, _), node in place])
            if not space.labelled:
                fits = leaves + len(place) + np.cumsum(tests.arity[asked] - 1) <= MAX_LEAVES
                leaves += int((~fits).sum())
                asked = np.where(fits, asked, -1)
            growing.add([tests[i] if i >= 0 else None for i in asked.tolist()], labels)
            split = np.flatnonzero(asked >= 0)
            arity = tests.arity[asked[split]]
            left[split, asked[split]] = False
            left = np.repeat(left[split], arity, axis=0)
            families = [(*place[cell], n) for cell, n in zip(split.tolist(), arity.tolist(), strict=True)]
            place = [(tree, tree[2][node] + child) for tree, node, n in families for child in range(n)]
        if progress is not None:
            progress(PER_BLOCK * (number + 1 if labels else len(depths)), PER_BLOCK * len(depths))
        if not labels:
            break
    growing.add([None] * len(labels), labels)
    return growing.labelled_tree() if space is not None and space.labelled else growing.tree()


@contextmanager
def _watched(progress: Progress | None, number: int, blocks: int) -> Iterator[Meter | None]:
    """A meter for the kernel to write to, and somebody who reads it out while the kernel works.

    The kernel takes no callables, so it cannot tell anybody itself.
    """
    if progress is None:
        yield None
        return
    meter, done = Meter(), threading.Event()

    def read_out() -> None:
        while not done.wait(EVERY):
            progress(round(PER_BLOCK * (number + meter.done / meter.total)), PER_BLOCK * blocks)

    reader = threading.Thread(target=read_out, daemon=True)
    reader.start()
    try:
        yield meter
    finally:
        done.set()
        reader.join()
