"""What is made of released counts: sums, shrinkage, signal to noise and opinions, by hand and by a walk in Python."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tree_strategies import all_records, leaves_by_hand, schemas, trees

from privet.models.forest import Forest
from privet.models.leaf_counts import (
    above_noise,
    add_up,
    as_trees,
    expected_tests,
    leaves_below,
    settle,
    shares,
    shrink,
    signal_share,
    surest_opinion,
)
from privet.models.pruning import prune_gini
from privet.models.tree import Tree
from privet.models.validation import check_tree
from privet.schema import Categorical, Schema
from privet.structure.routes import Routes
from privet.structure.splits import Multiway, Test, Tests

SCHEMA = Schema((Categorical("a", (0, 1)), Categorical("b", (0, 1, 2))), Categorical("class", ("x", "y")))
# A root of two, whose first child has three leaves and whose second is one.
TESTS: list[Test | None] = [Multiway(0), Multiway(1), None, None, None, None]
ROUTES = Routes(SCHEMA, Tests.of(SCHEMA, TESTS), np.array([1, 3, -1, -1, -1, -1]), np.array([0]))
NAN = math.nan


@st.composite
def grown(draw: Any) -> tuple[Routes, np.ndarray, list[Tree]]:
    """Trees and noisy counts of their leaves."""
    schema = draw(schemas())
    members = draw(st.lists(trees(schema), min_size=1, max_size=3))
    routes = Forest(schema, tuple(members)).routes
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    counts = random.integers(-20, 80, size=(len(routes.tests), schema.n_classes)).astype(float)
    counts[~routes.is_leaf] = NAN
    return routes, counts, members


def below(routes: Routes, node: int) -> list[int]:
    """The leaves below a node."""
    if routes.is_leaf[node]:
        return [node]
    first = int(routes.first_child[node])
    return [leaf for child in range(first, first + int(routes.tests.arity[node])) for leaf in below(routes, child)]


def path(routes: Routes, node: int) -> list[int]:
    """From the root down to a node."""
    return [] if node < 0 else [*path(routes, int(routes.parent[node])), node]


# -- sums -------------------------------------------------------------------------------------------------------------


@given(grown())
def test_every_node_is_the_sum_of_its_leaves(case: tuple[Routes, np.ndarray, Any]) -> None:
    routes, counts, _ = case
    before = counts.copy()
    summed = add_up(routes, counts)
    for node in range(len(routes.tests)):
        assert np.array_equal(summed[node], counts[below(routes, node)].sum(axis=0))
        assert leaves_below(routes)[node] == len(below(routes, node))
    assert np.array_equal(counts, before, equal_nan=True)


def test_sums_by_hand() -> None:
    counts = np.array([[NAN, NAN], [NAN, NAN], [5, 1], [10, -2], [0, 3], [1, 1]])
    assert add_up(ROUTES, counts).tolist() == [[16, 3], [11, 2], [5, 1], [10, -2], [0, 3], [1, 1]]
    assert leaves_below(ROUTES).tolist() == [4, 3, 1, 1, 1, 1]


@given(grown())
def test_tests_that_a_record_is_asked(case: Any) -> None:
    """Of a uniform record down one tree: 1 at an inner node, and what its children ask on average."""
    routes, _, _ = case

    def asked(node: int) -> float:
        if routes.is_leaf[node]:
            return 0.0
        first, arity = int(routes.first_child[node]), int(routes.tests.arity[node])
        return 1 + sum(asked(child) for child in range(first, first + arity)) / arity

    np.testing.assert_allclose(expected_tests(routes), [asked(int(root)) for root in routes.roots])
    np.testing.assert_allclose(expected_tests(ROUTES), [1.5])


@pytest.mark.parametrize(
    ("counts", "expected"),
    [([3, 1], [0.75, 0.25]), ([4, -9], [1, 0]), ([-1, -2], [0.5, 0.5]), ([0, 0], [0.5, 0.5]), ([NAN, 2], [0, 1])],
)
def test_shares(counts: list[float], expected: list[float]) -> None:
    assert shares(np.array([counts])).tolist() == [expected]


# -- shrinkage --------------------------------------------------------------------------------------------------------


@given(grown(), st.floats(0.01, 1000), st.floats(0, 10))
def test_shrunk_opinions_are_probabilities(case: Any, scale: float, strength: float) -> None:
    routes, counts, _ = case
    proba = shrink(routes, add_up(routes, counts), scale, strength)
    assert np.isfinite(proba).all()
    assert (proba >= 0).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    # All roots speak of the same records, so they agree.
    assert (proba[routes.roots] == proba[0]).all()


@given(grown(), st.sampled_from([1e-200, 1e-30, 1e-9]))
def test_without_noise_a_node_predicts_its_own_shares(case: Any, scale: float) -> None:
    """But for the one record that its parent is worth."""
    routes, counts, _ = case
    counts = np.where(np.isnan(counts), NAN, np.maximum(counts, 0) * 1e9 + 1e6)
    summed = add_up(routes, counts)
    proba = shrink(routes, summed, scale, 1.0)
    inner = np.setdiff1d(np.arange(len(summed)), routes.roots)
    np.testing.assert_allclose(proba[inner], shares(summed)[inner], atol=1e-5)


@given(grown())
def test_below_the_noise_a_node_takes_its_parents_label(case: Any) -> None:
    routes, counts, _ = case
    proba = shrink(routes, add_up(routes, counts), 1e12, 1.0)
    below_roots = np.flatnonzero(routes.parent >= 0)
    np.testing.assert_allclose(proba[below_roots], proba[routes.parent[below_roots]], atol=1e-6)


def test_shrinkage_by_hand() -> None:
    """Scale 10, strength 1/2, two classes: a leaf hears its parent like 1 + 10 records, as sqrt(2) sqrt(2) = 2."""
    counts = np.array([[NAN, NAN], [NAN, NAN], [30, 10], [100, 20], [-5, 3], [40, 40]])
    proba = shrink(ROUTES, add_up(ROUTES, counts), 10, 0.5)
    root = np.array([165 + 1, 73 + 1]) / 240
    middle = np.array([135, 63]) + (1 + 10 * math.sqrt(3)) * root
    middle /= middle.sum()
    np.testing.assert_allclose(proba[0], root)
    np.testing.assert_allclose(proba[1], middle)
    np.testing.assert_allclose(proba[2], (np.array([30, 10]) + 11 * root) / 51)
    np.testing.assert_allclose(proba[4], (np.array([0, 3]) + 11 * middle) / 14)


def test_roots_are_weighted_by_how_little_noise_they_have() -> None:
    """A tree of one leaf and one of four: their sums differ by noise alone, of variances 1 to 4."""
    routes = Routes(SCHEMA, Tests.of(SCHEMA, [None, *TESTS]), np.array([-1, 2, 4, -1, -1, -1, -1]), np.array([0, 1]))
    counts = np.array([[200, 100], [NAN, NAN], [NAN, NAN], [60, 20], [60, 20], [60, 20], [120, 40]])
    proba = shrink(routes, add_up(routes, counts), 1, 1)
    whole = (np.array([200, 100]) * 4 + np.array([300, 100])) / 5 + 1
    np.testing.assert_allclose(proba[0], whole / whole.sum())
    # A class of which noise has left nothing keeps the noise's size: one standard deviation of the weighted mean.
    noise_ratio = np.where(np.isnan(counts), NAN, counts - [0, 1000])
    least = 1 / math.sqrt(1 / 2 + 1 / 8)
    prior = np.array([whole[0], least + 1])
    np.testing.assert_allclose(shrink(routes, add_up(routes, noise_ratio), 1, 1)[0], prior / prior.sum())


# -- signal to noise --------------------------------------------------------------------------------------------------


def test_signal_to_noise_by_hand() -> None:
    """TH eq. 7.8 at epsilon 1/2 and two classes: eps * sum / (2 sqrt(2 leaves)) >= 1, so a leaf needs 4 sqrt(2) = 5.7
    and a node of three leaves 4 sqrt(6) = 9.8."""
    for first, kept in ((6, True), (5, False)):
        counts = np.array([[NAN, NAN], [NAN, NAN], [5, 0], [first, 0], [3, 2], [3, 3]])
        assert above_noise(ROUTES, add_up(ROUTES, counts), 0.5).tolist() == [True, True, False, kept, False, True]
    for total, kept in ((10, True), (9, False)):
        counts = np.array([[NAN, NAN], [NAN, NAN], [5, 0], [total, 0], [0, 0], [0, 0]])
        # Below a node that is gone all are gone, however loud.
        assert above_noise(ROUTES, add_up(ROUTES, counts), 0.5).tolist() == [True, kept, False, kept, False, False]


@given(grown(), st.floats(0.01, 10))
def test_signal_to_noise_on_every_path(case: Any, epsilon: float) -> None:
    routes, counts, _ = case
    summed = add_up(routes, counts)
    alive = above_noise(routes, summed, epsilon)
    for node in range(len(summed)):
        loud = [
            routes.parent[n] < 0
            or epsilon * summed[n].sum() / (summed.shape[1] * math.sqrt(2 * len(below(routes, n)))) >= 1
            for n in path(routes, node)
        ]
        assert alive[node] == all(loud)


# -- opinions ---------------------------------------------------------------------------------------------------------


@given(grown(), st.data())
def test_the_surest_node_of_a_path_decides(case: Any, data: st.DataObject) -> None:
    routes, counts, _ = case
    proba = shares(add_up(routes, counts))
    alive = np.array(data.draw(st.lists(st.booleans(), min_size=len(proba), max_size=len(proba))))
    alive[routes.roots] = True
    said = surest_opinion(routes, proba, alive)
    for node in range(len(proba)):
        there = [n for n in path(routes, node) if alive[n]]
        best = max(there, key=lambda n: proba[n].max())  # the first of equals: nearest to the root
        assert np.array_equal(said[node], proba[best])


def test_of_equally_sure_nodes_the_one_with_more_records_decides() -> None:
    """That nearest to the root: x with 0.75 above, y with 0.75 below."""
    proba = np.array([[0.75, 0.25], [0.25, 0.75], [0.2, 0.8], [0.75, 0.25], [0.1, 0.9], [0.5, 0.5]])
    said = surest_opinion(ROUTES, proba, np.ones(6, dtype=bool))
    assert said.tolist() == [[0.75, 0.25], [0.75, 0.25], [0.2, 0.8], [0.75, 0.25], [0.1, 0.9], [0.75, 0.25]]


@given(grown(), st.floats(0.05, 5))
def test_pruned_trees_predict_what_the_path_says(case: Any, epsilon: float) -> None:
    """Dead nodes are gone or silent, and a record that would have ended there hears those above."""
    routes, counts, members = case
    summed = add_up(routes, counts)
    alive = above_noise(routes, summed, epsilon)
    said = surest_opinion(routes, shares(summed), alive)
    records = all_records(routes.schema)
    for t, (tree, whole) in enumerate(zip(as_trees(routes, said, summed, alive), members, strict=True)):
        check_tree(tree)
        leaves = routes.roots[t] + leaves_by_hand(whole, records)
        assert np.array_equal(tree.predict_proba(records), said[leaves])
        assert np.array_equal(tree.predict(records), said[leaves].argmax(axis=1))
        mine = alive[routes.nodes_of(t)]
        # What is left: the living, and the dead whose siblings live.
        kept = {n for n in range(len(whole)) if n == 0 or mine[list(siblings(whole, n))].any()}
        assert len(tree) == len(kept)


def siblings(tree: Tree, node: int) -> range:
    return next(tree.children(n) for n in range(len(tree)) if node in tree.children(n))


@given(grown())
def test_trees_that_nothing_is_taken_from_are_the_same_trees(case: Any) -> None:
    routes, counts, members = case
    summed = add_up(routes, counts)
    for tree, whole in zip(as_trees(routes, shares(summed), summed), members, strict=True):
        for column in ("attribute", "kind", "cut"):
            assert np.array_equal(getattr(tree, column), getattr(whole, column))
        check_tree(tree)
    labels = np.ones(len(summed), dtype=np.intp)
    assert all((tree.label == 1).all() for tree in as_trees(routes, shares(summed), summed, label=labels))


# -- pruning by Gini --------------------------------------------------------------------------------------------------


def tree_of(counts: list[list[float]]) -> Tree:
    array = np.array(counts, dtype=float)
    proba = shares(array)
    return Tree.build(SCHEMA, TESTS, ROUTES.first_child, proba.argmax(axis=1), proba=proba, counts=array)


def test_gini_pruning_by_hand() -> None:
    """Purity 0.5 and leaves at (0.5 + 0.5 + 0.5)/3: the lower split goes. Then the root, at 0.68 against
    (8 * 0.5 + 2 * 1)/10 = 0.6, goes too; at 0.58 it stays."""
    useless = [[4, 4], [2, 0], [1, 1], [2, 2], [1, 1]]  # a node, its sibling, and its three leaves
    assert len(prune_gini(tree_of([[8, 2], *useless]))) == 1
    left = prune_gini(tree_of([[7, 3], *useless]))
    assert (len(left), left.label.tolist()) == (3, [0, 0, 0])
    assert left.counts[1].tolist() == [4, 4]  # its own counts, not the sum of its children's
    # Leaves that are purer than their parent stay, though the root is as pure as can be: only parents of leaves ask.
    useful = [[10, 0], [4, 4], [2, 0], [4, 0], [0, 4], [0, 0]]
    assert len(prune_gini(tree_of(useful))) == 6


def test_gini_pruning_without_signal() -> None:
    assert len(prune_gini(tree_of([[-1, -1]] * 6))) == 1  # nothing is as pure as nothing
    assert len(prune_gini(tree_of([[1, 1], [1, 1], [-1, 0], [-1, 0], [0, -1], [0, 0]]))) == 1
    # Negative counts are none: (3, -5) is pure, and so is its parent.
    assert len(prune_gini(tree_of([[9, 5], [6, -1], [1, 5], [3, -5], [2, 0], [1, 0]]))) == 3


def test_splits_that_were_not_counted_are_kept() -> None:
    for unknown in (1, 3, 5):
        counts: list[list[float]] = [[5, 5], [9, 0], [1, 1], [1, 1], [1, 1], [1, 1]]
        counts[unknown] = [NAN, NAN]
        assert len(prune_gini(tree_of(counts))) == 6


@given(trees(counted=True))
def test_only_predictions_of_collapsed_nodes_change(tree: Tree) -> None:
    pruned = prune_gini(tree)
    check_tree(pruned)
    records = all_records(tree.schema)
    before, after = leaves_by_hand(tree, records), leaves_by_hand(pruned, records)
    for i, (old, new) in enumerate(zip(before.tolist(), after.tolist(), strict=True)):
        # The node where the record now ends is one of its old path, with what that said.
        way = walked(tree, records[:, i])
        ends = way[len(walked(pruned, records[:, i])) - 1]
        assert np.array_equal(pruned.counts[new], tree.counts[ends])
        assert np.array_equal(pruned.proba[new], tree.proba[ends])
        assert pruned.label[new] == tree.label[ends]
        if ends == old:
            assert pruned.label[new] == tree.label[old]
    # Nothing is left to prune: every remaining parent of leaves is less pure than they are.
    again = prune_gini(pruned)
    assert len(again) == len(pruned)
    for node in range(len(pruned)):
        children = list(pruned.children(node))
        if children and pruned.is_leaf[children].all():
            assert gini_purity(pruned.counts[[node]]) < gini_purity(pruned.counts[children])


def walked(tree: Tree, record: np.ndarray) -> list[int]:
    way = [0]
    while (test := tree.test(way[-1])) is not None:
        way.append(tree.children(way[-1])[int(test.branch(record[test.attribute : test.attribute + 1])[0])])
    return way


def gini_purity(counts: np.ndarray) -> float:
    """The mean purity of nodes, weighted by size."""
    kept = np.maximum(counts, 0)
    sizes = kept.sum(axis=1)
    if sizes.sum() <= 0:
        return 0.0
    return float(sum((row**2).sum() / row.sum() for row in kept if row.sum() > 0) / sizes.sum())


# ---- ties ---------------------------------------------------------------------------------------------------------


def test_a_leaf_without_a_positive_count_predicts_like_its_parent() -> None:
    counts = np.array([[2.0, 7.0, 1.0], [-1.0, -3.0, 0.0], [2.0, 7.0, 1.0], [0.0, 0.0, 0.0]])
    proba, label = settle(counts, np.array([-1, 0, 0, 1]))
    assert label.tolist() == [1, 1, 1, 1]
    np.testing.assert_allclose(proba, np.tile([0.2, 0.7, 0.1], (4, 1)))


def test_equal_counts_are_settled_by_the_parent_among_them_only() -> None:
    counts = np.array([[2.0, 3.0, 9.0], [4.0, 4.0, 1.0], [4.0, 5.0, 5.0]])
    proba, label = settle(counts, np.array([-1, 0, 0]))
    assert label.tolist() == [2, 1, 2]
    np.testing.assert_allclose(proba[1], [4 / 9, 4 / 9, 1 / 9], atol=1e-8)  # what was released stays
    assert proba.argmax(axis=1).tolist() == label.tolist(), "probabilities and labels predict the same"


def test_without_information_the_classes_take_turns() -> None:
    """An empty table: the class listed first had all leaves."""
    counts = np.zeros((31, 3))
    proba, label = settle(counts, np.append(-1, np.arange(30) // 2))
    assert np.bincount(label).tolist() == [11, 10, 10]
    np.testing.assert_allclose(proba, 1 / 3, atol=1e-8)
    assert proba.argmax(axis=1).tolist() == label.tolist()


# -- signal and noise --------------------------------------------------------------------------------------------------


def halves(schema: Schema) -> Routes:
    return Routes(schema, Tests.of(schema, [Multiway(0), None, None]), [1, -1, -1], [0])


def test_the_share_of_signal_is_what_noise_and_chance_leave() -> None:
    """Leaves of 1000 records whose class shares are 0.1 apart from the table's, with noise. The generator is seeded, so
    there is no false alarm; a noise that is 30 % off is seen."""
    schema = Schema((Categorical("x", (0, 1)),), Categorical("y", (0, 1)))
    routes, random = halves(schema), np.random.default_rng(5)
    prior, n, apart, scale = np.array([0.7, 0.3]), 1000, 0.1, 30.0
    squares, told = [], {scale: [], 1.3 * scale: [], 0.7 * scale: []}
    for _ in range(1000):
        leaves = np.array([random.multinomial(n, prior + sign * np.array([apart, -apart])) for sign in (1, -1)], float)
        leaves += random.laplace(0, scale, leaves.shape)
        squares.append(float(((leaves - leaves.sum(axis=1, keepdims=True) * prior) ** 2).sum()))
        for said, shares_of_signal in told.items():
            counts = add_up(routes, np.vstack([np.zeros(2), leaves]))
            shares_of_signal.append(signal_share(routes, counts, said, prior) * squares[-1])
    signal = 4 * (n * apart) ** 2
    noise = 2 * 2 * scale**2 * float((1 - 2 * prior + 2 * prior**2).sum())
    chance = 2 * n * float((prior * (1 - prior)).sum())
    # Half a standard deviation of what noise and chance alone would give, in two leaves, is not called signal.
    doubt = math.sqrt(0.75 * 2) * (noise + chance) / 2
    wanted = (signal - doubt) / (signal + noise + chance)
    off = {said: abs(sum(mine) / sum(squares) - wanted) for said, mine in told.items()}
    assert off.pop(scale) < 0.01
    assert min(off.values()) > 0.03


def test_leaves_that_are_as_the_whole_table_hold_no_signal() -> None:
    schema = Schema((Categorical("x", (0, 1)),), Categorical("y", (0, 1)))
    routes = halves(schema)
    prior = np.array([0.75, 0.25])
    for leaf in ([75.0, 25.0], [0.0, 0.0]):
        assert signal_share(routes, add_up(routes, np.array([[0.0, 0.0], leaf, leaf])), 5.0, prior) == 0.0
