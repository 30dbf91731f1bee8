"""The solver's certificate is true, its answer is that of other solvers, and no table or noise makes it fail."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privet.engines.memory import MemoryEngine
from privet.privacy.counting import ROOT
from privet.privacy.fits import solver
from privet.privacy.fits.smoothness import Ridge
from privet.privacy.fits.solver import Objective, solve
from privet.schema import Categorical, Schema
from privet.structure.fit_losses import MarginLoss
from privet.structure.terms import UNIT, Term
from privet.tables.encoding import Codes

Floats = npt.NDArray[np.float64]
GRADIENT = 2.0**-18


def make(
    records: int, classes: int, seed: int, ridge: float = 3.0, noise: float = 4.0, chain: int = 0, margin: float = 0.0
) -> Objective:
    """Two terms over random records: one of categories, one of mixes."""
    random = np.random.default_rng(seed)
    schema = Schema(
        (Categorical("a", tuple(range(4))), Categorical("b", tuple(range(7)))), Categorical("y", tuple(range(classes)))
    )
    features = np.stack([random.integers(0, 4, records), random.integers(0, 7, records)]).astype(np.uint8)
    labels = ((features.sum(axis=0) + random.integers(0, 3, records)) % classes).astype(np.uint8)
    share = np.rint(np.linspace(0, 1, 7) * UNIT).astype(int)
    terms = (
        Term.one_hot((0,), [np.arange(4)], 4),
        Term.of((1,), [np.arange(7)], [[0, 1]] * 7, np.stack([UNIT - share, share], axis=1)),
    )
    columns = 1 if classes == 2 else classes
    drawn = random.laplace(0, noise, (6, columns))
    drawn = drawn if columns == 1 else drawn - drawn.mean(axis=1, keepdims=True)
    offset = np.linspace(-0.5, 0.5, columns)
    engine = MemoryEngine(schema, Codes(features, labels))
    pull = Ridge.of((4, 2), (chain, 0), (ridge, ridge))
    return Objective(engine, ROOT, terms, (), offset, np.ones(classes), pull, drawn, MarginLoss(margin))


def design(objective: Objective) -> tuple[Floats, npt.NDArray[np.int64]]:
    """(record, cell) features and labels."""
    engine: Any = objective.engine
    rows = []
    for term in objective.terms:
        matrix = np.zeros((term.bins, term.size))
        np.add.at(matrix, (np.arange(term.bins)[:, None], term.cells), term.weights / UNIT)
        rows.append(matrix[engine._features[term.attributes[0]]])
    return np.concatenate(rows, axis=1), engine._labels.astype(np.int64)


def gradient(objective: Objective, theta: Floats) -> Floats:
    """In extended precision, record by record."""
    x, y = design(objective)
    scores = (x.astype(np.longdouble) @ theta) + objective.offset
    if theta.shape[1] == 1:
        residual = 1 / (1 + np.exp(-scores - objective.loss.margin * (1 - 2 * y[:, None]))) - y[:, None]
    else:
        scores -= objective.loss.margin * np.eye(theta.shape[1])[y]
        weights = np.exp(scores - scores.max(axis=1, keepdims=True))
        residual = weights / weights.sum(axis=1, keepdims=True) - np.eye(theta.shape[1])[y]
    slope = x.T @ residual + objective.ridge.matrix.astype(np.longdouble) @ theta + objective.noise
    return np.asarray(slope if theta.shape[1] == 1 else slope - slope.mean(axis=1, keepdims=True), dtype=np.float64)


@settings(max_examples=25, deadline=None)
@given(
    st.integers(0, 300),
    st.sampled_from([2, 3, 5]),
    st.integers(0, 10**6),
    st.sampled_from([0.01, 1.0, 100.0, 1e5]),
    st.sampled_from([0, 2, 4]),
    st.sampled_from([0.0, 1.4, 3.0]),
)
def test_the_certificate_is_true(records: int, classes: int, seed: int, size: float, chain: int, margin: float) -> None:
    objective = make(records, classes, seed, 2 * size, size, chain, margin)
    theta = solve(objective, GRADIENT)
    assert np.abs(gradient(objective, theta)).max() <= GRADIENT
    assert classes == 2 or np.abs(theta.sum(axis=1)).max() < 1e-12


def test_the_error_bound_covers_the_real_error() -> None:
    """At random points, also far out, the gradient as computed is within its bound of the one in extended precision."""
    for seed, classes in enumerate((2, 3, 2, 5)):
        objective = make(5000, classes, seed)
        columns = objective.noise.shape[1]
        theta = np.random.default_rng(seed).normal(0, 10.0 ** (seed - 1), (6, columns))
        theta = theta if columns == 1 else theta - theta.mean(axis=1, keepdims=True)
        slope, error = solver._gradient(objective, theta, 5000.0)
        assert np.abs(slope - gradient(objective, theta)).max() <= error
        assert error < 1e-6


def test_the_answer_is_scikit_learns() -> None:
    """Without noise and with one ridge this is ridge-penalised logistic regression."""
    from sklearn.linear_model import LogisticRegression

    for classes in (2, 4):
        objective = make(2000, classes, 1, ridge=3.0)
        objective = Objective(**(vars(objective) | {"noise": 0 * objective.noise, "offset": 0 * objective.offset}))
        x, y = design(objective)
        theirs = LogisticRegression(C=1 / 3.0, fit_intercept=False, tol=1e-10, max_iter=5000).fit(x, y)
        assert solve(objective, GRADIENT) == pytest.approx(theirs.coef_.T, abs=1e-5)


def test_class_weights_and_background_count() -> None:
    """A weight of 0 is a class that is not there; a background is an offset for each record."""
    objective = make(800, 2, 3)
    facts = vars(objective)
    only = Objective(**(facts | {"class_weights": np.array([1.0, 0.0])}))
    engine: Any = objective.engine
    kept = np.flatnonzero(engine._labels == 0)
    same = Objective(**(facts | {"engine": engine.take(kept)}))
    assert solve(only, GRADIENT) == pytest.approx(solve(same, GRADIENT), abs=1e-5)

    first, second = objective.terms
    table = np.linspace(-1, 1, first.bins)[:, None]
    alone = {"terms": (second,), "ridge": Ridge.of((2,), (0,), (3.0,)), "noise": objective.noise[4:]}
    shifted = Objective(**(facts | alone | {"background": ((first, table),)}))
    theta = solve(shifted, GRADIENT)
    x, y = design(objective)
    scores = x[:, :4] @ table + x[:, 4:] @ theta + objective.offset
    slope = x[:, 4:].T @ (1 / (1 + np.exp(-scores)) - y[:, None]) + 3.0 * theta + objective.noise[4:]
    assert np.abs(slope).max() <= GRADIENT


def test_a_certificate_that_is_too_kind_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test above can fail: a solver that stops at a gradient a thousand times as large does not pass it."""
    real = solver._gradient
    monkeypatch.setattr(solver, "_gradient", lambda *facts: (real(*facts)[0], -1000 * GRADIENT))
    objective = make(300, 2, 5)
    assert np.abs(gradient(objective, solve(objective, GRADIENT))).max() > GRADIENT


def test_extreme_tables_end() -> None:
    for labels in (0, 1):
        objective = make(3000, 2, 0, ridge=0.02, noise=0.01)
        engine: Any = objective.engine
        engine._labels = np.full_like(engine._labels, labels)
        assert np.isfinite(solve(objective, GRADIENT)).all()
