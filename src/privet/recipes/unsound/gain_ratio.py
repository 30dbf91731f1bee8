"""C4.5's criterion, for trees without privacy ONLY: one record can move it over its whole range."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from privet.privacy.scores import MAX_RECORDS, InfoGain, score_tests
from privet.schema import Schema
from privet.structure.splits import Tests

Floats = npt.NDArray[np.float64]
SLACK = 1e-3  # bits a record below the average gain that C4.5 lets pass


@dataclass(frozen=True, slots=True)
class GainRatio(InfoGain):
    """The gain of a test over the entropy of its children's sizes (Quinlan 1993).

    Each attribute enters with the test of the largest gain; of those with at least average gain the ratio decides.
    """

    max_records: int = MAX_RECORDS

    def rank(self, counts: npt.NDArray[Any], tests: Tests, schema: Schema, fits: npt.NDArray[np.bool_]) -> Floats:
        """(cell, test) ratios; minus infinity for tests that do not enter. ``fits`` says which may."""
        all_of_cell = counts[:, : schema.offsets[1]].sum(axis=1)  # every record is in one bin of the first attribute
        size = np.maximum(all_of_cell.sum(axis=1, keepdims=True), 1)
        gain = (score_tests(counts, tests, self, schema)[0] - self.node(all_of_cell)[:, None]) / size
        by_size = counts.sum(axis=2, keepdims=True)
        spread = (size * np.log2(size) - score_tests(by_size, tests, _Sizes(self.max_records), schema)[0]) / size
        enters = np.zeros_like(fits)
        for attribute in np.unique(tests.attribute):
            mine = np.flatnonzero(tests.attribute == attribute)
            best = mine[np.where(fits[:, mine], gain[:, mine], -np.inf).argmax(axis=1)]
            rows = np.arange(len(fits))
            enters[rows, best] = fits[rows, best]
        average = np.where(enters, gain, 0).sum(axis=1) / np.maximum(enters.sum(axis=1), 1)
        enters &= gain >= average[:, None] - SLACK
        return np.where(enters, np.divide(gain, spread, out=np.zeros_like(gain), where=spread > 0), -np.inf)


class _Sizes(InfoGain):
    """The sum over children of n log2 n."""

    def node(self, counts: npt.NDArray[Any]) -> Floats:
        size = counts.sum(axis=-1).astype(np.float64)
        return np.asarray(size * np.log2(np.maximum(size, 1)))
