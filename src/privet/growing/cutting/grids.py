"""Public grids: where numbers are cut when nothing is bought about them. All of it follows from the declared bounds."""

from __future__ import annotations

import math
from collections.abc import Sequence
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


def near_zero(schema: Schema, bins: int) -> Schema:
    """Numbers cut into ``bins`` of equal width near zero, and into wider ones further away.

    Amounts, durations and deviations crowd near zero, and a declared range leaves room at its far end. Fewer tests
    there mean fewer trees to choose among, so that a draw affords another level.

    >>> from privet import Categorical, Numeric
    >>> schema = near_zero(Schema((Numeric("income", 0, 100),), Categorical("class", ("no", "yes"))), bins=20)
    >>> schema.attributes[0].cuts.tolist()
    [5.0, 10.0, 15.0, 20.0, 25.0, 30.0, 35.0, 40.0, 50.0, 60.0, 80.0]
    """
    return replace(schema, attributes=tuple(_near_zero(a, bins) for a in schema.attributes))


def closing_in(schema: Schema, bins: int) -> Schema:
    """As ``near_zero``, with three more cuts ever closer to zero, where that is an end.

    In a range that is hundreds of times too wide all records lie below the first cut of any even grid.

    >>> from privet import Categorical, Numeric
    >>> schema = closing_in(Schema((Numeric("income", 0, 1024),), Categorical("class", ("no", "yes"))), bins=16)
    >>> schema.attributes[0].cuts.tolist()
    [1.0, 4.0, 16.0, 64.0, 128.0, 192.0, 256.0, 320.0, 384.0, 512.0, 768.0]
    """
    near = near_zero(schema, bins)
    return replace(schema, attributes=tuple(map(_closing_in, near.attributes, schema.attributes)))


def laddered(schema: Schema, octaves: Sequence[int]) -> Schema:
    """Numbers cut only where their range is halved so often towards zero; few whole numbers into as many even bins."""
    return replace(schema, attributes=tuple(_laddered(a, octaves) for a in schema.attributes))


def public_grids(schema: Schema, bins: int) -> tuple[Schema, ...]:
    """What to fall back on, finest first: each has fewer tests than the one before."""
    return closing_in(schema, bins), *(laddered(schema, octaves) for octaves in LADDERS)


def _near_zero(attribute: Attribute, bins: int) -> Attribute:
    if not isinstance(attribute, Numeric) or attribute.thresholds is not None:
        return attribute
    even = replace(attribute, bins=bins)
    if bins < FEW_BINS or _few_values(even, bins) or len(even.cuts) < bins - 1:
        return even
    nearest = min(max(even.low, 0.0), even.high)
    away = np.abs(even.cuts - nearest) / (even.high - even.low)
    every = np.where(away <= NEAR, 1, np.where(away <= FAR, 2, 4))
    number = np.arange(1, bins) if nearest < even.high else np.arange(bins - 1, 0, -1)
    kept = even.cuts[(number % every == 0) & (even.cuts > even.low)]
    return replace(even, thresholds=tuple(kept.tolist()))


def _closing_in(near: Attribute, declared: Attribute) -> Attribute:
    if not isinstance(near, Numeric) or near.thresholds is None or near == declared or near.low < 0 < near.high:
        return near
    return _cut(near, np.concatenate([near.cuts, _halved(near, CLOSER)]))


def _laddered(attribute: Attribute, octaves: Sequence[int]) -> Attribute:
    if not isinstance(attribute, Numeric) or attribute.thresholds is not None:
        return attribute
    if _few_values(attribute, 2 * FEW_BINS):
        return replace(attribute, bins=len(octaves) + 1)
    inside = attribute.low < 0 < attribute.high  # then on both sides of zero, each with half of the cuts
    return _cut(attribute, _halved(attribute, octaves[1::2] if inside else octaves))


def _few_values(attribute: Numeric, count: int) -> bool:
    return attribute.integer and math.floor(attribute.high) - math.ceil(attribute.low) < count


def _halved(attribute: Numeric, octaves: Sequence[int]) -> Floats:
    """Points at some halvings of the range from zero, or from the bound next to it; some may lie outside."""
    zero = min(max(attribute.low, 0.0), attribute.high)
    steps = (attribute.high - attribute.low) * 0.5 ** np.array(octaves, dtype=np.float64)
    return np.concatenate([zero + steps, zero - steps])


def _cut(attribute: Numeric, points: Floats) -> Numeric:
    if attribute.integer:
        points = np.floor(points) + 0.5
    inside = np.unique(points[(points > attribute.low) & (points < attribute.high)])
    return replace(attribute, thresholds=tuple(inside.tolist())) if inside.size else attribute
