"""Trees drawn whole: the public space, blocks, and what leaves buy."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privet import Categorical, Ledger, Numeric, ParameterError, Schema
from privet.engines.memory import MemoryEngine
from privet.growing.whole import whole_tree as whole
from privet.growing.whole.blocks import Blocks, Levels, grow_blocks
from privet.growing.whole.whole_tree import affordable_depth, operations, table_bytes
from privet.models.tree import Tree
from privet.models.validation import check_tree
from privet.privacy.dataset import PrivateDataset
from privet.privacy.samplers.tree_space import TreeSpace
from privet.schema import Attribute
from privet.structure.splits import OneCategory, Tests
from privet.tables.encoding import Codes
from privet.testing import ReplayNoise, SeededNoise, ZeroNoise, use_noise


def binary(attributes: int, classes: int = 2) -> Schema:
    columns: tuple[Attribute, ...] = tuple(Categorical(f"b{a}", (0, 1)) for a in range(attributes))
    return Schema(columns, Categorical("class", tuple(range(classes))))


def space_of(schema: Schema, leaf_prior: tuple[float, ...]) -> TreeSpace:
    tests = Tests.binary(schema)
    return TreeSpace(tests, schema.n_classes, leaf_prior, np.ones(len(tests)), (1,) * schema.n_classes)


def data_of(schema: Schema, n: int, ledger: Ledger, seed: int = 0) -> PrivateDataset:
    rng = np.random.default_rng(seed)
    features = np.array([rng.integers(0, arity, n) for arity in schema.arities], dtype=np.uint8)
    labels = ((features[0] + features[-1] + (rng.random(n) < 0.2)) % schema.n_classes).astype(np.uint8)
    return PrivateDataset(MemoryEngine(schema, Codes(features, labels)), ledger)


# ---- the depth that one draw affords ------------------------------------------------------------------------------


@pytest.mark.usefixtures("full_draws")
@pytest.mark.parametrize(
    ("n_tests", "n_classes", "depth"),
    [(208, 2, 3), (168, 2, 4), (122, 2, 4), (1000, 2, 2), (10, 2, 10), (1, 2, 1), (0, 2, 1), (4, 3, 4), (208, 26, 3)],
)
def test_affordable_depths_known_beforehand(n_tests: int, n_classes: int, depth: int) -> None:
    """208 tests are adult's on an even grid and 168 near zero, 122 mushroom's."""
    assert affordable_depth(n_tests, n_classes) == depth


def test_a_draw_counts_every_leaf_of_every_set_of_tests() -> None:
    """F choose D-1 sets, 2^(D-1) regions of each, F last tests in each, C labels."""
    assert operations(208, 2, 1) == 208 * 2 + whole.REGION_OPERATIONS
    assert operations(208, 2, 3) == 208 * 207 // 2 * 4 * (208 * 2 + whole.REGION_OPERATIONS)
    assert operations(26, 5, 2) == 26 * 2 * (26 * 5 * whole.LABEL_OPERATIONS + whole.REGION_OPERATIONS)
    assert table_bytes(208, 2, 2) == 12 * 208 * 2
    assert table_bytes(208, 2, 3) == 12 * math.comb(208, 2) * 4 + 4 * 208**2 * 2


@pytest.mark.usefixtures("full_draws")
@given(st.integers(1, 500), st.integers(2, 30))
def test_affordable_depth_falls_with_the_space_and_fits(n_tests: int, n_classes: int) -> None:
    depth = affordable_depth(n_tests, n_classes)
    assert 1 <= depth <= n_tests
    if depth > 1:
        assert operations(n_tests, n_classes, depth) <= whole.MAX_OPERATIONS
        assert table_bytes(n_tests, n_classes, depth) <= whole.MAX_BYTES
    assert affordable_depth(n_tests, n_classes + 1) <= depth
    assert affordable_depth(n_tests + 1, n_classes) <= depth or depth == n_tests


# ---- priors -------------------------------------------------------------------------------------------------------

MIXED = Schema(
    (Numeric("age", 0, 100, bins=5), Categorical("town", ("a", "b", "c")), Categorical("sex", ("f", "m"))),
    Categorical("class", (0, 1)),
)


def prior(measure: Any, favours: dict[str, Any] | None = None) -> list[float]:
    """Of four thresholds on age, three towns, one sex."""
    return whole.test_prior(MIXED, Tests.binary(MIXED), measure, favours).tolist()


def test_priors_over_tests_and_over_attributes() -> None:
    assert prior("tests") == [1] * 8
    assert prior("attributes") == [1 / 4] * 4 + [1 / 3] * 3 + [1]
    assert prior("tests", {"age": 3, "town": 0}) == [3] * 4 + [0] * 3 + [1]
    assert prior("attributes", {"sex": 0.5}) == [1 / 4] * 4 + [1 / 3] * 3 + [0.5]


@pytest.mark.parametrize("favour", [-1, math.nan, math.inf, "much", None])
def test_favours_must_be_weights(favour: Any) -> None:
    with pytest.raises(ParameterError, match="attribute_prior"):
        prior("tests", {"age": favour})


def test_something_must_be_allowed() -> None:
    with pytest.raises(ParameterError, match="forbids every attribute"):
        prior("tests", {"age": 0, "town": 0, "sex": 0})


# ---- blocks -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("block", "depth", "depths"),
    [(3, 3, [3]), (3, 2, [2]), (3, 4, [3, 1]), (2, 6, [2, 2, 2]), (1, 3, [1, 1, 1]), (3, 0, [0]), (0, 0, [0])],
)
def test_depths_of_blocks(block: int, depth: int, depths: list[int]) -> None:
    assert Blocks(space_of(binary(4), (0.5,) * block), depth).depths == depths


def test_early_leaves_are_final_and_leaves_at_full_depth_are_drawn_again() -> None:
    """Every draw is scripted: an index among what is possible, labels first (there are none at the root of a block)."""
    script = [
        *[0, 1, 2, 0, 1],  # first block: test 0; an early leaf of label 1; test 1 and below it leaves 0 and 1
        *[0, 0, 1],  # second block, in the first of these: test 2, leaves 0 and 1
        *[1, 0, 2, 1, 0],  # in the other: test 3; leaf 0; test 2 (0 and 1 are labels), leaves 1 and 0
    ]
    ledger, noise, steps = Ledger(1), ReplayNoise(script), list[tuple[int, int]]()
    with use_noise(noise):
        tree = grow_blocks(
            data_of(binary(4), 50, ledger).level(),
            Blocks(space_of(binary(4), (0.0, 0.5)), 4),
            Fraction(1),
            lambda *step: steps.append(step),
        )
    check_tree(tree)
    assert len(noise.draws) == len(script)
    assert nested(tree, 0) == (0, 1, (1, (2, 0, 1), (3, 0, (2, 1, 0))))
    assert (100, 200) in steps  # a slow machine also sees some between
    assert steps[-1] == (200, 200)
    assert [(charge.epsilon, charge.adds) for charge in ledger.certificate().charges] == [(Fraction(1, 2),) * 2] * 2
    assert ledger.spent == 1
    # Only tests at a block's root, those not yet on the path; labels beside them; only labels at full depth.
    assert [draw.values.size for draw in noise.draws] == [4, 5, 5, 2, 2, 2, 3, 3, 2, 3, 3, 2, 2]


def nested(tree: Tree, node: int) -> Any:
    test = tree.test(node)
    if test is None:
        return int(tree.label[node])
    assert isinstance(test, OneCategory)
    assert test.value == 0
    return (test.attribute, *(nested(tree, child) for child in tree.children(node)))


def test_a_second_block_draws_from_the_records_of_its_cell() -> None:
    """Without noise, two blocks of one level learn parity: the second block must look at its own cell only."""
    schema, ledger = binary(2), Ledger(10)
    features = np.array([[0, 0, 1, 1] * 5 + [0], [0, 1, 0, 1] * 5 + [1]], dtype=np.uint8)
    labels = np.array([0, 1, 1, 0] * 5 + [1], dtype=np.uint8)
    data = PrivateDataset(MemoryEngine(schema, Codes(features, labels)), ledger)
    with use_noise(ZeroNoise()):
        tree = grow_blocks(data.level(), Blocks(space_of(schema, (0.0,)), 2), Fraction(10))
    assert (tree.predict(features) == labels).all()
    assert tree.depth == 2


def test_nothing_is_charged_for_blocks_that_no_record_reaches() -> None:
    ledger = Ledger(1)
    with use_noise(ReplayNoise([0, 0, 1])):
        tree = grow_blocks(
            data_of(binary(3), 50, ledger).level(), Blocks(space_of(binary(3), (0.0, 0.5)), 4), Fraction(1)
        )
    assert nested(tree, 0) == (0, 0, 1)
    assert ledger.spent == Fraction(1, 2)


@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
@pytest.mark.parametrize("share", [Fraction(0), Fraction(1, 5), Fraction(9, 10)])
@pytest.mark.parametrize("depth", [0, 1, 2, 3, 5])
def test_a_tree_of_full_depth_spends_epsilon_exactly(depth: int, share: Fraction, neighbours: str) -> None:
    """Blocks share it equally, after the leaves' share; leaf prior 0 makes every path as deep as it may be."""
    ledger, schema = Ledger(7, neighbours=neighbours), binary(5)
    blocks = Blocks(space_of(schema, (0.0,) * min(depth, 2)), depth, share)
    with use_noise(SeededNoise(depth)):
        tree = grow_blocks(data_of(schema, 80, ledger).level(), blocks, Fraction(7, 3))
    check_tree(tree)
    assert tree.depth == depth
    assert ledger.spent == Fraction(7, 3)
    charges = ledger.certificate().charges
    trees = [charge for charge in charges if charge.what == "whole trees"]
    assert [charge.epsilon for charge in trees] == [Fraction(7, 3) * (1 - share) / len(blocks.depths)] * len(trees)
    leaves = [charge for charge in charges if charge.what == "leaf class counts"]
    assert [charge.epsilon for charge in leaves] == ([Fraction(7, 3) * share] if share else [])
    assert np.isnan(tree.counts[~tree.is_leaf]).all()
    assert np.isnan(tree.counts[tree.is_leaf]).all() == (share == 0)


