"""Views of an additive model: curves, tables of pairs, and explanations of single scores."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from sklearn.utils.validation import check_is_fitted

from privet.errors import ParameterError
from privet.estimators.base import PrivateClassifier, PrivateEstimator, PrivateRegressor
from privet.models.additive import Additive
from privet.models.curves import Curve, PairTable, Reason, curves_of, pairs_of, reasons_of


class AdditiveViews(PrivateEstimator):
    """The views of an additive model. All are computed from released numbers."""

    @property
    def shapes_(self) -> tuple[Curve, ...]:
        """The curve of each attribute, with the size of its noise."""
        return curves_of(self._additive)

    @property
    def pairs_(self) -> tuple[PairTable, ...]:
        """The tables of pairs of attributes, where the model has any."""
        return pairs_of(self._additive)

    def explain(self, X: Any) -> list[Reason]:
        """Explain one record's score: additive contributions of the class counts and of each attribute."""
        features = self._encode(X)
        if features.shape[1] != 1:
            raise ParameterError(f"explain takes one record, not {features.shape[1]}; give a table of one row")
        return reasons_of(self._additive, features)

    @property
    def _additive(self) -> Additive:
        check_is_fitted(self, "model_")
        return cast(Additive, self.model_.trees)


class AdditiveFace(AdditiveViews, PrivateClassifier):
    """A classifier with an additive model."""

    def decision_function(self, X: Any) -> np.ndarray:
        """Log-odds of the second of ``classes_``; with more than two classes, a number for each."""
        scores = self._additive.predict_scores(self._encode(X))
        if scores.shape[1] == 1:
            return scores[:, 0] if self._order[0] == 0 else -scores[:, 0]
        return scores[:, self._order]


class AdditiveNumberFace(AdditiveViews, PrivateRegressor):
    """A regressor with an additive model; curves are in the label's own unit."""
