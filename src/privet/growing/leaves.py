"""Leaf policies: what a leaf buys and what it then says."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from privet.growing.open_frontier import AnyFrontier

Floats = npt.NDArray[np.float64]
Index = npt.NDArray[np.intp]


class LeafPolicy(Protocol):
    def release(self, frontier: Any, cells: Index, epsilon: Fraction) -> Floats:
        """(cell, class) released counts; for policies that buy a label only, a single 1 in its place."""


@dataclass(frozen=True, slots=True)
class NoisyCounts:
    """Class counts with noise: the label is the largest, and predictions are graded."""

    def release(self, frontier: AnyFrontier, cells: Index, epsilon: Fraction) -> Floats:
        return frontier.class_counts_all(epsilon, cells, what="leaf class counts").astype(np.float64)


@dataclass(frozen=True, slots=True)
class ChosenLabels:
    """One label by permute-and-flip: more often right than noisy counts at the same price, but nothing else."""

    def release(self, frontier: AnyFrontier, cells: Index, epsilon: Fraction) -> Floats:
        return np.eye(frontier.schema.n_classes)[frontier.choose_labels_all(epsilon, cells)]
