"""The public rules: more signal never plans less, and every plan fits what a draw affords."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privet.growing.cutting.cuts import most_cost
from privet.growing.whole import depth_rules as depth_rules
from privet.growing.whole.depth_rules import (
    LEAST_CUTS_SHARE,
    MOST_CUTS_SHARE,
    MOST_LEVELS,
    WORTH_CUTS,
    block_levels,
    cuts_share,
    cuts_worth,
    leaf_share,
)
from privet.growing.whole.whole_tree import affordable_depth, operations

pytestmark = pytest.mark.usefixtures("full_draws")
SIGNALS = st.floats(0, 1e12)


@given(SIGNALS, SIGNALS, st.integers(0, 3000), st.integers(2, 50))
def test_more_records_never_mean_fewer_levels(one: float, other: float, n_tests: int, n_classes: int) -> None:
    in_one_draw = min(affordable_depth(n_tests, n_classes), n_tests)
    less, more = (block_levels(signal, n_tests, n_classes, in_one_draw) for signal in sorted((one, other)))
    assert sum(less) <= sum(more) + 1  # a first block may be a level less deep where others follow
    for levels in (less, more):
        assert max(levels) <= in_one_draw
        assert sum(levels) <= max(min(MOST_LEVELS, n_tests), in_one_draw)
        assert all(level >= 1 for level in levels[1:])
        cells = 2 ** levels[0]
        for level in levels[1:]:
            assert level == 1 or cells * operations(n_tests, n_classes, level) <= depth_rules.NEXT_OPERATIONS
            cells *= 2**level


def test_few_records_have_one_draw_as_deep_as_ever() -> None:
    for n_tests, n_classes in ((20, 2), (120, 2), (200, 2), (80, 10), (1000, 3)):
        deepest = affordable_depth(n_tests, n_classes)
        assert block_levels(0, n_tests, n_classes, deepest) == (deepest,)
        assert block_levels(40, n_tests, n_classes, deepest) == (deepest,)


def test_many_classes_have_more_leaves() -> None:
    assert sum(block_levels(6_000, 60, 18, 4)) > sum(block_levels(6_000, 60, 2, 4))


def test_a_first_draw_of_four_levels_gives_none_up() -> None:
    """Two more levels for half of epsilon lose more than they gain; three are worth it where leaves would hold enough.

    A deeper first draw gives a level up for a block of three.
    """
    assert block_levels(4_000, 160, 2, 4) == (4,)
    assert block_levels(20_000, 160, 2, 4) == (4, 3)
    assert block_levels(11_600, 26, 5, 6) == (5, 3)


@given(SIGNALS, SIGNALS)
def test_counts_in_leaves_cost_more_where_they_are_more_informative(one: float, other: float) -> None:
    less, more = (leaf_share(signal) for signal in sorted((one, other)))
    assert depth_rules.LEAST_LEAF_SHARE <= less <= more <= depth_rules.LEAF_SHARE


@given(SIGNALS, st.integers(1, 200))
def test_the_share_of_cuts_is_small_and_falls(signal: float, numbers: int) -> None:
    share = cuts_share(signal, numbers)
    assert (share == 0) == (signal / numbers < WORTH_CUTS)
    assert share == 0 or LEAST_CUTS_SHARE <= share <= MOST_CUTS_SHARE
    assert most_cost(share) < Fraction(2, 3)  # in the worst case a third is left for the tree
    assert share == 0 or cuts_share(2 * signal, numbers) <= share
    assert cuts_share(signal, 0) == 0


@pytest.mark.parametrize(("numbers", "others", "classes"), [(1, 0, 2), (8, 0, 2), (14, 0, 2), (6, 102, 2), (64, 0, 10)])
def test_cuts_leave_draws_of_some_levels(numbers: int, others: int, classes: int) -> None:
    count = cuts_worth(5_000, numbers, others, classes)
    assert affordable_depth(others + numbers * count, classes) >= 3
    assert depth_rules.FEW_CUTS <= count <= depth_rules.CUTS <= cuts_worth(1e6, 1, 0, 2)
