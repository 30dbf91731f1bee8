"""Trees drawn in blocks of levels. Each block is one mechanism over all its subtrees, sampled exactly."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np
import numpy.typing as npt

from privet.growing.greedy.candidates import Domains
from privet.growing.greedy.grower import MAX_LEAVES
from privet.growing.schedules import Schedule, level_weight
from privet.models.grading import grade
from privet.models.leaf_counts import as_trees, bought, tree_of_counts
from privet.models.tree import Tree
from privet.privacy.level import Level
from privet.privacy.samplers.tree_space import Drawn, Meter, TreeSpace
from privet.progress import Progress
from privet.structure.routes import Routes, first_children
from privet.structure.splits import Test, Tests

Measure = Literal["attributes", "subtrees"]

PER_BLOCK = 100  # steps of progress
EVERY = 0.2  # seconds between two looks at how far a draw has come


@dataclass(frozen=True)
class Blocks:
    """A tree of ``depth`` tests on a path, in blocks of at most as many levels as ``space`` has.

    ``leaf_share`` of epsilon buys class counts in the leaves, and the blocks share the rest by the ``schedule``. Early
    leaves are final; leaves at the full depth of a block are drawn again by the next one. Without a space nothing is
    drawn. ``levels`` are the depths of the blocks, if they are not all as deep as possible.
    """

    space: TreeSpace | None
    depth: int
    leaf_share: Fraction = Fraction(0)
    levels: tuple[int, ...] | None = None
    schedule: Schedule = "equal"

    @property
    def block(self) -> int:
        """The most levels of a block."""
        return 1 if self.space is None else max(self.space.depth, 1)

    @property
    def depths(self) -> list[int]:
        """The depth of each block. A labelled tree without a test has a block too, which draws its label."""
        if self.levels is not None:
            return list(self.levels)
        least = 1 if self.space is not None and self.space.labelled else 0
        return [min(self.block, self.depth - start) for start in range(0, max(self.depth, least), self.block)]

    def each(self, epsilon: Fraction, block: int = 0) -> Fraction:
        """The epsilon of a block, by its number from the root: the same for all unless the schedule says otherwise."""
        weights = [level_weight(self.schedule, number) for number in range(max(len(self.depths), 1))]
        return (epsilon - self.for_leaves(epsilon)) * weights[block] / sum(weights)

    def for_leaves(self, epsilon: Fraction) -> Fraction:
        """The epsilon for the class counts of a leaf."""
        return epsilon * self.leaf_share


def embedding(
    tests: Tests,
    n_classes: int,
    depth: int,
    block: int,
    measure: Measure = "attributes",
    schedule: Schedule = "equal",
) -> Blocks:
    """Bai et al.'s plan. A path goes through every block and then buys a leaf's counts; each of these costs the same.

    They count layers, D = depth + 1: eps' = eps / (ceil((D-1)/d) + 1), which is eps / 2 for a whole tree as their text
    says. Another schedule weighs the blocks; a leaf's counts keep the weight 1.

    >>> from privet.schema import Categorical, Schema
    >>> schema = Schema([Categorical(name, (0, 1)) for name in "abcdefgh"], Categorical("ill", ("no", "yes")))
    >>> embedding(Tests.multiway(schema), 2, depth=7, block=3).each(Fraction(1))
    Fraction(1, 4)
    """
    space = block_space(tests, n_classes, min(block, depth), measure) if depth else None
    weights = (level_weight(schedule, number) for number in range(-(-depth // block)))
    return Blocks(space, depth, 1 / (sum(weights) + Fraction(1)), schedule=schedule)


def block_space(tests: Tests, n_classes: int, depth: int, measure: Measure = "attributes") -> TreeSpace:
    """All subtrees of exactly that many levels, without labels. Either attributes or subtrees are equally likely."""
    return TreeSpace(
        tests,
        n_classes,
        leaf_prior=(0.0,) * depth,
        test_prior=np.ones(len(tests)),
        class_weights=(1,) * n_classes,
        labelled=False,
        by_subtree=measure == "subtrees",
    )


def grow_blocks(level: Level, blocks: Blocks, epsilon: Fraction, progress: Progress | None = None) -> Tree:
    """Draw block after block, and buy class counts in the leaves if they have a share.

    Without labels a public cap bounds the leaves. A drawn block with too many leaves is cut short. That looks at no
    record, since the block was released before.
    """
    growing = Levels(level, blocks.for_leaves(epsilon))
    draw_blocks(growing, blocks, epsilon, progress)
    return growing.labelled_tree() if blocks.space is not None and blocks.space.labelled else growing.tree()


def draw_blocks(growing: Levels, blocks: Blocks, epsilon: Fraction, progress: Progress | None = None) -> None:
    """Draw block after block into a tree under construction."""
    depths, space = blocks.depths, blocks.space
    labels, leaves = [0], 0  # the labels of the cells that are open, and how many leaves the cap has made
    domains = Domains.whole(growing.level.schema)  # what the path to each cell leaves possible
    for number, depth in enumerate(depths):
        assert space is not None
        tests, block = space.tests, space.of_depth(depth)
        below = [block.below(*cell) for cell in zip(domains.possible, domains.allowed(tests), strict=True)]
        what = "whole trees" if space.labelled else f"blocks of {depth} levels"
        with _watched(progress, number, len(depths)) as meter:
            spaces = [space for space, _ in below]
            drawn = growing.level.sample_trees_all(spaces, blocks.each(epsilon, number), what=what, meter=meter)
        walk = _Walk([_renumbered(tree, rows) for tree, (_, rows) in zip(drawn, below, strict=True)], tests)
        for _ in range(depth):
            asked = walk.asked
            if not space.labelled:
                more = np.where(asked >= 0, tests.arity[asked] - 1, 0)
                fits = leaves + len(asked) + np.cumsum(more) <= MAX_LEAVES
                asked = np.where(fits, asked, -1)
                leaves += int((asked < 0).sum())
            chosen = [tests[i] if i >= 0 else None for i in asked.tolist()]
            growing.add(chosen, walk.labels)
            domains = domains.split(chosen)
            walk.down(np.flatnonzero(asked >= 0))
        labels = walk.labels
        if progress is not None:
            progress(PER_BLOCK * (number + 1 if labels else len(depths)), PER_BLOCK * len(depths))
        if not labels:
            break
    growing.add([None] * len(labels), labels)


class Levels:
    """A tree under construction from known tests: its levels so far, and ``level``, the cells of the next one.

    A leaf costs ``epsilon``, or nothing if 0.
    """

    def __init__(self, level: Level, epsilon: Fraction) -> None:
        self.level, self._epsilon = level, epsilon
        self._tests: list[Test | None] = []
        self._labels: list[int] = []
        self._counts: list[npt.NDArray[np.float64]] = []

    def add(self, tests: Sequence[Test | None], labels: Sequence[int] | None = None) -> None:
        """Add the tests of the next level, None for a leaf, and the labels drawn with them, if any."""
        leaves = np.array([i for i, test in enumerate(tests) if test is None], dtype=np.intp)
        drawn = labels or [0] * len(tests)
        self._buy(leaves, drawn)
        self._tests += tests
        self._labels += drawn
        if leaves.size < len(tests):
            self.level = self.level.split(tests)

    def _buy(self, leaves: npt.NDArray[np.intp], labels: Sequence[int]) -> None:
        """Buy the counts of these leaves, of as many nodes as there are labels."""
        counts = np.full((len(labels), self.level.schema.n_classes), np.nan)
        if leaves.size and self._epsilon:
            counts[leaves] = self.level.class_counts_all(self._epsilon, leaves, what="leaf class counts")
        self._counts.append(counts)

    def tree(self) -> Tree:
        """The tree, which predicts by its counts."""
        return tree_of_counts(self.level.schema, self._tests, np.concatenate(self._counts))

    def labelled_tree(self) -> Tree:
        """The tree, whose leaves predict the labels they were drawn with.

        Counts grade their probabilities (``models/grading.py``); without counts each leaf is certain.
        """
        routes = Routes.in_level_order(self.level.schema, self._tests)
        counts, labels = np.concatenate(self._counts), np.array(self._labels)
        if self._epsilon:
            proba = grade(routes, counts, labels, self.level.noise_scale(self._epsilon))
            labels = np.where(routes.is_leaf, labels, proba.argmax(axis=1))
        else:
            proba = np.eye(counts.shape[1])[labels]
        return as_trees(routes, proba, counts, label=labels, draws=bought(counts))[0]


def _renumbered(drawn: Drawn, rows: npt.NDArray[np.intp]) -> Drawn:
    """A tree over a cell's own tests, renumbered by the whole space."""
    asked, labels = drawn
    return np.append(rows, -1)[asked].tolist(), labels


