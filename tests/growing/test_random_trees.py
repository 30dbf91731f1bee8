"""Random trees: what is drawn is allowed, uniform, capped and public.

Every statistical test here fails a right sampler with a chance below 1e-6 (a chi-squared tail), and must reject one
that is 30 % off with the same threshold.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2
from tree_strategies import schemas

from privet.growing.forests.medians import MedianTrees
from privet.growing.forests.random_trees import RandomTrees, test_kinds
from privet.growing.greedy.candidates import TEST_KINDS, Domains
from privet.schema import Categorical, Numeric, Schema
from privet.structure.routes import Routes
from privet.structure.splits import Kind, Tests

FALSE_ALARM = 1e-6
KINDS = sorted(TEST_KINDS)
MIXED = Schema(
    (
        Numeric("age", 0, 100, bins=7),
        Categorical("town", ("a", "b", "c", "d")),
        Numeric("size", 0, 1, bins=2, missing="?"),
        Categorical("sex", ("f", "m")),
        Categorical("only", ("one",)),
    ),
    Categorical("class", ("x", "y")),
)
EVERY = {"binary": Tests.binary, "multiway": Tests.multiway, "mixed": Tests.mixed}


def nodes_with_domains(routes: Routes, t: int) -> Iterator[tuple[int, int, Domains]]:
    """(node, depth, what its path leaves open) of one tree, by the grower's own domains."""
    first = int(routes.roots[t])
    waiting = deque([(first, 0, Domains.whole(routes.schema))])
    while waiting:
        node, depth, domains = waiting.popleft()
        yield node, depth, domains
        if routes.is_leaf[node]:
            continue
        below = domains.split([routes.tests[node]])
        for side in range(int(routes.tests.arity[node])):
            child = Domains(routes.schema, below.possible[side : side + 1])
            waiting.append((int(routes.first_child[node]) + side, depth + 1, child))


def open_attributes(domains: Domains, kinds: np.ndarray) -> list[int]:
    sizes = [int(domains.possible[0, domains.bins(a)].sum()) for a in range(len(domains.schema.attributes))]
    return [a for a, size in enumerate(sizes) if size > 1 and kinds[a] >= 0]


def too_uneven(observed: Counter[Any], expected: dict[Any, float]) -> bool:
    """Whether a chi-squared test at ``FALSE_ALARM`` rejects the expected shares."""
    total = sum(observed.values())
    assert set(observed) <= set(expected), "something was drawn that cannot be"
    assert min(expected.values()) * total > 20, "too few draws for the test to mean anything"
    statistic = sum((observed[k] - total * p) ** 2 / (total * p) for k, p in expected.items())
    return bool(statistic > chi2.isf(FALSE_ALARM, len(expected) - 1))


def must_notice(expected: dict[Any, float], draws: int) -> None:
    """The same test rejects shares of which the first is 30 % too large, twenty times out of twenty."""
    first = next(iter(expected))
    shares = np.array([p * (1.3 if k == first else 1.0) for k, p in expected.items()])
    random = np.random.default_rng(0)
    for _ in range(20):
        off = dict(zip(expected, random.multinomial(draws, shares / shares.sum()), strict=True))
        assert too_uneven(Counter({k: int(v) for k, v in off.items()}), expected)


# -- against the grower's domains -------------------------------------------------------------------------------------


