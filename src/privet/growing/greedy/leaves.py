"""Leaf policies: what a leaf buys and what it then says."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np
import numpy.typing as npt

from privet.growing.greedy.questions import Index, Questions

Floats = npt.NDArray[np.float64]


class LeafPolicy(Protocol):
    def release(self, level: Questions, cells: Index, epsilon: Fraction) -> Floats:
        """(cell, class) released counts."""


@dataclass(frozen=True, slots=True)
class NoisyCounts:
    """Class counts with noise. The label is the class with the largest count, and the counts give probabilities."""

    def release(self, level: Questions, cells: Index, epsilon: Fraction) -> Floats:
        return level.class_counts_all(epsilon, cells, what="leaf class counts").astype(np.float64)
