"""The terms of an additive model's curves: piecewise linear between knots, which are public or bought.

A number is coded as one of some two hundred public bins, and each bin is a mix of the two knots around its midpoint. So
a term needs only codes, and any engine can count it.

Public knots are dense near zero, where most numbers are. Where a number's records lie elsewhere inside its bounds, a
curve on public knots cannot bend among them. One noisy histogram over the public bins of all numbers shows where they
lie. Everything after is arithmetic on released numbers; see :mod:`privet.growing.cutting.cuts`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from privet.growing.cutting.cuts import Whereabouts, histograms
from privet.growing.cutting.points import few_values
from privet.privacy.dataset import PrivateDataset
from privet.schema import Attribute, Numeric, Schema
from privet.structure.terms import UNIT, Term

Floats = npt.NDArray[np.float64]

FEW = 9  # whole numbers up to which each has a knot of its own
LEAST_SHARE, MOST_SHARE = Fraction(1, 50), Fraction(1, 5)  # of epsilon, for the bought knots of all numbers together
CLEAR = 45.0  # noise scales: a number's records should be as many for its histogram to be of use
CROWDED = 0.8  # of the records not at a single value: if so many lie between two public knots, knots are moved
BOUGHT = 8  # knots of a number, where they are bought


class Shares(NamedTuple):
    """Public knots, as shares of a number's range: from the bound next to zero, and on either side of zero.

    Amounts, durations and deviations are dense there.
    """

    near: tuple[float, ...]
    round_zero: tuple[float, ...]


KNOTS = Shares(
    (1 / 64, 1 / 32, 1 / 16, 3 / 32, 1 / 8, 3 / 16, 1 / 4, 3 / 8, 1 / 2, 3 / 4), (1 / 64, 1 / 16, 1 / 4, 1 / 2)
)  # of a curve; where noise is large, the smooth ridge makes one of several


@dataclass(frozen=True, eq=False)
class Basis:
    """A term, and the knots of each of its attributes; none where every code has a cell."""

    term: Term
    knots: tuple[tuple[float, ...], ...]


def main_basis(schema: Schema, a: int, bought: Floats | None = None) -> Basis:
    """The term of one attribute: a cell per category (or per bin, if few), or public or ``bought`` knots."""
    attribute = schema.attributes[a]
    if not has_knots(attribute):
        chain = len(attribute.cuts) + 1 if isinstance(attribute, Numeric) else 0
        return Basis(Term.one_hot((a,), [np.arange(attribute.arity)], attribute.arity, chain), ((),))
    assert isinstance(attribute, Numeric)
    knots = public_knots(attribute) if bought is None else bought
    return Basis(hats(a, attribute, knots), (tuple(knots.tolist()),))


def has_knots(attribute: Attribute) -> bool:
    return isinstance(attribute, Numeric) and attribute.arity > FEW


def middles(numeric: Numeric) -> Floats:
    edges = np.concatenate([[numeric.low], numeric.cuts, [numeric.high]])
    return edges[:-1] / 2 + edges[1:] / 2


def hats(attribute: int, numeric: Numeric, knots: Floats) -> Term:
    """Each bin as a mix of the two knots around its midpoint; a missing value has a cell of its own, the last.

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
    cells = np.where(weights > 0, cells, cells[:, ::-1])  # a weight of 0 needs no cell of its own
    number = np.unique(cells, return_inverse=True)[1].reshape(cells.shape)  # a knot between two bins is in none
    chain = int(number.max()) + (numeric.missing is None)
    return Term.of((attribute,), [np.arange(numeric.arity)], number, weights, chain)


def public_knots(numeric: Numeric, shares: Shares = KNOTS, few: int = FEW) -> Floats:
    """Knots at public shares of the range; at every whole number if there are few."""
    low, high = numeric.low, numeric.high
    if few_values(numeric, few):
        return np.arange(math.ceil(low), math.floor(high) + 1, dtype=np.float64)
    if low < 0 < high:
        away = np.array(shares.round_zero)
        inner = np.concatenate([high * away, [0.0], low * away])
    else:
        away = (high - low) * np.array(shares.near)
        inner = low + away if abs(low) <= abs(high) else high - away
    return np.unique(np.concatenate([[low], inner[(inner > low) & (inner < high)], [high]]))


def knots_share(numbers: int, records: float, epsilon: float) -> Fraction:
    """The share of epsilon for a histogram that stands out from its noise; 0 if that is too much.

    >>> knots_share(6, records=40_000, epsilon=0.1), knots_share(6, records=400, epsilon=0.1)
    (Fraction(27, 400), Fraction(0, 1))
    """
    needed = Fraction(CLEAR * numbers / (records * epsilon)).limit_denominator(1000)
    return max(needed, LEAST_SHARE) if numbers and needed <= MOST_SHARE else Fraction(0)


def buy_knots(data: PrivateDataset, attributes: Sequence[int], epsilon: Fraction) -> dict[int, Floats]:
    """Knots for the numbers in ``attributes`` whose public knots miss their records."""
    numbers = {a: number for a in attributes if has_knots(number := data.schema.attributes[a])}
    counts = histograms(data, list(numbers), epsilon)
    scale = float(len(numbers) * data.ledger.steps / epsilon)
    found: dict[int, Floats] = {}
    for a, number in numbers.items():
        assert isinstance(number, Numeric)
        knots = _moved(Whereabouts.of(number, tuple(number.cuts.tolist()), counts[a], scale))
        if knots is not None:
            found[a] = knots
    return found


def _moved(where: Whereabouts) -> Floats | None:
    """Knots among the records, or None if public ones are there already (or noise hides the records)."""
    attribute = where.attribute
    moved = where.cuts(BOUGHT)
    if not moved:
        return None
    loose = np.where(where.single, 0.0, where.records)
    starts = np.searchsorted(public_knots(attribute), where.edges[:-1], side="right")
    between = np.bincount(starts, loose)
    if between.max() < CROWDED * max(loose.sum(), 1.0):
        return None
    return np.unique([attribute.low, *moved, attribute.high])