@given(
    schema=schemas(),
    tests=st.sampled_from(KINDS),
    depth=st.integers(0, 6),
    trees=st.integers(1, 4),
    distinct=st.booleans(),
    cap=st.integers(1, 40),
    seed=st.integers(0, 2**32 - 1),
)
@settings(max_examples=100)
def test_every_test_is_allowed_by_its_path(
    schema: Schema, tests: Any, depth: int, trees: int, distinct: bool, cap: int, seed: int
) -> None:
    lot = RandomTrees(trees, depth, tests, distinct, cap)
    routes = lot.draw(schema, np.random.default_rng(seed))
    assert len(routes) == trees
    kinds = test_kinds(schema, tests)
    every = {(int(c.kind), int(c.attribute), getattr(c, "cut", 0)) for c in EVERY[tests](schema)}
    for t in range(trees):
        leaves = int(routes.is_leaf[routes.nodes_of(t)].sum())
        assert leaves <= cap
        for node, level, domains in nodes_with_domains(routes, t):
            assert level <= depth
            able = open_attributes(domains, kinds)
            if routes.is_leaf[node]:
                # It ends for a public reason: depth, nothing open, or some test that would not fit any more.
                widest = max((schema.arities[a] if kinds[a] == Kind.MULTIWAY else 2 for a in able), default=0)
                assert level == depth or not able or leaves + widest - 1 > cap
                continue
            row = routes.tests.take(np.array([node]))
            assert domains.allowed(row)[0, 0], "a test that its path has decided"
            assert int(row.attribute[0]) in able
            assert int(row.kind[0]) == kinds[row.attribute[0]]
            if row.kind[0] != Kind.ONE_CATEGORY:
                assert (int(row.kind[0]), int(row.attribute[0]), int(row.cut[0])) in every


@pytest.mark.parametrize("tests", KINDS)
def test_attributes_are_uniform_among_those_open(tests: Any) -> None:
    """At the root and one level down, where a path has narrowed what is open."""
    kinds = test_kinds(MIXED, tests)
    routes = RandomTrees(6000, 2, tests).draw(MIXED, np.random.default_rng(1))
    usable = np.flatnonzero(kinds >= 0)
    expected = {int(a): 1 / len(usable) for a in usable}
    roots = Counter(routes.tests.attribute[routes.roots].tolist())
    assert not too_uneven(roots, expected)
    must_notice(expected, len(routes))
    below: dict[tuple[int, ...], Counter[int]] = {}
    for t in range(1000):
        for node, level, domains in nodes_with_domains(routes, t):
            if level == 1 and not routes.is_leaf[node]:
                able = tuple(open_attributes(domains, kinds))
                below.setdefault(able, Counter())[int(routes.tests.attribute[node])] += 1
    assert min(map(len, below)) < len(usable), "no path closed anything"
    for able, seen in below.items():
        if sum(seen.values()) > 100 * len(able):
            assert not too_uneven(seen, {a: 1 / len(able) for a in able})


def test_cuts_are_uniform_among_those_open() -> None:
    schema = Schema((Numeric("x", 0, 1, bins=9),), Categorical("class", (0, 1)))
    routes = RandomTrees(8000, 2).draw(schema, np.random.default_rng(2))
    expected = dict.fromkeys(range(8), 1 / 8)
    assert not too_uneven(Counter(routes.tests.cut[routes.roots].tolist()), expected)
    must_notice(expected, 8000)
    # Below a first cut at 5, on the left: cuts 0 to 4.
    left = [
        int(routes.tests.cut[routes.first_child[root]])
        for root in routes.roots
        if routes.tests.cut[root] == 5 and not routes.is_leaf[routes.first_child[root]]
    ]
    assert not too_uneven(Counter(left), dict.fromkeys(range(5), 1 / 5))
    right = [
        int(routes.tests.cut[routes.first_child[root] + 1])
        for root in routes.roots
        if routes.tests.cut[root] == 2 and not routes.is_leaf[routes.first_child[root] + 1]
    ]
    assert not too_uneven(Counter(right), dict.fromkeys(range(3, 8), 1 / 5))


