"""``PrivateNumberScore``: how far a model's numbers are off, from two noisy histograms on a public grid."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from privet.evaluation.private_result import ORIGINS, Scored
from privet.evaluation.rounding import NoisyGrid, both_sides, clip_of, sizes_of
from privet.models.intervals import Estimate
from privet.models.number_tree import number_words
from privet.privacy.certificate import Certificate
from privet.schema import Numeric


@dataclass(frozen=True)
class PrivateNumberScore(Scored):
    """Noisy counts of errors and of labels, and the measures computed from them.

    ``errors`` are noisy numbers of records whose prediction is off by each size of the grid, ``labels`` the same for
    the distance of the label from ``centre``, on either side; they can be negative. Intervals cover the true value, for
    records drawn as these were, 95 times in 100: they include noise and sampling.
    """

    label: Numeric
    centre: float
    errors: tuple[int, ...]
    labels: tuple[int, ...]
    epsilon: Fraction
    scale: Fraction
    held_out: bool | None
    certificate: Certificate

    @property
    def measures(self) -> dict[str, Estimate]:
        return {"R2": self.r2, "MAE": self.mae, "RMSE": self.rmse}

    @property
    def mae(self) -> Estimate:
        """The mean absolute error, in the label's own unit."""
        return self._errors.mean_size(self.clip)

    @property
    def rmse(self) -> Estimate:
        """The root of the mean squared error, in the label's own unit."""
        square = self._errors.mean_square(self.clip)
        return Estimate(*(math.sqrt(max(number, 0.0)) for number in (square.value, square.low, square.high)))

    @property
    def r2(self) -> Estimate:
        """One minus the squared errors over the squared distances of the labels from their mean."""
        left = self._errors.squares_over(self._labels, self.clip)
        return Estimate(1 - left.value, 1 - left.high, 1 - left.low)

    @cached_property
    def clip(self) -> float:
        """Errors, and distances from ``centre``, above this count as this: noise hides all that is further off."""
        return clip_of((self._errors, self._labels), sizes_of(self.label))

    def to_dict(self) -> dict[str, Any]:
        grid = sizes_of(self.label)
        return {
            "label": self.label.name,
            **{name.lower(): estimate.to_dict() for name, estimate in self.measures.items()},
            "clip": self.clip,
            "centre": self.centre,
            "errors": {"points": grid.tolist(), "counts": list(self.errors)},
            "labels": {"points": both_sides(grid).tolist(), "counts": list(self.labels)},
            **self._facts(),
        }

    def __str__(self) -> str:
        lines = [f"{name:<6} {value}" for name, value in self.written.items()]
        beyond = f"errors above {number_words(self.clip, 4)} count as that"
        return "\n".join([*lines, f"(95 % intervals, noise included; {beyond}; {ORIGINS[self.held_out]})"])

    @property
    def written(self) -> dict[str, str]:
        return {name: str(value) if name == "R2" else _words(value) for name, value in self.measures.items()}

    # -- inside ----------------------------------------------------------------------------------------------------

    @property
    def _errors(self) -> NoisyGrid:
        return NoisyGrid(sizes_of(self.label), np.array(self.errors, dtype=np.float64), float(self.scale))

    @property
    def _labels(self) -> NoisyGrid:
        grid = both_sides(sizes_of(self.label))
        return NoisyGrid(grid, np.array(self.labels, dtype=np.float64), float(self.scale))


def _words(estimate: Estimate) -> str:
    value = "unknown" if math.isnan(estimate.value) else number_words(estimate.value, 4)
    return f"{value} [{number_words(estimate.low, 4)}, {number_words(estimate.high, 4)}]"
