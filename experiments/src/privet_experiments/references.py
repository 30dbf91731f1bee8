"""Learners without privacy that only experiments need: forests, an additive model without noise, and boosting.

NOT PRIVATE. They stand beside private ones on the same folds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from privet.engines.memory import MemoryEngine
from privet.estimators.references import (
    REFERENCES,
    ReferenceClassifier,
    SklearnTreeReference,
    binary_columns,
    exact_forest,
    majority_leaf,
    translate,
)
from privet.evaluation.cross_validation import MAJORITY, Records, Way
from privet.growing.additive.bases import main_basis
from privet.growing.cutting.points import fine_bins
from privet.growing.prelude import ClassEstimate
from privet.models.forest import Forest
from privet.privacy.dataset import PrivateDataset
from privet.privacy.ledger import Ledger
from privet.progress import Progress
from privet.recipes.papers.smooth_forest import SmoothForest
from privet.recipes.parameters import check_whole
from privet.schema import Categorical, Schema
from privet.structure.terms import UNIT
from privet.tables.encoding import Codes

Floats = npt.NDArray[np.float64]
SHARES, NOISELESS, BOOSTING = "class shares", "additive without noise", "boosting"
RIDGE = 1.0  # of the additive model without noise


class SklearnForestReference(SklearnTreeReference):
    """scikit-learn's RandomForestClassifier over the same codes: Breiman's forest, its trees translated."""

    name = "sklearn-forest"

    def __init__(
        self,
        schema: Any = None,
        max_depth: int | None = None,
        *,
        n_estimators: int = 100,
        criterion: str = "gini",
        max_bins: int = 64,
        min_samples_leaf: int = 1,
        random_state: int | None = 0,
    ) -> None:
        super().__init__(
            schema,
            max_depth,
            criterion=criterion,
            max_bins=max_bins,
            min_samples_leaf=min_samples_leaf,
            random_state=random_state,
        )
        self.n_estimators = n_estimators

    def _check(self) -> None:
        super()._check()
        check_whole(self.n_estimators, "n_estimators", 1, 10_000)

    def grow(self, schema: Schema, codes: Codes, progress: Progress | None = None) -> Forest:
        from sklearn.ensemble import RandomForestClassifier

        assert codes.labels is not None
        columns, names = binary_columns(schema, codes.features)
        if self.max_depth == 0 or not codes.labels.size or not names:
            return Forest(schema, (majority_leaf(schema, codes),))
        learner = RandomForestClassifier(
            self.n_estimators,
            criterion=self.criterion,
            max_depth=self.max_depth,
            min_samples_leaf=self.min_samples_leaf,
            random_state=self.random_state,
        ).fit(columns, codes.labels)
        # The trees of a forest know classes by their places among those that occur.
        for tree in learner.estimators_:
            tree.classes_ = learner.classes_
        return Forest(schema, tuple(translate(schema, tree, names) for tree in learner.estimators_), "proba")


class RandomTreesReference(ReferenceClassifier):
    """Random trees without privacy: the twin of ``smooth-forest`` that counts all records in every tree, exactly.

    What privacy costs that forest is the difference (Fletcher 2017, 8.2).
    """

    name = "random-trees"

    def __init__(
        self,
        schema: Any = None,
        max_depth: int | None = None,
        *,
        n_estimators: int = 100,
        max_bins: int = 64,
        max_leaves: int = 1024,
        random_state: int | None = 0,
    ) -> None:
        self.schema = schema
        self.max_depth = max_depth
        self.n_estimators = n_estimators
        self.max_bins = max_bins
        self.max_leaves = max_leaves
        self.random_state = random_state

    def recipe(self) -> SmoothForest:
        """The private forest of the same trees, checked."""
        depth: Any = "auto" if self.max_depth is None else self.max_depth
        return SmoothForest(
            n_estimators=self.n_estimators, max_depth=depth, max_bins=self.max_bins, max_leaves=self.max_leaves
        )

    def _check(self) -> None:
        self.recipe()

    def grow(self, schema: Schema, codes: Codes, progress: Progress | None = None) -> Forest:
        routes = self.recipe().routes(schema, np.random.default_rng(self.random_state))
        return exact_forest(MemoryEngine(schema, codes), routes)


FORESTS: dict[str, type[ReferenceClassifier]] = {
    learner.name: learner for learner in (SklearnForestReference, RandomTreesReference)
}
ALL = REFERENCES | FORESTS
WITHOUT_PRIVACY = {MAJORITY, NOISELESS, BOOSTING, *ALL}
"""All learners that have no epsilon."""


# ---- probabilities without trees ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Predictor:
    """What predicts probabilities from codes."""

    schema: Schema
    predict_proba: Callable[[npt.NDArray[Any]], Floats]

    def predict(self, features: npt.NDArray[Any]) -> npt.NDArray[np.intp]:
        return self.predict_proba(features).argmax(axis=1)


def shares_way(schema: Schema, epsilon: float) -> Way:
    """Class shares that all of epsilon bought, said of everyone."""
    exact = Fraction(str(epsilon))

    def grow(records: Records) -> tuple[Any, Any]:
        data = PrivateDataset(MemoryEngine(schema, records.codes), Ledger(exact))
        nothing = ClassEstimate(np.zeros(schema.n_classes), 0.0, Fraction(0))
        bought = nothing.refined(data, exact).shares
        return Predictor(schema, lambda features: np.tile(bought, (features.shape[1], 1))), data.ledger.certificate()

    return Way(SHARES, "sound", exact, schema, grow)


def noiseless_way(schema: Schema) -> Way:
    """Logistic regression on the features of an additive model: what noise keeps it from."""
    from sklearn.linear_model import LogisticRegression

    cut = fine_bins(schema)
    terms = [main_basis(cut, a).term for a in range(len(cut.attributes))]

    def design(features: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
        parts = []
        for term in terms:
            mixes = np.zeros((term.bins, term.size), dtype=np.float32)
            np.add.at(mixes, (np.arange(term.bins)[:, None], term.cells), term.weights / UNIT)
            parts.append(mixes[term.levels[0][features[term.attributes[0]]]])
        return np.concatenate(parts, axis=1)

    def grow(records: Records) -> tuple[Any, None]:
        learner = LogisticRegression(C=1 / RIDGE, max_iter=500, tol=1e-3)
        return _predictor(cut, learner.fit(design(records.codes.features), records.codes.labels), design), None

    return Way(NOISELESS, "non-private", None, cut, grow)


def boosting_way(schema: Schema) -> Way:
    """scikit-learn's boosting on the codes, categories as categories."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    cut = fine_bins(schema)
    nominal = [isinstance(a, Categorical) and a.arity <= 255 for a in cut.attributes]

    def design(features: npt.NDArray[Any]) -> Floats:
        return features.T.astype(np.float64)

    def grow(records: Records) -> tuple[Any, None]:
        labels = np.asarray(records.codes.labels)
        # Stopping early sets some records of every class aside, and fails where a class has but one.
        stops = "auto" if np.unique(labels, return_counts=True)[1].min() > 1 else False
        learner = HistGradientBoostingClassifier(categorical_features=nominal, early_stopping=stops, random_state=0)
        return _predictor(cut, learner.fit(design(records.codes.features), labels), design), None

    return Way(BOOSTING, "non-private", None, cut, grow)


def _predictor(schema: Schema, model: Any, design: Callable[[npt.NDArray[Any]], Any]) -> Predictor:
    """With a column for every class, also for those that no record of the fold has."""

    def predict_proba(features: npt.NDArray[Any]) -> Floats:
        full = np.zeros((features.shape[1], schema.n_classes))
        full[:, model.classes_.astype(np.intp)] = model.predict_proba(design(features))
        return full

    return Predictor(schema, predict_proba)
