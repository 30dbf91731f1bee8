"""For every recipe, variant, neighbour relation, depth and epsilon: never more than the budget, in exact rationals."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from recipe_fits import EPSILONS, WIDE, Crowded, fit, wide_table

from privet.engines.memory import MemoryEngine
from privet.growing.greedy.candidates import Candidates
from privet.growing.schedules import SCHEDULES
from privet.models.tree import Tree
from privet.models.validation import check_tree
from privet.privacy.budget import epsilon as parse_epsilon
from privet.privacy.dataset import PrivateDataset
from privet.privacy.ledger import Ledger
from privet.recipes.papers.diffpc45 import DiffPC45
from privet.recipes.papers.diffpid3 import DiffPID3
from privet.recipes.papers.sulq import SuLQ
from privet.recipes.recipe import Recipe
from privet.schema import Categorical, Schema
from privet.tables.encoding import Codes, encode_features
from privet.testing import SeededNoise, ZeroNoise, schemas, tables, use_noise

SCORES: list[dict[str, Any]] = [
    {"criterion": "max"},
    {"criterion": "gini"},
    {"criterion": "infogain", "max_records": 1000},
]
COMPOSITIONS: list[tuple[type[Recipe], dict[str, Any]]] = [
    (SuLQ, {}),
    *((DiffPID3, score) for score in SCORES),
    (DiffPID3, {"tests": "binary"}),
    *((DiffPID3, {"schedule": schedule}) for schedule in SCHEDULES[1:]),
    (DiffPC45, {"schedule": "leaves"}),
    (SuLQ, {"schedule": "known"}),
    (DiffPC45, {"confidence": 0.01, "min_samples_leaf": 50}),
    (DiffPID3, {"tests": "mixed", "mechanism": "permute-and-flip"}),
    *((DiffPC45, score) for score in SCORES),
    *((DiffPC45, {"numeric": numeric, "prune": False}) for numeric in ("joint", "points", "bins")),
    (DiffPC45, {"tests": "mixed", "size_share": 0}),
    (DiffPC45, {"tests": "multiway", "numeric": "points"}),
    (DiffPC45, {"mechanism": "permute-and-flip", "size_share": 0.1}),
]
compositions = pytest.mark.parametrize(
    ("kind", "options"), COMPOSITIONS, ids=[f"{k.info.name}-{'-'.join(map(str, o.values()))}" for k, o in COMPOSITIONS]
)


@compositions
@given(data=st.data(), schema=schemas(), epsilon=EPSILONS, depth=st.integers(0, 4), seed=st.integers(0, 99))
@settings(max_examples=15)  # of each of some twenty compositions
def test_never_more_than_epsilon_and_no_table_is_refused(
    kind: type[Recipe],
    options: dict[str, Any],
    data: st.DataObject,
    schema: Schema,
    epsilon: Any,
    depth: int,
    seed: int,
) -> None:
    """Dirty tables and empty ones are fitted like any other: an error that depends on a row would be a release."""
    variant = data.draw(st.sampled_from(kind.info.variants))
    neighbours = data.draw(st.sampled_from(["add-remove", "replace-one"]))
    recipe = kind(variant=variant, max_depth=depth, max_bins=3, **options)
    table = data.draw(tables(schema))
    tree, ledger = fit(recipe, schema, table, epsilon, SeededNoise(seed), neighbours)
    assert isinstance(ledger.spent, Fraction)
    assert 0 < ledger.spent <= parse_epsilon(epsilon)
    check_tree(tree)
    assert tree.depth <= depth
    tree.predict_proba(encode_features(tree.schema, table))


@compositions
@given(data=st.data(), schema=schemas(), epsilon=EPSILONS, depth=st.integers(0, 30))
@settings(max_examples=15)  # of each of some twenty compositions
def test_a_path_of_full_depth_spends_it_all(
    kind: type[Recipe], options: dict[str, Any], data: st.DataObject, schema: Schema, epsilon: Any, depth: int
) -> None:
    """Depth beyond the attributes is clamped, so that nothing is saved for levels that cannot be."""
    options = options | ({"prune": False} if kind is DiffPC45 else {})
    recipe = kind(variant=data.draw(st.sampled_from(kind.info.variants)), max_depth=depth, max_bins=2, **options)
    tree, ledger = fit(recipe, schema, data.draw(tables(schema)), epsilon, Crowded())
    deepest = deepest_tree(recipe, tree.schema)
    assert tree.depth <= min(depth, deepest)
    points = getattr(recipe, "numeric", "") == "points" or (kind is DiffPC45 and recipe.as_published)
    if tree.depth == min(depth, deepest) and not points:
        assert ledger.spent == parse_epsilon(epsilon)
    assert ledger.spent <= parse_epsilon(epsilon)


def deepest_tree(recipe: Recipe, schema: Schema) -> int:
    """The most tests on a path, by hand: an attribute of k codes can be cut k - 1 times, or once into k."""
    kind = "multiway" if isinstance(recipe, SuLQ) else recipe.tests  # type: ignore[attr-defined]
    if isinstance(recipe, DiffPC45):
        bins = recipe.numeric == "bins"
        kind = "multiway" if bins else "mixed" if recipe.as_published and kind == "binary" else kind
    cuts = 0
    for attribute in schema.attributes:
        once = kind == "multiway" or (kind == "mixed" and isinstance(attribute, Categorical))
        cuts += min(1, attribute.arity - 1) if once else attribute.arity - 1
    return cuts


@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
@pytest.mark.parametrize("depth", [0, 1, 3])
@pytest.mark.parametrize("epsilon", [Fraction(1, 10), 0.7, 3])
class TestPublishedFormulas:
    """As published every question costs the same, and the ledger's lines show it."""

    def units(self, recipe: Recipe, epsilon: Any, neighbours: str) -> set[Fraction]:
        _, ledger = fit(recipe, WIDE, wide_table(), epsilon, Crowded(), neighbours)
        assert ledger.spent == parse_epsilon(epsilon)
        return {charge.epsilon for charge in ledger.certificate().charges}

    def test_diffpid3(self, epsilon: Any, depth: int, neighbours: str) -> None:
        for variant in DiffPID3.info.variants:
            expected = Fraction(str(epsilon)) / (2 * (depth + 1))
            assert self.units(DiffPID3(variant, depth), epsilon, neighbours) == {expected}

    def test_diffpc45_points(self, epsilon: Any, depth: int, neighbours: str) -> None:
        expected = Fraction(str(epsilon)) / ((2 + 2) * depth + 2)
        assert self.units(DiffPC45("as-published", depth), epsilon, neighbours) == {expected}

    def test_diffpc45_joint(self, epsilon: Any, depth: int, neighbours: str) -> None:
        expected = Fraction(str(epsilon)) / (2 * (depth + 1))
        assert self.units(DiffPC45("sound", depth, size_share=1), epsilon, neighbours) == {expected}

    def test_sulq(self, epsilon: Any, depth: int, neighbours: str) -> None:
        unit = Fraction(str(epsilon)) / (2 * (depth + 1))
        halves = {unit / 2} if depth else set()  # bin counts and class counts of a split
        assert self.units(SuLQ("as-published", depth), epsilon, neighbours) == {unit} | halves
        once = Fraction(str(epsilon)) / (2 * depth + 1)
        assert self.units(SuLQ("sound", depth), epsilon, neighbours) == {once}


