"""Choosers and a stopping rule of published methods that use exact counts without noise. NOT PRIVATE."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from privet.growing.greedy.candidates import Candidates
from privet.growing.greedy.questions import Bools, Index, Ints, Questions
from privet.growing.greedy.stopping import LevelFacts
from privet.privacy.scores import Gini, score_tests
from privet.recipes.unsound.noisy_level import NoisyLevel
from privet.recipes.unsound.nonprivate import add_noise, draw_allowed

FINE = 1000  # a mean is rounded to this many steps a bin, so that it gets the noise of an integer


@dataclass(frozen=True, slots=True)
class LocalGini:
    """DPDF's choice (Fletcher, Theorem 6.1): normalised Gini with the sensitivity of a node of the *noisy* size.

    NOT PRIVATE: the bound needs the true size, does not cover removing a record, and depends on the records. The thesis
    uses a fixed ``sensitivity`` of 0.5 for Friedman & Schuster's choice.
    """

    sensitivity: float | None = None

    def choose(
        self, level: Questions, cells: Index, candidates: Candidates, allowed: Bools, epsilon: Fraction | None
    ) -> Index:
        assert isinstance(level, NoisyLevel)
        assert level.released is not None
        noisy = np.maximum(level.released[cells].sum(axis=1), 1)
        bound = local_sensitivity(noisy) if self.sensitivity is None else np.full(len(noisy), self.sensitivity)
        counts = level.exact[cells]
        scores, _ = score_tests(counts, candidates.tests, Gini(), level.schema)
        first = slice(0, int(level.schema.offsets[1]))
        size = np.maximum(counts[:, first].sum(axis=(1, 2)), 1)
        return draw_allowed(scores / (size * 2 * bound * level.noise_scale(epsilon))[:, None], allowed)


def local_sensitivity(size: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Theorem 6.1's bound on the normalised Gini index of a node of that size.

    >>> local_sensitivity(np.array([1, 100])).round(4)
    array([0.5   , 0.0196])
    """
    return np.asarray(1 - (size / (size + 1)) ** 2 - (1 / (size + 1)) ** 2)


@dataclass(frozen=True, slots=True)
class ClassMidpoints:
    """Rana et al.'s choice: numbers are cut half-way between the means of two classes, then FS's Gini decides.

    Half of epsilon adds noise to each midpoint, as if numbers were normal and no mean moved by more than three standard
    deviations over the smaller class. The other half chooses.
    """

    def choose(
        self, level: Questions, cells: Index, candidates: Candidates, allowed: Bools, epsilon: Fraction | None
    ) -> Index:
        assert isinstance(level, NoisyLevel)
        counts, tests = level.exact[cells], candidates.tests
        assert epsilon is not None
        finalists = allowed.copy()
        for a in candidates.point_attributes:
            mine = tests.of_attribute(a)
            bins = counts[:, level.schema.offsets[a] : level.schema.offsets[a + 1]]
            wanted = _midpoints(bins, level.noise_scale(epsilon / 2))
            cuts = np.where(allowed[:, mine], np.abs(tests.cut[mine] + 0.5 - wanted[:, None]), np.inf)
            nearest = cuts.argmin(axis=1)
            finalists[:, mine] = False
            rows = np.flatnonzero(np.isfinite(cuts).any(axis=1))
            finalists[rows, mine[nearest[rows]]] = True
        return level.choose_all(tests, Gini(), epsilon / 2, cells, allowed=finalists)


def _midpoints(bins: Ints, scale: float) -> npt.NDArray[np.float64]:
    """(cell,) half-way between the mean codes of the two classes, with noise; ``bins`` is (cell, bin, class)."""
    codes = np.arange(bins.shape[1])
    size = np.maximum(bins.sum(axis=1), 1)
    means = (bins * codes[:, None]).sum(axis=1) / size
    both = np.maximum(bins.sum(axis=(1, 2)), 1)
    mean = (bins.sum(axis=2) * codes).sum(axis=1) / both
    deviation = np.sqrt((bins.sum(axis=2) * (codes - mean[:, None]) ** 2).sum(axis=1) / both)
    reach = 3 * deviation / size.min(axis=1)
    # One vector of unit noise, scaled cell by cell: in the paper each cell has its own sensitivity.
    noise = add_noise(np.zeros(len(bins), dtype=np.int64), FINE * scale) / FINE
    return np.asarray(means.mean(axis=1) + reach * noise)


@dataclass(frozen=True, slots=True)
class EveryClass:
    """Stop where a class has fewer released records than ``least``."""

    least: int

    def stops(self, level: LevelFacts) -> Bools:
        assert level.released is not None
        return np.asarray((level.released < self.least).any(axis=1))
