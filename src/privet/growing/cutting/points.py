"""Public points on a number's range, for cuts that are not bought. All follow from declared bounds."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from privet.schema import Attribute, Numeric, Schema

Floats = npt.NDArray[np.float64]

# Cuts further from zero than these shares of a number's range are thinned out: one of two stays, then one of four.
NEAR, FAR = 0.4 + 1e-9, 0.6 + 1e-9
FEW_BINS = 10  # fewer are all kept
CLOSER = (6, 8, 10)  # a cut where the range is halved that often towards zero: bounds may be far too wide
LADDERS = ((1, 2, 4, 6, 8, 10), (1, 3, 6, 9))  # such cuts alone, for numbers so many that each can have few

FINE_EVEN = 80  # fine bins of equal width that a range has at least: those of a grid of 20 among them
FINE_OCTAVES = 24  # how often fine bins halve a range towards zero: bounds may be a million times too wide
FINE_NEAR, FINE_FAR, FINE_EITHER = 4, 1, 3  # fine bins for each halving: towards zero, away from it, on either side
FINE_BINS = 256  # fewer whole numbers have a fine bin each


# -- helpers that all places share -------------------------------------------------------------------------------------


def inside(attribute: Numeric, points: Floats) -> tuple[float, ...]:
    """The points that can be thresholds: ascending, strictly inside the bounds, between whole numbers."""
    if attribute.integer:
        points = np.floor(points) + 0.5
    return tuple(np.unique(points[(points > attribute.low) & (points < attribute.high)]).tolist())


def cut(attribute: Numeric, points: Floats) -> Numeric:
    """The number cut at those of the points that can be thresholds; unchanged if none can."""
    thresholds = inside(attribute, points)
    return replace(attribute, thresholds=thresholds) if thresholds else attribute


def few_values(attribute: Numeric, count: int) -> bool:
    """Whether the number is whole and has at most ``count`` values."""
    return attribute.integer and math.floor(attribute.high) - math.ceil(attribute.low) < count


def halved(attribute: Numeric, octaves: Sequence[int]) -> Floats:
    """Points at some halvings of the range from zero, or from the bound next to it; some may lie outside."""
    zero = min(max(attribute.low, 0.0), attribute.high)
    steps = (attribute.high - attribute.low) * 0.5 ** np.array(octaves, dtype=np.float64)
    return np.concatenate([zero + steps, zero - steps])


def _each_number(schema: Schema, change: Callable[[Numeric], Numeric]) -> Schema:
    """The schema with ``change`` applied to each number that declares no thresholds."""

    def changed(attribute: Attribute) -> Attribute:
        free = isinstance(attribute, Numeric) and attribute.thresholds is None
        return change(attribute) if free else attribute  # type: ignore[arg-type]  # a number, if free

    return replace(schema, attributes=tuple(map(changed, schema.attributes)))


# -- grids -------------------------------------------------------------------------------------------------------------


def near_zero(schema: Schema, bins: int) -> Schema:
    """Numbers cut into ``bins`` of equal width near zero, and into wider ones further away.

    Amounts, durations and deviations are dense near zero, and a declared range leaves room at its far end. Fewer tests
    there mean fewer trees to choose among, so that a draw affords another level.

    >>> from privet import Categorical, Numeric
    >>> schema = near_zero(Schema((Numeric("income", 0, 100),), Categorical("class", ("no", "yes"))), bins=20)
    >>> schema.attributes[0].cuts.tolist()
    [5.0, 10.0, 15.0, 20.0, 25.0, 30.0, 35.0, 40.0, 50.0, 60.0, 80.0]
    """
    return _each_number(schema, lambda attribute: _near_zero(attribute, bins))


def closing_in(schema: Schema, bins: int) -> Schema:
    """As ``near_zero``, with three more cuts ever closer to zero, if that is an end.

    In a range that is hundreds of times too wide all records lie below the first cut of any even grid.

    >>> from privet import Categorical, Numeric
    >>> schema = closing_in(Schema((Numeric("income", 0, 1024),), Categorical("class", ("no", "yes"))), bins=16)
    >>> schema.attributes[0].cuts.tolist()
    [1.0, 4.0, 16.0, 64.0, 128.0, 192.0, 256.0, 320.0, 384.0, 512.0, 768.0]
    """

    def close_in(attribute: Numeric) -> Numeric:
        near = _near_zero(attribute, bins)
        if near.thresholds is None or near.low < 0 < near.high:
            return near
        return cut(near, np.concatenate([near.cuts, halved(near, CLOSER)]))

    return _each_number(schema, close_in)


def laddered(schema: Schema, octaves: Sequence[int]) -> Schema:
    """Numbers cut only at these halvings of their range towards zero; few whole numbers into as many even bins."""

    def on_ladder(attribute: Numeric) -> Numeric:
        if few_values(attribute, 2 * FEW_BINS):
            return replace(attribute, bins=len(octaves) + 1)
        both_sides = attribute.low < 0 < attribute.high  # of zero: each has half of the cuts
        return cut(attribute, halved(attribute, octaves[1::2] if both_sides else octaves))

    return _each_number(schema, on_ladder)


def public_grids(schema: Schema, bins: int) -> tuple[Schema, ...]:
    """Fallback grids, finest first: each has fewer tests than the one before."""
    return closing_in(schema, bins), *(laddered(schema, octaves) for octaves in LADDERS)


def _near_zero(attribute: Numeric, bins: int) -> Numeric:
    even = replace(attribute, bins=bins)
    if bins < FEW_BINS or few_values(even, bins) or len(even.cuts) < bins - 1:
        return even
    nearest = min(max(even.low, 0.0), even.high)
    away = np.abs(even.cuts - nearest) / (even.high - even.low)
    every = np.where(away <= NEAR, 1, np.where(away <= FAR, 2, 4))
    number = np.arange(1, bins) if nearest < even.high else np.arange(bins - 1, 0, -1)
    kept = even.cuts[(number % every == 0) & (even.cuts > even.low)]
    return replace(even, thresholds=tuple(kept.tolist()))


# -- fine bins ---------------------------------------------------------------------------------------------------------


def fine_bins(schema: Schema) -> Schema:
    """The schema with numbers cut finely, more so near zero. Declared cuts are kept."""
    return _each_number(schema, _fine)


def _fine(attribute: Numeric) -> Numeric:
    low, high = attribute.low, attribute.high
    if few_values(attribute, FINE_BINS - 2):
        return cut(attribute, np.arange(math.ceil(low), math.floor(high), dtype=np.float64) + 0.5)
    if low < 0 < high:
        ends = [high * _halvings(FINE_EITHER), low * _halvings(FINE_EITHER)]
    else:
        up, down = (FINE_NEAR, FINE_FAR) if abs(low) <= abs(high) else (FINE_FAR, FINE_NEAR)
        ends = [low + (high - low) * _halvings(up), high - (high - low) * _halvings(down)]
    return cut(attribute, np.concatenate([np.linspace(low, high, FINE_EVEN + 1)[1:-1], *ends]))


def _halvings(each: int) -> Floats:
    """Shares of a range, down to less than a millionth of it, ``each`` per halving."""
    return np.asarray(2.0 ** (-np.arange(1, each * FINE_OCTAVES + 1) / each))
