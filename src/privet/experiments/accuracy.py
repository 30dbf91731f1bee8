"""Ten-fold accuracy of every recipe on six tables, with the majority class beside them: what a user chooses by.

NOT PRIVATE, like every evaluation. All recipes have their default parameters, the same for all tables; variants that
are not differentially private are run apart and say so. Work is shared out a (table, recipe, epsilon) at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from os import PathLike
from typing import Any

import numpy as np

from privet.datasets import real
from privet.errors import PrivetError
from privet.estimators.registry import make_classifier
from privet.experiments.evaluation import MAJORITY, WARNING, Score, evaluate
from privet.experiments.workers import share_out
from privet.recipes.registry import OWN, recipe_class

TABLES = ("adult-complete", "mushroom", "nursery", "magic", "vote", "tic-tac-toe")
EPSILONS = (0.1, 0.5, 1.0, 2.0)
FOLDS, QUICK_FOLDS = 10, 2
# What the guide compares, as far as there is such a recipe: to read, to rank, and to compare with.
LEARNERS = tuple(name for name in ("exact", "additive", "random-forest", "greedy-forest", "diffpc45") if name in OWN)
MEASURES = {"accuracy": "accuracy %", "balanced_accuracy": "balanced %", "auc": "AUC", "log_loss": "log-loss"}


@dataclass(frozen=True)
class Cell:
    """One recipe at one epsilon on one table. None, and why, where the recipe cannot; the majority has no epsilon."""

    table: str
    recipe: str
    variant: str
    epsilon: float | None
    accuracy_mean: float | None = None
    accuracy_std: float | None = None
    balanced_accuracy_mean: float | None = None
    auc_mean: float | None = None
    log_loss_mean: float | None = None
    fit_seconds_mean: float | None = None
    private: bool = False
    note: str = ""

    def text(self, measure: str) -> str:
        """A measure as the tables print it: accuracies in per cent."""
        return _text(measure, getattr(self, f"{measure}_mean"))


@dataclass(frozen=True)
class AccuracyTable:
    """Recipes down, tables across, a number for each epsilon."""

    cells: tuple[Cell, ...]
    references: tuple[Cell, ...]
    folds: int
    repeats: int

    def to_dict(self) -> dict[str, Any]:
        return {
            "experiment": "accuracy",
            "warning": WARNING,
            "folds": self.folds,
            "repeats": self.repeats,
            "results": [asdict(cell) for cell in self.cells],
            "references": [asdict(cell) for cell in self.references],
        }

    @property
    def tables(self) -> list[str]:
        return list(dict.fromkeys(cell.table for cell in self.cells))

    def by_table(self, measure: str = "accuracy") -> list[tuple[str, ...]]:
        """Rows of (recipe, variant, private, text for each table), epsilons in order."""
        return [
            (*who, *(" / ".join(cell.text(measure) for cell in mine if cell.table == table) for table in self.tables))
            for who, mine in self._learners()
        ]

    def by_measure(self) -> list[tuple[str, ...]]:
        """Rows of (recipe, variant, private, text for each measure): means over the tables, epsilons in order."""
        rows = []
        for who, mine in self._learners():
            epsilons = list(dict.fromkeys(cell.epsilon for cell in mine))
            texts = []
            for measure in MEASURES:
                found = ([getattr(c, f"{measure}_mean") for c in mine if c.epsilon == e] for e in epsilons)
                # A mean over some of the tables is not to be compared with one over all.
                means = (None if None in values else float(np.mean(values)) for values in found)
                texts.append(" / ".join(_text(measure, mean) for mean in means))
            rows.append((*who, *texts))
        return rows

    def _learners(self) -> list[tuple[tuple[str, str, str], list[Cell]]]:
        """The cells of each learner; ``private`` says whether what was fitted kept its promise."""
        learners = []
        everything = (*self.cells, *self.references)
        for recipe, variant in dict.fromkeys((cell.recipe, cell.variant) for cell in everything):
            mine = [cell for cell in everything if (cell.recipe, cell.variant) == (recipe, variant)]
            private = all(cell.private for cell in mine if not cell.note)
            learners.append(((recipe, variant, "yes" if private else "no"), mine))
        return learners


def _text(measure: str, value: float | None) -> str:
    if value is None:
        return "-"
    return f"{100 * value:.1f}" if measure.endswith("accuracy") else f"{value:.3f}"


def run(
    tables: Sequence[str] = TABLES,
    recipes: Sequence[str] | None = None,
    epsilons: Sequence[float] = EPSILONS,
    *,
    folds: int = FOLDS,
    repeats: int = 1,
    data_dir: str | PathLike[str] | None = None,
    processes: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> AccuracyTable:
    """Evaluate recipes, all of privet's by default: each in its sound form, or as published where it has no other."""
    chosen = tuple(OWN) if recipes is None else tuple(recipes)
    for name in chosen:
        recipe_class(name)  # says what there is if it is unknown, before any work begins
    wanted = [(table, name, epsilon) for table in tables for name in chosen for epsilon in epsilons]
    known = [(table, MAJORITY, None) for table in tables]
    jobs = [(*cell, folds, repeats, data_dir) for cell in (*wanted, *known)]
    found = {(cell.table, cell.recipe, cell.epsilon): cell for cell in share_out(_cell, jobs, processes, progress)}
    cells, references = (tuple(found[cell] for cell in some) for some in (wanted, known))
    return AccuracyTable(cells, references, folds, repeats)


def _cell(
    table: str, recipe: str, epsilon: float | None, folds: int, repeats: int, data_dir: str | PathLike[str] | None
) -> Cell:
    schema, columns = real.load(table, data_dir)
    if epsilon is None:
        score = evaluate(schema, columns, [], folds=folds, repeats=repeats, references=(recipe,)).references[0]
        return _of_score(table, score)
    variant = recipe_class(recipe).info.variants[0]
    try:
        classifier = make_classifier(recipe, epsilon=epsilon, variant=variant)
        classifier.recipe().prepare(schema)
    except PrivetError as error:  # two classes only, say
        return Cell(table, recipe, variant, epsilon, note=str(error))
    return _of_score(
        table, evaluate(schema, columns, [classifier], folds=folds, repeats=repeats, references=()).results[0]
    )


def _of_score(table: str, score: Score) -> Cell:
    known = {key: value for key, value in asdict(score).items() if key in Cell.__dataclass_fields__}
    return Cell(table, **known)
