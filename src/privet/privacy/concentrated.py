"""Zero-concentrated differential privacy (zCDP): what a rho is worth in (epsilon, delta), and what it buys.

A fit under zCDP is paid for as a whole, by one charge of (epsilon, delta). That buys a rho, once, by the tight
conversion. Inside the fit each question costs a part of this rho, and parts add up: a hundred questions make each
noisier by a factor of ten, not of a hundred. Claims and proofs: ``docs/proofs/zcdp.md``.

>>> rho = rho_of(Fraction(1), Fraction(1, 10**6))
>>> round(float(rho), 4), epsilon_of(rho, Fraction(1, 10**6)) <= 1
(0.0244, True)
"""

from __future__ import annotations

import decimal
import math
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from functools import lru_cache

from privet.errors import EpsilonError
from privet.privacy.budget import epsilon as parse_amount
from privet.privacy.losses import Loss

GAUSSIAN = "discrete Gaussian"
ZCDP = "zCDP"  # the mechanism of the one charge that pays for work in rho
_DIGITS = 50  # of the conversion, each step rounded towards the safe side
_SHOWN = 6  # digits of a rho that an (epsilon, delta) buys, rounded down: a rational that can be read
_MOST = Fraction(100)  # no more epsilon is converted: beyond, a promise means nothing
_GOLDEN = (math.sqrt(5) - 1) / 2


class Currency(StrEnum):
    """What an account counts in, and so what a number means that is spent there. The default is epsilon.

    Scales are those of the noise of a count on which one row has a weight of 1: its standard deviation by the square
    root of 2, which is the parameter of Laplace noise. ``steps`` are those of the neighbour relation.
    """

    EPSILON = "epsilon"
    RHO = "rho"

    def loss(self, amount: object) -> Loss:
        """A number that is spent, or a ``Loss``; a pure epsilon costs epsilon^2/2 where rho is counted."""
        if self is Currency.EPSILON:
            return Loss.of(amount)
        if not isinstance(amount, Loss):
            return Loss(rho=parse_amount(amount, "rho"))
        Loss.of(amount)
        if amount.delta:
            raise EpsilonError("work under zCDP spends rho or pure epsilon, and no delta of its own")
        return Loss(rho=amount.rho + amount.epsilon**2 / 2)

    def scale(self, amount: Fraction, steps: int) -> Fraction:
        """The scale of the noise that an amount buys."""
        return steps / amount if self is Currency.EPSILON else steps / (2 * root_down(amount))

    def price(self, scale: Fraction, steps: int) -> Fraction:
        """The amount that buys noise of this scale."""
        return steps / scale if self is Currency.EPSILON else Fraction(steps**2) / (4 * scale**2)

    @property
    def power(self) -> int:
        """An amount that is k times smaller buys noise that is k^(1/power) times larger."""
        return 1 if self is Currency.EPSILON else 2


def choice_epsilon(loss: Loss) -> Fraction:
    """The epsilon of an exponential mechanism: bounded range makes it epsilon^2/8-zCDP."""
    return root_down(8 * loss.rho) if loss.rho else loss.epsilon


def pure_epsilon(loss: Loss) -> Fraction:
    """The epsilon of any other pure mechanism, which is epsilon^2/2-zCDP."""
    return root_down(2 * loss.rho) if loss.rho else loss.epsilon


def gaussian_scale(squares: int, rho: Fraction) -> float:
    """The standard deviation of the noise on integers whose squared changes by one row add up to ``squares``."""
    return root_up(Fraction(squares) / (2 * rho))


def root_down(value: Fraction) -> Fraction:
    """The square root, rounded down to a double."""
    root = math.sqrt(value)
    while Fraction(root) ** 2 > value:
        root = math.nextafter(root, 0.0)
    return Fraction(root)


def root_up(value: Fraction) -> float:
    """The square root, rounded up to a double."""
    root = math.sqrt(value)
    while Fraction(root) ** 2 < value:
        root = math.nextafter(root, math.inf)
    return root


def epsilon_of(rho: Fraction, delta: Fraction) -> Fraction:
    """An epsilon such that rho-zCDP is (epsilon, delta)-DP, rounded up (Canonne, Kamath and Steinke 2020)."""
    beyond = Decimal(f"{_best_beyond(float(rho), float(delta)):.9g}")  # the order less 1: any number above 0 will do
    order = 1 + beyond  # exact: the two together have fewer digits than the context
    with decimal.localcontext(decimal.Context(prec=_DIGITS, rounding=decimal.ROUND_FLOOR)):
        small = Decimal(delta.numerator) / Decimal(delta.denominator)
        logs = small.ln().next_minus() + order.ln().next_minus()  # ln() rounds to the nearest number
    with decimal.localcontext(decimal.Context(prec=_DIGITS, rounding=decimal.ROUND_CEILING)):
        shrink = (beyond / order).ln().next_plus()
        return Fraction(Decimal(rho.numerator) / Decimal(rho.denominator) * order + shrink - logs / beyond)


@lru_cache(maxsize=256)
def rho_of(epsilon: Fraction, delta: Fraction) -> Fraction:
    """The largest rho of some digits that is (epsilon, delta)-DP, rounded down."""
    if not 0 < delta < 1:
        raise EpsilonError(
            parameter="delta", problem=f"must be above 0 and below 1 for zCDP, not {delta}", fix="choose such as 1e-6"
        )
    if epsilon > _MOST:
        raise EpsilonError(parameter="epsilon", problem=f"must be at most {_MOST} for zCDP, not {epsilon}")
    low, high = 0.0, float(epsilon) + 1.0  # more than any delta below 1/2 gives
    for _ in range(100):
        middle = (low + high) / 2
        better = _bound(_best_beyond(middle, float(delta)), middle, float(delta)) <= epsilon
        low, high = (middle, high) if better else (low, middle)
    rho = _rounded_down(low)
    while rho and epsilon_of(rho, delta) > epsilon:  # doubles may be too hopeful by some last digits
        rho = _rounded_down(float(rho) * (1 - 10.0**-_SHOWN))
    if not rho:
        raise EpsilonError(
            parameter="epsilon", problem=f"is too small for zCDP at delta {delta}", fix="leave delta out"
        )
    return rho


def _rounded_down(rho: float) -> Fraction:
    with decimal.localcontext(decimal.Context(prec=_SHOWN, rounding=decimal.ROUND_FLOOR)):
        return Fraction(+Decimal(rho))


def _bound(beyond: float, rho: float, delta: float) -> float:
    """The epsilon of the order 1 + ``beyond``, in doubles."""
    order = 1 + beyond
    return order * rho - math.log1p(1 / beyond) - (math.log(delta) + math.log1p(beyond)) / beyond


def _best_beyond(rho: float, delta: float) -> float:
    """Where the bound is least, about, by golden sections: every order above 1 gives a bound."""
    low, high = -28.0, 55.0  # of the logarithm; the bound has one valley
    for _ in range(70):
        left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
        if _bound(math.exp(left), rho, delta) <= _bound(math.exp(right), rho, delta):
            high = right
        else:
            low = left
    return math.exp((low + high) / 2)
