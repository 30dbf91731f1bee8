"""Estimates from noisy counts, with intervals that cover both sampling and noise.

Everything here is a function of released counts. Sampling is modelled by a Poisson number of records in each cell,
which for ratios is the same as drawing a table; the noise has a known variance. The intervals follow Wilson and
Fieller: all values that the counts do not contradict, so they stay valid where a denominator is mostly noise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from privet.models.intervals import Estimate, reach

Floats = npt.NDArray[np.float64]


def proportion(hits: float, misses: float, cells: tuple[int, int], noise: float) -> Estimate:
    """``hits`` of ``hits + misses``, each a sum of so many noisy ``cells``; Wilson's interval, noise included.

    >>> print(proportion(80, 20, (1, 1), noise=0.0))  # without noise it is Wilson's
    0.800 [0.711, 0.867]
    """
    return loose_proportion(hits, misses, cells, noise).within(0.0, 1.0)


def loose_proportion(hits: float, misses: float, cells: tuple[int, int], noise: float) -> Estimate:
    """The same without clipping to [0, 1]: means of several are clipped once, or they would be biased."""
    total = hits + misses
    if total <= 0:
        return Estimate(math.nan, 0.0, 1.0)
    ours, theirs = cells
    value = min(max(hits / total, 0.0), 1.0)
    weights = ours * (1 - value) ** 2 + theirs * value**2, ours * (1 - value) ** 4 + theirs * value**4
    z2 = reach(total * value * (1 - value) + noise * weights[0], noise * noise * weights[1]) ** 2
    # (hits - r total)^2 <= z^2 (total r (1 - r) + noise (ours (1 - r)^2 + theirs r^2)), a parabola in r.
    low, high = _between(
        total * total + z2 * (total - noise * (ours + theirs)),
        -2 * hits * total - z2 * total + 2 * z2 * noise * ours,
        hits * hits - z2 * noise * ours,
        (0.0, 1.0),
    )
    return Estimate(hits / total, low, high)


def average(values: Floats, counts: Floats, noise: float) -> Estimate:
    """The mean over records of a number that is constant in each cell; Fieller's interval."""
    return weighted_share(values, np.ones_like(values), counts, noise, (float(values.min()), float(values.max())))


def weighted_share(
    above: Floats, below: Floats, counts: Floats, noise: float, bounds: tuple[float, float] = (0.0, 1.0)
) -> Estimate:
    """A quotient of two weighted sums of the same counts, which lies within ``bounds``; Fieller's interval."""
    total = float(below @ counts)
    if total <= 0:
        return Estimate(math.nan, *bounds)
    part = float(above @ counts)
    variance = np.maximum(counts, 0.0) + noise
    weights = (above - part / total * below) ** 2
    z2 = reach(float(weights @ variance), noise * noise * float(weights @ weights)) ** 2
    # (part - r total)^2 <= z^2 sum (above - r below)^2 variance, a parabola in r.
    low, high = _between(
        total * total - z2 * float((below * below) @ variance),
        -2 * part * total + 2 * z2 * float((above * below) @ variance),
        part * part - z2 * float((above * above) @ variance),
        bounds,
    )
    return Estimate(part / total, low, high).within(*bounds)


Sum = tuple[Floats, Floats, float]
"""Values, noisy counts of them, and the variance of the noise in a count."""


def quotient(above: Sum, below: Sum) -> Estimate:
    """A sum over records by another, both of a number that is constant in each cell; Fieller's interval.

    The two are taken for independent. Where they rise and fall together the interval is wider than it had to be.
    """
    bounds = 0.0, math.inf
    (top, top_spread, top_tails), (bottom, bottom_spread, bottom_tails) = map(_moments, (above, below))
    if bottom <= 0:
        return Estimate(math.nan, *bounds)
    value = max(top / bottom, 0.0)
    tails = top_tails + value**4 * bottom_tails
    z2 = reach(top_spread + value**2 * bottom_spread, tails) ** 2
    low, high = _between(bottom**2 - z2 * bottom_spread, -2 * top * bottom, top**2 - z2 * top_spread, bounds)
    return Estimate(value, low, high).within(*bounds)


