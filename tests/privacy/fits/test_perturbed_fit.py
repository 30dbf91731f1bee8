"""The release: charged before it is drawn, its noise of the right law, its plans checked."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import privet
from privet.errors import BudgetExceeded, ParameterError, ReceiptError
from privet.privacy.dataset import PrivateDataset
from privet.privacy.fits import perturbed_fit
from privet.privacy.fits.calibration import FitLayout, calibrate
from privet.privacy.fits.perturbed_fit import LARGEST, Fit, _unbounded, _zero_sum, release_fit
from privet.privacy.ledger import Ledger
from privet.privacy.losses import Loss
from privet.privacy.noise import OpenDPNoise
from privet.schema import Categorical, Schema, Unit
from privet.structure.terms import Term
from privet.testing import SeededNoise, ZeroNoise, use_noise

TABLE = {"a": ["x", "y"] * 50, "ill": ["no"] * 60 + ["yes"] * 40}


def small(classes: tuple[str, ...] = ("no", "yes")) -> tuple[Schema, Fit, FitLayout]:
    schema = Schema((Categorical("a", ("x", "y")),), Categorical("ill", classes))
    columns = 1 if len(classes) == 2 else len(classes)
    plan = Fit((Term.one_hot((0,), [np.arange(2)], 2),), np.zeros(columns), np.ones(len(classes)))
    return schema, plan, FitLayout((2,), (1,), (1.0,), len(classes), 100.0, 20.0)


def protected(schema: Schema, ledger: Ledger) -> PrivateDataset:
    return privet.protect(TABLE, schema, ledger)


def test_a_fit_is_charged_before_it_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    schema, plan, shape = small()
    ledger = Ledger(1, Fraction(1, 1000))
    data = protected(schema, ledger)
    (values,), calibration = data.perturbed_fit(plan, shape, Loss(Fraction(1, 2)))
    assert values.shape == (2, 1)
    assert ledger.spent == Fraction(1, 2)
    assert calibration.spent() <= Loss(Fraction(1, 2))
    with pytest.raises(BudgetExceeded):
        data.perturbed_fit(plan, shape, Loss(Fraction(3, 4)))
    assert ledger.spent == Fraction(1, 2)

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(perturbed_fit, "solve", interrupted)
    with pytest.raises(KeyboardInterrupt):
        data.perturbed_fit(plan, shape, Loss(Fraction(1, 4)))
    assert ledger.spent == Fraction(3, 4)


def test_a_receipt_is_good_for_one_fit() -> None:
    schema, plan, shape = small()
    data = protected(schema, Ledger(2))
    receipt = data.ledger.charge(1, "fit")
    calibration = calibrate(shape, receipt.loss)
    release_fit(data._engine, data._cells, plan, calibration, receipt)
    with pytest.raises(ReceiptError, match="redeemed already"):
        release_fit(data._engine, data._cells, plan, calibration, receipt)


def test_a_calibration_that_the_receipt_does_not_pay_is_refused() -> None:
    schema, plan, shape = small()
    data = protected(schema, Ledger(2))
    receipt = data.ledger.charge(Fraction(1, 2), "fit")
    with pytest.raises(ReceiptError, match="costs more"):
        release_fit(data._engine, data._cells, plan, calibrate(shape, Loss(1)), receipt)


def test_replace_one_buys_half() -> None:
    schema, plan, shape = small()
    scales = []
    for relation in ("add-remove", "replace-one"):
        data = protected(schema, Ledger(1, neighbours=relation))
        scales.append(data.perturbed_fit(plan, shape, Loss(1))[1].scales[0])
    assert scales[1] == pytest.approx(2 * scales[0], rel=1e-3)


def test_rows_of_a_unit_share_what_it_buys() -> None:
    schema, plan, shape = small()
    whole = privet.protect(TABLE, schema, Ledger(1)).perturbed_fit(plan, shape, Loss(1))[1]
    unit = replace(schema, unit=Unit("who", max_rows=3))
    shared = privet.protect(TABLE | {"who": list(range(100))}, unit, Ledger(1)).perturbed_fit(plan, shape, Loss(1))[1]
    assert shared.scales[0] == pytest.approx(3 * whole.scales[0], rel=1e-3)


def test_seeded_and_silent_noise_mark_the_ledger() -> None:
    schema, plan, shape = small()
    for noise in (SeededNoise(0), ZeroNoise()):
        ledger = Ledger(1)
        with use_noise(noise):
            protected(schema, ledger).perturbed_fit(plan, shape, Loss(1))
        assert not ledger.certificate().private


def test_plans_that_are_none_are_refused_before_a_charge() -> None:
    schema, plan, shape = small()
    ledger = Ledger(1)
    data = protected(schema, ledger)
    other = Term.one_hot((0,), [np.arange(3)], 3)
    leaves = Term.one_hot((), [], 5)
    for wrong in (
        Fit((other,), plan.offset, plan.class_weights),
        Fit((leaves,), plan.offset, plan.class_weights),
        Fit(plan.terms, np.zeros(2), plan.class_weights),
        Fit(plan.terms, np.array([np.nan]), plan.class_weights),
        Fit(plan.terms, plan.offset, np.array([1.0, 1.5])),
        Fit(plan.terms, plan.offset, plan.class_weights, ((plan.terms[0], np.zeros((3, 1))),)),
    ):
        with pytest.raises(ParameterError):
            data.perturbed_fit(wrong, shape, Loss(1))
    with pytest.raises(ParameterError, match="sizes of its terms"):
        data.perturbed_fit(plan, FitLayout((1,), (1,), (1.0,), 2, 100.0, 20.0), Loss(1))
    assert ledger.spent == 0


def test_rows_that_sum_to_zero_have_their_law() -> None:
    """Three classes at scale 4: the law is known on a plane of whole numbers. A chi-squared test on 19 rings.

    12,000 draws; the threshold 84 is exceeded with a probability below 10^-9 at 18 degrees of freedom. Noise at a
    scale 30 % off, and independent entries that are centred, fail it.
    """
    size, scale = 12_000, 4.0
    ring = np.arange(0, 200)
    weight = np.where(ring == 0, 1, 6 * ring) * np.exp(-2 * ring / scale)  # 6 m rows have |b|_1 = 2 m
    expected = size * weight / weight.sum()
    kept = 18

    def distance(rows: np.ndarray) -> float:
        seen = np.bincount((np.abs(rows).sum(axis=1) / 2).astype(int), minlength=400)
        observed = np.append(seen[:kept], seen[kept:].sum())
        wanted = np.append(expected[:kept], expected[kept:].sum())
        return float(((observed - wanted) ** 2 / wanted).sum())

    source = OpenDPNoise()
    rows = _zero_sum(source, size, 3, scale)
    assert (rows.sum(axis=1) == 0).all()
    assert distance(rows) < 84
    assert distance(_zero_sum(source, size, 3, 1.3 * scale)) > 84
    independent = source.hidden("laplace", 3 * size, scale).reshape(size, 3)
    assert distance(independent - independent.mean(axis=1, keepdims=True)) > 84


def test_noise_goes_on_beyond_64_bits() -> None:
    class Clipped(SeededNoise):
        def hidden(self, law, size, scale):  # type: ignore[no-untyped-def]
            drawn = np.clip(super().hidden(law, size, 10.0) * (LARGEST // 20), -LARGEST, LARGEST)
            return np.where(np.abs(drawn) > 0.9 * LARGEST, np.sign(drawn) * LARGEST, drawn)

    values = _unbounded(Clipped(0), "laplace", 4000, 1.0)
    assert np.abs(values).max() > 2 * LARGEST
    # The tail is memoryless: a quarter as many are beyond twice the end as would be, were it not continued, at the end.
    beyond = [(np.abs(values) >= times * LARGEST * 0.99).sum() for times in (1, 2)]
    assert 0 < beyond[1] < beyond[0]


def test_a_fit_of_very_many_classes_ends() -> None:
    """A step of the lattice for each class is taken off the gradient that is certified: something must be left."""
    schema, plan, shape = small(tuple(f"class {i}" for i in range(80)))
    data = privet.protect({"a": ["x", "y"], "ill": ["class 3", "class 70"]}, schema, Ledger(1))
    (values,), calibration = data.perturbed_fit(plan, shape, Loss(Fraction(1)))
    assert values.shape == (2, 80)
    assert calibration.spent() <= Loss(Fraction(1))
