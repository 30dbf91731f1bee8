"""Classifiers that grow forests of random trees: the trees are public, their leaves are bought."""

from __future__ import annotations

from typing import Any, ClassVar

from privet.estimators.base import PrivateClassifier
from privet.recipes.jagannathan2012 import Jagannathan2012
from privet.recipes.jagannathan2013 import Jagannathan2013
from privet.recipes.random_forest import RandomForest
from privet.recipes.recipe import Recipe
from privet.recipes.smooth_forest import SmoothForest
from privet.recipes.snr_forest import SNRForest


class PrivateForestClassifier(PrivateClassifier):
    """privet's own random forest: noisy leaves, and all that can be made of them for free (recipe ``random-forest``).

    Parameters
    ----------
    schema, epsilon, neighbours, expected_records, ledger
        As for the other classifiers.
    max_depth : int
        The most tests on a path.
    trees : int or "auto"
        How many trees; "auto" is one for each attribute, which is its root.
    min_signal : float
        How many times the noise of a leaf a branch must expect to hold in records to be split; 0 splits all.
    n_public : int, optional
        The number of records, where the owner declares it public. Otherwise it is bought.
    count_share : float
        The share of epsilon that buys the number of records.
    tests : "multiway", "binary" or "mixed"
        A child for every category or bin, one category against the rest and thresholds, or multiway categories with
        numeric thresholds.
    bins : int
        Into how many bins numeric attributes without thresholds of their own are cut.
    sharing : "all" or "disjoint"
        Whether every tree counts all records with its share of epsilon, or each record goes down one tree, picked by
        its own coin, and every tree has all of epsilon.
    shrinkage : float
        How much a leaf listens to the nodes above it, in standard deviations of its noise; 0 takes it at its word.
    prune : bool
        Whether nodes whose counts drown in noise go.
    voting : "evidence", "proba", "confidence", "majority", "counts" or "surest"
        How the trees are heard. "evidence" adds up by how much each changes the odds, as naive Bayes does; "proba"
        takes the mean of their probabilities; "confidence" and "majority" count labels, with or without their
        probability; "counts" adds up class counts; "surest" hears the most confident tree.
    evidence : float
        With "evidence", how much each attribute counts. Below 1 trees that repeat each other are not heard twice.
    max_leaves : int
        The most leaves of a tree, a public number.
    variant : "sound"
    random_state : int, optional
        Seeds the random trees, which are public, and never noise.

    Examples
    --------
    >>> from privet import PrivateForestClassifier
    >>> from privet.datasets.clinic import clinic
    >>> schema, table = clinic(5000)
    >>> forest = PrivateForestClassifier(schema=schema, epsilon=1).fit(table, table["class"])
    >>> len(forest.model_.trees), forest.certificate_.epsilon
    (4, Fraction(1, 1))
    """

    recipe_class: ClassVar[type[Recipe]] = RandomForest

    def __init__(
        self,
        schema: Any = None,
        epsilon: Any = 1.0,
        max_depth: int = 3,
        *,
        trees: Any = "auto",
        min_signal: float = 4.0,
        n_public: int | None = None,
        count_share: float = 0.05,
        tests: str = "multiway",
        bins: int = 8,
        sharing: str = "all",
        shrinkage: float = 0.5,
        prune: bool = False,
        voting: str = "evidence",
        evidence: float = 0.75,
        max_leaves: int = 1024,
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
        self.min_signal = min_signal
        self.n_public = n_public
        self.count_share = count_share
        self.tests = tests
        self.bins = bins
        self.sharing = sharing
        self.shrinkage = shrinkage
        self.prune = prune
        self.voting = voting
        self.evidence = evidence
        self.max_leaves = max_leaves
        self.variant = variant
        self.neighbours = neighbours
        self.expected_records = expected_records
        self.ledger = ledger
        self.random_state = random_state


class SmoothForestClassifier(PrivateClassifier):
    """Fletcher's forest of disjoint random trees, with labels that keep their promise (recipe ``smooth-forest``).

    Parameters
    ----------
    schema, epsilon, neighbours, expected_records, ledger
        As for the other classifiers.
    max_depth : int or "auto"
        The number of tests on a path; "auto" is by Theorem 8.2, from the numbers of attributes alone.
    trees : int
        How many trees. Each record goes down one, picked by its own coin, so every tree has all of epsilon.
    labels : "counts" or "chosen"
        Whether a leaf releases noisy class counts, the largest of which is its label, or only a label, which is right
        more often and takes longer. The other variants have labels only.
    bins : int
        On a grid of how many bins numbers are cut.
    max_leaves : int
        The most leaves of a tree, a public number.
    variant : "sound", "global-sensitivity" or "as-published"
        "as-published" draws labels by a smooth sensitivity that is none, and is not differentially private. With
        "global-sensitivity", the thesis's comparison, the promise holds and labels are little better than chance.
    random_state : int, optional
        Seeds the random trees, which are public, and never noise.

    Examples
    --------
    >>> from privet import SmoothForestClassifier
    >>> from privet.datasets.clinic import clinic
    >>> schema, table = clinic(5000)
    >>> forest = SmoothForestClassifier(schema=schema, epsilon=1, trees=20).fit(table, table["class"])
    >>> len(forest.model_.trees), forest.certificate_.epsilon
    (20, Fraction(1, 1))
    """

    recipe_class: ClassVar[type[Recipe]] = SmoothForest

    def __init__(
        self,
        schema: Any = None,
        epsilon: Any = 1.0,
        max_depth: Any = "auto",
        *,
        trees: int = 100,
        labels: str = "counts",
        bins: int = 64,
        max_leaves: int = 1024,
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
        self.labels = labels
        self.bins = bins
        self.max_leaves = max_leaves
        self.variant = variant
        self.neighbours = neighbours
        self.expected_records = expected_records
        self.ledger = ledger
        self.random_state = random_state


class SNRForestClassifier(PrivateClassifier):
    """DP-RF, Fletcher's signal-to-noise forest: as many trees, as deep, as the noise allows (recipe ``snr-forest``).

    Parameters
    ----------
    schema, epsilon, neighbours, expected_records, ledger
        As for the other classifiers.
    trees : int or "auto"
        How many trees share epsilon; "auto" is the most whose leaves would still stand out from the noise, and at most
        one for each attribute, which is its root.
    bins : int
        Into how many bins numeric attributes without thresholds of their own are cut.
    n_public : int, optional
        The number of records, if the data owner declares it public. Otherwise a noisy one is bought.
    count_share : float
        The share of epsilon that buys the number of records.
    max_leaves : int
        The most leaves of a tree, a public number.
    variant : "sound"
    random_state : int, optional
        Seeds the random trees, which are public, and never noise.

    Examples
    --------
    >>> from privet import SNRForestClassifier
    >>> from privet.datasets.clinic import clinic
    >>> schema, table = clinic(5000)
    >>> forest = SNRForestClassifier(schema=schema, epsilon=1, n_public=5000).fit(table, table["class"])
    >>> len(forest.model_.trees), forest.certificate_.epsilon
    (4, Fraction(1, 1))
    """

    recipe_class: ClassVar[type[Recipe]] = SNRForest

    def __init__(
        self,
        schema: Any = None,
        epsilon: Any = 1.0,
        *,
        trees: Any = "auto",
        bins: int = 5,
        n_public: int | None = None,
        count_share: float = 0.05,
        max_leaves: int = 65_536,
        variant: str = "sound",
        neighbours: str = "add-remove",
        expected_records: int | None = None,
        ledger: Any = None,
        random_state: Any = None,
    ) -> None:
        self.schema = schema
        self.epsilon = epsilon
        self.trees = trees
        self.bins = bins
        self.n_public = n_public
        self.count_share = count_share
        self.max_leaves = max_leaves
        self.variant = variant
        self.neighbours = neighbours
        self.expected_records = expected_records
        self.ledger = ledger
        self.random_state = random_state


class Jagannathan2012Classifier(PrivateClassifier):
    """Private-RDT, the first private random forest: leaf counts of all trees, added up (recipe ``jagannathan2012``).

    Parameters
    ----------
    schema, epsilon, neighbours, expected_records, ledger
        As for the other classifiers.
    max_depth : int or "auto"
        The number of tests on a path; "auto" is by the number of attributes, of their values and of records.
    trees : int or "auto"
        How many trees share epsilon; "auto" is ten, or five for fewer than 500 records.
    bins : int
        On a grid of how many bins numbers are cut.
    n_public : int, optional
        The number of records, if the data owner declares it public. Otherwise a noisy one is bought.
    count_share : float
        The share of epsilon that buys the number of records. Nothing is bought where neither ``trees`` nor
        ``max_depth`` is "auto".
    max_leaves : int
        The most leaves of a tree, a public number.
    variant : "sound"
    random_state : int, optional
        Seeds the random trees, which are public, and never noise.

    Examples
    --------
    >>> from privet import Jagannathan2012Classifier
    >>> from privet.datasets.clinic import clinic
    >>> schema, table = clinic(5000)
    >>> forest = Jagannathan2012Classifier(schema=schema, epsilon=1).fit(table, table["class"])
    >>> len(forest.model_.trees), forest.certificate_.epsilon
    (10, Fraction(1, 1))
    """

    recipe_class: ClassVar[type[Recipe]] = Jagannathan2012

    def __init__(
        self,
        schema: Any = None,
        epsilon: Any = 1.0,
        max_depth: Any = "auto",
        *,
        trees: Any = "auto",
        bins: int = 64,
        n_public: int | None = None,
        count_share: float = 0.05,
        max_leaves: int = 4096,
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
        self.bins = bins
        self.n_public = n_public
        self.count_share = count_share
        self.max_leaves = max_leaves
        self.variant = variant
        self.neighbours = neighbours
        self.expected_records = expected_records
        self.ledger = ledger
        self.random_state = random_state


class Jagannathan2013Classifier(PrivateClassifier):
    """A small private forest labels public records, and a large one learns from those (recipe ``jagannathan2013``).

    Parameters
    ----------
    schema, epsilon, neighbours, expected_records, ledger
        As for the other classifiers.
    max_depth : int or "auto"
        The number of tests on a path; "auto" is by the numbers of attributes, of their values and of public records.
    public : table, optional
        Records without labels that the data owner declares public, as any table that ``fit`` takes. NOTHING PROTECTS
        THEM: the trees are cut at their medians and count them exactly. A saved model does not hold the table. Without
        it there is only the small forest.
    trees : int
        How many trees of the small forest share epsilon.
    public_trees : int
        How many trees of the large forest learn from the public records, at no cost.
    bins : int
        On a grid of how many bins numbers are cut.
    max_leaves : int
        The most leaves of a tree, a public number.
    variant : "sound"
    random_state : int, optional
        Seeds the random trees, which are public, and never noise.

    Examples
    --------
    >>> from privet import Jagannathan2013Classifier
    >>> from privet.datasets.clinic import clinic
    >>> schema, table = clinic(5000)
    >>> _, volunteers = clinic(500, seed=1)
    >>> forest = Jagannathan2013Classifier(schema=schema, public=volunteers, public_trees=20)
    >>> len(forest.fit(table, table["class"]).model_.trees), forest.certificate_.epsilon
    (25, Fraction(1, 1))
    """

    recipe_class: ClassVar[type[Recipe]] = Jagannathan2013

    def __init__(
        self,
        schema: Any = None,
        epsilon: Any = 1.0,
        max_depth: Any = "auto",
        *,
        public: Any = None,
        trees: int = 5,
        public_trees: int = 200,
        bins: int = 64,
        max_leaves: int = 1024,
        variant: str = "sound",
        neighbours: str = "add-remove",
        expected_records: int | None = None,
        ledger: Any = None,
        random_state: Any = None,
    ) -> None:
        self.schema = schema
        self.epsilon = epsilon
        self.max_depth = max_depth
        self.public = public
        self.trees = trees
        self.public_trees = public_trees
        self.bins = bins
        self.max_leaves = max_leaves
        self.variant = variant
        self.neighbours = neighbours
        self.expected_records = expected_records
        self.ledger = ledger
        self.random_state = random_state
