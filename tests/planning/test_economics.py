"""The economic model: answers worked out by hand, and what money and accuracy must do."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privet.errors import EpsilonError, ParameterError
from privet.planning import economics

# e^0.5 = 1.6487213 by its series: 1 + 1/2 + 1/8 + 1/48 + 1/384 + 1/3840 + 1/46080 + ...
E_TO_THE_HALF = 1.6487213


def test_known_answers() -> None:
    assert economics.base_cost([(0.001, 50_000), (0.02, 500)]) == pytest.approx(50 + 10)
    assert economics.base_cost([]) == 0
    assert economics.extra_cost(0.5, 100) == pytest.approx(100 * (E_TO_THE_HALF - 1), rel=1e-6)
    assert economics.compensation(0.5, 1_000, 100) == pytest.approx(64_872.13, rel=1e-6)
    # 1 + B / (N E) = 1 + 64872.13 / 100000 = e^0.5
    assert economics.largest_epsilon(64_872.13, 1_000, 100) == pytest.approx(0.5, rel=1e-6)


def test_the_accuracy_of_a_share() -> None:
    # N = 1000, T = 0.1: sampling 2 e^-5 = 0.0134759, noise e^(-50 epsilon).
    assert economics.chance_of_missing(0.1, 1_000, 0.1) == pytest.approx(0.0134759 + 0.0067379, rel=1e-4)
    # (0.05 - 0.0134759) = 0.0365241, whose logarithm is -3.309783; epsilon = 3.309783 / 50.
    assert economics.smallest_epsilon(1_000, 0.1, 0.05) == pytest.approx(0.0661957, rel=1e-4)
    assert math.isinf(economics.smallest_epsilon(100, 0.1, 0.05))  # sampling alone: 2 e^-0.5 > 1
    assert economics.chance_of_missing(0.0, 10, 0.1) == 1


def test_a_study_is_possible_between_money_and_accuracy() -> None:
    rich = economics.Study(records=1_000, base_cost=60, budget=10_000, within=0.1, miss=0.05)
    assert rich.possible
    poor = economics.Study(records=1_000, base_cost=60, budget=2_000, within=0.1, miss=0.05)
    assert not poor.possible
    assert "the money allows" in str(poor)
    small = economics.Study(records=100, base_cost=0, budget=0, within=0.1, miss=0.05)
    assert not small.possible
    assert "too few" in str(small)
    harmless = economics.Study(records=1_000, base_cost=0, budget=0, within=0.1, miss=0.05)
    assert harmless.possible
    assert harmless.largest_epsilon == math.inf
    assert "owed 0" in str(harmless)


@given(
    budget=st.floats(1, 1e9),
    records=st.integers(1, 10**9),
    base=st.floats(0.01, 1e6),
)
def test_spending_the_largest_epsilon_costs_the_budget(budget: float, records: int, base: float) -> None:
    epsilon = economics.largest_epsilon(budget, records, base)
    assert economics.compensation(epsilon, records, base) == pytest.approx(budget, rel=1e-6)


@given(records=st.integers(1_000, 10**7), within=st.floats(0.1, 0.5), miss=st.floats(0.03, 0.5))
def test_the_smallest_epsilon_is_tight(records: int, within: float, miss: float) -> None:
    epsilon = economics.smallest_epsilon(records, within, miss)
    assert economics.chance_of_missing(epsilon, records, within) == pytest.approx(miss, rel=1e-6)


def test_a_huge_epsilon_owes_everything() -> None:
    assert economics.extra_cost(10_000, 1) == math.inf


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: economics.base_cost([(1.5, 10)]), "chance of an event"),
        (lambda: economics.base_cost([(0.5, -10)]), "cost of an event"),
        (lambda: economics.extra_cost(1, -1), "base_cost"),
        (lambda: economics.compensation(1, 0, 1), "records"),
        (lambda: economics.largest_epsilon(math.nan, 10, 1), "budget"),
        (lambda: economics.smallest_epsilon(10, 0, 0.05), "within"),
        (lambda: economics.smallest_epsilon(10, 0.1, 0), "miss"),
    ],
)
def test_wrong_parameters_are_named(call: object, named: str) -> None:
    with pytest.raises(ParameterError, match=named):
        call()  # type: ignore[operator]
    with pytest.raises(EpsilonError):
        economics.extra_cost(0, 1)
