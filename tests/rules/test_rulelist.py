"""Rules as values: from privet's models and scikit-learn's, filtered, told and kept."""

from __future__ import annotations

import json
from dataclasses import replace

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
from privet.rules.by_value import read_rules
from privet.rules.wording import admitted
from privet.schema import Categorical, Numeric, Schema
from privet.structure.splits import Multiway, OneCategory, Tests, Threshold
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
    written = json.loads(RULES.to_json())["rules"]
    assert written[0]["if"] == ["age > 10.0", "age <= 30.0", "job in (smith, nurse)"]
    assert [("path" in rule) for rule in written] == [True, False, True]  # repeated tests, none, a multiway test
    assert written[1] == {"if": ["job = cook"], "then": "no", "support": 10.0, "confidence": 0.6}


def test_the_first_version_is_still_read() -> None:
    content = RULES.to_dict()
    content["rules"][0]["if"] = content["rules"][0].pop("path")
    assert RuleList.from_json(json.dumps(content | {"version": 1})) == RULES


def test_a_number_to_predict() -> None:
    schema = Schema((Numeric("age", 0, 9),), Numeric("cost", 0, 99))
    rules = RuleList(schema, (Rule((Condition(Threshold(0, 2), 1),), 3.5, 12.0, None, None, 0.25),))
    assert RuleList.from_json(rules.to_json()) == rules
    assert read_rules(schema, rules.to_text()) == rules


WORDS = ["a", "and", "b c", 'q"', "it's", "=", "", "(x", "Ä", "7", "or", "true"]


@st.composite
def rule_lists(draw: st.DrawFn) -> RuleList:
    names = draw(st.lists(st.sampled_from(WORDS[:-1]), min_size=4, max_size=4, unique=True).filter(all))
    missing = draw(st.sampled_from([None, "?"]))
    facts = (
        Numeric(names[0], 0, 20, integer=draw(st.booleans()), bins=draw(st.integers(2, 6)), missing=missing),
        Numeric(names[1], -1, 1, thresholds=(-0.1, 0.1 + 0.2, 0.7), missing=missing),
        Categorical(names[2], tuple(draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=5, unique=True)))),
    )
    schema = Schema(facts, Categorical(names[3], ("no", "THEN x")))
    every = [*Tests.binary(schema), *Tests.multiway(schema)]
    every += [Threshold(2, cut) for cut in range(schema.arities[2] - 1)]
    conditions = [Condition(test, child) for test in every for child in range(test.arity(schema))]
    number = st.none() | st.floats(0, 1e6)
    rule = st.builds(
        Rule,
        st.lists(st.sampled_from(conditions), max_size=4).map(tuple) if conditions else st.just(()),
        st.sampled_from(schema.classes),
        number,
        number,
        number,
    )
    return RuleList(schema, tuple(draw(st.lists(rule, min_size=1, max_size=3))))


@settings(max_examples=150, deadline=None)
@given(rule_lists())
def test_what_is_written_by_value_reads_back_as_the_same(rules: RuleList) -> None:
    assert RuleList.from_json(rules.to_json()) == rules
    back = read_rules(rules.schema, rules.to_text())
    assert back.schema == rules.schema
    for rule, same in zip(rules, back, strict=True):
        assert admitted(rules.schema, rule.conditions) == admitted(rules.schema, same.conditions)
        assert replace(rule, conditions=()) == replace(same, conditions=())
        if all(any(codes) for codes in admitted(rules.schema, rule.conditions).values()):  # no contradiction
            assert same == rule.simplified(rules.schema)
    assert RuleList.from_json(back.to_json()) == back


def test_a_condition_without_a_text_form_stays_a_test() -> None:
    schema = Schema((Categorical("code", tuple(range(1200))),), Categorical("ill", ("no", "yes")))
    rules = RuleList(schema, (Rule((Condition(OneCategory(0, 7), 1),), "no"),))
    assert RuleList.from_json(rules.to_json()) == rules
    with pytest.raises(ParameterError, match="use to_json"):
        rules.to_text()
    with pytest.raises(ParameterError, match="use to_json"):
        RULES.without_labels().to_text()


@pytest.mark.parametrize(
    "break_it",
    [
        lambda d: d.update(format="other"),
        lambda d: d["rules"][0]["path"][0].update(attribute="weight"),
        lambda d: d["rules"][0]["path"][0].update(number=99),
        lambda d: d["rules"][0]["path"][0].update(child=7),
        lambda d: d["rules"][0]["path"][0].update(test="guess"),
        lambda d: d["rules"][0]["if"].pop(),  # the path now says more
        lambda d: d["rules"][1].update({"if": ["weight = 3"]}),
        lambda d: d["rules"][1].update({"if": ["age > 11"]}),  # between two cuts
        lambda d: d["rules"][1].update({"if": [["job = cook"]]}),
        lambda d: d["rules"][1].update(then="maybe"),
        lambda d: d["rules"][1].update(support="many"),
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
