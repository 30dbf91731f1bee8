"""DP-RF, the signal-to-noise forest (Fletcher 2017, ch. 7, Alg. 7.1).

Random trees with a different root each, a child for every value, attributes once on a path. Each has eps = B / trees. A
branch ends where it is expected to hold theta = |C| sqrt(2) / eps records or fewer. There are as many trees as
attributes, or the most for which theta < n / b^2, b the mean number of values. Leaves buy class counts, and the counts
of other nodes are sums of their leaves. Nodes whose signal-to-noise ratio eps * sum / (|C| sqrt(2 |leaves|)) is below 1
are removed. On each path the most confident remaining node predicts, and the most confident tree decides.

Where privet differs: n is private. It is ``n_public``, declared by the owner, or bought with ``count_share`` of the
budget. A removed child of a node that keeps others is a leaf that predicts like the path above it. The cap on leaves is
public.
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
from privet.models.leaf_counts import above_noise, add_up, as_trees, leaves_below, shares, surest_opinion
from privet.progress import Progress
from privet.recipes import shared
from privet.recipes.gridded import Grid, SizedGrid
from privet.recipes.recipe import PURE_OR_DELTA, Info
from privet.schema import Schema


def number_of_trees(n: int, arities: Sequence[int], n_classes: int, epsilon: float, power: int = 1) -> int:
    """The most trees, up to one per attribute, whose threshold leaves room for two levels (TH eq. 7.7).

    Each of k trees has epsilon / k, or epsilon / sqrt(k) under zCDP, where ``power`` is 2.

    >>> number_of_trees(n=12960, arities=[3, 5, 4, 4, 3, 2, 3, 3], n_classes=5, epsilon=1)  # nursery
    8
    """
    usable = [arity for arity in arities if arity > 1]
    if not usable:
        return 1
    room = n / (sum(usable) / len(usable)) ** 2  # theta must stay below
    most = math.ceil((room * epsilon / (n_classes * math.sqrt(2))) ** power) - 1
    return max(1, min(len(usable), most))


@dataclass(frozen=True)
class SNRForest(SizedGrid):
    """DP-RF, Fletcher's signal-to-noise forest: as many trees, as deep, as the noise allows.

    Examples
    --------
    >>> from privet.papers import SNRForestClassifier
    >>> from privet.datasets.clinic import clinic
    >>> schema, table = clinic(5000)
    >>> forest = SNRForestClassifier(schema=schema, epsilon=1, n_public=5000).fit(table, table["class"])
    >>> len(forest.estimators_), forest.certificate_.epsilon
    (4, Fraction(1, 1))
    """

    info: ClassVar[Info] = Info(
        name="snr-forest",
        title="DP-RF, the signal-to-noise forest",
        citation="Fletcher, PhD thesis 2017, ch. 7 (Alg. 7.1)",
        budget="B / trees per tree, less a share for n unless n is public",
        guarantee={"sound": PURE_OR_DELTA},
        chooses="at random",
        trees="by noise, at most one per attribute",
        depth="by noise",
        numeric="bins where the records lie, bought; or even ones",
    )
    concentrates: ClassVar[bool] = True

    n_estimators: int | Literal["auto"] = shared.n_estimators(
        "auto",
        'How many trees share epsilon; "auto" is the most whose leaf counts would still exceed the noise, and at '
        "most one for each attribute, which is its root.",
    )
    max_bins: int = shared.max_bins(5)
    grid: Grid = shared.grid()
    n_public: int | None = shared.n_public()
    count_share: float = shared.count_share()
    max_leaves: int = shared.max_leaves(65_536)
    delta: float = shared.delta()

    def multiway(self, schema: Schema) -> tuple[int, int]:
        return len(schema.attributes), 2

    def grow_after(self, prelude: Prelude, random: np.random.Generator, progress: Progress | None = None) -> Forest:
        prelude = self.count(prelude)
        data, n, left = prelude.data, prelude.counted.number, prelude.left
        schema, ledger = data.schema, data.ledger
        trees = (
            number_of_trees(n, schema.arities, schema.n_classes, 1 / ledger.noise_scale(left), ledger.currency.power)
            if self.n_estimators == "auto"
            else int(self.n_estimators)
        )
        each = 1 / ledger.noise_scale(left / trees)
        lot = RandomTrees(
            trees,
            depth=len(schema.attributes),
            tests="multiway",
            distinct_roots=True,
            max_leaves=self.max_leaves,
            support=n,
            least=schema.n_classes * math.sqrt(2) / each,
        )
        routes = lot.draw(schema, random)
        counts = add_up(routes, buy_leaf_counts(data, routes, left, "all", progress))
        alive = above_noise(routes, counts, each)
        opinion = surest_opinion(routes, shares(counts), alive)
        return Forest(schema, as_trees(routes, opinion, counts, alive, draws=leaves_below(routes)), "surest")
