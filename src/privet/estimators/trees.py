"""Classifiers that grow one tree."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from privet.estimators.base import PrivateClassifier
from privet.recipes.diffpc45 import DiffPC45
from privet.recipes.diffpid3 import DiffPID3
from privet.recipes.exact import ExactTree
from privet.recipes.recipe import Recipe
from privet.recipes.sulq import SuLQ
from privet.trees.codec import Model


class SuLQTreeClassifier(PrivateClassifier):
    """SuLQ-based ID3: a tree grown from noisy counts alone (recipe ``sulq``).

    Parameters
    ----------
    schema : Schema or path
        The public facts about the table. ``"infer"`` reads them off the data, which is not private.
    epsilon : number
        What the fit may spend.
    max_depth : int
        The largest number of tests on a path.
    bins : int
        Into how many bins numeric attributes without thresholds of their own are cut.
    variant : "sound" or "as-published"
    neighbours : "add-remove" or "replace-one"
    expected_records : int, optional
        About how many records there should be with a label of the schema, a number that the owner makes public. Some of
        epsilon then buys a noisy count of them first, and the fit stops if it is below a quarter of that.
    ledger : Ledger, optional
        A shared budget to spend from; every fit spends. Without one the fit has a budget of its own.
    random_state : int, optional
        Seeds public choices only, never noise.

    Examples
    --------
    >>> from privet.datasets.clinic import clinic
    >>> from privet.estimators.trees import SuLQTreeClassifier
    >>> schema, table = clinic(5000)
    >>> tree = SuLQTreeClassifier(schema=schema, epsilon=2, max_depth=2).fit(table, table["class"])
    >>> tree.certificate_.epsilon <= 2
    True
    """

    recipe_class: ClassVar[type[Recipe]] = SuLQ

    def __init__(
        self,
        schema: Any = None,
        epsilon: Any = 1.0,
        max_depth: int = 5,
        *,
        bins: int = 10,
        variant: str = "sound",
        neighbours: str = "add-remove",
        expected_records: int | None = None,
        ledger: Any = None,
        random_state: Any = None,
    ) -> None:
        self.schema = schema
        self.epsilon = epsilon
        self.max_depth = max_depth
        self.bins = bins
        self.variant = variant
        self.neighbours = neighbours
        self.expected_records = expected_records
        self.ledger = ledger
        self.random_state = random_state


class DiffPID3Classifier(PrivateClassifier):
    """DiffPID3: the exponential mechanism picks each node's attribute (recipe ``diffpid3``).

    Parameters are those of :class:`SuLQTreeClassifier` and

    criterion : "max", "gini" or "infogain"
        What a good test is; "infogain" needs ``max_records``.
    tests : "multiway", "binary" or "mixed"
        A child for every category, one category against the rest, or multiway categories with numeric thresholds.
    mechanism : "exponential" or "permute-and-flip"
    max_records : int, optional
        A bound on the number of records that the data owner declares.

    Examples
    --------
    >>> from privet.datasets.clinic import clinic
    >>> from privet.estimators.trees import DiffPID3Classifier
    >>> schema, table = clinic(5000)
    >>> tree = DiffPID3Classifier(schema=schema, epsilon=1, max_depth=2).fit(table, table["class"])
    >>> tree.score(table, table["class"]) > 0.5
    True
    """

    recipe_class: ClassVar[type[Recipe]] = DiffPID3

    def __init__(
        self,
        schema: Any = None,
        epsilon: Any = 1.0,
        max_depth: int = 5,
        *,
        criterion: str = "max",
        tests: str = "multiway",
        mechanism: str = "exponential",
        max_records: int | None = None,
        bins: int = 10,
        variant: str = "sound",
        neighbours: str = "add-remove",
        expected_records: int | None = None,
        ledger: Any = None,
        random_state: Any = None,
    ) -> None:
        self.schema = schema
        self.epsilon = epsilon
        self.max_depth = max_depth
        self.criterion = criterion
        self.tests = tests
        self.mechanism = mechanism
        self.max_records = max_records
        self.bins = bins
        self.variant = variant
        self.neighbours = neighbours
        self.expected_records = expected_records
        self.ledger = ledger
        self.random_state = random_state


class DiffPC45Classifier(PrivateClassifier):
    """DiffPC4.5: numeric split points and pruning on top of DiffPID3 (recipe ``diffpc45``).

    Parameters are those of :class:`DiffPID3Classifier` and

    numeric : "auto", "joint", "points" or "bins"
        One choice over (attribute, point) pairs, a point bought for each numeric attribute before the choice as
        published, or bins as multiway tests. "auto" is "joint", or "points" with ``variant="as-published"``.
    prune : bool
        Error-based pruning on released counts, which costs nothing.
    size_share : float
        What the noisy size of a node may cost, as a share of the cost of a choice (1 as published).

    Examples
    --------
    >>> from privet.datasets.clinic import clinic
    >>> from privet.estimators.trees import DiffPC45Classifier
    >>> schema, table = clinic(5000)
    >>> tree = DiffPC45Classifier(schema=schema, epsilon=1, max_depth=3).fit(table, table["class"])
    >>> tree.certificate_.private
    True
    """

    recipe_class: ClassVar[type[Recipe]] = DiffPC45

    def __init__(
        self,
        schema: Any = None,
        epsilon: Any = 1.0,
        max_depth: int = 5,
        *,
        criterion: str = "gini",
        tests: str = "binary",
        numeric: str = "auto",
        prune: bool = True,
        size_share: float = 0.25,
        mechanism: str = "exponential",
        max_records: int | None = None,
        bins: int = 20,
        variant: str = "sound",
        neighbours: str = "add-remove",
        expected_records: int | None = None,
        ledger: Any = None,
        random_state: Any = None,
    ) -> None:
        self.schema = schema
        self.epsilon = epsilon
        self.max_depth = max_depth
        self.criterion = criterion
        self.tests = tests
        self.numeric = numeric
        self.prune = prune
        self.size_share = size_share
        self.mechanism = mechanism
        self.max_records = max_records
        self.bins = bins
        self.variant = variant
        self.neighbours = neighbours
        self.expected_records = expected_records
        self.ledger = ledger
        self.random_state = random_state


class ExactTreeClassifier(PrivateClassifier):
    """One tree, drawn whole and exactly: privet's recommended single tree (recipe ``exact``).

    Parameters
    ----------
    schema, epsilon, neighbours, expected_records, ledger, random_state
        As for the other classifiers.
    max_depth : int or "auto"
        "auto" is the deepest that one draw affords, from public facts alone. Deeper trees are drawn in blocks that
        share epsilon.
    tests : "binary" or "multiway"
        Whether a test has two children (a threshold, one category against the rest) or one for every value or bin.
    bins : int
        Into how many bins of equal width numeric attributes without thresholds of their own are cut. Multiway trees
        want few: each is a child.
    grid : "near-zero" or "even"
        Whether bins further from zero (or from the bound nearest to it) than two fifths of the declared range are
        merged, by two and then by four, or all are kept. Numbers crowd near zero, and fewer tests afford deeper trees.
        All are kept of fewer than ten bins, of few whole numbers, and for multiway tests.
    leaf_prior : float
        The prior probability that a node below the root is a leaf; smaller trees are favoured by larger values.
    measure : "tests" or "attributes"
        Whether every test or every attribute has the same prior weight.
    attribute_prior : dict of attribute to weight, optional
        Favours attributes (above 1), disfavours (below 1) or forbids them (0).
    class_weights : dict of label to weight in [0, 1], optional
        What a correctly classified record of each class counts, in sixteenths. Public: never computed from the table.
    leaf_share : float
        The share of epsilon that buys class counts in the leaves, for graded ``predict_proba``.

    Examples
    --------
    >>> from privet import ExactTreeClassifier
    >>> from privet.datasets.clinic import clinic
    >>> schema, table = clinic(5000)
    >>> tree = ExactTreeClassifier(schema=schema, epsilon=1, max_depth=2).fit(table, table["class"])
    >>> tree.certificate_.epsilon
    Fraction(1, 1)
    """

    recipe_class: ClassVar[type[Recipe]] = ExactTree

    def __init__(
        self,
        schema: Any = None,
        epsilon: Any = 1.0,
        max_depth: Any = "auto",
        *,
        tests: str = "binary",
        bins: int = 20,
        grid: str = "near-zero",
        leaf_prior: float = 0.5,
        measure: str = "tests",
        attribute_prior: Any = None,
        class_weights: Any = None,
        leaf_share: float = 0.0,
        variant: str = "sound",
        neighbours: str = "add-remove",
        expected_records: int | None = None,
        ledger: Any = None,
        random_state: Any = None,
    ) -> None:
        self.schema = schema
        self.epsilon = epsilon
        self.max_depth = max_depth
        self.tests = tests
        self.bins = bins
        self.grid = grid
        self.leaf_prior = leaf_prior
        self.measure = measure
        self.attribute_prior = attribute_prior
        self.class_weights = class_weights
        self.leaf_share = leaf_share
        self.variant = variant
        self.neighbours = neighbours
        self.expected_records = expected_records
        self.ledger = ledger
        self.random_state = random_state

    def _adopt(self, model: Model) -> Self:
        if isinstance(self.class_weights, list):  # as files hold them, where a key could only be text
            self.class_weights = dict(self.class_weights)
        return super()._adopt(model)
