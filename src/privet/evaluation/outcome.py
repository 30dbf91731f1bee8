"""What a cross-validation found: scores, and which of them no other beats."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

WARNING = (
    "An evaluation is itself not differentially private: every fold is a fit, and the scores are computed from the "
    "records without noise. Use it on tables that need no protection; what it prints must not be released from others."
)


@dataclass(frozen=True)
class Score:
    """One learner's scores over all folds; None where a measure is undefined.

    Accuracies, AUC and F-beta are fractions, log-loss is in nats (see ``privet.evaluation.metrics``).
    """

    recipe: str
    variant: str
    epsilon: float | None
    delta: float | None
    folds: int
    repeats: int
    accuracy_mean: float
    accuracy_std: float
    balanced_accuracy_mean: float | None
    auc_mean: float | None
    log_loss_mean: float | None
    fit_seconds_mean: float
    private: bool
    f_beta_mean: float | None = None
    """Of the positive class, if one was named."""
    records: int | None = None
    """The number of records that it was fitted to, if fewer than there are."""


@dataclass(frozen=True)
class Evaluation:
    """The scores of private learners and, separately, of non-private ones."""

    results: tuple[Score, ...]
    references: tuple[Score, ...]
    positive: Any = None
    beta: float = 1.0

    @property
    def f_beta(self) -> str | None:
        """The name of the measure of the positive class; None without one."""
        return None if self.positive is None else f"F{self.beta:g} of {self.positive}"

    @property
    def efficient(self) -> tuple[bool, ...]:
        """For each result, whether it is Pareto efficient (Friedman & Schuster 2010, Fig. 2).

        It is if no other is at least as accurate, for at most its epsilon and at most its records, and better in one.
        """
        return efficient([(one.accuracy_mean, one.epsilon or 0.0, one.records) for one in self.results])

    def to_dict(self) -> dict[str, Any]:
        measure = {} if self.positive is None else {"positive": self.positive, "beta": self.beta}
        return {
            "warning": WARNING,
            **measure,
            "results": [
                asdict(score) | {"efficient": best} for score, best in zip(self.results, self.efficient, strict=True)
            ],
            "references": [asdict(score) for score in self.references],
        }


def efficient(points: Sequence[tuple[float, float, int | None]]) -> tuple[bool, ...]:
    """Which of (accuracy, epsilon, records) no other point dominates; None records are all of them.

    >>> efficient([(0.8, 1, None), (0.7, 0.1, None), (0.6, 0.5, None), (0.6, 0.5, 100)])
    (True, True, False, True)
    """
    costs = [(-accuracy, epsilon, float("inf") if n is None else n) for accuracy, epsilon, n in points]
    return tuple(
        not any(all(a <= b for a, b in zip(other, mine, strict=True)) and other != mine for other in costs)
        for mine in costs
    )
