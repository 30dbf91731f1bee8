"""What all classifiers share: from ``fit(X, y)`` to a private data set, a model and its certificate."""

from __future__ import annotations

import os
from dataclasses import fields
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from privet.encoding import decode_labels, encode
from privet.engines.memory import MemoryEngine
from privet.errors import ParameterError
from privet.growing.grower import Progress
from privet.privacy.budget import Neighbours
from privet.privacy.budget import epsilon as parse_epsilon
from privet.privacy.dataset import PrivateDataset
from privet.privacy.ledger import Certificate, Ledger
from privet.recipes.recipe import Recipe
from privet.schema import Schema
from privet.trees.codec import Model, save
from privet.trees.forest import Forest
from privet.trees.rules import Rule, rules_of
from privet.trees.tree import Tree


class PrivateClassifier(ClassifierMixin, BaseEstimator):
    """A scikit-learn classifier over a recipe. Subclasses name the recipe and list its parameters."""

    recipe_class: ClassVar[type[Recipe]]

    # -- fitting ---------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, *, progress: Progress | None = None) -> PrivateClassifier:
        """Grow a model from private records.

        Parameters
        ----------
        X : pandas, polars or pyarrow table, dict of columns, or 2-D array in schema order
        y : labels, one for each record
        progress : callable, optional
            Told (steps done, steps at most) as the fit goes on.
        """
        recipe = self.recipe()
        if isinstance(self.schema, str) and self.schema == "infer":
            X, y = self._validated(X, y)
            schema = Schema.infer(X, y)
        else:
            schema = self._public_schema()
        schema = recipe.prepare(schema)
        epsilon = parse_epsilon(self.epsilon)
        account = self._open_account(recipe, epsilon)
        data = PrivateDataset(MemoryEngine(schema, encode(schema, X, y)), account)
        # Public choices only: noise never comes from here.
        random = np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1, size=4))
        model = recipe.grow_model(data, epsilon, random, progress)
        return self._adopt(Model(recipe.info.name, model, recipe.params, account.certificate().to_dict()))

    def recipe(self) -> Recipe:
        """The recipe with this estimator's parameters, checked."""
        names = {field.name for field in fields(self.recipe_class)}
        return self.recipe_class(**{name: getattr(self, name) for name in names})

    def _validated(self, X: Any, y: Any) -> tuple[Any, Any]:
        """For inferred schemas, where nothing is private anyway: complain about rows as scikit-learn does."""
        if not _is_numeric(X):
            return X, y
        X, y = validate_data(self, X, y)
        check_classification_targets(y)
        return X, y

    def _public_schema(self) -> Schema:
        if isinstance(self.schema, Schema):
            return self.schema
        if isinstance(self.schema, str | os.PathLike):
            return Schema.from_json(self.schema)
        raise ParameterError(
            "schema is missing: give schema=privet.Schema(...) or the path of its JSON file, the public facts about "
            "the table. schema='infer' reads them off the private data, which is not private (epsilon = infinity)"
        )

    def _open_account(self, recipe: Recipe, epsilon: Any) -> Ledger:
        name = f"fit of {recipe.info.name}"
        if self.ledger is None:
            own = Ledger(epsilon, neighbours=self.neighbours)
            return own.allow_nonprivate() if recipe.variant in recipe.unsound else own
        if not isinstance(self.ledger, Ledger):
            raise ParameterError(f"ledger must be a privet.Ledger, not {type(self.ledger).__name__}")
        if self.ledger.neighbours != Neighbours.parse(self.neighbours):
            raise ParameterError(
                f"the ledger counts in {self.ledger.neighbours.value} neighbours; set neighbours to the same"
            )
        return self.ledger.account(name, epsilon)

    def _adopt(self, model: Model) -> PrivateClassifier:
        """Take the fitted attributes from a model; all of them are public."""
        self.model_ = model
        self.schema_ = model.schema
        self.certificate_ = Certificate.from_dict(model.certificate)
        self.classes_, self._order = _sorted_classes(model.schema)
        if not hasattr(self, "n_features_in_"):
            self.n_features_in_ = len(model.schema.attributes)
            self.feature_names_in_ = np.asarray(model.schema.names, dtype=object)
        return self

    # -- using -----------------------------------------------------------------------------------------------------

    def predict(self, X: Any) -> np.ndarray:
        """The label of each record, as the schema writes it."""
        return decode_labels(self.schema_, self._trees.predict(self._encode(X)))

    def predict_proba(self, X: Any) -> np.ndarray:
        """Class probabilities, columns in the order of ``classes_``. Computed from released numbers only."""
        return self._trees.predict_proba(self._encode(X))[:, self._order]

    @property
    def rules_(self) -> tuple[Rule, ...]:
        """The model's leaves as rules, with support and confidence where counts were released."""
        trees = self._trees.trees if isinstance(self._trees, Forest) else (self._trees,)
        return tuple(rule for tree in trees for rule in rules_of(tree))

    @property
    def tree_(self) -> Tree:
        """The tree of a single-tree model."""
        if isinstance(self._trees, Forest):
            raise AttributeError("this model is a forest; see model_.trees")
        return self._trees

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model, its schema and its certificate as JSON; read it back with ``privet.load_model``."""
        check_is_fitted(self, "model_")
        save(self.model_, path)

    @property
    def _trees(self) -> Tree | Forest:
        check_is_fitted(self, "model_")
        return self.model_.trees

    def _encode(self, X: Any) -> np.ndarray:
        check_is_fitted(self, "model_")
        if self.schema_.inferred and _is_numeric(X):
            X = validate_data(self, X, reset=False)
        return self.schema_.encode_features(X)


def _sorted_classes(schema: Schema) -> tuple[np.ndarray, np.ndarray]:
    """Labels in the order scikit-learn's scorers expect, and the schema's code of each."""
    values = decode_labels(schema, np.arange(schema.n_classes))
    try:
        order = np.argsort(values, kind="stable")
    except TypeError:  # labels of mixed types have no order; the schema's will do
        order = np.arange(schema.n_classes)
    return values[order], order


def _is_numeric(X: Any) -> bool:
    """False for a frame with categories, which scikit-learn's own validation would refuse."""
    dtypes = getattr(X, "dtypes", ())
    return all(getattr(dtype, "kind", "O") in "biuf" for dtype in dtypes)
