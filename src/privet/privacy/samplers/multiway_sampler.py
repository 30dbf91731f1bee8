"""Trees of multiway tests in one draw: the exponential mechanism over all trees of a space, sampled exactly.

A tree is drawn with probability proportional to its prior times ``exp(epsilon q / S)``. If its leaves carry labels, q
is the number of records that it classifies correctly (S = 1). If not, q is the Gini score over the leaves (S = 2). One
record moves either score to one side only. The score is a sum over leaves, so the normaliser factorises: weights are
added up from the leaves, and the tree is drawn from the root down. Proof: ``docs/proofs/embedded.md``.
"""

from __future__ import annotations

import math
from bisect import bisect
from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from privet.privacy.counting import Engine, Ints, Partition, class_counts, refine, tuple_counts
from privet.privacy.noise import current_source
from privet.privacy.samplers.tree_space import MAX_ENTRIES, Drawn, Floats, TreeSpace
from privet.privacy.scores import Gini
from privet.structure.splits import Test

Path = tuple[int, ...]


class Weights:
    """Log weights of every test in every region of a cell: ``terms[path][values]`` has one for each test.

    A path is the sorted tuple of tests that were asked. Its values index the axes in that order. The weight is -inf
    where a test is not allowed.
    """

    def __init__(self, engine: Engine, cells: Partition, space: TreeSpace, epsilon: float) -> None:
        self._engine, self._cells, self._space, self._epsilon = engine, cells, space, epsilon
        with np.errstate(divide="ignore"):
            self._log_leaf = np.log([*space.leaf_prior, 1.0])
        self._usable = np.flatnonzero(space.test_prior > 0).tolist()
        self.terms: dict[Path, Floats] = {}
        self._counts: dict[Path, Ints] = {}  # class counts of the regions above full depth
        self._sums: dict[Path, Floats] = {}
        if space.depth:
            self._count()
        for size in range(space.depth - 2, -1, -1):
            self._sums = {path: self._sum(path) for path in self.terms if len(path) == size + 1}
            for path in combinations(self._usable, size):
                self.terms[path] = self._add_up(path)

    def _count(self) -> None:
        """The last split. Every set of ``depth`` tests is counted once, for each of its tests as the last one."""
        depth = self._space.depth
        for path in combinations(self._usable, depth - 1):
            self.terms[path] = np.tile(self._log_prior(path), (*self._shape(path), 1))
        for full in self._batches(list(combinations(self._usable, depth))):
            attributes = [tuple(self._space.tests.attribute[list(path)].tolist()) for path in full]
            for path, counted in zip(full, tuple_counts(self._engine, self._cells, attributes), strict=True):
                leaves = self._leaf(counted[0])
                for place, last in enumerate(path):
                    above = (*path[:place], *path[place + 1 :])
                    self.terms[above][..., last] += leaves.sum(axis=place)
                    if above not in self._counts:
                        self._counts[above] = counted[0].sum(axis=place)
        for size in range(depth - 2, -1, -1):
            for path in combinations(self._usable, size):
                at, longer = _insert(path, next(test for test in self._usable if test not in path))
                self._counts[path] = self._counts[longer].sum(axis=at)

    def _batches(self, paths: list[Path]) -> Iterator[list[Path]]:
        """Sets of tests that are counted in one pass: as many as memory has room for."""
        batch: list[Path] = []
        room = 0
        for path in paths:
            size = math.prod(self._shape(path)) * self._space.n_classes
            if batch and room < size:
                yield batch
                batch = []
            room = (room if batch else MAX_ENTRIES) - size
            batch.append(path)
        yield batch

    def _add_up(self, path: Path) -> Floats:
        terms = np.tile(self._log_prior(path), (*self._shape(path), 1))
        for test in self._usable:
            if test not in path:
                at, longer = _insert(path, test)
                terms[..., test] += self._sums[longer].sum(axis=at)
        return terms

    def _sum(self, path: Path) -> Floats:
        leaf = self._log_leaf[len(path)] + self._leaf(self._counts[path])
        return _log_sum(np.concatenate([leaf[..., None], self.terms[path]], axis=-1))

    def _shape(self, path: Path) -> tuple[int, ...]:
        return tuple(self._space.tests.arity[list(path)].tolist())

    def _log_prior(self, path: Path) -> Floats:
        """Of every test below a path: the chance of no leaf, and of this test among those that are left."""
        left = self._space.test_prior.copy()
        left[list(path)] = 0.0
        with np.errstate(divide="ignore"):
            log_prior = np.log(left > 0 if self._space.by_subtree else left / left.sum())
        return np.asarray(log_prior + np.log1p(-np.exp(self._log_leaf[len(path)])))

    def _labels(self, counts: Ints) -> Floats:
        """(..., label) log weights of a leaf's labels, or none. Scores are minus misses, which keeps logs small."""
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
            here: list[Test | None] = []
            deeper: list[dict[int, int]] = []
            for path, counted in zip(level, self._class_counts(level, cells), strict=True):
                labels = self._labels(counted)
                weights = self.log_weights(path, labels)
                outcome = choose(weights) if weights.size else -1  # a leaf without labels
                test = max(outcome - labels.size, -1)
                tests.append(test)
                drawn_labels.append(max(outcome, 0) if test < 0 else 0)
                here.append(self._space.tests[test] if test >= 0 else None)
                deeper += [{**path, test: value} for value in range(self._shape((test,))[0] if test >= 0 else 0)]
            level = deeper
            cells = refine(cells, self._engine.schema, here) if level else cells
        return tests, drawn_labels

    def _class_counts(self, level: list[dict[int, int]], cells: Partition) -> Sequence[Ints]:
        """Of every node of a level. Known already, except at full depth, where records are counted again."""
        if len(level[0]) == self._space.depth:
            return list(class_counts(self._engine, cells))
        asked = [tuple(sorted(path)) for path in level]
        return [self._counts[tests][tuple(path[t] for t in tests)] for tests, path in zip(asked, level, strict=True)]

    def log_weights(self, path: dict[int, int], labels: Floats) -> Floats:
        """Of every label as a leaf here, then of every test."""
        leaf, asked = self._log_leaf[len(path)] + labels, tuple(sorted(path))
        tests = self.terms[asked][tuple(path[test] for test in asked)] if len(path) < self._space.depth else []
        return np.append(leaf, tests)


def choose(log_weights: Floats) -> int:
    """An outcome by its weight. Only the prior makes a weight zero, so the others are a public set."""
    possible = np.flatnonzero(np.isfinite(log_weights))
    return int(possible[current_source().branching(log_weights[possible])])


def _insert(path: Path, test: int) -> tuple[int, Path]:
    """A path with one more test, and the place of that test in it."""
    at = bisect(path, test)
    return at, (*path[:at], test, *path[at:])


def _log_sum(terms: Floats) -> Floats:
    most = terms.max(axis=-1, keepdims=True)
    return np.asarray(most[..., 0] + np.log(np.exp(terms - most).sum(axis=-1)))
