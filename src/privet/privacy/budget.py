"""Epsilon as an exact rational, and the two neighbour relations.

>>> epsilon(0.1) + epsilon(0.2) == epsilon(0.3)
True
"""

from __future__ import annotations

import math
import re
from enum import StrEnum
from fractions import Fraction
from numbers import Rational, Real

from privet.errors import EpsilonError, ParameterError

INFINITY = math.inf
_LEAST = Fraction(1, 10**100)
_MOST_BITS = 7_000  # of a denominator: some 2,100 digits, so that Python can still write the difference of two
_SHOWN = 40  # characters of a wrong number that a message repeats
_MOST_DIGITS = 4_300  # of a numerator or a denominator: Python reads and writes no longer ones
_WRITTEN = re.compile(
    r"[+-]?(?:(?P<top>[0-9]+)/(?P<bottom>[0-9]+)|(?=\.?[0-9])(?P<whole>[0-9]*)\.?(?P<part>[0-9]*)(?:[eE](?P<power>[+-]?[0-9]+))?)"
)
Total = Fraction | float
"""A total loss: an exact rational, or ``INFINITY`` for what is not private at all."""


class Neighbours(StrEnum):
    """Which tables a promise compares. Proof of the factor: ``docs/proofs/neighbours.md``."""

    ADD_REMOVE = "add-remove"
    REPLACE_ONE = "replace-one"

    @property
    def steps(self) -> int:
        """How many additions and removals one change in this relation consists of."""
        return 1 if self is Neighbours.ADD_REMOVE else 2

    @classmethod
    def parse(cls, value: str | Neighbours) -> Neighbours:
        try:
            return cls(value)
        except ValueError:
            choices = " or ".join(repr(member.value) for member in cls)
            raise ParameterError(parameter="neighbours", problem=f"must be {choices}, not {value!r}") from None


def exact(value: object, name: str) -> Fraction:
    """Read a finite number exactly; a float is read as the decimal it prints, so 0.1 is 1/10."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise EpsilonError(parameter=name, problem=f"must be a positive number such as 0.5, not {type(value).__name__}")
    if isinstance(value, Rational):
        number = Fraction(int(value.numerator), int(value.denominator))
    elif not math.isfinite(value):
        raise EpsilonError(
            parameter=name, problem=f"must be finite, not {float(value)}", fix="choose a positive number such as 0.5"
        )
    else:
        number = Fraction(str(value))  # numpy's float32 too prints what its owner typed
    return number


def read_fraction(text: object, name: str) -> Fraction:
    """Read a number from the text of a file or a command exactly; its length is bounded before it is computed.

    ``Fraction("1e999999999")`` would run for hours. The sign and the range are the caller's business.

    >>> read_fraction("1/3", "epsilon"), read_fraction("2.5e-1", "epsilon")
    (Fraction(1, 3), Fraction(1, 4))
    """
    if not isinstance(text, str):
        raise EpsilonError(
            parameter=name, problem=f"must be a number written as text, such as '0.5', not {type(text).__name__}"
        )
    # The pattern never runs over more than the longest number there is: a sign, a bar and two times the digits.
    found = _WRITTEN.fullmatch(text) if len(text) <= 2 * _MOST_DIGITS + 2 else None
    if found is None or _digits(found) > _MOST_DIGITS:
        shown = repr(text) if len(text) <= _SHOWN else f"text of {len(text)} characters"
        raise EpsilonError(
            parameter=name, problem=f"must be a number such as 0.5 or 1/3 of at most 4,300 digits, not {shown}"
        )
    if found["bottom"] is not None and not found["bottom"].strip("0"):
        raise EpsilonError(parameter=name, problem="must be a number such as 0.5 or 1/3, not one divided by 0")
    return Fraction(text)


def _digits(found: re.Match[str]) -> int:
    """At least as many digits as the longer of numerator and denominator has once the power is written out."""
    if found["bottom"] is not None:
        return max(len(found["top"]), len(found["bottom"]))
    power = found["power"] or "0"
    if len(power) > len(str(_MOST_DIGITS)) + 1:  # one for the sign; longer ones may not even be read
        return _MOST_DIGITS + 1
    return len(found["whole"]) + len(found["part"]) + abs(int(power))


def epsilon(value: object, name: str = "epsilon") -> Fraction:
    """Read a positive epsilon exactly.

    >>> epsilon(0.1)
    Fraction(1, 10)
    """
    number = exact(value, name)
    if number <= 0:
        raise EpsilonError(
            parameter=name, problem=f"must be greater than 0, not {number}", fix="choose a number such as 0.5"
        )
    if not _LEAST <= number <= 1 / _LEAST:
        raise EpsilonError(
            parameter=name,
            problem="must lie between 1e-100 and 1e100, where noise can be drawn",
            fix="choose such as 0.5",
        )
    check_digits(number, name)
    return number


def delta(value: object) -> Fraction:
    """Read a delta exactly: 0 for pure epsilon, or a small number below 1."""
    number = exact(value, "delta")
    if not 0 <= number < 1:
        raise EpsilonError(
            parameter="delta", problem=f"must be 0 or a small number below 1, such as 1e-6, not {number}"
        )
    check_digits(number, "delta")
    return number


def check_digits(number: Fraction, name: str) -> None:
    """Refuse what cannot be written down: Python neither prints nor reads numbers of more than 4,300 digits."""
    if number.denominator.bit_length() > _MOST_BITS:
        raise EpsilonError(parameter=name, problem="has thousands of digits", fix="round it to a number such as 0.5")


def float_up(value: Fraction) -> float:
    """The smallest double that is at least ``value``: rounding a noise scale down would cost privacy."""
    nearest = float(value)
    return nearest if Fraction(nearest) >= value else math.nextafter(nearest, math.inf)
