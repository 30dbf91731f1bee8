"""No tree of any sound recipe has a branch that nothing can reach: fitted by default, every node is looked at.

The long form (``-m slow``) fits every recipe on ten real tables, as often as PRIVET_FITS says.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

import privet
from privet import Categorical, Numeric, Schema
from privet.datasets import real
from privet.recipes.registry import OWN, recipe_class
from privet.structure.routes import Routes
from privet.structure.splits import OneCategory, Threshold

SOUND = [name for name in OWN if "sound" in recipe_class(name).info.guarantee]
TABLES = (
    "nursery",
    "car",
    "wine-red",
    "vote",
    "tic-tac-toe",
    "mushroom",
    "chess-krkp",
    "banknote",
    "wbc",
    "page-blocks",
)
FITS = int(os.environ.get("PRIVET_FITS", "1"))  # of each recipe on each of these tables, at epsilon 1 and 0.1 in turn


def unreachable(routes: Routes) -> int:
    """How many nodes no record could come to, by all codes of all attributes."""
    schema, tests = routes.schema, routes.tests
    left = {int(root): [np.arange(arity) for arity in schema.arities] for root in routes.roots}
    for node in range(len(tests)):
        a = int(tests.attribute[node])
        for child in range(int(tests.arity[node])):
            codes = left[node][a]
            inside = codes[tests[node].branch(codes) == child]
            left[int(routes.first_child[node]) + child] = [*left[node][:a], inside, *left[node][a + 1 :]]
    return sum(any(not codes.size for codes in left[node]) for node in range(len(tests)))


def table(n: int, classes: int) -> tuple[Schema, dict[str, Any]]:
    """Few attributes of few values, so that trees ask for them again and again."""
    schema = Schema(
        (
            Numeric("x", 0, 3, bins=3),
            Numeric("rooms", 1, 3, integer=True, missing="?"),
            Categorical("town", tuple("abc")),
            Categorical("sex", ("f", "m")),
        ),
        Categorical("class", tuple(range(classes))),
    )
    rng = np.random.default_rng(classes)
    town = rng.integers(0, 3, n)
    found = {"x": rng.uniform(0, 3, n), "rooms": rng.integers(1, 4, n).astype(float)}
    found |= {"town": np.array(list("abc"))[town], "sex": np.array(["f", "m"])[rng.integers(0, 2, n)]}
    return schema, found | {"class": (town + (found["x"] > 2) + (rng.random(n) < 0.1)) % classes}


def fitted(recipe: str, schema: Schema, columns: Any, epsilon: float, **options: Any) -> Routes | None:
    model = privet.make_classifier(recipe, schema=schema, epsilon=epsilon, **options)
    routes: Routes | None = model.fit(columns, columns[schema.label.name]).model_.trees.routes
    return routes


@pytest.mark.parametrize("recipe", SOUND)
def test_every_branch_can_be_reached(recipe: str) -> None:
    for n, classes, epsilon in ((600, 3, 0.1), (1000, 2, 1)):
        routes = fitted(recipe, *table(n, classes), epsilon)
        assert routes is None or unreachable(routes) == 0  # an additive model need not have a tree


@pytest.mark.parametrize(
    ("recipe", "options"),
    [
        ("exact", {"max_depth": 8}),
        ("exact", {"max_depth": (2, 2, 2)}),
        ("exact", {"tests": "multiway", "max_depth": (2, 2)}),
        ("embedded", {"max_depth": 4, "embedding_depth": 2}),
        ("embedded", {"max_depth": 4, "measure": "subtrees"}),
        ("random-forest", {"max_depth": 8}),
        ("diffpc45", {"max_depth": 8}),
    ],
)
def test_every_branch_can_be_reached_deep_down(recipe: str, options: dict[str, Any]) -> None:
    routes = fitted(recipe, *table(2000, 2), 2, **options)
    assert routes is not None
    assert unreachable(routes) == 0


def test_the_first_tree_of_an_additive_model_too() -> None:
    found = [fitted("additive", *table(300, 2), 0.1) for _ in range(3)]
    trees = [routes for routes in found if routes is not None]
    assert trees
    assert [unreachable(routes) for routes in trees] == [0] * len(trees)


def test_a_branch_that_nothing_reaches_is_counted() -> None:
    """Planted: a wider cut below a narrower one, another town below a town, the last town below all others."""
    schema, _ = table(1, 2)
    wider = [Threshold(0, 0), Threshold(0, 1), None, None, None]
    other = [OneCategory(2, 0), OneCategory(2, 1), None, None, None]
    last = [OneCategory(2, 0), None, OneCategory(2, 1), None, OneCategory(2, 2), None, None]
    counts = [unreachable(Routes.in_level_order(schema, tests)) for tests in (wider, other, last)]
    assert counts == [1, 1, 1]


@pytest.mark.slow
@pytest.mark.usefixtures("full_draws")
@pytest.mark.parametrize("recipe", SOUND)
@pytest.mark.parametrize("name", TABLES)
def test_every_branch_can_be_reached_on_real_tables(name: str, recipe: str, data_dir: Any) -> None:
    schema, columns = real.load(name)
    for number in range(FITS):
        routes = fitted(recipe, schema, columns, (1, 0.1)[number % 2])
        assert routes is None or unreachable(routes) == 0