class _Walk:
    """The position of each cell of a level in the tree that was drawn for it; all go down a level at a time."""

    def __init__(self, drawn: Sequence[Drawn], tests: Tests) -> None:
        self._drawn = drawn
        self._arity = [np.append(tests.arity, 0)[test] for test, _ in drawn]  # test -1, the last, is a leaf
        self._first_child = [first_children(arity) for arity in self._arity]
        self._places = [(tree, 0) for tree in range(len(drawn))]

    @property
    def asked(self) -> npt.NDArray[np.intp]:
        """The test of each cell, -1 for a leaf."""
        return np.array([self._drawn[tree][0][node] for tree, node in self._places], dtype=np.intp)

    @property
    def labels(self) -> list[int]:
        return [self._drawn[tree][1][node] for tree, node in self._places]

    def down(self, split: npt.NDArray[np.intp]) -> None:
        """Go to the children of the cells that split; the others are dropped."""
        parents = [self._places[cell] for cell in split]
        self._places = [
            (tree, int(self._first_child[tree][node]) + child)
            for tree, node in parents
            for child in range(self._arity[tree][node])
        ]


@contextmanager
def _watched(progress: Progress | None, number: int, blocks: int) -> Iterator[Meter | None]:
    """A meter that the kernel writes to, and a thread that reports it while the kernel works.

    The kernel takes no callables, so it cannot report by itself.
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
