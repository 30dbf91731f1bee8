"""What a forest of public trees buys: the right counts, at the right price, and no record moves when another leaves."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom
from tree_strategies import all_records

from privet.engines.memory import MemoryEngine
from privet.errors import ParameterError
from privet.growing.forests.leaf_counts import buy_leaf_counts, buy_leaf_labels, leaf_epsilon
from privet.growing.forests.random_trees import RandomTrees
from privet.privacy.counting import Partition
from privet.privacy.dataset import PrivateDataset
from privet.privacy.ledger import Ledger
from privet.schema import Categorical, Numeric, Schema
from privet.structure.routes import Routes
from privet.structure.splits import Multiway
from privet.tables.encoding import Codes
from privet.testing import SeededNoise, ZeroNoise, use_noise

SCHEMA = Schema(
    (Numeric("x", 0, 8, bins=5, missing="?"), Categorical("c", ("u", "v", "w")), Categorical("b", (False, True))),
    Categorical("y", ("a", "b", "c")),
)
RELATIONS = ["add-remove", "replace-one"]


class Scripted(ZeroNoise):
    """No noise, and the coins that it is given: one list for each throw."""

    def __init__(self, *throws: np.ndarray) -> None:
        super().__init__()
        self.throws, self.asked = list(throws), list[tuple[int, int]]()

    def coins(self, sides: int, size: int) -> np.ndarray:
        self.asked.append((sides, size))
        return self.throws.pop(0)[:size]


def table(n: int, seed: int = 0) -> Codes:
    random = np.random.default_rng(seed)
    features = np.array([random.integers(0, arity, n) for arity in SCHEMA.arities], dtype=np.uint8)
    return Codes(features, random.integers(0, SCHEMA.n_classes, n).astype(np.uint8))


def without(codes: Codes, i: int) -> Codes:
    return Codes(np.delete(codes.features, i, axis=1), np.delete(codes.labels, i))  # type: ignore[arg-type]


def protected(codes: Codes, epsilon: Any = 1, neighbours: str = "add-remove") -> PrivateDataset:
    return PrivateDataset(MemoryEngine(SCHEMA, codes), Ledger(epsilon, neighbours=neighbours))


def trees(number: int, depth: int = 2, seed: int = 0) -> Routes:
    return RandomTrees(number, depth, "mixed", distinct_roots=True).draw(SCHEMA, np.random.default_rng(seed))


def by_hand(codes: Codes, routes: Routes, tree_of: Callable[[int], range | list[int]]) -> np.ndarray:
    """(node, class) counts of leaves, a record at a time; NaN elsewhere. ``tree_of`` says where a record goes."""
    counts = np.where(routes.is_leaf[:, None], 0.0, np.nan) * np.ones(SCHEMA.n_classes)
    for i in range(codes.features.shape[1]):
        for t in tree_of(i):
            node = int(routes.roots[t])
            while not routes.is_leaf[node]:
                test = routes.tests[node]
                node = int(routes.first_child[node]) + int(test.branch(codes.features[test.attribute, i : i + 1])[0])
            counts[node, codes.labels[i]] += 1  # type: ignore[index]
    return counts


# -- counts -----------------------------------------------------------------------------------------------------------


@given(st.integers(0, 60), st.integers(1, 5), st.integers(0, 4), st.integers(0, 99))
@settings(max_examples=40)
def test_counts_without_noise_are_those_of_a_walk(n: int, number: int, depth: int, seed: int) -> None:
    codes, routes = table(n, seed), trees(number, depth, seed)
    with use_noise(ZeroNoise()):
        bought = buy_leaf_counts(protected(codes), routes, Fraction(1), "all")
    np.testing.assert_array_equal(bought, by_hand(codes, routes, lambda i: range(number)))
    throws = np.random.default_rng(seed).integers(0, number, n)
    noise = Scripted(throws)
    with use_noise(noise):
        bought = buy_leaf_counts(protected(codes), routes, Fraction(1), "disjoint")
    assert noise.asked == ([(number, n)] if number > 1 else [])  # a coin for each record, and one throw
    np.testing.assert_array_equal(bought, by_hand(codes, routes, lambda i: [int(throws[i])]))


def test_more_records_than_a_block_and_parallel_threads() -> None:
    codes, routes = table(45_000), trees(4, 3)
    with use_noise(ZeroNoise()):
        bought = buy_leaf_counts(protected(codes), routes, Fraction(1), "all")
    expected = np.full_like(bought, np.nan)
    every = all_records(SCHEMA)
    where = by_hand(Codes(every, np.zeros(every.shape[1], np.uint8)), routes, lambda i: range(4))  # each kind once
    assert where[routes.leaves, 0].sum() == 4 * every.shape[1]
    numbers = np.ravel_multi_index(codes.features, SCHEMA.arities)  # type: ignore[call-overload]
    for t in range(4):
        for leaf in routes.leaves[routes.owner[routes.leaves] == t]:
            alone = [i for i in range(every.shape[1]) if leaf_of(routes, t, every[:, i]) == leaf]
            mine = np.isin(numbers, np.ravel_multi_index(every[:, alone], SCHEMA.arities))  # type: ignore[call-overload]
            expected[leaf] = np.bincount(codes.labels[mine], minlength=3)  # type: ignore[index]
    np.testing.assert_array_equal(bought, expected)


def leaf_of(routes: Routes, t: int, record: np.ndarray) -> int:
    node = int(routes.roots[t])
    while not routes.is_leaf[node]:
        test = routes.tests[node]
        node = int(routes.first_child[node]) + int(test.branch(record[test.attribute : test.attribute + 1])[0])
    return node


def test_noise_has_the_scale_that_was_paid_for() -> None:
    """Every draw that is made: 1/epsilon a tree of disjoint ones, trees/epsilon where all records go down every one."""

    class Watched(ZeroNoise):
        def __init__(self) -> None:
            super().__init__()
            self.scales: list[float] = []

        def laplace(self, values: np.ndarray, scale: float) -> np.ndarray:
            self.scales.append(scale)
            return values

    for neighbours, steps in zip(RELATIONS, (1, 2), strict=True):
        for sharing, factor in (("all", 4), ("disjoint", 1)):
            noise = Watched()
            with use_noise(noise):
                buy_leaf_counts(protected(table(9), 1, neighbours), trees(4), Fraction(1, 2), sharing)  # type: ignore[arg-type]
            assert set(noise.scales) == {2 * factor * steps}


# -- prices -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("neighbours", RELATIONS)
@pytest.mark.parametrize("number", [1, 3, 7])
@pytest.mark.parametrize("epsilon", [Fraction(1, 3), Fraction(2)])
def test_what_it_costs(epsilon: Fraction, number: int, neighbours: str) -> None:
    for sharing, each, lines in (("all", epsilon / number, number), ("disjoint", epsilon, 1)):
        assert leaf_epsilon(epsilon, number, sharing) == each  # type: ignore[arg-type]
        data = protected(table(20), 2 * epsilon, neighbours)
        with use_noise(SeededNoise(0)):
            buy_leaf_counts(data, trees(number), epsilon, sharing)  # type: ignore[arg-type]
        charges = data.ledger.certificate().charges
        assert [charge.epsilon for charge in charges] == [each] * lines
        assert [charge.adds for charge in charges] == [each] * lines
        assert data.ledger.spent == epsilon
    data = protected(table(20), 2 * epsilon, neighbours)
    with use_noise(SeededNoise(0)):
        labels = buy_leaf_labels(data, trees(number), epsilon)
    assert data.ledger.spent == epsilon
    assert labels.shape == (len(trees(number).leaves),)


def test_disjoint_trees_are_paid_once_and_the_next_ones_again() -> None:
    """Shards of two forests are not disjoint: a record is in one of each."""
    data = protected(table(20), 3)
    with use_noise(SeededNoise(0)):
        for _ in range(2):
            buy_leaf_counts(data, trees(5), Fraction(1), "disjoint")
        assert data.ledger.spent == 2
        level = data.level(5).descend(trees(5))
        level.class_counts_all(Fraction(1, 4))
        level.class_counts_all(Fraction(1, 4), cells=np.array([0]))  # the same leaf again
    assert data.ledger.spent == Fraction(5, 2)


def test_a_cell_answers_nothing_after_it_was_sent_down() -> None:
    level = protected(table(9)).level()
    below = level.descend(trees(1))
    for ask in (lambda: level.count_all(Fraction(1, 2)), lambda: level.descend(trees(1))):
        with pytest.raises(ParameterError, match="split already"):
            ask()
    with use_noise(ZeroNoise()):
        assert below.count_all(Fraction(1, 2)).sum() == 9


def test_what_was_spent_above_is_carried_down() -> None:
    data = protected(table(9), 3)
    with use_noise(ZeroNoise()):
        level = data.level()
        level.count_all(1)
        below = level.descend(trees(1))
        below.class_counts_all(1)
        assert data.ledger.spent == 2
        below.class_counts_all(1, cells=np.array([1]))
    assert data.ledger.spent == 3


# -- no record moves when another leaves ------------------------------------------------------------------------------


SHARDS = MemoryEngine.shards


def by_position(self: MemoryEngine, cells: Partition, count: int, coins: Any) -> Partition:
    """The fault to be caught: parts of the table, cut by row."""
    coins(count, self._labels.size)
    return SHARDS(self, cells, count, lambda sides, size: np.arange(size) * sides // max(size, 1))


def changed_trees(codes: Codes, leaver: int, routes: Routes, throws: np.ndarray) -> dict[int, float]:
    """Which trees' counts change, and by how much, when one record leaves and the others keep their coins."""
    counts = []
    for who, coins in ((codes, throws), (without(codes, leaver), np.delete(throws, leaver))):
        with use_noise(Scripted(coins)):
            counts.append(buy_leaf_counts(protected(who), routes, Fraction(1), "disjoint")[routes.leaves])
    change = np.abs(counts[0] - counts[1]).sum(axis=1)
    owner = routes.owner[routes.leaves]
    return {int(t): float(change[owner == t].sum()) for t in np.unique(owner[change > 0])}


def test_a_record_that_leaves_changes_its_own_tree_only(monkeypatch: pytest.MonkeyPatch) -> None:
    codes, routes = table(40), trees(4)
    throws = np.random.default_rng(5).integers(0, 4, 40)
    for leaver in range(40):
        assert changed_trees(codes, leaver, routes, throws) == {int(throws[leaver]): 1.0}
    # Whoever cuts the table by position is found out by the same check: others change places.
    monkeypatch.setattr(MemoryEngine, "shards", by_position)
    moved = [changed_trees(codes, leaver, routes, throws) for leaver in range(40)]
    assert any(len(trees) > 1 for trees in moved)
    assert max(sum(trees.values()) for trees in moved) > 1


def places(data: PrivateDataset) -> np.ndarray:
    """The cell of every record in a data set, -1 outside."""
    return data._engine.places(data._cells)  # type: ignore[attr-defined,no-any-return]


# -- samples ----------------------------------------------------------------------------------------------------------


def sampled(codes: Codes, rate: Fraction, noise: Any) -> tuple[np.ndarray, PrivateDataset]:
    """Who entered, by the cells of the sample."""
    data = protected(codes, 10)
    with use_noise(noise):
        sample = data.sample(rate)
    return places(sample), sample


def test_each_record_tosses_its_own_coin() -> None:
    codes = table(30)
    throws = np.random.default_rng(0).integers(0, 5, 30)
    noise = Scripted(throws)
    cells, sample = sampled(codes, Fraction(2, 5), noise)
    assert noise.asked == [(5, 30)]
    np.testing.assert_array_equal(cells, np.where(throws < 2, 0, -1))
    with use_noise(ZeroNoise()):
        assert sample.noisy_count(1) == (throws < 2).sum()
        counts = np.array(list(sample.class_counts(1).values()))
    np.testing.assert_array_equal(counts, np.bincount(codes.labels[throws < 2], minlength=3))  # type: ignore[index]


def test_neighbours_keep_their_places_in_a_sample() -> None:
    codes, throws = table(30), np.random.default_rng(1).integers(0, 3, 30)
    whole, _ = sampled(codes, Fraction(1, 3), Scripted(throws))
    for leaver in range(30):
        fewer, _ = sampled(without(codes, leaver), Fraction(1, 3), Scripted(np.delete(throws, leaver)))
        np.testing.assert_array_equal(fewer, np.delete(whole, leaver))


def enters_at(rate: float, observed: int, n: int) -> bool:
    """A binomial test that fails the true rate with a chance below 1e-6."""
    return bool(2 * min(binom.cdf(observed, n, rate), binom.sf(observed - 1, n, rate)) > 1e-6)


@pytest.mark.parametrize("rate", [Fraction(79, 125), Fraction(1, 7), Fraction("0.5")])
def test_the_rate(rate: Fraction) -> None:
    """With real coins. The same test must reject a rate that is 30 % off."""
    n = 4000
    entered = int((sampled(table(n), rate, SeededNoise(0))[0] == 0).sum())
    real = protected(table(n)).sample(rate)
    for observed in (entered, int((places(real) == 0).sum())):
        assert enters_at(float(rate), observed, n)
        assert not enters_at(0.7 * float(rate), observed, n)
        assert not enters_at(min(1.3 * float(rate), 0.999), observed, n)


def test_a_sample_of_all_is_all_and_samples_differ() -> None:
    everybody, _ = sampled(table(50), Fraction(1), SeededNoise(0))
    assert (everybody == 0).all()
    data = protected(table(50), 10)
    one, other = (places(data.sample(Fraction(1, 2))) for _ in range(2))
    assert not np.array_equal(one, other)  # equal with a chance of 2**-50


def test_a_sample_of_a_part_stays_in_it() -> None:
    codes = table(200)
    data = protected(codes, 10)
    with use_noise(SeededNoise(0)):
        part = data.partition(Multiway(2))[1]
        sample = part.sample(Fraction(1, 2))
        cells = places(sample)
    assert (codes.features[2, cells == 0] == 1).all()
    assert 0 < (cells == 0).sum() < (codes.features[2] == 1).sum()


def test_what_is_asked_of_a_sample_costs_as_ever() -> None:
    """Nothing is claimed for the sampling; and two samples share people, so they add up."""
    data = protected(table(50), 2)
    with use_noise(SeededNoise(0)):
        for _ in range(2):
            data.sample(Fraction(1, 10)).noisy_count(1)
    assert (data.ledger.spent, data.ledger.remaining) == (2, 0)


def test_coins_of_a_test_mark_the_certificate() -> None:
    for draw in (lambda d: d.sample(Fraction(1, 2)), lambda d: d.level(3), lambda d: d.shards(3)):
        data = protected(table(5))
        with use_noise(SeededNoise(0)):
            draw(data)
        assert not data.ledger.certificate().private
    data = protected(table(5))
    data.sample(Fraction(1, 2))
    data.level(3)
    assert data.ledger.certificate().private
