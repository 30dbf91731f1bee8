"""``exact`` with a child for every value: the space of multiway trees, and how they are drawn."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from privet import Categorical, ExactTreeClassifier, Ledger, Numeric, ParameterError, Schema
from privet.datasets.clinic import clinic
from privet.growing.whole import whole_tree as whole
from privet.models.tree import Tree
from privet.recipes.ours.exact import ExactTree
from privet.structure.splits import Tests
from privet.testing import SeededNoise, check_recipe, use_noise

CLINIC, PATIENTS = clinic(2000)


TOWNS = Schema(
    (Categorical("town", ("a", "b", "c", "d")), Numeric("x", 0, 9, missing="?"), Categorical("sex", ("f", "m"))),
    Categorical("class", (0, 1, 2)),
)


def test_a_child_for_every_value() -> None:
    """At epsilon 10 any other tree misses ten records more, and has a chance below exp(-90)."""
    table = {"town": list("abcd") * 50, "x": [1.0, "?"] * 100, "sex": ["f", "m"] * 100, "class": [0, 1, 2, 0] * 50}
    fitted = ExactTreeClassifier(TOWNS, 10, max_depth=1, tests="multiway", grid="even", leaf_share=0).fit(table)
    texts = [rule.describe(fitted.schema_) for rule in fitted.rules_]
    assert texts == [f"IF town = {town} THEN {label}" for town, label in zip("abcd", (0, 1, 2, 0), strict=True)]
    assert [(charge.what, charge.epsilon) for charge in fitted.certificate_.charges] == [("whole trees", 10)]


def test_no_attribute_is_asked_twice_on_a_path_in_any_block(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(whole, "MAX_OPERATIONS", 0)
    empty = {name: [] for name in (*TOWNS.names, "class")}
    for seed, tests in product(range(10), ("binary", "multiway")):
        fitted = ExactTreeClassifier(TOWNS, 1, max_depth=3, tests=tests, max_bins=3, leaf_prior=0)
        with use_noise(SeededNoise(seed)):
            tree = fitted.fit(empty).tree_
        assert tree.depth == 3
        for path in paths(tree, 0):
            assert len(set(path)) == len(path) == 3


def paths(tree: Tree, node: int) -> list[tuple[Any, ...]]:
    test = tree.test(node)
    if test is None:
        return [()]
    return [(test, *path) for child in tree.children(node) for path in paths(tree, child)]


def test_the_multiway_space_follows_from_the_schema() -> None:
    recipe = ExactTree(tests="multiway", max_bins=3, leaf_prior=0.4, attribute_prior={"x": 2, "sex": 0})
    blocks = recipe.blocks(recipe.prepare(TOWNS))
    assert blocks.space.tests.arity.tolist() == [4, 4]  # three bins and a missing one; what is forbidden is left out
    np.testing.assert_allclose(blocks.space.test_prior, [1 / 3, 2 / 3])
    assert (blocks.depth, blocks.space.leaf_prior) == (2, (0.0, 0.4))
    assert blocks.space.multiway
    # Where every attribute has two values the two kinds of tests are one space, drawn by the faster way.
    schema = Schema(tuple(Categorical(f"b{i}", (0, 1)) for i in range(3)), Categorical("class", (0, 1)))
    assert not ExactTree(tests="multiway").blocks(schema).space.multiway


def test_multiway_tests_of_two_values_are_the_binary_tree() -> None:
    schema = Schema(tuple(Categorical(f"b{i}", (0, 1)) for i in range(4)), Categorical("class", (0, 1)))
    rng = np.random.default_rng(0)
    table: dict[str, Any] = {f"b{i}": rng.integers(0, 2, 300) for i in range(4)}
    table["class"] = table["b0"] ^ table["b2"]
    trees = []
    for tests in ("binary", "multiway"):
        with use_noise(SeededNoise(5)):
            trees.append(ExactTreeClassifier(schema, 2, tests=tests).fit(table))
    assert (trees[0].tree_.attribute == trees[1].tree_.attribute).all()
    for fitted in trees:
        assert (fitted.predict(table) == table["class"]).all()


@pytest.mark.usefixtures("full_draws")
def test_trees_too_large_to_hold_are_refused_and_automatic_depth_stays_below() -> None:
    wide = Schema(tuple(Categorical(f"w{i}", tuple(range(60))) for i in range(5)), Categorical("class", (0, 1)))
    ledger, empty = Ledger(1), {name: [] for name in (*wide.names, "class")}
    with pytest.raises(ParameterError, match=r"can have 216,000 leaves, more than 65,536; lower max_depth or max_bins"):
        ExactTreeClassifier(wide, 1, max_depth=3, tests="multiway", ledger=ledger).fit(empty)
    assert ledger.spent == 0
    assert ExactTree(tests="multiway").blocks(wide).depth == 2
    narrow = Schema((*wide.attributes[:1], *TOWNS.attributes), wide.label)  # what is forbidden costs nothing
    assert ExactTree(tests="multiway", max_bins=5, attribute_prior={"w0": 0}).blocks(narrow).depth == 3
    assert ExactTreeClassifier(wide, 1, tests="multiway", ledger=ledger).fit(empty).tree_.depth <= 2
    assert ledger.spent == 1


@pytest.mark.usefixtures("full_draws")
def test_multiway_depth_comes_from_public_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Known beforehand: 16 attributes of three values (vote), and operations by hand."""
    vote = Schema(tuple(Categorical(f"v{i}", tuple("yn?")) for i in range(16)), Categorical("class", (0, 1)))
    tests = Tests.multiway(vote)
    assert whole.multiway_operations(vote, tests, 1) == 24 * 48 * 2 + 10**5
    assert whole.multiway_operations(vote, tests, 3) == 24 * (120 * 9) * 48 * 2 + 10**5 * (1 + 16 + 120)
    assert whole.affordable_multiway_depth(vote, tests) == 5
    for name, limit, depth in (("MAX_OPERATIONS", 12 * 10**7, 4), ("MAX_ENTRIES", 10**4, 2), ("MAX_LEAVES", 27, 3)):
        with monkeypatch.context() as patch:
            patch.setattr(whole, name, limit)
            assert whole.affordable_multiway_depth(vote, tests) == depth


