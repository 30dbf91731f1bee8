"""The base of all classifiers: from ``fit(X, y)`` to a private data set, a model and its certificate."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, is_regressor
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from privet.engines.opening import load_table
from privet.errors import ParameterError, PrivacyWarning, TableError
from privet.estimators.answering import Answering
from privet.estimators.exact_score import ExactScore
from privet.estimators.verbosity import VerboseProgress
from privet.fitting import Fit, Request, public_random, threads_of
from privet.markup import Html, tag
from privet.models.model import Model
from privet.models.released import Released
from privet.models.rules import Rule
from privet.models.shown import ShownTree
from privet.models.tree import Tree
from privet.privacy.dataset import PrivateDataset
from privet.privacy.ledger import Certificate
from privet.progress import Progress
from privet.promise import html_of
from privet.recipes.recipe import Recipe
from privet.recipes.unoffered import refuse_in_fit
from privet.schema import Schema
from privet.structure.compiled import threads
from privet.tables.declared import attribute_order, refuse_source, refuse_sparse
from privet.tables.encoding import decode_labels, encode_features
from privet.tables.files import unreadable_records, unreadable_words
from privet.tables.inferring import infer_schema
from privet.tables.records import as_table

_CALLER = 4  # frames from a warning in _encode to the caller of predict


class SchemaEstimator(Answering, BaseEstimator):
    """What every estimator over a schema shares, private or not, whether it predicts classes or numbers."""

    schema: Any
    _checked = False
    """Whether scikit-learn validated the table of the last fit, and so remembers its columns."""
    _columns_of_fit: tuple[str, ...] | None = None
    """The attributes as the table of the last fit ordered them; None for an array, and for a model from a file."""

    def __sklearn_tags__(self) -> Any:
        """A schema says where missing cells go; without one scikit-learn checks arrays of numbers, and refuses NaN."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = not self._infers()
        tags.input_tags.string = tags.input_tags.categorical = True
        return tags

    # -- before a fit ----------------------------------------------------------------------------------------------

    def _declared(self, X: Any, y: Any) -> tuple[Schema, Any, Any]:
        """The schema, declared or inferred, and the table and labels, validated if it is inferred."""
        self._checked = False
        refuse_sparse(X)
        if not self._infers():
            return self._public_schema(), X, y
        if y is None:
            raise ParameterError("requires y to be passed, but the target y is None: schema='infer' reads y for labels")
        if _is_plain_array(X):
            # Nothing is private here anyway: complain about rows as scikit-learn does.
            X, y = self._validated(X, y)
            X, self._checked = self._named(X), True
        return infer_schema(X, y, number=is_regressor(self)), X, y

    def _validated(self, X: Any, y: Any) -> tuple[Any, Any]:
        """An array and its labels, checked as scikit-learn does."""
        return validate_data(self, X, y)

    def _infers(self) -> bool:
        return isinstance(self.schema, str) and self.schema == "infer"

    def _public_schema(self) -> Schema:
        if isinstance(self.schema, Schema):
            return self.schema
        if isinstance(self.schema, str | os.PathLike):
            return Schema.from_json(self.schema)
        raise ParameterError(
            "schema is missing: give schema=privet.Schema(...) or the path of its JSON file, the public facts about "
            "the table; `privet schema draft TABLE -o FILE` begins one. schema='infer' reads them off the private "
            "data, which is not private (epsilon = infinity)"
        )

    def _named(self, X: np.ndarray) -> Any:
        """A validated array with the column names of its frame, if it was one."""
        names = getattr(self, "feature_names_in_", None)
        return X if names is None else dict(zip(names, X.T, strict=True))

    # -- after a fit -----------------------------------------------------------------------------------------------

    def _adopt(self, model: Model) -> Self:
        """Take the fitted attributes from a model; all of them are public."""
        self.model_ = model
        self.schema_ = model.schema
        self.certificate_ = Certificate.from_dict(model.certificate)
        if not self._checked:
            self.n_features_in_ = len(model.schema.inputs)
            self.feature_names_in_ = np.asarray(model.schema.inputs, dtype=object)
        return self

    @property
    def rules_(self) -> tuple[Rule, ...]:
        """The model's leaves as rules, with support and confidence where counts were released.

        Every leaf has one; ``shown().rules`` has those that are shown, the ones with the most records first.
        """
        self._members("rules")
        return self.model_.rules()

    @property
    def subrules_(self) -> tuple[Rule, ...]:
        """The rules of all nodes, including inner ones: what each tree would predict if it stopped there.

        Support and confidence are bought in every node by ``greedy-forest`` and ``rana2016``. Elsewhere those of an
        inner node are the sums of its leaves', where noise adds up too.
        """
        self._members("rules")
        return self.model_.rules(inner=True)

    def _members(self, wanted: str) -> tuple[Tree, ...]:
        """The trees of the model; refuses models that have none."""
        if not (members := self._trees.members):
            raise AttributeError(f"this model is a sum and has no {wanted}; see shapes_, pairs_ and explain")
        return members

    def shown(self, number: int = 0, *, max_leaves: int | None = None, min_support: float | None = None) -> ShownTree:
        """The tree as ``privet show``, pages and pictures have it: print it, or read its ``rules``.

        Leaves with the same prediction are merged, and leaves hidden by noise are marked. The model keeps all of them.

        Parameters
        ----------
        number : which tree of a forest
        max_leaves : at most so many leaves; the branches with the fewest records are folded into one
        min_support : no branch is opened in which every leaf has fewer records
        """
        members = self._members("tree")
        if not 0 <= number < len(members):
            raise ParameterError(f"number must be that of a tree, from 0 to {len(members) - 1}, not {number}")
        return ShownTree.of(members[number], self.model_.scale, max_leaves=max_leaves, min_support=min_support)

    @property
    def feature_importances_(self) -> np.ndarray:
        """How much each attribute decides, in the order of ``feature_names_in_``; they add up to 1, or are all 0.

        Computed from released numbers only (see ``importances`` of :class:`privet.models.released.Released`), so it
        costs no budget. Without released counts, as ``exact`` by default, all branches of a test weigh the same.
        """
        return self._trees.importances()

    @property
    def tree_(self) -> Tree:
        """The tree of a single-tree model."""
        if self._trees is not (first := self._members("tree")[0]):
            raise AttributeError("this model is a forest; see estimators_")
        return first

    @property
    def estimators_(self) -> tuple[Tree, ...]:
        """The trees of a forest."""
        if (members := self._members("forest")) and self._trees is members[0]:
            raise AttributeError("this model is not a forest; a single tree is tree_")
        return members

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        """A notebook's view: scikit-learn's diagram and, after a fit, the model and its cost."""
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle and hasattr(self, "model_"):
            bundle["text/html"] += tag("div", Html(self.model_._repr_html_()), html_of(self.certificate_))
        return bundle

    def _repr_html_(self) -> str | None:
        return self._repr_mimebundle_().get("text/html")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model, its schema and its certificate as JSON; read it back with ``privet.load_model``."""
        check_is_fitted(self, "model_")
        self.model_.save(path)

    @property
    def _trees(self) -> Released:
        check_is_fitted(self, "model_")
        return self.model_.trees

    def _encode(self, X: Any) -> np.ndarray:
        if isinstance(X, str | os.PathLike):
            X = load_table(os.fspath(X), self.schema_, with_label=False)
            if (unreadable := unreadable_records(X)).size:
                of = len(X[self.schema_.names[0]])
                warnings.warn(unreadable_words(unreadable, of), stacklevel=_CALLER)
        refuse_sparse(X)
        X = as_table(X)
        if self._checked and _is_plain_array(X):
            X = self._named(validate_data(self, X, reset=False))
        elif attribute_order(self.schema_, X) is None:
            self._mind_lost_names()
        refuse_source(self.schema_, X, with_label=False)
        return encode_features(self.schema_, X)

    def _mind_lost_names(self) -> None:
        """Warn about (or refuse) an array after a fit on a frame: its columns are read in the schema's order."""
        if self._columns_of_fit is None:
            return
        if self._columns_of_fit != self.schema_.names:
            raise TableError(
                "X is an array, and the table of the fit had names, in another order than the schema's: give X with "
                f"names too, for the columns of an array are read as {', '.join(self.schema_.names)}"
            )
        name = type(self).__name__
        # The exact text of scikit-learn's warning, so that one filter is enough.
        text = f"X does not have valid feature names, but {name} was fitted with feature names"
        warnings.warn(text, stacklevel=_CALLER + 1)


