"""How much the curves of an additive model count: what is asked about the model, and what is chosen."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from privet import Categorical, Ledger, Numeric, PrivateDataset, Schema
from privet.engines.memory import MemoryEngine
from privet.growing.additive.scaling import FACTORS, MOST_NATS, as_trees, choose_factor, log_prior
from privet.models.additive import Additive, Part
from privet.models.link import Link
from privet.structure.evidence import STEPS
from privet.structure.routes import Routes
from privet.structure.splits import Tests, Threshold
from privet.tables.encoding import Codes
from privet.testing import ZeroNoise, use_noise

SCHEMA = Schema(
    (Numeric("x", 0, 8, bins=8), Categorical("c", ("a", "b", "other"))), Categorical("y", ("left", "middle", "right"))
)
STUMP = Routes(SCHEMA, Tests.of(SCHEMA, [Threshold(0, 3), None, None]), [1, -1, -1], [0])
RANDOM = np.random.default_rng(0)
PARTS = (
    Part((), (), RANDOM.normal(size=(2, 3)), 0.1),
    Part((0,), (np.arange(8) // 2,), RANDOM.normal(size=(4, 3)), 0.1),
    Part((1,), (np.array([0, 1, 1]),), RANDOM.normal(size=(2, 3)), 0.1, widest=0.4),
)
OFFSET, LINK = np.array([0.5, -0.5, 0.0]), Link(2.0)


def features(records: int) -> np.ndarray:
    return np.stack([RANDOM.integers(0, 8, records), RANDOM.integers(0, 3, records)]).astype(np.uint8)


def model(factor: float) -> Additive:
    parts = tuple(part.times(factor) if part.attributes else part for part in PARTS)
    return Additive(SCHEMA, parts, OFFSET, STUMP, LINK.margin)


def chosen(codes: Codes, guess: float = 1.0, epsilon: Fraction = Fraction(1)) -> tuple[float, Ledger]:
    ledger = Ledger(1)
    with use_noise(ZeroNoise()):
        data = PrivateDataset(MemoryEngine(SCHEMA, codes), ledger)
        return choose_factor(data, PARTS, STUMP, OFFSET, LINK, np.ones(3), guess, epsilon), ledger


def test_trees_score_what_the_parts_of_a_model_do() -> None:
    codes = features(500)
    trees, votes = as_trees(SCHEMA, PARTS, STUMP)
    leaves = trees.roots + trees.apply(codes)
    for t, added in enumerate(model(1.0).contributions(codes)):
        assert np.array_equal(votes[leaves[:, t]], added)


@pytest.mark.parametrize("factor", [0.125, 0.25, 1.0, 5.6, 16.0])
def test_labels_drawn_from_a_model_have_its_factor(factor: float) -> None:
    """Without noise, and with 40,000 records: half octaves are that far apart. The leaves of the tree count in full."""
    codes, proba = features(40_000), model(factor).predict_proba
    chances = proba(codes).cumsum(axis=1)
    labels = (RANDOM.random((40_000, 1)) > chances).sum(axis=1).clip(0, 2).astype(np.uint8)
    found, ledger = chosen(Codes(codes, labels))
    assert abs(np.log2(found / factor)) <= 0.5
    charge = ledger.certificate().charges[0]
    assert (charge.epsilon, charge.mechanism) == (1, "exponential")
    assert charge.scale == round((MOST_NATS + np.log(3)) * STEPS)


def test_curves_that_labels_have_nothing_to_do_with_count_least() -> None:
    codes = features(20_000)
    alone = Additive(SCHEMA, PARTS[:1], OFFSET, STUMP, LINK.margin).predict_proba(codes).cumsum(axis=1)
    labels = (RANDOM.random((20_000, 1)) > alone).sum(axis=1).clip(0, 2).astype(np.uint8)
    assert chosen(Codes(codes, labels))[0] == FACTORS[0]


@pytest.mark.parametrize("guess", [0.0, 0.01, 0.3, 1.0, 1.3])
def test_without_records_the_guess_decides(guess: float) -> None:
    found, _ = chosen(Codes(features(0), np.empty(0, np.uint8)), guess)
    assert abs(np.log2(found / max(guess, FACTORS[0]))) <= 0.26
    prior = np.exp(log_prior(guess))
    assert prior[prior.argmax() + 2] == pytest.approx(prior.max() / 2, rel=0.25)  # an octave further
    assert prior.min() > prior.max() / 80  # but nothing is ruled out


def test_a_part_that_counts_less_has_less_noise() -> None:
    part = PARTS[2].times(0.5)
    assert np.array_equal(part.table, PARTS[2].table / 2)
    assert (part.deviation, part.widest) == (0.05, 0.2)
    assert PARTS[1].times(2.0).widest is None
