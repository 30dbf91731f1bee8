"""privet's random forest: public random trees, noisy counts in their leaves, and postprocessing of these.

After Jagannathan et al. 2012 and Fletcher 2017 (ch. 7 and 8), whose random forests promise no more. Random trees use no
record, so the whole budget buys class counts in their leaves: B / trees each where all records are in every tree, B
where each record is in one, chosen by its own coin.

The defaults were chosen by measurements over all tables at once (``privet reproduce forest-settings`` compares):

- all records in every tree, not disjoint parts: the ratio of signal to noise is the same, but parts add sampling error;
- one tree per attribute, each the root of one, with a child for every value or bin; fewer where records are so few that
  the leaves of as many trees, each of one test, would hold fewer of them than noise;
- a depth by the number of records, at most three tests: a branch ends where its expected number of records is no more
  than ``min_signal`` times the noise of a leaf. The number of records is ``n_public``, or bought with ``count_share``
  of the budget;
- small or noisy leaves shrunk towards their parents, by what is known of the noise (``shrinkage``);
- trees that add up their evidence as naive Bayes does, instead of a vote. An uninformative tree predicts the shares of
  the whole table, which is a vote for the largest class but no evidence for it;
- no pruning: shrinkage makes better use of the leaf counts.

Evidence adds up as if the trees were independent, which they are not. The weight of their sum is a number
that ``weight_share`` of the budget buys: see ``growing/forests/evidence.py``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar, Literal

import numpy as np

from privet.growing.forests.evidence import choose_weight
from privet.growing.forests.leaf_counts import Sharing, buy_leaf_counts, leaf_epsilon
from privet.growing.forests.random_trees import RandomTrees, test_kinds
from privet.growing.greedy.candidates import TestKind
from privet.growing.prelude import Prelude
from privet.models.forest import Forest
from privet.models.leaf_counts import (
    above_noise,
    add_up,
    as_trees,
    expected_tests,
    leaves_below,
    shares,
    shrink,
    signal_share,
)
from privet.models.voting import Voting
from privet.progress import Progress
from privet.recipes import shared
from privet.recipes.gridded import Grid, SizedGrid
from privet.recipes.parameters import check_number, choice, exact_share, flag, number
from privet.recipes.recipe import Info
from privet.schema import Schema
from privet.structure.splits import Kind, Tests


@dataclass(frozen=True)
class RandomForest(SizedGrid):
    """privet's own random forest: noisy leaf counts, and what follows from them for free.

    Examples
    --------
    >>> from privet import PrivateForestClassifier
    >>> from privet.datasets.clinic import clinic
    >>> schema, table = clinic(5000)
    >>> forest = PrivateForestClassifier(schema=schema, epsilon=1).fit(table, table["class"])
    >>> len(forest.estimators_), forest.certificate_.epsilon
    (4, Fraction(1, 1))
    """

    info: ClassVar[Info] = Info(
        name="random-forest",
        title="privet's random forest",
        citation="privet, after Jagannathan et al. 2012 and Fletcher 2017, ch. 7 and 8",
        budget="B / trees per tree, or B per tree on disjoint records",
        guarantee={"sound": "pure epsilon"},
        chooses="at random",
        trees="at most one per attribute, or user",
        depth="by noise, at most 3 tests",
        numeric="bins where the records lie, bought; or even ones, or random cuts",
        recommended="a forest of trees",
    )

    n_estimators: int | Literal["auto"] = shared.n_estimators(
        "auto",
        'How many trees; "auto" is one for each attribute, which is its root, or fewer where their leaves would be '
        "mostly noise.",
    )
    max_depth: int = shared.max_depth(3)
    min_signal: float = number(
        4.0,
        low=0,
        high=1000,
        help="A branch is split if its expected number of records is above this multiple of a leaf's noise; 0 splits "
        "all, and grows a tree for each attribute.",
    )
    n_public: int | None = shared.n_public()
    count_share: float = shared.count_share()
    tests: TestKind = shared.tests("multiway")
    max_bins: int = shared.max_bins(8)
    grid: Grid = shared.grid()
    sharing: Sharing = choice(
        "all",
        Sharing,
        "Whether every tree counts all records with its share of epsilon, or each record is in one tree, chosen by its "
        "own coin, and every tree has all of epsilon.",
    )
    shrinkage: float = number(
        0.5,
        low=0,
        high=1000,
        help="How much a leaf is shrunk towards the nodes above it, in standard deviations of its noise; 0 leaves its "
        "counts as they are.",
    )
    prune: bool = flag(False, "Whether to prune nodes whose counts are mostly noise.")
    voting: Voting = choice(
        "evidence",
        Voting,
        'How the trees vote. "evidence" adds up by how much each changes the odds, as naive Bayes does; "proba" '
        'takes the mean of their probabilities; "confidence" and "majority" count labels, with or without their '
        'probability; "counts" adds up class counts; "surest" follows the most confident tree.',
    )
    evidence: float = number(
        1.0,
        low=1e-6,
        high=1000,
        help='With "evidence", how much each attribute is expected to count, were there no noise. Below 1, correlated '
        "trees do not count twice.",
    )
    weight_share: float = number(
        0.1,
        low=0,
        high=0.999,
        help='With "evidence", the share of epsilon that buys how much all of it counts, by the log-loss on the '
        "records. 0 leaves it at what is expected.",
    )
    max_leaves: int = shared.max_leaves(1024)

    def check(self) -> None:
        check_number(self.weight_share, "weight_share", 0, 0.999 - self.count_share)

    def multiway(self, schema: Schema) -> tuple[int, int] | None:
        return (len(schema.attributes), 2) if self.tests == "multiway" else None

    def grow_after(self, prelude: Prelude, random: np.random.Generator, progress: Progress | None = None) -> Forest:
        data, attributes = prelude.data, len(Tests.multiway(prelude.data.schema))
        kept = prelude.left * exact_share(self.weight_share) if self.voting == "evidence" else Fraction(0)
        support = 1.0
        if self.min_signal and (self.max_depth > 1 or self.n_estimators == "auto"):  # otherwise there is no choice
            prelude = self.count(prelude)
            support = prelude.counted.surely
        left = prelude.left - kept
        steps = data.ledger.steps
        trees = self._number_of_trees(data.schema, attributes, support * float(left / steps))
        each = float(leaf_epsilon(left, trees, self.sharing) / steps)
        noise = data.schema.n_classes * math.sqrt(2) / each
        share = support if self.sharing == "all" else support / trees
        lot = RandomTrees(
            trees,
            self.max_depth,
            self.tests,
            distinct_roots=True,
            max_leaves=self.max_leaves,
            support=share,
            least=min(self.min_signal * noise, 0.999 * share),  # below the support of a root: it always splits
        )
        routes = lot.draw(data.schema, random)
        counts = add_up(routes, buy_leaf_counts(data, routes, left, self.sharing, progress))
        proba = shrink(routes, counts, 1 / each, self.shrinkage) if self.shrinkage else shares(counts)
        alive = above_noise(routes, counts, each) if self.prune else None
        grown = as_trees(routes, proba, counts, alive, draws=leaves_below(routes))
        forest = Forest(data.schema, grown, self.voting)
        if self.voting != "evidence":
            return forest
        # The tests that all trees make on a record. An attribute that is tested twice tells half as much each time.
        asked = max(expected_tests(routes).sum(), 1.0)
        guess = min(1.0, self.evidence * attributes / asked) * signal_share(routes, counts, 1 / each, forest.prior)
        return replace(forest, weight=choose_weight(data, forest, guess, kept) if kept else guess)

    def _number_of_trees(self, schema: Schema, attributes: int, records: float) -> int:
        """``records`` is their number times epsilon: the same per tree, whether trees share records or epsilon."""
        if self.n_estimators != "auto":
            return int(self.n_estimators)
        if not self.min_signal:
            return max(attributes, 1)
        children = np.where(test_kinds(schema, self.tests) == Kind.MULTIWAY, schema.arities, 2)
        mean = float(children[np.asarray(schema.arities) > 1].mean()) if attributes else 1.0
        most = records / (mean * schema.n_classes * math.sqrt(2))
        return max(1, min(attributes, int(min(most, shared.MOST_ESTIMATORS))))
