"""What a calibration promises it keeps, by exact arithmetic; and smaller noise, ridge or cover is told from it."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privet.errors import ParameterError
from privet.privacy.fits import calibration as module
from privet.privacy.fits.calibration import LEAST_EPSILON, Calibration, FitLayout, calibrate
from privet.privacy.fits.normal_noise import gaussian_delta
from privet.privacy.losses import UNLIMITED, Loss

DELTA = Fraction(1, 10**6)
shapes = st.builds(
    lambda terms, classes, records: FitLayout(
        tuple(size for size, _, _ in terms),
        tuple(min(touched, size) for size, touched, _ in terms),
        tuple(favour for _, _, favour in terms),
        classes,
        records,
        records / 5,
    ),
    st.lists(
        st.tuples(st.integers(1, 60), st.integers(1, 4), st.sampled_from([1.0, 0.5, 4.0])), min_size=1, max_size=20
    ),
    st.integers(2, 12),
    st.floats(1, 1e10),
)
losses = st.builds(Loss, st.fractions(LEAST_EPSILON, 100, max_denominator=10**6), st.sampled_from([Fraction(0), DELTA]))


@settings(max_examples=40, deadline=None)
@given(shapes, losses)
def test_a_calibration_keeps_what_was_paid_and_wastes_little(shape: FitLayout, loss: Loss) -> None:
    found = calibrate(shape, loss)
    spent = found.spent()
    assert spent <= loss
    assert found.law == "laplace" or loss.delta
    assert found.law == "gaussian" or not spent.delta
    if loss.epsilon <= 64:
        assert spent.epsilon >= loss.epsilon * Fraction(999, 1000)
    assert len(found.scales) == len(found.ridges) == len(shape.sizes)
    assert all(ridge > 0 and scale > 0 for ridge, scale in zip(found.ridges, found.scales, strict=True))


def fourteen(classes: int = 2) -> FitLayout:
    return FitLayout((9,) * 6 + (8, 16, 7, 15, 6, 5, 2, 42), (2,) * 6 + (1,) * 8, (1.0,) * 14, classes, 4e4, 8e3)


@pytest.mark.parametrize("classes", [2, 3, 7])
@pytest.mark.parametrize("loss", [Loss(1), Loss(Fraction(1, 10), DELTA)])
@pytest.mark.parametrize(
    "fault",
    [
        lambda c: replace(c, scales=tuple(0.8 * s for s in c.scales)),
        lambda c: replace(c, ridges=tuple(r / 4 for r in c.ridges)),
        lambda c: replace(c, release_scale=c.release_scale / 2),
        lambda c: replace(c, gradient=3 * c.gradient),
    ],
    ids=["scale 20 % too small", "ridge too small", "cover too small", "solved too roughly"],
)
def test_a_fault_shows_in_what_is_spent(classes: int, loss: Loss, fault: object) -> None:
    found = calibrate(fourteen(classes), loss)
    assert found.spent() <= loss
    assert not fault(found).spent() <= loss  # type: ignore[operator]


def test_a_search_that_is_wrong_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    real = module._least

    def too_little(shape: FitLayout, law: object, loss: Loss) -> Calibration:
        found = real(shape, "laplace", loss)
        assert found is not None
        return replace(found, scales=tuple(0.99 * s for s in found.scales))

    monkeypatch.setattr(module, "_least", too_little)
    with pytest.raises(ParameterError, match="does not keep what was paid"):
        calibrate(fourteen(), Loss(1))


def test_gaussian_noise_is_taken_where_it_is_less() -> None:
    assert calibrate(fourteen(), Loss(1, DELTA)).law == "gaussian"
    assert calibrate(FitLayout((4,), (1,), (1.0,), 2, 100, 20), Loss(1, DELTA)).law == "laplace"
    assert calibrate(fourteen(), Loss(1)).law == "laplace"


def test_many_attributes_need_more_ridge_under_gaussian_noise() -> None:
    """One and a half of the deviation is not enough there: sum 1 / lambda must stay below epsilon."""
    wide = FitLayout((2,) * 400, (1,) * 400, (1.0,) * 400, 2, 1e6, 2e5)
    found = calibrate(wide, Loss(1, DELTA))
    assert found.spent() <= Loss(1, DELTA)
    assert sum(1 / ridge for ridge in found.ridges) <= 1


@pytest.mark.parametrize("classes", [2, 3, 7])
def test_gaussian_noise_spends_what_the_proof_says(classes: int) -> None:
    """By the formulas of the page, written down anew, with noise so small that the lattice (tau) is most of delta."""
    k, epsilon, scales, ridges, cover = classes, 30.0, (0.5, 0.6), (1.0, 1.5), 1e-3
    rough = Calibration(
        FitLayout((2, 3), (1, 1), (1.0, 1.0), k, 10, 10), "gaussian", Fraction(30), scales, ridges, 1e-6, 1
    )
    spent = replace(rough, release_scale=float(rough.reach) / cover).spent()
    q = sum(1 / ridge for ridge in ridges)
    kept = epsilon - 2 * cover  # eps' of the page: what the ideal law keeps
    left = kept - q * (k - 2) / (k - 1)  # eps''
    assert left > q * k / (k - 1)
    mu = np.sqrt(sum(scale**-2 for scale in scales) * (1 if k == 2 else 2))
    tau = 5 * (1 if k == 2 else k) * (module.LATTICE / min(scales)) ** 2 / 24
    delta = np.exp(cover) * (k - 1) * gaussian_delta(mu, left) + tau * (1 + np.exp(kept + cover))
    assert float(spent.epsilon) == pytest.approx(epsilon, rel=1e-12)
    assert float(spent.delta) == pytest.approx(delta, rel=1e-4)
    assert tau * np.exp(kept + cover) > 0.2 * delta


@pytest.mark.parametrize("classes", [2, 3, 7])
def test_laplace_noise_spends_what_the_proof_says(classes: int) -> None:
    k, scales, ridges, cover = classes, (5.0, 6.0), (12.0, 15.0), 1e-3
    rough = Calibration(
        FitLayout((2, 3), (1, 2), (1.0, 1.0), k, 10, 10), "laplace", Fraction(1), scales, ridges, 1e-6, 1
    )
    covered = replace(rough, release_scale=float(rough.reach) / cover)
    e, q = sum(1 / scale for scale in scales) * (1 if k == 2 else 2), sum(1 / ridge for ridge in ridges)
    lattice = module.LATTICE * (1 if k == 2 else 2 * (k - 1)) * (1 / 5 + 2 / 6)
    assert float(covered.spent().epsilon) == pytest.approx(e + lattice + q * (k - 2) / (k - 1) + 2 * cover, rel=1e-12)
    most = e if k == 2 else e * (k - 1) / k  # of q, or the determinant would cost more than the noise
    for times, kept in ((0.999, True), (1.001, False)):
        tilted = replace(covered, ridges=tuple(ridge * q / (times * most) for ridge in ridges))
        assert (tilted.spent() != UNLIMITED) is kept


@pytest.mark.parametrize(
    ("facts", "says"),
    [
        ({"sizes": ()}, "at least one term"),
        ({"favours": (0.0,)}, "favours must be positive"),
        ({"classes": 1}, "more than one class"),
        ({"evidence": 0.0}, "some evidence"),
    ],
)
def test_invalid_shapes_are_refused(facts: dict[str, object], says: str) -> None:
    good = {"sizes": (3,), "touched": (1,), "favours": (1.0,), "classes": 2, "records": 10.0, "evidence": 2.0}
    with pytest.raises(ParameterError, match=says):
        FitLayout(**(good | facts))  # type: ignore[arg-type]


def test_an_epsilon_that_doubles_cannot_serve_is_refused() -> None:
    with pytest.raises(ParameterError, match="at least"):
        calibrate(fourteen(), Loss(Fraction(1, 10**6)))
