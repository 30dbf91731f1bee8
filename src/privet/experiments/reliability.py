"""Are probabilities what they say? Records in groups by what was predicted, against what they are. NOT PRIVATE."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from privet.datasets import real
from privet.experiments.experiment import Experiment, Found, Job, Row, axis
from privet.experiments.graded import check_names, cross_predict
from privet.experiments.outcome import Figure, Outcome, Point, Series, Table

TABLES = ("adult", "bank", "magic")
GROUPS, FOLDS = 10, 10


@dataclass(frozen=True)
class Curve:
    """Predicted and observed shares of the second class, in groups of equal size, and their mean distance."""

    table: str
    recipe: str
    epsilon: float
    predicted: tuple[float, ...]
    observed: tuple[float, ...]

    @property
    def error(self) -> float:
        return float(np.mean(np.abs(np.subtract(self.predicted, self.observed))))


@dataclass(frozen=True)
class Reliability(Experiment):
    """Predicted against observed probability in ten groups of records that a model has not seen, all folds together;
    tables of two classes.
    """

    tables: tuple[str, ...] = axis(TABLES, "A table of PRIVET_DATA; may be repeated.")
    recipe: str = axis("additive", "A method.")
    epsilon: float = axis(1.0, "A budget.")
    folds: int = axis(FOLDS, "Stratified folds.", least=2)

    def check(self) -> None:
        check_names(self.tables, (self.recipe,))

    def jobs(self) -> list[Job]:
        return [{"table": table} for table in self.tables]

    def run(self, job: Job) -> Found:
        curve = _curve(job["table"], self.recipe, self.epsilon, self.folds)
        return {"predicted": list(curve.predicted), "observed": list(curve.observed), "error": curve.error}

    def conclude(self, rows: Sequence[Row]) -> Outcome:
        cells = []
        for row in rows:
            pairs = zip(row["predicted"], row["observed"], strict=True)
            said = (f"{100 * p:.0f} / {100 * o:.0f}" for p, o in pairs)
            cells.append((row["table"], *said, f"{100 * row['error']:.1f}"))
        series = tuple(
            Series(
                row["table"],
                tuple(Point(100 * p, 100 * o) for p, o in zip(row["predicted"], row["observed"], strict=True)),
            )
            for row in rows
        )
        title = f"Predicted / observed %, {self.recipe} at epsilon {self.epsilon:g}"
        groups = tuple(str(group) for group in range(1, GROUPS + 1))
        return Outcome(
            (Table(title, ("table", *groups, "apart"), tuple(cells)),),
            (Figure(title, "predicted %", "observed %", series),),
        )


def _curve(table: str, recipe: str, epsilon: float, folds: int) -> Curve:
    schema, columns = real.load(table)
    labels, proba = cross_predict(schema, columns, recipe, epsilon, folds=folds)
    groups = np.array_split(np.argsort(proba[:, 1], kind="stable"), GROUPS)
    predicted = tuple(float(proba[group, 1].mean()) for group in groups)
    observed = tuple(float((labels[group] == 1).mean()) for group in groups)
    return Curve(table, recipe, epsilon, predicted, observed)


FORMS = {
    "smoke": Reliability(("vote",), folds=2),
    "quick": Reliability(("mushroom", "magic"), folds=2),
    "full": Reliability(),
}
