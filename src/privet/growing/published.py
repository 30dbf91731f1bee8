"""Parts of published methods that read exact counts where they should not. NOT PRIVATE.

Whatever grows here is marked epsilon = infinity before it looks; the ledger also shows what its paper says it spends.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from privet.growing.candidates import Candidates
from privet.growing.domains import Bools
from privet.growing.stopping import Level
from privet.privacy.counting import Engine, bin_counts, class_counts, descend, refine
from privet.privacy.dataset import PrivateDataset
from privet.privacy.frontier import score_tests
from privet.privacy.noise import current_source
from privet.privacy.scores import Gini, Score
from privet.privacy.unproven import add_noise, draw_rows, open_engine
from privet.schema import Schema
from privet.structure.routes import Routes
from privet.structure.splits import Test

Ints = npt.NDArray[np.int64]
Index = npt.NDArray[np.intp]
FINE = 1000  # steps to a bin in which a mean is rounded, so that its noise is that of an integer


class PublishedFrontier:
    """The questions that a grower asks, answered with the noise that a paper says, and nothing on the books."""

    def __init__(self, engine: Engine, cells: Any, steps: int) -> None:
        self._engine, self._cells, self._steps = engine, cells, steps
        self.released: Ints | None = None
        """The last class counts that were released."""

    @property
    def schema(self) -> Schema:
        return self._engine.schema

    @property
    def size(self) -> int:
        return int(self._cells.size)

    @property
    def exact(self) -> Ints:
        """(cell, bin, class): what no private frontier shows."""
        return bin_counts(self._engine, self._cells)

    def scale(self, epsilon: Fraction | None) -> float:
        """Of the noise of a count."""
        assert epsilon is not None
        return float(self._steps / epsilon)

    def count_all(self, epsilon: Fraction, cells: Index | None = None, what: str = "") -> Ints:
        exact = class_counts(self._engine, self._cells).sum(axis=1)
        return add_noise(exact if cells is None else exact[cells], self.scale(epsilon))

    def class_counts_all(self, epsilon: Fraction, cells: Index | None = None, what: str = "") -> Ints:
        exact = class_counts(self._engine, self._cells)
        self.released = add_noise(exact if cells is None else exact[cells], self.scale(epsilon))
        return self.released

    def will_choose(self) -> None:
        """Exact counts are made when they are asked for."""

    def split(self, tests: Sequence[Test | None]) -> PublishedFrontier:
        return PublishedFrontier(self._engine, refine(self._cells, self._engine.schema, tests), self._steps)


@dataclass(frozen=True, slots=True)
class TwoSidedChoice:
    """The textbook's exponential mechanism, exp(eps q / 2S), on whatever records a frontier holds."""

    score: Score

    def choose(
        self,
        frontier: PublishedFrontier,
        cells: Index,
        candidates: Candidates,
        allowed: Bools,
        epsilon: Fraction | None,
    ) -> Index:
        scores, _ = score_tests(frontier.exact[cells], candidates.tests, self.score, frontier.schema)
        return _draw(scores / (2 * float(self.score.sensitivity) * frontier.scale(epsilon)), allowed)


@dataclass(frozen=True, slots=True)
class LocalGini:
    """DPDF's choice (Fletcher, Theorem 6.1): normalised Gini with the sensitivity of a node of the *noisy* size.

    The bound is for a known size, covers no removal, and depends on the records through a size that is not theirs.
    """

    def choose(
        self,
        frontier: PublishedFrontier,
        cells: Index,
        candidates: Candidates,
        allowed: Bools,
        epsilon: Fraction | None,
    ) -> Index:
        assert frontier.released is not None
        noisy = np.maximum(frontier.released[cells].sum(axis=1), 1)
        bound = local_sensitivity(noisy)
        counts = frontier.exact[cells]
        scores, _ = score_tests(counts, candidates.tests, Gini(), frontier.schema)
        first = slice(0, int(frontier.schema.offsets[1]))
        size = np.maximum(counts[:, first].sum(axis=(1, 2)), 1)
        return _draw(scores / (size * 2 * bound * frontier.scale(epsilon))[:, None], allowed)


