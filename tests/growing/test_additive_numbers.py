"""The additive model of a number: its calibration against the proof, planted faults, and what it learns."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import privet
from privet.models.codec import from_text, to_text
from privet.privacy.fits.calibration import FitLayout, calibrate
from privet.privacy.losses import UNLIMITED, Loss
from privet.report.page import model_page
from privet.schema import Categorical, Numeric, Schema

SCHEMA = Schema((Numeric("age", 0, 100), Categorical("sex", ("f", "m"))), Numeric("wage", 0, 100))


def table(n=6000, seed=0, times=1.0):
    random = np.random.default_rng(seed)
    age, sex = random.integers(18, 80, n), random.integers(0, 2, n)
    wage = 20 + 0.5 * age + 10 * sex + random.normal(0, 3, n)
    return {"age": age, "sex": np.array(["f", "m"])[sex], "wage": wage * times}


def r2(model, records):
    y = records["wage"]
    return 1 - ((y - model.predict(records)) ** 2).mean() / y.var()


def worst(e, q):
    g = np.linspace(0, 1, 100_001)
    return float((e * g + np.log1p(q * (1 - g * g))).max())


@pytest.mark.parametrize(("q", "expected"), [(0.5, 1.0), (1, 1.1133), (2, 1.4247), (4, 1.8863)])
def test_known_answers_of_the_proof(q, expected):
    assert worst(1.0, q) == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize(("e", "times"), [(1.0, 1.274), (0.25, 1.497)])
def test_the_planted_fault_loses_what_the_card_says_and_is_refused(e, times):
    assert worst(e, 1.5 * e) / e == pytest.approx(times, abs=1e-3)
    sound = calibrate(layout(), Loss(Fraction(e)))
    assert sum(1 / r for r in sound.ridges) <= sum(1 / s for s in sound.scales) / 2
    faulty = replace(sound, ridges=tuple(1.5 * s / 1.5**2 for s in sound.scales))  # q = 1.5 e
    assert faulty.spent() == UNLIMITED


def layout(records=1000.0):
    return FitLayout((4, 3), (2, 1), (1.0, 1.0), 512, records, 0.7 * records, 0.5, signed=True)


def log_density(x, y, theta, s, ridge):
    """Of a released point, up to a constant: that of the noise that leads there, times the determinant."""
    g = np.tanh(x @ theta - y)
    noise = -(g @ x + ridge * theta)
    return -(np.abs(noise) / s).sum() + np.linalg.slogdet((x.T * (1 - g**2)) @ x + np.diag(ridge))[1]


def densities_ratio(random, e, factor):
    """The largest loss of the ideal law over random tables and points, with q = factor * e."""
    largest = 0.0
    for _ in range(400):
        s = random.uniform(0.5, 3, 2)
        s *= (1 / s).sum() / e
        x = random.choice([np.ones((5, 2)), np.eye(2)[random.integers(0, 2, 5)]])
        y, theta = random.normal(0, 3, 5), random.normal(0, 2, 2)
        y[-1] = random.choice([x[-1] @ theta + random.normal(), 1e3, -1e3])
        more, less = (log_density(x[:n], y[:n], theta, s, s / factor) for n in (5, 4))
        largest = max(largest, abs(more - less))
    return largest / e


def test_the_law_on_neighbours_and_a_planted_ridge():
    random = np.random.default_rng(0)
    assert densities_ratio(random, 1.0, 0.5) <= 1 + 1e-9
    assert densities_ratio(random, 1.0, 4.0) > 1.05


@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_it_learns_and_keeps_its_promise(delta):
    model = privet.AdditiveRegressor(SCHEMA, epsilon=1, delta=delta).fit(table())
    assert r2(model, table(seed=1)) > 0.85
    assert (model.certificate_.epsilon, model.certificate_.delta) == (1, Fraction(str(delta)))
    assert 0 < model.shapes_[0].deviation < 10


@pytest.mark.parametrize("times", [1 / 50, 1e-6])
def test_bounds_that_are_far_too_wide_cost_little(times):
    model = privet.AdditiveRegressor(SCHEMA, epsilon=1).fit(table(times=times))
    assert r2(model, table(seed=1, times=times)) > 0.8


def test_few_records_get_the_mean():
    records = table(1500)
    model = privet.AdditiveRegressor(SCHEMA, epsilon=0.02).fit(records)
    assert "too few records" in " ".join(model.model_.notes) or model.model_.trees.parts
    if not model.model_.trees.parts:
        assert np.unique(model.predict(records)).size == 1


def test_views_pages_and_files(tmp_path):
    model = privet.AdditiveRegressor(SCHEMA, epsilon=2).fit(table())
    record = {"age": [30], "sex": ["f"]}
    assert sum(reason.added[0] for reason in model.explain(record)) == pytest.approx(model.predict(record)[0])
    assert "adds to wage" in model_page(model.model_)
    assert "units of wage" in str(next(model.model_.sections()))
    again = from_text(to_text(model.model_, "a model"))
    assert again.trees.offset == model.model_.trees.offset
    model.save(tmp_path / "m.json")
    assert privet.load_model(tmp_path / "m.json").predict(record) == model.predict(record)
