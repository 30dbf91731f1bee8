"""The one loop: what it asks, what it caps, what it leaves in the nodes."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privet.engines.memory import MemoryEngine
from privet.growing.greedy.candidates import TEST_KINDS, Candidates
from privet.growing.greedy.choosing import JointChoice
from privet.growing.greedy.grower import Grown, Growth, Plan, grow
from privet.growing.greedy.stopping import TooNoisy
from privet.models.leaf_counts import shares
from privet.models.validation import check_tree
from privet.privacy.dataset import PrivateDataset
from privet.privacy.ledger import Ledger
from privet.privacy.scores import Gini
from privet.schema import Categorical, Schema
from privet.tables.encoding import Codes, encode
from privet.testing import SeededNoise, ZeroNoise, schemas, tables, use_noise

SCHEMA = Schema(tuple(Categorical(f"a{i}", tuple(range(2 + i))) for i in range(4)), Categorical("class", (0, 1, 2)))


def records(schema: Schema, n: int = 500, seed: int = 0) -> MemoryEngine:
    rng = np.random.default_rng(seed)
    features = np.array([rng.integers(0, arity, n) for arity in schema.arities], dtype=np.uint8)
    return MemoryEngine(schema, Codes(features, (features.sum(axis=0) % schema.n_classes).astype(np.uint8)))


def growth(schema: Schema, depth: int, kind: str = "multiway", **options: object) -> Growth:
    candidates = Candidates.of(schema, kind)  # type: ignore[arg-type]
    plan = Plan.shares(Fraction(1), min(depth, candidates.most_tests_on_a_path(schema)), node=1)
    return Growth(**({"plan": plan, "candidates": candidates, "chooser": JointChoice(Gini())} | options))  # type: ignore[arg-type]


def run(engine: MemoryEngine, how: Growth, noise: object) -> tuple[Grown, Ledger]:
    ledger = Ledger(1)
    with use_noise(noise):  # type: ignore[arg-type]
        grown = grow(PrivateDataset(engine, ledger).level(), how)
    return grown, ledger


@given(st.data(), schemas(), st.sampled_from(sorted(TEST_KINDS)), st.integers(1, 40), st.integers(0, 4))
def test_never_more_leaves_than_the_cap(data: st.DataObject, schema: Schema, kind: str, cap: int, depth: int) -> None:
    engine = MemoryEngine(schema, encode(schema, data.draw(tables(schema))))
    grown, ledger = run(engine, growth(schema, depth, kind, max_leaves=cap), SeededNoise(0))
    check_tree(grown.tree)
    assert grown.tree.n_leaves <= cap
    assert ledger.spent <= 1


def test_the_cap_lets_through_what_fits() -> None:
    # 5 children at the root; below it each split by a test of 4 children adds 3 leaves.
    for cap, leaves in ((1, 1), (4, 1), (5, 5), (7, 5), (8, 8), (10, 8), (11, 11), (20, 20), (99, 20)):
        how = growth(SCHEMA, 2, max_leaves=cap, chooser=First(3, 2))
        grown, _ = run(records(SCHEMA), how, ZeroNoise())
        assert grown.tree.n_leaves == leaves


class First:
    """Takes the given attribute at each depth."""

    def __init__(self, *attributes: int) -> None:
        self.attributes = list(attributes)

    def choose(self, level, cells, candidates, allowed, epsilon):  # type: ignore[no-untyped-def]
        return np.full(len(cells), candidates.tests.of_attribute(self.attributes.pop(0))[0])


def test_what_the_nodes_carry() -> None:
    engine = records(SCHEMA)
    grown, ledger = run(engine, growth(SCHEMA, 2), ZeroNoise())
    tree = grown.tree
    assert grown.sizes[0] == 500
    assert tree.counts[0].tolist() == np.bincount(engine._labels, minlength=3).tolist()
    for node, _ in tree.walk():
        below = tree.children(node)
        if below:
            assert np.array_equal(tree.counts[node], tree.counts[below.start : below.stop].sum(axis=0))
            assert grown.sizes[node] == grown.sizes[below.start : below.stop].sum()
        assert tree.counts[node, tree.label[node]] == tree.counts[node].max()
    assert ledger.spent == 1  # a path of full depth


def test_class_counts_as_the_node_question_need_no_leaf_question() -> None:
    grown, ledger = run(records(SCHEMA), growth(SCHEMA, 1, node_question="classes"), ZeroNoise())
    assert {charge.what for charge in ledger.certificate().charges} == {"node class counts", "choice of tests"}
    assert not np.isnan(grown.tree.counts).any()
    assert grown.sizes.tolist() == grown.tree.counts.sum(axis=1).tolist()


def test_stopping_saves_budget() -> None:
    """Noise that says every node is empty: the root is a leaf and only its own path is paid."""

    class Empty(ZeroNoise):
        def laplace(self, values: np.ndarray, scale: float) -> np.ndarray:
            return np.zeros_like(values)

    grown, ledger = run(records(SCHEMA), growth(SCHEMA, 2, stop=TooNoisy()), Empty())
    assert len(grown.tree) == 1
    assert ledger.spent == Fraction(2, 6)
    assert grown.tree.proba.tolist() == [[1 / 3] * 3]


def test_progress_counts_levels() -> None:
    told: list[tuple[int, int]] = []
    with use_noise(ZeroNoise()):
        level = PrivateDataset(records(SCHEMA), Ledger(1)).level()
        grow(level, growth(SCHEMA, 2), lambda done, most: told.append((done, most)))
    assert told == [(1, 3), (2, 3), (3, 3)]


@pytest.mark.parametrize(
    ("counts", "expected"),
    [([3, 1], [0.75, 0.25]), ([3, -1], [1, 0]), ([-2, -1], [0.5, 0.5]), ([np.nan, np.nan], [0.5, 0.5])],
)
def test_shares(counts: list[float], expected: list[float]) -> None:
    assert shares(np.array([counts])).tolist() == [expected]