def local_sensitivity(size: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Theorem 6.1's bound on the normalised Gini index of a node of that size.

    >>> local_sensitivity(np.array([1, 100])).round(4)
    array([0.5   , 0.0196])
    """
    return np.asarray(1 - (size / (size + 1)) ** 2 - (1 / (size + 1)) ** 2)


@dataclass(frozen=True, slots=True)
class ClassMidpoints:
    """Rana et al.'s choice: numbers are cut half-way between the means of two classes, then FS's Gini decides.

    A third of epsilon noises each midpoint, as if numbers were normal and no mean moved by more than three standard
    deviations over the smaller class; the rest chooses.
    """

    def choose(
        self,
        frontier: PublishedFrontier,
        cells: Index,
        candidates: Candidates,
        allowed: Bools,
        epsilon: Fraction | None,
    ) -> Index:
        counts, tests = frontier.exact[cells], candidates.tests
        assert epsilon is not None
        finalists = allowed.copy()
        for a in candidates.point_attributes:
            mine = tests.of_attribute(a)
            bins = counts[:, frontier.schema.offsets[a] : frontier.schema.offsets[a + 1]]
            wanted = _midpoints(bins, frontier.scale(epsilon / 2))
            cuts = np.where(allowed[:, mine], np.abs(tests.cut[mine] + 0.5 - wanted[:, None]), np.inf)
            nearest = cuts.argmin(axis=1)
            finalists[:, mine] = False
            rows = np.flatnonzero(np.isfinite(cuts).any(axis=1))
            finalists[rows, mine[nearest[rows]]] = True
        scores, _ = score_tests(counts, tests, Gini(), frontier.schema)
        return _draw(scores / (2 * float(Gini().sensitivity) * frontier.scale(epsilon / 2)), finalists)


def _midpoints(bins: Ints, scale: float) -> npt.NDArray[np.float64]:
    """(cell,) half-way between the mean codes of the two classes, with noise; ``bins`` is (cell, bin, class)."""
    codes = np.arange(bins.shape[1])
    size = np.maximum(bins.sum(axis=1), 1)
    means = (bins * codes[:, None]).sum(axis=1) / size
    both = np.maximum(bins.sum(axis=(1, 2)), 1)
    mean = (bins.sum(axis=2) * codes).sum(axis=1) / both
    deviation = np.sqrt((bins.sum(axis=2) * (codes - mean[:, None]) ** 2).sum(axis=1) / both)
    reach = 3 * deviation / size.min(axis=1)
    # One vector of unit noise, stretched cell by cell: the paper's sensitivity is the cell's own.
    noise = add_noise(np.zeros(len(bins), dtype=np.int64), FINE * scale) / FINE
    return np.asarray(means.mean(axis=1) + reach * noise)


@dataclass(frozen=True, slots=True)
class EveryClass:
    """Stop where a class has fewer released records than ``least``."""

    least: int

    def stops(self, level: Level) -> Bools:
        assert level.released is not None
        return np.asarray((level.released < self.least).any(axis=1))


def margin_labels(data: PrivateDataset, routes: Routes, epsilon: Fraction, why: str, *, smooth: bool) -> Index:
    """Leaf labels of disjoint trees as in Fletcher's Theorem 8.1: a 0/1 score with a sensitivity that the margin sets.

    With ``smooth=False`` the sensitivity is 1 and the mechanism is in fact sound; only its label is not worth much.
    """
    engine, cells = open_engine(data, "smooth-forest as published", why)
    data.ledger.charge(epsilon, "leaf labels, as published")
    parts = engine.shards(cells, len(routes), current_source().coins)
    counts = class_counts(engine, descend(parts, routes))
    each = float(epsilon / data.ledger.neighbours.steps)
    wins = counts == counts.max(axis=1, keepdims=True)
    sensitivity = smooth_sensitivity(margins(counts), each) if smooth else np.ones(len(counts))
    with np.errstate(divide="ignore", over="ignore"):
        sharpness = np.minimum(each / (2 * sensitivity), np.finfo(float).max)
    return draw_rows(np.where(wins, sharpness[:, None], 0.0))


def margins(counts: Ints) -> Ints:
    """How far the largest class of each row is ahead of the next."""
    top = np.sort(counts, axis=1)
    return np.asarray(top[:, -1] - top[:, -2] if counts.shape[1] > 1 else top[:, -1])


def smooth_sensitivity(margin: npt.NDArray[Any], epsilon: float) -> npt.NDArray[np.float64]:
    """What Theorem 8.1 takes for a smooth sensitivity (Table 8.2); it is none.

    >>> smooth_sensitivity(np.array([0, 1, 10]), 0.1).round(5)
    array([1.     , 0.90484, 0.36788])
    """
    return np.asarray(np.exp(-np.asarray(margin, dtype=np.float64) * epsilon))


def _draw(exponents: npt.NDArray[np.float64], allowed: Bools) -> Index:
    """One of the allowed candidates of each row."""
    chosen = [np.flatnonzero(row)[draw_rows(exponents[i : i + 1, row])[0]] for i, row in enumerate(allowed)]
    return np.array(chosen, dtype=np.intp)
