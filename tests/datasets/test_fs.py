"""The generator of Friedman & Schuster, section 5.1.

Statistical tests compare a share of n independent events with its expectation by Hoeffding's inequality: a threshold of
sqrt(ln(2 / alpha) / (2 n)) has a false alarm probability of at most alpha, here 1e-6 for each test.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privet.datasets.fs import FIRST_LEAF_DEPTH, HiddenTree, Sample, domain, random_tree, sample
from privet.errors import ParameterError
from privet.owner.inspection import check_table
from privet.schema import Categorical, Numeric, Schema
from privet.tables.encoding import encode

FALSE_ALARM = 1e-6
MIXED = Schema(
    (
        Categorical("two", ("x", "y")),
        Categorical("five", (1, 2, 3, 4, 5)),
        Categorical("odd", ("a", 7, True)),
        Numeric("real", -1.0, 1.0),
        Numeric("whole", 3, 8, integer=True),
    ),
    Categorical("class", (False, True)),
)


def is_share(observed: float, expected: float, n: int, tests: int = 1) -> bool:
    return abs(observed - expected) <= math.sqrt(math.log(2 * tests / FALSE_ALARM) / (2 * n))


def nodes(tree: HiddenTree) -> Iterator[tuple[int, tuple[tuple[int, int], ...]]]:
    """Every node with its path of (attribute, branch), by plain recursion."""

    def below(node: int, path: tuple[tuple[int, int], ...]) -> Iterator[tuple[int, tuple[tuple[int, int], ...]]]:
        yield node, path
        a = int(tree.attribute[node])
        if a >= 0:
            spec = tree.schema.attributes[a]
            for branch in range(2 if isinstance(spec, Numeric) else spec.arity):
                yield from below(int(tree.first_child[node]) + branch, (*path, (a, branch)))

    yield from below(0, ())


def plain_class(tree: HiddenTree, row: dict[str, Any]) -> Any:
    """One record's class, by walking the tree with the values of the table."""
    node = 0
    while (a := int(tree.attribute[node])) >= 0:
        spec = tree.schema.attributes[a]
        if isinstance(spec, Numeric):
            branch = int(row[spec.name] > tree.point[node])
        else:
            branch = spec.values.index(row[spec.name])
        node = int(tree.first_child[node]) + branch
    return tree.schema.label.values[tree.label[node]]


schemas = st.builds(
    domain,
    nominal=st.integers(1, 6),
    arity=st.integers(2, 4),
    numeric=st.integers(0, 2),
    classes=st.integers(2, 4),
) | st.just(MIXED)


@given(schema=schemas, depth=st.integers(1, 4), seed=st.integers(0, 2**32), p_leaf=st.sampled_from([0.0, 0.3, 1.0]))
def test_the_shape_of_a_tree(schema: Schema, depth: int, seed: int, p_leaf: float) -> None:
    tree = random_tree(schema, depth, np.random.default_rng(seed), p_leaf=p_leaf)
    met = dict(nodes(tree))
    assert sorted(met) == list(range(len(tree.attribute)))
    for node, path in met.items():
        assert len(path) <= depth
        leaf = tree.attribute[node] < 0
        assert leaf == (tree.first_child[node] < 0) == (tree.label[node] >= 0)
        nominal = [a for a, _ in path if isinstance(schema.attributes[a], Categorical)]
        assert len(set(nominal)) == len(nominal), "a nominal attribute repeats on a path"
        open_ones = len(set(range(len(schema.attributes))) - set(nominal))
        if leaf and len(path) < min(depth, FIRST_LEAF_DEPTH):
            assert open_ones == 0, "an early leaf above the third level"
        if p_leaf == 1.0:
            assert len(path) <= FIRST_LEAF_DEPTH


