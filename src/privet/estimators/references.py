"""Non-private classifiers for comparison, used like the private ones.

NOT DIFFERENTIALLY PRIVATE: the certificate of each says so, with epsilon = infinity. What they learn must not be
released from records that need protection; they show what privacy costs on records that do not.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import fields
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from privet.engines.memory import MemoryEngine
from privet.engines.opening import OpenTable
from privet.estimators.base import SchemaClassifier
from privet.models.forest import Forest
from privet.models.leaf_counts import add_up, as_trees, shares
from privet.models.model import Model
from privet.models.tree import Tree
from privet.privacy.budget import INFINITY, Neighbours
from privet.privacy.certificate import Caveat, Certificate
from privet.privacy.counting import ROOT, Engine, class_counts, descend
from privet.progress import Progress
from privet.recipes.parameters import check_whole
from privet.recipes.provenance import provenance
from privet.recipes.unoffered import refuse_in_fit
from privet.recipes.unsound.reference import C45Reference, ID3Reference
from privet.schema import Schema
from privet.structure.routes import Routes
from privet.structure.splits import OneCategory, Test, Tests, Threshold
from privet.tables.declared import attribute_order
from privet.tables.encoding import Codes, encode


class ReferenceClassifier(SchemaClassifier, ABC):
    """A classifier over exact counts. Subclasses define how the tree grows. NOT private."""

    name: ClassVar[str]
    max_bins: Any

    def fit(self, X: Any, y: Any = None, *, progress: Progress | None = None, **unoffered: Any) -> Self:
        """Grow a tree from the exact records; see :meth:`privet.estimators.base.PrivateClassifier.fit`."""
        refuse_in_fit(type(self).__name__, unoffered)
        params = {key: value for key, value in self.get_params().items() if key != "schema"}
        self._check()
        declared, X, y = self._declared(X, y)
        schema = declared.with_bins(self.max_bins)
        with OpenTable(X, declared, y) as table:
            self._columns_of_fit = attribute_order(declared, table.heading)
            codes = encode(schema, table.load(), y)
        tree = self.grow(schema, codes, progress)
        why = f"{self.name} is a non-private reference: it counts exactly (epsilon = infinity)"
        certificate = Certificate(INFINITY, Neighbours.ADD_REMOVE, caveats=(Caveat(why, voids=True),))
        return self._adopt(Model(self.name, tree, params, certificate.to_dict(), (why,), provenance()))

    def _check(self) -> None:
        """Raise ``ParameterError`` for invalid parameters."""

    @abstractmethod
    def grow(self, schema: Schema, codes: Codes, progress: Progress | None = None) -> Tree | Forest:
        """Grow trees from encoded records, whose schema is cut as finely as wanted."""


class ID3ReferenceClassifier(ReferenceClassifier):
    """ID3 without privacy: information gain, multiway, to full depth unless ``max_depth`` says otherwise, unpruned.

    >>> from privet.datasets.clinic import clinic
    >>> from privet.estimators.references import ID3ReferenceClassifier
    >>> schema, table = clinic(1000)
    >>> id3 = ID3ReferenceClassifier(schema).fit(table)
    >>> id3.certificate_.private
    False
    """

    reference_class: ClassVar[type[ID3Reference]] = ID3Reference
    name = ID3Reference.name

    def __init__(
        self,
        schema: Any = None,
        max_depth: int | None = None,
        *,
        criterion: str = "infogain",
        tests: str = "multiway",
        max_bins: int = 10,
    ) -> None:
        self.schema = schema
        self.max_depth = max_depth
        self.criterion = criterion
        self.tests = tests
        self.max_bins = max_bins

    def reference(self) -> ID3Reference:
        """The learner with this estimator's parameters, checked."""
        return self.reference_class(**{field.name: getattr(self, field.name) for field in fields(self.reference_class)})

    def _check(self) -> None:
        self.reference()

    def grow(self, schema: Schema, codes: Codes, progress: Progress | None = None) -> Tree:
        return self.reference().grow(MemoryEngine(schema, codes), progress)


class C45ReferenceClassifier(ID3ReferenceClassifier):
    """A learner like C4.5 without privacy: numeric thresholds, small branches refused, error-based pruning."""

    reference_class: ClassVar[type[ID3Reference]] = C45Reference
    name = C45Reference.name

    def __init__(
        self,
        schema: Any = None,
        max_depth: int | None = None,
        *,
        criterion: str = "gini",
        tests: str = "binary",
        max_bins: int = 20,
        min_branch: int = 2,
        prune: bool = True,
    ) -> None:
        super().__init__(schema, max_depth, criterion=criterion, tests=tests, max_bins=max_bins)
        self.min_branch = min_branch
        self.prune = prune


