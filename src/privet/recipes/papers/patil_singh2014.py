"""A forest of Friedman & Schuster's trees on samples (Patil & Singh 2014).

20 greedy trees of d = 5 levels, each on a sample of the records: size and choice in inner nodes, class counts in
leaves, so eps = B / (trees (2d - 1)).

Errata: the source's samples are bootstrap samples. A record may be in a sample several times, and a
query of eps then loses eps for each copy. And the size of a sample is the number of records, which is private.
Sound: each record enters each tree by its own coin, at a public rate (by default that of a bootstrap sample, which
holds about 63 % of the records). No discount is claimed for the sampling: a tree costs what it would cost on all
records.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from privet.growing.greedy.candidates import Candidates, TestKind
from privet.growing.greedy.choosing import JointChoice
from privet.growing.greedy.grower import Growth, Plan, grow
from privet.growing.greedy.stopping import TooNoisy
from privet.growing.schedules import Schedule
from privet.models.forest import Forest
from privet.models.tree import Tree
from privet.privacy.counting import ROOT
from privet.privacy.dataset import PrivateDataset
from privet.privacy.scores import parse_score
from privet.progress import Progress
from privet.recipes import shared
from privet.recipes.gridded import Grid, Gridded
from privet.recipes.parameters import exact_share, number
from privet.recipes.recipe import PURE_OR_DELTA, Info
from privet.recipes.unsound.noisy_level import NoisyLevel
from privet.recipes.unsound.nonprivate import bootstrap, open_engine
from privet.schema import Schema

WHY = "a record is drawn several times into a bootstrap sample and each copy counts, and its size is the table's"


@dataclass(frozen=True)
class PatilSingh2014(Gridded):
    """Patil & Singh's forest: greedy trees, each on a sample of the records.

    Examples
    --------
    >>> from privet.papers import PatilSingh2014Classifier
    >>> from privet.datasets.clinic import clinic
    >>> schema, table = clinic(5000)
    >>> forest = PatilSingh2014Classifier(schema=schema, epsilon=1, max_depth=2, n_estimators=3).fit(
    ...     table, table["class"]
    ... )
    >>> len(forest.estimators_), forest.certificate_.epsilon <= 1
    (3, True)
    """

    info: ClassVar[Info] = Info(
        name="patil-singh2014",
        title="Greedy forest on samples",
        citation="Patil & Singh, ICACCI 2014",
        budget="B / (trees (2 levels - 1)) per question",
        guarantee={
            "sound": PURE_OR_DELTA,
            "as-published": "none: bootstrap samples repeat records",
        },
        chooses="greedily",
        trees="20",
        depth="4 tests (5 levels)",
        numeric="bins where the records lie, bought; or even ones",
        errata="a record can be drawn several times and then loses several times its share",
    )
    concentrates: ClassVar[bool] = True
    unsound: ClassVar[dict[str, str]] = {"as-published": WHY}

    n_estimators: int = shared.n_estimators(20, "How many trees share epsilon; fewer leave more for each.")
    max_depth: int = shared.max_depth(4, "The number of tests on a path; the paper counts levels, one more.")
    rate: float = number(
        0.632,
        low=1e-6,
        high=1,
        help="The chance of each record to be in the sample of a tree, by its own coin. By default the part of the "
        "records that a bootstrap sample holds; with 1 trees differ only by noise. Not used as published: samples are "
        "then bootstrap samples.",
    )
    criterion: str = shared.criterion("gini")
    max_records: int | None = shared.max_records()
    tests: TestKind = shared.tests("multiway")
    max_bins: int = shared.max_bins(5)
    grid: Grid = shared.grid()
    schedule: Schedule = shared.schedule()
    delta: float = shared.delta()

    def check(self) -> None:
        parse_score(self.criterion, self.max_records)

    def multiway(self, schema: Schema) -> tuple[int, int] | None:
        return (self.n_estimators, self.max_depth) if self.tests == "multiway" else None

    def grow(
        self, data: PrivateDataset, epsilon: Fraction, random: np.random.Generator, progress: Progress | None = None
    ) -> Forest:
        candidates, score = Candidates.of(data.schema, self.tests), parse_score(self.criterion, self.max_records)
        depth = min(self.max_depth, candidates.most_tests_on_a_path(data.schema))
        growth = Growth(
            plan=Plan.shares(epsilon / self.n_estimators, depth, node=1, ask_last=False, schedule=self.schedule),
            candidates=candidates,
            chooser=JointChoice(score),
            stop=TooNoisy(),
        )
        if self.as_published:
            engine, cells = open_engine(data, "patil-singh2014 as published", WHY, whole="a bootstrap sample")
            data.ledger.charge(epsilon, "a greedy forest, as published")
        grown: list[Tree] = []
        for done in range(self.n_estimators):
            if self.as_published:
                sample = bootstrap(engine, cells)
                level = NoisyLevel(sample, ROOT, data.ledger.steps)
                tree = grow(level, growth).tree
            else:
                sampled = data.sample(exact_share(self.rate))
                tree = grow(sampled.level(), growth).tree
            grown.append(tree)
            if progress is not None:
                progress(done + 1, self.n_estimators)
        return Forest(data.schema, tuple(grown))
