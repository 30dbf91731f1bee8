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

from privet.privacy.counting import Cells, Engine, Ints, Joint
from privet.privacy.ledger import Receipt
from privet.privacy.noise import current_source
from privet.privacy.samplers.multiway_sampler import Weights, choose
from privet.privacy.samplers.tree_space import UNDERFLOW, Drawn, Floats, Meter, TreeSpace
from privet.structure.compiled import GRAIN, call, spread

Counts = npt.NDArray[Any]  # of 32 or 64 bits

BLOCK_BYTES = 2**26  # pair counts held at a time
NARROW = 2**31 - 2  # weighted records that 32 bits can count, leaving one number larger than any count


def sample_tree(
    engine: Engine, cell: int, alone: Cells, space: TreeSpace, receipt: Receipt, meter: Meter | None = None
) -> Drawn:
    """Draw one tree for one cell of a receipt; ``alone`` is that cell as a partition of its own."""
    epsilon = receipt.redeem(np.array([cell]))
    exact = _float_down((epsilon - space.rounding(epsilon)) / space.weight_unit)
    receipt.mark(current_source().caveat)
    if space.multiway:
        return Weights(engine, alone, space, exact).draw()
    return _Sampler(engine.joint(alone, space.tests, space.depth), space, exact, meter).draw()


class _Sampler:
    """The weights of all regions of a cell, level by level from the leaves up, and a draw from the root down."""

    def __init__(self, joint: Joint, space: TreeSpace, epsilon: float, meter: Meter | None = None) -> None:
        from privet.privacy.samplers import tree_weights

        self._kernels = tree_weights
        self._joint, self._space, self._epsilon, self._meter = joint, space, epsilon, meter or Meter()
        self._n_tests, depth = len(space.tests), space.depth
        self._weights = np.array(space.class_weights, dtype=np.int64)
        self._class_counts = joint.class_counts * self._weights
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
        self._rows = self._count_rows()
        # Misses and logs of the weight of every region of k tests, by k.
        self._misses: list[Counts] = [np.empty((0, 0), dtype=self._width)] * (depth + 1)
        self._logs: list[Floats] = [np.empty((0, 0))] * (depth + 1)
        self._add_up()

    def _pairs(self, prefixes: Ints) -> Counts:
        counts = self._joint.pairs(prefixes).astype(self._width, copy=False)
        return counts if (self._weights == 1).all() else counts * self._weights.astype(self._width)[:, None]

    def _count_rows(self) -> Counts:
        rows = [(self._joint.singles * self._weights[:, None]).astype(self._width)[None]]
        for size in range(self._space.depth - 2):
            rows.append(self._pairs(_sets(self._n_tests, size)).reshape(-1, *rows[0].shape[1:]))
        return np.concatenate(rows)

    def _add_up(self) -> None:
        """From the last split up. The root needs no sum: its outcome is drawn from the single terms."""
        depth, n_tests = self._space.depth, self._n_tests
        common = self._rows, self._class_counts, self._choose, self._decay, self._space.test_prior
        for size in range(depth - 1, 0, -1):
            shape = math.comb(n_tests, size), 1 << size
            out = self._misses[size], self._logs[size] = np.empty(shape, dtype=self._width), np.empty(shape)
            priors = self._epsilon, float(self._log_leaf[size]), float(self._log_split[size])
            few = 1 + GRAIN // ((n_tests << size) + 1)
            if size < depth - 1:
                sets, deeper = _sets(n_tests, size), (self._misses[size + 1], self._logs[size + 1])
                spread(self._kernels.upper_level, len(sets), sets, *deeper, *common, *priors, *out, least=few)
                continue
            prefixes, few = _sets(n_tests, size - 1), 1 + few // (n_tests + 1)  # each is the start of many sets
            block = max(2, BLOCK_BYTES // (np.dtype(self._width).itemsize * n_tests**2 * self._space.n_classes))
            for start in range(0, len(prefixes), block):
                self._meter.done, self._meter.total = start, len(prefixes)
                some = prefixes[start : start + block]
                met = self._pairs(some)
                spread(self._kernels.last_level, len(some), some, met, *common, *priors, *out, least=few)

    # -- the draw --------------------------------------------------------------------------------------------------

    def draw(self) -> Drawn:
        tests, labels, n_classes = list[int](), list[int](), self._space.n_classes
        level: list[dict[int, bool]] = [{}]  # the tests on the way to each node, and whether its records meet them
        while level:
            deeper: list[dict[int, bool]] = []
            for path in level:
                outcome = choose(self._log_weights(path))  # a label, or beyond the labels a test
                test = max(outcome - n_classes, -1)
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
        if depth < self._space.depth - 1:
            deeper = self._misses[depth + 1], self._logs[depth + 1]
            prior = self._space.test_prior
            misses, logs = np.empty(self._n_tests, dtype=np.int64), np.empty(self._n_tests)
            call(self._kernels.split_weights, tests, signs, *deeper, self._choose, prior, misses, logs)
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
        inside = np.empty((1 << tests.size, *met.shape), dtype=self._width)
        call(self._kernels.joint_counts, tests, met, self._rows, self._choose, inside)
        yes, here = inside[signs], self._counts(tests, signs)
        misses, weights = np.empty(self._n_tests, dtype=self._width), np.empty(self._n_tests)
        call(self._kernels.last_split, yes, here, self._decay, misses, weights)
        weights[tests] = 0.0
        prior = self._space.test_prior
        left = call(self._kernels.prior_left, tests, prior)
        with np.errstate(divide="ignore"):
            return misses.astype(np.int64), np.log(prior / left) + np.log(weights)

    def _counts(self, tests: Ints, signs: int) -> Ints:
        """The weighted class counts of a region."""
        counts = np.empty((1 << tests.size, self._space.n_classes), dtype=np.int64)
        for mask in range(1 << tests.size):
            inside = tests[[bool(mask >> i & 1) for i in range(tests.size)]] if tests.size else tests
            if inside.size < max(self._space.depth, 2):
                row = call(self._kernels.row_number, inside[:-1], self._choose) if inside.size else 0
                counts[mask] = self._rows[row, :, inside[-1]] if inside.size else self._class_counts
            else:
                counts[mask] = self._pairs(inside[None, :-2])[0, inside[-2], :, inside[-1]]
        call(self._kernels.exclude, counts)
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
