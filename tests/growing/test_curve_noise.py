"""How much curves of many classes should count: noise does not, signal does, however uneven the cells are."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from privet.growing.additive.curve_noise import guess_factor, noise_of, overlap
from privet.privacy.fits.calibration import Calibration, FitLayout, calibrate
from privet.privacy.fits.smoothness import Ridge
from privet.privacy.losses import Loss
from privet.structure.terms import UNIT, Term

CLASSES, CELLS = 18, 9
ONE_HOT = Term.one_hot((0,), [np.arange(CELLS)], CELLS)


def calibrated(terms: int, records: float) -> Calibration:
    shape = FitLayout.of([ONE_HOT] * terms, [1.0] * terms, CLASSES, records, records / CLASSES, 12.0)
    return calibrate(shape, Loss(Fraction(1)))


def fitted(terms: int, records: float, signal: float, seed: int) -> tuple[Calibration, list[np.ndarray], np.ndarray]:
    """Values as a fit releases them to first order: uneven cells, and constants that cancel between the terms."""
    random, found = np.random.default_rng(seed), calibrated(terms, records)
    shares = random.dirichlet(np.full(CELLS, 2.0))
    truth = signal * random.normal(size=(terms, CELLS, CLASSES))
    truth -= truth.mean(axis=(1, 2), keepdims=True)
    evidence = (records / CLASSES * shares)[:, None]
    values = []
    for j in range(terms):
        noise = random.laplace(scale=found.scales[j], size=(CELLS, CLASSES))
        value = (evidence * truth[j] + noise) / (evidence + found.ridges[j])
        values.append(value - value.mean(axis=1, keepdims=True))
    constants = random.normal(size=(terms, 1, CLASSES))
    constants -= constants.mean(axis=0) + (constants - constants.mean(axis=0)).mean(axis=2, keepdims=True)
    return found, [value + one for value, one in zip(values, constants, strict=True)], truth


def test_noise_should_hardly_count_though_cells_are_uneven_and_constants_are_large() -> None:
    """The cells of the first seed are the most uneven: there the guess is too large, as cells are taken for even."""
    drawn = [fitted(10, 10_000, 0.0, seed) for seed in range(3)]
    guesses = [guess_factor([ONE_HOT] * 10, values, found) for found, values, _ in drawn]
    assert max(guesses) < 0.4
    assert np.mean(guesses) < 0.25


@pytest.mark.parametrize("seed", range(3))
def test_a_clear_signal_should_count_in_full(seed: int) -> None:
    found, values, _ = fitted(5, 200_000, 1.0, seed)
    assert 0.95 < guess_factor([ONE_HOT] * 5, values, found) < 1.2


def test_a_weak_signal_multiplied_is_nearer_to_the_truth_than_all_and_than_nothing() -> None:
    found, values, truth = fitted(10, 10_000, 0.4, 0)
    factor = guess_factor([ONE_HOT] * 10, values, found)
    missed = [
        sum(
            float(((x * (a - a.mean(axis=0)) - (b - b.mean(axis=0))) ** 2).sum())
            for a, b in zip(values, truth, strict=True)
        )
        for x in (factor, 1.0, 0.0)
    ]
    assert missed[0] < min(missed[1:])


def test_constants_between_curves_change_nothing() -> None:
    found, values, _ = fitted(2, 10_000, 0.5, 1)
    moved = [values[0] + np.arange(CLASSES), values[1] - np.arange(CLASSES)]
    one, other = (guess_factor([ONE_HOT] * 2, some, found) for some in (values, moved))
    assert one == pytest.approx(other, abs=1e-9)


def test_curves_without_any_value_should_not_count() -> None:
    assert guess_factor([ONE_HOT], [np.zeros((CELLS, CLASSES))], calibrated(1, 1000)) == 0


def test_the_noise_of_a_curve_is_that_of_its_linear_fit() -> None:
    """Against draws: a root mean square of 40,000 numbers is within 5 per cent but for one time in a million."""
    weights = np.array([[UNIT, 0], [UNIT // 2, UNIT // 2], [0, UNIT], [UNIT // 2, UNIT // 2], [0, UNIT]])
    term = Term.of((0,), [np.arange(5)], [[0, 1], [0, 1], [0, 1], [1, 2], [1, 2]], weights, 3)
    random, matrix = np.random.default_rng(0), Ridge.of((3,), (3,), (2.0,)).matrix + 7.0 * overlap(term)
    moved = np.linalg.solve(matrix, random.normal(scale=1.5, size=(3, 40_000)))
    assert np.sqrt((moved**2).mean()) == pytest.approx(noise_of(term, 1.5, 2.0, 7.0), rel=0.05)
    even = Ridge.of((3,), (3,), (2.0,)).matrix + 7.0 * np.eye(3)  # as if knots did not share records
    assert noise_of(term, 1.5, 2.0, 7.0) > 1.1 * 1.5 * np.sqrt((np.linalg.inv(even) ** 2).sum() / 3)
