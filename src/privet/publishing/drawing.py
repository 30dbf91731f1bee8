"""Draw values uniformly from boxes of codes, by ordinary randomness on public numbers."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from privet.schema import Numeric
from privet.schema.attributes import Attribute

Bools = npt.NDArray[np.bool_]


def draw_values(
    attribute: Attribute, boxes: Bools, sizes: npt.NDArray[np.int64], random: np.random.Generator
) -> npt.NDArray[np.object_]:
    """Draw the given number of values of the attribute for each box (a row of possible codes), box after box.

    Numbers are uniform over the widths of their bins; categories are equally likely.

    >>> age, lower_half = Numeric("age", 0, 100, integer=True, bins=2), np.array([[True, False]])
    >>> drawn = draw_values(age, lower_half, np.array([20]), np.random.default_rng(0))
    >>> all(value in range(51) for value in drawn)
    True
    """
    weights = _weights(attribute)
    drawn = np.empty(int(sizes.sum()), dtype=object)
    start = 0
    codes = np.empty(len(drawn), dtype=np.intp)
    for box, size in zip(boxes, sizes.tolist(), strict=True):
        share = np.where(box, weights, 0.0)
        share = share if share.sum() > 0 else box.astype(np.float64)
        codes[start : start + size] = random.choice(len(share), size, p=share / share.sum())
        start += size
    if isinstance(attribute, Numeric):
        drawn[:] = _numbers(attribute, codes, random)
    else:
        drawn[:] = np.array(attribute.values, dtype=object)[codes]
    return drawn


def round_at_random(counts: npt.NDArray[np.float64], random: np.random.Generator) -> npt.NDArray[np.int64]:
    """Round to whole numbers whose mean is the count."""
    whole = np.floor(counts)
    return (whole + (random.random(counts.shape) < counts - whole)).astype(np.int64)


def _weights(attribute: Attribute) -> npt.NDArray[np.float64]:
    if not isinstance(attribute, Numeric):
        return np.ones(attribute.arity)
    bins = [high - low + 1 if attribute.integer else high - low for low, high in _ends(attribute)]
    # A missing value weighs as much as a bin, where a box has both.
    return np.array([*bins, *([float(np.mean(bins))] if attribute.missing is not None else [])], dtype=np.float64)


def _ends(attribute: Numeric) -> list[tuple[float, float]]:
    """The lowest and highest number of each bin; whole ones for an integer attribute (crossed if there are none)."""
    edges = [attribute.low, *attribute.cuts.tolist(), attribute.high]
    pairs = list(pairwise(edges))
    if not attribute.integer:
        return pairs
    first = [math.ceil(pairs[0][0]), *(math.floor(low) + 1 for low, _ in pairs[1:])]
    return [(low, max(math.floor(high), low - 1)) for low, (_, high) in zip(first, pairs, strict=True)]


def _numbers(attribute: Numeric, codes: npt.NDArray[np.intp], random: np.random.Generator) -> list[Any]:
    ends = np.array([*_ends(attribute), (0.0, 0.0)])
    missing = len(ends) - 1
    low, high = ends[np.minimum(codes, missing)].T
    place = random.random(len(codes))
    if attribute.integer:
        values = [int(v) for v in np.minimum(low + np.floor(place * (high - low + 1)), np.maximum(high, low))]
    else:
        values = (high - place * (high - low)).tolist()  # above the lower cut, which belongs to the bin below
    return [attribute.missing if code == missing else value for code, value in zip(codes.tolist(), values, strict=True)]
