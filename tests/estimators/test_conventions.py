"""scikit-learn's conventions: tags that are true, trees and importances where one looks for them, exact scores."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from sklearn.utils import get_tags

import privet
from privet.errors import ParameterError, PrivacyWarning
from privet.estimators import exact_score
from privet.estimators.references import REFERENCES
from privet.schema import Schema

EXACT, FOREST, CURVES = privet.ExactTreeClassifier, privet.PrivateForestClassifier, privet.AdditiveClassifier


def test_a_schema_takes_what_the_tags_say(clinic_schema: Schema, table: dict[str, Any]) -> None:
    tree = EXACT(clinic_schema, max_depth=1).fit(table)
    tags = get_tags(tree).input_tags
    assert tags.allow_nan
    assert tags.string
    assert tags.categorical
    assert tree.predict({"age": [np.nan, 3], "town": ["a", None], "smokes": [True, False]}).shape == (2,)


@pytest.mark.filterwarnings("ignore::privet.PrivacyWarning")
def test_an_inferred_schema_refuses_missing_numbers_in_an_array() -> None:
    tree = EXACT("infer", max_depth=1)
    assert not get_tags(tree).input_tags.allow_nan
    with pytest.raises(ValueError, match="NaN"):
        tree.fit(np.array([[np.nan], [1.0]]), [0, 1])


def test_trees_and_importances(clinic_schema: Schema, table: dict[str, Any]) -> None:
    forest = FOREST(clinic_schema, n_estimators=2).fit(table)
    tree, curves = EXACT(clinic_schema, max_depth=1).fit(table), CURVES(clinic_schema).fit(table)
    assert forest.estimators_ == forest.model_.trees.trees  # type: ignore[union-attr]
    for model in (tree, curves):
        assert not hasattr(model, "estimators_")
    for model in (forest, tree, curves):
        assert model.feature_importances_.shape == (3,)
        with pytest.raises(AttributeError, match="use feature_importances_"):
            model.importances_  # noqa: B018


@pytest.mark.parametrize("kind", [EXACT, CURVES])
def test_class_weights_are_public_numbers(kind: Any, clinic_schema: Schema, table: dict[str, Any]) -> None:
    ledger = privet.Ledger(1)
    with pytest.raises(
        ParameterError, match="class_weight='balanced' is refused: it would read the class counts"
    ) as no:
        kind(clinic_schema, class_weight="balanced", ledger=ledger).fit(table)
    assert no.value.parameter == "class_weight"
    with pytest.raises(ParameterError, match=r"class_weight\['yes'\] must be a number from 0 to 1, not 2"):
        kind(clinic_schema, class_weight={"yes": 2}, ledger=ledger).fit(table)
    assert ledger.spent == 0


# ---- scores -------------------------------------------------------------------------------------------------------


@pytest.fixture
def nobody_was_warned() -> Iterator[None]:
    exact_score.warn_once.cache_clear()
    yield
    exact_score.warn_once.cache_clear()


@pytest.mark.usefixtures("nobody_was_warned")
def test_an_exact_score_warns_once(clinic_schema: Schema, table: dict[str, Any]) -> None:
    tree = EXACT(clinic_schema, max_depth=1).fit(table)
    with pytest.warns(PrivacyWarning, match=r"privet\.private_score buys a private one") as said:
        score = tree.score(table, table["ill"])
    assert said[0].filename == __file__
    assert score == np.mean(tree.predict(table) == table["ill"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert CURVES(clinic_schema).fit(table).score(table, table["ill"]) > 0.5


@pytest.mark.usefixtures("nobody_was_warned")
def test_a_search_warns_and_a_reference_need_not(clinic_schema: Schema, table: dict[str, Any]) -> None:
    search = privet.PrivateSearch(EXACT(clinic_schema), {"max_depth": [1]}, epsilon=30, mean_runs=1).fit(table)
    reference = REFERENCES["id3"](clinic_schema, 1).fit(table)  # type: ignore[call-arg]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        reference.score(table, table["ill"])
    with pytest.warns(PrivacyWarning, match="charges no ledger"):
        search.score(table, table["ill"])
    assert get_tags(search).input_tags.allow_nan
