"""What is claimed of the random forest, on every table there is: not worse than the class shares alone.

NOT PRIVATE, like every evaluation. Two claims, for each table and epsilon, of means over folds: the accuracy is at
least that of the majority class less a point, and the log-loss at most that of the class shares that the forest itself
has released plus 0.02 nats. Small tables are dealt more often, since their means vary more.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from privet.datasets import real
from privet.evaluation.cross_validation import Fold
from privet.evaluation.metrics import log_loss
from privet.models.forest import Forest
from privet_experiments.experiment import Found, Job, Row, axis
from privet_experiments.folds import CrossValidation, Learner, frozen_table, mean_of, standard_error
from privet_experiments.outcome import Outcome, Table

MOST_REPEATS = 24
PREDICTIONS = 20_000  # of a table, at least, before it is dealt no more
BELOW_MAJORITY, ABOVE_SHARES = 0.01, 0.02
HEADINGS = ("table", "epsilon", "majority %", "accuracy %", "log-loss of the shares", "log-loss", "balanced %", "AUC")


@dataclass(frozen=True)
class ForestClaims(CrossValidation):
    """The random forest with its defaults against the class shares alone. Claimed are an accuracy of at least the
    majority class less a point, and a log-loss of at most that of the class shares which the forest itself has released
    plus 0.02 nats.
    """

    epsilons: tuple[float, ...] = axis((0.1, 1.0, 10.0), "A budget; may be repeated.")
    folds: int = axis(5, "Stratified folds.", least=2)

    def learners(self) -> list[Learner]:
        return [Learner("random-forest", "random-forest")]

    def jobs(self) -> list[Job]:
        tables = self.tables or real.names()
        return [{"table": table, "epsilon": epsilon} for table in tables for epsilon in self.epsilons]

    def run(self, job: Job) -> Found:
        size = frozen_table(real.load, job["table"]).labels.size
        repeats = min(MOST_REPEATS, max(1, math.ceil(PREDICTIONS / size)))
        dealt = [super(ForestClaims, self).run(job | {"learner": "random-forest", "repeat": r}) for r in range(repeats)]
        lists = [name for name, value in dealt[0].items() if isinstance(value, list)]
        return {name: [value for one in dealt for value in one[name]] for name in lists}

    def more(self, fold: Fold) -> dict[str, float | None]:
        assert isinstance(fold.trees, Forest)
        assert fold.known.codes.labels is not None
        largest = np.bincount(fold.known.codes.labels, minlength=fold.trees.schema.n_classes).argmax()
        alone = np.broadcast_to(fold.trees.prior, fold.proba.shape)
        return {"majority": float((fold.labels == largest).mean()), "shares_log_loss": log_loss(fold.labels, alone)}

    def conclude(self, rows: Sequence[Row]) -> Outcome:
        table = Table(
            "The random forest and the class shares alone", (*HEADINGS, "holds"), tuple(_cells(row) for row in rows)
        )
        missed = [f"{row['table']} at {row['epsilon']:g}" for row in rows if not all(claims(row))]
        verdict = f"missed on {', '.join(missed)}" if missed else f"all {len(rows)} hold"
        return Outcome((table,), notes=(f"claims: {verdict}",))


def claims(row: Row) -> tuple[bool, bool]:
    """Whether the accuracy is as claimed, and the log-loss."""
    accuracy, majority, loss, shares = (_mean(row, n) for n in ("accuracy", "majority", "log_loss", "shares_log_loss"))
    return accuracy >= majority - BELOW_MAJORITY, loss <= shares + ABOVE_SHARES


def _cells(row: Row) -> tuple[str, ...]:
    """With the standard errors of the two differences that are judged."""
    accuracy, loss = (
        standard_error(np.subtract(row[one], row[other]).tolist())
        for one, other in (("accuracy", "majority"), ("log_loss", "shares_log_loss"))
    )
    auc = mean_of(row["auc"])
    return (
        row["table"],
        f"{row['epsilon']:g}",
        f"{100 * _mean(row, 'majority'):.1f}",
        f"{100 * _mean(row, 'accuracy'):.1f} ± {100 * accuracy:.1f}",
        f"{_mean(row, 'shares_log_loss'):.3f}",
        f"{_mean(row, 'log_loss'):.3f} ± {loss:.3f}",
        f"{100 * _mean(row, 'balanced_accuracy'):.1f}",
        "-" if auc is None else f"{auc:.3f}",
        "yes" if all(claims(row)) else "no",
    )


def _mean(row: Row, measure: str) -> float:
    return float(np.mean(row[measure]))
