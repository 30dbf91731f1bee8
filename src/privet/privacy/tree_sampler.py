"""The exact whole-tree mechanism: one draw of a labelled tree that spends its epsilon once.

A tree with tests from a public list and a label in each leaf is drawn with probability proportional to its prior times
``exp(epsilon hits)``. The score is a sum over leaves, so the normaliser factorises and the tree can be drawn from the
root down. Weights are doubles; their error is bounded from public numbers and taken off epsilon before the draw, and
the choices themselves are drawn exactly. Proof: ``docs/proofs/whole_tree.md``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import combinations
from typing import Protocol

import numpy as np
import numpy.typing as npt

from privet.errors import ParameterError
from privet.privacy.ledger import Receipt
from privet.privacy.noise import current_source
from privet.splits import Tests

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Progress = Callable[[int, int], None]

BLOCK_BYTES = 2**26  # pair counts held at a time
SMALLEST_PRIOR = 1e-9
UNDERFLOW = 700.0  # exp(-700) is still a double of full precision; what is lighter than that beside 1 is left out
MAX_RECORDS = 2**27  # a public bound on any table: so many, times sixteenths of class weights, a 32-bit count holds


class Joint(Protocol):
    """Exact joint counts of binary tests in one cell, for this file's eyes only."""

    class_counts: Ints
    singles: Ints
    met: Ints

    def pairs(self, prefixes: Ints) -> npt.NDArray[np.int32]: ...


@dataclass(frozen=True, eq=False)
class TreeSpace:
    """The public space that a tree is drawn from.

    At depth k a node is a leaf with probability ``leaf_prior[k]`` (at full depth always), else it carries a test drawn
    by ``test_prior`` among those not yet on its path; labels are uniform. ``class_weights / weight_unit`` in [0, 1] is
    what a hit of each class counts.
    """

    tests: Tests
    n_classes: int
    leaf_prior: tuple[float, ...]
    test_prior: Floats
    class_weights: tuple[int, ...]
    weight_unit: int = 1

    def __post_init__(self) -> None:
        prior = np.asarray(self.test_prior, dtype=np.float64)
        none_left = len(prior) > 0 and not prior.sum()  # without any test there is still a leaf
        if prior.shape != (len(self.tests),) or not np.isfinite(prior).all() or (prior < 0).any() or none_left:
            raise ParameterError("test_prior must give every test a weight of at least 0, and some test more than 0")
        if any(self.tests.arity != 2):
            raise ParameterError("tests must be binary: thresholds, or one category against the rest")
        if (prior[prior > 0] < SMALLEST_PRIOR * prior.sum()).any():
            raise ParameterError("test_prior has a weight that is positive but negligible; use 0 to forbid a test")
        if not all(p == 0.0 or SMALLEST_PRIOR <= p <= 1.0 - SMALLEST_PRIOR for p in self.leaf_prior):
            raise ParameterError("leaf_prior must be 0, or lie inside (0, 1)")
        if (prior > 0).sum() < self.depth:
            raise ParameterError(f"depth {self.depth} needs as many tests of positive prior; lower max_depth")
        if not 1 <= self.weight_unit <= 16:
            raise ParameterError("weight_unit must lie between 1 and 16: weighted counts have 32 bits")
        if len(self.class_weights) != self.n_classes or not all(0 <= w <= self.weight_unit for w in self.class_weights):
            raise ParameterError("class_weights must give each class a weight between 0 and 1")
        object.__setattr__(self, "test_prior", prior / prior.sum())

    @property
    def depth(self) -> int:
        return len(self.leaf_prior)

    def of_depth(self, depth: int) -> TreeSpace:
        """The same space with its first ``depth`` levels only."""
        return replace(self, leaf_prior=self.leaf_prior[:depth])

    def rounding(self, epsilon: Fraction) -> Fraction:
        """A bound on what rounding adds to the loss of a draw at ``epsilon``, from public numbers only."""
        n_tests, levels = len(self.tests), self.depth + 1
        ulp = Fraction(1, 2**52)
        logs = 2**levels * 64  # no log is larger: at most 2**levels nodes, each of prior above exp(-64)
        step = ulp * (4 * (n_tests + 4 * self.n_classes) + 8 * int(UNDERFLOW) + 8 * logs)
        error: Fraction = step * (2**levels - 1)  # of a log weight with k splits left: e(k) <= 2 e(k-1) + step
        error += 2 * ulp * epsilon * MAX_RECORDS  # misses times epsilon, rounded once, at the draw itself
        # A choice has a weight by a sum of weights, so its log is off by twice that: in each level, on two tables.
        return 2 * levels * 2 * error

    def check(self, epsilon: Fraction) -> None:
        """Refuse an epsilon that rounding would eat up, before anything is charged."""
        if self.rounding(epsilon) > epsilon / 2:
            raise ParameterError(
                f"epsilon {float(epsilon):g} is too small for exact weights in a space of this size; "
                "use fewer tests, or a lower max_depth"
            )


