"""Knots where the records are: bought for all numbers at once, used where public ones leave most records between two.

Public knots crowd near zero, where most numbers do; where a number's records lie elsewhere inside its bounds, a curve
on public knots cannot bend among them. One noisy histogram over the public bins tells. Everything after is arithmetic
on released numbers; see :mod:`privet.growing.cutting.cuts`.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from privet.growing.cutting.cuts import Whereabouts
from privet.growing.cutting.knots import COARSE, has_knots, public_knots
from privet.privacy.dataset import PrivateDataset
from privet.schema import Numeric

Floats = npt.NDArray[np.float64]

LEAST_SHARE, MOST_SHARE = Fraction(1, 50), Fraction(1, 5)  # of epsilon, for all numbers together
CLEAR = 45.0  # scales of noise that a number's records should be, for its histogram to say something
CROWDED = 0.8  # of the records that are not at a single value: between two public knots, and knots should be moved
KNOTS = 8


def share_of_epsilon(numbers: int, records: float, epsilon: float) -> Fraction:
    """What a histogram that stands out from its noise costs, from public and released numbers; 0 if too much.

    >>> share_of_epsilon(6, records=40_000, epsilon=0.1), share_of_epsilon(6, records=400, epsilon=0.1)
    (Fraction(27, 400), Fraction(0, 1))
    """
    needed = Fraction(CLEAR * numbers / (records * epsilon)).limit_denominator(1000)
    return max(needed, LEAST_SHARE) if numbers and needed <= MOST_SHARE else Fraction(0)


def buy_knots(data: PrivateDataset, attributes: Sequence[int], epsilon: Fraction) -> dict[int, Floats]:
    """Knots for the numbers among ``attributes`` whose public knots miss their records."""
    schema = data.schema
    asked = np.zeros((1, len(schema.attributes)), dtype=bool)
    numbers = [a for a in attributes if has_knots(schema.attributes[a])]
    asked[0, numbers] = True
    counts = data.level().attribute_counts_all(epsilon, asked, by_class=False)[0].astype(np.float64)
    scale = float(len(numbers) * data.ledger.steps / epsilon)
    found: dict[int, Floats] = {}
    for a in numbers:
        attribute = schema.attributes[a]
        assert isinstance(attribute, Numeric)
        cuts = attribute.cuts
        mine = counts[schema.offsets[a] :][: len(cuts) + 1]
        knots = _moved(Whereabouts.of(attribute, tuple(cuts.tolist()), mine, scale))
        if knots is not None:
            found[a] = knots
    return found


def _moved(where: Whereabouts) -> Floats | None:
    """Knots among the records, or None where public ones are there already (or nobody can tell)."""
    attribute = where.attribute
    moved = where.cuts(KNOTS)
    if not moved:
        return None
    loose = np.where(where.single, 0.0, where.records)
    starts = np.searchsorted(public_knots(attribute, COARSE), where.edges[:-1], side="right")
    between = np.bincount(starts, loose)
    if between.max() < CROWDED * max(loose.sum(), 1.0):
        return None
    return np.unique([attribute.low, *moved, attribute.high])
