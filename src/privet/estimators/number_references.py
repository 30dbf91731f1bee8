"""Non-private learners of numbers, for comparison. NOT DIFFERENTIALLY PRIVATE: they see exact records."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from privet.errors import ParameterError
from privet.estimators.references import binary_columns, translated
from privet.models.formula import Formula
from privet.models.number_tree import NumberTree
from privet.models.released import Released
from privet.schema import Categorical, Schema

Floats = npt.NDArray[np.float64]

TREE_BINS = 20  # as the reference of classes has them
BOOSTING_BINS = 255  # the most that scikit-learn's boosting makes of a number


class Boosted(Released):
    """scikit-learn's boosting behind ``predict``, over the same codes. It is compared with, never saved."""

    title: ClassVar[str] = "boosting"

    def __init__(self, schema: Schema, learner: Any) -> None:
        self.schema, self._learner = schema, learner

    def predict(self, features: npt.NDArray[Any]) -> npt.NDArray[Any]:
        with one_thread():
            return np.asarray(self._learner.predict(features.T))

    def predict_scores(self, features: npt.NDArray[Any]) -> Floats:
        return self.predict(features)[:, None]

    def predict_proba(self, features: npt.NDArray[Any]) -> Floats:
        raise ParameterError("this model predicts a number, which has no class probabilities; use predict")

    def formula(self) -> Formula:
        raise ParameterError("a reference of boosting is only compared with; export a model of privet")


def mean_leaf(schema: Schema, features: npt.NDArray[Any], labels: Floats, max_depth: int | None = None) -> NumberTree:
    """A single leaf: the mean of the labels, or the middle of their bounds where there are none. NOT private."""
    middle = schema.number.low / 2 + schema.number.high / 2
    value = np.array([labels.mean() if labels.size else middle])
    return NumberTree.of(schema, [None], np.array([[float(labels.size)]]), value, np.zeros(1))


def regression_tree(schema: Schema, features: npt.NDArray[Any], labels: Floats, max_depth: int | None) -> NumberTree:
    """scikit-learn's DecisionTreeRegressor: thresholds on bins, one category against the rest. NOT private."""
    from sklearn.tree import DecisionTreeRegressor

    columns, names = binary_columns(schema, features)
    if max_depth == 0 or not labels.size or not names:  # scikit-learn has no such trees
        return mean_leaf(schema, features, labels)
    learner = DecisionTreeRegressor(max_depth=max_depth, random_state=0).fit(columns, labels)
    tests, _, order = translated(learner, names)
    theirs = learner.tree_
    counts = theirs.weighted_n_node_samples[order, None]
    return NumberTree.of(schema, tests, counts, theirs.value[order, 0, 0], np.zeros(len(order)))


def boosted(schema: Schema, features: npt.NDArray[Any], labels: Floats, max_depth: int | None) -> Released:
    """scikit-learn's HistGradientBoostingRegressor; ``max_depth`` is not for its small trees. NOT private."""
    from sklearn.ensemble import HistGradientBoostingRegressor

    if not labels.size:
        return mean_leaf(schema, features, labels)
    kinds = [isinstance(a, Categorical) and a.arity <= BOOSTING_BINS for a in schema.attributes]
    learner = HistGradientBoostingRegressor(categorical_features=kinds, random_state=0)
    with one_thread():
        return Boosted(schema, learner.fit(features.T, labels))


def one_thread() -> Any:
    """OpenMP's threads wait for one another: on a busy machine, fifty times as long as one alone takes."""
    from threadpoolctl import threadpool_limits  # scikit-learn needs it

    return threadpool_limits(1)


Learner = Callable[[Schema, npt.NDArray[Any], Floats, int | None], Released]

NUMBER_REFERENCES: dict[str, tuple[Learner, int]] = {
    "sklearn-tree": (regression_tree, TREE_BINS),
    "sklearn-boosting": (boosted, BOOSTING_BINS),
}
"""Name -> (learner of codes and labels, bins of a number)."""
