"""Private-RDT, the first private random forest (Jagannathan, Pillaipakkamnatt & Wright 2012).

Ten random trees (five below 500 records) of depth min(m/2, log_b n - 1), b the mean number of children; noisy class
counts in their leaves with B / trees each; the trees' counts are added up.

Where privet differs: n is private. It is ``n_public``, declared by the owner, or bought with ``count_share`` of the
budget. A leaf is empty if its noisy counts are, not if no record is in it; an empty leaf does not vote. The cap on
leaves is public.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from privet.growing.forests.leaf_counts import buy_leaf_counts
from privet.growing.forests.random_trees import RandomTrees
from privet.growing.prelude import Prelude
from privet.models.forest import Forest
from privet.models.leaf_counts import add_up, as_trees, shares
from privet.progress import Progress
from privet.recipes import shared
from privet.recipes.gridded import Grid, SizedGrid
from privet.recipes.recipe import Info
from privet.schema import Numeric


def depth_of(n: int, branches: Sequence[int]) -> int:
    """min(m/2, log_b n - 1), at least 1; ``branches`` has the number of children of a test on each attribute.

    >>> depth_of(45_222, [2] * 14), depth_of(300, [3] * 16)
    (7, 4)
    """
    mean = max(sum(branches) / len(branches), 2) if branches else 2
    return max(1, min(len(branches) // 2, math.floor(math.log(max(n, 1)) / math.log(mean)) - 1))


@dataclass(frozen=True)
class Jagannathan2012(SizedGrid):
    """Private-RDT, the first private random forest: leaf counts of all trees, added up.

    Examples
    --------
    >>> from privet.papers import Jagannathan2012Classifier
    >>> from privet.datasets.clinic import clinic
    >>> schema, table = clinic(5000)
    >>> forest = Jagannathan2012Classifier(schema=schema, epsilon=1).fit(table, table["class"])
    >>> len(forest.estimators_), forest.certificate_.epsilon
    (10, Fraction(1, 1))
    """

    info: ClassVar[Info] = Info(
        name="jagannathan2012",
        title="Private-RDT",
        citation="Jagannathan, Pillaipakkamnatt & Wright, Trans. Data Privacy 2012",
        budget="B / trees per tree, less a share for n unless n is public",
        guarantee={"sound": "pure epsilon"},
        chooses="at random",
        trees="10, or 5 if n < 500",
        depth="min(m/2, log_b n - 1)",
        numeric="random cuts, on a grid that is bought or even",
    )

    n_estimators: int | Literal["auto"] = shared.n_estimators(
        "auto", 'How many trees share epsilon; "auto" is ten, or five for fewer than 500 records.'
    )
    max_depth: int | Literal["auto"] = shared.max_depth(
        "auto",
        'The number of tests on a path; "auto" is by the number of attributes, of their values and of records.',
    )
    max_bins: int = shared.max_bins(64)
    grid: Grid = shared.grid()
    n_public: int | None = shared.n_public()
    count_share: float = shared.count_share()
    max_leaves: int = shared.max_leaves(4096)

    def grow_after(self, prelude: Prelude, random: np.random.Generator, progress: Progress | None = None) -> Forest:
        data, schema = prelude.data, prelude.data.schema
        if "auto" in (self.n_estimators, self.max_depth):
            prelude = self.count(prelude)
        n = prelude.records.number if prelude.records else 0
        branches = [2 if isinstance(a, Numeric) else a.arity for a in schema.attributes if a.arity > 1]
        trees = (10 if n >= 500 else 5) if self.n_estimators == "auto" else int(self.n_estimators)
        depth = depth_of(n, branches) if self.max_depth == "auto" else int(self.max_depth)
        routes = RandomTrees(trees, depth, "mixed", max_leaves=self.max_leaves).draw(schema, random)
        bought = buy_leaf_counts(data, routes, prelude.left, "all", progress)
        counts = add_up(routes, np.where(bought.sum(axis=1, keepdims=True) > 0, np.maximum(bought, 0), 0.0))
        return Forest(schema, as_trees(routes, shares(counts), counts), "counts")
