"""Forests spend what they may and not more, and what they refuse costs nothing."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from recipe_fits import (
    EPSILONS,
    RELATIONS,
    SOUND,
    UNSOUND,
    WIDE,
    Crowded,
    fit,
    members,
    sound,
    unsound,
    wide_table,
)

from privet.engines.memory import MemoryEngine
from privet.errors import ParameterError, PrivacyError, RecipeError
from privet.growing.prelude import Prelude
from privet.models.validation import check_tree
from privet.privacy.budget import epsilon as parse_epsilon
from privet.privacy.dataset import PrivateDataset
from privet.privacy.ledger import Ledger
from privet.recipes.ours.random_forest import RandomForest
from privet.recipes.papers.greedy_forest import GreedyForest
from privet.recipes.papers.jagannathan2012 import Jagannathan2012
from privet.recipes.papers.jagannathan2013 import Jagannathan2013
from privet.recipes.papers.mohammed2015 import Mohammed2015
from privet.recipes.papers.patil_singh2014 import PatilSingh2014
from privet.recipes.papers.rana2016 import Rana2016
from privet.recipes.papers.smooth_forest import SmoothForest
from privet.recipes.papers.snr_forest import SNRForest
from privet.recipes.recipe import Recipe
from privet.schema import Categorical, Schema
from privet.tables.encoding import encode, encode_features
from privet.testing import SeededNoise, ZeroNoise, schemas, tables


@sound
@given(data=st.data(), schema=schemas(), epsilon=EPSILONS, seed=st.integers(0, 99))
@settings(max_examples=10)
def test_never_more_than_epsilon_and_no_table_is_refused(
    make: Callable[..., Recipe], data: st.DataObject, schema: Schema, epsilon: Any, seed: int
) -> None:
    """Dirty tables and empty ones are fitted like any other: an error that depends on a row would be a release."""
    recipe, table = make(), data.draw(tables(schema))
    neighbours = data.draw(st.sampled_from(RELATIONS))
    model, ledger = fit(recipe, schema, table, epsilon, SeededNoise(seed), neighbours, seed)
    assert isinstance(ledger.spent, Fraction)
    assert 0 < ledger.spent <= parse_epsilon(epsilon)
    for tree in members(model):
        check_tree(tree)
    proba = model.predict_proba(encode_features(model.schema, table))
    np.testing.assert_allclose(proba.sum(axis=1), 1)


@sound
@given(data=st.data(), schema=schemas(), epsilon=EPSILONS)
@settings(max_examples=6)
def test_where_no_rule_stops_a_path_all_is_spent(
    make: Callable[..., Recipe], data: st.DataObject, schema: Schema, epsilon: Any
) -> None:
    for neighbours in RELATIONS:
        model, ledger = fit(make(), schema, data.draw(tables(schema)), epsilon, Crowded(), neighbours)
        assert ledger.spent == parse_epsilon(epsilon)
        assert model.members


@pytest.mark.parametrize("neighbours", RELATIONS)
class TestFormulas:
    """What a question costs, by the ledger's lines."""

    def units(self, recipe: Recipe, neighbours: str) -> list[Fraction]:
        _, ledger = fit(recipe, WIDE, wide_table(), Fraction(1, 2), Crowded(), neighbours)
        return [charge.epsilon for charge in ledger.certificate().charges]

    def test_mohammed2015(self, neighbours: str) -> None:
        """B / d, d levels with that of the leaves."""
        for depth in range(4):
            for variant in Mohammed2015.info.variants:
                units = self.units(Mohammed2015(variant, max_depth=depth), neighbours)
                assert units == [Fraction(1, 2 * (depth + 1))] * (depth + 1)

    def test_patil_singh2014(self, neighbours: str) -> None:
        """B / (trees (2d - 1))."""
        units = self.units(PatilSingh2014(n_estimators=3, max_depth=2), neighbours)
        assert units == [Fraction(1, 2) / (3 * 5)] * 15

    def test_random_trees(self, neighbours: str) -> None:
        half = Fraction(1, 2)
        leaves, weight = half * Fraction(9, 10), half / 10
        assert self.units(RandomForest(n_estimators=7, n_public=200), neighbours) == [*[leaves / 7] * 7, weight]
        assert self.units(RandomForest(n_estimators=7, min_signal=0), neighbours) == [*[leaves / 7] * 7, weight]
        assert self.units(RandomForest(n_estimators=7, min_signal=0, weight_share=0), neighbours) == [half / 7] * 7
        assert self.units(RandomForest(n_estimators=7, min_signal=0, voting="proba"), neighbours) == [half / 7] * 7
        assert self.units(RandomForest(sharing="disjoint", min_signal=0), neighbours) == [leaves, weight]
        counted = [half / 20, half * Fraction(17, 20), weight]
        assert self.units(RandomForest(sharing="disjoint"), neighbours) == counted
        assert self.units(SmoothForest(n_estimators=9), neighbours) == [half]
        assert self.units(Jagannathan2013(n_estimators=4), neighbours) == [half / 4] * 4
        counted = [half / 20, *[half * Fraction(19, 20) / 3] * 3]
        assert self.units(SNRForest(n_estimators=3), neighbours) == counted
        assert self.units(RandomForest(n_estimators=3, weight_share=0), neighbours) == counted
        assert self.units(SNRForest(n_estimators=3, n_public=200), neighbours) == [half / 3] * 3
        assert self.units(Jagannathan2012(n_estimators=3), neighbours) == counted  # its depth wants n
        assert self.units(Jagannathan2012(n_estimators=3, max_depth=2), neighbours) == [half / 3] * 3


