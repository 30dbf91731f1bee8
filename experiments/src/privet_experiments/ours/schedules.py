"""How to spread a budget over the levels of a tree: an open problem of all three works. NOT PRIVATE.

Every schedule of six recipes on samples of real tables and on shapes of numbers, against the same for each level.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, get_args

import numpy as np

from privet.evaluation.figure import Figure, Point, Series
from privet.growing.schedules import SCHEDULES, LevelSchedule
from privet_experiments.experiment import Row
from privet_experiments.folds import Learner, standard_error
from privet_experiments.ours.samples import Sampled, ahead, measured
from privet_experiments.outcome import Outcome, Table
from privet_experiments.sweep import Results, declare

LEVELS = get_args(LevelSchedule)
# Default settings, but that embedded draws a level at a time: whole trees have one block, and nothing to spread.
RECIPES: Mapping[str, tuple[tuple[str, ...], dict[str, Any]]] = {
    "diffpid3": (SCHEDULES, {}),
    "diffpc45": (SCHEDULES, {}),
    "patil-singh2014": (SCHEDULES, {}),
    "mohammed2015": (LEVELS, {}),
    "greedy-forest": (LEVELS, {}),
    "embedded": (LEVELS, {"embedding_depth": 1}),
}
EQUAL, *OTHERS = SCHEDULES
SURE = 3.0  # standard errors that the best must be ahead: of six, one is two ahead by chance now and then


def at(recipe: str, schedule: str) -> str:
    return f"{recipe}, {schedule}"


@dataclass(frozen=True)
class Schedules(Sampled):
    """Recipes that spend at every level, with each schedule, on samples of real tables and on shapes."""

    title: ClassVar[str] = "Schedules"
    known: ClassVar[Mapping[str, Learner]] = declare(
        {
            at(recipe, schedule): (recipe, {**params, "schedule": schedule})
            for recipe, (schedules, params) in RECIPES.items()
            for schedule in schedules
        }
    )

    def conclude(self, rows: Sequence[Row]) -> Outcome:
        outcome = super().conclude(rows)
        return replace(outcome, notes=(*outcome.notes, *self._found(Results(rows))))

    def notes(self) -> tuple[str, ...]:
        text = f"Each gap is between two means over the same {self.n_runs} folds. ± is the standard error over tables"
        return (f"{text}, over recipes where a row is a table, or over both where it is all recipes.",)

    def _found(self, results: Results) -> Iterator[str]:
        """Which schedule is best, on the tables and on the shapes, over all recipes and epsilons."""
        for kind, tables in self.kinds().items():
            gaps = {name: self._gaps(results, name, tables) for name in OTHERS}
            gaps = {name: found for name, found in gaps.items() if found}
            if not gaps:
                continue
            best = max(gaps, key=lambda name: float(np.mean(gaps[name])))
            sure = np.mean(gaps[best]) > SURE * standard_error(gaps[best])
            text = f"On the {kind} the best is {best!r}, {ahead(gaps[best])} points ahead of {EQUAL!r} over all recipes"
            chance = "more than chance explains" if sure else "chance explains as much"
            yield f"{text} and epsilons ({len(gaps[best])} cells): {chance}."

    def _tables(self, results: Results, measure: str) -> Iterator[Table]:
        for epsilon in self.epsilons:
            rows = [
                (recipe, self._on(results, kind, epsilon, [recipe]), *self._row(results, tables, epsilon, [recipe]))
                for recipe in RECIPES
                for kind, tables in self.kinds().items()
            ]
            rows += [
                ("all", self._on(results, kind, epsilon), *self._row(results, tables, epsilon))
                for kind, tables in self.kinds().items()
            ]
            title = f"Points of accuracy ahead of {EQUAL!r} at epsilon {epsilon:g}, by recipe"
            yield Table(title, ("recipe", "on", *OTHERS), tuple(rows))
        for epsilon in self.epsilons:
            rows = [(table, *self._row(results, [table], epsilon)) for table in self.tables]
            title = f"The same at epsilon {epsilon:g}, by table"
            yield Table(title, ("table", *OTHERS), measured(rows))

    def _on(self, results: Results, kind: str, epsilon: float, recipes: Sequence[str] = tuple(RECIPES)) -> str:
        """How many tables there are results of: an unfinished run has fewer."""
        there = [
            any(results.folds(table, at(recipe, EQUAL), epsilon) for recipe in recipes) for table in self.kinds()[kind]
        ]
        return f"{sum(there)} {kind}"

    def _row(
        self, results: Results, tables: Sequence[str], epsilon: float, recipes: Sequence[str] = tuple(RECIPES)
    ) -> list[str]:
        return [ahead(self._gaps(results, name, tables, [epsilon], recipes)) for name in OTHERS]

    def _gaps(
        self,
        results: Results,
        schedule: str,
        tables: Sequence[str],
        epsilons: Sequence[float] | None = None,
        recipes: Sequence[str] = tuple(RECIPES),
    ) -> list[float]:
        """In every cell that has both; an unfinished run has fewer."""
        found = (
            tuple(results.mean(table, at(recipe, name), epsilon) for name in (schedule, EQUAL))
            for recipe in recipes
            for table in tables
            for epsilon in epsilons or self.epsilons
        )
        return [one - other for one, other in found if one is not None and other is not None]

    def _figures(self, results: Results) -> Iterator[Figure]:
        series = []
        for kind, tables in self.kinds().items():
            for epsilon in self.epsilons:
                cells = [(name, self._gaps(results, name, tables, [epsilon])) for name in OTHERS]
                points = tuple(Point(name, float(np.mean(gaps)), standard_error(gaps)) for name, gaps in cells if gaps)
                series.append(Series(f"{kind}, epsilon {epsilon:g}", points))
        yield Figure(f"Points ahead of {EQUAL!r}, all recipes", "schedule", "points of accuracy", tuple(series))