@given(seed=st.integers(0, 2**32), depth=st.integers(1, 6))
def test_split_points_divide_what_the_path_left(seed: int, depth: int) -> None:
    schema = Schema((Numeric("real", 0, 100), Numeric("whole", 0, 9, integer=True)), Categorical("class", (0, 1)))
    tree = random_tree(schema, depth, np.random.default_rng(seed), p_leaf=0)
    ranges = {0: [(0.0, 100.0), (0.0, 9.0)]}
    for node, _ in nodes(tree):
        a = int(tree.attribute[node])
        if a < 0:
            continue
        low, high = ranges[node][a]
        point = float(tree.point[node])
        assert low <= point < high
        assert a == 0 or point % 1 == 0.5
        child = int(tree.first_child[node])
        for branch, kept in enumerate([(low, point), (point, high)]):
            ranges[child + branch] = [kept if i == a else r for i, r in enumerate(ranges[node])]


@given(schema=schemas, seed=st.integers(0, 2**32))
def test_the_leaves_of_a_single_split_differ(schema: Schema, seed: int) -> None:
    tree = random_tree(schema, 1, np.random.default_rng(seed))
    labels = tree.label[1:]
    assert tree.label[0] == -1
    assert len(set(labels.tolist())) == min(len(labels), schema.n_classes)


def test_the_root_and_its_point_can_be_fixed() -> None:
    tree = random_tree(domain(7, numeric=3), 1, np.random.default_rng(0), root="a10", point=35)
    assert (tree.attribute[0], tree.point[0]) == (9, 35.0)
    records = sample(tree, 1000, np.random.default_rng(1))
    assert ((records.values[9] > 35) == (records.labels == tree.label[2])).all()


