"""``check_recipe`` passes for every recipe that keeps its promise, and fails for recipes that do not."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from privet.audit import tiny_schema
from privet.errors import ParameterError
from privet.models.tree import Tree
from privet.privacy import mechanisms
from privet.privacy.budget import float_up
from privet.privacy.counting import class_counts
from privet.privacy.dataset import PrivateDataset
from privet.recipes.ours.exact import ExactTree
from privet.recipes.papers.diffpc45 import DiffPC45
from privet.recipes.papers.diffpid3 import DiffPID3
from privet.recipes.papers.sulq import SuLQ
from privet.recipes.recipe import Recipe
from privet.recipes.registry import recipe_classes
from privet.testing import check_recipe

# How much of its claim the audit finds under either relation, at least: one that finds nothing proves nothing. Under
# replace-one a table keeps its size, so what is spent on the size of the root is never lost.
SOUND: list[tuple[Recipe, float, float, float]] = [
    (SuLQ("sound", max_depth=2), 1, 0.999, 0.79),
    (DiffPID3("sound", max_depth=2), 1, 0.99, 0.5),
    (DiffPC45("sound", max_depth=2), 1, 0.9, 0.5),
    (ExactTree(max_depth=2, leaf_share=0.25), 1, 0.3, 0.2),
    (ExactTree(max_depth=1, tests="multiway"), 0.5, 0, 0),
]
OTHER_FORMS: list[tuple[Recipe, float, float, float]] = [
    (SuLQ("as-published", max_depth=2), 2, 0, 0),
    (DiffPID3("as-published", max_depth=2), 0.5, 0, 0),
    (DiffPC45("as-published", max_depth=2), 2, 0, 0),
    (ExactTree(max_depth=1), 2, 0, 0),
    (ExactTree(max_depth=2, tests="multiway", leaf_share=0.25, class_weight={"no": 0.5}), 1, 0, 0),
]


@pytest.mark.parametrize(
    ("recipe", "claimed", "add_remove", "replace_one"),
    [*SOUND, *(pytest.param(*form, marks=pytest.mark.slow) for form in OTHER_FORMS)],
    ids=[f"{recipe.info.name}-{recipe.variant}-{recipe.max_depth}" for recipe, *_ in [*SOUND, *OTHER_FORMS]],
)
def test_every_sound_recipe_keeps_its_claim(
    recipe: Recipe, claimed: float, add_remove: float, replace_one: float
) -> None:
    """Over the whole zoo, in both relations. Epsilon only scales draws: each recipe has one, the next test all."""
    # The weights name a label of that schema.
    schema = tiny_schema() if recipe.params.get("class_weight") else None
    # What has no power of its own to show shares its code with one that has: fewer animals and ways will do.
    less = {} if add_remove else {"thresholds": (20,), "of_a_class": (1, 5), "transcripts": 3}
    results = check_recipe(recipe, epsilons=[claimed], schema=schema, **({"transcripts": 5} | less))
    assert [result.neighbours for result in results] == ["add-remove", "replace-one"]
    for result, least in zip(results, (add_remove, replace_one), strict=True):
        assert 0 < result.lower_bound <= result.claimed + 1e-9
        assert result.lower_bound >= least * claimed


def test_all_epsilons_by_default() -> None:
    results = check_recipe(DiffPID3(max_depth=1), transcripts=2, of_a_class=(1,))
    assert [(r.claimed, r.neighbours) for r in results] == [
        (claimed, relation) for relation in ("add-remove", "replace-one") for claimed in (0.5, 1.0, 2.0)
    ]
    assert all(0 < r.lower_bound <= r.claimed + 1e-9 for r in results)


@dataclass(frozen=True)
class Overspends(DiffPID3):
    def grow(self, data: PrivateDataset, epsilon: Fraction, random: Any, progress: Any = None) -> Tree:
        data.noisy_count(epsilon / 100)
        return super().grow(data, epsilon, random)


@dataclass(frozen=True)
class Saves(DiffPID3):
    def grow(self, data: PrivateDataset, epsilon: Fraction, random: Any, progress: Any = None) -> Tree:
        return super().grow(data, epsilon / 2, random)


@dataclass(frozen=True)
class FailsOnNobody(DiffPID3):
    def grow(self, data: PrivateDataset, epsilon: Fraction, random: Any, progress: Any = None) -> Tree:
        counts = class_counts(data._engine, data._cells)
        if counts.min() == 0:
            raise ValueError("a class is empty")
        return super().grow(data, epsilon, random)


@dataclass(frozen=True)
class Restless(DiffPID3):
    def grow(self, data: PrivateDataset, epsilon: Fraction, random: Any, progress: Any = None) -> Tree:
        tree = super().grow(data, epsilon, random)
        return replace(tree, counts=tree.counts + np.random.default_rng().random(tree.counts.shape))


@pytest.mark.parametrize(
    ("recipe", "says"),
    [
        (Overspends(max_depth=1), "has 0.24 left"),
        (Saves(max_depth=1), "spends at most 1/2 of 1"),
        (FailsOnNobody(max_depth=1), "fails on .*a class is empty"),
        (Restless(max_depth=1), "two models under one seed"),
    ],
)
def test_recipes_that_do_not_are_distinguished(recipe: Recipe, says: str) -> None:
    with pytest.raises(AssertionError, match=says):
        check_recipe(recipe, epsilons=[1])


def test_a_loss_above_the_claim_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mechanisms, "float_up", lambda value: 0.7 * float_up(value))
    with pytest.raises(AssertionError, match=r"claims epsilon 1 under add-remove and loses 1\.4"):
        check_recipe("sulq", epsilons=[1], transcripts=2, of_a_class=())


def test_unsound_variants_promise_nothing() -> None:
    unsound = [(kind, variant) for kind in recipe_classes().values() for variant in kind.unsound]
    for kind, variant in unsound:
        with pytest.raises(ParameterError, match="promises nothing"):
            check_recipe(kind(variant))
