"""Where an additive model's curves may bend: public knots, and the terms that they make of a schema.

A number is read as one of some two hundred public bins, and a curve is a straight line between knots: each bin is a mix
of the two knots around its middle. So a term needs nothing but codes, and any engine can count it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from privet.growing.cutting.grids import LADDERS, laddered, near_zero
from privet.schema import Attribute, Numeric, Schema
from privet.structure.splits import Tests
from privet.structure.terms import UNIT, Term

Floats = npt.NDArray[np.float64]

EVEN = 80  # bins of equal width that a number's range has at least: those of a grid of 20 among them
OCTAVES = (
    24  # how often a range is halved towards zero, or the bound next to it: bounds may be a million times too wide
)
NEAR, FAR, EITHER = 4, 1, 3  # bins for each halving: towards that end, towards the other, and on either side of zero
FEW = 9  # whole numbers up to which each has a knot of its own


class Shares(NamedTuple):
    """Where public knots are, as shares of a number's range: from the bound next to zero, and on either side of zero.

    Amounts, durations and deviations crowd there.
    """

    near: tuple[float, ...]
    round_zero: tuple[float, ...]


SPARSE = Shares((1 / 256, 1 / 32, 1 / 8, 1 / 4, 1 / 2, 3 / 4), (1 / 16, 1 / 4, 1 / 2))
COARSE = Shares((1 / 32, 1 / 16, 1 / 8, 1 / 4, 3 / 8, 1 / 2, 3 / 4), (1 / 16, 1 / 4, 1 / 2))
FINE = Shares(
    (1 / 64, 1 / 32, 1 / 16, 3 / 32, 1 / 8, 3 / 16, 1 / 4, 3 / 8, 1 / 2, 3 / 4), (1 / 64, 1 / 16, 1 / 4, 1 / 2)
)
TEST_BINS = 20  # of a number in the tests of a small tree
TEST_OCTAVES = (6, 8, 10, 12)  # such a tree also asks whether a number is that many halvings of its range from zero


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
        cuts = np.linspace(low, high, EVEN + 1)[1:-1]
        if low < 0 < high:
            cuts = np.concatenate([cuts, high * _halvings(EITHER), low * _halvings(EITHER)])
        else:
            up, down = (NEAR, FAR) if abs(low) <= abs(high) else (FAR, NEAR)
            cuts = np.concatenate([cuts, low + width * _halvings(up), high - width * _halvings(down)])
        if attribute.integer:
            cuts = np.floor(cuts) + 0.5
    cuts = np.unique(cuts[(cuts > low) & (cuts < high)])
    return replace(attribute, thresholds=tuple(cuts.tolist())) if cuts.size else attribute


def _halvings(each: int) -> Floats:
    """Shares of a range, down to a millionth of it and less, ``each`` for every halving."""
    return np.asarray(2.0 ** (-np.arange(1, each * OCTAVES + 1) / each))


def middles(numeric: Numeric) -> Floats:
    """The number that each bin stands for: its middle."""
    edges = np.concatenate([[numeric.low], numeric.cuts, [numeric.high]])
    return edges[:-1] / 2 + edges[1:] / 2


def public_knots(numeric: Numeric, shares: Shares, few: int = FEW) -> Floats:
    """Knots at public shares of the range; at every whole number where there are few."""
    low, high = numeric.low, numeric.high
    if numeric.integer and math.floor(high) - math.ceil(low) < few:
        return np.arange(math.ceil(low), math.floor(high) + 1, dtype=np.float64)
    if low < 0 < high:
        away = np.array(shares.round_zero)
        inner = np.concatenate([high * away, [0.0], low * away])
    else:
        away = (high - low) * np.array(shares.near)
        inner = low + away if abs(low) <= abs(high) else high - away
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


def main_basis(schema: Schema, a: int, shares: Shares = COARSE, bought: Floats | None = None) -> Basis:
    """One attribute: a cell for each category (or bin, where there are few), or knots: public ones or ``bought``."""
    attribute = schema.attributes[a]
    if not has_knots(attribute):
        return Basis(Term.one_hot((a,), [np.arange(attribute.arity)], attribute.arity), ((),))
    assert isinstance(attribute, Numeric)
    knots = public_knots(attribute, shares) if bought is None else bought
    return Basis(hats(a, attribute, knots), (tuple(knots.tolist()),))


def has_knots(attribute: Attribute) -> bool:
    return isinstance(attribute, Numeric) and attribute.arity > FEW


def few_tests(schema: Schema) -> list[Tests]:
    """Tests for a small tree over finely cut numbers, the most first, each list of fewer thresholds a number.

    Of all thresholds they have those next to a coarse grid's, near zero more.

    >>> from privet.schema import Categorical
    >>> schema = fine_bins(Schema((Numeric("age", 0, 100),), Categorical("ill", ("no", "yes"))))
    >>> schema.arities[0], [len(tests) for tests in few_tests(schema)]
    (192, [15, 6, 4])
    """
    bare = replace(schema, attributes=tuple(_bare(attribute) for attribute in schema.attributes))
    near, every = near_zero(bare, TEST_BINS), Tests.binary(schema)
    grids = [(near, TEST_OCTAVES), *((laddered(bare, octaves), ()) for octaves in LADDERS)]
    return [every.take(_next_to(schema, every, *grid)) for grid in grids]


def _bare(attribute: Attribute) -> Attribute:
    return replace(attribute, thresholds=None) if isinstance(attribute, Numeric) else attribute


def _next_to(schema: Schema, tests: Tests, grid: Schema, octaves: Sequence[int]) -> npt.NDArray[np.intp]:
    """The tests of categories and of what is missing, and of thresholds those next to the cuts of a grid."""
    wanted = np.ones(len(tests), dtype=bool)
    for a, (attribute, coarse) in enumerate(zip(schema.attributes, grid.attributes, strict=True)):
        if not isinstance(attribute, Numeric) or not isinstance(coarse, Numeric) or not attribute.cuts.size:
            continue
        zero = min(max(attribute.low, 0.0), attribute.high)
        steps = (attribute.high - attribute.low) * 0.5 ** np.array(octaves)
        points = np.concatenate([coarse.cuts, zero + steps, zero - steps])
        points = points[(points > attribute.low) & (points < attribute.high)]
        nearest = np.abs(attribute.cuts[:, None] - points).argmin(axis=0)
        mine = tests.of_attribute(a)
        # The last test of a number that can be missing asks just that.
        wanted[mine] = np.isin(tests.cut[mine], nearest) | (tests.cut[mine] >= attribute.cuts.size)
    return np.flatnonzero(wanted)
