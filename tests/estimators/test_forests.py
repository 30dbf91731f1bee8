"""What only forests have: sub-rules, a public table, and a recipe that is never private."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV

import privet
from privet.errors import ParameterError, PrivacyError, RecipeError, TableError
from privet.estimators.registry import CLASSIFIERS
from privet.models.forest import Forest
from privet.schema import Categorical, Schema
from privet.tables.encoding import encode_features
from privet.testing import ZeroNoise, use_noise

Make = Callable[..., Any]


# ---- sub-rules ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in CLASSIFIERS if name != "additive"])
def test_subrules_are_the_rules_of_all_nodes(
    make: Make, name: str, clinic_schema: Schema, table: dict[str, Any]
) -> None:
    estimator = make(name, schema=clinic_schema, max_depth=2)
    with pytest.raises(NotFittedError):
        estimator.subrules_  # noqa: B018
    fitted = estimator.fit(table, table["ill"])
    trees = fitted.model_.trees if isinstance(fitted.model_.trees, Forest) else (fitted.model_.trees,)
    assert len(fitted.subrules_) == sum(len(tree) for tree in trees)
    assert set(fitted.rules_) <= set(fitted.subrules_)
    assert sum(not rule.conditions for rule in fitted.subrules_) == len(trees)  # a root each


def test_subrules_of_the_greedy_forest_count_the_records_they_match(
    clinic_schema: Schema, table: dict[str, Any]
) -> None:
    """In every node, from counts of its own; without noise they are exact."""
    forest = privet.papers.GreedyForestClassifier(clinic_schema, 1, n_estimators=3, min_records=10, prune=False)
    with use_noise(ZeroNoise()):
        forest.fit(table, table["ill"])
    codes = encode_features(forest.schema_, table)
    inner = set(forest.subrules_) - set(forest.rules_)
    assert any(rule.conditions for rule in inner)
    for rule in forest.subrules_:
        matches = rule.matches(codes)
        assert rule.support == matches.sum()
        if rule.support:
            assert rule.confidence == pytest.approx(np.mean(table["ill"][matches] == rule.label))


def test_subrules_of_the_greedy_forest_are_noisy(clinic_schema: Schema, table: dict[str, Any]) -> None:
    """Inner ones too.

    A class count has noise of scale 30, so the sum of two is exact with a chance below 1 in 100; that so are half of 12
    roots, or of 12 inner nodes and leaves below, has a chance below 2 * 924 / 100^6, less than one in 10^8.
    """
    forest = privet.papers.GreedyForestClassifier(
        clinic_schema, 0.3, n_estimators=3, max_depth=1, min_records=0, prune=False
    )
    exact = {True: 0, False: 0}
    nodes = {True: 0, False: 0}
    for _ in range(4):
        codes = encode_features(forest.fit(table, table["ill"]).schema_, table)
        for rule in forest.subrules_:
            if (true := int(rule.matches(codes).sum())) > 200:  # where nothing is clipped at 0
                root = not rule.conditions
                nodes[root] += 1
                exact[root] += rule.support == true
    assert min(nodes.values()) >= 12
    assert all(2 * exact[root] < nodes[root] for root in nodes)


# ---- public records -----------------------------------------------------------------------------------------------


@pytest.fixture
def volunteers(clinic_schema: Schema) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    return pd.DataFrame({"age": rng.uniform(0, 100, 200), "town": rng.choice(list("abc"), 200), "smokes": True})


def test_a_public_table_is_a_parameter_like_others(
    clinic_schema: Schema, table: dict[str, Any], volunteers: pd.DataFrame
) -> None:
    forest = privet.papers.Jagannathan2013Classifier(clinic_schema, public=volunteers, public_trees=4)
    assert forest.get_params()["public"] is volunteers
    copy = clone(forest)
    assert copy.public is not volunteers
    pd.testing.assert_frame_equal(copy.public, volunteers)
    assert forest.set_params(public=None).public is None
    assert "public" in repr(copy)
    assert len(copy.fit(table, table["ill"]).model_.trees) == 5 + 4
    assert len(forest.fit(table, table["ill"]).model_.trees) == 5
    search = GridSearchCV(copy, {"public_trees": [1, 2]}, cv=2, error_score="raise")
    assert search.fit(pd.DataFrame(table), table["ill"]).best_params_["public_trees"] in (1, 2)


@pytest.mark.parametrize("kind", ["frame", "mapping", "array"])
def test_public_tables_of_any_make(
    kind: str, clinic_schema: Schema, table: dict[str, Any], volunteers: pd.DataFrame
) -> None:
    given = {
        "frame": volunteers,
        "mapping": {name: volunteers[name].to_numpy() for name in volunteers},
        "array": volunteers[list(clinic_schema.names)].to_numpy(),
    }
    answers = []
    for public in (given["frame"], given[kind]):
        with use_noise(ZeroNoise()):
            forest = privet.papers.Jagannathan2013Classifier(
                clinic_schema, public=public, public_trees=4, random_state=0
            )
            answers.append(forest.fit(table, table["ill"]).predict_proba(table))
    assert np.array_equal(*answers)


def test_a_file_does_not_hold_the_public_table(
    clinic_schema: Schema, table: dict[str, Any], volunteers: pd.DataFrame, tmp_path: Path
) -> None:
    forest = privet.papers.Jagannathan2013Classifier(clinic_schema, public=volunteers, public_trees=4, n_estimators=2)
    forest.fit(table, table["ill"]).save(tmp_path / "model.json")
    assert "public" not in forest.model_.params
    loaded: Any = privet.load_model(tmp_path / "model.json")
    assert loaded.public is None
    assert (loaded.n_estimators, loaded.public_trees) == (2, 4)
    assert np.array_equal(loaded.predict_proba(table), forest.predict_proba(table))


def test_the_certificate_is_for_the_private_records(
    clinic_schema: Schema, table: dict[str, Any], volunteers: pd.DataFrame
) -> None:
    forest = privet.papers.Jagannathan2013Classifier(clinic_schema, 0.5, public=volunteers, public_trees=4)
    certificate = forest.fit(table, table["ill"]).certificate_
    assert certificate.private
    assert certificate.epsilon == 0.5
    trees = [charge for charge in certificate.charges if charge.what.startswith("leaf class counts")]
    assert len(trees) == 5  # the large forest costs nothing


def test_a_public_table_without_a_column_is_refused_before_anything_is_charged(
    clinic_schema: Schema, table: dict[str, Any], volunteers: pd.DataFrame
) -> None:
    ledger = privet.Ledger(1)
    forest = privet.papers.Jagannathan2013Classifier(clinic_schema, public=volunteers[["age"]], ledger=ledger)
    with pytest.raises(TableError, match="town"):
        forest.fit(table, table["ill"])
    assert ledger.spent == 0


def test_recipes_differ_by_their_settings() -> None:
    recipe = CLASSIFIERS["jagannathan2013"].recipe_class
    assert recipe() == recipe()
    assert recipe(n_estimators=3) != recipe(n_estimators=4)  # type: ignore[call-arg]


# ---- never private ------------------------------------------------------------------------------------------------


def test_rana_refuses_to_be_fitted_by_accident(clinic_schema: Schema, table: dict[str, Any]) -> None:
    ledger = privet.Ledger(1)
    forest = privet.papers.Rana2016Classifier(clinic_schema)
    assert forest.variant == "sound"
    for shared in (None, ledger):
        with pytest.raises(RecipeError, match="set variant='as-published'") as refusal:
            clone(forest).set_params(ledger=shared).fit(table, table["ill"])
        assert "never differentially private" in str(refusal.value)
        assert "data that need no protection" in str(refusal.value)
    with pytest.raises(PrivacyError):
        privet.papers.Rana2016Classifier(clinic_schema, variant="as-published", ledger=ledger).fit(table, table["ill"])
    assert ledger.spent == 0
    assert ledger.certificate().private


def test_rana_says_that_it_is_not_private(clinic_schema: Schema, table: dict[str, Any]) -> None:
    forest = privet.papers.Rana2016Classifier(clinic_schema, variant="as-published", n_estimators=3).fit(
        table, table["ill"]
    )
    assert not forest.certificate_.private
    assert "NOT differentially private" in str(forest.certificate_)
    assert forest.score(table, table["ill"]) > 0.5


def test_rana_is_for_two_classes(table: dict[str, Any]) -> None:
    three = Schema((Categorical("smokes", (False, True)),), Categorical("town", ("a", "b", "c")))
    with pytest.raises(ParameterError, match=r"Only binary classification is supported: .* 'town' has 3 classes"):
        privet.papers.Rana2016Classifier(three, variant="as-published").fit(table, table["town"])


def test_unknown_variants_are_refused_with_a_list() -> None:
    with pytest.raises(RecipeError, match="'rana2016' has variant 'as-published', not 'fast'"):
        privet.papers.Rana2016Classifier(variant="fast").recipe()
    with pytest.raises(RecipeError, match="'random-forest' has variant 'sound', not 'as-published'"):
        privet.PrivateForestClassifier(variant="as-published").recipe()


# ---- labels of leaves ---------------------------------------------------------------------------------------------


def test_empty_leaves_of_the_smooth_forest_predict_like_their_parent(table: dict[str, Any]) -> None:
    """Not the class that the schema lists first: most leaves of deep trees are empty."""
    schema = Schema(
        tuple(Categorical(name, tuple("abcdefgh")) for name in ("one", "two", "three")),
        Categorical("class", ("rare", "common")),
    )
    few = {name: ["a"] * 30 for name in schema.names} | {"class": ["common"] * 30}
    with use_noise(ZeroNoise()):
        forest = privet.papers.SmoothForestClassifier(schema, n_estimators=3, max_depth=3).fit(few)
    assert {rule.label for rule in forest.rules_ if rule.support == 0} == {"common"}
    elsewhere = {name: ["b", "h"] for name in schema.names}
    assert forest.predict(elsewhere).tolist() == ["common"] * 2
