"""How much the evidence of a forest counts: what is summed, what one record can do to it, and what is chosen."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privet import Categorical, Ledger, ParameterError, PrivateDataset, Schema
from privet.engines import memory
from privet.engines.memory import MemoryEngine
from privet.growing.forests.evidence import WEIGHTS, choose_weight, log_prior
from privet.models.forest import Forest
from privet.models.link import Link
from privet.models.tree import Tree
from privet.privacy.counting import ROOT, LossSums, refine
from privet.privacy.scores import LogLoss
from privet.structure.evidence import STEPS, Evidence
from privet.structure.routes import Routes
from privet.structure.splits import Multiway, Tests
from privet.tables.encoding import Codes, encode
from privet.testing import ZeroNoise, neighbouring_tables, schemas, use_noise

CANDIDATES = np.array([0.0, 0.1, 0.5, 1.0])
MOST = 2000


@st.composite
def evidences(draw: Any, schema: Schema) -> Evidence:
    """What two stumps say, in numbers that may be far too large for an exponential."""
    tests = Tests.multiway(schema)
    structure = [(tests[draw(st.integers(0, len(tests) - 1))] if len(tests) else None) for _ in range(2)]
    columns = []
    for test in structure:
        children = 0 if test is None else test.arity(schema)
        table = Tests.of(schema, [test, *[None] * children])
        columns.append((table.attribute, table.kind, table.cut, np.array([1 if children else -1, *[-1] * children])))
    routes = Routes.end_to_end(schema, columns)
    numbers = st.sampled_from([0.0, 0.5, -1.0, 3.0, 800.0, -800.0, 1e308, -1e308])
    size = len(routes.tests), schema.n_classes
    votes = np.array(draw(st.lists(numbers, min_size=size[0] * size[1], max_size=size[0] * size[1]))).reshape(size)
    margin, fixed = draw(st.sampled_from([0.0, 1.4, 32.0])), draw(st.integers(0, 2))
    class_weights = np.linspace(1, draw(st.sampled_from([0.0, 1.0])), schema.n_classes)
    return Evidence(routes, votes, np.zeros(schema.n_classes), CANDIDATES, MOST, fixed, margin, class_weights)


def sums(schema: Schema, table: Any, evidence: Evidence) -> np.ndarray:
    return MemoryEngine(schema, encode(schema, table)).answer([LossSums(ROOT, evidence)])[0][0]


cases = schemas().flatmap(
    lambda schema: st.tuples(st.just(schema), neighbouring_tables(schema, "add-remove", 6), evidences(schema))
)


def moves_too_far(case: Any, most: int = MOST) -> bool:
    schema, (without, with_one), evidence = case
    moved = sums(schema, with_one, evidence) - sums(schema, without, evidence)
    return bool((moved < 0).any() or (moved > most).any())


@given(case=cases)
@settings(max_examples=60)
def test_one_record_adds_at_most_its_bound_to_every_loss(case: Any) -> None:
    assert not moves_too_far(case)
    assert LogLoss(MOST).sensitivity == MOST


def test_a_bound_too_small_is_seen() -> None:
    schema = Schema((Categorical("x", ("a", "b")),), Categorical("class", ("yes", "no")))
    routes = Routes(schema, Tests.of(schema, [Multiway(0), None, None]), [1, -1, -1], [0])
    evidence = Evidence(routes, np.array([[0, 0], [50.0, 0], [0, 0]]), np.zeros(2), CANDIDATES, MOST)
    pair = {"x": [], "class": []}, {"x": ["a"], "class": ["no"]}
    assert not moves_too_far((schema, pair, evidence))
    assert moves_too_far((schema, pair, evidence), MOST - 1)


@pytest.mark.parametrize("parallel_from", [0, 10**9], ids=["all threads", "one thread"])
@pytest.mark.parametrize(("fixed", "margin", "lightest"), [(0, 0.0, 1.0), (1, 2.0, 0.5), (2, 0.0, 1.0)])
def test_losses_against_numpy(
    parallel_from: int, fixed: int, margin: float, lightest: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every record's own loss, rounded and cut off, in cells; 2000 records are several blocks."""
    monkeypatch.setattr(memory, "PARALLEL_FROM", parallel_from)
    random = np.random.default_rng(3)
    schema = Schema(
        (Categorical("x", tuple(range(4))), Categorical("z", tuple(range(3)))), Categorical("class", tuple("abc"))
    )
    codes = Codes(
        np.stack([random.integers(0, 4, 2000), random.integers(0, 3, 2000)]).astype(np.uint8),
        random.integers(0, 3, 2000).astype(np.uint8),
    )
    columns = [
        (table.attribute, table.kind, table.cut, np.array([1, *[-1] * arity]))
        for arity, table in (
            (4, Tests.of(schema, [Multiway(0), *[None] * 4])),
            (3, Tests.of(schema, [Multiway(1)] + [None] * 3)),
        )
    ]
    routes = Routes.end_to_end(schema, columns)
    votes, start = random.normal(0, 2, (len(routes.tests), 3)), np.log([0.5, 0.3, 0.2])
    counted = np.array([1.0, lightest, 1.0])
    evidence = Evidence(routes, votes, start, CANDIDATES, MOST, fixed, margin, counted)
    cells = refine(ROOT, schema, [Multiway(0)])
    found = MemoryEngine(schema, codes).answer([LossSums(cells, evidence)])[0]
    x, z = codes.features
    assert codes.labels is not None
    for w, weight in enumerate(CANDIDATES):
        scores = start + (weight if fixed < 1 else 1) * votes[1 + x] + (weight if fixed < 2 else 1) * votes[6 + z]
        loss = -np.log(Link(margin).probabilities(scores)[np.arange(2000), codes.labels]) * counted[codes.labels]
        steps = np.minimum(np.floor(loss * STEPS + 0.5), MOST)
        assert (steps == MOST).any() or weight < 1  # some are cut off
        np.testing.assert_allclose(found[:, w], [steps[x == value].sum() for value in range(4)], atol=3)


