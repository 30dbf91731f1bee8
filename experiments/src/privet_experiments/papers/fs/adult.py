"""Friedman & Schuster's experiment on a real table (KDD 2010, Fig. 8), run again: DiffPC4.5 on adult.

Trees of depth 5 at most, three scores, 50,000 as the declared bound for InfoGain. The figure has no numbers in the
text; what the text says is judged by the corrected paired t-test at 0.05, as in the paper. Which budgets it tried the
text does not say, but that they are larger than 1. NOT PRIVATE, like every evaluation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from privet.evaluation.significance import corrected_t
from privet_experiments.folds import Learner
from privet_experiments.judge import Measure
from privet_experiments.sweep import Results, Sweep, declare

BOUND = 50_000  # records, as declared
LEVEL = 0.05
PUBLISHED = {"variant": "as-published", "max_depth": 5}
MAX, GINI, INFOGAIN = "Max", "Gini", "InfoGain"
SCORES = (INFOGAIN, GINI, MAX)


@dataclass(frozen=True)
class FsAdult(Sweep):
    """DiffPC4.5 as published by three scores on adult, with the exact tree and a tree without privacy beside it."""

    known: ClassVar[Mapping[str, Learner]] = declare(
        {
            INFOGAIN: ("diffpc45", {**PUBLISHED, "criterion": "infogain", "max_records": BOUND}),
            GINI: ("diffpc45", {**PUBLISHED, "criterion": "gini"}),
            MAX: ("diffpc45", {**PUBLISHED, "criterion": "max"}),
            "exact": ("exact", {}),
            "C4.5": ("c45", {"max_depth": 5, "criterion": "gainratio"}),
        }
    )
    title: ClassVar[str] = "DiffPC4.5 as published"
    section: ClassVar[str] = "fs.fig8"
    least_tables: ClassVar[int] = 1

    def measures(self, results: Results) -> Iterator[Measure]:
        if not self.has(*SCORES):
            return
        for table in (table for table in self.tables if table.startswith("adult")):
            for better, worse in ((MAX, GINI), (MAX, INFOGAIN), (GINI, INFOGAIN)):
                tests = [self._test(results, table, better, e, worse, e) for e in self.epsilons]
                clear = [gap for gap, p in tests if p < LEVEL]
                yield Measure(
                    "order",
                    table=table,
                    better=better,
                    worse=worse,
                    ahead=sum(gap > 0 for gap in clear),
                    behind=sum(gap < 0 for gap in clear),
                    budgets=len(tests),
                    gaps=[results.gap(table, better, worse, e) for e in self.epsilons],
                )
            low, high = min(self.epsilons), max(self.epsilons)
            for score in SCORES if low < high else ():
                gap, p = self._test(results, table, score, high, score, low)
                yield Measure("rise", table=table, score=score, gap=gap, p=p, low=low, high=high)
            spread = float(np.mean([np.std(results.folds(table, s, e)) for s in SCORES for e in self.epsilons]))
            yield Measure("spread", table=table, spread=spread)

    def _test(self, results: Results, table: str, one: str, at: float, other: str, there: float) -> tuple[float, float]:
        """How far the first is ahead, and the p value; 1 where all folds are the same."""
        folds = results.folds(table, one, at), results.folds(table, other, there)
        found = corrected_t(*folds, test_to_train=1 / (self.folds - 1))
        return (0.0, 1.0) if found is None else (found.difference, found.p_value)
