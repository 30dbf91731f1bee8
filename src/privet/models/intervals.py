"""95 % intervals for numbers with noise of a known scale."""

from __future__ import annotations

import math
from dataclasses import dataclass

Z = 1.959963984540054  # the two-sided 95 % quantile of the normal distribution
LONGER_TAILS = (Z**3 - 3 * Z) / 24  # Cornish-Fisher: the shift of that quantile for each unit of excess kurtosis


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number and its 95 % interval; NaN with the widest possible interval where the counts are uninformative."""

    value: float
    low: float
    high: float

    def within(self, least: float, most: float) -> Estimate:
        """The same, clipped to [least, most]."""
        return Estimate(*(min(max(number, least), most) for number in (self.value, self.low, self.high)))

    def to_dict(self) -> dict[str, float]:
        return {"value": self.value, "low": self.low, "high": self.high}

    def __str__(self) -> str:
        value = "unknown" if math.isnan(self.value) else f"{self.value:.3f}"
        return f"{value} [{self.low:.3f}, {self.high:.3f}]"


def noise_variance(scale: float) -> float:
    """The variance of discrete Laplace noise.

    >>> round(noise_variance(10.0), 2)  # a little less than the 200 of the continuous one
    199.83
    """
    return 2 * math.exp(-1 / scale) / math.expm1(-1 / scale) ** 2  # expm1: 1 - q would be 0 from scale 1e16 on


def noise_reach(scale: float, draws: float = 1) -> int:
    """Half the width of the 95 % interval of a sum of discrete Laplace draws, rounded up.

    >>> noise_reach(10.0), noise_reach(10.0, draws=4)
    (31, 57)
    """
    deviations = Z + LONGER_TAILS * 3 / draws  # see ``reach``, for draws of one scale
    return math.ceil(deviations * math.sqrt(draws * noise_variance(scale)))


def reach(variance: float, of_noise: float) -> float:
    """The width of an interval in standard deviations: more than ``Z`` where Laplace noise dominates.

    ``of_noise`` is the sum over cells of the squared noise variance of (weight times count).
    """
    return Z + LONGER_TAILS * min(3 * of_noise / variance**2, 3.0) if variance > 0 else Z
