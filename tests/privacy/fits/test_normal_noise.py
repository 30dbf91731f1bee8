"""What normal noise in a fit keeps: by integration; for several classes beside the worst that is found by draws."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from privet.privacy.fits import calibration, normal_noise
from privet.privacy.fits.calibration import FitLayout, calibrate
from privet.privacy.fits.normal_noise import gaussian_delta, row_delta
from privet.privacy.losses import Loss

DRAWS = 40_000


@pytest.mark.parametrize(("mu", "epsilon"), [(1, 1), (0.5, 1), (2, 3), (0.2, 1)])
def test_the_gaussian_mechanisms_delta(mu: float, epsilon: float) -> None:
    """Against the integral of (1 - exp(epsilon - loss))_+, for a loss that is normal(mu^2/2, mu)."""
    z = np.linspace(-12, 12, 400_001)
    loss = mu * z + mu * mu / 2
    density = np.exp(-z * z / 2) / np.sqrt(2 * np.pi)
    integral = float((np.maximum(1 - np.exp(epsilon - loss), 0) * density).sum() * (z[1] - z[0]))
    assert gaussian_delta(mu, epsilon) == pytest.approx(integral, rel=1e-6)
    assert gaussian_delta(mu, epsilon) >= integral * (1 - 1e-8)


def found_delta(classes: int, mu: float, tilt: float, epsilon: float) -> float:
    """The delta of a record that chooses, knowing the noise, among probabilities that are bad for it: draws of noise.

    The loss is the proof's before any bound on it. The candidates are alike on the classes of largest noise, or best
    for the square of their length, and for the record's own class.
    """
    noise = mu * np.random.default_rng(0).normal(size=(DRAWS, classes))
    others, own = -np.sort(-noise[:, 1:], axis=1), -noise[:, 0]
    left, worst = tilt - mu * mu / 2, np.zeros(DRAWS)
    for several in range(1, classes):
        alike = np.zeros_like(others)
        alike[:, :several] = 1 / several
        level = (others[:, :several].sum(axis=1, keepdims=True) - 2 * left) / several
        best = np.zeros_like(others)
        best[:, :several] = np.maximum(others[:, :several] - level, 0)
        for wrong in (alike, best / best.sum(axis=1, keepdims=True)):
            for share in (0.8, 1.0):
                p = np.column_stack([np.full(DRAWS, 1 - share), share * wrong])
                bent = p[:, :, None] * np.eye(classes) - p[:, :, None] * p[:, None, :]
                shift = share * own + share * (wrong * others).sum(axis=1)
                length = share**2 + (share**2 * wrong**2).sum(axis=1)
                loss = shift + mu * mu * length / 2 + np.linalg.slogdet(np.eye(classes) + tilt * bent)[1]
                worst = np.maximum(worst, loss)
    return float(np.maximum(1 - np.exp(epsilon - worst), 0).mean())


@pytest.mark.parametrize("classes", [3, 5])
def test_rows_keep_the_smaller_bound(classes: int) -> None:
    """The mean of numbers between 0 and 1 whose variance is below 0.0005, at most half of the claim in truth: by
    Bernstein's inequality 40,000 draws exceed the claim with a probability below e^-80. Without what the determinant
    costs, the claim would be below what is found."""
    mu, tilt, epsilon = 0.3, 0.7, 1.4
    found, claimed = found_delta(classes, mu, tilt, epsilon), row_delta(classes, mu, tilt, epsilon)
    apart = (classes - 1) * gaussian_delta(math.sqrt(2) * mu, epsilon - tilt * (classes - 2) / (classes - 1))
    assert found < claimed < apart
    assert claimed < 8 * found
    assert row_delta(classes, mu, 0.3 * tilt, epsilon) < found


def test_it_is_never_above_the_simple_bound() -> None:
    for classes, mu, tilt in ((3, 0.1, 0.1), (10, 0.1, 0.4), (26, 0.2, 0.01), (26, 0.1, 0.5), (200, 0.1, 0.3)):
        bend = tilt * (classes - 2) / (classes - 1)
        simple = (classes - 1) * gaussian_delta(math.sqrt(2) * mu, 1 - bend)
        assert 0 < row_delta(classes, mu, tilt, 1.0) <= simple * (1 + 1e-6)


def test_lengths_are_as_likely_as_chi_squares_say() -> None:
    chances = normal_noise._chances(10)
    for number in (1, 64, 200, 500, 900):
        square = (number / 64) ** 2
        expected = sum(stats.binom.pmf(j, 9, 0.5) * stats.chi2.sf(square, j) for j in range(1, 10))
        assert chances[number - 1] == pytest.approx(expected, rel=1e-9)


def test_ten_classes_have_less_noise_by_it(monkeypatch: pytest.MonkeyPatch) -> None:
    shape = FitLayout((8,) * 16, (2,) * 16, (1.0,) * 16, 10, 1e5, 1e4)
    sharp = calibrate(shape, Loss(1, 1e-6))
    monkeypatch.setattr(
        calibration,
        "row_delta",
        lambda k, mu, tilt, e: (k - 1) * gaussian_delta(math.sqrt(2) * mu, e - tilt * (k - 2) / (k - 1)),
    )
    assert sharp.law == "gaussian"
    assert calibrate(shape, Loss(1, 1e-6)).scales[0] > 1.1 * sharp.scales[0]
