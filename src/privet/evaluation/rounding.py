"""Numbers on a public grid, and what noisy counts of its points say of their mean and their squares.

The points of the grid are a constant ratio apart, so that it suits numbers of every size. Each number goes to one of
the two points beside it, by a coin of its own that keeps the mean. A record is at one point, so noisy counts of all
points cost epsilon once. Claim and proof: ``docs/proofs/folds.md#a-private-score-of-numbers``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from privet.evaluation.intervals import average, quotient
from privet.growing.labels import stretch
from privet.models.intervals import Estimate, noise_variance
from privet.privacy.noise import current_source
from privet.schema import Numeric

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

PER_DOUBLING = 4  # points: twice as many would add 40 % to the noise of a mean, and coins keep it right with few
DOUBLINGS = 32  # the smallest point is so many halvings below the width of the bounds, which may be far too wide
SIDES = 2**20  # of a coin: the mean is kept to a millionth
RATIO = 2 ** (1 / PER_DOUBLING)
FEW = 0.1  # of the records, at most, are clipped where models are compared: a run that clips more must not win by it
SQUARED = 1 - ((RATIO - 1) ** 2 + (1 - 1 / RATIO) ** 2) / 12  # what a coin adds to the square of a number, taken off


def sizes_of(label: Numeric) -> Floats:
    """The grid for distances between two values of a number: 0, and points up to the width of its bounds.

    >>> sizes_of(Numeric("wage", 0, 80))[[0, 1, -5, -2, -1]].round(2)
    array([ 0.  ,  0.  , 40.  , 67.27, 80.  ])
    """
    halvings = np.arange(PER_DOUBLING * DOUBLINGS, -1, -1) / PER_DOUBLING
    return np.concatenate([[0.0], (label.high - label.low) * 0.5**halvings])


def both_sides(sizes: Floats) -> Floats:
    """The grid for numbers of either sign."""
    return np.concatenate([-sizes[:0:-1], sizes])


def rounded(values: Floats, grid: Floats) -> Ints:
    """The number of a grid point for each value: one of the two beside it, by a coin that keeps the mean."""
    inside = np.clip(values, grid[0], grid[-1])
    below = np.minimum(np.searchsorted(grid, inside, side="right") - 1, grid.size - 2)
    share = (inside - grid[below]) / (grid[below + 1] - grid[below])
    return np.asarray(below + (current_source().coins(SIDES, values.size) < share * SIDES), dtype=np.int64)


@dataclass(frozen=True, eq=False)
class NoisyGrid:
    """Noisy counts of the points of a grid, with discrete Laplace noise of ``scale`` in each."""

    points: Floats
    counts: Floats
    scale: float

    @property
    def noise(self) -> float:
        return noise_variance(self.scale)

    def mean_size(self, clip: float) -> Estimate:
        """The mean of the absolute numbers, those above ``clip`` counted as ``clip``."""
        return average(np.minimum(np.abs(self.points), clip), self.counts, self.noise)

    def mean_square(self, clip: float) -> Estimate:
        return average(self._squares(clip), self.counts, self.noise)

    def squares_over(self, other: NoisyGrid, clip: float) -> Estimate:
        """The sum of squares, over the sum of the other's squares around their mean."""
        theirs = np.clip(other.points, -clip, clip)
        total = float(other.counts.sum())
        mean = float(theirs @ other.counts) / total if total > 0 else 0.0
        around = np.maximum(other._squares(clip) - 2 * mean * theirs + mean**2, 0.0)
        return quotient((self._squares(clip), self.counts, self.noise), (around, other.counts, other.noise))

    def _squares(self, clip: float) -> Floats:
        return SQUARED * np.minimum(np.abs(self.points), clip) ** 2


def clip_of(grids: Sequence[NoisyGrid], sizes: Floats) -> float:
    """The size above which noisy counts show no records: what lies beyond is mostly noise, and is clipped to it."""
    folded, noise = np.zeros(sizes.size), 0.0
    for grid in grids:
        np.add.at(folded, np.searchsorted(sizes, np.abs(grid.points)), grid.counts)
        noise += grid.scale**2 * (2 if grid.points[0] < 0 else 1)
    _, stop = stretch(folded, math.sqrt(noise))
    return float(sizes[max(stop - 1, 1)])


def error_to_compare(grid: NoisyGrid) -> float:
    """The mean size by which models are compared; the largest possible one where counts suggest no records."""
    total = float(grid.counts.sum())
    if total <= 0:
        return float(grid.points[-1])
    more_beyond = np.flatnonzero(total - np.cumsum(grid.counts) > FEW * total)
    least = grid.points[more_beyond[-1] + 1] if more_beyond.size else 0.0
    return grid.mean_size(max(clip_of([grid], grid.points), float(least))).value
