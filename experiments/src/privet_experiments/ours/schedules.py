"""How to spread a budget over the levels of a greedy tree: an open problem of all three works. NOT PRIVATE.

Every schedule of five recipes on real tables and on shapes of numbers, against the same for each level.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from privet.datasets import real
from privet.evaluation.figure import Figure, Point, Series
from privet.growing.greedy.schedules import SCHEDULES
from privet.schema import Schema
from privet_experiments.experiment import axis
from privet_experiments.folds import Learner, Load, standard_error
from privet_experiments.ours.shapes import world
from privet_experiments.outcome import Table
from privet_experiments.sweep import Results, Sweep, declare

RECIPES = ("diffpid3", "diffpc45", "mohammed2015", "greedy-forest", "patil-singh2014")
EQUAL, *OTHERS = SCHEDULES
SHAPES = ("uniform", "bell", "skewed", "spikes", "bounds x 1,000")
RECORDS = 5_000  # of a shape
TABLES = ("vote", "wbc", "car", "banknote", "mushroom", "nursery", "chess-krkp", "pendigits", "magic", "adult")


def at(recipe: str, schedule: str) -> str:
    return f"{recipe}, {schedule}"


def load(table: str) -> tuple[Schema, Any]:
    """A real table, or invented records of a shape."""
    if table not in SHAPES:
        return real.load(table)
    schema, [(columns, labels)] = world(table, 2, (RECORDS,), 0)
    return schema, {**columns, schema.label.name: labels}


@dataclass(frozen=True)
class Schedules(Sweep):
    """Greedy recipes with each schedule, on real tables and on shapes."""

    title: ClassVar[str] = "Schedules"
    load: ClassVar[Load] = load
    known: ClassVar[Mapping[str, Learner]] = declare(
        {at(recipe, schedule): (recipe, {"schedule": schedule}) for recipe in RECIPES for schedule in SCHEDULES}
    )
    tables: tuple[str, ...] = axis((*TABLES, *SHAPES), "A table of PRIVET_DATA or a shape; may be repeated.")
    epsilons: tuple[float, ...] = axis((0.1, 1.0), "A budget; may be repeated.")

    def check(self) -> None:
        real.fetch([table for table in self.tables if table not in SHAPES])
        super().check()

    def notes(self) -> tuple[str, ...]:
        return (f"Points ahead of the schedule {EQUAL!r} of the same recipe, ± their standard error over tables.",)

    def _tables(self, results: Results, measure: str) -> Iterator[Table]:
        for epsilon in self.epsilons:
            rows = []
            for recipe in self._recipes():
                gaps = [self._gaps(results, recipe, name, epsilon) for name in OTHERS]
                rows.append((recipe, *map(_ahead, gaps)))
            title = f"{self.title}: points of accuracy ahead of {EQUAL!r} at epsilon {epsilon:g}"
            yield Table(title, ("recipe", *OTHERS), tuple(rows))

    def _recipes(self) -> list[str]:
        return [recipe for recipe in RECIPES if self.has(at(recipe, EQUAL))]

    def _gaps(self, results: Results, recipe: str, schedule: str, epsilon: float) -> list[float]:
        """On every table; none where the schedule is not in the grid."""
        names = at(recipe, schedule), at(recipe, EQUAL)
        return [results.gap(table, *names, epsilon) for table in self.tables] if self.has(*names) else []

    def _figures(self, results: Results) -> Iterator[Figure]:
        for epsilon in self.epsilons:
            series = []
            for name in OTHERS:
                found = [(recipe, self._gaps(results, recipe, name, epsilon)) for recipe in self._recipes()]
                points = tuple(Point(recipe, float(np.mean(gaps))) for recipe, gaps in found if gaps)
                series.append(Series(name, points))
            title = f"Points ahead of the same for each level, epsilon {epsilon:g}"
            yield Figure(title, "recipe", "points of accuracy", tuple(series))


def _ahead(gaps: list[float]) -> str:
    return f"{np.mean(gaps):+.1f} ± {standard_error(gaps):.1f}" if gaps else "-"
