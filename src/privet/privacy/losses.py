"""A loss of privacy as a value: (epsilon, delta), and rho inside work under zCDP, all exact.

Proofs: ``docs/proofs/composition.md`` and ``docs/proofs/zcdp.md``.

>>> Loss(0.5) + Loss(0.25, 1e-6)
Loss(epsilon=Fraction(3, 4), delta=Fraction(1, 1000000), rho=Fraction(0, 1))
>>> Loss(0.5) | Loss(0.25, 1e-6)
Loss(epsilon=Fraction(1, 2), delta=Fraction(1, 1000000), rho=Fraction(0, 1))
"""

from __future__ import annotations

import decimal
from dataclasses import dataclass
from fractions import Fraction

from privet.errors import EpsilonError, ParameterError
from privet.privacy.budget import epsilon as parse_epsilon
from privet.privacy.budget import exact, read_fraction

CURRENCIES = ("epsilon", "delta", "rho")
_ZERO = Fraction(0)
_PRECISION = 50  # digits of a group factor, the last one rounded up
_MOST = 10**100  # no budget is larger, see budget.epsilon
_LONGEST = 200  # bits of a denominator that is still printed
_BEYOND = 2_000  # e^2000 times any useful delta is far above 1


@dataclass(frozen=True, slots=True)
class Loss:
    """How far one record can move the chances of what is released: by a factor e^epsilon, and delta in addition.

    Losses in sequence add up (``+``). Over disjoint parts the componentwise maximum counts (``|``), as a record is in
    one part only. ``loss * k`` is what a person with ``k`` records loses, ``loss / k`` what each record may lose so
    that ``k`` of them lose at most ``loss``. ``-`` is what is left, never below zero.

    ``rho`` is a loss under zero-concentrated differential privacy. Only accounts that were paid for by an (epsilon,
    delta) as a whole count in it: :mod:`privet.privacy.concentrated`.
    """

    epsilon: Fraction = _ZERO
    delta: Fraction = _ZERO
    rho: Fraction = _ZERO

    def __post_init__(self) -> None:
        for name in CURRENCIES:
            number = getattr(self, name)
            if type(number) is not Fraction:
                number = exact(number, name)
                object.__setattr__(self, name, number)
            if number.numerator < 0:
                raise EpsilonError(f"{name} must not be negative, as {number} is; a loss is at least 0")

    @classmethod
    def of(cls, value: object) -> Loss:
        """A loss that can be charged: a ``Loss`` above zero, or a positive epsilon."""
        if not isinstance(value, Loss):
            return cls(parse_epsilon(value))
        for name in ("epsilon", "rho"):
            if getattr(value, name):
                parse_epsilon(getattr(value, name), name)
        if value == NOTHING or value.delta >= 1:
            raise ParameterError(f"a loss of {value} cannot be charged: it must not be nothing, and its delta below 1")
        return value

    @classmethod
    def read(cls, text: object) -> Loss:
        """The inverse of ``str``: ``1/2`` is pure, ``1/2, 1/1000`` has a delta, ``0, 0, 1/50`` is a rho.

        What cannot be charged is refused.
        """
        parts = text.split(", ", len(CURRENCIES) - 1) if isinstance(text, str) else [text]
        read = cls(*(read_fraction(part, name) for part, name in zip(parts, CURRENCIES, strict=False)))
        if max(read.epsilon, read.rho) > _MOST or read.delta > 1:
            raise EpsilonError("a loss has an epsilon or a rho of at most 1e100 and a delta of at most 1")
        if len(parts) == len(CURRENCIES) and not read.rho:
            raise EpsilonError("a loss without rho is written without it")
        return read

    def __str__(self) -> str:
        if self.rho:
            return f"{self.epsilon}, {self.delta}, {self.rho}"
        return f"{self.epsilon}, {self.delta}" if self.delta else str(self.epsilon)

    def __format__(self, how: str) -> str:
        """``brief`` is for people, see :func:`brief`."""
        if how != "brief":
            return str(self)
        if self.rho:  # of work under zCDP, which counts in nothing else
            return brief(self.rho)
        return f"{brief(self.epsilon)}, {brief(self.delta)}" if self.delta else brief(self.epsilon)

    def __add__(self, other: Loss) -> Loss:
        # A fit adds up thousands, most of them nothing or in one currency: zeros are left out.
        if other is NOTHING:
            return self
        return Loss(
            self.epsilon + other.epsilon if other.epsilon else self.epsilon,
            self.delta + other.delta if other.delta else self.delta,
            self.rho + other.rho if other.rho else self.rho,
        )

    def __sub__(self, other: Loss) -> Loss:
        if other is NOTHING:
            return self
        return Loss(
            max(_ZERO, self.epsilon - other.epsilon) if other.epsilon else self.epsilon,
            max(_ZERO, self.delta - other.delta) if other.delta else self.delta,
            max(_ZERO, self.rho - other.rho) if other.rho else self.rho,
        )

    def __or__(self, other: Loss) -> Loss:
        return Loss(max(self.epsilon, other.epsilon), max(self.delta, other.delta), max(self.rho, other.rho))

    def __le__(self, other: Loss) -> bool:
        return self.epsilon <= other.epsilon and self.delta <= other.delta and self.rho <= other.rho

    def __mul__(self, rows: int) -> Loss:
        """``rows`` records together: rho grows with the square; the delta is rounded up, and is never more than 1."""
        factor = _group_factor(self.epsilon, rows) if self.delta else Fraction(1)
        delta = Fraction(1) if factor is None else min(Fraction(1), self.delta * factor)
        return Loss(rows * self.epsilon, delta, rows**2 * self.rho)

    def __truediv__(self, rows: int) -> Loss:
        """The share of one of ``rows`` records; the delta is rounded down."""
        share = self.epsilon / rows
        factor = _group_factor(share, rows) if self.delta else Fraction(1)
        return Loss(share, _ZERO if factor is None else self.delta / factor, self.rho / rows**2)


NOTHING = Loss()
UNLIMITED = Loss(*[Fraction(10**200)] * len(CURRENCIES))  # for accounts limited only by the accounts above them


def brief(number: Fraction) -> str:
    """A number for people: a decimal where that is exact, else the fraction, unless it is long.

    >>> brief(Fraction(1, 4)), brief(Fraction(1, 3)), brief(Fraction(1, 3**200))
    ('0.25', '1/3', 'about 3.76486e-96')
    """
    decimal = f"{float(number):g}"
    if Fraction(decimal) == number:
        return decimal
    return f"about {decimal}" if number.denominator.bit_length() > _LONGEST else str(number)


def _group_factor(epsilon: Fraction, rows: int) -> Fraction | None:
    """1 + e^epsilon + ... + e^((rows - 1) epsilon), rounded up; None if it is too large to compute."""
    if rows * epsilon > _BEYOND:
        return None
    with decimal.localcontext(decimal.Context(prec=_PRECISION, rounding=decimal.ROUND_CEILING)):
        # exp() always rounds to the nearest number, so the next number up is a bound.
        ratio = (decimal.Decimal(epsilon.numerator) / decimal.Decimal(epsilon.denominator)).exp().next_plus()
        total = decimal.Decimal(1)
        for _ in range(rows - 1):
            total = total * ratio + 1
    return Fraction(total)
