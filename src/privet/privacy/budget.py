"""Epsilon as an exact rational, and the two neighbour relations.

>>> epsilon(0.1) + epsilon(0.2) == epsilon(0.3)
True
"""

from __future__ import annotations

import math
from enum import StrEnum
from fractions import Fraction
from numbers import Rational, Real

from privet.errors import EpsilonError, ParameterError

INFINITY = math.inf
_LEAST = Fraction(1, 10**100)
Total = Fraction | float
"""A total loss: an exact rational, or ``INFINITY`` for what is not private at all."""


class Neighbours(StrEnum):
    """Which tables a guarantee compares. Proof of the factor: ``docs/proofs/neighbours.md``."""

    ADD_REMOVE = "add-remove"
    REPLACE_ONE = "replace-one"

    @property
    def steps(self) -> int:
        """How many additions and removals one change of this relation is made of."""
        return 1 if self is Neighbours.ADD_REMOVE else 2

    @classmethod
    def parse(cls, value: str | Neighbours) -> Neighbours:
        try:
            return cls(value)
        except ValueError:
            choices = " or ".join(repr(member.value) for member in cls)
            raise ParameterError(f"neighbours must be {choices}, not {value!r}") from None


def epsilon(value: object, name: str = "epsilon") -> Fraction:
    """Read a positive finite epsilon exactly; a float is read as the decimal it prints, so 0.1 is 1/10.

    >>> epsilon(0.1)
    Fraction(1, 10)
    """
    if isinstance(value, Fraction):
        exact = value
    elif isinstance(value, bool) or not isinstance(value, Real):
        raise EpsilonError(f"{name} must be a positive number such as 0.5, not {type(value).__name__}")
    elif isinstance(value, Rational):
        exact = Fraction(int(value.numerator), int(value.denominator))
    elif not math.isfinite(value):
        raise EpsilonError(f"{name} must be finite, not {float(value)}; choose a positive number such as 0.5")
    else:
        exact = Fraction(str(value))  # numpy's float32 too prints what its owner typed
    if exact <= 0:
        raise EpsilonError(f"{name} must be greater than 0, not {exact}; choose a number such as 0.5")
    if not _LEAST <= exact <= 1 / _LEAST:
        raise EpsilonError(f"{name} must lie between 1e-100 and 1e100, where noise can be drawn; choose such as 0.5")
    return exact


def float_up(value: Fraction) -> float:
    """The smallest double that is at least ``value``: rounding a noise scale down would cost privacy."""
    nearest = float(value)
    return nearest if Fraction(nearest) >= value else math.nextafter(nearest, math.inf)
