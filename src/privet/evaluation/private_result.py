"""``PrivateScore``: measures of a model, from a noisy histogram of predictions; and what every private score has."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from privet.evaluation.intervals import Ratio, area, average, loose_proportion, mean_of, weighted_share
from privet.evaluation.metrics import check_positive
from privet.models.intervals import Estimate, noise_variance
from privet.privacy.certificate import Certificate

Floats = npt.NDArray[np.float64]
ORIGINS = {
    True: "the owner stated that none of the scored records trained the model",
    False: "the scored records trained the model: the scores say how well it fits them, not what it does on others",
    None: "it was not stated whether the scored records trained the model; if they did, the scores are too good",
}


class Scored(ABC):
    """What every private score has, of classes or of numbers."""

    epsilon: Fraction
    scale: Fraction
    """Of the discrete Laplace noise in every count."""
    held_out: bool | None
    certificate: Certificate

    @property
    @abstractmethod
    def measures(self) -> dict[str, Estimate]:
        """The measures of the whole model that are defined, by name, the most important first."""

    @property
    @abstractmethod
    def written(self) -> dict[str, str]:
        """The few measures that stand in a table of models, as text with intervals; "-" where one is undefined."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and text, for JSON."""

    def _facts(self) -> dict[str, Any]:
        """What its JSON says beside the measures."""
        return {
            "noise_scale": str(self.scale),
            "confidence": 0.95,
            "held_out": self.held_out,
            "certificate": self.certificate.to_dict(),
        }

    def __str__(self) -> str:
        lines = [f"{name:<18} {value}" for name, value in self.measures.items()]
        return "\n".join([*lines, f"(95 % intervals, noise included; {ORIGINS[self.held_out]})"])


