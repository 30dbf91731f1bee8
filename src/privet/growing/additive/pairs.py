"""Tables for pairs of attributes that interact: which to choose, and their shape."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt

from privet.growing.additive.bases import Basis, Shares, middles, public_knots
from privet.models.additive import Part
from privet.schema import Categorical, Schema
from privet.structure.terms import UNIT, Term

Floats = npt.NDArray[np.float64]

SHARES = Shares((1 / 16, 1 / 4, 1 / 2), (1 / 8,))  # of a number's range, where a table has knots: fewer than a curve
FEW = 5  # whole numbers up to which each has a knot of its own
BETWEEN = 4  # levels between two knots
GROUPS = 6  # of categories; more are grouped by the values of their curve
MOST_CANDIDATES = 2000  # pairs to consider; of more, those of the most important attributes
CHANCE = 0.8 * math.sqrt(0.1)  # times sqrt(cells * records): the residual that chance leaves in a table


def candidates(schema: Schema, parts: Sequence[Part]) -> list[Basis]:
    """A table for every pair of fitted attributes."""
    mains = {part.attributes[0]: part for part in parts if len(part.attributes) == 1}
    ranked = sorted(mains, key=lambda a: -float(np.abs(mains[a].table).mean()))
    while len(ranked) * (len(ranked) - 1) // 2 > MOST_CANDIDATES:
        ranked.pop()
    sides = {a: _side(schema, a, mains[a]) for a in sorted(ranked)}
    return [_pair(sides[a], sides[b]) for a, b in combinations(sorted(ranked), 2)]


def penalties(bases: Sequence[Basis], records: float) -> list[float]:
    """The residual that chance alone leaves in each table, so that large tables are not favoured for their size."""
    return [CHANCE * math.sqrt(basis.term.size * records) for basis in bases]


def _side(schema: Schema, a: int, part: Part) -> Basis:
    """One attribute of a table: few knots, with some levels between them, or a few groups of categories."""
    attribute = schema.attributes[a]
    if isinstance(attribute, Categorical) or attribute.arity <= FEW:
        levels = _groups(part, schema.arities[a])
        return Basis(Term.one_hot((a,), [levels], int(levels.max()) + 1), ((),))
    knots = public_knots(attribute, SHARES, FEW)
    at = np.interp(middles(attribute), knots, np.arange(len(knots)))
    step = np.minimum((at * BETWEEN).astype(np.int64), BETWEEN * (len(knots) - 1) - 1)
    used, level = np.unique(step, return_inverse=True)
    left = used // BETWEEN
    right = np.rint((used % BETWEEN + 0.5) / BETWEEN * UNIT).astype(np.int64)
    cells, weights = np.stack([left, left + 1], axis=1), np.stack([UNIT - right, right], axis=1)
    if attribute.missing is not None:
        level = np.append(level, level.max() + 1)
        cells, weights = np.vstack([cells, [len(knots)] * 2]), np.vstack([weights, [UNIT, 0]])
    number = np.unique(cells, return_inverse=True)[1].reshape(cells.shape)
    return Basis(Term.of((a,), [level], number, weights), (tuple(knots.tolist()),))


def _groups(part: Part, codes: int) -> npt.NDArray[np.int64]:
    """Groups of similar categories, by the released values of their curve."""
    if codes <= GROUPS:
        return np.arange(codes)
    order = np.argsort(np.argsort(part.table[part.levels[0], -1], kind="stable"), kind="stable")
    return np.asarray(order * GROUPS // codes)


def _pair(one: Basis, other: Basis) -> Basis:
    """The product of two attributes' terms: every cell of one with every cell of the other."""
    first, second = one.term, other.term
    cells = first.cells[:, None, :, None] * second.size + second.cells[None, :, None, :]
    exact = first.weights[:, None, :, None].astype(np.float64) * second.weights[None, :, None, :] / UNIT
    shape = (first.bins * second.bins, -1)
    weights = np.floor(exact).astype(np.int64).reshape(shape)
    # Rounding loses a little; the first cell gets it, so that the weights sum to exactly one.
    weights[:, 0] += UNIT - weights.sum(axis=1)
    term = Term.of(
        (*first.attributes, *second.attributes), (*first.levels, *second.levels), cells.reshape(shape), weights
    )
    return Basis(term, (*one.knots, *other.knots))