@compositions
def test_an_empty_table_fits(kind: type[Recipe], options: dict[str, Any]) -> None:
    empty = {name: [] for name in (*WIDE.names, "ill")}
    for variant in kind.info.variants:
        recipe = kind(variant=variant, max_depth=2, max_bins=3, **options)
        tree, ledger = fit(recipe, WIDE, empty)
        assert ledger.spent <= 1
        assert tree.predict(encode_features(tree.schema, wide_table(5))).shape == (5,)


def same(one: Tree, other: Tree) -> bool:
    columns = ("attribute", "kind", "cut", "first_child", "label", "proba", "counts")
    return all(np.array_equal(getattr(one, c), getattr(other, c), equal_nan=c == "counts") for c in columns)


@compositions
def test_seeded_noise_repeats(kind: type[Recipe], options: dict[str, Any]) -> None:
    recipe = kind(max_depth=3, max_bins=4, **options)
    one, again, other = (fit(recipe, WIDE, wide_table(), 1, SeededNoise(seed))[0] for seed in (7, 7, 8))
    assert same(one, again)
    assert not same(one, other)


def test_the_order_of_records_does_not_show() -> None:
    table = wide_table()
    turned = {name: column[::-1].copy() for name, column in table.items()}
    for kind in (SuLQ, DiffPID3, DiffPC45):
        one, other = (fit(kind(), WIDE, t, 1, SeededNoise(3))[0] for t in (table, turned))
        assert same(one, other)


def test_a_schema_without_any_test_is_a_leaf() -> None:
    schema = Schema((Categorical("one", ("x",)),), Categorical("ill", ("no", "yes")))
    for kind in (SuLQ, DiffPID3, DiffPC45):
        tree, ledger = fit(kind(), schema, {"one": ["x"] * 9, "ill": ["yes"] * 9}, 5, ZeroNoise())
        assert len(tree) == 1
        assert tree.label[0] == 1
        assert ledger.spent == 5
    assert len(Candidates.of(schema, "mixed").tests) == 0


def test_records_beyond_the_codes_of_a_byte() -> None:
    """An attribute of more than 256 values has codes of two bytes."""
    schema = Schema((Categorical("zip", tuple(range(300))),), Categorical("ill", ("no", "yes")))
    codes = Codes(np.arange(300, dtype=np.uint16)[None, :], (np.arange(300) >= 150).astype(np.uint8))
    data = PrivateDataset(MemoryEngine(schema, codes), Ledger(10**6))
    with use_noise(ZeroNoise()):
        tree = DiffPID3(max_depth=1).grow(data, Fraction(10**6), np.random.default_rng(0))
    assert np.array_equal(tree.predict(codes.features), codes.labels)
