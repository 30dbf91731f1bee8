"""The exact whole-tree mechanism: one draw of a labelled tree that spends its epsilon once.

A tree with tests from a public list and a label in each leaf is drawn with probability proportional to its prior times
``exp(epsilon hits)``. The score is a sum over leaves, so the normaliser factorises and the tree can be drawn from the
root down. Weights are doubles. Their error is bounded by public numbers and taken off epsilon before the draw. The
choices themselves are drawn exactly. Tests here have two children, so bitsets can count them jointly;
``multiway_sampler.py`` has the other tests. Proof: ``docs/proofs/whole_tree.md``.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from privet.privacy.concentrated import choice_epsilon
from privet.privacy.counting import Engine, Ints, Joint, Partition
from privet.privacy.ledger import Receipt
from privet.privacy.noise import current_source, declare
from privet.privacy.samplers.multiway_sampler import Weights, choose
from privet.privacy.samplers.tree_space import UNDERFLOW, Drawn, Floats, Meter, TreeSpace
from privet.structure.compiled import GRAIN, call, share, spread
from privet.structure.open_tests import Answers

Counts = npt.NDArray[Any]  # of 32 or 64 bits

BLOCK_BYTES = 2**20  # pair counts that a thread holds at a time: they stay in its cache
NARROW = 2**31 - 2  # weighted records that 32 bits can count, leaving one number larger than any count


def sample_tree(
    engine: Engine, cell: int, alone: Partition, space: TreeSpace, receipt: Receipt, meter: Meter | None = None
) -> Drawn:
    """Draw one tree for one cell of a receipt; ``alone`` is that cell as a partition of its own."""
    loss = receipt.redeem_loss(np.array([cell]))
    declare("whole tree", alone, space)
    epsilon, ends = choice_epsilon(loss), 2 if loss.rho else 1  # rounding can move both ends of a bounded range
    exact = _float_down((epsilon - ends * space.rounding(epsilon)) / space.weight_unit)
    receipt.mark(current_source().caveat)
    if space.multiway:
        return Weights(engine, alone, space, exact).draw()
    joint = engine.joint(alone, space.tests, space.depth)
    return _Sampler(joint, space, space.answers(engine.schema), exact, meter).draw()


class _Sampler:
    """The weights of all regions of a cell, level by level from the leaves up, and a draw from the root down."""

    def __init__(
        self, joint: Joint, space: TreeSpace, answers: Answers, epsilon: float, meter: Meter | None = None
    ) -> None:
        from privet.privacy.samplers import decisions, region_counts, tree_weights

        self._decisions, self._regions, self._kernels = decisions, region_counts, tree_weights
        self._joint, self._space, self._epsilon, self._meter = joint, space, epsilon, meter or Meter()
        self._n_tests, depth = len(space.tests), space.depth
        self._weights = np.array(space.class_weights, dtype=np.int64)
        # What all records of a class, beside each other, gain by each label. Doubles hold these integers exactly.
        self._gains = None if space.gains is None else np.array(space.gains, dtype=np.float64).T
        self._class_counts = self._weighted(joint.class_counts[:, None])[:, 0]
        self._choose = np.array([[math.comb(n, k) for k in range(depth + 2)] for n in range(self._n_tests + 1)])
        heaviest = int(self._class_counts.sum())
        # Half the bits, twice the speed. The integers are the same, so all results are the same.
        self._width: Any = np.int32 if heaviest <= NARROW else np.int64
        # One number at a time: the last bit of a vectorised exponential may depend on how many there are.
        decay = [math.exp(-epsilon * i) for i in range(min(heaviest, int(UNDERFLOW / epsilon)) + 1)]
        self._decay = np.array([*decay, 0.0])  # the last one stands for everything lighter
        with np.errstate(divide="ignore"):
            self._log_leaf = np.log(np.array([*space.leaf_prior, 1.0]))
            self._log_split = np.log1p(-np.array([*space.leaf_prior, 1.0]))
        self._answers = joint.met, answers
        self._forbidden = np.flatnonzero(space.test_prior == 0.0)
        self._rows = self._count_rows()
        # Misses and logs of the weight of every region of k tests, by k.
        self._misses: list[Counts] = [np.empty((0, 0), dtype=self._width)] * (depth + 1)
        self._logs: list[Floats] = [np.empty((0, 0))] * (depth + 1)
        self._add_up()

    def _pairs(self, prefixes: Ints) -> Counts:
        """A row of weighted counts, labels by tests, for every prefix and every test beyond its last."""
        counts = self._weighted(self._joint.pairs(prefixes)).astype(self._width, copy=False)
        return counts.reshape(-1, self._space.n_labels * self._n_tests)

    def _weighted(self, counts: Counts) -> Counts:
        """From (..., class, test) counts to what they gain by each label: (..., label, test)."""
        if self._gains is not None:
            return np.asarray(np.matmul(self._gains, counts.astype(np.float64))).astype(np.int64)
        return counts if (self._weights == 1).all() else counts * self._weights[:, None]

    def _count_rows(self) -> Counts:
        singles = self._weighted(self._joint.singles).astype(self._width)
        rows = [self._pairs(_sets(self._n_tests, size)) for size in range(self._space.depth - 2)]
        return np.concatenate([singles.reshape(1, -1), *rows])

    def _add_up(self) -> None:
        """From the last split up. The root needs no sum: its outcome is drawn from the single terms."""
        depth, n_tests = self._space.depth, self._n_tests
        common = self._rows, self._class_counts, self._choose, self._decay, self._space.test_prior, *self._answers
        for size in range(depth - 1, 0, -1):
            shape = math.comb(n_tests, size), 1 << size
            out = self._misses[size], self._logs[size] = np.empty(shape, dtype=self._width), np.empty(shape)
            priors = self._epsilon, float(self._log_leaf[size]), float(self._log_split[size])
            few = 1 + GRAIN // ((n_tests << size) + 1)
            if size == depth - 1:
                self._add_last(_sets(n_tests, size - 1), common, priors, out, 1 + few // (n_tests + 1))
                continue
            sets, deeper = _sets(n_tests, size), (self._misses[size + 1], self._logs[size + 1])
            spread(self._kernels.upper_level, len(sets), sets, *deeper, *common, *priors, *out, least=few)

    def _add_last(self, prefixes: Ints, common: Any, priors: Any, out: Any, few: int) -> None:
        """Each prefix is the start of many sets. They are added up where they are counted, while still in cache."""
        bytes_each = np.dtype(self._width).itemsize * self._n_tests**2 * self._space.n_labels
        block = max(1, BLOCK_BYTES // bytes_each)
        last = self._forbidden, self._width(np.iinfo(self._width).max)
        self._meter.total = len(prefixes)

        def add(start: int, stop: int) -> None:
            for first in range(start, stop, block):
                some = prefixes[first : min(first + block, stop)]
                met = self._pairs(some)
                call(self._kernels.last_level, 0, len(some), some, met, *common, *last, *priors, *out)
                self._meter.done += len(some)

        share(add, len(prefixes), least=few)

    # -- the draw --------------------------------------------------------------------------------------------------

    def draw(self) -> Drawn:
        tests, labels, n_labels = list[int](), list[int](), self._space.n_labels
        level: list[dict[int, bool]] = [{}]  # the tests on the way to each node, and whether its records meet them
        while level:
            deeper: list[dict[int, bool]] = []
            for path in level:
                outcome = choose(self._log_weights(path))  # a label, or beyond the labels a test
                test = max(outcome - n_labels, -1)
                tests.append(test)
                labels.append(outcome if test < 0 else 0)
                if test >= 0:
                    met = int(self._joint.met[test])
                    deeper += [{**path, test: child == met} for child in (0, 1)]
            level = deeper
        return tests, labels

    def _log_weights(self, path: dict[int, bool]) -> Floats:
        """Of every label as a leaf here, then of every test."""
        depth = len(path)
        tests = np.array(sorted(path), dtype=np.int64)
        signs = sum(1 << i for i, test in enumerate(tests) if path[int(test)])
        stop, misses, logs = self._log_leaf[depth], np.empty(0, dtype=np.int64), np.empty(0)
        if depth < self._space.depth:
            prior, left = self._open_prior(tests, signs)
            if left == 0.0:  # a leaf for sure
                stop = 0.0
            elif depth == self._space.depth - 1:
                misses, logs = self._last_split(tests, signs, prior / left)
            else:
                deeper = self._misses[depth + 1], self._logs[depth + 1]
                misses, logs = np.empty(self._n_tests, dtype=np.int64), np.empty(self._n_tests)
                call(self._kernels.split_weights, tests, signs, *deeper, self._choose, prior, left, misses, logs)
        counts = self._counts(tests, signs)
        all_misses = np.concatenate([counts.sum() - counts, misses])
        labels = np.full(counts.size, stop - math.log(counts.size))
        all_logs = np.concatenate([labels, self._log_split[depth] + logs])
        behind = all_misses - all_misses[np.isfinite(all_logs)].min()
        return np.asarray(all_logs - self._epsilon * behind)

    def _open_prior(self, tests: Ints, signs: int) -> tuple[Floats, float]:
        """The prior of the tests that a region leaves open, 0 for the others; and its sum, as the kernels add it up."""
        prior = np.empty(self._n_tests)
        left = call(self._decisions.open_prior, tests, signs, *self._answers, self._space.test_prior, prior)
        return prior, left

    def _last_split(self, tests: Ints, signs: int, prior: Floats) -> tuple[Ints, Floats]:
        inside = np.array([self._row(tests[_in(mask, tests.size)]) for mask in range(1 << tests.size)])
        call(self._regions.exclude, inside)
        yes = inside[signs].reshape(-1, self._n_tests).astype(np.int64)  # (class, test)
        misses, weights = np.zeros(self._n_tests, dtype=np.int64), np.ones(self._n_tests)
        for leaf in (yes, self._counts(tests, signs)[:, None] - yes):  # as the kernel does it
            best = leaf.max(axis=0)
            misses += leaf.sum(axis=0) - best
            near = self._decay[np.minimum(best - leaf, self._decay.size - 1)]
            weights *= sum(near[1:], start=near[0])
        weights /= len(yes) ** 2
        with np.errstate(divide="ignore"):
            return misses, np.log(prior) + np.log(weights)

    def _counts(self, tests: Ints, signs: int) -> Ints:
        """The weighted class counts of a region."""
        counts = np.empty((1 << tests.size, self._space.n_labels), dtype=self._width)
        counts[0] = self._class_counts
        for mask in range(1, 1 << tests.size):
            *others, last = tests[_in(mask, tests.size)]
            counts[mask] = self._row(np.array(others, dtype=np.int64))[last :: self._n_tests]
        call(self._regions.exclude, counts)
        return np.asarray(counts[signs], dtype=np.int64)

    def _row(self, tests: Ints) -> Counts:
        """The counts of classes by tests where all of some sorted tests are met."""
        if tests.size < max(self._space.depth - 1, 1):
            row = call(self._regions.row_number, tests, (1 << tests.size) - 1, self._choose)
            return np.asarray(self._rows[row])
        return np.asarray(self._pairs(tests[None, :-1])[tests[-1]])


def _in(mask: int, size: int) -> npt.NDArray[np.bool_]:
    return np.array([bool(mask >> i & 1) for i in range(size)], dtype=np.bool_)


def _sets(n_tests: int, size: int) -> Ints:
    """All sorted sets of a size, in colexicographic order."""
    if size == 0:
        return np.zeros((1, 0), dtype=np.int64)
    lexicographic = np.array(list(combinations(range(n_tests), size)), dtype=np.int64)
    return lexicographic[np.lexsort(lexicographic.T)]


def _float_down(value: Fraction) -> float:
    nearest = float(value)
    return nearest if Fraction(nearest) <= value else math.nextafter(nearest, 0.0)
