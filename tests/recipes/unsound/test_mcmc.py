"""The published searches: what they list, where the chain goes, and how blocks are cut and paid for."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from privet.engines.memory import MemoryEngine
from privet.growing.whole.blocks import block_space, embedding
from privet.privacy.counting import ROOT, class_counts, only, refine
from privet.privacy.samplers.multiway_sampler import Weights
from privet.recipes.unsound.embedding import space_size
from privet.recipes.unsound.mcmc import LEAF, Asked, Chain, ExactStop, OpenBlock, all_asked, exhaustive_search
from privet.schema import Categorical, Schema
from privet.structure.splits import Multiway, Tests
from privet.tables.encoding import Codes

NO_RULE = ExactStop(0, pure=False)


def toy(arities: tuple[int, ...], records: int = 200, seed: int = 0) -> tuple[Schema, Codes]:
    attributes = tuple(Categorical(f"a{i}", tuple(range(arity))) for i, arity in enumerate(arities))
    rng = np.random.default_rng(seed)
    features = np.array([rng.integers(0, arity, records) for arity in arities], dtype=np.uint8)
    labels = ((features[0] == 1) ^ (rng.random(records) < 0.2)).astype(np.uint8)
    return Schema(attributes, Categorical("c", (0, 1))), Codes(features, labels)


def block_of(arities: tuple[int, ...], depth: int, rule: ExactStop = NO_RULE, **options: Any) -> OpenBlock:
    engine = MemoryEngine(*toy(arities, **options))
    return OpenBlock(engine, ROOT, frozenset(), depth, rule)


def gini_of(asked: Asked, codes: Codes, rows: np.ndarray) -> float:
    assert codes.labels is not None
    if not asked:
        counts = np.bincount(codes.labels[rows], minlength=2)
        return float((counts**2).sum() / max(counts.sum(), 1) - counts.sum())
    attribute, children = asked
    column = codes.features[attribute]
    return sum(gini_of(child, codes, rows[column[rows] == v]) for v, child in enumerate(children))


# ---- the space ------------------------------------------------------------------------------------------------------


def test_the_papers_sizes() -> None:
    sizes = [space_size([2] * 16, layers) for layers in (2, 3, 4, 5)]
    assert sizes[:3] == [16, 3600, 138_297_600]
    assert sizes[3] == 16 * 15**2 * 14**4 * 13**8
    assert f"{sizes[3]:.4g}" == "1.128e+17"


@pytest.mark.parametrize("arities", [(2, 2, 2), (3, 2, 2), (2, 3, 4), (1, 2, 3)])
@pytest.mark.parametrize("depth", [1, 2])
def test_the_size_is_the_number_of_subtrees(arities: tuple[int, ...], depth: int) -> None:
    subtrees = list(all_asked(arities, depth))
    assert len(subtrees) == len(set(subtrees)) == space_size(arities, depth + 1)


def test_the_budget_is_shared_by_blocks_and_leaves() -> None:
    tests = Tests.multiway(Schema([Categorical(f"a{i}", (0, 1)) for i in range(20)], Categorical("y", (0, 1))))
    for layers, d, blocks in [(5, 1, 4), (5, 2, 2), (5, 3, 2), (5, 4, 1), (20, 3, 7), (8, 7, 1), (2, 1, 1)]:
        plan = embedding(tests, 2, layers - 1, d)
        assert len(plan.depths) == math.ceil((layers - 1) / d) == blocks
        assert sum(plan.depths) == layers - 1
        assert plan.each(Fraction(3, 10)) == plan.for_leaves(Fraction(3, 10)) == Fraction(3, 10) / (blocks + 1)
    # A whole tree gets half, as the text has it; Algorithm 1 as printed would give a third.
    assert embedding(tests, 2, 4, 4).each(Fraction(1)) == Fraction(1, 2)
    assert embedding(tests, 2, 0, 1).for_leaves(Fraction(1)) == 1


# ---- exhaustive -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("depth", [1, 2])
@pytest.mark.parametrize("arities", [(2, 2, 2), (3, 2, 2), (2, 3, 4)])
def test_the_list_holds_every_subtree_with_its_score(arities: tuple[int, ...], depth: int) -> None:
    block = block_of(arities, depth)
    _, codes = toy(arities)
    listed = block.enumerate()
    subtrees = [listed[i] for i in range(len(listed.scores))]
    assert Counter(subtrees) == Counter(all_asked(arities, depth))
    assert np.allclose(listed.scores, [gini_of(subtree, codes, np.arange(200)) for subtree in subtrees])
    built = [block.build(subtree, np.random.default_rng(0)) for subtree in subtrees]
    assert np.allclose(listed.scores, [node.score for node in built])
    assert [node.asked for node in built] == subtrees
    with pytest.raises(IndexError):
        listed[len(subtrees)]


@pytest.mark.parametrize("depth", [1, 2])
def test_exhaustive_and_exact_are_one_distribution(depth: int) -> None:
    """Listing all subtrees and the factorised recursion agree to the last digits, at the same scale."""
    arities, half = (2, 3, 4), 0.05
    block = block_of(arities, depth)
    listed = block.enumerate()
    schema = block.engine.schema
    space = block_space(Tests.multiway(schema), 2, depth, "subtrees")
    weights = Weights(block.engine, block.cells, space, 2 * half)

    def chance(subtree: Asked, path: dict[int, int]) -> float:
        if not subtree:
            return 0.0
        attribute, children = subtree
        asked = tuple(sorted(path))
        terms = weights.terms[asked][tuple(path[a] for a in asked)]
        here = terms[attribute] - terms.max() - math.log(np.exp(terms - terms.max()).sum())
        below = (chance(child, {**path, attribute: v}) for v, child in enumerate(children))
        return float(here) + sum(below)

    exact = np.exp([chance(listed[i], {}) for i in range(len(listed.scores))])
    assert np.abs(exact - listed.probabilities(half)).max() < 1e-12


def test_exhaustive_search_draws_by_probability() -> None:
    block, dice = block_of((2, 3, 2), 2), np.random.default_rng(1)
    listed = block.enumerate()
    runs = 1500
    seen = Counter(exhaustive_search(block, 0.02, dice).asked for _ in range(runs))
    for i, p in enumerate(listed.probabilities(0.02)):
        assert abs(seen[listed[i]] - runs * p) < 5 * math.sqrt(runs * p) + 3


def test_true_counts_stop_nodes_inside_a_block() -> None:
    """The leak: one record more in a cell, and a subtree exists that did not."""
    schema, codes = toy((2, 2, 2), 100)
    assert codes.labels is not None
    smallest = min(np.bincount(codes.features[0]))
    sizes = []
    for min_records in (smallest, smallest + 1):
        engine = MemoryEngine(schema, codes)
        listed = OpenBlock(engine, ROOT, frozenset(), 2, ExactStop(int(min_records), pure=False)).enumerate()
        sizes.append(len(listed.scores))
    assert sizes[0] > sizes[1]
    rule = ExactStop(5)
    assert rule.stops(np.array([[2, 2], [3, 2], [9, 0], [0, 0]])).tolist() == [True, False, True, True]


# ---- the chain ------------------------------------------------------------------------------------------------------


def check(node: Any, block: OpenBlock, used: frozenset[int], depth: int) -> None:
    assert node.inner == (1 if node.children else 0) + sum(child.inner for child in node.children)
    if not node.children:
        assert node.stopped or depth == 0
        return
    assert node.attribute not in used
    assert len(node.children) == block.engine.schema.arities[node.attribute]
    assert math.isclose(node.score, sum(child.score for child in node.children))
    assert np.array_equal(node.counts, sum(child.counts for child in node.children))
    for child in node.children:
        check(child, block, used | {node.attribute}, depth - 1)


@pytest.mark.parametrize("rule", [NO_RULE, ExactStop(20)])
@pytest.mark.parametrize(("arities", "depth"), [((2, 3, 4, 2), 3), ((2, 2), 2), ((3, 3, 3), 3), ((2, 1, 2), 1)])
def test_proposals_stay_in_the_space(arities: tuple[int, ...], depth: int, rule: ExactStop) -> None:
    block, dice = block_of(arities, depth, rule), np.random.default_rng(0)
    _, codes = toy(arities)
    state, seen = block.build(LEAF, dice), set()
    for _ in range(60):
        check(state, block, frozenset(), depth)
        assert math.isclose(state.score, gini_of(state.asked, codes, np.arange(200)), abs_tol=1e-9)
        seen.add(state.asked)
        state = block.propose(state, dice)
    assert len(seen) > 1


def test_open_leaves_are_partitions_with_the_records_that_the_chain_counted() -> None:
    schema, codes = toy((2, 3, 2, 2), 600)
    engine = MemoryEngine(schema, codes)
    cells, used = only(refine(ROOT, schema, [Multiway(1)]), 2), frozenset([1])
    block, dice = OpenBlock(engine, cells, used, 2, ExactStop(30)), np.random.default_rng(0)
    state = block.build(LEAF, dice)
    assert np.array_equal(state.counts, class_counts(engine, cells)[0])
    for _ in range(20):
        state = block.propose(state, dice)
        leaves = block.found(state).open
        assert leaves
        for leaf in leaves:
            node = state
            for child in leaf.path:
                node = node.children[child]
            assert np.array_equal(node.counts, class_counts(engine, leaf.cells)[0])
            assert 1 in leaf.used
            assert len(leaf.used) == 1 + len(leaf.path)


def test_one_attribute_leaves_nothing_to_replace() -> None:
    block, dice = block_of((2,), 1), np.random.default_rng(0)
    state = block.build(LEAF, dice)
    assert block.propose(state, dice) is state


def test_the_chain_stops_when_scores_hardly_vary() -> None:
    block, scores = block_of((2, 2, 2), 1), list[float]()
    dice = np.random.default_rng(0)
    Chain(buffer=10, step_limit=500, variance_threshold=math.inf).run(block, 0.1, dice, scores.append)
    assert len(scores) == 11  # the buffer fills before anybody asks
    scores.clear()
    Chain(buffer=10, step_limit=500, variance_threshold=0).run(block, 0.1, dice, scores.append)
    assert len(scores) == 500
    scores.clear()
    Chain(buffer=10, step_limit=500, variance_threshold=1e-9).run(block, 100.0, dice, scores.append)
    assert len(scores) < 100  # it sits on the best attribute


def test_a_cell_that_stops_is_a_leaf() -> None:
    block = block_of((2, 2, 2), 2, ExactStop(1000))
    found = Chain(5, 20, 0).run(block, 1.0, np.random.default_rng(0))
    assert found.asked == LEAF
    assert not found.open
