"""How alike are two fits of one table? Friedman and Schuster's first open problem, for every recipe. NOT PRIVATE."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from privet.evaluation.figure import Figure, Point, Series
from privet.evaluation.stability import compare_fits
from privet.recipes.registry import recipe_classes
from privet_experiments.experiment import Found, Job, axis
from privet_experiments.folds import Learner, fold_by_fold, frozen_table, standard_error
from privet_experiments.ours.samples import Sampled, ahead, measured
from privet_experiments.outcome import Table
from privet_experiments.sweep import Results, declare

MEASURES = {"accuracy": "accuracy %", "agreement": "same prediction %", "rules": "rules alike %"}
# What a stopping rule buys: the same recipe without its rule.
UNSTOPPED: Mapping[str, tuple[str, dict[str, Any]]] = {
    "random-forest, never stopped": ("random-forest", {"min_signal": 0.0}),
    "diffpc45, not pruned": ("diffpc45", {"prune": False}),
    "greedy-forest, never stopped": ("greedy-forest", {"min_records": 0, "prune": False}),
}
SOUND = tuple(name for name, one in recipe_classes().items() if "sound" in one.info.guarantee)
SLOW = ("exact", "additive", "smooth-forest")  # their jobs come last, so that a cut repeat has the others on all tables
BY_TABLE = ("exact", "additive", "random-forest", "diffpc45", "greedy-forest", "snr-forest", "mohammed2015")


@dataclass(frozen=True)
class Stability(Sampled):
    """Every sound recipe, fitted twice to each fold: how often both predict the same for unseen records, and the
    Jaccard index of their rules.
    """

    known: ClassVar[Mapping[str, Learner]] = declare({**{name: (name, {}) for name in SOUND}, **UNSTOPPED})
    tried: int = axis(1, "How many of the folds are tried, with two fits each; 0 is all of them.", least=0)
    repeats: int = axis(2, "How often, with other folds.")

    def jobs(self) -> list[Job]:
        return sorted(super().jobs(), key=lambda job: (job["repeat"], job["learner"] in SLOW))

    def run(self, job: Job) -> Found:
        frozen = frozen_table(type(self).load, job["table"])
        way = self.way(self.known[job["learner"]], job["table"], frozen.schema, job["epsilon"])
        fits = [
            fold_by_fold(way, frozen, folds=self.folds, seed=self.seed + job["repeat"], tried=self.tried)
            for _ in range(2)
        ]
        alike = [compare_fits([pair]) for pair in zip(*fits, strict=True)]
        return {
            "accuracy": [fold.accuracy for fold in fits[0]],
            "agreement": [one.agreement for one in alike],
            "rules": [one.rules for one in alike],
        }

    def notes(self) -> tuple[str, ...]:
        text = f"Each number of a table is the mean of at most {self.n_runs} folds with two fits each"
        return (f"{text}. In brackets: on how many tables, where it was not measured on all.",)

    def _tables(self, results: Results, measure: str) -> Iterator[Table]:
        for epsilon in self.epsilons:
            columns = [f"{text}, {kind}" for kind in self.kinds() for text in MEASURES.values()]
            rows = [(who.name, *self._row(results, who.name, epsilon)) for who in self.learners()]
            yield Table(f"Two fits of one table at epsilon {epsilon:g}", ("recipe", *columns), tuple(rows))
        yield self._bought(results)
        for epsilon in self.epsilons:
            shown = [name for name in BY_TABLE if self.has(name)]
            rows = [
                (table, *(_text(_per_cent(results, [table], name, epsilon, "agreement"), 1) for name in shown))
                for table in self.tables
            ]
            yield Table(f"Same prediction %, by table, at epsilon {epsilon:g}", ("table", *shown), measured(rows))

    def _row(self, results: Results, learner: str, epsilon: float) -> list[str]:
        return [
            _text(_per_cent(results, tables, learner, epsilon, measure), len(tables))
            for tables in self.kinds().values()
            for measure in MEASURES
        ]

    def _bought(self, results: Results) -> Table:
        """With the rule against without it, in points."""
        rows = []
        for without, (recipe, _) in UNSTOPPED.items():
            for epsilon in self.epsilons:
                gaps = [[*_gaps(results, self.tables, recipe, without, epsilon, measure)] for measure in MEASURES]
                rows.append((without, f"{epsilon:g}", f"{len(gaps[0])}", *map(ahead, gaps)))
        columns = ("the rule left out", "epsilon", "tables", *MEASURES.values())
        return Table("What a stopping rule buys: points, with the rule less without it", columns, tuple(rows))

    def _figures(self, results: Results) -> Iterator[Figure]:
        series = []
        for kind, tables in self.kinds().items():
            for epsilon in self.epsilons:
                cells = [
                    (who.name, _per_cent(results, tables, who.name, epsilon, "agreement")) for who in self.learners()
                ]
                points = tuple(Point(name, float(np.mean(each)), standard_error(each)) for name, each in cells if each)
                series.append(Series(f"{kind}, epsilon {epsilon:g}", points))
        yield Figure("Two fits of one table", "recipe", "same prediction %", tuple(series))


def _per_cent(results: Results, tables: Sequence[str], learner: str, epsilon: float, measure: str) -> list[float]:
    """On each table that has it; an unfinished run has fewer."""
    found = (results.mean(table, learner, epsilon, measure) for table in tables)
    return [value * (1 if measure == "accuracy" else 100) for value in found if value is not None]


def _gaps(
    results: Results, tables: Sequence[str], first: str, second: str, epsilon: float, measure: str
) -> Iterator[float]:
    for table in tables:
        both = [_per_cent(results, [table], learner, epsilon, measure) for learner in (first, second)]
        if all(both):
            yield both[0][0] - both[1][0]


def _text(values: Sequence[float], most: int) -> str:
    """A mean, and of how many values if there could be more."""
    few = f" ({len(values)})" if len(values) < most else ""
    return f"{np.mean(values):.1f}{few}" if values else "-"
