"""Exact distributions of what a fit releases."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from privet.audit import TooLarge, audit_learner, exact, output_distribution, zoo
from privet.audit.outputs import largest_log_ratio
from privet.privacy.noise import current_source
from privet.recipes.ours.exact import ExactTree
from privet.testing.noise import discrete_laplace


def chances_of(fit: Any, **options: Any) -> tuple[dict[Any, float], float]:
    logs, lumped = output_distribution(fit, **options)
    return {output: math.exp(log) for output, log in logs.items()}, lumped


def count(value: int, scale: float = 1.0) -> int:
    return int(current_source().laplace(np.array([value]), scale)[0])


def choose(*scores: float) -> int:
    return current_source().exponential(np.array(scores), 1.0)


def test_choices_multiply_and_equal_releases_add_up() -> None:
    chances, lumped = chances_of(lambda: choose(0, 0) + choose(0, math.log(3)))
    assert lumped == 0
    assert chances == pytest.approx({0: 1 / 8, 1: 4 / 8, 2: 3 / 8})


def test_later_draws_may_depend_on_earlier_ones() -> None:
    chances, _ = chances_of(lambda: choose(0, 0, 0) if choose(0, 0) else "leaf")
    assert chances == pytest.approx({"leaf": 1 / 2, 0: 1 / 6, 1: 1 / 6, 2: 1 / 6})


def test_counts_are_exact_inside_and_lumped_at_the_ends() -> None:
    chances, lumped = chances_of(lambda: count(3, 2.0), tail=1e-3)
    reach = math.ceil(2 * math.log(1000))
    assert sorted(chances) == list(range(3 - reach, 3 + reach + 1))
    assert sum(chances.values()) == pytest.approx(1)
    assert chances[3] == pytest.approx(discrete_laplace(0, 2.0))
    assert chances[1] == pytest.approx(discrete_laplace(-2, 2.0))
    assert lumped == pytest.approx(chances[3 - reach] + chances[3 + reach])
    assert 0 < lumped < 2e-3


def test_a_common_window_clips_two_tables_equally() -> None:
    p, q = (output_distribution(lambda v=value: count(v, 2.0), window=(0, 9))[0] for value in (4, 5))  # type: ignore[misc]
    assert p.keys() == q.keys()
    assert largest_log_ratio(p, q)[0] == pytest.approx(1 / 2)


def test_coins_are_hidden_and_averaged_over() -> None:
    chances, _ = chances_of(lambda: int(current_source().coins(2, 3).sum()))
    assert chances == pytest.approx({0: 1 / 8, 1: 3 / 8, 2: 3 / 8, 3: 1 / 8})


def test_what_is_too_large_is_refused_at_once() -> None:
    runs = []

    def fit() -> int:
        runs.append(1)
        return int(current_source().laplace(np.zeros(9, dtype=np.int64), 1.0).sum())

    with pytest.raises(TooLarge):
        output_distribution(fit)
    assert len(runs) == 1
    with pytest.raises(TooLarge):
        output_distribution(lambda: tuple(choose(0, 0) for _ in range(20)), limit=1000)


def test_a_release_that_one_table_cannot_make_costs_everything() -> None:
    assert largest_log_ratio({"a": 0.0}, {"a": -0.5, "b": -0.5}) == (math.inf, "b")
    assert largest_log_ratio({"a": 0.0}, {"a": 0.0})[0] == 0


def test_chances_do_not_underflow() -> None:
    """A planted fault of this very file, once: exp(-1200) was taken for impossible, and a sound recipe for broken."""
    logs, _ = output_distribution(lambda: choose(0, 1200))
    assert logs == pytest.approx({0: -1200, 1: 0})


@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
@pytest.mark.parametrize("tests", ["binary", "multiway"])
def test_both_methods_agree_where_every_draw_is_released(tests: Any, neighbours: str) -> None:
    recipe = ExactTree(max_depth=1, tests=tests, grid="near-zero", leaf_share=0)  # one draw, all of it released
    pairs = zoo(relation=neighbours)[:8]
    whole = exact(recipe, pairs, 1, neighbours=neighbours)
    walked = exact(recipe, pairs, 1, neighbours=neighbours, complete=0, transcripts=40)
    assert (whole.method, walked.method) == ("exact output distribution", "paired transcripts")
    assert whole.lower_bound == pytest.approx(walked.lower_bound, abs=1e-9)


def test_a_noisy_count_is_compared_whole_where_it_fits() -> None:
    found = audit_learner(lambda data, epsilon: data.noisy_count(epsilon), zoo()[:5])
    assert found.method == "exact output distribution"
    assert found.lower_bound == pytest.approx(1)
    assert 0 < found.lumped < 1e-5
    mixed = audit_learner(lambda data, epsilon: data.noisy_count(epsilon), complete=100)  # a crowd's does not fit
    assert mixed.method == "exact output distribution and paired transcripts"
    assert mixed.lower_bound == pytest.approx(1)
