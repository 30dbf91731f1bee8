"""The axis of a number below a curve: wider where the curve can bend, with round numbers as ticks.

A skewed number, such as an income, has most of its records in a small part of its range. Where they lie is private, but
the cuts and knots of the model are not: they are public, or were bought. So each stretch between two of them gets half
of an equal share of the axis, beside half of its share of the range. With even cuts the axis is even.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

EVEN = 0.02  # of the axis: who moves less than that from an even axis cannot see it
LETTER = 6.0  # the mean width of a letter of a tick, in pixels
GAP = 14.0  # pixels between two ticks
STEPS = (5.0, 2.0, 1.0)  # times powers of ten: round numbers
DECADES = 4  # how much finer than the range ticks become


@dataclass(frozen=True, eq=False)
class Axis:
    """The places of ``points`` between ``left`` and ``right``, in pixels; straight between them."""

    points: Floats
    places: Floats
    left: float
    right: float

    @classmethod
    def of(cls, points: Sequence[float], left: float, right: float) -> Axis:
        """An axis from the least to the largest of two points or more.

        >>> axis = Axis.of([0, 10, 100, 1000], 0, 300)
        >>> [round(axis.across(number)) for number in (0, 10, 100, 1000)]
        [0, 52, 115, 300]
        """
        known = np.unique(np.asarray(points, dtype=np.float64))
        by_range = (known - known[0]) / (known[-1] - known[0])
        by_number = np.linspace(0.0, 1.0, len(known))
        return cls(known, left + (right - left) * (by_range + by_number) / 2, left, right)

    def across(self, number: float) -> float:
        return float(np.interp(number, self.points, self.places))

    @property
    def even(self) -> bool:
        """Whether it cannot be told from an even one."""
        straight = np.interp(self.points, self.points[[0, -1]], [self.left, self.right])
        return bool(np.abs(self.places - straight).max() <= EVEN * (self.right - self.left))

    def ticks(self) -> list[tuple[float, str]]:
        """The place and text of both ends, and of as many round numbers as have room, the roundest first."""
        low, high = float(self.points[0]), float(self.points[-1])
        taken = [
            (self.left, self.left + _wide(low), low, self.left),
            (self.right - _wide(high), self.right, high, self.right),
        ]
        for number in _round_numbers(low, high):
            place = self.across(number)
            start, end = place - _wide(number) / 2, place + _wide(number) / 2
            if all(end + GAP <= other_start or other_end + GAP <= start for other_start, other_end, *_ in taken):
                taken.append((start, end, number, place))
        return [(place, axis_words(number)) for *_, number, place in sorted(taken)]


def axis_words(number: float) -> str:
    """A number below an axis.

    >>> axis_words(37.0), axis_words(2_000_000.0), axis_words(0.05)
    ('37', '2,000,000', '0.05')
    """
    return f"{number:,.6g}" if abs(number) < 1e6 else f"{number:,.0f}"


def _wide(number: float) -> float:
    return LETTER * len(axis_words(number))


def _round_numbers(low: float, high: float) -> Iterator[float]:
    """Round numbers between two numbers, from coarse to fine."""
    top = math.floor(math.log10(high - low))
    for power in range(top, top - DECADES, -1):
        for step in (size * 10.0**power for size in STEPS):
            first, last = math.ceil(low / step), math.floor(high / step)
            if last - first > 200:  # finer ones have no room
                near_zero = range(max(first, -10), min(last, 10) + 1)
                yield from (number for times in near_zero if low < (number := times * step) < high)
                continue
            yield from (number for times in range(first, last + 1) if low < (number := times * step) < high)