class SchemaClassifier(ClassifierMixin, SchemaEstimator):
    """An estimator that predicts classes."""

    def _validated(self, X: Any, y: Any) -> tuple[Any, Any]:
        X, y = super()._validated(X, y)
        check_classification_targets(y)
        return X, y

    def _adopt(self, model: Model) -> Self:
        super()._adopt(model)
        self.classes_, self._order = _sorted_classes(model.schema)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """The label of each record, as the schema writes it."""
        trees = self._trees
        return decode_labels(self.schema_, trees.predict(self._encode(X)))

    def predict_proba(self, X: Any) -> np.ndarray:
        """Class probabilities, columns in the order of ``classes_``. Computed from released numbers only."""
        trees = self._trees
        return trees.predict_proba(self._encode(X))[:, self._order]


class SchemaRegressor(RegressorMixin, SchemaEstimator):
    """An estimator that predicts a number."""

    def _validated(self, X: Any, y: Any) -> tuple[Any, Any]:
        return validate_data(self, X, y, y_numeric=True)

    def predict(self, X: Any) -> np.ndarray:
        """The predicted number of each record, in the label's own unit."""
        model = self._trees
        return np.asarray(model.predict(self._encode(X)), dtype=np.float64)


class PrivateEstimator(ExactScore, SchemaEstimator):
    """A recipe behind ``fit`` and ``predict``; before a class that says what is predicted."""

    recipe_class: ClassVar[type[Recipe]]
    epsilon: Any
    ledger: Any
    neighbours: Any
    expected_records: Any
    random_state: Any
    n_jobs: Any
    verbose: Any

    def fit(self, X: Any, y: Any = None, *, progress: Progress | None = None, **unoffered: Any) -> Self:
        """Grow a model from private records.

        Parameters
        ----------
        X : pandas, polars or pyarrow table, dict of columns, 2-D array in schema order, or what privet.protect returns
            A path, an address or a reader that :func:`privet.protect` takes is read in batches. A protected table has
            its own schema, labels and ledger, from which the fit then spends. In a table names decide where there are
            any. Refused, before any charge, if it lacks a column or declares a type of which no value could be read.
        y : labels, one for each record
            Without them X must hold the label's column.
        progress : callable, optional
            Called with (steps done, steps at most) as the model grows. If it has a method ``stage``, that is called
            when reading or growing begins. The number of records read so far is never reported.
        **unoffered
            Refused with what there is instead, ``sample_weight`` for one.
        """
        refuse_in_fit(type(self).__name__, unoffered)
        with threads(self._thread_count()):
            if not self.verbose:
                return self._fit(X, y, progress)
            text = VerboseProgress(type(self).__name__, progress)
            self._fit(X, y, text)
            text.end(f"{self.model_.trees!r}, {self.certificate_!r}")
            return self

    def _thread_count(self) -> int:
        """The number of threads for ``n_jobs``; negative numbers count from the end, as in scikit-learn."""
        return threads_of(self.n_jobs)

    def _fit(self, X: Any, y: Any, progress: Progress | None) -> Self:
        if self._infers():
            warnings.warn(_INFERRED, PrivacyWarning, stacklevel=3)
        with Fit(self.request(X, y, progress)) as work:
            self._columns_of_fit = work.column_order
            return self._adopt(work.run())

    def request(self, X: Any, y: Any = None, progress: Progress | None = None) -> Request:
        """The request of a fit, for :func:`privet.fitting.fit`."""
        recipe = self.recipe()
        if isinstance(X, PrivateDataset):  # it brings its own schema; another must not contradict it
            self._checked = False
            schema = None if self.schema is None else self._public_schema()
        else:
            schema, X, y = self._declared(X, y)
        return Request(
            recipe,
            X,
            self.epsilon,
            schema,
            labels=y,
            ledger=self.ledger,
            neighbours=self.neighbours,
            random=public_random(check_random_state(self.random_state)),
            progress=progress,
            expected_records=self.expected_records,
        )

    def recipe(self) -> Recipe:
        """The recipe with this estimator's parameters, checked."""
        names = {field.name for field in fields(self.recipe_class)}
        return self.recipe_class(**{name: getattr(self, name) for name in names})


