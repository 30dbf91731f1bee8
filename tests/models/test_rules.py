"""Rules say what their tree says, and no more words than needed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from tree_strategies import all_records, trees

from privet.models.rules import Condition, Rule, rules_of
from privet.models.tree import Tree
from privet.schema import Categorical, Numeric, Schema
from privet.structure.splits import Multiway, OneCategory, Threshold

SCHEMA = Schema(
    (
        Numeric("age", 0, 100, thresholds=(20.0, 37.5, 50.0)),
        Categorical("sex", ("Female", "Male")),
        Categorical("job", ("clerk", "cook", "smith")),
        Numeric("pay", 0, 9, thresholds=(3.0, 6.0), missing="?"),
    ),
    Categorical("income", ("<=50K", ">50K")),
)


@given(trees())
def test_rules_predict_what_the_tree_predicts(tree: Tree) -> None:
    features = all_records(tree.schema)
    rules = rules_of(tree)
    matches = np.array([rule.matches(features) for rule in rules])
    assert (matches.sum(axis=0) == 1).all()
    labels = np.array([tree.schema.label.values.index(rule.label) for rule in rules])
    assert np.array_equal(labels[matches.argmax(axis=0)], tree.predict(features))


@given(trees())
def test_simplified_rules_match_the_same_records(tree: Tree) -> None:
    features = all_records(tree.schema)
    for rule in rules_of(tree, inner=True):
        simple = rule.simplified(tree.schema)
        assert np.array_equal(rule.matches(features), simple.matches(features))
        if rule.matches(features).any():
            # None of what is left is idle.
            for i in range(len(simple.conditions)):
                fewer = Rule(simple.conditions[:i] + simple.conditions[i + 1 :], rule.label)
                assert (fewer.matches(features) != simple.matches(features)).any()
            assert simple.simplified(tree.schema) == simple


@given(trees())
def test_inner_rules(tree: Tree) -> None:
    everything = rules_of(tree, inner=True)
    assert len(everything) == len(tree)
    assert len(rules_of(tree)) == tree.n_leaves
    assert everything[0].conditions == ()
    for (_, depth), rule in zip(tree.walk(), everything, strict=True):
        assert len(rule.conditions) == depth


def test_support_and_confidence_come_from_released_counts() -> None:
    counts = np.array([[np.nan, np.nan], [30, 10], [-2, -1]])
    tree = Tree.build(SCHEMA, [OneCategory(1, 1), None, None], [1, -1, -1], [0, 0, 1], counts=counts)
    root, men, women = rules_of(tree, inner=True)
    assert (root.support, root.confidence) == (40.0, 0.75)  # what its leaves have together
    assert (men.label, men.support, men.confidence) == ("<=50K", 40.0, 0.75)
    assert (women.label, women.support, women.confidence) == (">50K", 0.0, None)
    assert root.describe(SCHEMA) == "ALWAYS <=50K (support 40, confidence 0.75)"
    assert women.describe(SCHEMA) == "IF sex = Female THEN >50K (support about 0)"
    bare = Tree.build(SCHEMA, [None], [-1], [0])
    assert rules_of(bare)[0] == Rule((), "<=50K")


def test_the_sentence() -> None:
    rule = Rule((Condition(Threshold(0, 1), 0), Condition(OneCategory(1, 1), 0)), ">50K", 1234.0, 0.87)
    assert rule.describe(SCHEMA) == "IF age <= 37.5 AND sex = Male THEN >50K (support 1234, confidence 0.87)"
    assert rule.attributes == {0, 1}


@pytest.mark.parametrize(
    ("conditions", "words"),
    [
        ([(Threshold(0, 2), 0), (Threshold(0, 1), 0)], "age <= 37.5"),
        ([(Threshold(0, 0), 1), (Threshold(0, 1), 1)], "age > 37.5"),
        ([(Threshold(0, 2), 0), (Threshold(0, 0), 1)], "age > 20 AND age <= 50"),
        ([(Multiway(0), 1), (Threshold(0, 2), 0)], "age > 20 AND age <= 37.5"),
        ([(Threshold(0, 0), 0), (Threshold(0, 1), 1)], "age <= 20 AND age > 37.5"),  # a contradiction stays
        ([(OneCategory(1, 0), 1)], "sex = Male"),
        ([(OneCategory(2, 0), 1), (OneCategory(2, 0), 1)], "job != clerk"),
        ([(OneCategory(2, 0), 1), (OneCategory(2, 2), 0)], "job = smith"),
        ([(OneCategory(2, 0), 1), (OneCategory(2, 2), 1)], "job = cook"),
        ([(Multiway(2), 1), (Threshold(0, 0), 0)], "job = cook AND age <= 20"),
        ([(Threshold(3, 0), 1)], "(pay > 3 or is missing)"),
        ([(Threshold(3, 0), 1), (Threshold(3, 1), 0)], "pay > 3 AND pay <= 6"),
        ([(Threshold(3, 2), 0)], "pay is present"),
        ([(Threshold(3, 2), 1)], "pay is missing"),
        ([(Threshold(3, 0), 1), (Threshold(3, 2), 0)], "pay > 3 AND pay is present"),
    ],
)
def test_redundant_conditions_are_not_shown(conditions: list, words: str) -> None:
    rule = Rule(tuple(Condition(test, child) for test, child in conditions), "yes")
    assert rule.describe(SCHEMA) == f"IF {words} THEN yes"


def test_rules_are_values() -> None:
    one, other = (Rule((Condition(Threshold(0, 1), 0),), "x", 3.0, 1.0) for _ in range(2))
    assert one == other
    assert len({one, other}) == 1