@pytest.mark.parametrize(
    "options", [{}, pytest.param({"leaf_share": 0.25}, marks=pytest.mark.slow)], ids=["plain", "leaf share"]
)
def test_multiway_blocks_keep_their_word(monkeypatch: pytest.MonkeyPatch, options: dict[str, Any]) -> None:
    """One level a draw: the audit of two blocks, over the zoo and in both relations.

    Without its crowds: blocks decide nothing by a number of records.
    """
    monkeypatch.setattr(whole, "MAX_OPERATIONS", 0)
    recipe = ExactTree(max_depth=2, tests="multiway", **options)
    results = check_recipe(recipe, epsilons=[1], thresholds=(), of_a_class=(), transcripts=2)
    assert all(result.lower_bound > 0.3 for result in results)


def test_missing_values_are_a_branch() -> None:
    schema = Schema((Numeric("x", 0, 10, missing="?"),), Categorical("class", ("no", "yes")))
    table = {"x": ["?"] * 100 + [3.0] * 50 + [10.0] * 50, "class": ["yes"] * 100 + ["no"] * 100}
    # At epsilon 10 the next best test, which puts 50 records wrong, has a chance below exp(-490).
    fitted = ExactTreeClassifier(schema, 10, max_depth=1, leaf_share=0).fit(table)
    texts = [rule.describe(fitted.schema_) for rule in fitted.rules_]
    assert texts == ["IF x is present THEN no", "IF x is missing THEN yes"]
    assert fitted.predict({"x": ["?", 3.0, None]}).tolist() == ["yes", "no", "yes"]
