"""Which learner when: recommended recipes over many tables, in groups by records times epsilon. NOT PRIVATE.

What decides is how much noise there is for the records, which is a matter of records times epsilon, attributes and
classes, so that is how results are grouped: by whether the mean over the tables of a group is ahead.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from privet.datasets import real
from privet.experiments.experiment import Experiment, Found, Job, Row, axis
from privet.experiments.graded import check_names, grade, job_of
from privet.experiments.outcome import Outcome, Table

RECIPES = ("exact", "additive", "random-forest")
EPSILONS = (0.1, 1.0)
FOLDS = 2
GROUPS = ((0.0, 100.0), (100.0, 1000.0), (1000.0, 10_000.0), (10_000.0, float("inf")))
MANY = 20  # attributes


@dataclass(frozen=True)
class Place:
    """One table at one epsilon: what it is like, and how each learner did."""

    table: str
    epsilon: float
    records_times_epsilon: float
    attributes: int
    classes: int
    scores: tuple[Row, ...]


@dataclass(frozen=True)
class WhichLearner(Experiment):
    """The recommended recipes on many tables, in groups by records times epsilon."""

    tables: tuple[str, ...] = axis((), "A table of PRIVET_DATA; may be repeated. All by default.")
    recipes: tuple[str, ...] = axis(RECIPES, "A method; may be repeated.")
    epsilons: tuple[float, ...] = axis(EPSILONS, "A budget; may be repeated.")
    folds: int = axis(FOLDS, "Stratified folds.", least=2)

    def check(self) -> None:
        check_names(self.tables, self.recipes)

    def jobs(self) -> list[Job]:
        return [
            job_of(table, recipe, epsilon)
            for table in self.tables or real.names()
            for epsilon in self.epsilons
            for recipe in self.recipes
        ]

    def run(self, job: Job) -> Found:
        schema, columns = real.load(job["table"])
        records = len(next(iter(columns.values()))) * (self.folds - 1) / self.folds
        facts = {"records": records, "attributes": len(schema.attributes), "classes": schema.n_classes}
        return grade(job, self.folds) | facts

    def conclude(self, rows: Sequence[Row]) -> Outcome:
        places: dict[tuple[str, float], list[Row]] = {}
        for row in rows:
            places.setdefault((row["table"], row["epsilon"]), []).append(row)
        found = [
            Place(table, epsilon, some[0]["records"] * epsilon, some[0]["attributes"], some[0]["classes"], tuple(some))
            for (table, epsilon), some in places.items()
        ]
        cells = tuple(
            (title, f"{len(group)}", *(_means([p.scores[i] for p in group]) for i in range(len(self.recipes))))
            for title, group in groups_of(found)
        )
        heads = ("records x epsilon", "tables", *(f"{name}: accuracy, AUC, log-loss" for name in self.recipes))
        return Outcome((Table("Which learner when", heads, cells),))


def groups_of(places: Sequence[Place]) -> list[tuple[str, list[Place]]]:
    """Places by records times epsilon, width and classes, with a title for each group that has any."""
    found = []
    for low, high in GROUPS:
        for wide in (False, True):
            for many in (False, True):
                group = [
                    place
                    for place in places
                    if low <= place.records_times_epsilon < high
                    and (place.attributes > MANY) == wide
                    and (place.classes > 2) == many
                ]
                if group:
                    classes = "more classes" if many else "two classes"
                    width = f"over {MANY} attributes" if wide else f"up to {MANY} attributes"
                    found.append((f"{_range(low, high)}, {width}, {classes}", group))
    return found


def _range(low: float, high: float) -> str:
    if not low:
        return f"below {high:g}"
    return f"from {low:g}" if high == float("inf") else f"{low:g} to {high:g}"


def _means(cells: Sequence[Row]) -> str:
    aucs = [cell["auc"] for cell in cells if cell["auc"] is not None]
    accuracy = 100 * float(np.mean([cell["accuracy"] for cell in cells]))
    auc = f"{np.mean(aucs):.3f}" if aucs else "-"
    return f"{accuracy:.1f}, {auc}, {np.mean([cell['log_loss'] for cell in cells]):.2f}"


FORMS = {
    "smoke": WhichLearner(("vote",), epsilons=(1.0,)),
    "quick": WhichLearner(("vote", "wbc", "car", "mushroom")),
    "full": WhichLearner(),
}
