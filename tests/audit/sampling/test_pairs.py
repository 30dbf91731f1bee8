"""Pairs: how their tables differ, what is promised about them, and variations."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from privet.audit import TablePair, table_pairs, zoo
from privet.audit.sampling.pairs import as_pairs, from_zoo, rows_of, take
from privet.audit.sampling.recipes import recipe_pairs
from privet.audit.sampling.searching import worse
from privet.errors import ParameterError


def test_the_default_pairs() -> None:
    pairs = table_pairs(units=(3,), categories=("a", "b"))
    by_name = {pair.name: pair for pair in pairs}
    assert len(by_name) == len(pairs)
    assert by_name["random labels, without the last"].relation == "add-remove"
    assert by_name["alternating labels, one changed"].relation == "replace-one"
    unit = by_name["a unit of 3 rows leaves"]
    assert (unit.relation, unit.steps("add-remove")) == ("3 rows", 3)
    lone = by_name["a category of one record leaves"]
    assert (lone.ours[0]["category"] == "alone").sum() == 1
    assert not (lone.theirs[0]["category"] == "alone").any()
    assert float(by_name["an extreme number leaves"].ours[0]["x0"].max()) > 1e5
    assert 2 in by_name["an undeclared label leaves"].ours[1]
    only = by_name["the only record of a label leaves"]
    assert (sum(only.ours[1]), sum(only.theirs[1])) == (1, 0)
    for place, extreme in (("first", min), ("last", max)):
        spread = by_name[f"spread numbers, without the {place}"]
        assert extreme(spread.ours[0]["x0"]) not in set(spread.theirs[0]["x0"])


def test_steps_follow_from_the_promise() -> None:
    X, y = np.arange(4.0).reshape(-1, 1), np.array([0, 1, 0, 1])
    replaced = TablePair("replaced", (X, y), (X, np.array([1, 1, 0, 1])))
    assert replaced.steps("add-remove") == 2
    assert replaced.steps("replace-one") == 1
    dropped = TablePair("dropped", (X, y), (X[1:], y[1:]))
    assert dropped.steps("add-remove") == 1
    with pytest.raises(ParameterError, match="differ in size"):
        dropped.steps("replace-one")
    assert TablePair("unit", (X, y), (X[2:], y[2:]), unit=True).steps("add-remove") == 1
    assert TablePair("order", (X, y), (X[::-1], y[::-1])).relation == "the same records"


@pytest.mark.parametrize(
    "pair",
    [
        table_pairs(records=10)[4],
        table_pairs(records=10, categories=("a", "b"))[-1],
        from_zoo(zoo()[10]),
        as_pairs([(([[1], [2], [3]], [0, 1, 0]), ([[1], [3]], [0, 0]))])[0],
    ],
    ids=["array", "frame", "columns", "lists"],
)
def test_variations_differ_in_the_same_rows(pair: TablePair) -> None:
    found = list(worse(pair, np.random.default_rng(0)))
    assert len(found) == 7
    only = set(rows_of(pair.ours)) - set(rows_of(pair.theirs))
    for one in found:
        assert sorted(one.differences) == sorted(pair.differences), one.name
        if only and "labels" not in one.name:
            assert set(rows_of(one.ours)) - set(rows_of(one.theirs)) <= only
    assert len({tuple(rows_of(one.ours)) for one in found}) > 2


def test_a_pair_that_differs_in_several_places_has_no_variations() -> None:
    X, y = np.arange(6.0).reshape(-1, 1), np.zeros(6, dtype=int)
    changed = X.copy()
    changed[[0, 5]] += 100
    assert list(worse(TablePair("two places", (X, y), (changed, y)), np.random.default_rng(0))) == []


def test_pairs_as_users_write_them() -> None:
    X, y = pd.DataFrame({"a": [1, 2]}), [0, 1]
    shorter = take(X, [0]), [0]
    plain, named, ours = as_pairs([((X, y), shorter), ("mine", (X, y), shorter), zoo()[0]])
    assert (plain.name, named.name, ours.name) == ("pair 1", "mine", "margin 0 to 1")
    assert plain.relation == "add-remove"
    assert len(plain.probes()) == 2
    for wrong, says in (
        ([], "is empty"),
        ([7], "no pair"),
        ([((X, y), shorter)] * 1 + [("pair 1", (X, y), shorter)], "two of"),
    ):
        with pytest.raises(ParameterError, match=says):
            as_pairs(wrong)


@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
def test_the_zoo_for_recipes(neighbours: str) -> None:
    pairs = recipe_pairs(neighbours)
    assert len(pairs) > 25
    assert {pair.relation for pair in pairs} == {neighbours}
    assert all(pair.steps(neighbours) == 1 for pair in pairs)
