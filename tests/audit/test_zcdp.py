"""Audits of every recipe under zCDP, by walks that add up rhos; and wrong accounts that they must catch."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from privet import Unit
from privet.audit import exact
from privet.audit.exact import as_recipe
from privet.audit.sampling.recipes import sample_recipe
from privet.audit.zoo import Pair, tiny_schema, zoo
from privet.privacy import accounts, mechanisms
from privet.privacy.concentrated import gaussian_scale, rho_of
from privet.privacy.losses import Loss
from privet.recipes.registry import ALL, recipe_class

RECIPES = ("diffpid3", "diffpc45", "greedy-forest", "snr-forest", "patil-singh2014", "embedded", "exact")
COUNTING = ("snr-forest", "greedy-forest")  # that spend all of their rho on draws of which a walk knows the law


def audit(name: str, relation: str = "add-remove", epsilon: float = 1, **params: Any) -> Any:
    pairs = list(zoo(relation=relation))[::9]
    return exact(as_recipe(name, delta=1e-6, **params), pairs, epsilon, neighbours=relation, transcripts=5)


def test_these_are_all() -> None:
    assert {name for name in ALL if recipe_class(name).concentrates} == set(RECIPES)


@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
@pytest.mark.parametrize("name", RECIPES)
def test_a_fit_loses_no_more_than_was_paid(name: str, relation: str) -> None:
    result = audit(name, relation)
    assert result.verdict == "holds"
    if name in COUNTING and relation == "add-remove":
        assert result.lower_bound > 0.8, "the audit sees nearly all of it, so it would see more"


def unit_pairs() -> list[Pair]:
    """Tables with and without a unit of equal rows: a count then moves by as many."""
    schema = replace(tiny_schema(), unit=Unit("who", max_rows=3))
    rows = [("red", 1.0, False, "no", "a"), *[("blue", 9.0, True, "yes", "b")] * 3]
    return [Pair("a unit of equal rows", schema, tuple(rows), tuple(rows[:1]))]


def test_a_unit_costs_the_square(monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = as_recipe("snr-forest", delta=1e-6)
    right = exact(recipe, unit_pairs(), 1, transcripts=5)
    assert right.verdict == "holds"
    assert right.lower_bound > 0.9
    divide = Loss.__truediv__

    def linear(loss: Loss, rows: int) -> Loss:
        whole = divide(loss, rows)
        return Loss(whole.epsilon, whole.delta, loss.rho / rows)

    monkeypatch.setattr(Loss, "__truediv__", linear)
    assert exact(recipe, unit_pairs(), 1, transcripts=5).verdict == "violated", "a missing square"


def test_rho_in_the_place_of_epsilon_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The budget buys an epsilon's worth of rho, as if the two were one currency."""
    monkeypatch.setattr(accounts, "rho_of", lambda epsilon, delta: epsilon)
    assert audit("snr-forest").verdict == "violated"


def test_rho_on_the_books_as_epsilon_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The certificate then promises an epsilon as small as the rho."""

    def book(self: Any, loss: Loss, what: str) -> Any:
        small = Loss(rho_of(loss.epsilon, loss.delta), loss.delta)
        inside = right(self, small, what)
        inside._limit = Loss(rho=rho_of(loss.epsilon, loss.delta))
        return inside

    right = accounts.Account._concentrate
    monkeypatch.setattr(accounts.Account, "_concentrate", book)
    result = audit("snr-forest")
    assert result.verdict == "violated"
    assert result.unbooked > 0


def test_noise_for_one_count_of_many_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mechanisms, "gaussian_scale", lambda squares, rho: gaussian_scale(1, 2 * rho))
    assert audit("greedy-forest").verdict == "violated"


@pytest.mark.parametrize("name", ["greedy-forest", "exact"])
def test_real_noise_does_not_refute_it(name: str) -> None:
    """False alarms: at most one in a million."""
    result = sample_recipe(as_recipe(name, delta=1e-6), 1, max_fits=100, search=False, alpha=1e-6)
    assert result.verdict == "not refuted"
