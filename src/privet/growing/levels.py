"""A tree under construction whose tests are known. It is built level by level, and buys class counts in its leaves."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from privet.privacy.frontier import Frontier
from privet.structure.routes import Routes
from privet.structure.splits import Test
from privet.trees.leaf_counts import as_trees, bought, shares, tree_of_counts
from privet.trees.tree import Tree

TIE = 1e-6  # added to the share of a leaf's label, so that it also wins ties


class Levels:
    """The levels so far, and ``frontier``, the cells of the next one. A leaf costs ``epsilon``, or nothing if 0."""

    def __init__(self, frontier: Frontier, epsilon: Fraction) -> None:
        self.frontier = frontier
        self._epsilon = epsilon
        self._tests: list[Test | None] = []
        self._labels: list[int] = []
        self._counts: list[npt.NDArray[np.float64]] = []

    def add(self, tests: Sequence[Test | None], labels: Sequence[int] | None = None) -> None:
        """The tests of the next level, None for a leaf, and the labels that were drawn with them, if any were."""
        counts = np.full((len(tests), self.frontier.schema.n_classes), np.nan)
        leaves = np.array([i for i, test in enumerate(tests) if test is None], dtype=np.intp)
        if leaves.size and self._epsilon:
            counts[leaves] = self.frontier.class_counts_all(self._epsilon, leaves, what="leaf class counts")
        self._tests += tests
        self._labels += labels or [0] * len(tests)
        self._counts.append(counts)
        if leaves.size < len(tests):
            self.frontier = self.frontier.split(tests)

    def tree(self) -> Tree:
        """The tree whose nodes say what their counts say."""
        return tree_of_counts(self.frontier.schema, self._tests, np.concatenate(self._counts))

    def labelled_tree(self) -> Tree:
        """The tree whose leaves predict their labels. Where counts disagree with the label, its share and the largest
        share change places."""
        routes = Routes.in_level_order(self.frontier.schema, self._tests)
        counts, labels = np.concatenate(self._counts), np.array(self._labels)
        rows = np.arange(len(labels))
        if np.isnan(counts).all():
            proba = np.eye(counts.shape[1])[labels]
        else:
            proba = shares(counts)
            largest = proba.argmax(axis=1)
            proba[rows, labels], proba[rows, largest] = proba[rows, largest], proba[rows, labels].copy()
            proba *= 1 - TIE
            proba[rows, labels] += TIE
        return as_trees(routes, proba, counts, label=labels, draws=bought(counts))[0]
