"""privet's random forest: public random trees, noisy counts in their leaves, and all that these give for free.

After Jagannathan et al. 2012 and Fletcher 2017 (ch. 7 and 8), whose random forests promise no more. Random trees look
at no record, so the whole budget buys class counts in their leaves: B / trees each where all records go down every
tree, B where each record goes down one, which its own coin picks.

What was measured over all tables at once and became the default (``privet reproduce forest-settings`` compares):

- all records in every tree, not disjoint parts: the ratio of signal to noise is the same, but parts add sampling error;
- one tree an attribute, each the root of one, with a child for every value or bin; fewer where records are so few that
  the leaves of as many trees, each of one test, would hold fewer of them than noise;
- as deep as the records carry, at most three tests: a branch ends where it can expect no more than ``min_signal`` times
  the noise of a leaf. The number of records is ``n_public``, or bought with ``count_share`` of the budget;
- small or noisy leaves drawn towards their parents, by what is known of the noise (``shrinkage``);
- trees that add up their evidence as naive Bayes does, instead of a vote. A useless random tree says "as in the whole
  table", which is a vote for the largest class but no evidence for it;
- no pruning: shrinkage makes better use of what leaves say.

Evidence adds up as if what the trees say were independent, which it is not. How much it counts together is a number
that ``weight_share`` of the budget buys: see ``growing/forests/evidence.py``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar, Literal, get_args

import numpy as np

from privet.growing.forests.evidence import choose_weight
from privet.growing.forests.leaf_counts import Sharing, buy_leaf_counts, leaf_epsilon
from privet.growing.forests.random_trees import RandomTrees, test_kinds
from privet.growing.greedy.candidates import TEST_KINDS, TestKind
from privet.growing.greedy.grower import Progress
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
from privet.recipes.gridded import Grid, SizedGrid
from privet.recipes.recipe import (
    Info,
    check_choice,
    check_flag,
    check_number,
    check_whole,
    exact_share,
)
from privet.schema import Schema
from privet.structure.splits import Kind, Tests

MOST_TREES = 10_000


@dataclass(frozen=True)
class RandomForest(SizedGrid):
    """privet's own random forest: noisy leaves, and all that can be made of them for free.

    Parameters
    ----------
    trees : int or "auto"
        How many trees; "auto" is one for each attribute, which is its root, or fewer where their leaves would drown in
        noise.
    max_depth : int
        The most tests on a path.
    min_signal : float
        How many times the noise of a leaf a branch must expect to hold in records to be split; 0 splits all, and grows
        a tree for each attribute.
    n_public : int, optional
        The number of records, where the owner declares it public. Otherwise it is bought.
    count_share : float
        The share of epsilon that buys the number of records.
    tests : "multiway", "binary" or "mixed"
        A child for every category or bin, one category against the rest and thresholds, or multiway categories with
        numeric thresholds.
    bins : int
        Into how many bins numeric attributes without thresholds of their own are cut.
    grid : "bought" or "even"
        Where these bins lie: where the records are, found out for a small share of epsilon, and no more of them than
        are worth it; or evenly between the declared bounds.
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
        With "evidence", how much each attribute is expected to count, were there no noise. Below 1 trees that repeat
        each other are not heard twice.
    weight_share : float
        With "evidence", the share of epsilon that buys how much all of it counts, by the log-loss on the records. 0
        leaves it at what is expected.
    max_leaves : int
        The most leaves of a tree, a public number.

    Examples
    --------
    >>> from privet import PrivateForestClassifier
    >>> from privet.datasets.clinic import clinic
    >>> schema, table = clinic(5000)
    >>> forest = PrivateForestClassifier(schema=schema, epsilon=1).fit(table, table["class"])
    >>> len(forest.model_.trees), forest.certificate_.epsilon
    (4, Fraction(1, 1))
    """

    info: ClassVar[Info] = Info(
        name="random-forest",
        title="privet's random forest",
        citation="privet, after Jagannathan et al. 2012 and Fletcher 2017, ch. 7 and 8",
        budget="B / trees a tree, or B a tree on disjoint records",
        guarantee={"sound": "pure epsilon"},
        chooses="at random",
        trees="at most one per attribute, or user",
        depth="by noise, at most 3 tests",
        numeric="bins where the records lie, bought; or even ones, or random cuts",
        recommended="a forest of trees",
    )

    trees: int | Literal["auto"] = "auto"
    max_depth: int = 3
    min_signal: float = 4.0
    n_public: int | None = None
    count_share: float = 0.05
    tests: TestKind = "multiway"
    bins: int = 8
    grid: Grid = "bought"
    sharing: Sharing = "all"
    shrinkage: float = 0.5
    prune: bool = False
    voting: Voting = "evidence"
    evidence: float = 1.0
    weight_share: float = 0.1
    max_leaves: int = 1024

    def check(self) -> None:
        super().check()
        if self.trees != "auto":
            check_whole(self.trees, "trees", 1, MOST_TREES)
        check_whole(self.max_depth, "max_depth", 0, 1000)
        check_number(self.min_signal, "min_signal", 0, 1000)
        check_whole(self.max_leaves, "max_leaves", 1, 2**20)
        check_choice(self.tests, "tests", tuple(TEST_KINDS))
        check_choice(self.sharing, "sharing", get_args(Sharing))
        check_number(self.shrinkage, "shrinkage", 0, 1000)
        check_flag(self.prune, "prune")
        check_choice(self.voting, "voting", get_args(Voting))
        check_number(self.evidence, "evidence", 1e-6, 1000)
        check_number(self.weight_share, "weight_share", 0, 0.999 - self.count_share)

    def multiway(self, schema: Schema) -> tuple[int, int] | None:
        return (len(schema.attributes), 2) if self.tests == "multiway" else None

    def grow_after(self, prelude: Prelude, random: np.random.Generator, progress: Progress | None = None) -> Forest:
        data, attributes = prelude.data, len(Tests.multiway(prelude.data.schema))
        kept = prelude.left * exact_share(self.weight_share) if self.voting == "evidence" else Fraction(0)
        support = 1.0
        if self.min_signal and (self.max_depth > 1 or self.trees == "auto"):  # otherwise there is nothing to decide
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
        # How many tests all trees ask of a record. An attribute that is asked about twice tells half as much each time.
        asked = max(expected_tests(routes).sum(), 1.0)
        guess = min(1.0, self.evidence * attributes / asked) * signal_share(routes, counts, 1 / each, forest.prior)
        return replace(forest, weight=choose_weight(data, forest, guess, kept) if kept else guess)

    def _number_of_trees(self, schema: Schema, attributes: int, records: float) -> int:
        """``records`` is their number times epsilon. Sharing out records or epsilon leaves it the same for a tree."""
        if self.trees != "auto":
            return int(self.trees)
        if not self.min_signal:
            return max(attributes, 1)
        children = np.where(test_kinds(schema, self.tests) == Kind.MULTIWAY, schema.arities, 2)
        mean = float(children[np.asarray(schema.arities) > 1].mean()) if attributes else 1.0
        most = records / (mean * schema.n_classes * math.sqrt(2))
        return max(1, min(attributes, int(min(most, MOST_TREES))))
