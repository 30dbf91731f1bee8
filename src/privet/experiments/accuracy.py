"""Ten-fold accuracy of every recipe on six tables: what a user chooses by.

NOT PRIVATE, like every evaluation. All recipes have their default parameters, the same for all tables; variants that
are not differentially private are run apart and say so. Work is shared out a (table, recipe, epsilon) at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from os import PathLike
from typing import Any

from privet.datasets import real
from privet.errors import PrivetError
from privet.estimators.registry import make_classifier
from privet.experiments.evaluation import WARNING, evaluate
from privet.experiments.workers import share_out
from privet.recipes.registry import OWN, recipe_class

TABLES = ("adult-complete", "mushroom", "nursery", "magic", "vote", "tic-tac-toe")
EPSILONS = (0.1, 0.5, 1.0, 2.0)
FOLDS, QUICK_FOLDS = 10, 2


@dataclass(frozen=True)
class Cell:
    """One recipe at one epsilon on one table. Accuracy as a fraction; None, and why, where the recipe cannot."""

    table: str
    recipe: str
    variant: str
    epsilon: float
    accuracy_mean: float | None
    accuracy_std: float | None
    fit_seconds_mean: float | None
    private: bool
    note: str = ""


@dataclass(frozen=True)
class AccuracyTable:
    """Recipes down, tables across, a number for each epsilon."""

    cells: tuple[Cell, ...]
    folds: int
    repeats: int

    def to_dict(self) -> dict[str, Any]:
        cells = [asdict(cell) for cell in self.cells]
        return {
            "experiment": "accuracy",
            "warning": WARNING,
            "folds": self.folds,
            "repeats": self.repeats,
            "results": cells,
        }

    def rows(self) -> list[tuple[str, str, bool, dict[str, str]]]:
        """(recipe, variant, private, text by table), accuracies in per cent, epsilons in order."""
        rows = []
        for recipe, variant in dict.fromkeys((cell.recipe, cell.variant) for cell in self.cells):
            mine = [cell for cell in self.cells if (cell.recipe, cell.variant) == (recipe, variant)]
            texts = {
                table: " / ".join(
                    "-" if cell.accuracy_mean is None else f"{100 * cell.accuracy_mean:.1f}"
                    for cell in mine
                    if cell.table == table
                )
                for table in dict.fromkeys(cell.table for cell in mine)
            }
            rows.append((recipe, variant, all(cell.private for cell in mine if not cell.note), texts))
        return rows

    def to_markdown(self) -> str:
        tables = list(dict.fromkeys(cell.table for cell in self.cells))
        lines = [f"| recipe | variant | private | {' | '.join(tables)} |", "|" + "---|" * (len(tables) + 3)]
        for recipe, variant, private, texts in self.rows():
            said = " | ".join(texts[table] for table in tables)
            lines.append(f"| {recipe} | {variant} | {'yes' if private else 'no'} | {said} |")
        return "\n".join(lines)


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
    cells = [(table, name, epsilon) for table in tables for name in chosen for epsilon in epsilons]
    jobs = [(*cell, folds, repeats, data_dir) for cell in cells]
    found = {(cell.table, cell.recipe, cell.epsilon): cell for cell in share_out(_cell, jobs, processes, progress)}
    return AccuracyTable(tuple(found[cell] for cell in cells), folds, repeats)


def _cell(
    table: str, recipe: str, epsilon: float, folds: int, repeats: int, data_dir: str | PathLike[str] | None
) -> Cell:
    schema, columns = real.load(table, data_dir)
    variant = recipe_class(recipe).info.variants[0]
    try:
        classifier = make_classifier(recipe, epsilon=epsilon, variant=variant)
        classifier.recipe().prepare(schema)
    except PrivetError as error:  # two classes only, say
        return Cell(table, recipe, variant, epsilon, None, None, None, False, str(error))
    score = evaluate(schema, columns, [classifier], folds=folds, repeats=repeats, references=()).results[0]
    return Cell(
        table,
        recipe,
        variant,
        epsilon,
        score.accuracy_mean,
        score.accuracy_std,
        score.fit_seconds_mean,
        score.private,
    )
