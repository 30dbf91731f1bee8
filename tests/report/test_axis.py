"""The axis below a curve: stretched by released cuts and knots only, with ticks that do not overlap."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privet.models.curves import Curve
from privet.report.axis import GAP, LETTER, Axis
from privet.report.curves import Scale, axis_of, shape_picture


def test_even_cuts_have_an_even_axis() -> None:
    axis = Axis.of([0, 25, 50, 75, 100], 40, 240)
    assert axis.even
    assert [axis.across(number) for number in (0, 10, 50, 100)] == [40, 60, 140, 240]


def test_a_skewed_number_is_stretched_where_its_cuts_are() -> None:
    axis = Axis.of([0, 1, 10, 100, 1000, 10_000, 100_000], 0, 300)
    assert not axis.even
    assert axis.across(1000) > 90  # on an even axis: 3
    assert axis.across(100_000) == 300


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(-1e6, 1e6).map(lambda x: round(x, 2)), min_size=2, max_size=30, unique=True))
def test_ticks_keep_their_order_and_distance(points: list[float]) -> None:
    axis = Axis.of(points, 44, 352)
    ticks = axis.ticks()
    numbers = [float(words.replace(",", "")) for _, words in ticks]
    assert numbers == sorted(numbers)
    inner = ticks[1:-1]
    for (place, words), (after, next_words) in pairwise(inner):
        assert place + LETTER * len(words) / 2 + GAP <= after - LETTER * len(next_words) / 2 + 1e-6


def _curve(values: list[float], knots: tuple[float, ...] = ()) -> Curve:
    starts = np.array([0.0, 10.0, 100.0, 1000.0])
    return Curve("pay", ("a", "b", "c", "d"), starts, np.array(values)[:, None], 0.1, knots)


def test_the_axis_is_by_knots_where_a_curve_has_some() -> None:
    by_cuts, by_knots = _curve([1, 2, 3, 4]), _curve([1, 2, 3, 4], (0.0, 5000.0, 10_000.0))
    assert not axis_of(by_cuts, 10_000, 0, 1).even
    assert axis_of(by_knots, 10_000, 0, 1).even


@pytest.mark.parametrize(
    ("values", "clear", "pale"),
    [([1.0, 0.01, 0.02, -1.0], 2, 1), ([1.0, 1.0, -1.0, -1.0], 1, 0), ([0.01, 0.0, 0.02, 0.01], 0, 1)],
    ids=["the middle is noise", "all of it is clear", "noise alone"],
)
def test_a_curve_is_pale_where_noise_rules(values: list[float], clear: int, pale: int) -> None:
    curve = _curve(values)
    picture = str(shape_picture(curve, 10_000, Scale.of([curve])))
    for kind, number in (("curve c1", clear), ("curve unsure c1", pale)):
        paths = re.findall(rf'<path d="([^"]*)" class="{kind}"', picture)
        assert "".join(paths).count("M") == number
