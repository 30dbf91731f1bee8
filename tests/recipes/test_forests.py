"""What forests do with records, and how public their structures are."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from recipe_fits import (
    PUBLIC,
    WIDE,
    fit,
    wide_table,
)

from privet.datasets.clinic import clinic
from privet.estimators.registry import make_classifier
from privet.models.leaf_counts import add_up
from privet.recipes.ours.random_forest import RandomForest
from privet.recipes.papers import smooth_forest
from privet.recipes.papers.greedy_forest import GreedyForest
from privet.recipes.papers.jagannathan2012 import Jagannathan2012
from privet.recipes.papers.jagannathan2013 import Jagannathan2013
from privet.recipes.papers.smooth_forest import SmoothForest
from privet.recipes.papers.snr_forest import SNRForest
from privet.recipes.recipe import Recipe
from privet.testing import SeededNoise, ZeroNoise

# -- what they do -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("variant", ["sound", "as-published"])
@pytest.mark.parametrize("trees", [1, 3, 5, 8])
def test_every_greedy_tree_has_a_root_of_its_own(variant: str, trees: int) -> None:
    for seed in range(5):
        recipe = GreedyForest(variant, n_estimators=trees, max_depth=2, min_records=0, max_bins=3, prune=False)
        forest, _ = fit(recipe, WIDE, wide_table(), 100, SeededNoise(seed))
        assert len(forest) == min(trees, 5)
        roots = [int(tree.attribute[0]) for tree in forest if tree.attribute[0] >= 0]
        assert len(roots) >= min(trees, 5) - 1  # noise can make a root pure
        assert len(set(roots)) == len(roots)


def test_greedy_trees_find_the_best_attributes_in_turn() -> None:
    """Without noise: the label is smokes, nearly; then sex, a little."""
    table = wide_table(1000)
    rng = np.random.default_rng(1)
    ill = table["smokes"].copy()
    for share, values in ((0.1, rng.choice(["no", "yes"], 1000)), (0.3, np.where(table["sex"] == "f", "no", "yes"))):
        ill = np.where(rng.random(1000) < share, values, ill)
    forest, _ = fit(GreedyForest(n_estimators=2, max_depth=1, max_bins=3), WIDE, table | {"ill": ill}, 1, ZeroNoise())
    assert [WIDE.names[tree.attribute[0]] for tree in forest] == ["smokes", "sex"]
    counts = forest[0].counts
    assert counts[1:].sum() == counts[0].sum() == 1000  # every node has counts of its own


def test_labels_of_the_smooth_forest_are_the_largest_noisy_counts() -> None:
    """Also where all of them are below zero."""
    seen = 0
    for seed in range(5):
        forest, _ = fit(
            SmoothForest(n_estimators=5, max_depth=2, max_bins=4), WIDE, wide_table(20), 0.1, SeededNoise(seed)
        )
        for tree in forest:
            assert np.array_equal(tree.counts[np.arange(len(tree)), tree.label], tree.counts.max(axis=1))
            seen += int(((tree.counts < 0).all(axis=1) & (tree.label == 1)).sum())
    assert seen > 0


@given(st.integers(0, 2**32 - 1))
def test_equal_counts_are_decided_above(seed: int) -> None:
    """The largest count always has the label; where whole counts are equal, the class that the nodes above favour."""
    random = np.random.default_rng(seed)
    schema = SmoothForest(max_bins=3).prepare(WIDE)
    routes = SmoothForest(n_estimators=2, max_depth=3).routes(schema, random)
    counts = np.where(routes.is_leaf[:, None], random.integers(-3, 4, (len(routes.tests), 2)), np.nan)
    counts = add_up(routes, counts)
    label = smooth_forest.largest(routes, counts)
    for node in range(len(counts)):
        assert counts[node, label[node]] == counts[node].max()
        if counts[node, 0] != counts[node, 1]:
            continue
        above = int(routes.parent[node])
        while above >= 0 and (counts[above] <= 0).all() and routes.parent[above] >= 0:
            above = int(routes.parent[above])
        opinion = np.maximum(counts[above], 0) if above >= 0 else np.zeros(2)
        assert label[node] == (1 if opinion[1] > opinion[0] else 0)


def test_chosen_labels_are_right_where_they_are_clear() -> None:
    table = wide_table(2000) | {"ill": ["yes"] * 2000}
    forest, ledger = fit(
        SmoothForest(n_estimators=3, max_depth=1, labels="chosen", max_bins=4), WIDE, table, 50, SeededNoise(0)
    )
    assert all((tree.label == 1).all() for tree in forest)
    assert all(np.isnan(tree.counts).all() for tree in forest)
    assert [charge.epsilon for charge in ledger.certificate().charges] == [50]


def test_an_empty_leaf_is_empty_by_its_noisy_counts() -> None:
    """Never because nobody is in it: of an empty table about half of the leaves speak."""
    empty = {name: [] for name in (*WIDE.names, "ill")}
    forest, _ = fit(Jagannathan2012(n_estimators=5, max_depth=3, max_bins=4), WIDE, empty, 1, SeededNoise(1))
    leaves = np.concatenate([tree.counts[tree.is_leaf] for tree in forest])
    speaking = (leaves > 0).any(axis=1).mean()
    assert 0.2 < speaking < 0.8
    assert (leaves >= 0).all()


def test_the_large_forest_learns_from_public_records_and_released_labels() -> None:
    """Under the same draws the private records can be anybody's: only noise and public records decide the rest."""

    class Fixed(ZeroNoise):
        def laplace(self, values: np.ndarray, scale: float) -> np.ndarray:
            return np.arange(values.size).reshape(values.shape)

    recipe = Jagannathan2013(public=PUBLIC, n_estimators=2, public_trees=3, max_bins=4)
    models = [fit(recipe, WIDE, wide_table(n, seed=n), 1, Fixed())[0] for n in (0, 40, 300)]
    assert len(models[0]) == 5
    for other in models[1:]:
        for one, two in zip(models[0], other, strict=True):
            for column in ("attribute", "kind", "cut", "first_child", "label", "proba", "counts"):
                assert np.array_equal(getattr(one, column), getattr(two, column), equal_nan=True)
    large = models[0].trees[2:]
    assert all(tree.counts[0].sum() == 60 for tree in large)  # every public record, once
    assert "public" not in recipe.params


