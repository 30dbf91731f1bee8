"""Confidence bounds: what counts of an event on two tables prove about the loss.

An event that one table's fits have with probability p and the other's with probability q shows a loss of at least
``log((p - delta) / q)``. Exact (Clopper-Pearson) limits take the place of p and q. Proof:
``docs/proofs/sampling_audit.md``.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from privet.errors import ParameterError

Floats = npt.NDArray[np.float64]


def lower_limit(hits: Any, tries: Any, alpha: float) -> Floats:
    """The probability is below this limit with confidence ``alpha`` at most (Clopper and Pearson 1934).

    >>> round(float(lower_limit(10, 10, 0.05)), 4)  # 0.05 ** (1 / 10)
    0.7411
    """
    from scipy.special import betaincinv

    hits, tries = np.asarray(hits, dtype=np.float64), np.asarray(tries, dtype=np.float64)
    some = np.maximum(hits, 1)
    return np.asarray(np.where(hits <= 0, 0.0, betaincinv(some, tries - some + 1, alpha)))


def upper_limit(hits: Any, tries: Any, alpha: float) -> Floats:
    """The probability is above this limit with confidence ``alpha`` at most.

    >>> round(float(upper_limit(0, 10, 0.05)), 4)  # 1 - 0.05 ** (1 / 10)
    0.2589
    """
    hits, tries = np.asarray(hits, dtype=np.float64), np.asarray(tries, dtype=np.float64)
    return np.asarray(1 - lower_limit(tries - hits, tries, alpha))


def loss_bound(hits: Any, tries: Any, other_hits: Any, other_tries: Any, alpha: float, delta: float = 0.0) -> Floats:
    """A lower bound on the loss, at least 0, that is wrong with probability ``alpha`` at most.

    Both limits get half of ``alpha``. Arrays of counts give arrays of bounds, each of them valid by itself.

    >>> round(float(loss_bound(900, 1000, 100, 1000, 0.001)), 2)
    1.86
    >>> float(loss_bound(3, 1000, 1, 1000, 0.001, delta=0.01))
    0.0
    """
    likely = lower_limit(hits, tries, alpha / 2) - delta
    unlikely = upper_limit(other_hits, other_tries, alpha / 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(likely > unlikely, np.log(likely / unlikely), 0.0))


def share_of(alpha: float, look: int) -> float:
    """What look number ``look`` (from 1 on) may spend of ``alpha``. The shares of all looks add up to ``alpha``.

    >>> [share_of(0.06, look) for look in (1, 2)]
    [0.03, 0.01]
    """
    return alpha / (look * (look + 1))


def provable(tries: int, alpha: float) -> float:
    """The largest bound that so many fits of each table can give: an event of every fit on one and none on the other.

    >>> round(provable(1000, 0.001), 1)
    4.9
    """
    return float(loss_bound(tries, tries, 0, tries, alpha))


def group_claim(epsilon: float, delta: float, steps: int) -> tuple[float, float]:
    """What a promise about one row says about ``steps`` rows (group privacy).

    >>> group_claim(0.5, 0.0, 2)
    (1.0, 0.0)
    """
    if steps == 1 or delta == 0:
        return steps * epsilon, delta
    return steps * epsilon, min(1.0, delta * math.expm1(steps * epsilon) / math.expm1(epsilon))


def check_claim(claimed: object, delta: object, alpha: object, seconds: object) -> tuple[float, float, float, float]:
    """The four numbers of an audit, or an error that names the wrong one."""
    ranges = {
        "claimed": (claimed, 0.0, math.inf, "a positive number, the epsilon that is promised"),
        "alpha": (alpha, 0.0, 0.5, "the probability of a false alarm, such as 0.001"),
        "seconds": (seconds, 0.0, math.inf, "a positive number of seconds"),
    }
    found = []
    for name, (value, low, high, fix) in ranges.items():
        number = _number(value, name, fix)
        if not low < number < high:
            raise ParameterError(parameter=name, problem=f"must lie between {low:g} and {high:g}", fix=f"give {fix}")
        found.append(number)
    chance = _number(delta, "delta", "0, or the delta that is promised")
    if not 0 <= chance < 1:
        raise ParameterError(parameter="delta", problem="must be from 0 to below 1", fix="give the delta promised")
    return found[0], chance, found[1], found[2]


def _number(value: Any, name: str, fix: str) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        problem = f"must be a number, not {type(value).__name__}"
        raise ParameterError(parameter=name, problem=problem, fix=f"give {fix}") from None