@dataclass
class Sketch:
    """A drawn tree as columns, parents before children; test -1 marks a leaf, whose label is its class code."""

    test: list[int] = field(default_factory=list)
    first_child: list[int] = field(default_factory=list)
    label: list[int] = field(default_factory=list)
    at_full_depth: list[bool] = field(default_factory=list)


def sample_tree(
    joint: Joint, space: TreeSpace, receipt: Receipt, cell: int, progress: Progress | None = None
) -> Sketch:
    """Draw one labelled tree for one cell of a receipt."""
    epsilon = receipt.redeem(np.array([cell]))
    exact = epsilon - space.rounding(epsilon)
    receipt.mark(current_source().caveat)
    return _Sampler(joint, space, _float_down(exact / space.weight_unit), progress).draw()


class _Sampler:
    """The weights of all regions of a cell, level by level from the leaves up, and a draw from the root down."""

    def __init__(self, joint: Joint, space: TreeSpace, epsilon: float, progress: Progress | None) -> None:
        from privet.privacy import tree_weights

        self._kernels = tree_weights
        self._joint, self._space, self._epsilon = joint, space, epsilon
        self._n_tests, depth = len(space.tests), space.depth
        self._weights = np.array(space.class_weights, dtype=np.int64)
        self._class_counts = joint.class_counts * self._weights
        self._choose = np.array([[math.comb(n, k) for k in range(depth + 2)] for n in range(self._n_tests + 1)])
        heaviest = int(self._class_counts.sum())
        # One number at a time: the last bit of a vectorised exponential may depend on how many there are.
        self._decay = np.array([math.exp(-epsilon * i) for i in range(min(heaviest, int(UNDERFLOW / epsilon)) + 1)])
        with np.errstate(divide="ignore"):
            self._log_leaf = np.log(np.array([*space.leaf_prior, 1.0]))
            self._log_split = np.log1p(-np.array([*space.leaf_prior, 1.0]))
        self._rows = self._count_rows()
        # Misses and logs of the weight of every region of k tests, by k.
        self._misses: list[npt.NDArray[np.int32]] = [np.empty((0, 0), dtype=np.int32)] * (depth + 1)
        self._logs: list[Floats] = [np.empty((0, 0))] * (depth + 1)
        self._add_up(progress)

    def _pairs(self, prefixes: Ints) -> npt.NDArray[np.int32]:
        counts = self._joint.pairs(prefixes)
        return counts if (self._weights == 1).all() else counts * self._weights.astype(np.int32)[:, None]

    def _count_rows(self) -> npt.NDArray[np.int32]:
        rows = [(self._joint.singles * self._weights[:, None]).astype(np.int32)[None]]
        for size in range(self._space.depth - 2):
            rows.append(self._pairs(_sets(self._n_tests, size)).reshape(-1, *rows[0].shape[1:]))
        return np.concatenate(rows)

    def _add_up(self, progress: Progress | None) -> None:
        """From the last split up; the root itself is drawn from its terms, and nobody reads their sum."""
        depth, n_tests = self._space.depth, self._n_tests
        common = self._rows, self._class_counts, self._choose, self._decay, self._space.test_prior
        for size in range(depth - 1, 0, -1):
            shape = math.comb(n_tests, size), 1 << size
            out = self._misses[size], self._logs[size] = np.empty(shape, dtype=np.int32), np.empty(shape)
            priors = self._epsilon, float(self._log_leaf[size]), float(self._log_split[size])
            if size < depth - 1:
                deeper = self._misses[size + 1], self._logs[size + 1]
                self._kernels.upper_level(_sets(n_tests, size), *deeper, *common, *priors, *out)
                continue
            prefixes = _sets(n_tests, size - 1)
            block = max(2, BLOCK_BYTES // (4 * n_tests**2 * self._space.n_classes))
            for start in range(0, len(prefixes), block):
                some = prefixes[start : start + block]
                self._kernels.last_level(some, self._pairs(some), *common, *priors, *out)
                if progress is not None:
                    progress(min(start + block, len(prefixes)), len(prefixes))

    # -- the draw --------------------------------------------------------------------------------------------------

    def draw(self) -> Sketch:
        sketch, n_classes = Sketch(), self._space.n_classes
        level: list[dict[int, bool]] = [{}]  # the tests on the way to each node, and whether its records meet them
        while level:
            deeper: list[dict[int, bool]] = []
            next_child = len(sketch.test) + len(level)
            for path in level:
                weights = self._log_weights(path)
                possible = np.flatnonzero(np.isfinite(weights))  # what the prior allows, a public set
                outcome = int(possible[current_source().exponential(weights[possible], 1.0)])
                test = outcome - n_classes
                sketch.at_full_depth.append(len(path) == self._space.depth)
                sketch.label.append(outcome if test < 0 else 0)
                sketch.test.append(max(test, -1))
                sketch.first_child.append(next_child + len(deeper) if test >= 0 else -1)
                if test >= 0:
                    met = int(self._joint.met[test])
                    deeper += [{**path, test: child == met} for child in (0, 1)]
            level = deeper
        return sketch

    def _log_weights(self, path: dict[int, bool]) -> Floats:
        """Of every label as a leaf here, then of every test."""
        depth = len(path)
        tests = np.array(sorted(path), dtype=np.int64)
        signs = sum(1 << i for i, test in enumerate(tests) if path[int(test)])
        if depth < self._space.depth - 1:
            deeper = self._misses[depth + 1], self._logs[depth + 1]
            misses, logs = self._kernels.split_weights(tests, signs, *deeper, self._choose, self._space.test_prior)
        elif depth == self._space.depth - 1:
            misses, logs = self._last_split(tests, signs)
        else:
            misses, logs = np.empty(0, dtype=np.int64), np.empty(0)
        counts = self._counts(tests, signs)
        all_misses = np.concatenate([counts.sum() - counts, misses])
        labels = np.full(counts.size, self._log_leaf[depth] - math.log(counts.size))
        all_logs = np.concatenate([labels, self._log_split[depth] + logs])
        behind = all_misses - all_misses[np.isfinite(all_logs)].min()
        return np.asarray(all_logs - self._epsilon * behind)

    def _last_split(self, tests: Ints, signs: int) -> tuple[Ints, Floats]:
        met = self._pairs(tests[None, :-1])[0, tests[-1]] if tests.size else self._rows[0]
        shape = 1 << tests.size, self._n_tests
        misses, weights = np.empty(shape, dtype=np.int64), np.empty(shape)
        scratch = np.empty((shape[0], *met.shape), dtype=np.int32)
        self._kernels.last_split(
            tests, met, self._rows, self._class_counts, self._choose, self._decay, scratch, misses, weights
        )
        prior = self._space.test_prior
        with np.errstate(divide="ignore"):
            return misses[signs], np.log(prior / self._kernels.prior_left(tests, prior)) + np.log(weights[signs])

    def _counts(self, tests: Ints, signs: int) -> Ints:
        """The weighted class counts of a region."""
        counts = np.empty((1 << tests.size, self._space.n_classes), dtype=np.int64)
        for mask in range(1 << tests.size):
            inside = self._kernels.subset(tests, mask)
            if inside.size < max(self._space.depth, 2):
                row = self._kernels.row_number(inside[:-1], self._choose) if inside.size else 0
                counts[mask] = self._rows[row, :, inside[-1]] if inside.size else self._class_counts
            else:
                counts[mask] = self._pairs(inside[None, :-2])[0, inside[-2], :, inside[-1]]
        for i in range(tests.size):
            for mask in range(1 << tests.size):
                if not mask >> i & 1:
                    counts[mask] -= counts[mask | 1 << i]
        return np.asarray(counts[signs])


def _sets(n_tests: int, size: int) -> Ints:
    """All sorted sets of a size, in colexicographic order."""
    if size == 0:
        return np.zeros((1, 0), dtype=np.int64)
    lexicographic = np.array(list(combinations(range(n_tests), size)), dtype=np.int64)
    return lexicographic[np.lexsort(lexicographic.T)]


def _float_down(value: Fraction) -> float:
    nearest = float(value)
    return nearest if Fraction(nearest) <= value else math.nextafter(nearest, 0.0)