def test_without_public_records_there_is_only_the_small_forest() -> None:
    assert len(fit(Jagannathan2013(n_estimators=3, public_trees=9), WIDE, wide_table())[0]) == 3
    nobody = {name: [] for name in WIDE.names}
    assert len(fit(Jagannathan2013(public=nobody, n_estimators=3, public_trees=2), WIDE, wide_table())[0]) == 5


# -- public structures ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "recipe",
    [
        SmoothForest(n_estimators=4, max_bins=8),
        SmoothForest(n_estimators=4, max_bins=8, labels="chosen"),
        RandomForest(n_public=900),
        RandomForest(sharing="disjoint", min_signal=0, tests="binary", voting="majority"),
        Jagannathan2012(n_public=200),
        Jagannathan2012(n_estimators=3, max_depth=3),
        Jagannathan2013(public=PUBLIC, public_trees=0),
    ],
    ids=lambda r: r.info.name,
)
def test_structure_does_not_depend_on_the_records(recipe: Recipe) -> None:
    """Another table, another noise: the same trees. Another seed: others."""

    def structure(n: int, seed: int) -> list[list[int]]:
        forest, _ = fit(recipe, WIDE, wide_table(n, seed=n), 1, SeededNoise(n), seed=seed)
        return [getattr(t, c).tolist() for t in forest for c in ("attribute", "kind", "cut", "first_child")]

    assert structure(0, 0) == structure(7, 0) == structure(400, 0)
    assert structure(0, 0) != structure(0, 1)


def test_a_signal_to_noise_forest_depends_on_released_numbers_only() -> None:
    """The same draws on other records give the same model, also what is pruned away."""

    class Fixed(ZeroNoise):
        def laplace(self, values: np.ndarray, scale: float) -> np.ndarray:
            return (np.arange(values.size).reshape(values.shape) * 37) % 101 + (500 if values.size == 1 else 0)

    one, two = (fit(SNRForest(max_bins=3), WIDE, wide_table(n, seed=n), 5, Fixed())[0] for n in (0, 300))
    assert sum(len(tree) for tree in one) > len(one)
    for mine, theirs in zip(one, two, strict=True):
        for column in ("attribute", "cut", "first_child", "label", "proba", "counts"):
            assert np.array_equal(getattr(mine, column), getattr(theirs, column))


def test_greedy_trees_may_test_some_attributes_only() -> None:
    schema, table = clinic(2000)
    forest = make_classifier("greedy-forest", schema=schema, epsilon=50, max_features=1, prune=False).fit(table)
    for tree in forest.model_.trees.members:
        assert len(set(tree.attribute[tree.attribute >= 0].tolist())) <= 1
    assert forest.certificate_.epsilon == 50