class SklearnTreeReference(ReferenceClassifier):
    """scikit-learn's DecisionTreeClassifier over the same codes: thresholds on bins, one category against the rest.

    The tree is translated, so that its rules, drawings and files are those of the other classifiers.
    """

    name = "sklearn-tree"

    def __init__(
        self,
        schema: Any = None,
        max_depth: int | None = None,
        *,
        criterion: str = "gini",
        max_bins: int = 20,
        min_samples_leaf: int = 1,
        random_state: int | None = 0,
    ) -> None:
        self.schema = schema
        self.max_depth = max_depth
        self.criterion = criterion
        self.max_bins = max_bins
        self.min_samples_leaf = min_samples_leaf
        self.random_state = random_state

    def _check(self) -> None:
        check_whole(self.max_bins, "max_bins", 2, 65_000)

    def grow(self, schema: Schema, codes: Codes, progress: Progress | None = None) -> Tree | Forest:
        from sklearn.tree import DecisionTreeClassifier

        assert codes.labels is not None
        columns, names = binary_columns(schema, codes.features)
        if self.max_depth == 0 or not codes.labels.size or not names:  # scikit-learn has no such trees
            return majority_leaf(schema, codes)
        learner = DecisionTreeClassifier(
            criterion=self.criterion,
            max_depth=self.max_depth,
            min_samples_leaf=self.min_samples_leaf,
            random_state=self.random_state,
        )
        return translate(schema, learner.fit(columns, codes.labels), names)


def exact_forest(engine: Engine, routes: Routes) -> Forest:
    """Public trees with exact class counts of all records. NOT private."""
    schema = engine.schema
    counts = np.zeros((len(routes.tests), schema.n_classes))
    for t in range(len(routes)):
        alone = routes.tree(t)
        counts[routes.nodes_of(t)[alone.leaves]] = class_counts(engine, descend(ROOT, alone))
    counts = add_up(routes, counts)
    return Forest(schema, as_trees(routes, shares(counts), counts))


def binary_columns(schema: Schema, features: npt.NDArray[Any]) -> tuple[npt.NDArray[np.float32], list[Test]]:
    """A table as numbers, for binary tests: a column of codes per number, and a 0/1 column per category.

    Also returns a test for each column: the first threshold of a number, or the category.
    """
    names: list[Test] = []
    columns = []
    for test in Tests.binary(schema):
        column = features[test.attribute]
        if isinstance(test, OneCategory):
            columns.append(column == test.value)
        elif isinstance(test, Threshold) and test.cut == 0:
            columns.append(column)
        else:
            continue
        names.append(test)
    return np.array(columns, dtype=np.float32).reshape(len(names), features.shape[1]).T, names


def translate(schema: Schema, learner: Any, names: list[Test]) -> Tree:
    """Translate a fitted DecisionTreeClassifier over ``binary_columns`` into a privet tree."""
    tests, first_child, order = translated(learner, names)
    # Since 1.3 the values of a node are shares of its records.
    value = learner.tree_.value[order, 0, :]
    counts = np.zeros((len(order), schema.n_classes))
    sizes = learner.tree_.weighted_n_node_samples[order, None]
    counts[:, learner.classes_.astype(np.intp)] = np.rint(value / value.sum(axis=1, keepdims=True) * sizes)
    return Tree.build(schema, tests, first_child, counts.argmax(axis=1), proba=shares(counts), counts=counts)


def translated(learner: Any, names: list[Test]) -> tuple[list[Test | None], list[int], list[int]]:
    """The tests of a fitted scikit-learn tree, level by level, first children, and the numbers of its nodes."""
    theirs = learner.tree_
    tests: list[Test | None] = []
    first_child: list[int] = []
    queue: list[int] = [0]
    order: list[int] = []
    while len(order) < len(queue):
        node = queue[len(order)]
        order.append(node)
        if theirs.children_left[node] < 0:
            tests.append(None)
            first_child.append(-1)
            continue
        first_child.append(len(queue))
        test = names[theirs.feature[node]]
        children = [int(theirs.children_left[node]), int(theirs.children_right[node])]
        if isinstance(test, Threshold):
            tests.append(Threshold(test.attribute, int(np.floor(theirs.threshold[node]))))
        else:
            tests.append(test)
            children.reverse()  # scikit-learn sends the category (1) right, privet sends it first
        queue.extend(children)
    return tests, first_child, order


def majority_leaf(schema: Schema, codes: Codes) -> Tree:
    """A single leaf: the largest class, and the shares of all classes. NOT private."""
    assert codes.labels is not None
    counts = np.bincount(codes.labels, minlength=schema.n_classes).astype(np.float64)[None, :]
    return Tree.build(schema, [None], [-1], [int(counts.argmax())], proba=shares(counts), counts=counts)


REFERENCES: dict[str, type[ReferenceClassifier]] = {
    learner.name: learner for learner in (ID3ReferenceClassifier, C45ReferenceClassifier, SklearnTreeReference)
}
"""Name -> classifier, made by ``(schema, max_depth)``; a ``max_depth`` of None is full depth."""