def test_categories_are_uniform_among_those_left() -> None:
    schema = Schema((Categorical("c", tuple("abcde")),), Categorical("class", (0, 1)))
    routes = RandomTrees(8000, 4, "binary").draw(schema, np.random.default_rng(3))
    assert not too_uneven(Counter(routes.tests.cut[routes.roots].tolist()), dict.fromkeys(range(5), 1 / 5))
    must_notice(dict.fromkeys(range(5), 1 / 5), 8000)
    # In order, the categories that a path splits off are a random arrangement.
    orders: Counter[tuple[int, ...]] = Counter()
    for root in routes.roots:
        split, node = [], int(root)
        while not routes.is_leaf[node]:
            split.append(int(routes.tests.cut[node]))
            assert routes.is_leaf[routes.first_child[node]], "nothing is left to ask of a single category"
            node = int(routes.first_child[node]) + 1
        orders[tuple(split)] += 1
    assert {len(set(order)) for order in orders} == {4}
    assert not too_uneven(orders, dict.fromkeys(_arrangements(5, 4), 1 / 120))


def _arrangements(of: int, length: int) -> list[tuple[int, ...]]:
    return list(permutations(range(of), length))


# -- roots, caps, support, depth --------------------------------------------------------------------------------------


def test_distinct_roots() -> None:
    for trees in range(1, 13):
        routes = RandomTrees(trees, 2, "multiway", distinct_roots=True).draw(MIXED, np.random.default_rng(trees))
        used = Counter(routes.tests.attribute[routes.roots].tolist())
        assert set(used) <= {0, 1, 2, 3}  # the fifth has a single value
        assert max(used.values()) - min([*used.values(), *([0] if len(used) < 4 else [])]) <= 1
        assert len(used) == min(trees, 4)
    # Every attribute is as likely as any other to be among the first.
    first = Counter(
        int(RandomTrees(1, 1, "multiway", distinct_roots=True).draw(MIXED, np.random.default_rng(s)).tests.attribute[0])
        for s in range(1000)
    )
    assert not too_uneven(first, dict.fromkeys(range(4), 1 / 4))


@pytest.mark.parametrize("cap", [1, 2, 3, 7, 64])
@pytest.mark.parametrize("tests", KINDS)
def test_leaves_are_capped_and_the_cap_is_used(tests: Any, cap: int) -> None:
    routes = RandomTrees(30, 20, tests, max_leaves=cap).draw(MIXED, np.random.default_rng(0))
    leaves = np.bincount(routes.owner[routes.leaves])
    assert leaves.max() <= cap
    assert leaves.max() > cap - 7  # no test has more than seven children


def test_a_tree_as_large_as_its_schema_allows() -> None:
    """The arrays are as long as they must be: nothing but the cap and the depth stops a full tree."""
    schema = Schema(tuple(Categorical(f"c{i}", tuple(range(3))) for i in range(6)), Categorical("class", (0, 1)))
    for depth in range(7):
        routes = RandomTrees(2, depth, max_leaves=3**6).draw(schema, np.random.default_rng(0))
        assert len(routes.tests) == 2 * (3 ** (depth + 1) - 1) // 2
        assert len(routes.leaves) == 2 * 3**depth


@given(st.floats(1, 1e6), st.floats(0.1, 1e4), st.integers(0, 99))
@settings(max_examples=60)
def test_a_branch_ends_where_its_support_does(support: float, least: float, seed: int) -> None:
    routes = RandomTrees(3, 5, "multiway", support=support, least=least).draw(MIXED, np.random.default_rng(seed))
    expected = np.full(len(routes.tests), support)
    for nodes in routes.levels[1:]:
        parents = routes.parent[nodes]
        expected[nodes] = expected[parents] / routes.tests.arity[parents]
    inner = ~routes.is_leaf
    assert (expected[inner] > least).all()
    used_up = routes.level >= min(5, 4)  # an attribute once on a path, and four have more than a value
    assert (expected[routes.is_leaf & ~used_up] <= least).all()


def test_the_support_of_a_node_is_n_over_its_arities() -> None:
    """n = 80: after the 4 towns 20 records are expected, which is not above 20, but above 19.9."""
    schema = Schema((Categorical("town", tuple("abcd")), Categorical("sex", ("f", "m"))), Categorical("class", (0, 1)))
    for least, depth in ((20, {1}), (19.9, {2})):
        lot = RandomTrees(40, 9, "multiway", distinct_roots=True, support=80, least=least)
        routes = lot.draw(schema, np.random.default_rng(0))
        of_town = routes.tests.attribute[routes.roots] == 0
        assert {int(routes.level[routes.owner == t].max()) for t in np.flatnonzero(of_town)} == depth


