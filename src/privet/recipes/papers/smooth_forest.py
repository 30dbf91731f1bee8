"""The forest of disjoint random trees (Fletcher 2017, ch. 8), with leaf labels that keep their promise.

Random trees on disjoint records, each record's tree chosen by its own coin, so that the whole budget serves every tree.
Depth by Theorem 8.2, as Table 8.4 reads it: half of the discrete attributes, and for s numbers one more than the least
d with s((s-1)/s)^d < s/2.

Errata: leaf labels are drawn by the exponential mechanism with a 0/1 score (1 for the largest
class) and the "smooth sensitivity" exp(-j eps), j the margin. Smooth sensitivity is for added noise, not for that
mechanism, and exp(-j eps) is no smooth bound: at margin 1 one record already changes the score. At eps = 1 the
log-ratio between margins 4 and 5 is 46.9, and it grows without bound. Its parts are cut by position, which moves
records when one is removed.

Sound: the label is the class with the largest noisy count in the leaf. Counts of all trees are one batch, and the node
above decides ties. With ``labels="chosen"`` it is one draw of permute-and-flip by the exact counts, which is right more
often and slower.

``variant="global-sensitivity"`` is the form that the thesis compares with: sensitivity 1 throughout. It is sound, since
records are assigned to trees by coins, and its labels are little better than chance at small epsilon: Fig. 8.1.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt

from privet.growing.forests.leaf_counts import buy_leaf_counts, buy_leaf_labels
from privet.growing.forests.random_trees import RandomTrees
from privet.models.forest import Forest
from privet.models.leaf_counts import add_up, as_trees, leaves_below, shares
from privet.privacy.dataset import PrivateDataset
from privet.progress import Progress
from privet.recipes import shared
from privet.recipes.gridded import Grid, Gridded
from privet.recipes.parameters import choice
from privet.recipes.recipe import Info
from privet.recipes.unsound.margin_labels import margin_labels
from privet.schema import Numeric, Schema
from privet.structure.routes import Routes

WHY = "its smooth sensitivity is not one, and the chance of a label grows without bound with the margin of one record"


def depth_of(continuous: int, discrete: int) -> int:
    """The depth of Theorem 8.2, as Table 8.4 has it; at least 1.

    >>> [depth_of(s, r) for s, r in [(5, 0), (10, 0), (15, 0), (6, 8), (0, 22)]]
    [5, 8, 12, 9, 11]
    """
    if continuous == 0:
        return max(discrete // 2, 1)
    depth = 0
    while 2 * ((continuous - 1) ** depth) >= continuous**depth:  # s((s-1)/s)^d >= s/2, in whole numbers
        depth += 1
    return depth + 1 + discrete // 2


def largest(routes: Routes, counts: npt.NDArray[np.float64]) -> npt.NDArray[np.intp]:
    """The class of the largest count in each node. Counts are whole numbers; ancestors break ties.

    Most leaves of deep trees are empty, and their noisy counts are often equal: the first class must not win them all.
    """
    opinion, silent = shares(counts), np.asarray((counts <= 0).all(axis=1))
    for nodes in routes.levels[1:]:
        quiet = nodes[silent[nodes]]
        opinion[quiet] = opinion[routes.parent[quiet]]
    above = np.where(routes.parent < 0, np.arange(len(counts)), routes.parent)
    return np.asarray((counts + opinion[above] / 2).argmax(axis=1))


@dataclass(frozen=True)
class SmoothForest(Gridded):
    """Fletcher's forest of disjoint random trees, with labels that keep their promise.

    Examples
    --------
    >>> from privet.papers import SmoothForestClassifier
    >>> from privet.datasets.clinic import clinic
    >>> schema, table = clinic(5000)
    >>> forest = SmoothForestClassifier(schema=schema, epsilon=1, n_estimators=20).fit(table, table["class"])
    >>> len(forest.estimators_), forest.certificate_.epsilon
    (20, Fraction(1, 1))
    """

    info: ClassVar[Info] = Info(
        name="smooth-forest",
        title="Forest of disjoint random trees",
        citation="Fletcher, PhD thesis 2017, ch. 8 (Alg. 8.1, 8.2)",
        budget="B per tree, on disjoint records",
        guarantee={
            "sound": "pure epsilon",
            "global-sensitivity": "pure epsilon",
            "as-published": "none: smooth sensitivity in the exponential mechanism",
        },
        chooses="at random",
        trees="100",
        depth="by Theorem 8.2, or user",
        numeric="random cuts, on a grid that is bought or even",
        errata="Theorem 8.1 does not hold; Table 8.4 is one more than Theorem 8.2",
    )
    unsound: ClassVar[dict[str, str]] = {"as-published": WHY}

    n_estimators: int = shared.n_estimators(
        100,
        "How many trees. Each record is in one of them, chosen by its own coin, so every tree has all of epsilon. More "
        "trees have fewer records each.",
    )
    max_depth: int | Literal["auto"] = shared.max_depth(
        "auto", 'The number of tests on a path; "auto" is by Theorem 8.2, from the numbers of attributes alone.'
    )
    labels: Literal["counts", "chosen"] = choice(
        "counts",
        ("counts", "chosen"),
        "Whether a leaf releases noisy class counts, the largest of which is its label, or only a label, which is "
        "right more often and takes longer. The other variants have labels only.",
    )
    max_bins: int = shared.max_bins(64)
    grid: Grid = shared.grid()
    max_leaves: int = shared.max_leaves(1024)

    def grow(
        self, data: PrivateDataset, epsilon: Fraction, random: np.random.Generator, progress: Progress | None = None
    ) -> Forest:
        schema, routes = data.schema, self.routes(data.schema, random)
        if self.variant == "sound" and self.labels == "counts":
            counts = add_up(routes, buy_leaf_counts(data, routes, epsilon, "disjoint", progress))
            # Labels by the largest count, also where noise made all counts negative and shares are undefined.
            labels, draws = largest(routes, counts), leaves_below(routes)
            return Forest(schema, as_trees(routes, shares(counts), counts, label=labels, draws=draws))
        if self.as_published:
            labels = self.published_labels(data, routes, epsilon)
        else:
            labels = buy_leaf_labels(data, routes, epsilon, by_winning=self.variant == "global-sensitivity")
        # An inner node has no label of its own, so it gets the majority of its leaves'. Predictions do not use it.
        votes = np.zeros((len(routes.tests), schema.n_classes))
        votes[routes.leaves, labels] = 1
        votes = add_up(routes, votes)
        return Forest(schema, as_trees(routes, shares(votes), np.full_like(votes, np.nan)))

    def published_labels(self, data: PrivateDataset, routes: Routes, epsilon: Fraction) -> npt.NDArray[np.intp]:
        """The label of each leaf as the thesis draws it. NOT private."""
        return margin_labels(data, routes, epsilon, WHY)

    def routes(self, schema: Schema, random: np.random.Generator) -> Routes:
        """The public trees, before any record is counted."""
        numbers = sum(isinstance(attribute, Numeric) for attribute in schema.attributes)
        depth = depth_of(numbers, len(schema.attributes) - numbers) if self.max_depth == "auto" else self.max_depth
        return RandomTrees(self.n_estimators, depth, "mixed", max_leaves=self.max_leaves).draw(schema, random)
