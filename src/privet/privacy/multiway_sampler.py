"""Several levels of multiway tests in one draw: the exponential mechanism over all subtrees, sampled exactly.

A subtree of a public space is drawn with probability proportional to its prior times ``exp(epsilon q / 2)``, with q the
Gini score over its leaves, which one record moves by less than 2 and always to the same side. The score is a sum over
leaves, so the normaliser factorises: weights are added up from the leaves and tests drawn from the root down. Weights
are doubles; their error is bounded from public numbers and taken off epsilon before the draw, and the choices
themselves are drawn exactly. Proof: ``docs/proofs/embedded.md``.
"""

from __future__ import annotations

import math
from bisect import bisect
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from privet.errors import ParameterError
from privet.privacy.counting import Engine
from privet.privacy.ledger import Receipt
from privet.privacy.noise import current_source
from privet.privacy.scores import MAX_RECORDS, Gini
from privet.splits import Kind, Tests

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Levels = list[list[int]]
"""A drawn subtree: the tests of each level, node by node, children in the order of their parents."""

MAX_ENTRIES = 2**25  # weights that a draw holds: a quarter of a gigabyte
LOG_PRIOR = 64  # twice the log of any number of attributes is less


@dataclass(frozen=True, eq=False)
class BlockSpace:
    """The public space of a block: trees of exactly ``depth`` tests on every path, no attribute twice on one.

    ``measure`` is the prior: every attribute that is left has the same weight in each node ("attributes"), or every
    subtree has ("subtrees", as published), which favours tests with many children: they have more subtrees.
    """

    tests: Tests
    n_classes: int
    depth: int
    measure: Literal["attributes", "subtrees"] = "attributes"

    def __post_init__(self) -> None:
        if any(self.tests.kind != Kind.MULTIWAY):
            raise ParameterError("tests must be multiway: a block has a child for every value of an attribute")
        if not 1 <= self.depth <= len(self.tests):
            raise ParameterError(f"depth must lie between 1 and the {len(self.tests)} attributes, not {self.depth}")
        if self.measure not in ("attributes", "subtrees"):
            raise ParameterError(f"measure must be 'attributes' or 'subtrees', not {self.measure!r}")

    @property
    def entries(self) -> int:
        """How many weights a draw holds: a weight of each test, in each region that a path can lead to."""
        regions = [1] + [0] * self.depth  # by the number of tests on the path
        for arity in self.tests.arity.tolist():
            for size in range(self.depth, 0, -1):
                regions[size] += regions[size - 1] * arity
        return len(self.tests) * sum(regions[: self.depth])

    def rounding(self, epsilon: Fraction) -> Fraction:
        """A bound on what rounding adds to the loss of a draw at ``epsilon``, from public numbers only."""
        arity = int(self.tests.arity.max())
        # The error of a log weight is at most ulp * (by_record * epsilon / 2 * records + beside).
        by_record, beside, logs = self.n_classes + 3, 0, 0
        for _ in range(self.depth):
            logs = arity * logs + LOG_PRIOR
            by_record += arity + 3
            beside = arity * beside + (arity + 4) * logs + len(self.tests) + 4 * LOG_PRIOR + 8
        error = Fraction(1, 2**52) * (by_record * epsilon / 2 * MAX_RECORDS + beside)
        return 4 * self.depth * error  # a record reaches this many draws; weight and normaliser, on two tables

    def check(self, epsilon: Fraction, allowed: Bools, n_cells: int) -> None:
        """Refuse what cannot be drawn, before anything is charged; all of it is public."""
        if allowed.dtype != bool or allowed.shape != (n_cells, len(self.tests)):
            raise ParameterError("allowed must be a (cell, test) array of booleans")
        if (allowed.sum(axis=1) < self.depth).any():
            raise ParameterError(f"a block of {self.depth} levels needs as many attributes that are left; use fewer")
        if self.entries > MAX_ENTRIES:
            raise ParameterError(
                f"a block of {self.depth} levels has {self.entries:,} weights to add up, more than {MAX_ENTRIES:,}; "
                "lower embedding_depth, or cut numbers into fewer bins"
            )
        if self.rounding(epsilon) > epsilon / 2:
            raise ParameterError(
                f"epsilon {float(epsilon):g} is too small for exact weights in a space of this size; "
                "lower embedding_depth"
            )


