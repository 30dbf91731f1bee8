"""What a cross-validation found: scores, and which of them no other beats."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

WARNING = (
    "An evaluation is itself not differentially private: every fold is a fit, and the scores are computed from the "
    "records without noise. Use it on tables that need no protection; do not release what it prints about other tables."
)


@dataclass(frozen=True, kw_only=True)
class FoldScore(ABC):
    """One learner's scores over all folds; None where a measure is undefined."""

    measure: ClassVar[str]
    """The name of the measure that learners are compared by; larger is better, and 1 is perfect."""
    percent: ClassVar[bool]
    """Whether it is usually written in per cent."""

    recipe: str
    variant: str
    epsilon: float | None
    delta: float | None
    folds: int
    repeats: int
    fit_seconds_mean: float
    private: bool
    records: int | None = None
    """The number of records that it was fitted to, if fewer than there are."""
    f_beta_mean: float | None = None
    """Of the positive class, if one was named."""
    agreement_mean: float | None = None
    """How often two fits predict the same, if every fold was fitted twice; of numbers, their correlation."""
    rules_alike_mean: float | None = None
    """The Jaccard index of the rules of two fits."""

    @property
    @abstractmethod
    def mean(self) -> float:
        """That measure, over all folds."""

    @property
    @abstractmethod
    def std(self) -> float:
        """Its standard deviation over the folds."""

    @property
    @abstractmethod
    def others(self) -> dict[str, float | None]:
        """The other measures by name, as means over the folds."""


@dataclass(frozen=True, kw_only=True)
class Score(FoldScore):
    """Scores of classes. Accuracies, AUC and F-beta are fractions, log-loss is in nats (``metrics.py``)."""

    measure: ClassVar[str] = "accuracy"
    percent: ClassVar[bool] = True

    accuracy_mean: float
    accuracy_std: float
    balanced_accuracy_mean: float | None
    auc_mean: float | None
    log_loss_mean: float | None

    @property
    def mean(self) -> float:
        return self.accuracy_mean

    @property
    def std(self) -> float:
        return self.accuracy_std

    @property
    def others(self) -> dict[str, float | None]:
        return {
            "balanced accuracy": self.balanced_accuracy_mean,
            "AUC": self.auc_mean,
            "log-loss": self.log_loss_mean,
        }


@dataclass(frozen=True, kw_only=True)
class NumberScore(FoldScore):
    """Scores of numbers: R2, and the mean and the root mean square of the errors in the label's own unit."""

    measure: ClassVar[str] = "R2"
    percent: ClassVar[bool] = False

    r2_mean: float
    r2_std: float
    mae_mean: float
    rmse_mean: float

    @property
    def mean(self) -> float:
        return self.r2_mean

    @property
    def std(self) -> float:
        return self.r2_std

    @property
    def others(self) -> dict[str, float | None]:
        return {"MAE": self.mae_mean, "RMSE": self.rmse_mean}


@dataclass(frozen=True)
class Evaluation:
    """The scores of private learners and, separately, of non-private ones."""

    results: tuple[FoldScore, ...]
    references: tuple[FoldScore, ...]
    positive: Any = None
    beta: float = 1.0

    @property
    def f_beta(self) -> str | None:
        """The name of the measure of the positive class; None without one."""
        return None if self.positive is None else f"F{self.beta:g} of {self.positive}"

    @property
    def compared(self) -> bool:
        """Whether every fold was fitted twice."""
        return any(score.agreement_mean is not None for score in self.results)

    @property
    def efficient(self) -> tuple[bool, ...]:
        """For each result, whether it is Pareto efficient (Friedman & Schuster 2010, Fig. 2).

        It is if no other is at least as accurate, for at most its epsilon and at most its records, and better in one.
        """
        return efficient([(one.mean, one.epsilon or 0.0, one.records) for one in self.results])

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
