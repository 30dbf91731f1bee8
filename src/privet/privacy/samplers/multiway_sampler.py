"""Trees of multiway tests in one draw: the exponential mechanism over all trees of a space, sampled exactly.

A tree is drawn with probability proportional to its prior times ``exp(epsilon q / S)``. Either its leaves carry labels
and q is the number of records that it classifies correctly (S = 1), or they carry nothing and q is the Gini score over
them (S = 2); one record moves either to one side only. The score is a sum over leaves, so the normaliser factorises:
weights are added up from the leaves and the tree is drawn from the root down. Proof: ``docs/proofs/embedded.md``.
"""

from __future__ import annotations

import math
from bisect import bisect
from itertools import combinations
from typing import Any

import numpy as np

from privet.privacy.counting import Engine, Ints
from privet.privacy.noise import current_source
from privet.privacy.samplers.tree_space import Drawn, Floats, TreeSpace
from privet.privacy.scores import Gini
from privet.structure.splits import Test

Path = tuple[int, ...]


class Weights:
    """Log weights of every test in every region of a cell: ``terms[path][values]`` has one for each test.

    A path is the sorted tuple of tests that were asked, its values index the axes in that order; -inf where a test is
    not allowed. ``leaves`` has the log weight of an early leaf there, ``sums`` the log of what all of it adds up to.
    """

    def __init__(self, engine: Engine, cells: Any, space: TreeSpace, epsilon: float) -> None:
        self._engine, self._cells, self._space, self._epsilon = engine, cells, space, epsilon
        with np.errstate(divide="ignore"):
            self._log_leaf = np.log([*space.leaf_prior, 1.0])
        self._usable = np.flatnonzero(space.test_prior > 0).tolist()
        self.terms: dict[Path, Floats] = {}
        self._leaves: dict[Path, Floats] = {}
        self._sums: dict[Path, Floats] = {}
        if space.depth:
            self._count(cells, ())
        for size in range(space.depth - 2, -1, -1):
            self._sums = {path: self._sum(path) for path in self.terms if len(path) == size + 1}
            for path in combinations(self._usable, size):
                self.terms[path] = self._add_up(path)

    def _count(self, cells: Any, path: Path) -> None:
        """The leaves and the last split: one counting pass for every set of tests that can stand above them."""
        tests, shape = self._space.tests, self._shape(path)
        self._leaves[path] = self._log_leaf[len(path)] + self._leaf(self._engine.class_counts(cells)).reshape(shape)
        if len(path) == self._space.depth - 1:
            in_bins = self._leaf(self._engine.counts(cells))
            by_test = np.add.reduceat(in_bins, self._engine.schema.offsets[:-1], axis=1)[:, tests.attribute]
            self.terms[path] = by_test.reshape(*shape, len(tests)) + self._log_prior(path)
            return
        for test in self._usable:
            if not path or test > path[-1]:
                self._count(self._engine.refine(cells, [tests[test]] * cells.size), (*path, test))

    def _add_up(self, path: Path) -> Floats:
        terms = np.tile(self._log_prior(path), (*self._shape(path), 1))
        for test in self._usable:
            if test not in path:
                at = bisect(path, test)
                terms[..., test] += self._sums[(*path[:at], test, *path[at:])].sum(axis=at)
        return terms

    def _sum(self, path: Path) -> Floats:
        return _log_sum(np.concatenate([self._leaves[path][..., None], self.terms[path]], axis=-1))

    def _shape(self, path: Path) -> tuple[int, ...]:
        return tuple(self._space.tests.arity[list(path)].tolist())

    def _log_prior(self, path: Path) -> Floats:
        """Of every test below a path: that there is no leaf, and this one among those that are left."""
        left = self._space.test_prior.copy()
        left[list(path)] = 0.0
        with np.errstate(divide="ignore"):
            log_prior = np.log(left > 0 if self._space.by_subtree else left / left.sum())
        return np.asarray(log_prior + np.log1p(-np.exp(self._log_leaf[len(path)])))

    def _labels(self, counts: Ints) -> Floats:
        """(..., label) log weights of a leaf's labels, scored by minus misses since logs are then small; or none."""
        if not self._space.labelled:
            return np.empty((*counts.shape[:-1], 0))
        weighted = counts * np.array(self._space.class_weights)
        misses = weighted.sum(axis=-1, keepdims=True) - weighted
        return np.asarray(-self._epsilon * misses - math.log(self._space.n_classes))

    def _leaf(self, counts: Ints) -> Floats:
        return _log_sum(self._labels(counts)) if self._space.labelled else self._epsilon / 2 * Gini().node(counts)

    # -- the draw --------------------------------------------------------------------------------------------------

    def draw(self) -> Drawn:
        tests, drawn_labels, cells = list[int](), list[int](), self._cells
        level: list[dict[int, int]] = [{}]  # the tests on the way to each node, and what its records answer
        while level:
            labels = self._labels(self._engine.class_counts(cells))
            here: list[Test | None] = []
            deeper: list[dict[int, int]] = []
            for path, mine in zip(level, labels, strict=True):
                weights = self.log_weights(path, mine)
                outcome = choose(weights) if weights.size else -1  # a leaf without labels
                test = max(outcome - mine.size, -1)
                tests.append(test)
                drawn_labels.append(max(outcome, 0) if test < 0 else 0)
                here.append(self._space.tests[test] if test >= 0 else None)
                deeper += [{**path, test: value} for value in range(self._shape((test,))[0] if test >= 0 else 0)]
            level = deeper
            cells = self._engine.refine(cells, here) if level else cells
        return tests, drawn_labels

    def log_weights(self, path: dict[int, int], labels: Floats) -> Floats:
        """Of every label as a leaf here, then of every test."""
        leaf, asked = self._log_leaf[len(path)] + labels, tuple(sorted(path))
        tests = self.terms[asked][tuple(path[test] for test in asked)] if len(path) < self._space.depth else []
        return np.append(leaf, tests)


def choose(log_weights: Floats) -> int:
    """An outcome by its weight. What weighs nothing the prior forbids, so that the others are a public set."""
    possible = np.flatnonzero(np.isfinite(log_weights))
    return int(possible[current_source().exponential(log_weights[possible], 1.0)])


def _log_sum(terms: Floats) -> Floats:
    most = terms.max(axis=-1, keepdims=True)
    return np.asarray(most[..., 0] + np.log(np.exp(terms - most).sum(axis=-1)))
