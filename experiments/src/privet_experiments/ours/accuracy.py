"""Ten-fold accuracy of every recipe on six tables, with the majority class beside them: what a user chooses by.

NOT PRIVATE, like every evaluation. All recipes have their default parameters, the same for all tables; variants that
are not differentially private are run apart and say so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from privet.evaluation.cross_validation import MAJORITY
from privet.evaluation.figure import Figure, Point, Series
from privet.recipes.registry import OWN, recipe_class
from privet_experiments.experiment import Row, axis
from privet_experiments.folds import MEASURES, CrossValidation, Learner, mean, standard_error, values
from privet_experiments.outcome import Outcome, Table

# What the guide compares, as far as there is such a recipe: to read, to rank, and to compare with.
GUIDE = tuple(name for name in ("exact", "additive", "random-forest", "greedy-forest", "diffpc45") if name in OWN)
TITLES = dict(zip(MEASURES, ("accuracy %", "balanced accuracy %", "AUC", "log-loss"), strict=True))


@dataclass(frozen=True)
class Accuracy(CrossValidation):
    """Accuracies table by table, then means over the tables of accuracy, balanced accuracy, AUC and log-loss. The row
    "majority" is what the largest class alone would have.
    """

    recipes: tuple[str, ...] = axis((), "A method; may be repeated. All by default.")
    learners_only: bool = axis(False, "The recipes that the guide compares, instead of all.", option="--learners")

    def learners(self) -> list[Learner]:
        chosen = self.recipes or (GUIDE if self.learners_only else tuple(OWN))
        return [*(Learner(name, name) for name in chosen), Learner(MAJORITY, MAJORITY)]

    def conclude(self, rows: Sequence[Row]) -> Outcome:
        epsilons = " / ".join(f"{epsilon:g}" for epsilon in self.epsilons)
        by_table = [
            Table(f"{title} at epsilon {epsilons}", ("recipe", "private", *self.tables), self._by_table(rows, measure))
            for measure, title in TITLES.items()
        ]
        means = Table(
            f"means over {len(self.tables)} tables at epsilon {epsilons}",
            ("recipe", "private", *TITLES.values()),
            tuple(self._means(rows)),
        )
        return Outcome((by_table[0], means, *by_table[1:]), tuple(self._figures(rows)))

    def _by_table(self, rows: Sequence[Row], measure: str) -> tuple[tuple[str, ...], ...]:
        found = []
        for who in self._who(rows):
            cells = (self._at(rows, measure, who[0], table) for table in self.tables)
            found.append((*who, *(" / ".join(_text(measure, one) for one in at) for at in cells)))
        return tuple(found)

    def _means(self, rows: Sequence[Row]) -> list[tuple[str, ...]]:
        """A mean over some of the tables is not to be compared with one over all."""
        found = []
        for who in self._who(rows):
            texts = []
            for measure in TITLES:
                by_epsilon = zip(*(self._at(rows, measure, who[0], t) for t in self.tables), strict=True)
                means = (None if None in at else float(np.mean(at)) for at in by_epsilon)
                texts.append(" / ".join(_text(measure, one) for one in means))
            found.append((*who, *texts))
        return found

    def _at(self, rows: Sequence[Row], measure: str, learner: str, table: str) -> list[float | None]:
        """The measure at each epsilon; once, where there is no epsilon."""
        epsilons: Sequence[float | None] = (None,) if learner == MAJORITY else self.epsilons
        return [mean(rows, measure, learner=learner, table=table, epsilon=e) for e in epsilons]

    def _who(self, rows: Sequence[Row]) -> list[tuple[str, str]]:
        """Every learner, and whether what was fitted kept its promise."""
        told = []
        for learner in self.learners():
            mine = [row for row in rows if row["learner"] == learner.name and "note" not in row]
            variant = "" if learner.is_reference else recipe_class(learner.recipe).info.variants[0]
            kept = bool(mine) and all(row["private"] for row in mine)
            told.append((learner.name, "yes" if kept else f"no ({variant or 'not private'})"))
        return told

    def _figures(self, rows: Sequence[Row]) -> list[Figure]:
        figures = []
        for table in self.tables:
            series = []
            for learner in self.learners():
                found = [
                    (e, values(rows, "accuracy", learner=learner.name, table=table, epsilon=e)) for e in self.epsilons
                ]
                points = tuple(Point(e, 100 * float(np.mean(v)), 100 * standard_error(v)) for e, v in found if v)
                if points:
                    series.append(Series(learner.name, points))
            title = f"{table}: accuracy against epsilon, ± one standard error over {self.folds} folds"
            figures.append(Figure(title, "epsilon", "accuracy %", tuple(series), logarithmic=True))
        return figures


def _text(measure: str, value: float | None) -> str:
    if value is None:
        return "-"
    return f"{100 * value:.1f}" if measure.endswith("accuracy") else f"{value:.3f}"
