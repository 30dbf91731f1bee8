"""Public spaces of trees, and the trees that are drawn from them. Nothing here has seen a record.

A space says which trees there are and how likely each is before any record is seen. From public numbers alone it bounds
what rounding can add to the loss of a draw, and how much memory a draw takes. Proofs: ``docs/proofs/whole_tree.md`` and
``docs/proofs/embedded.md``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from privet.errors import ParameterError
from privet.privacy import scores
from privet.schema import Schema
from privet.structure.open_tests import Answers, open_tests
from privet.structure.splits import Kind, Tests

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Index = npt.NDArray[np.intp]

SMALLEST_PRIOR = 1e-9
UNDERFLOW = 700.0  # exp(-700) is still a double of full precision; a weight smaller than that beside 1 is left out
MAX_ENTRIES = 2**25  # weights, or counts, that a draw of multiway tests holds: a quarter of a gigabyte
MOST_UNIT = 2**10  # of weights and gains: finer ones make tables of weights larger, and no tree better
LOG_PRIOR = 64  # more than the log of the prior of any node, and than twice the log of any number of tests or classes


@dataclass(frozen=True, eq=False)
class TreeSpace:
    """The public space that a tree is drawn from.

    At depth k a node is a leaf with probability ``leaf_prior[k]`` (at full depth always, and where no test is open).
    Else it carries a test, drawn by ``test_prior`` among the open ones: those of which each child can still be reached,
    by the tests on the path and the ``possible`` bins of the schema (all by default). Labels are uniform.
    ``class_weights / weight_unit`` in [0, 1] is what a hit of each class counts. Either all tests have two children, or
    all are multiway, with one test for an attribute.

    With ``gains`` the labels are others than the classes: ``gains[c][v] / weight_unit`` in [0, 1] is what a record of
    class c counts in a leaf with label v. So classes can be bins of a number, and labels the values of a leaf.

    Without labels (``labelled=False``) trees are scored by Gini, and leaves are at full depth only. ``by_subtree`` then
    gives every tree the same prior. That favours tests with many children, since more trees have them.
    """

    tests: Tests
    n_classes: int
    leaf_prior: tuple[float, ...]
    test_prior: Floats
    class_weights: tuple[int, ...]
    weight_unit: int = 1
    labelled: bool = True
    by_subtree: bool = False
    possible: Bools | None = None
    gains: tuple[tuple[int, ...], ...] | None = None

    def __post_init__(self) -> None:
        prior = np.asarray(self.test_prior, dtype=np.float64)
        none_left = len(prior) > 0 and not prior.sum()  # a space without tests is fine: it has a leaf
        if prior.shape != (len(self.tests),) or not np.isfinite(prior).all() or (prior < 0).any() or none_left:
            raise ParameterError("test_prior must give every test a weight of at least 0, and some test more than 0")
        if self.multiway and any(self.tests.kind != Kind.MULTIWAY):
            raise ParameterError("tests must all be binary, or (always without labels) all be multiway")
        if self.multiway and np.unique(self.tests.attribute).size < len(self.tests):
            raise ParameterError("tests must have one multiway test for an attribute: it leaves nothing to another one")
        if (prior[prior > 0] < SMALLEST_PRIOR * prior.sum()).any():
            raise ParameterError("test_prior has a weight that is positive but negligible; use 0 to forbid a test")
        if not all(p == 0.0 or SMALLEST_PRIOR <= p <= 1.0 - SMALLEST_PRIOR for p in self.leaf_prior):
            raise ParameterError("leaf_prior must be 0, or lie inside (0, 1)")
        if (prior > 0).sum() < self.depth:
            raise ParameterError(f"depth {self.depth} needs as many tests of positive prior; lower max_depth")
        if not 1 <= self.weight_unit <= MOST_UNIT:
            raise ParameterError(f"weight_unit must lie between 1 and {MOST_UNIT}: finer weights are not offered")
        if len(self.class_weights) != self.n_classes or not all(0 <= w <= self.weight_unit for w in self.class_weights):
            raise ParameterError("class_weights must give each class a weight between 0 and 1")
        if self.gains is not None:
            self._check_gains(np.array(self.gains))
        if self.by_subtree if self.labelled else any(self.leaf_prior):
            raise ParameterError("by_subtree is for trees without labels, and these have no early leaf")
        object.__setattr__(self, "test_prior", prior / prior.sum())

    def _check_gains(self, gains: npt.NDArray[np.int64]) -> None:
        if gains.ndim != 2 or len(gains) != self.n_classes or gains.min() < 0 or gains.max() > self.weight_unit:
            raise ParameterError("gains must give each class a number from 0 to weight_unit for each label")
        if self.multiway:
            raise ParameterError("gains are for binary tests; a multiway tree predicts classes")

    @property
    def n_labels(self) -> int:
        return self.n_classes if self.gains is None else len(self.gains[0])

    @property
    def depth(self) -> int:
        return len(self.leaf_prior)

    @property
    def multiway(self) -> bool:
        return not self.labelled or bool((self.tests.arity != 2).any())

    def of_depth(self, depth: int) -> TreeSpace:
        """The same space with its first ``depth`` levels only."""
        return replace(self, leaf_prior=self.leaf_prior[:depth])

    def below(self, possible: Bools, is_open: Bools) -> tuple[TreeSpace, Index]:
        """The space of a cell that only the ``possible`` bins can reach, and which tests of this one it has.

        These are the ones that ``is_open``. It has no more levels than that: every test decides itself at least.
        """
        rows = np.flatnonzero(is_open & (self.test_prior > 0))
        levels, prior = self.leaf_prior[: rows.size], self.test_prior[rows]
        return replace(self, tests=self.tests.take(rows), leaf_prior=levels, test_prior=prior, possible=possible), rows

    def answers(self, schema: Schema) -> Answers:
        """What answers of its binary tests decide."""
        possible = np.ones(schema.total_bins, dtype=bool) if self.possible is None else self.possible
        return Answers.of(schema, self.tests, possible, self.test_prior)

    def rounding(self, epsilon: Fraction) -> Fraction:
        """A bound on what rounding adds to the loss of a draw at ``epsilon``, from public numbers only."""
        n_tests, draws, ulp = len(self.tests), self.depth + self.labelled, Fraction(1, 2**52)
        most = (epsilon if self.labelled else epsilon / 2) * scores.MAX_RECORDS  # scale times score
        if self.multiway:
            # With k splits left the error of a log is at most ulp * (by_score * most + beside), and its prior logs.
            arity, by_score, beside, logs = int(self.tests.arity.max(initial=2)), self.n_classes + 3, 0, 0
            if self.labelled:
                beside, logs = self.n_classes + 8 * LOG_PRIOR, LOG_PRIOR
            for _ in range(self.depth):
                logs = arity * logs + LOG_PRIOR
                by_score += arity + 3
                beside = arity * beside + (arity + 4) * logs + n_tests + 4 * LOG_PRIOR + 9
            error = ulp * (by_score * most + beside)
        else:
            logs = 2**draws * LOG_PRIOR  # no log is larger: at most 2**draws nodes, each of prior above exp(-64)
            step = ulp * (4 * (n_tests + 4 * self.n_labels) + 8 * int(UNDERFLOW) + 8 * logs)
            error = step * (2**draws - 1)  # of a log weight with k splits left: e(k) <= 2 e(k-1) + step
            error += 2 * ulp * most  # misses times epsilon, rounded once, at the draw itself
        # A chance is a weight over a sum of weights, so its log is off by twice that, at each node, on both tables.
        return 2 * draws * 2 * error

    def check(self, epsilon: Fraction, schema: Schema) -> None:
        """Refuse what cannot be drawn, before anything is charged; all of it is public."""
        if self.n_classes != schema.n_classes or not self.tests.fits(schema):
            raise ParameterError("the space has tests or classes that the schema of the records does not have")
        if self.possible is not None and not _leaves_open(self.possible, schema, self.tests):
            raise ParameterError("possible must have a boolean for each bin of the schema, and leave every test open")
        held = entries(self.tests, self.depth), widest_table(self.tests, schema, self.depth)
        if self.multiway and max(held) > MAX_ENTRIES:
            raise ParameterError(
                f"{self.depth} levels have {max(held):,} weights to add up, more than {MAX_ENTRIES:,}; draw fewer "
                "levels at once, or cut numbers into fewer bins"
            )
        if self.rounding(epsilon) > epsilon / 4:  # under zCDP it is taken off twice, which leaves half
            raise ParameterError(
                f"epsilon {float(epsilon):g} is too small for exact weights in a space of this size; use fewer tests "
                "or bins, or draw fewer levels at once"
            )


def _leaves_open(possible: Bools, schema: Schema, tests: Tests) -> bool:
    fits = possible.dtype == bool and possible.shape == (schema.total_bins,)
    return fits and bool(open_tests(schema, possible[None], tests).all())


@dataclass
class Meter:
    """How far a long draw has come. The number of steps is public, so others may read it while the draw runs."""

    done: int = 0
    total: int = 1


Drawn = tuple[list[int], list[int]]
"""A drawn tree, node by node in level order: its test (a number among the space's tests, -1 for a leaf), its label."""


def regions(arities: Sequence[int], depth: int) -> list[int]:
    """How many regions 0, 1, ..., ``depth`` multiway tests can lead to: a set of tests, and a value for each."""
    found = [1] + [0] * depth
    for arity in arities:
        for size in range(depth, 0, -1):
            found[size] += found[size - 1] * arity
    return found


def entries(tests: Tests, depth: int) -> int:
    """How many weights a draw of multiway tests holds: one for each test in each region that a path can lead to."""
    return len(tests) * sum(regions(tests.arity.tolist(), depth)[:depth])


def widest_table(tests: Tests, schema: Schema, depth: int) -> int:
    """How many counts a draw of multiway tests looks at together: all bins, below the tests with most children."""
    above: list[int] = sorted(tests.arity.tolist(), reverse=True)[: max(depth - 1, 0)]
    return math.prod(above) * schema.total_bins * schema.n_classes
