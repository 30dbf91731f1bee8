"""Stopping rules. They get public facts and released numbers only (``LevelFacts``), and cannot query for more."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class LevelFacts:
    """The public facts about the cells of a level."""

    released: npt.NDArray[np.int64] | None
    """What the node question answered: (cell,) sizes or (cell, class) counts; None if it was not asked."""
    largest_arity: npt.NDArray[np.intp]
    """The most children that an allowed test of each cell has."""
    n_classes: int
    noise: float
    """The scale of a count's noise at this level, which has a standard deviation near sqrt(2) times that."""

    @property
    def sizes(self) -> npt.NDArray[np.int64] | None:
        if self.released is None or self.released.ndim == 1:
            return self.released
        return np.asarray(self.released.sum(axis=1))


class StoppingRule(Protocol):
    def stops(self, level: LevelFacts) -> Bools:
        """Which cells become leaves."""


@dataclass(frozen=True, slots=True)
class TooNoisy:
    """Friedman & Schuster's rule: stop where the average class count of a child would be below the noise.

    Also below a released size, if one is given.
    """

    min_size: int = 0

    def stops(self, level: LevelFacts) -> Bools:
        if level.sizes is None:
            return np.zeros(level.largest_arity.shape, dtype=bool)
        each = level.sizes / (np.maximum(level.largest_arity, 1) * level.n_classes)  # 0: no test is left anyway
        return np.asarray((each < math.sqrt(2) * level.noise) | (level.sizes < self.min_size))


@dataclass(frozen=True, slots=True)
class SmallOrPure:
    """Stop below a released size, or where at most one class has a positive released count."""

    min_size: int = 0

    def stops(self, level: LevelFacts) -> Bools:
        if level.released is None or level.released.ndim == 1 or level.sizes is None:
            return np.zeros(level.largest_arity.shape, dtype=bool)
        return np.asarray((level.sizes < self.min_size) | ((level.released > 0).sum(axis=1) <= 1))
