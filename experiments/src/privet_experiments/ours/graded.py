"""Ranking and graded probabilities: ten-fold AUC, log-loss and accuracy, with standard errors.

NOT PRIVATE, like every evaluation. Beside private recipes stand three references on the same folds: the released class
shares alone (what a model must not fall behind), an additive model without noise on the same knots, and scikit-learn's
boosting. All recipes have their default parameters, the same for all tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from privet.estimators.registry import make_classifier
from privet.evaluation.figure import Figure, Point, Series
from privet_experiments.experiment import Row, axis
from privet_experiments.folds import CrossValidation, Learner, standard_error
from privet_experiments.outcome import Outcome, Table
from privet_experiments.references import BOOSTING, NOISELESS, SHARES
from privet_experiments.sweep import Results

TABLES = ("adult", "magic", "bank", "mushroom", "nursery")
TITLES = {"auc": "AUC", "log_loss": "log-loss", "accuracy": "accuracy %"}


@dataclass(frozen=True)
class GradedSweep(CrossValidation):
    """AUC, log-loss and accuracy of the additive model, with standard errors; a delta above 0 only where a recipe has
    one. Learners without noise stand beside it.
    """

    tables: tuple[str, ...] = axis(TABLES, "A table of PRIVET_DATA; may be repeated.")
    epsilons: tuple[float, ...] = axis((0.1, 0.5, 1.0, 2.0), "A budget; may be repeated.")
    recipes: tuple[str, ...] = axis(("additive",), "A method; may be repeated.")
    deltas: tuple[float, ...] = axis((0.0, 1e-6), "0 or a small number; may be repeated.")
    references: bool = axis(True, "Learners without noise.", option="--references/--no-references")

    def learners(self) -> list[Learner]:
        found = []
        for name in self.recipes:
            deltas = self.deltas if "delta" in make_classifier(name).get_params() else (0.0,)
            found += [
                Learner(f"{name}, delta {delta:g}" if delta else name, name, {"delta": delta} if delta else {})
                for delta in deltas
            ]
        beside = (SHARES, *((NOISELESS, BOOSTING) if self.references else ()))
        return [*found, *(Learner(name, name) for name in beside)]

    def conclude(self, rows: Sequence[Row]) -> Outcome:
        results = Results(rows)
        epsilons = " / ".join(f"{epsilon:g}" for epsilon in self.epsilons)
        tables = [
            Table(
                f"{title} at epsilon {epsilons}, ± standard error",
                ("learner", *self.tables),
                tuple(
                    (who.name, *(self._cell(results, table, who, measure) for table in self.tables))
                    for who in self.learners()
                ),
            )
            for measure, title in TITLES.items()
        ]
        return Outcome(tuple(tables), tuple(self._figure(results, table) for table in self.tables))

    def _cell(self, results: Results, table: str, who: Learner, measure: str) -> str:
        digits = 1 if measure == "accuracy" else 3
        at = [results.folds(table, who.name, e, measure) for e in ((None,) if who.is_reference else self.epsilons)]
        texts = (f"{np.mean(one):.{digits}f} ± {standard_error(one):.{digits}f}" if one else "-" for one in at)
        return " / ".join(texts)

    def _figure(self, results: Results, table: str) -> Figure:
        series = []
        for who in (who.name for who in self.learners() if not who.is_reference):
            found = [(e, results.folds(table, who, e, "auc")) for e in self.epsilons]
            points = tuple(Point(e, float(np.mean(one)), standard_error(one)) for e, one in found if one)
            series += [Series(who, points)] if points else []
        return Figure(f"{table}: AUC against epsilon", "epsilon", "AUC", tuple(series), logarithmic=True)