# -- what is chosen ----------------------------------------------------------------------------------------------------


def copies(k: int, records: int = 4000) -> tuple[Schema, Codes, Forest]:
    """A weak attribute k times, and a tree on each: together they say k times what one of them knows."""
    random = np.random.default_rng(0)
    label = random.integers(0, 2, records).astype(np.uint8)
    feature = np.where(random.random(records) < 0.7, label, 1 - label).astype(np.uint8)
    schema = Schema(tuple(Categorical(f"x{i}", (0, 1)) for i in range(k)), Categorical("class", (0, 1)))
    proba = np.array([[0.5, 0.5], [0.7, 0.3], [0.3, 0.7]])
    trees = tuple(Tree.build(schema, [Multiway(i), None, None], [1, -1, -1], [0, 0, 1], proba=proba) for i in range(k))
    return schema, Codes(np.stack([feature] * k), label), Forest(schema, trees, "evidence")


@pytest.mark.parametrize("k", [1, 2, 8, 16])
def test_repeated_trees_count_once(k: int) -> None:
    schema, codes, forest = copies(k)
    ledger = Ledger(1)
    with use_noise(ZeroNoise()):
        weight = choose_weight(PrivateDataset(MemoryEngine(schema, codes), ledger), forest, 0.5, 1)
    assert weight == pytest.approx(1 / k, rel=0.01)
    charge = ledger.certificate().charges[0]
    assert (charge.epsilon, charge.mechanism) == (1, "exponential")
    assert charge.scale == round((3 + math.log(2)) * STEPS)


def test_without_records_the_guess_decides() -> None:
    schema, codes, forest = copies(4)
    nobody = Codes(codes.features[:, :0], codes.labels[:0])  # type: ignore[index]
    for guess, expected in ((0.5, 0.5), (0.12, 2**-3), (0.0, 2**-5), (7.0, 1.0)):
        with use_noise(ZeroNoise()):
            data = PrivateDataset(MemoryEngine(schema, nobody), Ledger(1))
            assert choose_weight(data, forest, guess, 1) == expected
    assert WEIGHTS[0] == 0
    assert log_prior(0.0).argmin() == len(WEIGHTS) - 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"votes": np.zeros((2, 2))}, "votes"),
        ({"votes": np.full((3, 2), np.nan)}, "votes"),
        ({"start": np.array([0.0, np.inf])}, "start"),
        ({"weights": np.array([])}, "weights"),
        ({"weights": np.zeros((2, 2))}, "weights"),
        ({"class_weights": np.ones(3)}, "class_weights"),
        ({"class_weights": np.array([1.0, 1.1])}, "class_weights"),
        ({"class_weights": np.array([1.0, -0.1])}, "class_weights"),
        ({"fixed": 2}, "fixed"),
        ({"fixed": -1}, "fixed"),
        ({"margin": -1.0}, "the margin of a fit"),
        ({"margin": math.inf}, "the margin of a fit"),
        ({"most": 0}, "most"),
        ({"most": 2**21}, "most"),
        ({"most": 3.5}, "most"),
    ],
)
def test_invalid_evidence(change: dict[str, Any], message: str) -> None:
    _, _, forest = copies(1)
    facts = {"routes": forest.routes, "votes": forest.votes, "start": np.zeros(2), "weights": CANDIDATES, "most": MOST}
    with pytest.raises(ParameterError, match=f"{message} must"):
        Evidence(**(facts | change))


def test_evidence_of_another_schema_is_refused_before_anything_is_spent() -> None:
    schema, codes, _ = copies(2)
    _, _, other = copies(1)
    ledger = Ledger(1)
    data = PrivateDataset(MemoryEngine(schema, codes), ledger)
    with pytest.raises(ParameterError, match="over this schema"):
        choose_weight(data, other, 0.5, 1)
    evidence = Evidence(copies(2)[2].routes, copies(2)[2].votes, np.zeros(2), CANDIDATES, MOST)
    with pytest.raises(ParameterError, match="log_prior"):
        data.choose_weight(evidence, 1, log_prior=np.zeros(3))
    assert ledger.spent == 0
