"""Cheap mechanisms with a known loss, for tests of the sampling auditor, where other processes find them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

FIVE = np.zeros((5, 1)), np.zeros(5, dtype=int)
FOUR = np.zeros((4, 1)), np.zeros(4, dtype=int)
ONE_PAIR = [("five against four", FIVE, FOUR)]


@dataclass
class Planted:
    """A mechanism with its own source of chance."""

    random: np.random.Generator
    loss: float

    def count(self, X: Any, y: Any) -> int:
        """The number of records with geometric noise of just that loss."""
        p = 1 - np.exp(-self.loss)
        return len(X) + int(self.random.geometric(p)) - int(self.random.geometric(p))

    def choice(self, X: Any, y: Any) -> int:
        """A choice among 200, of which one is better by the last record. Its loss is a little less: see below."""
        scores = np.repeat([3.0, 0.0], [20, 180])
        scores[0] = len(X) - 1
        weights = np.exp(self.loss * (scores - scores.max()))
        return int(np.searchsorted(np.cumsum(weights) / weights.sum(), self.random.random()))

    def reals(self, X: Any, y: Any) -> dict[str, Any]:
        """Real numbers: a Laplace sum, among numbers that say nothing."""
        return {"sum": len(X) + self.random.laplace(0, 1 / self.loss), "other": self.random.normal(size=5)}

    def votes(self, X: Any, y: Any) -> Any:
        """Sixteen weak answers: no single one shows the loss, all together do."""
        each = self.loss / 16
        towards = 1 if len(X) > 4 else -1
        return (self.random.random(16) < 1 / (1 + np.exp(-towards * each))).astype(int)


class NoisyCount:
    """A learner with ``fit(X, y)``, of loss 2."""

    def fit(self, X: Any, y: Any) -> NoisyCount:
        self.count_ = Planted(np.random.default_rng(), 2.0).count(X, y)
        self._exact = len(X)  # not public
        return self

    def predict(self, X: Any) -> Any:
        return np.zeros(len(X))


class Shards:
    """A label for each shard, by permute-and-flip with epsilon 1. Rows are dealt out by their position.

    With one shard it keeps its promise. With more, a row that leaves moves the others into other shards.
    """

    def __init__(self, random: np.random.Generator, shards: int) -> None:
        self._random, self._shards = random, shards

    def fit(self, X: Any, y: Any) -> Shards:
        place = np.arange(len(y)) * self._shards // max(len(y), 1)
        ones, rows = np.bincount(place, y, minlength=self._shards), np.bincount(place, minlength=self._shards)
        flipped = self._random.random(self._shards) < np.exp(-np.abs(2 * ones - rows)) / 2
        self.labels_ = ((2 * ones > rows) ^ flipped).astype(int)
        self.thresholds_ = self._random.random(self._shards)
        return self

    def predict(self, X: Any) -> Any:
        return np.full(len(X), self.labels_.mean())


def planted(kind: str, loss: float, seed: int) -> Any:
    return getattr(Planted(np.random.default_rng(seed), loss), kind)


def unseeded_count(X: Any, y: Any, loss: float = 2.0) -> int:
    return Planted(np.random.default_rng(), loss).count(X, y)


sharp_count = partial(unseeded_count, loss=3.0)


def pairs() -> Any:
    return ONE_PAIR
