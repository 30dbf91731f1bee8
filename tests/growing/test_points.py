"""Public grids: known answers, and what holds for any declared bounds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privet import Categorical, ExactTreeClassifier, Numeric, Schema
from privet.growing.cutting.points import LADDERS, closing_in, laddered, near_zero, public_grids
from privet.structure.splits import Tests

LABEL = Categorical("class", ("no", "yes"))


def cuts(grid: Schema) -> list[float]:
    [attribute] = grid.attributes
    assert isinstance(attribute, Numeric)
    return attribute.cuts.tolist()


def one(attribute: Numeric) -> Schema:
    return Schema((attribute,), LABEL)


def test_closing_in_by_hand() -> None:
    """Beside 5, 10, ..., 40, 50, 60, 80 also 1/64, 1/256 and 1/1024 of the range from zero."""
    closer = [100 / 1024, 100 / 256, 100 / 64]
    assert cuts(closing_in(one(Numeric("x", 0, 100)), 20)) == [*closer, *range(5, 45, 5), 50, 60, 80]
    below = cuts(closing_in(one(Numeric("x", -100, 0)), 20))
    assert below == [-80, -60, -50, *range(-40, 0, 5), -100 / 64, -100 / 256, -100 / 1024]
    whole = cuts(closing_in(one(Numeric("x", 0, 400, integer=True)), 20))
    assert whole == [0.5, 1.5, 6.5, *(v + 0.5 for v in range(20, 180, 20)), 200.5, 240.5, 320.5]


@pytest.mark.parametrize(
    "attribute",
    [
        Numeric("zero is inside", -9, 10),
        Numeric("few whole numbers", 0, 12, integer=True),
        Numeric("own cuts", 0, 100, thresholds=(3, 7)),
    ],
)
def test_closing_in_leaves_these_as_they_are_near_zero(attribute: Numeric) -> None:
    assert closing_in(one(attribute), 20) == near_zero(one(attribute), 20)


def test_ladders_by_hand() -> None:
    assert cuts(laddered(one(Numeric("x", 0, 1024)), LADDERS[0])) == [1, 4, 16, 64, 256, 512]
    assert cuts(laddered(one(Numeric("x", -512, 512)), LADDERS[1])) == [-128, -2, 2, 128]
    assert len(cuts(laddered(one(Numeric("x", 0, 12, integer=True)), LADDERS[1]))) == 4
    assert cuts(laddered(one(Numeric("x", 0, 9, thresholds=(3, 7))), LADDERS[0])) == [3, 7]


@given(
    low=st.floats(-1e6, 1e6), width=st.floats(3, 1e7), integer=st.booleans(), bins=st.integers(2, 60)
)  # fmt: skip
def test_any_bounds_have_grids_ever_coarser(low: float, width: float, integer: bool, bins: int) -> None:
    schema = one(Numeric("x", low, low + width, integer=integer))
    grids = public_grids(schema, bins)
    for grid in grids:
        found = np.array(cuts(grid))
        assert (np.diff(found) > 0).all()
        assert ((found > low) & (found < low + width)).all()
    assert len(cuts(grids[0])) <= len(cuts(near_zero(schema, bins))) + 3
    assert len(cuts(grids[1])) <= 6
    assert len(cuts(grids[2])) <= 4


def test_many_numbers_in_wide_bounds_are_still_separated() -> None:
    """57 numbers of which all records lie below a hundredth of the range; the rule is at 0.003 of it.

    Without cuts there a tree is the majority class, 60 %. Fits vary by a point; the bar is ten points above it.
    """
    random = np.random.default_rng(0)
    values = random.exponential(0.004, (57, 4000))
    schema = Schema(tuple(Numeric(f"x{i}", 0, 1) for i in range(57)), LABEL)
    ill = (values[5] > 0.0039) ^ (random.random(4000) < 0.1)
    table = {f"x{i}": column for i, column in enumerate(values)} | {"class": np.where(ill, "yes", "no")}
    assert len(Tests.binary(public_grids(schema, 20)[-1])) == 57 * 4
    tree = ExactTreeClassifier(schema, 1).fit(table)
    assert tree.score(table, table["class"]) > 0.7