def test_early_leaves_pay_for_their_own_counts_only() -> None:
    """A path that ends early has spent less; the total is the most expensive path."""
    for seed in range(8):
        ledger, schema = Ledger(1), binary(4)
        blocks = Blocks(space_of(schema, (0.0, 0.6)), 4, Fraction(1, 4))
        with use_noise(SeededNoise(seed)):
            tree = grow_blocks(data_of(schema, 60, ledger, seed).level(), blocks, Fraction(1))
        assert not np.isnan(tree.counts[tree.is_leaf]).any()
        assert ledger.spent == (1 if tree.depth > 2 else Fraction(1, 4) + Fraction(3, 8))


def test_leaf_counts_are_the_counts_of_the_leaf() -> None:
    schema = binary(4, 3)
    data = data_of(schema, 300, Ledger(1))
    with use_noise(ZeroNoise()):
        tree = grow_blocks(data.level(), Blocks(space_of(schema, (0.0, 0.5)), 4, Fraction(1, 2)), Fraction(1))
    engine = data._engine
    assert isinstance(engine, MemoryEngine)
    leaf = tree.apply(engine._features)
    for node in np.flatnonzero(tree.is_leaf):
        expected = np.bincount(engine._labels[leaf == node], minlength=3)
        assert tree.counts[node].tolist() == expected.tolist()
        assert tree.proba[node].argmax() == tree.label[node]


