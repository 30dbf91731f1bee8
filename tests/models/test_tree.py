"""Flat trees and the checks on them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from tree_strategies import all_records, leaves_by_hand, trees

from privet.errors import ParameterError
from privet.models.render import export_text, leaves_below
from privet.models.rules import rules_of
from privet.models.shown import ShownTree
from privet.models.tree import Tree
from privet.models.validation import check_tree, tree_fault
from privet.schema import Categorical, Numeric, Schema
from privet.structure.splits import Multiway, OneCategory, Threshold

SCHEMA = Schema(
    (Numeric("age", 0, 100, thresholds=(30.0, 60.0)), Categorical("job", ("clerk", "cook", "smith"))),
    Categorical("rich", ("no", "yes")),
)


def sound() -> Tree:
    """age <= 30 ? (job three ways) : yes"""
    tests = [Threshold(0, 0), Multiway(1), None, None, None, None]
    return Tree.build(SCHEMA, tests, [1, 3, -1, -1, -1, -1], [0, 0, 1, 0, 1, 0])


def test_shape() -> None:
    tree = sound()
    assert (len(tree), tree.n_leaves, tree.depth) == (6, 4, 2)
    assert [node for node, _ in tree.walk()] == [0, 1, 3, 4, 5, 2]
    assert tree.routes.tests.arity.tolist() == [2, 3, 0, 0, 0, 0]
    assert tree.test(1) == Multiway(1)
    assert tree_fault(tree) is None


def test_columns_cannot_be_written() -> None:
    with pytest.raises(ValueError, match="read-only"):
        sound().label[0] = 1


@given(trees())
def test_apply_follows_the_tests(tree: Tree) -> None:
    features = all_records(tree.schema)
    leaves = tree.apply(features)
    assert np.array_equal(leaves, leaves_by_hand(tree, features))
    assert np.array_equal(tree.predict(features), tree.label[leaves])
    assert np.array_equal(tree.predict_proba(features), tree.proba[leaves])


@given(trees())
def test_random_trees_are_sound(tree: Tree) -> None:
    check_tree(tree)
    assert sorted(node for node, _ in tree.walk()) == list(range(len(tree)))


def _with(column: str, node: int, value: object) -> Tree:
    changed = getattr(sound(), column).copy()
    changed[node] = value
    return replace(sound(), **{column: changed})


@pytest.mark.parametrize(
    ("tree", "words"),
    [
        (_with("attribute", 0, 2), "attribute 2"),
        (_with("attribute", 0, -2), "attribute -2"),
        (_with("kind", 0, 3), "unknown kind"),
        (_with("cut", 0, 2), "threshold"),  # two cuts make three bins: the last cut is 1
        (_with("cut", 0, -1), "threshold"),
        (_with("kind", 0, 1), "category"),  # a category of a number
        (_with("first_child", 1, 1), "out of place"),  # its own child
        (_with("first_child", 1, 0), "out of place"),  # a circle
        (_with("first_child", 1, 4), "out of place"),  # past the end
        (_with("first_child", 0, 2), "node 1 exactly once, but 0 times"),
        (_with("first_child", 1, 2), "node 2 exactly once, but 2 times"),
        (_with("label", 3, 2), "class 2"),
        (_with("label", 3, -1), "class -1"),
        (_with("proba", (2, 0), 1.5), "probability"),
        (_with("proba", (2, 0), np.nan), "probability"),
        (_with("counts", (2, 0), np.inf), "infinite"),
    ],
)
def test_faults_are_found(tree: Tree, words: str) -> None:
    assert words in (tree_fault(tree) or "")
    with pytest.raises(ParameterError):
        check_tree(tree)


def test_one_category_of_a_category_past_the_last() -> None:
    tree = Tree.build(SCHEMA, [OneCategory(1, 3), None, None], [1, -1, -1], [0, 0, 1])
    assert "category" in (tree_fault(tree) or "")


def test_a_tree_of_no_nodes() -> None:
    assert tree_fault(Tree.build(SCHEMA, [], [], [], proba=np.empty((0, 2)))) == "has no nodes"


@pytest.mark.parametrize(
    "features",
    [
        np.zeros((3, 2), dtype=np.uint8),  # records x attributes, or another schema's
        np.zeros(2, dtype=np.uint8),
        np.zeros((2, 3)),  # not codes
        np.array([[0], [3]], dtype=np.uint8),  # a category that is not there
        np.array([[0], [-1]], dtype=np.int8),
    ],
)
def test_what_are_not_codes_is_refused(features: np.ndarray) -> None:
    with pytest.raises(ParameterError, match="features"):
        sound().predict(features)


def test_no_records() -> None:
    assert sound().predict(np.empty((2, 0), dtype=np.uint8)).shape == (0,)
    assert sound().predict_proba(np.empty((2, 0), dtype=np.uint8)).shape == (0, 2)


def test_a_path_of_twenty_thousand_tests_takes_linear_time() -> None:
    """Before, each level of it took a pass over all nodes: hours."""
    depth = 20_000
    schema = Schema((Categorical("a", ("x", "y")),), Categorical("c", ("n", "p")))
    inner = np.concatenate([[True], np.tile([True, False], depth - 1), [False, False]])  # the left child goes on
    nodes = len(inner)
    first = np.where(inner, np.where(np.arange(nodes) == 0, 1, np.arange(nodes) + 2), -1)
    flat = np.zeros(nodes, np.int32)
    proba, counts = np.full((nodes, 2), 0.5), np.ones((nodes, 2))
    tree = Tree(schema, np.where(inner, 0, -1), inner.astype(np.int8), flat, first, flat, proba, counts)
    assert tree_fault(tree) is None
    assert tree.depth == depth
    whole = ShownTree.whole(tree)
    assert leaves_below(whole)[0] == depth + 1
    assert len(ShownTree.of(tree).leaves) <= 2  # nobody gets further than the second test
    assert export_text(whole).count("\n") < 500
    assert tree.predict(np.zeros((1, 3), np.int32)).tolist() == [0, 0, 0]
    assert len(rules_of(tree, deepest=100)) == 100
    with pytest.raises(ParameterError, match="20,000 tests deep"):
        rules_of(tree)