@pytest.mark.parametrize("depth", [0, 1, 2, 5])
def test_depth(depth: int) -> None:
    routes = RandomTrees(20, depth).draw(MIXED, np.random.default_rng(0))
    assert routes.level.max() == depth
    assert (depth > 0) == (len(routes.tests) > 20)


def test_a_schema_without_any_test_is_leaves() -> None:
    schema = Schema((Categorical("one", ("x",)),), Categorical("class", (0, 1)))
    for distinct in (False, True):
        routes = RandomTrees(3, 4, distinct_roots=distinct).draw(schema, np.random.default_rng(0))
        assert routes.is_leaf.tolist() == [True] * 3


# -- public -----------------------------------------------------------------------------------------------------------


def same(one: Routes, other: Routes) -> bool:
    columns = ((one.tests.attribute, other.tests.attribute), (one.tests.kind, other.tests.kind))
    columns += ((one.tests.cut, other.tests.cut), (one.first_child, other.first_child))
    return all(np.array_equal(mine, theirs) for mine, theirs in columns)


@pytest.mark.parametrize("tests", KINDS)
def test_the_same_seed_gives_the_same_trees(tests: Any) -> None:
    lot = RandomTrees(5, 3, tests)
    one, again, other = (lot.draw(MIXED, np.random.default_rng(seed)) for seed in (7, 7, 8))
    assert same(one, again)
    assert not same(one, other)


def test_trees_of_a_forest_differ() -> None:
    routes = RandomTrees(20, 3).draw(MIXED, np.random.default_rng(0))
    assert sum(not same(routes.tree(t), routes.tree(0)) for t in range(1, 20)) >= 15


def test_every_seed_that_the_generator_gives_can_be_used() -> None:
    """Up to 2**32 - 1: the compiled generator takes 32 bits."""

    class Last:
        def integers(self, high: int) -> int:
            return high - 1

    assert len(RandomTrees(1, 3).draw(MIXED, Last())) == 1  # type: ignore[arg-type]


# -- guided by public records -----------------------------------------------------------------------------------------


@given(st.data(), schemas(), st.integers(0, 4), st.integers(1, 30), st.integers(0, 99))
@settings(max_examples=40)
def test_guided_trees_are_allowed_and_have_the_right_records(
    data: st.DataObject, schema: Schema, depth: int, cap: int, seed: int
) -> None:
    records = data.draw(st.integers(0, 40))
    random = np.random.default_rng(seed)
    features = np.array([random.integers(0, arity, records) for arity in schema.arities], np.uint8)
    routes = MedianTrees(depth, max_leaves=cap).draw(schema, features, random)
    leaf = routes.apply(features)[:, 0]
    assert routes.is_leaf.sum() <= cap
    assert routes.level.max() <= depth
    for node, _, domains in nodes_with_domains(routes, 0):
        if not routes.is_leaf[node]:
            assert domains.allowed(routes.tests.take(np.array([node])))[0, 0]
    for i, record in enumerate(features.T):
        node = 0
        while not routes.is_leaf[node]:
            test = routes.tests[node]
            node = int(routes.first_child[node]) + int(test.branch(record[test.attribute : test.attribute + 1])[0])
        assert leaf[i] == node


def test_a_number_is_cut_at_the_median_of_the_public_records() -> None:
    schema = Schema((Numeric("x", 0, 10, bins=10),), Categorical("class", (0, 1)))
    for codes, cut in (([0] * 50 + [9] * 50, range(9)), ([0] * 10 + [6] * 45 + [7] * 45, [6]), ([3] * 9 + [8], [2, 3])):
        routes = MedianTrees(1).draw(schema, np.array([codes], np.uint8), np.random.default_rng(0))
        assert routes.tests.cut[0] in cut