@given(st.data())
def test_the_drawn_label_has_the_largest_probability(data: st.DataObject) -> None:
    """Whatever the noisy counts say, also when they tie or all are negative."""
    n_classes = data.draw(st.integers(2, 5))
    rows = st.lists(st.integers(-3, 3), min_size=n_classes, max_size=n_classes)
    counts = [data.draw(rows) for _ in range(2)]
    labels = [data.draw(st.integers(0, n_classes - 1)) for _ in range(2)]
    growing = Levels(data_of(binary(1, n_classes), 0, Ledger(1)).level(), Fraction(1))
    with use_noise(ReplayNoise([*counts[0], *counts[1]])):
        growing.add([OneCategory(0, 0)], [0])
        growing.add([None, None], labels)
    tree = growing.labelled_tree()
    assert tree.counts[1:].tolist() == counts
    assert tree.label[1:].tolist() == labels
    check_tree(tree)
    assert tree.proba.argmax(axis=1)[1:].tolist() == tree.label[1:].tolist()
    np.testing.assert_allclose(tree.proba.sum(axis=1), 1, atol=1e-12)


def test_probabilities_are_shrunk_by_the_known_noise() -> None:
    """A small leaf says almost what the node above it says, a large one what its counts say; also under replace-one."""
    said = {}
    for steps, relation in ((1, "add-remove"), (2, "replace-one")):
        growing = Levels(data_of(binary(1), 0, Ledger(1, neighbours=relation)).level(), Fraction(1, 10))
        with use_noise(ReplayNoise([9000, 1000, 8, 4])):
            growing.add([OneCategory(0, 0)], [0])
            growing.add([None, None], [0, 0])
        said[steps] = growing.labelled_tree().proba
    np.testing.assert_allclose(said[1][1], [0.9, 0.1], atol=0.002)
    assert 0.67 < said[1][2, 0] < said[2][2, 0] < 0.9  # 8 of 12 by itself; twice the noise says less
