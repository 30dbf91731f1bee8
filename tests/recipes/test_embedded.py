"""Bai et al.'s embedding: sound by default, leaky by name only, and paid for as its formula says."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import privet
from privet import Ledger
from privet.datasets.real import load
from privet.engines.memory import MemoryEngine
from privet.errors import ParameterError, PrivacyError
from privet.growing.prelude import Prelude
from privet.growing.whole import blocks as growing
from privet.models.tree import Tree
from privet.models.validation import check_tree
from privet.papers import EmbeddedTreeClassifier
from privet.privacy.dataset import PrivateDataset
from privet.recipes.papers.embedded import WHY, Embedded
from privet.recipes.unsound.nonprivate import open_engine
from privet.schema import Categorical, Schema
from privet.structure.splits import Kind
from privet.tables.encoding import Codes, encode, encode_features
from privet.testing import SeededNoise, ZeroNoise, schemas, tables, use_noise

ARITIES = (2, 3, 4, 2, 2)
SCHEMA = Schema(
    tuple(Categorical(f"a{i}", tuple(range(arity))) for i, arity in enumerate(ARITIES)), Categorical("c", (0, 1))
)
PUBLISHED: list[dict[str, Any]] = [
    {"embedding_depth": 1},
    {"embedding_depth": 2},
    {"embedding_depth": 2, "search": "mcmc"},
    {"embedding_depth": 3},
    {"embedding_depth": "whole"},
]
SHORT = {"variant": "as-published", "buffer": 10, "step_limit": 40}


def codes(records: int = 400, seed: int = 0) -> Codes:
    rng = np.random.default_rng(seed)
    features = np.array([rng.integers(0, arity, records) for arity in ARITIES], dtype=np.uint8)
    return Codes(features, ((features[0] ^ features[3]) ^ (rng.random(records) < 0.1)).astype(np.uint8))


def grow(recipe: Embedded, table: Codes, epsilon: Any = 1, noise: Any = None, **options: Any) -> tuple[Tree, Ledger]:
    ledger = Ledger(epsilon, **options)
    if recipe.as_published:
        ledger.allow_nonprivate()
    data = PrivateDataset(MemoryEngine(SCHEMA, table), ledger)
    with use_noise(noise or SeededNoise(0)):
        tree = recipe.grow_model(Prelude(data, Fraction(epsilon)), np.random.default_rng(0))
    assert isinstance(tree, Tree)
    return tree, ledger


def paths(tree: Tree, node: int = 0, used: tuple[int, ...] = ()) -> list[tuple[int, ...]]:
    if tree.is_leaf[node]:
        return [used]
    below = (*used, int(tree.attribute[node]))
    return [path for child in tree.children(node) for path in paths(tree, int(child), below)]


# ---- sound ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("embedding", [1, 2, 3, "whole"])
@pytest.mark.parametrize("depth", [0, 1, 2, 4, 9])
def test_every_path_is_full_and_asks_nothing_twice(depth: int, embedding: Any) -> None:
    tree, ledger = grow(Embedded(max_depth=depth, embedding_depth=embedding), codes())
    check_tree(tree)
    assert {len(path) for path in paths(tree)} == {min(depth, 5)}
    assert all(len(set(path)) == len(path) for path in paths(tree))
    assert set(tree.kind[~tree.is_leaf].tolist()) <= {Kind.MULTIWAY}
    assert ledger.spent == 1


@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
@pytest.mark.parametrize("variant", ["sound", "as-published"])
@pytest.mark.parametrize(("depth", "d"), [(4, 1), (4, 2), (4, 3), (4, "whole"), (3, 2), (0, 1)])
def test_blocks_and_leaves_cost_the_same(depth: int, d: Any, variant: str, neighbours: str) -> None:
    recipe = Embedded(variant=variant, max_depth=depth, embedding_depth=d, min_records=0, step_limit=5, buffer=5)
    _, ledger = grow(recipe, codes(), Fraction(3, 10), neighbours=neighbours)
    blocks = math.ceil(depth / (depth if d == "whole" else d)) if depth else 0
    assert {charge.epsilon for charge in ledger.certificate().charges} == {Fraction(3, 10) / (blocks + 1)}
    assert ledger.spent == Fraction(3, 10)


@pytest.mark.parametrize("variant", ["sound", "as-published"])
def test_a_schedule_weighs_the_blocks(variant: str) -> None:
    recipe = Embedded(variant, 4, 1, schedule="root", min_records=0, step_limit=5, buffer=5)
    _, ledger = grow(recipe, codes())
    assert [charge.adds for charge in ledger.certificate().charges] == [Fraction(n, 6) for n in (2, 1, 1, 1, 1)]
    assert ledger.spent == 1
    with pytest.raises(ParameterError, match="schedule"):
        Embedded(schedule="late")  # type: ignore[arg-type]  # there are no sizes


@given(data=st.data(), schema=schemas(), depth=st.integers(0, 3), d=st.sampled_from([1, 2, "whole"]))
@settings(max_examples=25)
def test_never_more_than_epsilon_and_no_table_is_refused(
    data: st.DataObject, schema: Schema, depth: int, d: Any
) -> None:
    variant = data.draw(st.sampled_from(Embedded.info.variants))
    recipe = Embedded(variant=variant, max_depth=depth, embedding_depth=d, max_bins=3, buffer=5, step_limit=10)
    prepared, table = recipe.prepare(schema), data.draw(tables(schema))
    ledger = Ledger(3).allow_nonprivate()
    with use_noise(SeededNoise(1)):
        dataset = PrivateDataset(MemoryEngine(prepared, encode(prepared, table)), ledger)
        tree = recipe.grow_model(Prelude(dataset, Fraction(1)), np.random.default_rng(0))
    assert isinstance(tree, Tree)
    check_tree(tree)
    assert ledger.spent <= 1
    tree.predict_proba(encode_features(prepared, table))


def test_with_a_large_epsilon_one_block_finds_what_single_levels_cannot() -> None:
    """The label is the exclusive or of two attributes: alone neither helps, together they say everything."""
    table = codes(2000)
    whole, _ = grow(Embedded(max_depth=2), table, 100)
    assert all(set(path) == {0, 3} for path in paths(whole))
    assert (whole.predict(table.features) == table.labels).mean() > 0.88
    single = [grow(Embedded(max_depth=2, embedding_depth=1), table, 100, SeededNoise(i))[0] for i in range(6)]
    assert any(set(path) != {0, 3} for tree in single for path in paths(tree))


def test_too_many_leaves_are_cut_by_a_public_cap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(growing, "MAX_LEAVES", 10)
    for d in (1, 2, "whole"):
        tree, ledger = grow(Embedded(max_depth=4, embedding_depth=d), codes())
        check_tree(tree)
        assert tree.is_leaf.sum() <= 10
        assert not np.isnan(tree.counts).any()
        assert ledger.spent <= 1


def test_a_schema_without_a_test_is_a_leaf() -> None:
    schema = Schema((Categorical("one", ("x",)),), Categorical("c", (0, 1)))
    for variant in Embedded.info.variants:
        ledger = Ledger(5).allow_nonprivate()
        data = PrivateDataset(MemoryEngine(schema, encode(schema, {"one": ["x"] * 9, "c": [1] * 9})), ledger)
        with use_noise(ZeroNoise()):
            tree = Embedded(variant=variant).grow_model(Prelude(data, Fraction(5)), np.random.default_rng(0))
        assert isinstance(tree, Tree)
        assert (len(tree), int(tree.label[0])) == (1, 1)


def test_an_attribute_with_more_values_gains_nothing_a_priori() -> None:
    """As published each subtree has the same prior, and the attribute of four values the most subtrees."""
    empty = codes(0)

    def roots(measure: str) -> float:
        recipe = Embedded(max_depth=2, measure=measure)
        trees = (grow(recipe, empty, 1, SeededNoise(i))[0] for i in range(150))
        return float(np.mean([tree.attribute[0] == 2 for tree in trees]))

    assert roots("attributes") < 0.4
    assert roots("subtrees") > 0.6  # 4^4 of the 4^2 + 4^3 + 4^4 + 4^2 + 4^2 subtrees


# ---- as published ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", PUBLISHED)
def test_as_published_grows_and_says_that_it_leaks(options: dict[str, Any]) -> None:
    tree, ledger = grow(Embedded(max_depth=4, **SHORT, **options), codes())
    check_tree(tree)
    assert all(len(set(path)) == len(path) <= 4 for path in paths(tree))
    certificate = ledger.certificate()
    assert not certificate.private
    assert math.isinf(certificate.epsilon)
    assert any("true size and purity" in caveat.text and caveat.voids for caveat in certificate.caveats)


def test_nineteen_records_or_twenty_decide_the_structure() -> None:
    """Its loss is infinite: with 19 records a tree never splits, with 20 it always does."""
    for records, splits in ((19, False), (20, True)):
        table = codes(records)
        trees = [grow(Embedded(max_depth=2, **SHORT), table, Fraction(1, 100), SeededNoise(i))[0] for i in range(5)]
        assert all((len(tree) > 1) == splits for tree in trees)
    for records in (0, 19):  # the sound form never looks
        assert {len(p) for p in paths(grow(Embedded(max_depth=2), codes(records), Fraction(1, 100))[0])} == {2}


def test_it_cannot_be_had_by_accident() -> None:
    table = {f"a{i}": column for i, column in enumerate(codes().features.tolist())}
    labels = codes().labels
    shared = Ledger(5)
    leaky = EmbeddedTreeClassifier(SCHEMA, variant="as-published", step_limit=5, ledger=shared)
    with pytest.raises(PrivacyError, match="sound"):
        leaky.fit(table, labels)
    assert shared.spent == 0
    assert shared.certificate().private
    alone = leaky.set_params(ledger=None).fit(table, labels)
    assert not alone.certificate_.private
    assert EmbeddedTreeClassifier(SCHEMA, ledger=shared, max_depth=2).fit(table, labels).certificate_.private
    for search in ("exhaustive", "mcmc"):
        with pytest.raises(ParameterError, match="as-published"):
            EmbeddedTreeClassifier(SCHEMA, search=search).fit(table, labels)


def test_the_engine_opens_only_on_a_ledger_that_allows_it() -> None:
    data = PrivateDataset(MemoryEngine(SCHEMA, codes()), Ledger(1))
    with pytest.raises(PrivacyError, match="this ledger protects a budget"):
        open_engine(data, "a look inside", "it reads exact counts")
    assert data.certificate().private
    data = PrivateDataset(MemoryEngine(SCHEMA, codes()), Ledger(1).allow_nonprivate())
    engine, _ = open_engine(data, "a look inside", "it reads exact counts")
    assert engine.schema is SCHEMA
    assert not data.certificate().private


def test_random_state_does_not_seed_the_chain() -> None:
    table = {f"a{i}": column for i, column in enumerate(codes().features.tolist())}
    grown = {
        tuple(
            EmbeddedTreeClassifier(SCHEMA, 0.01, variant="as-published", step_limit=3, random_state=0)
            .fit(table, codes().labels)
            .tree_.attribute.tolist()
        )
        for _ in range(8)
    }
    assert len(grown) > 1


def test_seeded_noise_repeats() -> None:
    for options in ({}, SHORT):
        one, again, other = (grow(Embedded(**options), codes(), 1, SeededNoise(i))[0] for i in (3, 3, 4))  # type: ignore[arg-type]
        assert np.array_equal(one.attribute, again.attribute)
        assert np.array_equal(one.counts, again.counts)
        assert not (len(one) == len(other) and np.array_equal(one.counts, other.counts))


# ---- parameters -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"embedding_depth": 0}, "embedding_depth"),
        ({"embedding_depth": "all"}, "embedding_depth"),
        ({"max_depth": -1}, "max_depth"),
        ({"search": "greedy"}, "search"),
        ({"measure": "leaves"}, "measure"),
        ({"buffer": 0}, "buffer"),
        ({"step_limit": 1.5}, "step_limit"),
        ({"variance_threshold": -1}, "variance_threshold"),
        ({"variance_threshold": math.nan}, "variance_threshold"),
        ({"min_records": -1}, "min_records"),
        ({"search": "mcmc"}, "as-published"),
        ({"variant": "as-published", "search": "exact"}, "not published"),
        ({"variant": "as-published", "measure": "attributes"}, "not published"),
        ({"variant": "as-published", "search": "exhaustive", "embedding_depth": 3}, "must be 1 or 2"),
        ({"variant": "as-published", "search": "exhaustive"}, "must be 1 or 2"),
    ],
)
def test_invalid_parameters(options: dict[str, Any], says: str) -> None:
    with pytest.raises(ParameterError, match=says):
        Embedded(**options)


def test_the_papers_chains_are_the_defaults() -> None:
    schema = Schema(tuple(Categorical(f"a{i}", (0, 1)) for i in range(16)), Categorical("c", (0, 1)))
    for d, buffer, steps in ((2, 50, 500), (3, 50, 1000), ("whole", 500, 10_000)):
        recipe = Embedded(variant="as-published", max_depth=7, embedding_depth=d)  # type: ignore[arg-type]
        chain = recipe.chain(recipe.blocks(schema))
        assert (chain.buffer, chain.step_limit) == (buffer, steps)


def test_what_is_too_large_to_list_goes_to_the_chain() -> None:
    """Mushroom's two-level block: 21^12 subtrees below a single attribute."""
    arities = (12, 9, 9, 9, 10, 7, 7)
    schema = Schema(
        tuple(Categorical(f"a{i}", tuple(range(a))) for i, a in enumerate(arities)), Categorical("c", (0, 1))
    )
    features = np.array([np.random.default_rng(i).integers(0, a, 100) for i, a in enumerate(arities)], dtype=np.uint8)
    table = Codes(features, (features[0] > 5).astype(np.uint8))

    def fit(search: str) -> Tree:
        recipe = Embedded(max_depth=2, search=search, **SHORT)  # type: ignore[arg-type]
        data = PrivateDataset(MemoryEngine(schema, table), Ledger(1).allow_nonprivate())
        tree = recipe.grow_model(Prelude(data, Fraction(1)), np.random.default_rng(0))
        assert isinstance(tree, Tree)
        return tree

    with pytest.raises(ParameterError, match="use search='mcmc'"):
        fit("exhaustive")
    assert len(fit("auto")) > 1


def test_the_registry_lists_it() -> None:
    info = {info.name: info for info in privet.list_recipes()}["embedded"]
    assert info.variants == ("sound", "as-published")
    assert "none" in info.guarantee["as-published"]
    assert Embedded.unsound == {"as-published": WHY}
    assert isinstance(privet.make_classifier("embedded", max_depth=2), EmbeddedTreeClassifier)


# ---- the paper's table ----------------------------------------------------------------------------------------------


@pytest.mark.needs_data
@pytest.mark.parametrize("d", [1, 2, 3, "whole"])
def test_all_embeddings_work_on_vote(d: Any, data_dir: Any) -> None:
    schema, table = load("vote", data_dir)
    labels = table[schema.label.name]
    for variant, epsilon in (("sound", 2), ("as-published", 2)):
        # A whole chain of 10,000 steps is for the benchmark page.
        tree = EmbeddedTreeClassifier(
            schema, epsilon, 3 if variant == "sound" else 4, embedding_depth=d, variant=variant, step_limit=500
        ).fit(table, labels)
        assert tree.score(table, labels) > 0.8
        assert tree.certificate_.private == (variant == "sound")