def sample_block(engine: Engine, cell: int, alone: Any, space: BlockSpace, allowed: Bools, receipt: Receipt) -> Levels:
    """Draw one subtree for one cell of a receipt; ``alone`` is that cell as a partition of its own."""
    epsilon = receipt.redeem(np.array([cell]))
    half = float((epsilon - space.rounding(epsilon)) / 2) * (1 - 2**-50)  # a little less, however it was rounded
    receipt.mark(current_source().caveat)
    return _Weights(engine, alone, space, allowed, half).draw()


class _Weights:
    """Log weights of every test in every region of a cell: ``terms[path][values]`` has one for each test.

    A path is the sorted tuple of tests that were asked, its values index the axes in that order; -inf where a test is
    not allowed. ``sums`` holds the log of what the weights of a region add up to.
    """

    def __init__(self, engine: Engine, cells: Any, space: BlockSpace, allowed: Bools, half: float) -> None:
        self._engine, self._space, self._half = engine, space, half
        self._usable = [int(t) for t in np.flatnonzero(allowed)]
        self.terms: dict[tuple[int, ...], Floats] = {}
        self._sums: dict[tuple[int, ...], Floats] = {}
        self._count(cells, ())
        for size in range(space.depth - 2, -1, -1):
            self._sums = {path: _log_sum(terms) for path, terms in self.terms.items() if len(path) == size + 1}
            for path in combinations(self._usable, size):
                self.terms[path] = self._add_up(path)

    def _count(self, cells: Any, path: tuple[int, ...]) -> None:
        """The terms of the last split: one counting pass for every set of tests that can stand above it."""
        if len(path) == self._space.depth - 1:
            schema, tests = self._engine.schema, self._space.tests
            in_bins = Gini().node(self._engine.counts(cells))
            scores = np.add.reduceat(in_bins, schema.offsets[:-1], axis=1)[:, tests.attribute]
            self.terms[path] = (self._half * scores).reshape(*tests.arity[list(path)], len(tests)) + self._prior(path)
            return
        for test in self._usable:
            if not path or test > path[-1]:
                finer = self._engine.refine(cells, [self._space.tests[test]] * cells.size)
                self._count(finer, (*path, test))

    def _add_up(self, path: tuple[int, ...]) -> Floats:
        terms = np.tile(self._prior(path), (*self._space.tests.arity[list(path)], 1))
        for test in self._usable:
            if test not in path:
                at = bisect(path, test)
                terms[..., test] += self._sums[(*path[:at], test, *path[at:])].sum(axis=at)
        return terms

    def _prior(self, path: tuple[int, ...]) -> Floats:
        left = [test for test in self._usable if test not in path]
        prior = np.full(len(self._space.tests), -np.inf)
        prior[left] = -math.log(len(left)) if self._space.measure == "attributes" else 0.0
        return prior

    def draw(self) -> Levels:
        drawn: Levels = []
        level: list[dict[int, int]] = [{}]  # the tests on the way to each node, and what its records answer
        for _ in range(self._space.depth):
            tests, deeper = [], []
            for path in level:
                asked = tuple(sorted(path))
                weights = self.terms[asked][tuple(path[test] for test in asked)]
                possible = np.flatnonzero(weights > -np.inf)  # the tests that are left, a public set
                test = int(possible[current_source().exponential(weights[possible], 1.0)])
                tests.append(test)
                deeper += [{**path, test: value} for value in range(int(self._space.tests.arity[test]))]
            drawn.append(tests)
            level = deeper
        return drawn


def _log_sum(terms: Floats) -> Floats:
    most = terms.max(axis=-1, keepdims=True)
    return np.asarray(most[..., 0] + np.log(np.exp(terms - most).sum(axis=-1)))
