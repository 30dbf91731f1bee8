"""The recipe ``additive``: its parameters, its promise under both relations, and what it shows."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import privet
from privet import AdditiveClassifier
from privet.datasets.clinic import clinic
from privet.errors import ParameterError, SchemaError
from privet.growing.additive import fitting
from privet.recipes.ours.additive import AdditiveModel
from privet.schema import Categorical, Numeric, Schema
from privet.testing import SeededNoise, ZeroNoise, use_noise


@pytest.mark.parametrize(
    ("params", "says"),
    [
        ({"delta": -1.0}, "delta"),
        ({"delta": 1.0}, "delta"),
        ({"pairs": -1}, "pairs"),
        ({"pairs": 1.5}, "pairs"),
        ({"attribute_weights": [1]}, "attribute_weights must be a dict"),
        ({"class_weight": 3}, "class_weight must be a dict"),
    ],
)
def test_parameters_that_cannot_be_are_refused(params: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        AdditiveModel(**params)


@pytest.mark.parametrize(
    ("params", "error", "says"),
    [
        ({"attribute_weights": {"shoe size": 1}}, SchemaError, "no attribute"),
        ({"attribute_weights": {"weight": -1}}, ParameterError, "from 0 to"),
        ({"attribute_weights": {"weight": 1e-9}}, ParameterError, "too small"),
        ({"class_weight": {"Dead": 1}}, ParameterError, "not a label"),
        ({"class_weight": {"Sick": 2}}, ParameterError, "from 0 to 1"),
        ({"class_weight": {"Sick": 0, "Healthy": 0}}, ParameterError, "ignores every class"),
    ],
)
def test_weights_must_fit_the_schema(params: dict[str, Any], error: type[Exception], says: str) -> None:
    schema, table = clinic(50)
    ledger = privet.Ledger(1)
    with pytest.raises(error, match=says):
        AdditiveClassifier(schema, 1, ledger=ledger, **params).fit(table)
    assert ledger.spent == 0


def test_all_attributes_left_out_are_refused() -> None:
    schema, table = clinic(50)
    with pytest.raises(ParameterError, match="at least one"):
        AdditiveClassifier(schema, 1, attribute_weights=dict.fromkeys(schema.names, 0)).fit(table)


def test_replace_one_has_twice_the_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    schema, table = clinic(20_000)
    noise, shown = [], []
    parts_of = fitting.parts_of

    def watched(bases: Any, values: Any, calibration: Any) -> Any:
        noise.append(calibration.deviations[0])
        return parts_of(bases, values, calibration)

    monkeypatch.setattr(fitting, "parts_of", watched)
    for relation in ("add-remove", "replace-one"):
        noise.clear()
        shown.append((AdditiveClassifier(schema, 1, neighbours=relation).fit(table).shapes_[0].deviation, noise[0]))
    (one, drawn), (other, drawn_twice) = shown
    assert drawn_twice == pytest.approx(2 * drawn, rel=1e-3)
    # Log-odds have less than twice: the margin grows with the noise, so that residuals are larger and the link flatter.
    assert 1.3 < other / one < 2


def test_the_certificate_has_the_delta() -> None:
    schema, table = clinic(2000)
    pure = AdditiveClassifier(schema, 0.5).fit(table).certificate_
    assert (pure.epsilon, pure.delta) == (Fraction(1, 2), 0)
    other = AdditiveClassifier(schema, 0.5, delta=1e-6).fit(table).certificate_
    assert other.epsilon == Fraction(1, 2)
    assert 0 < other.delta <= Fraction(1, 10**6)


def test_a_shared_ledger_must_have_the_delta() -> None:
    schema, table = clinic(2000)
    with pytest.raises(privet.BudgetExceeded):
        AdditiveClassifier(schema, 0.5, delta=1e-6, ledger=privet.Ledger(1)).fit(table)
    ledger = privet.Ledger(1, 1e-5)
    AdditiveClassifier(schema, 0.5, delta=1e-6, ledger=ledger).fit(table)
    assert 0 < ledger.loss.delta <= Fraction(1, 10**6)


def test_reasons_add_up_to_the_score_and_curves_find_the_risk() -> None:
    schema, table = clinic(20_000)
    with use_noise(ZeroNoise()):
        model = AdditiveClassifier(schema, 1).fit(table)
    one = {name: column[:1] for name, column in table.items()}
    total = np.sum([reason.added for reason in model.explain(one)])
    assert total == pytest.approx(model.decision_function(one)[0])
    proba = model.predict_proba(one)[0, 1]
    assert np.log(proba / (1 - proba)) == pytest.approx(total)
    assert model.feature_importances_.sum() == pytest.approx(1)
    with pytest.raises(ParameterError, match="one record"):
        model.explain(table)


def test_probabilities_are_what_they_say() -> None:
    """In ten groups of equal size by predicted probability, the class is as frequent as was predicted.

    Noise is seeded, so there is no chance in it; a model that is twice as sure as it should be fails.
    """
    random = np.random.default_rng(0)
    x = random.uniform(0, 10, (40_000, 3))
    ill = random.random(40_000) < 1 / (1 + np.exp(-(x[:, 0] - 5) / 2 - (x[:, 1] > 7)))
    schema = Schema(tuple(Numeric(f"x{i}", 0, 10) for i in range(3)), Categorical("ill", (False, True)))
    table = {f"x{i}": x[:, i] for i in range(3)} | {"ill": ill}
    with use_noise(SeededNoise(0)):
        model = AdditiveClassifier(schema, 1).fit({name: column[:20_000] for name, column in table.items()})
    scores = model.decision_function({name: column[20_000:] for name, column in table.items()})

    def apart(scores: np.ndarray) -> float:
        proba = 1 / (1 + np.exp(-scores))
        groups = np.array_split(np.argsort(proba), 10)
        return max(abs(proba[group].mean() - ill[20_000:][group].mean()) for group in groups)

    assert apart(scores) < 0.04 < apart(2 * scores)
