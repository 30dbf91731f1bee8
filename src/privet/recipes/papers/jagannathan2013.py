"""A private forest labels public records, and a large forest learns from those (Jagannathan, Monteleoni &
Pillaipakkamnatt 2013, as described by Fletcher, 3.3.7).

The owner declares unlabelled records of the same kind to be public. They guide the random trees: numbers are cut at the
median of the public records in a node. A small private forest (5 trees, B / 5 each for class counts in the leaves)
labels each public record. A large forest (200 trees) learns from the public records and those labels, for free. All
trees predict.

The promise covers the private records. It does not cover the public ones: to declare them public is to publish them.
The source leaves the depth open: it is that of ``jagannathan2012`` for the number of public records. Without public
records there is only the small forest, of random trees.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal

import numpy as np

from privet.growing.forests.leaf_counts import buy_leaf_counts
from privet.growing.forests.medians import MedianTrees
from privet.growing.forests.random_trees import RandomTrees
from privet.growing.prelude import Prelude
from privet.models.forest import Forest
from privet.models.leaf_counts import add_up, as_trees, leaves_below, shares
from privet.models.tree import Tree
from privet.privacy.dataset import PrivateDataset
from privet.progress import Progress
from privet.recipes import shared
from privet.recipes.gridded import Grid, Gridded
from privet.recipes.papers.jagannathan2012 import depth_of
from privet.recipes.parameters import declared, whole
from privet.recipes.recipe import Info, Recipe
from privet.schema import Numeric, Schema
from privet.structure.routes import Routes
from privet.tables.encoding import encode_features

UNGUIDED = 3  # tests on a path without public records to derive the depth from


@dataclass(frozen=True)
class Jagannathan2013(Gridded):
    """A small private forest labels public records, and a large one learns from those.

    Examples
    --------
    >>> from privet.papers import Jagannathan2013Classifier
    >>> from privet.datasets.clinic import clinic
    >>> schema, table = clinic(5000)
    >>> _, volunteers = clinic(500, seed=1)
    >>> forest = Jagannathan2013Classifier(schema=schema, public=volunteers, public_trees=20)
    >>> len(forest.fit(table, table["class"]).estimators_), forest.certificate_.epsilon
    (25, Fraction(1, 1))
    """

    info: ClassVar[Info] = Info(
        name="jagannathan2013",
        title="Forest with labels from a private forest",
        citation="Jagannathan, Monteleoni & Pillaipakkamnatt, ICDMW 2013",
        budget="B / trees per tree of the small forest",
        guarantee={"sound": "pure epsilon, for the private records"},
        chooses="at random",
        trees="5 private, 200 public",
        depth="min(m/2, log_b n - 1), n public records",
        numeric="medians of public records",
    )

    public: Any = declared(
        None,
        "table, optional",
        "Records without labels that the data owner declares public, as any table that ``fit`` takes. NOTHING "
        "PROTECTS THEM: the trees are cut at their medians and count them exactly. A saved model does not hold the "
        "table. Without it there is only the small forest.",
        compare=False,  # tables do not compare to one truth value
    )
    n_estimators: int = shared.n_estimators(5, "How many trees of the small forest share epsilon.")
    public_trees: int = whole(
        200,
        low=0,
        high=shared.MOST_ESTIMATORS,
        help="How many trees of the large forest learn from the public records, at no cost but time.",
    )
    max_depth: int | Literal["auto"] = shared.max_depth(
        "auto",
        'The number of tests on a path; "auto" is by the numbers of attributes, of their values and of public records.',
    )
    max_bins: int = shared.max_bins(64)
    grid: Grid = shared.grid()
    max_leaves: int = shared.max_leaves(1024)

    @property
    def params(self) -> dict[str, Any]:
        """Without the public table, which is no parameter and may be large."""
        return {name: value for name, value in super().params.items() if name != "public"}

    def survey(self, prelude: Prelude) -> tuple[Recipe, Prelude]:
        if self.public is not None:
            encode_features(prelude.data.schema, self.public)  # an invalid table is refused before anything is bought
        return super().survey(prelude)

    def grow(
        self, data: PrivateDataset, epsilon: Fraction, random: np.random.Generator, progress: Progress | None = None
    ) -> Forest:
        schema = data.schema
        features = None if self.public is None else encode_features(schema, self.public)
        depth = self._depth(schema, 0 if features is None else features.shape[1])
        if features is None:
            routes = RandomTrees(self.n_estimators, depth, "mixed", max_leaves=self.max_leaves).draw(schema, random)
            return self._private(data, routes, epsilon, progress)
        data.add_caveat(f"{features.shape[1]} unlabelled records were declared public by the owner")
        lot = MedianTrees(depth, max_leaves=self.max_leaves)
        guided = [lot.draw(schema, features, random) for _ in range(self.n_estimators)]
        columns = ((t.tests.attribute, t.tests.kind, t.tests.cut, t.first_child) for t in guided)
        small = self._private(data, Routes.end_to_end(schema, columns), epsilon, progress)
        labels = small.predict(features)
        large = [_learn(lot.draw(schema, features, random), features, labels) for _ in range(self.public_trees)]
        return Forest(schema, (*small.trees, *large), "proba")

    def _private(self, data: PrivateDataset, routes: Routes, epsilon: Fraction, progress: Progress | None) -> Forest:
        counts = add_up(routes, buy_leaf_counts(data, routes, epsilon, "all", progress))
        return Forest(data.schema, as_trees(routes, shares(counts), counts, draws=leaves_below(routes)), "proba")

    def _depth(self, schema: Schema, public: int) -> int:
        if self.max_depth != "auto":
            return int(self.max_depth)
        branches = [2 if isinstance(a, Numeric) else a.arity for a in schema.attributes if a.arity > 1]
        return depth_of(public, branches) if public else UNGUIDED


def _learn(routes: Routes, features: np.ndarray, labels: np.ndarray) -> Tree:
    """A tree of the large forest, from exact counts of public records and released labels."""
    counts = np.zeros((len(routes.tests), routes.schema.n_classes))
    np.add.at(counts, (routes.apply(features)[:, 0], labels), 1)
    counts = add_up(routes, counts)
    return as_trees(routes, shares(counts), counts)[0]
