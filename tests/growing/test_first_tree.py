"""The tree before curves: what its leaves say, what it costs, and what it may ask."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from privet.audit import audit_learner, zoo
from privet.engines.memory import MemoryEngine
from privet.growing.additive import first_tree
from privet.growing.additive.first_tree import LEAF_SHARE, OPERATIONS, draw_first_tree, few_tests
from privet.growing.cutting.points import fine_bins
from privet.growing.prelude import ClassEstimate
from privet.growing.whole.whole_tree import affordable_depth
from privet.models.additive import Additive
from privet.models.link import Link
from privet.privacy.counting import ROOT, Tally
from privet.privacy.dataset import PrivateDataset
from privet.privacy.ledger import Ledger
from privet.schema import Categorical, Numeric, Schema
from privet.tables.encoding import encode
from privet.testing import ZeroNoise, use_noise

SCHEMA = fine_bins(Schema((Numeric("x", 0, 10), Categorical("c", ("a", "b", "d"))), Categorical("y", (0, 1))))
EVEN = np.ones(2)


def corners(records: int) -> dict[str, Any]:
    """Two attributes that matter only together."""
    random = np.random.default_rng(0)
    x, c = random.uniform(0, 10, records), random.integers(0, 3, records)
    return {"x": x, "c": np.array(["a", "b", "d"])[c], "y": ((x > 5) ^ (c == 0)).astype(int)}


def drawn(columns: Any, epsilon: Fraction, **options: Any) -> tuple[Additive, Ledger, PrivateDataset]:
    ledger = Ledger(epsilon)
    data = PrivateDataset(MemoryEngine(SCHEMA, encode(SCHEMA, columns)), ledger)
    sizes = np.bincount(columns["y"], minlength=2).astype(float)
    estimate = ClassEstimate(sizes, 1.0, Fraction(0)).weighted(options.get("class_weights", EVEN))
    link = Link(1.4)
    routes, part = draw_first_tree(
        data, epsilon, estimate, options.get("class_weights", EVEN), options.get("favours", {}), link
    )
    return Additive(SCHEMA, (part,), link.scores(estimate.shares[None])[0], routes, link.margin), ledger, data


def test_leaves_predict_the_shares_of_their_records() -> None:
    """Without noise, and with nearly all of epsilon, what is said of a record is the share of its corner."""
    columns = corners(4000)
    with use_noise(ZeroNoise()):
        model, ledger, _ = drawn(columns, Fraction(50))
    assert ledger.spent == 50
    codes = encode(SCHEMA, columns)
    assert (model.predict(codes.features) == codes.labels).mean() > 0.99
    proba = model.predict_proba(codes.features)[:, 1]
    assert abs(proba.mean() - columns["y"].mean()) < 0.02


def test_what_it_costs_is_a_draw_and_counts() -> None:
    _, ledger, data = drawn(corners(500), Fraction(1, 2))
    draw = data.certificate().charges[0]
    assert "whole trees" in draw.what
    assert draw.epsilon == Fraction(1, 2) * (1 - LEAF_SHARE)
    assert ledger.spent == Fraction(1, 2)


def test_an_attribute_that_is_left_out_is_not_asked() -> None:
    model, _, _ = drawn(corners(500), Fraction(1), favours={0: 0.0})
    assert model.routes is not None
    assert 0 not in model.routes.tests.attribute


def test_class_weights_weigh_what_leaves_say() -> None:
    """One leaf of as many records of either class, where those of the second count for a quarter: one fifth."""
    columns = corners(4000)
    with use_noise(ZeroNoise()):
        model, _, _ = drawn(columns, Fraction(50), class_weights=np.array([1.0, 0.25]), favours={0: 0.0, 1: 0.0})
    proba = model.predict_proba(encode(SCHEMA, columns).features)[:, 1]
    np.testing.assert_allclose(proba, 0.2, atol=0.01)


def test_a_leaf_without_records_may_be_off_further_than_others() -> None:
    model, _, _ = drawn(corners(2000), Fraction(1))
    part = model.parts[0]
    assert part.widest is not None
    assert 0 < part.deviation < part.widest < 3


def test_a_tiny_epsilon_has_a_shallower_tree_and_no_error() -> None:
    """Rounding would take all of it from a deep draw of many tests; 2**-20 is about the least that a tree ever gets."""
    many = Schema(tuple(Categorical(f"c{i}", (0, 1)) for i in range(16)), Categorical("y", (0, 1)))
    columns: dict[str, Any] = {f"c{i}": np.arange(200) // (i + 1) % 2 for i in range(16)} | {"y": np.arange(200) % 2}
    estimate = ClassEstimate(np.array([100.0, 100.0]), 1.0, Fraction(0))
    for epsilon in (Fraction(1), Fraction(1, 2**20)):
        data = PrivateDataset(MemoryEngine(many, encode(many, columns)), Ledger(1))
        routes, _ = draw_first_tree(data, epsilon, estimate, EVEN, {}, Link())
        assert data.ledger.spent == epsilon
        assert routes.level.max() <= (10 if epsilon == 1 else 7)


@pytest.mark.usefixtures("full_draws")
@pytest.mark.parametrize("numbers", [3, 60])
def test_tests_are_thinned_out_where_numbers_are_many(numbers: int) -> None:
    schema = fine_bins(
        Schema(tuple(Numeric(f"x{i}", 0, 1000) for i in range(numbers)), Categorical("y", tuple(range(10))))
    )
    most, fewer, fewest = (len(tests) for tests in few_tests(schema))
    assert most > fewer > fewest >= 3 * numbers
    assert (affordable_depth(most, 10, OPERATIONS) >= 3) == (numbers == 3)


# -- under audit ------------------------------------------------------------------------------------------------------


def lone_tree(data: PrivateDataset, epsilon: Fraction) -> Any:
    """The tree with all of epsilon, whatever was counted before: that is released, so it may be anything."""
    estimate = ClassEstimate(np.full(data.schema.n_classes, 40.0), 1.0, Fraction(0))
    routes, part = draw_first_tree(data, epsilon, estimate, np.ones(data.schema.n_classes), {}, Link())
    return routes.tests.attribute.tolist(), routes.tests.cut.tolist(), part


def beside_exact_counts(data: PrivateDataset, epsilon: Fraction) -> Any:
    """The same, and with it how many records of each class there are: a fault that must be found."""
    released = lone_tree(data, epsilon)
    return released, data._engine.answer([Tally(ROOT, ((),))])[0].tolist()


@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
def test_the_tree_keeps_its_promise(neighbours: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tree of one level: deeper ones are drawn by the same mechanism, which is audited as the exact tree."""
    monkeypatch.setattr(first_tree, "OPERATIONS", 0.0)
    pairs = zoo(relation=neighbours, thresholds=(), of_a_class=(5,))
    found = audit_learner(lone_tree, pairs, 1, neighbours=neighbours, transcripts=3, complete=0)
    assert found.verdict == "holds", found
    assert found.lower_bound > 0.7


def test_exact_counts_beside_it_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(first_tree, "OPERATIONS", 0.0)
    pairs = zoo(thresholds=(), of_a_class=())[:2]
    found = audit_learner(beside_exact_counts, pairs, 1, transcripts=3)
    assert found.verdict != "holds", found
    assert found.leaks  # outputs that the two tables cannot have in common
