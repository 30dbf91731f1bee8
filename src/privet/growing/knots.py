"""Where an additive model's curves may bend: public knots, and the terms that they make of a schema.

A number is read as one of some two hundred public bins, and a curve is a straight line between knots: each bin is a mix
of the two knots around its middle. So a term needs nothing but codes, and any engine can count it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from privet.schema import Attribute, Categorical, Numeric, Schema
from privet.structure.terms import UNIT, Term

Floats = npt.NDArray[np.float64]

EVEN = 80  # bins of equal width that a number's range has at least: those of a grid of 20 among them
OCTAVES = 24  # towards zero, or the bound next to it, and halfway as many towards the others: two bins each
FEW = 9  # whole numbers up to which each has a knot of its own
# Shares of the range, from zero or the bound next to it: amounts, durations and deviations crowd there.
COARSE = (1 / 32, 1 / 16, 1 / 8, 1 / 4, 3 / 8, 1 / 2, 3 / 4)
FINE = (1 / 64, 1 / 32, 1 / 16, 3 / 32, 1 / 8, 3 / 16, 1 / 4, 3 / 8, 1 / 2, 3 / 4)
COARSE_ROUND_ZERO = (1 / 16, 1 / 4, 1 / 2)
FINE_ROUND_ZERO = (1 / 64, 1 / 16, 1 / 4, 1 / 2)
PAIR = (1 / 16, 1 / 4, 1 / 2)
PAIR_ROUND_ZERO = (1 / 8,)
PAIR_FEW = 5


def fine_bins(schema: Schema) -> Schema:
    """The same facts with numbers cut finely, more so near zero. Those that have cuts of their own keep them."""
    return replace(schema, attributes=tuple(map(_fine, schema.attributes)))


def _fine(attribute: Attribute) -> Attribute:
    if not isinstance(attribute, Numeric) or attribute.thresholds is not None:
        return attribute
    low, high = attribute.low, attribute.high
    first, last = math.ceil(low), math.floor(high)
    if attribute.integer and last - first < 256 - 2:
        cuts = np.arange(first, last) + 0.5
    else:
        width = high - low
        octaves = 2.0 ** (-np.arange(1, 2 * OCTAVES + 1) / 2)
        cuts = np.linspace(low, high, EVEN + 1)[1:-1]
        if low < 0 < high:
            cuts = np.concatenate([cuts, high * octaves, low * octaves])
        else:
            near, far = (octaves, octaves[:OCTAVES]) if abs(low) <= abs(high) else (octaves[:OCTAVES], octaves)
            cuts = np.concatenate([cuts, low + width * near, high - width * far])
        if attribute.integer:
            cuts = np.floor(cuts) + 0.5
    cuts = np.unique(cuts[(cuts > low) & (cuts < high)])
    return replace(attribute, thresholds=tuple(cuts.tolist())) if cuts.size else attribute


def middles(numeric: Numeric) -> Floats:
    """The number that each bin stands for: its middle."""
    edges = np.concatenate([[numeric.low], numeric.cuts, [numeric.high]])
    return edges[:-1] / 2 + edges[1:] / 2


def public_knots(numeric: Numeric, near: Sequence[float], round_zero: Sequence[float], few: int) -> Floats:
    """Knots at public shares of the range; at every whole number where there are few."""
    low, high = numeric.low, numeric.high
    if numeric.integer and math.floor(high) - math.ceil(low) < few:
        return np.arange(math.ceil(low), math.floor(high) + 1, dtype=np.float64)
    if low < 0 < high:
        shares = np.array(round_zero)
        inner = np.concatenate([high * shares, [0.0], low * shares])
    else:
        shares = (high - low) * np.array(near)
        inner = low + shares if abs(low) <= abs(high) else high - shares
    return np.unique(np.concatenate([[low], inner[(inner > low) & (inner < high)], [high]]))


def hats(attribute: int, numeric: Numeric, knots: Floats) -> Term:
    """Every bin a mix of the two knots around its middle; a missing value has a cell of its own, the last.

    >>> hats(0, Numeric("age", 0, 100, bins=4), np.array([0.0, 50.0, 100.0])).weights[0].tolist()
    [786432, 262144]
    """
    at = middles(numeric)
    left = np.clip(np.searchsorted(knots, at, side="right") - 1, 0, len(knots) - 2)
    share = np.clip((at - knots[left]) / (knots[left + 1] - knots[left]), 0, 1)
    right = np.rint(share * UNIT).astype(np.int64)
    cells, weights = np.stack([left, left + 1], axis=1), np.stack([UNIT - right, right], axis=1)
    if numeric.missing is not None:
        cells, weights = np.vstack([cells, [len(knots)] * 2]), np.vstack([weights, [UNIT, 0]])
    cells = np.where(weights > 0, cells, cells[:, ::-1])  # a part of nothing has no cell of its own
    number = np.unique(cells, return_inverse=True)[1].reshape(cells.shape)  # a knot between two bins is in none
    return Term.of((attribute,), [np.arange(numeric.arity)], number, weights)


@dataclass(frozen=True, eq=False)
class Basis:
    """A term, and for each of its attributes the knots that it has there; none where every code has a cell."""

    term: Term
    knots: tuple[tuple[float, ...], ...]


def main_basis(schema: Schema, a: int, *, fine: bool = False) -> Basis:
    """One attribute: a cell for each category (or bin, where there are few), or knots."""
    attribute = schema.attributes[a]
    if isinstance(attribute, Categorical) or attribute.arity <= FEW:
        return Basis(Term.one_hot((a,), [np.arange(attribute.arity)], attribute.arity), ((),))
    near, round_zero = (FINE, FINE_ROUND_ZERO) if fine else (COARSE, COARSE_ROUND_ZERO)
    knots = public_knots(attribute, near, round_zero, FEW)
    return Basis(hats(a, attribute, knots), (tuple(knots.tolist()),))
