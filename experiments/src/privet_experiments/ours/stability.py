"""How alike are two fits of one table? Friedman and Schuster's first open problem, for every recipe. NOT PRIVATE."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from privet.datasets import real
from privet.estimators.registry import make_classifier
from privet.evaluation.cross_validation import evaluate
from privet.evaluation.figure import Figure, Point, Series
from privet.recipes.registry import recipe_classes
from privet_experiments.experiment import Experiment, Found, Job, Row, axis
from privet_experiments.folds import mean_of
from privet_experiments.outcome import Outcome, Table
from privet_experiments.sweep import measure_text

MEASURES = ("accuracy", "agreement", "rules")
# What a stopping rule buys: the same recipe without its rule.
UNSTOPPED: Mapping[str, tuple[str, dict[str, Any]]] = {
    "random-forest, never stopped": ("random-forest", {"min_signal": 0.0}),
    "diffpc45, not pruned": ("diffpc45", {"prune": False}),
}


@dataclass(frozen=True)
class Stability(Experiment):
    """Every sound recipe, fitted twice to each fold: how often both predict the same for unseen records, and the
    Jaccard index of their rules.
    """

    tables: tuple[str, ...] = axis(
        ("vote", "wbc", "car", "banknote", "mushroom", "nursery", "chess-krkp", "pendigits", "magic", "adult"),
        "A table of PRIVET_DATA; may be repeated.",
    )
    epsilons: tuple[float, ...] = axis((0.1, 1.0), "A budget; may be repeated.")
    recipes: tuple[str, ...] = axis((), "A recipe, or one without its stopping rule; may be repeated. All by default.")
    folds: int = axis(5, "Stratified folds.", least=2)

    def check(self) -> None:
        for name in self.learners():
            recipe, params = UNSTOPPED.get(name, (name, {}))
            make_classifier(recipe, **params)
        real.fetch(self.tables)

    def learners(self) -> list[str]:
        sound = [name for name, one in recipe_classes().items() if "sound" in one.info.guarantee]
        return list(self.recipes or (*sound, *UNSTOPPED))

    def jobs(self) -> list[Job]:
        return [
            {"table": table, "learner": name, "epsilon": epsilon}
            for table in self.tables
            for name in self.learners()
            for epsilon in self.epsilons
        ]

    def run(self, job: Job) -> Found:
        recipe, params = UNSTOPPED.get(job["learner"], (job["learner"], {}))
        learner = make_classifier(recipe, epsilon=job["epsilon"], **params)
        schema, columns = real.load(job["table"])
        [found] = evaluate(schema, columns, [learner], folds=self.folds, references=(), stability=True).results
        return {"accuracy": found.mean, "agreement": found.agreement_mean, "rules": found.rules_alike_mean}

    def conclude(self, rows: Sequence[Row]) -> Outcome:
        tables = []
        for epsilon in self.epsilons:
            mine = [row for row in rows if row["epsilon"] == epsilon]
            cells = tuple(
                (name, *(_mean(row[measure] for row in mine if row["learner"] == name) for measure in MEASURES))
                for name in self.learners()
            )
            title = f"Two fits of one table at epsilon {epsilon:g}: means over {len(self.tables)} tables"
            tables.append(Table(title, ("recipe", "accuracy", "same prediction", "rules alike"), cells))
        return Outcome(tuple(tables), tuple(self._figure(rows, epsilon) for epsilon in self.epsilons))

    def _figure(self, rows: Sequence[Row], epsilon: float) -> Figure:
        series = tuple(
            Series(
                name,
                tuple(
                    Point(row["table"], 100 * row["agreement"])
                    for row in rows
                    if (row["learner"], row["epsilon"]) == (name, epsilon) and row["agreement"] is not None
                ),
            )
            for name in self.learners()
        )
        return Figure(f"Two fits of one table at epsilon {epsilon:g}", "table", "same prediction %", series)


def _mean(values: Iterable[float | None]) -> str:
    return measure_text(mean_of(list(values)), "share")