@pytest.mark.parametrize("make", [*SOUND.values(), *UNSOUND.values()], ids=[*SOUND, *(f"{n}, leaks" for n in UNSOUND)])
def test_an_empty_table_fits(make: Callable[..., Recipe]) -> None:
    empty = {name: [] for name in (*WIDE.names, "ill")}
    for noise in (SeededNoise(0), Crowded(), ZeroNoise()):
        model, ledger = fit(make(), WIDE, empty, 1, noise)
        assert ledger.spent <= 1
        assert model.predict(encode_features(model.schema, wide_table(5))).shape == (5,)


@sound
def test_a_schema_without_any_test(make: Callable[..., Recipe]) -> None:
    schema = Schema((Categorical("one", ("x",)),), Categorical("ill", ("no", "yes")))
    model, ledger = fit(make(), schema, {"one": ["x"] * 9, "ill": ["yes"] * 9}, 5, ZeroNoise())
    assert all(len(tree) == 1 for tree in members(model))
    assert model.predict(np.zeros((1, 1), np.uint8))[0] == 1
    assert ledger.spent == 5


@sound
def test_seeded_noise_repeats(make: Callable[..., Recipe]) -> None:
    from privet.audit.released import canonical

    one, again, other = (canonical(fit(make(), WIDE, wide_table(), 1, SeededNoise(s))[0]) for s in (7, 7, 8))
    assert one == again
    assert one != other


@sound
def test_tiny_and_huge_epsilons(make: Callable[..., Recipe]) -> None:
    for epsilon in (Fraction(1, 10**15), 10**9, 10**60):
        model, ledger = fit(make(), WIDE, wide_table(50), epsilon, ZeroNoise())
        assert ledger.spent <= epsilon
        assert np.isfinite(model.predict_proba(encode_features(model.schema, wide_table(5)))).all()


# -- refusals ---------------------------------------------------------------------------------------------------------


@unsound
def test_a_protected_ledger_is_refused_before_anything_is_looked_at(make: Callable[..., Recipe]) -> None:
    recipe = make()
    ledger = Ledger(1)
    prepared = recipe.prepare(WIDE)
    data = PrivateDataset(MemoryEngine(prepared, encode(prepared, wide_table())), ledger)
    for grow in (recipe.grow_model, recipe.grow_after):  # also where somebody goes around the front door
        with pytest.raises(PrivacyError, match="not differentially private"):
            grow(Prelude(data, Fraction(1)), np.random.default_rng(0))
    assert ledger.spent == 0
    assert ledger.certificate().private


