"""The delta of normal noise in a fit, rounded up: for two classes a formula, for more also a sum.

Claim and proof, with the letters used here: ``docs/proofs/perturbed_classes.md``.
"""

from __future__ import annotations

import math
from functools import cache

ABOVE = 1 + 1e-9  # what is rounded here is rounded to the safe side, by far more than any rounding error
STEPS = 64  # of the sum, for each unit: finer would not save a thousandth of the noise
BEYOND = 12  # units above what is usual, where the sum ends: there are fewer than e^-70 of the draws


def gaussian_delta(mu: float, epsilon: float) -> float:
    """The delta of Gaussian noise of deviation 1 where one record moves the answer by ``mu``, rounded up.

    >>> round(gaussian_delta(1, 1), 4)
    0.1269
    """
    root = math.sqrt(2)
    above = math.erfc((epsilon / mu - mu / 2) / root) / 2
    if epsilon > 700 or above == 0.0:
        return above
    return max(above - math.exp(epsilon) * math.erfc((epsilon / mu + mu / 2) / root) / 2, above * 1e-9) * ABOVE


def row_delta(classes: int, mu: float, tilt: float, epsilon: float) -> float:
    """The same for a fit of several classes, with what the determinant costs; ``tilt`` is q of the proof.

    For an ``epsilon`` of at least twice the tilt. From three classes on it is the smaller of two bounds. One lets noise
    and determinant be worst at once. The other knows that the determinant is largest where a record's wrong classes are
    alike, and then their noise averages out.

    >>> apart, together = 9 * gaussian_delta(2**0.5 * 0.1, 1 - 0.3 * 8 / 9), row_delta(10, 0.1, 0.3, 1)
    >>> together < apart / 10
    True
    """
    if classes == 2:
        return gaussian_delta(mu, epsilon)
    bend = tilt * (classes - 2) / (classes - 1)
    apart = (classes - 1) * gaussian_delta(math.sqrt(2) * mu * ABOVE, (epsilon - bend) / ABOVE)
    left = tilt - mu * mu / 2  # of the determinant, after what a longer shift costs
    if left <= 0 or epsilon < 2 * tilt:
        return apart
    total, before = 0.0, 1.0
    for number, chance in enumerate(_chances(classes), 1):
        far = mu * number / STEPS
        beyond = (tilt + mu * mu / 2 + (far * far / (4 * left) if far <= 2 * left else far - left)) * ABOVE
        total += (before - chance) * (gaussian_delta(mu, epsilon - beyond + mu * mu / 2) if beyond < epsilon else 1.0)
        before = chance
    return min(apart, (total + before) * ABOVE)


@cache
def _chances(classes: int) -> tuple[float, ...]:
    """That the positive ones of ``classes - 1`` standard normal numbers are, together, as long as 1/64, 2/64 and so on.

    A number is positive for every other draw; the square of the length of j of them is chi-square, j degrees.
    """
    others = classes - 1
    often = [math.exp(_log_choose(others, j) - others * math.log(2)) for j in range(others + 1)]
    return tuple(
        min(sum(o * c for o, c in zip(often, _chi_squares(others, (n / STEPS) ** 2), strict=True)), 1.0)
        for n in range(1, STEPS * (math.isqrt(others) + BEYOND) + 1)
    )


def _chi_squares(most: int, square: float) -> list[float]:
    """That a chi-square of 0, 1, ..., ``most`` degrees of freedom is above ``square``."""
    half = square / 2
    chances = [0.0, math.erfc(math.sqrt(half))]
    for degrees in range(2, most + 1):
        power = degrees / 2 - 1
        chances.append(chances[-2] + math.exp(power * math.log(half) - half - math.lgamma(power + 1)))
    return chances[: most + 1]


def _log_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