@dataclass(frozen=True)
class PrivateScore(Scored):
    """Noisy counts from one charge, and the measures computed from them.

    ``counts`` are noisy (true class, predicted class, bin of confidence) numbers of records; they can be negative.
    Intervals cover the true value, for records drawn as these were, 95 times in 100: they include noise and sampling.
    """

    classes: tuple[Any, ...]
    counts: tuple[tuple[tuple[int, ...], ...], ...]
    epsilon: Fraction
    scale: Fraction
    held_out: bool | None
    certificate: Certificate

    @property
    def measures(self) -> dict[str, Estimate]:
        names = ("accuracy", "balanced_accuracy", "macro_precision", "macro_f1", "auc", "log_loss")
        return {name.replace("_", " "): value for name in names if (value := getattr(self, name)) is not None}

    @property
    def written(self) -> dict[str, str]:
        auc = "-" if self.auc is None else str(self.auc)
        return {"accuracy": str(self.accuracy), "balanced accuracy": str(self.balanced_accuracy), "AUC": auc}

    @property
    def bins(self) -> int:
        return len(self.counts[0][0])

    @property
    def confusion(self) -> npt.NDArray[np.int64]:
        """(true class, predicted class) noisy counts."""
        return np.array(self.counts).sum(axis=2)

    @property
    def accuracy(self) -> Estimate:
        return self._share(self._diagonal).within(0, 1)

    @property
    def recall(self) -> dict[Any, Estimate]:
        """The share of a class's records that are recognised."""
        return self._by_class(self._recalls)

    @property
    def precision(self) -> dict[Any, Estimate]:
        """The share of the records predicted as a class that belong to it."""
        return self._by_class(self._precisions)

    @property
    def f1(self) -> dict[Any, Estimate]:
        return self._by_class(self._f1s)

    def f_beta(self, positive: Any, beta: float = 1.0) -> Estimate:
        """F-beta of one class, for which recall counts ``beta`` times as much as precision."""
        code, weight = check_positive(self.classes, positive, beta), beta * beta
        actual, guessed = (self._of_class(axis, code).ravel().astype(np.float64) for axis in (0, 1))
        return weighted_share((1 + weight) * actual * guessed, weight * actual + guessed, self._flat, self._noise)

    @property
    def balanced_accuracy(self) -> Estimate:
        """The mean of the classes' recalls."""
        return self._mean(self._recalls)

    macro_recall = balanced_accuracy

    @property
    def macro_precision(self) -> Estimate:
        return self._mean(self._precisions)

    @property
    def macro_f1(self) -> Estimate:
        return self._mean(self._f1s)

    @property
    def auc(self) -> Estimate | None:
        """The area under the ROC curve of the binned scores; None with more than two classes or no probabilities."""
        if not self._has_scores:
            return None
        # From certainly the first class to certainly the second.
        first, second = (np.concatenate([true[0][::-1], true[1]]) for true in self._counts)
        return area(second, first, self._noise)

    @property
    def log_loss(self) -> Estimate | None:
        """The log-loss of the model with every probability moved to the middle of its bin; None as for ``auc``."""
        if not self._has_scores:
            return None
        given = np.where(np.eye(2, dtype=bool)[:, :, None], self._middles, 1 - self._middles)
        return average(-np.log(given).ravel(), self._flat, self._noise)

    @property
    def reliability(self) -> tuple[tuple[float, float, Estimate], ...]:
        """(from, to, share of right predictions) for each bin of confidence; empty without probabilities."""
        if self.bins == 1:
            return ()
        here = np.arange(self.bins) == np.arange(self.bins)[:, None]
        edges = self._edges.tolist()
        return tuple(
            (edges[b], edges[b + 1], self._share(self._diagonal & mine, mine).within(0, 1))
            for b, mine in enumerate(np.broadcast_to(row, self._counts.shape) for row in here)
        )

    def to_dict(self) -> dict[str, Any]:
        by_class = {name: getattr(self, name) for name in ("precision", "recall", "f1")}
        return {
            "classes": list(self.classes),
            "confusion": self.confusion.tolist(),
            **{name.replace(" ", "_"): estimate.to_dict() for name, estimate in self.measures.items()},
            **{name: [e.to_dict() for e in estimates.values()] for name, estimates in by_class.items()},
            "reliability": [{"from": a, "to": b, **e.to_dict()} for a, b, e in self.reliability],
            "counts": [[list(bins) for bins in row] for row in self.counts],
            **self._facts(),
        }

    # -- inside ----------------------------------------------------------------------------------------------------

    @cached_property
    def _counts(self) -> Floats:
        return np.array(self.counts, dtype=np.float64)

    @property
    def _flat(self) -> Floats:
        return self._counts.ravel()

    @property
    def _noise(self) -> float:
        return noise_variance(float(self.scale))

    @property
    def _has_scores(self) -> bool:
        return self.bins > 1 and len(self.classes) == 2

    @property
    def _edges(self) -> Floats:
        return np.linspace(1 / len(self.classes), 1.0, self.bins + 1)

    @property
    def _middles(self) -> Floats:
        return (self._edges[:-1] + self._edges[1:]) / 2

    @property
    def _diagonal(self) -> npt.NDArray[np.bool_]:
        return np.broadcast_to(np.eye(len(self.classes), dtype=bool)[:, :, None], self._counts.shape)

    def _share(self, part: npt.NDArray[np.bool_], whole: npt.NDArray[np.bool_] | None = None) -> Estimate:
        rest = ~part if whole is None else whole & ~part
        hits, misses = float(self._counts[part].sum()), float(self._counts[rest].sum())
        return loose_proportion(hits, misses, (int(part.sum()), int(rest.sum())), self._noise)

    def _of_class(self, axis: int, code: int) -> npt.NDArray[np.bool_]:
        return np.asarray(np.indices(self._counts.shape)[axis] == code)

    def _ratio(self, part: npt.NDArray[np.bool_], whole: npt.NDArray[np.bool_]) -> Ratio:
        weights = part.ravel().astype(np.float64), whole.ravel().astype(np.float64)
        return Ratio(self._share(part, whole), *weights)

    @property
    def _recalls(self) -> list[Ratio]:
        rows = [self._of_class(0, code) for code in range(len(self.classes))]
        return [self._ratio(row & self._diagonal, row) for row in rows]

    @property
    def _precisions(self) -> list[Ratio]:
        columns = [self._of_class(1, code) for code in range(len(self.classes))]
        return [self._ratio(column & self._diagonal, column) for column in columns]

    @property
    def _f1s(self) -> list[Ratio]:
        found = []
        for code in range(len(self.classes)):
            either = self._of_class(0, code) | self._of_class(1, code)
            both = self._of_class(0, code) & self._of_class(1, code)
            jaccard = self._share(both, either).within(-0.5, 2)  # far beyond possible values, without a pole
            # F1 is 2p / (1 + p), where p is the share of true positives among all actual or predicted positives.
            f1 = Estimate(*(2 * p / (1 + p) for p in (jaccard.value, jaccard.low, jaccard.high)))
            right = both.ravel().astype(np.float64)
            found.append(Ratio(f1, 2 * right, either.ravel() + right))
        return found

    def _by_class(self, ratios: list[Ratio]) -> dict[Any, Estimate]:
        return {label: ratio.estimate.within(0, 1) for label, ratio in zip(self.classes, ratios, strict=True)}

    def _mean(self, ratios: list[Ratio]) -> Estimate:
        return mean_of(ratios, self._flat, self._noise)