class PrivateClassifier(PrivateEstimator, SchemaClassifier):
    """A scikit-learn classifier over a recipe; ``faces.py`` makes a subclass of each."""

    def predict(self, X: Any) -> np.ndarray:
        with threads(self._thread_count()):
            return super().predict(X)

    def predict_proba(self, X: Any) -> np.ndarray:
        with threads(self._thread_count()):
            return super().predict_proba(X)

    predict.__doc__, predict_proba.__doc__ = SchemaClassifier.predict.__doc__, SchemaClassifier.predict_proba.__doc__

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = not self.recipe_class.two_classes_only
        return tags


class PrivateRegressor(PrivateEstimator, SchemaRegressor):
    """A scikit-learn regressor over a recipe that predicts numbers."""

    def predict(self, X: Any) -> np.ndarray:
        with threads(self._thread_count()):
            return super().predict(X)

    predict.__doc__ = SchemaRegressor.predict.__doc__

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True  # on the few records of scikit-learn's checks, noise hides everything
        return tags


_INFERRED = (
    "schema='infer' reads bounds, categories and labels off the private table, which is not private: the certificate "
    "of this fit says epsilon = infinity. Declare what is public instead: `privet schema draft` begins a schema"
)


def _sorted_classes(schema: Schema) -> tuple[np.ndarray, np.ndarray]:
    """Labels in the order scikit-learn's scorers expect, and the schema's code of each."""
    values = decode_labels(schema, np.arange(schema.n_classes))
    try:
        order = np.argsort(values, kind="stable")
    except TypeError:  # labels of mixed types have no order, so keep the schema's
        order = np.arange(schema.n_classes)
    return values[order], order


def _is_plain_array(X: Any) -> bool:
    """Whether scikit-learn can validate X as numbers: not a mapping, nor anything with categories."""
    if isinstance(X, list | tuple):
        return not any(isinstance(cell, str | bytes) for row in X if isinstance(row, list | tuple) for cell in row)
    dtypes = getattr(X, "dtypes", ())
    numeric = all(getattr(dtype, "kind", "O") in "biuf" for dtype in (dtypes if np.iterable(dtypes) else (dtypes,)))
    return numeric and not isinstance(X, Mapping)
