"""What is bought first, and what everything after is decided by: about how many records there are of each class."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from privet.privacy.dataset import PrivateDataset

Floats = npt.NDArray[np.float64]

FIRST_SHARE = Fraction(1, 50)  # of epsilon, for class counts
MOST_SHARE = Fraction(1, 5)  # of epsilon, for counting again where the first counts are too vague
WANTED = 50.0  # scales of noise that a table should hold records: then shares are good to some per cent
MARGIN = 1e-6  # by which the largest class leads at least, so that ties are none
LEAST_EVIDENCE = 0.02  # of a record: p(1 - p) where one class is rare


@dataclass(frozen=True, eq=False)
class ClassEstimate:
    """About how many records there are of each class, none below ``least``; and the ``share`` of epsilon it cost.

    ``counted`` is what was counted, and ``weight`` how exactly: the sum of the squares of all shares that bought it.
    """

    counted: Floats
    weight: float
    share: Fraction
    least: float = 1.0

    @property
    def counts(self) -> Floats:
        return np.maximum(self.counted, self.least)

    @property
    def records(self) -> float:
        return float(self.counts.sum())

    @property
    def shares(self) -> Floats:
        return np.asarray(self.counts / self.records)

    @property
    def evidence(self) -> float:
        """About the sum of p(1 - p) over all records, for predictions that are about right."""
        return self.records * max((1 - float((self.shares**2).sum())) / 2, LEAST_EVIDENCE)

    @property
    def offset(self) -> Floats:
        """The scores of a model that says the released shares of everyone."""
        logs = np.log(self.shares)
        return np.array([logs[1] - logs[0]]) if len(logs) == 2 else np.asarray(logs - logs.mean())

    def led_by(self, label: int) -> ClassEstimate:
        """The same with a class that is known to be the largest."""
        counts = self.counts
        counts[label] = counts.max() * (1 + MARGIN)
        return replace(self, counted=counts)

    def weighted(self, weights: Floats) -> ClassEstimate:
        """As if each class had that part of its records; a class without weight stays possible."""
        return replace(self, counted=self.counts * weights)

    def refined(self, data: PrivateDataset, epsilon: Fraction, share: Fraction | None = None) -> ClassEstimate:
        """Counted once more, for a share of epsilon or all that is left of it; each count weighs as its noise says."""
        more = 1 - self.share if share is None else share
        again = data.level().class_counts_all(epsilon * more)[0].astype(np.float64)
        weight = self.weight + float(more) ** 2
        both = (self.weight * self.counted + float(more) ** 2 * again) / weight
        # Less than half of the noise's scale is as good as that: no class is ever ruled out.
        least = max(1.0, 0.5 * data.ledger.steps / (weight**0.5 * float(epsilon)))
        return ClassEstimate(both, weight, self.share + more, least)


def buy_class_estimate(data: PrivateDataset, epsilon: Fraction) -> ClassEstimate:
    """Class counts for a fiftieth of epsilon; counted again, for up to a fifth, where noise drowns them."""
    nothing = ClassEstimate(np.zeros(data.schema.n_classes), 0.0, Fraction(0))
    first = nothing.refined(data, epsilon, FIRST_SHARE)
    again = WANTED / (max(float(first.counted.sum()), 1.0) * float(epsilon))
    share = min(Fraction(again).limit_denominator(1000), MOST_SHARE)
    return first if share <= 2 * FIRST_SHARE else first.refined(data, epsilon, share)
