"""The last column of Table 9.1 of Fletcher's thesis: how accurate each private tree and forest is, in four classes.

The thesis sorts ten methods into quartiles of their mean relative accuracy, by what their authors published on various
tables. Here all of them learn from the same folds. Accuracy is relative to the best of the ten on a table at a budget,
and the classes are the quartiles of its mean.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from privet_experiments.folds import Learner
from privet_experiments.judge import Measure
from privet_experiments.sweep import Results, Sweep, declare

PUBLISHED = {"variant": "as-published"}
CLASSES = ("Very Low", "Low", "Medium", "High")


@dataclass(frozen=True)
class Table91(Sweep):
    """The ten methods of Table 9.1 on the same folds, and the quartile of each."""

    title: ClassVar[str] = "TH Table 9.1"
    section: ClassVar[str] = "fletcher.table91"
    known: ClassVar[Mapping[str, Learner]] = declare(
        {
            "Blum et al. 2005": ("sulq", PUBLISHED),
            "Friedman & Schuster 2010": ("diffpc45", {**PUBLISHED, "max_depth": 5}),
            "Mohammed et al. 2015": ("mohammed2015", {}),
            "Patil & Singh 2014": ("patil-singh2014", {}),
            "Chapter 6": ("greedy-forest", PUBLISHED),
            "Rana et al. 2016": ("rana2016", {}),
            "Jagannathan et al. 2012": ("jagannathan2012", {}),
            "Jagannathan et al. 2013": ("jagannathan2013", {}),
            "Chapter 7": ("snr-forest", {}),
            "Chapter 8": ("smooth-forest", PUBLISHED),
        }
    )

    def measures(self, results: Results) -> Iterator[Measure]:
        if not self.has(*self.known):
            return
        relative = {name: self._relative(results, name) for name in self.known}
        cuts = np.quantile(list(relative.values()), (0.25, 0.5, 0.75))
        for name, value in relative.items():
            yield Measure("quartile", at=name, mean=100 * value, ours_is=CLASSES[int(np.searchsorted(cuts, value))])

    def _relative(self, results: Results, name: str) -> float:
        """Accuracy over that of the best, mean over the tables and budgets where it learns at all."""
        found = []
        for table in self.tables:
            for epsilon in self.epsilons:
                means = {who: results.mean(table, who, epsilon) for who in self.known}
                mine, best = means[name], max(value for value in means.values() if value is not None)
                found += [] if mine is None else [mine / best]
        return float(np.mean(found)) if found else 0.0
