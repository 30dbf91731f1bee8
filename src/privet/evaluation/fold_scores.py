"""What a fold measures, of classes and of numbers. NOT PRIVATE."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from privet.evaluation.metrics import balanced_accuracy, log_loss, macro_auc, mean_error, r2, root_mean_square
from privet.evaluation.outcome import FoldScore, NumberScore, Score
from privet.models.released import Released
from privet.privacy.ledger import Certificate

if TYPE_CHECKING:
    from privet.evaluation.cross_validation import Records


@dataclass(frozen=True)
class AnyFold(ABC):
    """The model grown on a fold's training records, and what it predicts for the others."""

    trees: Released
    known: Records
    labels: npt.NDArray[Any]
    """Of the records that the learner has not seen."""
    predicted: npt.NDArray[Any]
    seconds: float
    certificate: Certificate | None

    @classmethod
    @abstractmethod
    def summary(cls, runs: Sequence[Self], **facts: Any) -> FoldScore:
        """The score over all folds; ``facts`` are those that every score has."""


@dataclass(frozen=True)
class Fold(AnyFold):
    """A fold of classes, with its measures; None where one is undefined."""

    proba: npt.NDArray[np.float64]

    @property
    def accuracy(self) -> float:
        return float((self.predicted == self.labels).mean())

    @property
    def balanced_accuracy(self) -> float | None:
        return balanced_accuracy(self.labels, self.predicted)

    @property
    def auc(self) -> float | None:
        return macro_auc(self.labels, self.proba)

    @property
    def log_loss(self) -> float | None:
        return log_loss(self.labels, self.proba)

    @classmethod
    def summary(cls, runs: Sequence[Self], **facts: Any) -> Score:
        accuracy = np.array([run.accuracy for run in runs])
        return Score(
            accuracy_mean=float(accuracy.mean()),
            accuracy_std=float(accuracy.std()),
            balanced_accuracy_mean=mean_of_defined(run.balanced_accuracy for run in runs),
            auc_mean=mean_of_defined(run.auc for run in runs),
            log_loss_mean=mean_of_defined(run.log_loss for run in runs),
            **facts,
        )


@dataclass(frozen=True)
class NumberFold(AnyFold):
    """A fold of numbers, with its measures."""

    @property
    def r2(self) -> float | None:
        return r2(self.labels, self.predicted)

    @classmethod
    def summary(cls, runs: Sequence[Self], **facts: Any) -> NumberScore:
        explained = np.array([run.r2 for run in runs if run.r2 is not None] or [0.0])
        return NumberScore(
            r2_mean=float(explained.mean()),
            r2_std=float(explained.std()),
            mae_mean=float(np.mean([mean_error(run.labels, run.predicted) for run in runs])),
            rmse_mean=float(np.mean([root_mean_square(run.labels, run.predicted) for run in runs])),
            **facts,
        )


def mean_of_defined(values: Iterable[float | None]) -> float | None:
    defined = [value for value in values if value is not None]
    return float(np.mean(defined)) if defined else None
