"""Rules as values: from privet's models and scikit-learn's, filtered, told and kept."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privet.datasets.clinic import clinic
from privet.errors import ModelFileError, ParameterError
from privet.estimators.references import SklearnTreeReference
from privet.models.forest import Forest
from privet.models.rules import Condition, Rule
from privet.rules import RuleList, rule_list
from privet.schema import Categorical, Numeric, Schema
from privet.structure.splits import Multiway, OneCategory, Threshold
from privet.tables.encoding import encode_features

SCHEMA = Schema(
    (Numeric("age", 0, 100, bins=10, missing="?"), Categorical("job", ("cook", "clerk", "smith", "nurse"))),
    Categorical("ill", ("no", "yes")),
)
LONG = Rule(
    (
        Condition(Threshold(0, 6), 0),
        Condition(Threshold(1, 1), 1),
        Condition(Threshold(0, 2), 0),
        Condition(Threshold(0, 0), 1),
    ),
    "yes",
    40.0,
    0.9,
)
SHORT = Rule((Condition(OneCategory(1, 0), 0),), "no", 10.0, 0.6)
RULES = RuleList(SCHEMA, (LONG, SHORT, Rule((Condition(Multiway(1), 2),), "yes")))


def test_a_list_is_printed_and_merged() -> None:
    assert str(RULES).splitlines() == [
        "IF age > 10 AND age <= 30 AND job != cook AND job != clerk THEN yes (support 40, confidence 0.90)",
        "IF job = cook THEN no (support 10, confidence 0.60)",
        "IF job = smith THEN yes",
    ]
    merged = RuleList(SCHEMA, (LONG, LONG)).normalised()
    assert [len(rule.conditions) for rule in merged] == [4]
    assert merged[0].conditions[:2] == (Condition(Threshold(0, 0), 1), Condition(Threshold(0, 2), 0))


def test_filters() -> None:
    assert RULES.filtered(min_support=20).rules == (LONG,)
    assert RULES.filtered(min_confidence=0.5).rules == (LONG, SHORT)
    assert RULES.filtered().rules == RULES.rules
    assert {rule.label for rule in RULES.without_labels()} == {None}


def test_json_and_back() -> None:
    assert RuleList.from_json(RULES.to_json()) == RULES
    assert json.loads(RULES.to_json())["rules"][1]["text"] == SHORT.describe(SCHEMA)


@pytest.mark.parametrize(
    "break_it",
    [
        lambda d: d.update(format="other"),
        lambda d: d["rules"][0]["if"][0].update(attribute="weight"),
        lambda d: d["rules"][0]["if"][0].update(number=99),
        lambda d: d["rules"][0]["if"][0].update(child=7),
        lambda d: d["rules"][0]["if"][0].update(test="guess"),
        lambda d: d.pop("schema"),
        lambda d: d.update(rules=3),
    ],
)
def test_damaged_json_is_refused(break_it: object) -> None:
    content = RULES.to_dict()
    break_it(content)  # type: ignore[operator]
    with pytest.raises(ModelFileError):
        RuleList.from_json(json.dumps(content))


def test_text_that_is_not_json() -> None:
    with pytest.raises(ModelFileError):
        RuleList.from_json("{")


def test_from_models_of_ours() -> None:
    schema, table = clinic(500)
    classifier = SklearnTreeReference(schema, 2).fit(table)
    tree = classifier.tree_
    assert rule_list(classifier) == rule_list(tree) == rule_list(classifier.model_)
    assert len(rule_list(Forest(tree.schema, (tree, tree)))) == 2 * len(rule_list(tree))
    assert len(rule_list(tree, inner=True)) == len(tree)
    with pytest.raises(ParameterError, match="cannot take rules from int"):
        rule_list(3)
    with pytest.raises(ParameterError, match="names"):
        rule_list(tree, names=["a"])


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 5), st.booleans())
def test_scikit_learns_rules_predict_what_its_trees_do(seed: int, depth: int, forest: bool) -> None:
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.tree import DecisionTreeClassifier

    random = np.random.default_rng(seed)
    x = random.integers(-5, 6, (60, 3)).astype(np.float64) / 4
    y = np.array(["a", "b", "c"])[random.integers(0, 3, 60)]
    model = (
        RandomForestClassifier(3, max_depth=depth, random_state=0)
        if forest
        else DecisionTreeClassifier(max_depth=depth, random_state=0)
    ).fit(x, y)
    rules = rule_list(model, names=["p", "q", "r"])
    codes = encode_features(rules.schema, dict(zip("pqr", x.T, strict=True)))
    met = np.array([rule.matches(codes) for rule in rules])
    assert (met.sum(axis=0) == (3 if forest else 1)).all()
    if not forest:
        labels = np.array([rule.label for rule in rules])
        assert (labels[met.argmax(axis=0)] == model.predict(x)).all()
        assert [rule.support for rule in rules] == met.sum(axis=1).tolist()


def test_foreign_models_that_are_not_classifiers() -> None:
    from sklearn.ensemble import BaggingClassifier, GradientBoostingClassifier
    from sklearn.tree import DecisionTreeRegressor

    x, y = np.arange(20.0).reshape(10, 2), np.arange(10) % 2
    with pytest.raises(ParameterError, match="classifiers"):
        rule_list(DecisionTreeRegressor(max_depth=1).fit(x, y))
    with pytest.raises(ParameterError, match="boosting"):
        rule_list(GradientBoostingClassifier(n_estimators=2).fit(x, y))
    with pytest.raises(ParameterError, match="max_features"):
        rule_list(BaggingClassifier(n_estimators=2, max_features=1, random_state=0).fit(x, y))
    assert rule_list(BaggingClassifier(n_estimators=2, random_state=0).fit(x, y))


def test_columns_without_names() -> None:
    from sklearn.tree import DecisionTreeClassifier

    model = DecisionTreeClassifier().fit([[0.0, 1.0], [1.0, 1.0]], [0, 1])
    assert rule_list(model).schema.names == ("x0", "x1")
    with pytest.raises(ParameterError, match="one entry for each of the 2 columns"):
        rule_list(model, names=["a"])
