"""One-run auditing: known answers, validity, power, and its blind spot."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.base import BaseEstimator
from sklearn.tree import DecisionTreeClassifier

from privet.audit import one_run, sample
from privet.audit.sampling.one_run import chance, one_run_bound
from privet.errors import ParameterError

CELLS = 1_000
CANARIES = np.arange(CELLS), np.zeros(CELLS, dtype=int)


def counts(loss: float, seed: int) -> Any:
    """A noisy count of each cell: one record costs ``loss``."""
    random = np.random.default_rng(seed)
    p = 1 - np.exp(-loss)
    return lambda X, y: np.bincount(X, minlength=CELLS) + random.geometric(p, CELLS) - random.geometric(p, CELLS)


def by_cell(released: Any, X: Any, y: Any) -> Any:
    return released[X]


def test_known_answers() -> None:
    assert chance(60, 100, 100, 0.0, 0.0) == pytest.approx(binom.sf(59, 100, 0.5))
    bound = one_run_bound(90, 100, 100, 0.05)
    assert binom.sf(89, 100, 1 / (1 + math.exp(-bound))) == pytest.approx(0.05)
    assert one_run_bound(40, 100, 100, 0.05) == 0.0
    # With delta: tail + 2 m delta max_i P[v > W >= v - i] / i, here by hand for v = 2 of r = 2 guesses at epsilon 0.
    assert chance(2, 2, 10, 0.0, 0.01) == pytest.approx(0.25 + 2 * 10 * 0.01 * max(0.5, 0.75 / 2))
    assert one_run_bound(90, 100, 100, 0.05, delta=1e-4) < bound


def test_power_and_validity() -> None:
    """alpha 1e-6: the true claim is refuted with that probability at most."""
    assert one_run(counts(2.0, 0), CANARIES, 1, function=True, guess=by_cell, seed=0).verdict == "violated"
    true = one_run(counts(1.0, 11), CANARIES, 1, alpha=1e-6, function=True, guess=by_cell, seed=1)
    assert true.verdict == "not refuted"
    assert true.bound > 0.3
    assert true.most > 3


def test_a_classifier_by_the_probability_of_its_own_label() -> None:
    """A tree without any privacy remembers every canary."""
    random = np.random.default_rng(0)
    X = random.random((400, 2))
    y = random.integers(0, 2, 400)
    base = random.random((50, 2)), np.arange(50) % 2
    found = one_run(DecisionTreeClassifier, (X, y), 1, base=base, seed=2)
    assert found.bound > 0.5
    assert found.right > found.guesses / 2


class Shards(BaseEstimator):
    """Ten shards by the position of a row, a noisy label each: one record moves the others."""

    def fit(self, X: Any, y: Any) -> Shards:
        random = np.random.default_rng()
        place = np.arange(len(y)) * 10 // max(len(y), 1)
        ones = np.bincount(place, y, minlength=10)
        share = 1 / (1 + np.exp(-(2 * ones - np.bincount(place, minlength=10))))
        self.labels_ = (random.random(10) < share).astype(int)
        self.classes_ = np.array([0, 1])
        return self

    def predict_proba(self, X: Any) -> Any:
        votes = np.full(len(X), self.labels_.mean())
        return np.stack([1 - votes, votes], axis=1)


def test_its_blind_spot_is_not_that_of_sampling() -> None:
    """Shards by position lose 3 or more at a claim of 1. One run sees nothing; many fits do."""
    blocks = np.arange(40) // 4 % 2
    X = np.full((40, 1), 0.5)
    once = one_run(Shards, (X, blocks), 1, seed=0)
    assert once.verdict == "not refuted"
    pair = ("blocks without the first", (X, blocks), (X[1:], blocks[1:]))
    assert sample(Shards, [pair], 1, max_fits=8_000, search=False).verdict == "violated"


def test_mistakes() -> None:
    with pytest.raises(ParameterError, match="guesses must be"):
        one_run(counts(1, 0), (np.arange(2), np.zeros(2)), function=True, guess=by_cell)
    with pytest.raises(ParameterError, match="one a canary"):
        one_run(counts(1, 0), CANARIES, function=True, guess=lambda released, X, y: [0.0])
