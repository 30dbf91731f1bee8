"""Pruning: Quinlan's numbers, an independent recursion, and what no pruning may do."""

from __future__ import annotations

from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tree_strategies import all_records, same, trees

from privet.errors import ParameterError
from privet.models.pruning import correct_counts, extra_errors, prune_c45
from privet.models.tree import Tree
from privet.models.validation import check_tree
from privet.schema import Categorical, Schema
from privet.structure.splits import Multiway

Z = 0.6744897501960817  # the 75th percentile of the normal distribution
# Two records and one error, f = 3/4, z = Z, written out.
TWO_ONE = 2 * (3 / 4 + Z**2 / 4 + Z * (3 / 32 + Z**2 / 16) ** 0.5) / (1 + Z**2 / 2) - 1
NAN = np.nan


def fan(*leaves: tuple[float, float], root: tuple[float, float] = (NAN, NAN)) -> Tree:
    """A root with a leaf for each pair of class counts; a leaf predicts its larger count."""
    schema = Schema((Categorical("a", tuple(range(len(leaves)))),), Categorical("class", ("democrat", "republican")))
    counts = np.array([root, *leaves], dtype=float)
    labels = [0, *(int(np.argmax(leaf)) for leaf in leaves)]
    return Tree.build(schema, [Multiway(0), *[None] * len(leaves)], [1] + [-1] * len(leaves), labels, counts=counts)


@pytest.mark.parametrize(
    ("records", "errors", "expected"),
    [
        (6, 0, 6 * (1 - 2 ** (-1 / 3))),  # 0.25^(1/6) is the cube root of a half: Quinlan's U(0,6) = 0.206
        (9, 0, 9 * (1 - 2 ** (-2 / 9))),  # U(0,9) = 0.143
        (1, 0, 0.75),  # U(0,1) = 0.750
        (2, 0, 1.0),
        (0, 0, 0.0),
        (1, 1, 0.0),
        (3, 2.5, 0.5),  # nearly all are errors already: at most all
        (2, 1, TWO_ONE),
        (2, 0.5, (1 + TWO_ONE) / 2),  # half way between none and one
    ],
)
def test_extra_errors_known(records: float, errors: float, expected: float) -> None:
    assert extra_errors(records, errors) == pytest.approx(expected, abs=1e-6)


@given(st.floats(1, 1e6), st.floats(0, 1), st.floats(0.01, 0.5))
def test_extra_errors_solve_their_equations(records: float, part: float, confidence: float) -> None:
    errors = 1 + part * (records - 1)
    if errors + 0.5 < records:
        # Wilson's bound is where the observed rate lies z standard deviations of the *bound* below it.
        upper = (errors + extra_errors(records, errors, confidence)) / records
        z = NormalDist().inv_cdf(1 - confidence)
        rate = (errors + 0.5) / records
        assert upper - rate == pytest.approx(z * (upper * (1 - upper) / records) ** 0.5, rel=1e-6, abs=1e-9)
    none = extra_errors(records, 0, confidence) / records
    assert (1 - none) ** records == pytest.approx(confidence)


@given(st.floats(1, 1e9), st.floats(0, 1), st.floats(0.01, 0.5))
def test_extra_errors_are_possible(records: float, part: float, confidence: float) -> None:
    errors = 1 + part * (records - 1)
    assert 0 <= extra_errors(records, errors, confidence) <= (records - errors) * (1 + 1e-9)


def test_quinlans_example() -> None:
    """C4.5: Programs for Machine Learning, chapter 4: leaves of 6, 9 and 1 cases become one of 16 with one error."""
    tree = fan((6, 0), (9, 0), (0, 1))
    subtree = extra_errors(6, 0) + extra_errors(9, 0) + extra_errors(1, 0)
    assert subtree == pytest.approx(3.273, abs=1e-3)
    assert 1 + extra_errors(16, 1) == pytest.approx(2.512, abs=0.05)  # his own interpolation of the same bound
    pruned = prune_c45(tree)
    assert len(pruned) == 1
    assert pruned.label[0] == 0
    assert pruned.counts.tolist() == [[15, 1]]
    assert pruned.proba.tolist() == [[15 / 16, 1 / 16]]


def test_a_split_that_helps_stays() -> None:
    tree = fan((20, 0), (0, 20))
    assert same(prune_c45(tree), tree)


@pytest.mark.parametrize(("odd", "nodes"), [(0.4, 1), (0.5, 3)])
def test_a_tenth_of_an_error_is_tolerated(odd: float, nodes: int) -> None:
    leaf = odd + extra_errors(20 + odd, odd)
    subtree = extra_errors(20, 0) + extra_errors(odd, 0)
    assert leaf > subtree
    assert (leaf <= subtree + 0.1) == (nodes == 1)
    assert len(prune_c45(fan((20, 0), (0, odd)))) == nodes


def test_a_larger_confidence_factor_keeps_what_a_smaller_one_prunes() -> None:
    tree = fan((20, 2), (3, 4))
    assert [len(prune_c45(tree, confidence=cf)) for cf in (0.01, 0.25, 0.5)] == [1, 1, 3]


