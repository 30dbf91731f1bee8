"""Intervals of 95 % for numbers with noise of a known size."""

from __future__ import annotations

import math
from dataclasses import dataclass

Z = 1.959963984540054  # two sides of 2.5 % each under a normal curve
LONGER_TAILS = (Z**3 - 3 * Z) / 24  # Cornish and Fisher: for each unit of excess kurtosis the quantile lies so much out


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number and its interval of 95 %; NaN, with all that is possible as interval, where the counts say nothing."""

    value: float
    low: float
    high: float

    def within(self, least: float, most: float) -> Estimate:
        """The same between what is possible."""
        return Estimate(*(min(max(number, least), most) for number in (self.value, self.low, self.high)))

    def to_dict(self) -> dict[str, float]:
        return {"value": self.value, "low": self.low, "high": self.high}

    def __str__(self) -> str:
        value = "unknown" if math.isnan(self.value) else f"{self.value:.3f}"
        return f"{value} [{self.low:.3f}, {self.high:.3f}]"


def noise_variance(scale: float) -> float:
    """Of discrete Laplace noise.

    >>> round(noise_variance(10.0), 2)  # a little less than the 200 of the continuous one
    199.83
    """
    return 2 * math.exp(-1 / scale) / math.expm1(-1 / scale) ** 2  # expm1: 1 - q would be 0 from scale 1e16 on


def noise_reach(scale: float, draws: float = 1) -> int:
    """How far the sum of so many draws of discrete Laplace noise goes in 95 of 100 cases, either way, rounded up.

    >>> noise_reach(10.0), noise_reach(10.0, draws=4)
    (31, 57)
    """
    deviations = Z + LONGER_TAILS * 3 / draws  # as ``reach`` says, of draws that are all alike
    return math.ceil(deviations * math.sqrt(draws * noise_variance(scale)))


def reach(variance: float, of_noise: float) -> float:
    """How many standard deviations an interval goes: more than ``Z`` where the noise, which is Laplace's, dominates.

    ``of_noise`` is the sum over cells of (weight squared times the variance of the noise) squared.
    """
    return Z + LONGER_TAILS * min(3 * of_noise / variance**2, 3.0) if variance > 0 else Z
