"""The classifier that draws a tree in blocks of levels."""

from __future__ import annotations

from typing import Any, ClassVar

from privet.estimators.base import PrivateClassifier
from privet.recipes.embedded import VARIANCE_THRESHOLD, Embedded
from privet.recipes.recipe import Recipe


class EmbeddedTreeClassifier(PrivateClassifier):
    """Bai et al.'s embedding: one mechanism for several levels of multiway tests (recipe ``embedded``).

    Parameters
    ----------
    schema, epsilon, neighbours, expected_records, ledger, random_state
        As for the other classifiers.
    max_depth : int
        The number of tests on a path; Bai et al. count layers, one more.
    embedding_depth : int or "whole"
        How many levels one mechanism draws; epsilon is shared among the blocks of a path and its leaf.
    search : "auto", "exact", "exhaustive" or "mcmc"
        How a subtree of a block is found. "exact" draws from the mechanism itself. The others are the paper's and need
        ``variant="as-published"``, which is not differentially private. "auto" is "exact", or as published
        "exhaustive" for blocks of one or two levels and "mcmc" for deeper ones.
    measure : "auto", "attributes" or "subtrees"
        What is equally likely before the data speak: each attribute in a node (sound), or each subtree (as published).
    min_records : int
        As published only: nodes of fewer records are leaves (20; the paper has 50 for mushroom).
    buffer, step_limit : int, optional
        As published only: the chain looks at its last ``buffer`` scores and takes at most ``step_limit`` steps. By
        default the paper's for vote: 50 and 1000 (500 for two levels), 500 and 10000 for a whole tree.
    variance_threshold : float
        As published only: the chain stops when its last scores vary by less. Not given in the paper.
    bins : int
        Into how many bins numeric attributes without thresholds of their own are cut.
    variant : "sound" or "as-published"

    Examples
    --------
    >>> from privet import EmbeddedTreeClassifier
    >>> from privet.datasets.clinic import clinic
    >>> schema, table = clinic(5000)
    >>> tree = EmbeddedTreeClassifier(schema=schema, epsilon=1, max_depth=2).fit(table, table["class"])
    >>> tree.certificate_.epsilon
    Fraction(1, 1)
    """

    recipe_class: ClassVar[type[Recipe]] = Embedded

    def __init__(
        self,
        schema: Any = None,
        epsilon: Any = 1.0,
        max_depth: int = 3,
        *,
        embedding_depth: Any = "whole",
        search: str = "auto",
        measure: str = "auto",
        min_records: int = 20,
        buffer: int | None = None,
        step_limit: int | None = None,
        variance_threshold: float = VARIANCE_THRESHOLD,
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
        self.embedding_depth = embedding_depth
        self.search = search
        self.measure = measure
        self.min_records = min_records
        self.buffer = buffer
        self.step_limit = step_limit
        self.variance_threshold = variance_threshold
        self.bins = bins
        self.variant = variant
        self.neighbours = neighbours
        self.expected_records = expected_records
        self.ledger = ledger
        self.random_state = random_state