def test_what_was_released_at_the_top_decides() -> None:
    """The leaves claim 40 records each way, but the root is known to hold 2: too few to keep a split."""
    tree = fan((40, 0), (0, 40))
    assert len(prune_c45(tree, np.array([80.0, 40, 40]))) == 3
    assert len(prune_c45(tree, np.array([0.2, 40, 40]))) == 1


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ([100, 60, 20], [100, 75, 25]),
        ([100, -5, 20], [100, 0, 100]),
        ([100, -5, 0], [100, 50, 50]),  # all children 0: shared equally
        ([-3, 60, 20], [0, 0, 0]),
        ([100, NAN, 60], [100, 40, 60]),  # the leaf's own counts say 40
        ([NAN, 60, 20], [80, 60, 20]),
    ],
)
def test_sizes_from_the_top_down(sizes: list[float], expected: list[float]) -> None:
    assert correct_counts(fan((30, 10), (5, 5)), np.array(sizes)).sizes == pytest.approx(np.array(expected))


def test_an_uncounted_child_gets_what_its_siblings_leave() -> None:
    tree = fan((NAN, NAN), (5, 5))
    assert correct_counts(tree, np.array([30.0, NAN, NAN])).sizes.tolist() == [30, 20, 10]


def test_class_counts_from_the_bottom_up() -> None:
    corrected = correct_counts(fan((30, -10), (-1, 0), (1, 3)), np.array([100.0, 50, 30, 20]))
    assert corrected.counts.tolist() == [[70, 30], [50, 0], [15, 15], [5, 15]]


def test_nothing_to_go_by() -> None:
    with pytest.raises(ParameterError, match="give sizes"):
        correct_counts(fan((NAN, NAN), (NAN, NAN)))
    for sizes in (np.ones(2), np.array([1, 2, np.inf])):
        with pytest.raises(ParameterError, match="sizes"):
            correct_counts(fan((1, 2), (3, 4)), sizes)
    for confidence in (0, 0.6, NAN):
        with pytest.raises(ParameterError, match="confidence"):
            prune_c45(fan((1, 2), (3, 4)), confidence=confidence)


def test_a_guess_is_not_passed_off_as_a_count() -> None:
    pruned = prune_c45(fan((9, 0), (NAN, NAN)), np.array([10.0, 9, 1]))
    assert len(pruned) == 1
    assert np.isnan(pruned.counts).all()


def test_an_empty_node_keeps_what_it_said() -> None:
    tree = fan((-4, -5), (-1, -2))
    tree = Tree.build(tree.schema, [Multiway(0), None, None], [1, -1, -1], [1, 0, 0], counts=tree.counts)
    assert prune_c45(tree).label.tolist() == [1]


@st.composite
def sized_trees(draw: Any) -> tuple[Tree, np.ndarray]:
    tree = draw(trees(counted=draw(st.sampled_from([True, None]))))
    sizes = np.random.default_rng(draw(st.integers(0, 2**32 - 1))).integers(-10, 200, len(tree)).astype(float)
    sizes[1:][np.random.default_rng(len(tree)).random(len(tree) - 1) < 0.2] = NAN
    return tree, sizes


@given(sized_trees())
def test_corrected_numbers_agree(case: tuple[Tree, np.ndarray]) -> None:
    tree, released = case
    sizes, counts = correct_counts(tree, released)
    assert sizes[0] == max(released[0], 0)
    assert (counts >= 0).all()
    assert counts.sum(axis=1) == pytest.approx(sizes)
    for node in np.flatnonzero(~tree.is_leaf):
        assert sizes[list(tree.children(node))].sum() == pytest.approx(sizes[node])


@given(trees(counted=True), st.integers(0, 2**32 - 1), st.sampled_from([0.01, 0.25, 0.5]))
def test_the_same_as_the_recursion_of_the_paper(tree: Tree, seed: int, confidence: float) -> None:
    """Algorithm 3 as printed, on nested nodes; all counts positive, so that it needs no rule for empty ones."""
    sizes = np.random.default_rng(seed).integers(1, 200, len(tree)).astype(float)
    counts = np.abs(tree.counts) + 1
    tree = Tree(
        tree.schema, tree.attribute, tree.kind, tree.cut, tree.first_child, counts.argmax(axis=1), tree.proba, counts
    )
    keeps: dict[int, bool] = {}
    labels: dict[int, int] = {}

    def prune(node: int, size: float) -> tuple[np.ndarray, float]:
        children = list(tree.children(node))
        total = sum(sizes[child] for child in children)
        parts = [prune(child, size * sizes[child] / total) for child in children]
        own = sum(part for part, _ in parts) if parts else size * counts[node] / counts[node].sum()
        errors = size - max(own)
        as_leaf = errors + extra_errors(size, errors, confidence)
        as_subtree = sum(expected for _, expected in parts) if parts else as_leaf
        keeps[node], labels[node] = bool(parts) and as_leaf > as_subtree + 0.1, int(np.argmax(own))
        return own, as_subtree if keeps[node] else as_leaf

    prune(0, sizes[0])
    pruned = prune_c45(tree, sizes, confidence)
    features = all_records(tree.schema)
    expected = []
    for record in features.T:
        node = 0
        while keeps[node]:
            test = tree.test(node)
            assert test is not None
            node = tree.children(node)[int(test.branch(record[test.attribute : test.attribute + 1])[0])]
        expected.append(labels[node])
    assert pruned.predict(features).tolist() == expected


@given(sized_trees())
def test_pruned_trees_are_sound_and_no_larger(case: tuple[Tree, np.ndarray]) -> None:
    tree, sizes = case
    pruned = prune_c45(tree, sizes)
    check_tree(pruned)
    assert len(pruned) <= len(tree)
    assert pruned.depth <= tree.depth
