"""How well a model predicts records whose labels are known. NOT PRIVATE: the records are counted exactly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from privet.errors import ParameterError
from privet.models.model import Model
from privet.privacy.dataset import PrivateDataset
from privet.tables.encoding import Codes, encode

MOST_BETA = 100  # beyond it F-beta is the recall, to four digits
LEAST_PROBABILITY = 1e-6  # in a log-loss: a model that rules out what happens costs 13.8 nats, not infinitely many


@dataclass(frozen=True)
class Performance:
    """How well a model predicts; None where a measure is undefined."""

    accuracy: float | None
    f1: float | None
    auc: float | None


def performance(model: Any, table: Any) -> Performance:
    """The model's accuracy, F1 and AUC on a table with labels. NOT PRIVATE.

    F1 and AUC are means over the classes, each against the rest, that some but not all records have; with two classes
    AUC is as usual.

    >>> from privet.datasets.clinic import clinic
    >>> from privet.estimators.references import SklearnTreeReference
    >>> schema, table = clinic(2000)
    >>> performance(SklearnTreeReference(schema, 4).fit(table), table).accuracy > 0.7
    True
    """
    if (found := Model.of(model)) is None:
        raise ParameterError(
            f"model must be a tree, a forest, a sum or a fitted privet classifier, not {type(model).__name__}"
        )
    if isinstance(table, PrivateDataset):
        raise ParameterError("performance counts records without noise, so it takes no protected table")
    trees = found.trees
    trees.schema.refuse_number("this comparison")
    codes = table if isinstance(table, Codes) else encode(trees.schema, table)
    assert codes.labels is not None
    if not codes.labels.size:
        return Performance(None, None, None)
    predicted, proba = trees.predict(codes.features), trees.predict_proba(codes.features)
    right = float((predicted == codes.labels).mean())
    return Performance(right, macro_f1(codes.labels, predicted, proba.shape[1]), macro_auc(codes.labels, proba))


def r2(truth: npt.NDArray[Any], predicted: npt.NDArray[Any]) -> float | None:
    """The share of the squared deviations from the mean that predictions explain; None if all labels are the same.

    >>> r2(np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 2.0]))
    0.5
    """
    around = float(((truth - truth.mean()) ** 2).sum()) if truth.size else 0.0
    return 1 - float(((truth - predicted) ** 2).sum()) / around if around > 0 else None


def mean_error(truth: npt.NDArray[Any], predicted: npt.NDArray[Any]) -> float:
    """The mean absolute error.

    >>> mean_error(np.array([1.0, 2.0]), np.array([1.0, 5.0]))
    1.5
    """
    return float(np.abs(truth - predicted).mean())


def root_mean_square(truth: npt.NDArray[Any], predicted: npt.NDArray[Any]) -> float:
    """The root of the mean squared error.

    >>> root_mean_square(np.array([1.0, 2.0]), np.array([4.0, 5.0]))
    3.0
    """
    return float(np.sqrt(((truth - predicted) ** 2).mean()))


def macro_f1(truth: npt.NDArray[Any], predicted: npt.NDArray[Any], classes: int) -> float | None:
    """The mean F1 of the classes that occur, each against the rest; None if none does.

    >>> round(macro_f1(np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1]), 2), 4)
    0.7333
    """
    table = np.zeros((classes, classes), dtype=np.int64)
    np.add.at(table, (truth, predicted), 1)
    right, both = np.diag(table), table.sum(axis=0) + table.sum(axis=1)
    occur = table.sum(axis=1) > 0
    return float((2 * right[occur] / both[occur]).mean()) if occur.any() else None


def rare_f1(truth: npt.NDArray[Any], predicted: npt.NDArray[Any]) -> float | None:
    """The F1 of the rarest class that occurs, the first of them if there are several; None without records.

    >>> round(rare_f1(np.array([0, 0, 0, 1, 1]), np.array([0, 1, 0, 1, 1])), 2)  # two found, one too many
    0.8
    """
    if not truth.size:
        return None
    codes, sizes = np.unique(truth, return_counts=True)
    rare = codes[sizes.argmin()]
    hits = int(((truth == rare) & (predicted == rare)).sum())
    return 2 * hits / (int(sizes.min()) + int((predicted == rare).sum()))


def f_beta(truth: npt.NDArray[Any], predicted: npt.NDArray[Any], positive: int, beta: float = 1.0) -> float | None:
    """F-beta of one class: the harmonic mean of its precision and its recall, which counts beta times as much.

    None if no record has the class and none is predicted to.

    >>> truth, predicted = np.array([1, 1, 1, 1, 0, 0]), np.array([1, 1, 0, 0, 0, 0])  # precision 1, recall 1/2
    >>> round(f_beta(truth, predicted, 1), 4), round(f_beta(truth, predicted, 1, beta=2), 4)
    (0.6667, 0.5556)
    """
    actual, guessed = truth == positive, predicted == positive
    both, weight = int((actual & guessed).sum()), beta * beta
    every = weight * int(actual.sum()) + int(guessed.sum())
    return (1 + weight) * both / every if every else None


def check_positive(classes: Sequence[Any], positive: Any, beta: float) -> int:
    """The code of the class that F-beta is about."""
    if isinstance(beta, bool) or not isinstance(beta, int | float) or not 0 < beta <= MOST_BETA:
        raise ParameterError(parameter="beta", problem=f"must be a number above 0, up to {MOST_BETA}, not {beta!r}")
    texts = [str(one) for one in classes]
    if str(positive) not in texts:
        raise ParameterError(parameter="positive", problem=f"must be one of {', '.join(texts)}, not {positive!r}")
    return texts.index(str(positive))


def macro_auc(truth: npt.NDArray[Any], proba: npt.NDArray[np.float64]) -> float | None:
    """The area under the ROC curve, one class against the rest, averaged over classes; None where it is undefined.

    Classes that all or none of the records have are left out of the average.

    >>> macro_auc(np.array([0, 0, 1, 1]), np.array([[0.9, 0.1], [0.6, 0.4], [0.65, 0.35], [0.2, 0.8]]))
    0.75
    """
    areas = []
    for code, column in enumerate(proba.T):
        positive = truth == code
        ones, zeros = int(positive.sum()), int((~positive).sum())
        if ones and zeros:
            # Mann and Whitney: how often a record of the class outranks another; ties count half.
            _, place, alike = np.unique(column, return_inverse=True, return_counts=True)
            ranks = (np.cumsum(alike) - (alike - 1) / 2)[place]
            areas.append((ranks[positive].sum() - ones * (ones + 1) / 2) / (ones * zeros))
    return float(np.mean(areas)) if areas else None


def balanced_accuracy(truth: npt.NDArray[Any], predicted: npt.NDArray[Any]) -> float | None:
    """The mean recall over the classes that occur; None without any.

    >>> balanced_accuracy(np.array([0, 0, 0, 1]), np.array([0, 0, 0, 0]))  # three of four right, and yet a constant
    0.5
    """
    right = [float((predicted[truth == code] == code).mean()) for code in np.unique(truth)]
    return float(np.mean(right)) if right else None


def log_loss(truth: npt.NDArray[Any], proba: npt.NDArray[np.float64]) -> float | None:
    """The mean negative log-probability of the true class, in nats; None without records.

    >>> round(log_loss(np.array([0, 1]), np.array([[0.5, 0.5], [1.0, 0.0]])), 2)
    7.25
    """
    if not truth.size:
        return None
    text = proba[np.arange(truth.size), truth]
    return float(-np.log(np.maximum(text, LEAST_PROBABILITY)).mean())
