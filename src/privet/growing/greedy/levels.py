"""A tree under construction whose tests are known. It is built level by level, and buys class counts in its leaves."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from privet.models.grading import grade
from privet.models.leaf_counts import as_trees, bought, tree_of_counts
from privet.models.tree import Tree
from privet.privacy.level import Level
from privet.structure.routes import Routes
from privet.structure.splits import Test


class Levels:
    """The levels so far, and ``level``, the cells of the next one. A leaf costs ``epsilon``, or nothing if 0.

    ``steps`` are those of the neighbour relation: the noise of a leaf's counts has scale ``steps`` / ``epsilon``.
    """

    def __init__(self, level: Level, epsilon: Fraction, steps: int = 1) -> None:
        self.level = level
        self._epsilon, self._steps = epsilon, steps
        self._tests: list[Test | None] = []
        self._labels: list[int] = []
        self._counts: list[npt.NDArray[np.float64]] = []

    def add(self, tests: Sequence[Test | None], labels: Sequence[int] | None = None) -> None:
        """The tests of the next level, None for a leaf, and the labels that were drawn with them, if any were."""
        counts = np.full((len(tests), self.level.schema.n_classes), np.nan)
        leaves = np.array([i for i, test in enumerate(tests) if test is None], dtype=np.intp)
        if leaves.size and self._epsilon:
            counts[leaves] = self.level.class_counts_all(self._epsilon, leaves, what="leaf class counts")
        self._tests += tests
        self._labels += labels or [0] * len(tests)
        self._counts.append(counts)
        if leaves.size < len(tests):
            self.level = self.level.split(tests)

    def tree(self) -> Tree:
        """The tree whose nodes say what their counts say."""
        return tree_of_counts(self.level.schema, self._tests, np.concatenate(self._counts))

    def labelled_tree(self) -> Tree:
        """The tree whose leaves predict the labels they were drawn with.

        Counts grade how sure they are (``models/grading.py``); without counts each is certain of its label.
        """
        routes = Routes.in_level_order(self.level.schema, self._tests)
        counts, labels = np.concatenate(self._counts), np.array(self._labels)
        if self._epsilon:
            proba = grade(routes, counts, labels, float(self._steps / self._epsilon))
            labels = np.where(routes.is_leaf, labels, proba.argmax(axis=1))
        else:
            proba = np.eye(counts.shape[1])[labels]
        return as_trees(routes, proba, counts, label=labels, draws=bought(counts))[0]