def _moments(of: Sum) -> tuple[float, float, float]:
    """A sum, its variance, and what ``reach`` needs to know of its noise."""
    values, counts, noise = of
    squares = values * values
    spread = float(squares @ (np.maximum(counts, 0.0) + noise))
    return float(values @ counts), spread, noise * noise * float(squares @ squares)


def _between(a: float, b: float, c: float, bounds: tuple[float, float]) -> tuple[float, float]:
    """Where a parabola is not above 0; all of the bounds if it opens downwards: no value is contradicted."""
    inside = b * b - 4 * a * c
    if a <= 0 or inside < 0:
        return bounds
    root = math.sqrt(inside)
    return (-b - root) / (2 * a), (-b + root) / (2 * a)


@dataclass(frozen=True, slots=True)
class Ratio:
    """An estimate that is a quotient of weighted sums of counts, with the weights that correlations need.

    The estimate is not clipped to [0, 1] here.
    """

    estimate: Estimate
    above: Floats
    below: Floats

    def slopes(self, counts: Floats) -> Floats:
        total = float(self.below @ counts)
        return (self.above - self.estimate.value * self.below) / total if total > 0 else np.zeros_like(counts)


def mean_of(ratios: Sequence[Ratio], counts: Floats, noise: float) -> Estimate:
    """The mean of ratios of the same counts. Half-widths add up like standard deviations, with the ratios' correlations
    (Zou and Donner's method: a mean of asymmetric intervals stays asymmetric).
    """
    slopes = np.array([ratio.slopes(counts) for ratio in ratios])
    spread = (slopes * (np.maximum(counts, 0.0) + noise)) @ slopes.T
    scale = np.sqrt(np.diag(spread))
    known = np.outer(scale, scale) > 0
    correlation = np.divide(spread, np.outer(scale, scale), out=np.eye(len(ratios)), where=known)
    values = np.array([ratio.estimate.value for ratio in ratios])
    middles = np.where(np.isnan(values), 0.5, values)
    below = middles - np.array([ratio.estimate.low for ratio in ratios])
    above = np.array([ratio.estimate.high for ratio in ratios]) - middles
    mean, n = float(middles.mean()), len(ratios)
    low = mean - math.sqrt(max(float(below @ correlation @ below), 0.0)) / n
    high = mean + math.sqrt(max(float(above @ correlation @ above), 0.0)) / n
    return Estimate(math.nan if np.isnan(values).any() else mean, low, high).within(0.0, 1.0)


def area(positive: Floats, negative: Floats, noise: float) -> Estimate:
    """The area under the ROC curve of scores in ascending bins: how often a positive record outranks a negative one.

    Ties within a bin count half.
    """
    ones, zeros = float(positive.sum()), float(negative.sum())
    if ones <= 0 or zeros <= 0:
        return Estimate(math.nan, 0.0, 1.0)
    bins = np.arange(positive.size)
    wins = (bins[:, None] > bins) + 0.5 * (bins[:, None] == bins)  # (bin of a positive, bin of a negative)
    value = float(positive @ wins @ negative) / (ones * zeros)
    # First order in either class's counts, plus the product of their noises, which the first order omits.
    for_positive = (wins @ negative / zeros - value) / ones
    for_negative = (positive @ wins / ones - value) / zeros
    spread = float(for_positive**2 @ (np.maximum(positive, 0.0) + noise))
    spread += float(for_negative**2 @ (np.maximum(negative, 0.0) + noise))
    spread += noise**2 * float(((wins - value) ** 2).sum()) / (ones * zeros) ** 2
    slopes = float((for_positive**4).sum() + (for_negative**4).sum())
    half = reach(spread, noise * noise * slopes) * math.sqrt(spread)
    return Estimate(value, value - half, value + half).within(0.0, 1.0)
