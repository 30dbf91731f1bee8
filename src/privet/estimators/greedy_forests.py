"""Classifiers after Friedman & Schuster's greedy trees: one without size queries, and forests of them."""

from __future__ import annotations

from typing import Any, ClassVar

from privet.estimators.base import PrivateClassifier
from privet.recipes.greedy_forest import GreedyForest
from privet.recipes.mohammed2015 import Mohammed2015
from privet.recipes.patil_singh2014 import PatilSingh2014
from privet.recipes.rana2016 import Rana2016
from privet.recipes.recipe import Recipe


class Mohammed2015Classifier(PrivateClassifier):
    """Mohammed et al.'s greedy tree: one question a level, none of them about sizes (recipe ``mohammed2015``).

    Parameters
    ----------
    schema, epsilon, neighbours, expected_records, ledger, random_state
        As for the other classifiers.
    max_depth : int
        The number of tests on a path; the paper counts levels, one more.
    criterion : "max", "gini" or "infogain"
        What a good test is; "infogain" needs ``max_records``.
    max_records : int, optional
        A bound on the number of records that the data owner declares.
    tests : "multiway", "binary" or "mixed"
        A child for every category, one category against the rest, or multiway categories with numeric thresholds.
    bins : int
        Into how many bins numeric attributes without thresholds of their own are cut.
    variant : "sound" or "as-published"
        Both are private; "sound" draws tests twice as sharply for the same epsilon.

    Examples
    --------
    >>> from privet import Mohammed2015Classifier
    >>> from privet.datasets.clinic import clinic
    >>> schema, table = clinic(5000)
    >>> tree = Mohammed2015Classifier(schema=schema, epsilon=1, max_depth=2).fit(table, table["class"])
    >>> tree.certificate_.epsilon
    Fraction(1, 1)
    """

    recipe_class: ClassVar[type[Recipe]] = Mohammed2015

    def __init__(
        self,
        schema: Any = None,
        epsilon: Any = 1.0,
        max_depth: int = 3,
        *,
        criterion: str = "max",
        max_records: int | None = None,
        tests: str = "multiway",
        bins: int = 5,
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
        self.max_records = max_records
        self.tests = tests
        self.bins = bins
        self.variant = variant
        self.neighbours = neighbours
        self.expected_records = expected_records
        self.ledger = ledger
        self.random_state = random_state


class PatilSingh2014Classifier(PrivateClassifier):
    """Patil & Singh's forest: greedy trees, each on a sample of the records (recipe ``patil-singh2014``).

    Parameters
    ----------
    schema, epsilon, neighbours, expected_records, ledger, random_state
        As for the other classifiers.
    max_depth : int
        The number of tests on a path; the paper counts levels, one more.
    trees : int
        How many trees share epsilon.
    rate : float
        The chance of each record to be in the sample of a tree, by its own coin. By default the part of the records
        that a bootstrap sample holds. As published samples are bootstrap samples and this is not used.
    criterion : "max", "gini" or "infogain"
        What a good test is; "infogain" needs ``max_records``.
    max_records : int, optional
        A bound on the number of records that the data owner declares.
    tests : "multiway", "binary" or "mixed"
        A child for every category, one category against the rest, or multiway categories with numeric thresholds.
    bins : int
        Into how many bins numeric attributes without thresholds of their own are cut.
    variant : "sound" or "as-published"
        "as-published" repeats records in a sample and is not differentially private.

    Examples
    --------
    >>> from privet import PatilSingh2014Classifier
    >>> from privet.datasets.clinic import clinic
    >>> schema, table = clinic(5000)
    >>> forest = PatilSingh2014Classifier(schema=schema, epsilon=1, max_depth=2, trees=3).fit(table, table["class"])
    >>> len(forest.model_.trees), forest.certificate_.epsilon <= 1
    (3, True)
    """

    recipe_class: ClassVar[type[Recipe]] = PatilSingh2014

    def __init__(
        self,
        schema: Any = None,
        epsilon: Any = 1.0,
        max_depth: int = 4,
        *,
        trees: int = 20,
        rate: float = 0.632,
        criterion: str = "gini",
        max_records: int | None = None,
        tests: str = "multiway",
        bins: int = 5,
        variant: str = "sound",
        neighbours: str = "add-remove",
        expected_records: int | None = None,
        ledger: Any = None,
        random_state: Any = None,
    ) -> None:
        self.schema = schema
        self.epsilon = epsilon
        self.max_depth = max_depth
        self.trees = trees
        self.rate = rate
        self.criterion = criterion
        self.max_records = max_records
        self.tests = tests
        self.bins = bins
        self.variant = variant
        self.neighbours = neighbours
        self.expected_records = expected_records
        self.ledger = ledger
        self.random_state = random_state


class GreedyForestClassifier(PrivateClassifier):
    """DPDF, Fletcher's greedy forest: trees with different roots that count in every node (recipe ``greedy-forest``).

    Counts in every node make ``subrules_`` worth reading: what the forest learned on the way to each leaf, with
    support and confidence.

    Parameters
    ----------
    schema, epsilon, neighbours, expected_records, ledger, random_state
        As for the other classifiers.
    max_depth : int
        The number of tests on a path; the thesis counts levels, one more.
    trees : int
        How many trees share epsilon. Each has another attribute at its root, so there are at most as many as
        attributes.
    min_records : int
        A node of fewer released records is a leaf.
    prune : bool
        Whether children that are no purer than their parent go, by released counts, which costs nothing.
    tests : "multiway", "binary" or "mixed"
        A child for every category, one category against the rest, or multiway categories with numeric thresholds.
    bins : int
        Into how many bins numeric attributes without thresholds of their own are cut.
    variant : "sound" or "as-published"
        "as-published" chooses with a sensitivity that depends on the records and is not differentially private.

    Examples
    --------
    >>> from privet import GreedyForestClassifier
    >>> from privet.datasets.clinic import clinic
    >>> schema, table = clinic(5000)
    >>> forest = GreedyForestClassifier(schema=schema, epsilon=2, max_depth=2, trees=2).fit(table, table["class"])
    >>> all(rule.support is not None for rule in forest.subrules_)
    True
    """

    recipe_class: ClassVar[type[Recipe]] = GreedyForest

    def __init__(
        self,
        schema: Any = None,
        epsilon: Any = 1.0,
        max_depth: int = 4,
        *,
        trees: int = 4,
        min_records: int = 100,
        prune: bool = True,
        tests: str = "multiway",
        bins: int = 5,
        variant: str = "sound",
        neighbours: str = "add-remove",
        expected_records: int | None = None,
        ledger: Any = None,
        random_state: Any = None,
    ) -> None:
        self.schema = schema
        self.epsilon = epsilon
        self.max_depth = max_depth
        self.trees = trees
        self.min_records = min_records
        self.prune = prune
        self.tests = tests
        self.bins = bins
        self.variant = variant
        self.neighbours = neighbours
        self.expected_records = expected_records
        self.ledger = ledger
        self.random_state = random_state


class Rana2016Classifier(PrivateClassifier):
    """Rana et al.'s forest: every tree spends all of epsilon. NEVER DIFFERENTIALLY PRIVATE (recipe ``rana2016``).

    For comparisons on data that need no protection. There is no sound form of it, so the default ``variant="sound"``
    refuses to fit: nobody gets such a model by accident.

    Parameters
    ----------
    schema, neighbours, ledger, random_state
        As for the other classifiers; a shared ledger refuses it. Two classes only.
    epsilon : number
        What each *tree* spends by the paper's account. The certificate says infinity.
    max_depth : int
        The number of tests on a path. The paper gives none.
    trees : int or "auto"
        How many trees; "auto" is the paper's formula, which reads the share of the rarer class off the records.
    max_trees : int
        The most trees that "auto" grows; the formula wants hundreds.
    min_support : int
        A node with fewer released records of a class is a leaf; the formula knows it as n'.
    bins : int
        On a grid of how many bins numbers are cut, half-way between the means of the classes.
    variant : "sound" or "as-published"
        Say "as-published" to fit.

    Examples
    --------
    >>> from privet import Rana2016Classifier
    >>> from privet.datasets.clinic import clinic
    >>> schema, table = clinic(5000)
    >>> forest = Rana2016Classifier(schema=schema, trees=3, variant="as-published").fit(table, table["class"])
    >>> forest.certificate_.private
    False
    """

    recipe_class: ClassVar[type[Recipe]] = Rana2016

    def __init__(
        self,
        schema: Any = None,
        epsilon: Any = 1.0,
        max_depth: int = 4,
        *,
        trees: Any = "auto",
        max_trees: int = 100,
        min_support: int = 10,
        bins: int = 64,
        variant: str = "sound",
        neighbours: str = "add-remove",
        expected_records: int | None = None,
        ledger: Any = None,
        random_state: Any = None,
    ) -> None:
        self.schema = schema
        self.epsilon = epsilon
        self.max_depth = max_depth
        self.trees = trees
        self.max_trees = max_trees
        self.min_support = min_support
        self.bins = bins
        self.variant = variant
        self.neighbours = neighbours
        self.expected_records = expected_records
        self.ledger = ledger
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags
