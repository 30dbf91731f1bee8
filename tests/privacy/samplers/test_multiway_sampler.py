"""Blocks of multiway levels: probabilities against enumeration, rounding against decimals, loss against epsilon."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pytest

from privet.engines.memory import MemoryEngine
from privet.errors import BudgetExceeded, ParameterError, ReceiptError
from privet.growing.greedy.candidates import Domains
from privet.growing.whole.blocks import block_space
from privet.privacy.counting import ROOT, Tally
from privet.privacy.dataset import PrivateDataset
from privet.privacy.ledger import Ledger
from privet.privacy.samplers.multiway_sampler import Weights
from privet.privacy.samplers.tree_sampler import sample_tree
from privet.privacy.samplers.tree_space import Drawn, TreeSpace, entries
from privet.schema import Categorical, Schema
from privet.structure.splits import Multiway, Tests
from privet.tables.encoding import Codes
from privet.testing import ReplayNoise, use_noise
from privet.testing.noise import ScriptEnded

Tree = tuple[int, tuple[Any, ...]]  # (test, children), () for a leaf


def toy(arities: tuple[int, ...], records: int, seed: int = 0, classes: int = 2) -> tuple[Schema, Codes]:
    attributes = tuple(Categorical(f"a{i}", tuple(range(arity))) for i, arity in enumerate(arities))
    schema = Schema(attributes, Categorical("c", tuple(range(classes))))
    rng = np.random.default_rng(seed)
    features = np.array([rng.integers(0, arity, records) for arity in arities], dtype=np.uint8)
    labels = ((features[0] + (rng.random(records) < 0.3)) % classes).astype(np.uint8)
    return schema, Codes(features, labels)


def all_trees(arities: tuple[int, ...], depth: int, used: frozenset[int] = frozenset()) -> Iterator[Any]:
    if depth == 0:
        yield ()
        return
    for a, arity in enumerate(arities):
        if a not in used:
            below = list(all_trees(arities, depth - 1, used | {a}))
            yield from ((a, children) for children in product(below, repeat=arity))


def gini(labels: np.ndarray, classes: int) -> float:
    counts = np.bincount(labels, minlength=classes)
    return -float(counts.sum() - (counts**2).sum() / max(counts.sum(), 1))


def score(tree: Any, codes: Codes, classes: int, rows: np.ndarray | None = None) -> float:
    assert codes.labels is not None
    rows = np.arange(codes.labels.size) if rows is None else rows
    if not tree:
        return gini(codes.labels[rows], classes)
    a, children = tree
    return sum(score(child, codes, classes, rows[codes.features[a][rows] == v]) for v, child in enumerate(children))


def log_prior(tree: Any, left: int) -> float:
    return -math.log(left) + sum(log_prior(child, left - 1) for child in tree[1]) if tree else 0.0


def nested(drawn: Drawn, arities: tuple[int, ...], node: int = 0) -> Any:
    tests, _ = drawn
    test, first = tests[node], 1 + sum(arities[above] for above in tests[:node] if above >= 0)
    return (test, tuple(nested(drawn, arities, first + k) for k in range(arities[test]))) if test >= 0 else ()


def draw(schema: Schema, codes: Codes, space: TreeSpace, epsilon: object, **options: Any) -> Drawn:
    data = PrivateDataset(MemoryEngine(schema, codes), Ledger(epsilon, **options))
    return data.level().sample_trees_all([space], epsilon)[0]


def prepared(schema: Schema, codes: Codes, space: TreeSpace, epsilon: Fraction) -> Weights:
    """The weights that a fit adds up before it draws, to draw from more than once."""
    engine = MemoryEngine(schema, codes)
    return Weights(engine, ROOT, space, float(epsilon - space.rounding(epsilon)))


def law(arities: tuple[int, ...], act: Callable[[], Drawn]) -> dict[Any, float]:
    """The probability of every tree, by following every outcome of the kernel's own draws."""
    found: dict[Any, float] = {}
    waiting: list[tuple[int, ...]] = [()]
    while waiting:
        noise = ReplayNoise(waiting.pop())
        with use_noise(noise):
            try:
                tree = nested(act(), arities)
            except ScriptEnded as ended:
                waiting += [(*noise.script, i) for i in range(len(ended.draw.values))]
                continue
        found[tree] = found.get(tree, 0.0) + math.exp(noise.log_probability)
    return found


@pytest.mark.parametrize("measure", ["attributes", "subtrees"])
@pytest.mark.parametrize(
    ("arities", "depth", "classes"),
    [((2, 3, 4), 1, 2), ((2, 3, 2), 2, 2), ((3, 2, 2), 2, 3), ((2, 2, 2, 2), 3, 2), ((2, 2), 2, 2)],
)
def test_probabilities_equal_enumeration(arities: tuple[int, ...], depth: int, classes: int, measure: Any) -> None:
    schema, codes = toy(arities, 40, classes=classes)
    space = block_space(Tests.multiway(schema), classes, depth, measure)
    epsilon = Fraction(3, 10)
    found = law(arities, prepared(schema, codes, space, epsilon).draw)
    if depth < 3:  # the whole way through level and receipt, which adds the weights up anew for every tree
        through = law(arities, lambda: draw(schema, codes, space, epsilon))
        assert found == pytest.approx(through, abs=1e-13)
    trees = list(all_trees(arities, depth))
    half = float(epsilon - space.rounding(epsilon)) / 2
    prior = np.array([log_prior(tree, len(arities)) if measure == "attributes" else 0.0 for tree in trees])
    logs = prior + half * np.array([score(tree, codes, classes) for tree in trees])
    expected = np.exp(logs - logs.max())
    expected /= expected.sum()
    assert found.keys() == set(trees)
    assert np.abs(np.array([found[tree] for tree in trees]) - expected).max() < 1e-12


def test_real_draws_follow_the_law() -> None:
    schema, codes = toy((2, 3, 2), 30)
    space = block_space(Tests.multiway(schema), 2, 2)
    weights, runs = prepared(schema, codes, space, Fraction(1)), 4000
    expected = law(schema.arities, weights.draw)
    seen = Counter(nested(weights.draw(), schema.arities) for _ in range(runs))
    assert seen.keys() <= expected.keys()
    # Rare trees are pooled until each cell expects ten.
    observed, wanted, pool = [], [], [0.0, 0.0]
    for tree, p in expected.items():
        if runs * p >= 10:
            observed.append(float(seen[tree]))
            wanted.append(runs * p)
        else:
            pool = [pool[0] + seen[tree], pool[1] + runs * p]
    cells = [*zip(observed, wanted, strict=True), *([(pool[0], pool[1])] if pool[1] else [])]
    chi2 = sum((o - e) ** 2 / e for o, e in cells)
    freedom = len(cells) - 1
    assert chi2 < freedom + 5 * math.sqrt(2 * freedom) + 10, (chi2, freedom)


@pytest.mark.parametrize("measure", ["attributes", "subtrees"])
@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
def test_no_pair_of_neighbours_loses_more_than_epsilon(neighbours: str, measure: Any) -> None:
    epsilon, worst = 1.5, 0.0
    for seed, records in product(range(2), (0, 1, 5, 40)):
        schema, codes = toy((2, 3, 2), records + 2, seed)
        assert codes.labels is not None
        space = block_space(Tests.multiway(schema), 2, 2, measure)
        keep = records + 1 if neighbours == "replace-one" else records + 2
        first = Codes(codes.features[:, :keep].copy(), codes.labels[:keep])
        drop = [*range(records), records + 1] if neighbours == "replace-one" else [*range(records + 1)]
        second = Codes(codes.features[:, drop].copy(), codes.labels[drop])
        one, other = (
            law(schema.arities, partial(draw, schema, table, space, epsilon, neighbours=neighbours))
            for table in (first, second)
        )
        worst = max(worst, *(abs(math.log(one[tree] / other[tree])) for tree in one))
    assert worst <= epsilon + 1e-9
    assert worst > epsilon / 8  # the test would see a mechanism that draws at random


class Crowd(MemoryEngine):
    """Each record stands for many: counts as large as the rounding bound speaks about, without as many records."""

    def __init__(self, schema: Schema, codes: Codes, weights: np.ndarray) -> None:
        super().__init__(schema, codes)
        self._weights = weights

    def _tally(self, tally: Tally) -> np.ndarray:
        """Every record counts as often as its weight says."""
        places, offsets = self.places(tally.cells), tally.offsets(self.schema)
        counts = np.zeros((tally.cells.size, offsets[-1], self.schema.n_classes), dtype=np.int64)
        for names, offset in zip(tally.tuples, offsets, strict=False):
            codes = np.zeros(places.size, dtype=np.int64)
            for a in names:
                codes = codes * self.schema.arities[a] + self._features[a]
            inside = places >= 0
            where = places[inside], offset + codes[inside], self._labels[inside]
            np.add.at(counts, where, self._weights[inside])
        return counts


@pytest.mark.parametrize("epsilon", [Fraction(1, 1000), Fraction(1), Fraction(50)])
@pytest.mark.parametrize(("arities", "depth"), [((2, 3, 2), 2), ((3, 2, 2, 2), 3), ((9, 7), 1)])
def test_weights_are_within_the_rounding_bound(arities: tuple[int, ...], depth: int, epsilon: Fraction) -> None:
    schema, codes = toy(arities, 60)
    assert codes.labels is not None
    weights = np.random.default_rng(1).integers(1, 2**26, 60)
    tests = Tests.multiway(schema)
    space = block_space(tests, 2, depth)
    half = float(epsilon / 2)
    engine = Crowd(schema, codes, weights)
    found = Weights(engine, ROOT, space, 2 * half)
    bound = Decimal(float(space.rounding(epsilon))) / (4 * depth)
    labels = codes.labels

    with localcontext() as context:
        context.prec = 60

        def total(rows: np.ndarray, path: tuple[int, ...]) -> Decimal:
            terms = [term(rows, path, a) for a in range(len(arities)) if a not in path]
            most = max(terms)
            return most + sum((t - most).exp() for t in terms).ln()

        def term(rows: np.ndarray, path: tuple[int, ...], a: int) -> Decimal:
            parts = [rows[codes.features[a][rows] == v] for v in range(arities[a])]
            below = [leaf(part) if len(path) + 1 == depth else total(part, (*path, a)) for part in parts]
            return sum(below, Decimal(0)) + Decimal(-math.log(len(arities) - len(path)))

        def leaf(rows: np.ndarray) -> Decimal:
            counts = [int(weights[rows[labels[rows] == c]].sum()) for c in range(2)]
            n = sum(counts)
            exact = Fraction(sum(c * c for c in counts), max(n, 1)) - n
            return Decimal(half) * Decimal(exact.numerator) / Decimal(exact.denominator)

        worst = max(abs(Decimal(float(found.terms[()][a])) - term(np.arange(60), (), a)) for a in range(len(arities)))
    assert worst <= bound


def test_the_bound_is_small_and_grows_with_the_space() -> None:
    schema, _ = toy((3,) * 16, 1)
    at = [block_space(Tests.multiway(schema), 2, depth).rounding(Fraction(1)) for depth in (1, 2, 3, 4)]
    assert at == sorted(at)
    assert at[-1] < Fraction(1, 1000)


def test_what_cannot_be_drawn_is_refused_before_it_is_charged() -> None:
    schema, codes = toy((2, 3, 2), 10)
    tests = Tests.multiway(schema)
    data = PrivateDataset(MemoryEngine(schema, codes), Ledger(1))
    ask = data.level().sample_trees_all
    wide, _ = toy((3,) * 20, 1)
    for spaces, epsilon, says in [
        ([block_space(tests, 2, 3)], Fraction(1, 10**13), "too small"),
        ([block_space(tests, 2, 1)] * 2, 1, "one entry for each cell"),
        ([block_space(Tests.multiway(wide), 2, 1)], 1, "the schema of the records does not have"),
    ]:
        with pytest.raises(ParameterError, match=says):
            ask(spaces, epsilon)
    with pytest.raises(ParameterError, match="draw fewer levels at once"):
        block_space(Tests.multiway(wide), 2, 9).check(Fraction(1), wide)
    short = replace(block_space(tests, 2, 1), possible=np.ones(6, dtype=bool))
    decided = replace(short, possible=np.array([1, 1, 1, 0, 0, 1, 1], dtype=bool))
    for space in (short, decided, replace(decided, possible=decided.possible.astype(int))):  # type: ignore[union-attr]
        with pytest.raises(ParameterError, match="leave every test open"):
            ask([space], 1)
    assert data.ledger.spent == 0
    with pytest.raises(BudgetExceeded):
        ask([block_space(tests, 2, 1)], 2)
    assert data.ledger.spent == 0


@pytest.mark.parametrize("change", [{"leaf_prior": (0.5,)}, {"labelled": True, "by_subtree": True}])
def test_invalid_spaces(change: dict[str, Any]) -> None:
    schema, _ = toy((2, 3, 2), 1)
    with pytest.raises(ParameterError, match="without labels"):
        replace(block_space(Tests.multiway(schema), 2, 2), **change)
    with pytest.raises(ParameterError, match="lower max_depth"):
        block_space(Tests.multiway(schema), 2, 4)
    with pytest.raises(ParameterError, match="multiway"):
        block_space(Tests.binary(schema), 2, 1)
    with pytest.raises(ParameterError, match="one multiway test for an attribute"):
        block_space(Tests.of(schema, [Multiway(0), Multiway(1), Multiway(0)]), 2, 1)


def test_a_receipt_is_good_for_one_draw() -> None:
    schema, codes = toy((2, 3, 2), 10)
    engine, receipt = MemoryEngine(schema, codes), Ledger(1).charge(1, "a block")
    space = block_space(Tests.multiway(schema), 2, 1)
    sample_tree(engine, 0, ROOT, space, receipt)
    with pytest.raises(ReceiptError):
        sample_tree(engine, 0, ROOT, space, receipt)


def test_cells_draw_from_their_own_records_and_attributes() -> None:
    schema, codes = toy((2, 2, 2), 400)
    data = PrivateDataset(MemoryEngine(schema, codes), Ledger(2000))
    level, domains = data.level().split([Multiway(1)]), Domains.whole(schema).split([Multiway(1)])
    space = block_space(Tests.multiway(schema), 2, 2)
    spaces, rows = zip(*map(space.below, domains.possible, domains.allowed(space.tests)), strict=True)
    assert [row.tolist() for row in rows] == [[0, 2]] * 2
    drawn = level.sample_trees_all(spaces, 1000)
    # The label follows attribute 0: with so much epsilon it is asked in every subtree.
    assert all(0 in tests for tests, _ in drawn)
    assert data.ledger.spent == 1000


def test_entries_count_every_weight() -> None:
    schema, codes = toy((2, 3, 4), 5)
    engine = MemoryEngine(schema, codes)
    for depth in (1, 2, 3):
        space = block_space(Tests.multiway(schema), 2, depth)
        held = Weights(engine, ROOT, space, 1.0).terms
        assert entries(space.tests, depth) == sum(terms.size for terms in held.values())
