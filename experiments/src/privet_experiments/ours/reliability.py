"""Are probabilities what they say? Records in groups by what was predicted, against what they are. NOT PRIVATE."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from privet.datasets import real
from privet.estimators.registry import make_classifier
from privet.evaluation.figure import Figure, Point, Series
from privet_experiments.experiment import Experiment, Found, Job, Row, axis
from privet_experiments.folds import fold_by_fold, frozen_table, way_of
from privet_experiments.outcome import Outcome, Table

GROUPS = 10


@dataclass(frozen=True)
class Reliability(Experiment):
    """Predicted against observed probability in ten groups of records that a model has not seen, all folds together;
    tables of two classes.
    """

    tables: tuple[str, ...] = axis(("adult", "bank", "magic"), "A table of PRIVET_DATA; may be repeated.")
    recipe: str = axis("additive", "A method.")
    epsilon: float = axis(1.0, "A budget.")
    folds: int = axis(10, "Stratified folds.", least=2)

    def check(self) -> None:
        make_classifier(self.recipe)
        real.fetch(self.tables)

    def jobs(self) -> list[Job]:
        return [{"table": table} for table in self.tables]

    def run(self, job: Job) -> Found:
        frozen = frozen_table(real.load, job["table"])
        folds = fold_by_fold(way_of(self.recipe, frozen.schema, self.epsilon, 0, {}), frozen, folds=self.folds)
        labels = np.concatenate([fold.labels for fold in folds])
        proba = np.concatenate([fold.proba[:, 1] for fold in folds])
        groups = np.array_split(np.argsort(proba, kind="stable"), GROUPS)
        predicted = [float(proba[group].mean()) for group in groups]
        observed = [float((labels[group] == 1).mean()) for group in groups]
        error = float(np.mean(np.abs(np.subtract(predicted, observed))))
        return {"predicted": predicted, "observed": observed, "error": error}

    def conclude(self, rows: Sequence[Row]) -> Outcome:
        pairs = [list(zip(row["predicted"], row["observed"], strict=True)) for row in rows]
        cells = tuple(
            (row["table"], *(f"{100 * p:.0f} / {100 * o:.0f}" for p, o in both), f"{100 * row['error']:.1f}")
            for row, both in zip(rows, pairs, strict=True)
        )
        series = tuple(
            Series(row["table"], tuple(Point(100 * p, 100 * o) for p, o in both))
            for row, both in zip(rows, pairs, strict=True)
        )
        title = f"Predicted / observed %, {self.recipe} at epsilon {self.epsilon:g}"
        groups = tuple(str(group) for group in range(1, GROUPS + 1))
        return Outcome(
            (Table(title, ("table", *groups, "apart"), cells),), (Figure(title, "predicted %", "observed %", series),)
        )
