"""``check_recipe`` passes for every recipe that keeps its word, and fails for recipes that do not."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from privet.audit import exact, tiny_schema, zoo
from privet.errors import ParameterError
from privet.privacy import mechanisms
from privet.privacy.budget import float_up
from privet.privacy.counting import class_counts
from privet.privacy.dataset import PrivateDataset
from privet.recipes.diffpc45 import DiffPC45
from privet.recipes.diffpid3 import DiffPID3
from privet.recipes.exact import ExactTree
from privet.recipes.recipe import Recipe
from privet.recipes.registry import recipe_classes
from privet.recipes.sulq import SuLQ
from privet.testing import check_recipe
from privet.trees.tree import Tree

SOUND: list[Recipe] = [
    *(kind(variant, max_depth=2) for kind in (SuLQ, DiffPID3, DiffPC45) for variant in ("sound", "as-published")),
    ExactTree(max_depth=1),
    ExactTree(max_depth=2, leaf_share=0.25),
    ExactTree(max_depth=1, tests="multiway"),
    ExactTree(max_depth=2, tests="multiway", leaf_share=0.25, class_weights={"no": 0.5}),
]


@pytest.mark.parametrize("recipe", SOUND, ids=lambda r: f"{r.info.name}-{r.variant}-{r.max_depth}")
def test_every_sound_recipe_keeps_its_word(recipe: Recipe) -> None:
    """At 0.5, 1 and 2, over one schema's zoo, in both relations; the other schema's follows below."""
    results = check_recipe(recipe, schema=tiny_schema(), of_a_class=(5,), transcripts=3)
    assert [(r.claimed, r.neighbours) for r in results] == [
        (claimed, relation) for relation in ("add-remove", "replace-one") for claimed in (0.5, 1.0, 2.0)
    ]
    assert all(0 < r.lower_bound <= r.claimed + 1e-9 for r in results)


SOUND_NAMES = [name for name, kind in recipe_classes().items() if "sound" in kind.info.variants]


@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
@pytest.mark.parametrize("name", SOUND_NAMES)
def test_every_sound_recipe_holds_on_three_classes(name: str, neighbours: str) -> None:
    """On a part of the zoo that is another for every recipe: all of it is for ``privet audit``."""
    pairs = [pair for pair in zoo(relation=neighbours) if pair.name.endswith("(wide)")]
    found = exact(name, pairs[SOUND_NAMES.index(name) % 7 :: 7], neighbours=neighbours, transcripts=2, complete=0)
    assert found.verdict == "holds"
    assert found.lower_bound > 0.1


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
        (Overspends(max_depth=1), "spent 101/100 of 1"),
        (Saves(max_depth=1), "spends at most 1/2 of 1"),
        (FailsOnNobody(max_depth=1), "fails on .*a class is empty"),
        (Restless(max_depth=1), "two models under one seed"),
    ],
)
def test_recipes_that_do_not_are_told_apart(recipe: Recipe, says: str) -> None:
    with pytest.raises(AssertionError, match=says):
        check_recipe(recipe, epsilons=[1], schema=tiny_schema(), of_a_class=())


def test_a_loss_above_the_claim_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mechanisms, "float_up", lambda value: 0.7 * float_up(value))
    with pytest.raises(AssertionError, match=r"claims epsilon 1 under add-remove and loses 1\.4"):
        check_recipe("sulq", epsilons=[1], schema=tiny_schema(), of_a_class=())


def test_unsound_variants_promise_nothing() -> None:
    unsound = [(kind, variant) for kind in recipe_classes().values() for variant in kind.unsound]
    for kind, variant in unsound:
        with pytest.raises(ParameterError, match="promises nothing"):
            check_recipe(kind(variant))
