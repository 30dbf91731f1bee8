"""Which learner when: recommended recipes over many tables, in groups by records times epsilon. NOT PRIVATE.

What decides is how much noise there is for the records, which is a matter of records times epsilon, attributes and
classes, so that is how results are grouped: by whether the mean over the tables of a group is ahead.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from privet.datasets import real
from privet_experiments.experiment import Found, Job, Row, axis
from privet_experiments.folds import CrossValidation, Learner, frozen_table, mean_of
from privet_experiments.outcome import Outcome, Table

GROUPS = ((0.0, 100.0), (100.0, 1000.0), (1000.0, 10_000.0), (10_000.0, float("inf")))
MANY = 20  # attributes


@dataclass(frozen=True)
class WhichLearner(CrossValidation):
    """The recommended recipes on many tables, in groups by records times epsilon."""

    tables: tuple[str, ...] = axis((), "A table of PRIVET_DATA; may be repeated. All by default.")
    epsilons: tuple[float, ...] = axis((0.1, 1.0), "A budget; may be repeated.")
    folds: int = axis(2, "Stratified folds.", least=2)
    recipes: tuple[str, ...] = axis(("exact", "additive", "random-forest"), "A method; may be repeated.")

    def learners(self) -> list[Learner]:
        return [Learner(name, name) for name in self.recipes]

    def jobs(self) -> list[Job]:
        return [
            {"table": table, "learner": name, "epsilon": epsilon, "repeat": 0}
            for table in self.tables or real.names()
            for epsilon in self.epsilons
            for name in self.recipes
        ]

    def run(self, job: Job) -> Found:
        frozen = frozen_table(real.load, job["table"])
        facts = {"attributes": len(frozen.schema.attributes), "classes": frozen.schema.n_classes}
        return super().run(job) | facts | {"records": frozen.labels.size * (self.folds - 1) / self.folds}

    def conclude(self, rows: Sequence[Row]) -> Outcome:
        cells = []
        for (low, high), wide, many in product(GROUPS, (False, True), (False, True)):
            group = [
                row
                for row in rows
                if low <= row["records"] * row["epsilon"] < high
                and (row["attributes"] > MANY) == wide
                and (row["classes"] > 2) == many
            ]
            if group:
                width = f"over {MANY} attributes" if wide else f"up to {MANY} attributes"
                title = f"{_range(low, high)}, {width}, {'more classes' if many else 'two classes'}"
                means = (_means([row for row in group if row["learner"] == name]) for name in self.recipes)
                cells.append((title, f"{len(group) // len(self.recipes)}", *means))
        heads = ("records x epsilon", "tables", *(f"{name}: accuracy, AUC, log-loss" for name in self.recipes))
        return Outcome((Table("Which learner when", heads, tuple(cells)),))


def _range(low: float, high: float) -> str:
    if not low:
        return f"below {high:g}"
    return f"from {low:g}" if high == float("inf") else f"{low:g} to {high:g}"


def _means(rows: Sequence[Row]) -> str:
    """Means over tables of means over folds."""
    accuracy, auc, loss = (mean_of([mean_of(row[name]) for row in rows]) for name in ("accuracy", "auc", "log_loss"))
    return f"{100 * (accuracy or np.nan):.1f}, {'-' if auc is None else f'{auc:.3f}'}, {loss or np.nan:.2f}"