@given(schema=schemas, depth=st.integers(1, 4), seed=st.integers(0, 2**32))
def test_noiseless_records_are_classified_by_the_tree(schema: Schema, depth: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    tree = random_tree(schema, depth, rng)
    table = sample(tree, 20, rng).table()
    rows = [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]
    assert [plain_class(tree, row) for row in rows] == table[schema.label.name].tolist()


@given(schema=schemas, seed=st.integers(0, 2**32), n=st.integers(0, 30), p_noise=st.sampled_from([0.0, 0.5]))
def test_the_codes_are_what_encoding_the_table_gives(schema: Schema, seed: int, n: int, p_noise: float) -> None:
    rng = np.random.default_rng(seed)
    records = sample(random_tree(schema, 2, rng), n, rng, p_noise=p_noise)
    codes, encoded = records.codes, encode(schema, records.table(), levels=True)
    assert codes.features.dtype == encoded.features.dtype
    assert (codes.features == encoded.features).all()
    assert encoded.labels is not None
    assert codes.labels is not None
    assert codes.labels.dtype == encoded.labels.dtype
    assert (codes.labels == encoded.labels).all()
    assert codes.levels is not None
    assert encoded.levels is not None
    assert codes.levels.keys() == encoded.levels.keys()
    assert all((codes.levels[a] == encoded.levels[a]).all() for a in encoded.levels)


def test_values_in_the_table_are_the_schemas_own() -> None:
    rng = np.random.default_rng(0)
    table = sample(random_tree(MIXED, 2, rng), 500, rng).table()
    assert list(table) == [*MIXED.names, "class"]
    assert set(table["odd"].tolist()) == {"a", 7, True}
    assert set(table["whole"].tolist()) == {3, 4, 5, 6, 7, 8}
    assert table["class"].dtype == np.bool_
    assert check_table(MIXED, table).ok


def test_the_generator_is_seeded_and_nothing_else() -> None:
    def draw(seed: int) -> Sample:
        rng = np.random.default_rng(seed)
        return sample(random_tree(domain(), 3, rng), 200, rng, p_noise=0.1)

    assert (draw(5).features == draw(5).features).all()
    assert (draw(5).labels == draw(5).labels).all()
    assert (draw(5).features != draw(6).features).any()


def early_leaves(p_leaf: float, trees: int = 2_500) -> float:
    """The share of leaves among the four nodes of the third level of binary trees."""
    rng = np.random.default_rng(11)
    drawn = [random_tree(domain(), 3, rng, p_leaf=p_leaf).attribute[3:7] for _ in range(trees)]
    return float((np.concatenate(drawn) < 0).mean())


def test_a_node_of_the_third_level_is_a_leaf_with_probability_p_leaf() -> None:
    n = 4 * 2_500
    assert is_share(early_leaves(0.3), 0.3, n)
    assert not is_share(early_leaves(0.39), 0.3, n)  # 30 % off


def test_attributes_at_the_root_are_uniform() -> None:
    rng, n = np.random.default_rng(12), 8_000
    roots = [int(random_tree(domain(4, numeric=1), 1, rng).attribute[0]) for _ in range(n)]
    shares = np.bincount(roots) / n
    assert all(is_share(share, 0.2, n, tests=5) for share in shares)
    assert not is_share(shares[0] * 1.3, 0.2, n, tests=5)


@pytest.mark.parametrize("arity", [2, 3, 5])
def test_records_are_uniform(arity: int) -> None:
    rng, n = np.random.default_rng(13), 50_000
    records = sample(random_tree(domain(2, arity, numeric=1), 1, rng), n, rng)
    for row in records.features[:2]:
        assert all(is_share(share, 1 / arity, n, tests=2 * arity) for share in np.bincount(row) / n)
    quartiles = np.bincount((records.values[2] / 25).astype(int)) / n
    assert all(is_share(share, 0.25, n, tests=4) for share in quartiles)


def changed(p_noise: float, arity: int, n: int = 20_000) -> tuple[float, float, float]:
    """The shares of nominal values, numeric values and classes that noise changed (same seed, so the same records)."""
    tree = random_tree(domain(5, arity, numeric=1, classes=arity), 2, np.random.default_rng(14))
    clean = sample(tree, n, np.random.default_rng(15))
    noisy = sample(tree, n, np.random.default_rng(15), p_noise=p_noise)
    differ = (clean.features[:5] != noisy.features[:5]).mean(axis=1)
    return (
        float(differ.mean()),
        float((clean.values[5] != noisy.values[5]).mean()),
        float((clean.labels != noisy.labels).mean()),
    )


@pytest.mark.parametrize("arity", [2, 5])
def test_noise_replaces_values_and_classes_and_may_repeat_them(arity: int) -> None:
    n, p = 20_000, 0.2
    visible = p * (1 - 1 / arity)
    for right, expected in zip(changed(p, arity), (visible, p, visible), strict=True):
        assert is_share(right, expected, n)
    for wrong, expected in zip(changed(1.3 * p, arity), (visible, p, visible), strict=True):
        assert not is_share(wrong, expected, n)


def test_all_noise_leaves_nothing_of_the_tree() -> None:
    rng, n = np.random.default_rng(16), 20_000
    tree = random_tree(domain(), 1, rng)
    records = sample(tree, n, rng, p_noise=1.0)
    assert is_share(float((tree.classify(records) == records.labels).mean()), 0.5, n)


def test_no_records_is_a_sample_too() -> None:
    rng = np.random.default_rng(0)
    records = sample(random_tree(MIXED, 2, rng), 0, rng, p_noise=0.1)
    assert len(records) == 0
    assert [len(column) for column in records.table().values()] == [0] * 6


def test_a_large_tree_of_the_paper() -> None:
    tree = random_tree(domain(arity=5, classes=5), 10, np.random.default_rng(0))
    assert len(tree.label) > 100_000
    records = sample(tree, 1000, np.random.default_rng(1))
    assert set(records.labels.tolist()) == {0, 1, 2, 3, 4}


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda rng: random_tree(domain(), 0, rng), "depth"),
        (lambda rng: random_tree(domain(), 2, rng, p_leaf=1.1), "p_leaf"),
        (lambda rng: random_tree(domain(), 1, rng, point=35), "point"),
        (lambda rng: random_tree(domain(0, numeric=1), 1, rng, point=100), "point"),
        (lambda rng: sample(random_tree(domain(), 1, rng), -1, rng), "n must"),
        (lambda rng: sample(random_tree(domain(), 1, rng), 5, rng, p_noise=float("nan")), "p_noise"),
    ],
)
def test_bad_arguments_are_named(call: Any, named: str) -> None:
    with pytest.raises(ParameterError, match=named):
        call(np.random.default_rng(0))
