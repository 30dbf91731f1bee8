"""How many more records a private test needs: the sample-size correction of Vu & Slavkovic, *Differential Privacy for
Clinical Trial Data: Preliminary Evaluations* (ICDM workshops 2009); Fletcher 2017, section 3.5.

A trial of n records estimates a share p, say of cured patients. Sampling gives the estimate the variance p (1 - p) / n;
Laplace noise of scale 1/epsilon on the count adds 2 / (epsilon n)^2. A test of p0 against p1 at level alpha (its rate
of false positives) with some power (its rate of true positives) needs

    |p1 - p0| >= z_alpha sqrt(p0 (1 - p0) / n + 2 / (epsilon n)^2) + z_power sqrt(p1 (1 - p1) / n + 2 / (epsilon n)^2)

with z the quantiles of the normal distribution. The smallest such n, over the same without noise, is the correction
factor. The noise is approximated as normal; n is public here, as it is in a trial. (The thesis names the result without
its formula, so the derivation above is privet's own.)

The noise term shrinks with n^2, the sampling term with n: a trial that is large anyway hardly pays for privacy.

>>> one_share(0.5, 0.6, epsilon=None), one_share(0.5, 0.6, epsilon=0.1), one_share(0.5, 0.6, epsilon=1)
(194, 505, 202)
>>> round(correction_factor(194, variance=0.25, epsilon=0.1), 2)
2.59
"""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist

from privet.errors import ParameterError
from privet.privacy.budget import epsilon as parse_epsilon
from privet.recipes.parameters import check_flag, check_number

MOST_RECORDS = 2**60  # where the search gives up: nobody has that many


def one_share(
    p0: float,
    p1: float,
    *,
    epsilon: object | None,
    alpha: float = 0.05,
    power: float = 0.8,
    two_sided: bool = True,
) -> int:
    """The sample size that tells a share of p1 from one of p0; without privacy if epsilon is None.

    >>> one_share(0.2, 0.3, epsilon=None, power=0.9), one_share(0.2, 0.3, epsilon=0.5, power=0.9)
    (189, 226)
    """
    za, zb = _quantiles(alpha, power, two_sided)
    _check_shares(p0, p1)
    noise = _noise_variance(epsilon)

    def enough(n: int) -> bool:
        return abs(p1 - p0) >= za * math.sqrt(_spread(p0, n) + noise / n**2) + zb * math.sqrt(
            _spread(p1, n) + noise / n**2
        )

    return _fewest(enough)


def two_shares(
    p1: float,
    p2: float,
    *,
    epsilon: object | None,
    alpha: float = 0.05,
    power: float = 0.8,
    two_sided: bool = True,
) -> int:
    """The sample size *of each of two arms* that tells their shares apart; arms are disjoint, so each gets all epsilon.

    >>> two_shares(0.5, 0.6, epsilon=None), two_shares(0.5, 0.6, epsilon=0.1)
    (388, 787)
    """
    za, zb = _quantiles(alpha, power, two_sided)
    _check_shares(p1, p2)
    noise = 2 * _noise_variance(epsilon)
    pooled = (p1 + p2) / 2

    def enough(n: int) -> bool:
        under_null = math.sqrt(2 * _spread(pooled, n) + noise / n**2)
        return abs(p1 - p2) >= za * under_null + zb * math.sqrt(_spread(p1, n) + _spread(p2, n) + noise / n**2)

    return _fewest(enough)


def correction_factor(plain: float, variance: float, epsilon: object) -> float:
    """The factor by which to multiply a sample size that was computed without privacy.

    ``plain`` records give an estimate of variance ``variance`` / plain; f times as many give the same with noise, so
    1/f + 2 / (epsilon^2 variance plain f^2) = 1, of which f is the positive root. ``variance`` is that of one record:
    p (1 - p) for a share, at most 1/4.

    >>> round(correction_factor(100, variance=0.25, epsilon=1), 3), round(correction_factor(100, 0.25, epsilon=0.1), 3)
    (1.074, 3.372)
    """
    check_number(plain, "plain", 1, MOST_RECORDS)
    check_number(variance, "variance", 1e-12, 1e12)
    return (1 + math.sqrt(1 + 4 * _noise_variance(epsilon) / (variance * plain))) / 2


def _noise_variance(epsilon: object | None) -> float:
    """2 / epsilon^2, the variance of Laplace noise of scale 1/epsilon."""
    return 0.0 if epsilon is None else 2 / float(parse_epsilon(epsilon)) ** 2


def _spread(p: float, n: int) -> float:
    return p * (1 - p) / n


def _quantiles(alpha: float, power: float, two_sided: bool) -> tuple[float, float]:
    check_number(alpha, "alpha", 1e-12, 0.5)
    check_number(power, "power", 0.5, 1 - 1e-12)
    check_flag(two_sided, "two_sided")
    normal = NormalDist()
    return normal.inv_cdf(1 - alpha / 2 if two_sided else 1 - alpha), normal.inv_cdf(power)


def _check_shares(p: float, q: float) -> None:
    for share in (p, q):
        check_number(share, "a share", 0, 1)
    if p == q:
        raise ParameterError(f"the two shares must differ, not both be {p!r}: no sample tells them apart")


def _fewest(enough: Callable[[int], bool]) -> int:
    """The smallest n that is enough; ``enough`` must be monotone."""
    high = 1
    while not enough(high):
        high *= 2
        if high > MOST_RECORDS:
            raise ParameterError(
                "no sample is large enough to tell these shares apart; move them apart or raise epsilon"
            )
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
