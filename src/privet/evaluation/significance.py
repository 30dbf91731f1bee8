"""Tests of whether one learner is better than another: the two that the papers used.

:func:`corrected_t` takes scores of the same folds, :func:`wilcoxon` scores of the same tables. A plain t-test on folds
finds differences that are not there, because the training parts of any two folds overlap: Nadeau & Bengio (2003,
*Machine Learning* 52) widen the variance for that, as Friedman & Schuster (2010) did. Wilcoxon's signed ranks (1945),
as Fletcher (2017) used them, ask of many tables whether one learner is ahead more often and by more.

Both are two-sided, and undefined (None) where nothing differs. They are arithmetic on scores: whether they may be
released depends on what the scores were computed from.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from privet.errors import ParameterError

EXACT_UP_TO = 50  # pairs: beyond, the normal approximation is off by some 0.002 at most


@dataclass(frozen=True)
class Significance:
    """The result of a test of the differences first - second."""

    pairs: int
    """How many differences there were; of Wilcoxon's, those that are not 0."""
    difference: float
    """Their mean."""
    statistic: float
    """Student's t, or the smaller of the two sums of ranks."""
    p_value: float
    """How often chance alone would do as much, in either direction."""


def corrected_t(first: Sequence[float], second: Sequence[float], *, test_to_train: float) -> Significance | None:
    """The corrected resampled t-test of paired scores, fold by fold; None where all differences are equal.

    Parameters
    ----------
    first, second : scores of two learners on the same folds, in the same order
    test_to_train : records tested in a fold over records trained on: 1/9 in ten-fold cross-validation

    >>> found = corrected_t([0.9, 0.8, 0.9], [0.8, 0.7, 0.7], test_to_train=0.5)
    >>> round(found.statistic, 3), round(found.p_value, 3)
    (2.53, 0.127)
    """
    if not test_to_train > 0:
        raise ParameterError(f"test_to_train must be above 0, such as 1/9 for ten folds; not {test_to_train!r}")
    differences = _paired(first, second)
    spread = float(differences.var(ddof=1))
    mean, count = float(differences.mean()), differences.size
    if spread <= 1e-24:  # scores are shares of records: what is smaller is rounding
        return None
    t = mean / math.sqrt((1 / count + test_to_train) * spread)
    return Significance(count, mean, t, _student_tails(t, count - 1))


def wilcoxon(first: Sequence[float], second: Sequence[float]) -> Significance | None:
    """Wilcoxon's signed-rank test of paired scores, table by table; None where no two differ.

    Equal scores are left out and equal differences share their ranks. Up to 50 pairs the probability is exact, ties
    included.

    >>> found = wilcoxon([0.9, 0.8, 0.7, 0.95, 0.6], [0.85, 0.7, 0.75, 0.8, 0.4])
    >>> found.statistic, found.p_value
    (1.5, 0.1875)
    """
    differences = np.round(_paired(first, second), 12)  # 0.9 - 0.8 and 0.8 - 0.7 are a tie
    mean, differences = float(differences.mean()), differences[differences != 0]
    if not differences.size:
        return None
    doubled = _doubled_ranks(np.abs(differences))
    ahead, behind = int(doubled[differences > 0].sum()), int(doubled[differences < 0].sum())
    tails = _exact_tails if differences.size <= EXACT_UP_TO else _normal_tails
    return Significance(differences.size, mean, min(ahead, behind) / 2, tails(doubled, min(ahead, behind)))


def _paired(first: Sequence[float], second: Sequence[float]) -> npt.NDArray[np.float64]:
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if a.ndim != 1 or a.shape != b.shape or a.size < 2:
        raise ParameterError("first and second must be two lists of as many scores, at least two, pair by pair")
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        raise ParameterError("first and second must hold finite scores; leave pairs out where one is undefined")
    return a - b


def _student_tails(t: float, freedom: int) -> float:
    """P(|T| >= |t|) for whole degrees of freedom, by the finite sums (Abramowitz & Stegun 26.7.3 and 26.7.4)."""
    angle = math.atan2(abs(t), math.sqrt(freedom))
    sine, cosine = math.sin(angle), math.cos(angle)
    odd = freedom % 2
    term = cosine if odd else 1.0
    total = term if freedom > 1 else 0.0
    for k in range(2 + odd, freedom - 1, 2):
        term *= cosine * cosine * (k - 1) / k
        total += term
    inside = 2 / math.pi * (angle + sine * total) if odd else sine * total
    return min(1.0, max(0.0, 1.0 - inside))


def _doubled_ranks(sizes: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """Ranks from 1 on, times two: equal sizes share the mean of theirs, which may be a half."""
    _, place, alike = np.unique(sizes, return_inverse=True, return_counts=True)
    last = np.cumsum(alike)
    doubled: npt.NDArray[np.int64] = (2 * last - alike + 1)[place]
    return doubled


def _exact_tails(doubled: npt.NDArray[np.int64], smaller: int) -> float:
    """The share of all signings of the ranks that give a sum this small, on either side."""
    ways = np.zeros(int(doubled.sum()) + 1)
    ways[0] = 1.0
    for rank in doubled:
        ways[rank:] += ways[: ways.size - rank].copy()
    return float(min(1.0, 2 * ways[: smaller + 1].sum() / 2.0**doubled.size))


def _normal_tails(doubled: npt.NDArray[np.int64], smaller: int) -> float:
    ranks = doubled / 2
    spread = math.sqrt(float((ranks**2).sum()) / 4)  # of a sum of independent signs; ties are in the ranks
    z = max(0.0, abs(smaller / 2 - float(ranks.sum()) / 2) - 0.5) / spread  # with the correction for whole steps
    return math.erfc(z / math.sqrt(2))