@unsound
def test_the_certificate_of_what_leaks(make: Callable[..., Recipe]) -> None:
    """With real noise: it is the method that voids the certificate."""
    recipe = make()
    prepared = recipe.prepare(WIDE)
    ledger = Ledger(1).allow_nonprivate()
    data = PrivateDataset(MemoryEngine(prepared, encode(prepared, wide_table(30))), ledger)
    recipe.grow_model(Prelude(data, Fraction(1)), np.random.default_rng(0))
    certificate = ledger.certificate()
    assert not certificate.private
    assert any(recipe.unsound["as-published"] in str(caveat) for caveat in certificate.caveats)
    assert ledger.spent == 1  # what its paper says it spends


@sound
def test_the_certificate_of_what_does_not(make: Callable[..., Recipe]) -> None:
    recipe = make()
    prepared = recipe.prepare(WIDE)
    ledger = Ledger(1)
    data = PrivateDataset(MemoryEngine(prepared, encode(prepared, wide_table(30))), ledger)
    recipe.grow_model(Prelude(data, Fraction(1)), np.random.default_rng(0))
    assert ledger.certificate().private


def test_rana2016_has_no_sound_form_and_needs_two_classes() -> None:
    for variant in ("sound", "better"):
        with pytest.raises(RecipeError, match="'as-published'"):
            Rana2016(variant)
    with pytest.raises(RecipeError):
        Rana2016()  # sound is the default
    three = Schema(WIDE.attributes, Categorical("ill", ("no", "yes", "perhaps")))
    with pytest.raises(ParameterError, match=r"two labels|two classes"):
        Rana2016("as-published").prepare(three)


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: GreedyForest(n_estimators=0), "n_estimators"),
        (lambda: GreedyForest(max_depth=-1), "max_depth"),
        (lambda: GreedyForest(prune="yes"), "prune"),  # type: ignore[arg-type]
        (lambda: SNRForest(n_estimators="many"), "n_estimators"),  # type: ignore[arg-type]
        (lambda: SNRForest(n_public=0), "n_public"),
        (lambda: SNRForest(count_share=0), "count_share"),
        (lambda: SNRForest(count_share=1), "count_share"),
        (lambda: SmoothForest(labels="random"), "labels"),  # type: ignore[arg-type]
        (lambda: RandomForest(sharing="some"), "sharing"),  # type: ignore[arg-type]
        (lambda: RandomForest(voting="loudest"), "voting"),  # type: ignore[arg-type]
        (lambda: RandomForest(evidence=0), "evidence"),
        (lambda: RandomForest(weight_share=1), "weight_share"),
        (lambda: RandomForest(weight_share=0.5, count_share=0.5), "weight_share"),
        (lambda: RandomForest(min_signal=-1), "min_signal"),
        (lambda: RandomForest(n_public=0), "n_public"),
        (lambda: RandomForest(count_share=1), "count_share"),
        (lambda: RandomForest(shrinkage=-1), "shrinkage"),
        (lambda: RandomForest(shrinkage=float("nan")), "shrinkage"),
        (lambda: Jagannathan2012(max_depth=-1), "max_depth"),
        (lambda: Jagannathan2012(n_public=1.5), "n_public"),  # type: ignore[arg-type]
        (lambda: Jagannathan2013(public_trees=-1), "public_trees"),
        (lambda: Mohammed2015(criterion="gainratio"), "gainratio"),
        (lambda: PatilSingh2014(rate=0), "rate"),
        (lambda: PatilSingh2014(rate=1.1), "rate"),
        (lambda: Rana2016("as-published", min_support=-1), "min_support"),
    ],
)
def test_invalid_parameters(make: Callable[[], Recipe], name: str) -> None:
    with pytest.raises(ParameterError, match=name):
        make()
