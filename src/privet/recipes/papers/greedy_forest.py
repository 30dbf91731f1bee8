"""DPDF, the greedy forest (Fletcher 2017, ch. 6, Alg. 6.1).

Trees on all records, every root on another attribute. With delta levels, the leaves' included, each node buys class
counts and each node that splits a choice by Gini, so eps = B / (trees (2 delta - 1)). A path ends at full depth, at
fewer than 100 released records or at one released class. Pruning goes bottom-up and removes children that are no better
than their parent. The vote is weighted by confidence. Every node has released counts, so every rule *and sub-rule* has
support and confidence.

Errata: Theorem 6.1 bounds the change of the *normalised* Gini index for a node of *known* size,
but the noisy size is put in. A sensitivity that depends on the records is not private anyway. Removing a record is not
covered, as 2(n-1)/n^2 > 2n/(n+1)^2. And Friedman & Schuster's constant is misquoted. Line 16 tests d <= delta, which
asks 2 delta + 1 questions and overspends by 11/9 at delta 5; both variants here test d < delta.

Sound: Gini of counts, one-sided (docs/proofs/scores.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from privet.growing.greedy.candidates import Candidates, TestKind
from privet.growing.greedy.choosing import Chooser, JointChoice
from privet.growing.greedy.grower import Growth, Plan, grow
from privet.growing.greedy.stopping import SmallOrPure
from privet.growing.schedules import LevelSchedule
from privet.models.forest import Forest
from privet.models.pruning import prune_gini
from privet.models.tree import Tree
from privet.privacy.dataset import PrivateDataset
from privet.privacy.scores import Gini
from privet.progress import Progress
from privet.recipes import shared
from privet.recipes.gridded import Grid, Gridded
from privet.recipes.parameters import flag, whole
from privet.recipes.recipe import PURE_OR_DELTA, Info
from privet.recipes.unsound.choices import LocalGini
from privet.recipes.unsound.noisy_level import NoisyLevel
from privet.recipes.unsound.nonprivate import open_engine
from privet.schema import Schema

WHY = "it chooses with a local sensitivity, computed from a noisy size"


@dataclass(frozen=True)
class GreedyForest(Gridded):
    """DPDF, Fletcher's greedy forest: trees with different roots that count in every node.

    Counts in every node make ``subrules_`` worth reading: what the forest learned on the way to each leaf, with
    support and confidence.

    Examples
    --------
    >>> from privet.papers import GreedyForestClassifier
    >>> from privet.datasets.clinic import clinic
    >>> schema, table = clinic(5000)
    >>> forest = GreedyForestClassifier(schema=schema, epsilon=2, max_depth=2, n_estimators=2).fit(
    ...     table, table["class"]
    ... )
    >>> all(rule.support is not None for rule in forest.subrules_)
    True
    """

    info: ClassVar[Info] = Info(
        name="greedy-forest",
        title="DPDF, the greedy forest",
        citation="Fletcher, PhD thesis 2017, ch. 6 (Alg. 6.1)",
        budget="B / (trees (2 levels - 1)) per question",
        guarantee={
            "sound": PURE_OR_DELTA,
            "as-published": "none: a local sensitivity, of a noisy size",
        },
        chooses="greedily",
        trees="4",
        depth="4 tests (5 levels)",
        numeric="bins where the records lie, bought; or even ones",
        errata="Theorem 6.1 is for a known size and misses removals; line 16 overspends by 11/9",
    )
    concentrates: ClassVar[bool] = True
    unsound: ClassVar[dict[str, str]] = {"as-published": WHY}

    n_estimators: int = shared.n_estimators(
        4,
        "How many trees share epsilon. Each has another attribute at its root, so there are at most as many as "
        "attributes.",
    )
    max_depth: int = shared.max_depth(4, "The number of tests on a path; the thesis counts levels, one more.")
    max_features: int | None = whole(
        None, low=1, high=2**40, help="How many attributes, drawn at random, each tree may test; all by default."
    )
    min_records: int = whole(100, low=0, high=2**40, help="A node of fewer released records is a leaf.")
    prune: bool = flag(
        True, "Whether to remove children that are no purer than their parent, by released counts, which costs nothing."
    )
    tests: TestKind = shared.tests("multiway")
    max_bins: int = shared.max_bins(5)
    grid: Grid = shared.grid()
    schedule: LevelSchedule = shared.schedule(LevelSchedule)
    delta: float = shared.delta()

    def multiway(self, schema: Schema) -> tuple[int, int] | None:
        return (self.n_estimators, self.max_depth) if self.tests == "multiway" else None

    def chooser(self) -> Chooser:
        return LocalGini() if self.as_published else JointChoice(Gini())

    def grow(
        self, data: PrivateDataset, epsilon: Fraction, random: np.random.Generator, progress: Progress | None = None
    ) -> Forest:
        candidates = Candidates.of(data.schema, self.tests)
        attributes = len(np.unique(candidates.tests.attribute))
        trees = max(1, min(self.n_estimators, attributes))  # a root each
        if self.as_published:
            engine, cells = open_engine(data, "greedy-forest as published", WHY)
            data.ledger.charge(epsilon, "a greedy forest, as published")
        grown: list[Tree] = []
        for number in range(trees):
            level = NoisyLevel(engine, cells, data.ledger.steps) if self.as_published else data.level()
            tests = candidates.some(self.max_features, random)
            depth = min(self.max_depth, tests.most_tests_on_a_path(data.schema))
            growth = Growth(
                plan=Plan.shares(epsilon / trees, depth, node=1, choice=1, leaf=0, schedule=self.schedule),
                candidates=tests,
                chooser=self.chooser(),
                stop=SmallOrPure(self.min_records),
                node_question="classes",
                not_at_root=tuple(int(tree.attribute[0]) for tree in grown),
            )
            grown.append(grow(level, growth).tree)
            if progress is not None:
                progress(number + 1, trees)
        return Forest(data.schema, tuple(map(prune_gini, grown)) if self.prune else tuple(grown), "confidence")
