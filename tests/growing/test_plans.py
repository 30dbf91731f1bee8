"""Budget shares: exact, and the formulas of the papers."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privet.growing.greedy.grower import Plan
from privet.growing.schedules import SCHEDULES, LevelSchedule, Schedule, level_weight
from privet.growing.whole.blocks import embedding
from privet.schema import Categorical, Schema
from privet.structure.splits import Tests

TOTALS = st.fractions(min_value=Fraction(1, 1000), max_value=10)
WEIGHTS = st.fractions(min_value=0, max_value=4)


def path_cost(plan: Plan, depth: int) -> Fraction:
    """What a path with its leaf at ``depth`` pays."""
    asked = (*plan.node[: depth + 1], *plan.choice[:depth], plan.leaf[depth])
    return sum((cost for cost in asked if cost is not None), Fraction(0))


@given(TOTALS, st.integers(0, 30), WEIGHTS, WEIGHTS, st.booleans(), st.sampled_from(SCHEDULES))
def test_a_path_of_full_depth_spends_it_all_and_no_path_spends_more(
    total: Fraction, depth: int, node: Fraction, choice: Fraction, ask_last: bool, schedule: Schedule
) -> None:
    plan = Plan.shares(total, depth, node=node, choice=choice, ask_last=ask_last, schedule=schedule)
    assert plan.depth == depth
    assert path_cost(plan, depth) == total
    assert all(path_cost(plan, k) <= total for k in range(depth + 1))


@given(TOTALS, st.integers(0, 20))
def test_friedman_and_schuster(total: Fraction, depth: int) -> None:
    """Card 2: eps = B / (2(d+1)) for every question."""
    plan = Plan.shares(total, depth, node=1)
    unit = total / (2 * (depth + 1))
    assert plan.node == (unit,) * (depth + 1)
    assert plan.choice == (unit,) * depth + (None,)
    assert plan.leaf == (unit,) * (depth + 1)


@given(TOTALS, st.integers(0, 20), st.integers(0, 9))
def test_split_points_bought_apart(total: Fraction, depth: int, m: int) -> None:
    """Card 3: eps = B / ((2+m)d+2) where a choice buys m points and the attribute."""
    plan = Plan.shares(total, depth, node=1, choice=1 + m)
    unit = total / ((2 + m) * depth + 2)
    assert plan.leaf[0] == unit
    assert plan.choice[:-1] == (unit * (1 + m),) * depth


def test_what_is_not_asked_costs_nothing() -> None:
    plan = Plan.shares(Fraction(1), 2, node=1, ask_last=False)
    assert plan.node == (Fraction(1, 5), Fraction(1, 5), None)
    assert Plan.shares(Fraction(1), 2).node == (None, None, None)
    assert Plan.shares(Fraction(1), 2, choice=0).choice == (None, None, None)
    assert Plan.shares(Fraction(1), 2, choice=0).leaf == (1, 1, 1)


@pytest.mark.parametrize(("depth", "twelfths"), [(0, 1 + 3), (1, 1 + 2 + 2 + 4), (2, 1 + 2 + 3 + 2 + 1 + 5)])
def test_the_cost_of_a_path_by_hand(depth: int, twelfths: int) -> None:
    one = Fraction(1, 12)
    plan = Plan((one, 2 * one, 3 * one), (2 * one, one, None), (3 * one, 4 * one, 5 * one))
    assert path_cost(plan, depth) == twelfths * one


# ---- schedules ------------------------------------------------------------------------------------------------------


def test_schedules_weigh_levels() -> None:
    plans = {name: Plan.shares(Fraction(1), 3, node=1, schedule=name) for name in SCHEDULES}
    rising, falling, root = (plans[name].choice[:3] for name in ("rising", "falling", "root"))
    assert [b / a for a, b in pairwise(rising)] == [Fraction(5, 4)] * 2
    assert [b / a for a, b in pairwise(falling)] == [Fraction(4, 5)] * 2
    assert root[0] == 2 * root[1] == 2 * root[2]
    assert [one is None for one in plans["late"].node] == [True, True, False, False]
    assert [one is None for one in plans["known"].node] == [True, False, False, True]


@given(TOTALS, st.integers(0, 12), st.integers(1, 4), st.sampled_from(get_args(LevelSchedule)))
def test_blocks_and_a_leaf_spend_it_all(total: Fraction, depth: int, block: int, schedule: LevelSchedule) -> None:
    tests = Tests.multiway(Schema([Categorical(f"a{i}", (0, 1)) for i in range(12)], Categorical("y", (0, 1))))
    blocks = embedding(tests, 2, depth, block, schedule=schedule)
    each = [blocks.each(total, number) for number in range(len(blocks.depths))]
    assert sum(each) + blocks.for_leaves(total) == total
    assert each == [blocks.for_leaves(total) * level_weight(schedule, number) for number in range(len(each))]


@given(TOTALS, st.integers(0, 30))
def test_leaves_get_all_that_their_path_has_left(total: Fraction, depth: int) -> None:
    plan = Plan.shares(total, depth, node=1, schedule="leaves")
    assert all(path_cost(plan, k) == total for k in range(depth + 1))
    assert plan.node == Plan.shares(total, depth, node=1).node


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_forest_asks_every_node_where_its_leaves_ask_nothing(schedule: Schedule) -> None:
    plan = Plan.shares(Fraction(1), 3, node=1, leaf=0, schedule=schedule)
    assert all(plan.node)
    assert plan.leaf == (0,) * 4
    assert path_cost(plan, 3) == 1
