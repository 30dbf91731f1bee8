"""Which learner when: recommended recipes over many tables, in groups by records times epsilon. NOT PRIVATE.

What decides is how much noise there is for the records, which is a matter of records times epsilon, attributes and
classes, so that is how results are grouped: by whether the mean over the tables of a group is ahead.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from os import PathLike
from typing import Any

import numpy as np

from privet.datasets import real
from privet.experiments.evaluation import WARNING
from privet.experiments.graded import Graded, run_jobs

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
    scores: tuple[Graded, ...]


@dataclass(frozen=True)
class WhichLearner:
    """All places, and a table of the means of groups of them."""

    places: tuple[Place, ...]
    folds: int

    def to_dict(self) -> dict[str, Any]:
        found = [asdict(place) for place in self.places]
        return {"experiment": "which-learner", "warning": WARNING, "folds": self.folds, "results": found}

    def to_markdown(self) -> str:
        learners = [cell.learner for cell in self.places[0].scores]
        head = " | ".join(f"{name}: accuracy, AUC, log-loss" for name in learners)
        lines = [f"| records x epsilon | tables | {head} |", "|" + "---|" * (len(learners) + 2)]
        for title, group in self._groups():
            said = " | ".join(_means([place.scores[i] for place in group]) for i in range(len(learners)))
            lines.append(f"| {title} | {len(group)} | {said} |")
        return "\n".join(lines)

    def _groups(self) -> list[tuple[str, list[Place]]]:
        found = []
        for low, high in GROUPS:
            for wide in (False, True):
                for many in (False, True):
                    group = [
                        place
                        for place in self.places
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


def _means(cells: Sequence[Graded]) -> str:
    aucs = [cell.auc for cell in cells if cell.auc is not None]
    accuracy = 100 * float(np.mean([cell.accuracy for cell in cells]))
    auc = f"{np.mean(aucs):.3f}" if aucs else "-"
    return f"{accuracy:.1f}, {auc}, {np.mean([cell.log_loss for cell in cells]):.2f}"


def run(
    tables: Sequence[str] | None = None,
    recipes: Sequence[str] = RECIPES,
    epsilons: Sequence[float] = EPSILONS,
    *,
    folds: int = FOLDS,
    data_dir: str | PathLike[str] | None = None,
    processes: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> WhichLearner:
    """Evaluate recipes on all tables of PRIVET_DATA, or on those given."""
    names = list(tables) if tables else real.names(data_dir)
    jobs = [(t, recipe, epsilon, 0.0, folds, data_dir) for t in names for epsilon in epsilons for recipe in recipes]
    cells = run_jobs(jobs, processes, progress)
    places = []
    for name in names:
        schema, columns = real.load(name, data_dir)
        records = len(next(iter(columns.values()))) * (folds - 1) / folds
        for epsilon in epsilons:
            mine = tuple(cells[name, recipe, epsilon, 0.0] for recipe in recipes)
            facts = records * epsilon, len(schema.attributes), schema.n_classes
            places.append(Place(name, epsilon, *facts, mine))
    return WhichLearner(tuple(places), folds)
