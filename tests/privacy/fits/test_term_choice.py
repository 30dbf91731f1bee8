"""The choice of terms: one record moves a score by at most 1, and the draw is the exponential mechanism's."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from privet.engines.memory import MemoryEngine
from privet.errors import ParameterError
from privet.privacy.counting import ROOT
from privet.privacy.dataset import PrivateDataset
from privet.privacy.fits.perturbed_fit import Fit
from privet.privacy.fits.term_choice import SENSITIVITY, STEP_BITS, _scores
from privet.privacy.ledger import Ledger
from privet.schema import Categorical, Schema
from privet.structure.terms import UNIT, Term
from privet.tables.encoding import Codes
from privet.testing import ReplayNoise, ZeroNoise, use_noise
from privet.testing.noise import ScriptEnded


def setting(classes: int, records: int, seed: int) -> tuple[Schema, np.ndarray, np.ndarray, Fit]:
    random = np.random.default_rng(seed)
    schema = Schema(
        (Categorical("a", tuple(range(3))), Categorical("b", tuple(range(4)))), Categorical("y", tuple(range(classes)))
    )
    features = np.stack([random.integers(0, 3, records), random.integers(0, 4, records)]).astype(np.uint8)
    labels = random.integers(0, classes, records).astype(np.uint8)
    columns = 1 if classes == 2 else classes
    share = np.array([0, UNIT // 3, UNIT // 2, UNIT])
    terms = (
        Term.one_hot((0,), [np.arange(3)], 3),
        Term.of((1,), [np.arange(4)], [[0, 1]] * 4, np.stack([UNIT - share, share], axis=1)),
        Term.one_hot((0, 1), [np.arange(3), np.arange(4)], 12),
    )
    before = Term.one_hot((0,), [np.arange(3)], 3), random.normal(size=(3, columns))
    return schema, features, labels, Fit(terms, random.normal(size=columns), np.ones(classes), (before,))


@pytest.mark.parametrize("classes", [2, 3, 5])
def test_one_record_moves_a_score_by_at_most_one(classes: int) -> None:
    most = 0.0
    for seed in range(20):
        schema, features, labels, plan = setting(classes, 30, seed)
        with_all = _scores(MemoryEngine(schema, Codes(features, labels)), ROOT, plan)
        without = _scores(MemoryEngine(schema, Codes(np.ascontiguousarray(features[:, 1:]), labels[1:])), ROOT, plan)
        moved = np.abs(with_all - without).max() / 2**STEP_BITS
        assert moved <= SENSITIVITY
        most = max(most, float(moved))
    assert most > 0.8, "the bound is no larger than it must be"


def test_scores_are_what_is_left_unexplained() -> None:
    schema, features, labels, plan = setting(2, 200, 1)
    found = _scores(MemoryEngine(schema, Codes(features, labels)), ROOT, plan) / 2**STEP_BITS
    ((_, table),) = plan.background
    residual = 1 / (1 + np.exp(-(plan.offset[0] + table[features[0], 0]))) - labels
    assert found[0] == pytest.approx(np.abs(np.bincount(features[0], residual)).sum(), abs=1e-4)
    pair = features[0] * 4 + features[1]
    assert found[2] == pytest.approx(np.abs(np.bincount(pair, residual, minlength=12)).sum(), abs=1e-4)


def test_draws_have_the_chances_of_the_exponential_mechanism() -> None:
    """Each of two draws gets half of epsilon, at twice the sensitivity; the second is among those left."""
    schema, features, labels, plan = setting(2, 50, 2)
    engine = MemoryEngine(schema, Codes(features, labels))
    scores = _scores(engine, ROOT, plan) / 2**STEP_BITS - np.array([0.5, 0.0, 1.0])
    noise = ReplayNoise([2])
    with use_noise(noise), pytest.raises(ScriptEnded) as ended:
        PrivateDataset(engine, Ledger(1)).choose_terms(plan, [0.5, 0.0, 1.0], 2, Fraction(1, 2))
    first, second = noise.draws[0], ended.value.draw
    assert first.values == pytest.approx(scores, abs=2**-STEP_BITS)
    assert second.values == pytest.approx(scores[:2], abs=2**-STEP_BITS)
    assert first.scale == second.scale == pytest.approx(2 * 2 / 0.5, rel=1e-5)


def test_without_noise_the_best_are_chosen_in_order_and_charged_once() -> None:
    schema, features, labels, plan = setting(2, 500, 3)
    engine = MemoryEngine(schema, Codes(features, labels))
    ledger = Ledger(1)
    scores = _scores(engine, ROOT, plan)
    with use_noise(ZeroNoise()):
        chosen = PrivateDataset(engine, ledger).choose_terms(plan, [0.0] * 3, 3, Fraction(1, 4))
    assert chosen == np.argsort(-scores, kind="stable").tolist()
    assert ledger.spent == Fraction(1, 4)


@pytest.mark.parametrize(("penalties", "count"), [([0.0] * 3, 0), ([0.0] * 3, 4), ([0.0] * 2, 1), ([np.nan] * 3, 1)])
def test_an_invalid_choice_is_refused_before_a_charge(penalties: list[float], count: int) -> None:
    schema, features, labels, plan = setting(2, 20, 0)
    ledger = Ledger(1)
    with pytest.raises(ParameterError):
        PrivateDataset(MemoryEngine(schema, Codes(features, labels)), ledger).choose_terms(plan, penalties, count, 0.5)
    assert ledger.spent == 0
