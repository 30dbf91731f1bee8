"""A greedy tree without size queries (Mohammed, Barouti, Alhadidi & Chen 2015; Fletcher 2017, 3.3.8).

d levels, the leaves' included (4), with one query each: a choice by the exponential mechanism in inner nodes, class
counts in leaves, so eps = B / d. Nothing is spent on deciding where to stop.

Where privet differs: scores are one-sided, so the sound form draws twice as sharply at no cost. ``as-published`` uses
the textbook's constant and is private too.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from privet.growing.greedy.candidates import Candidates, TestKind
from privet.growing.greedy.choosing import JointChoice
from privet.growing.greedy.grower import Growth, Plan, grow
from privet.growing.schedules import LevelSchedule
from privet.models.tree import Tree
from privet.privacy.dataset import PrivateDataset
from privet.privacy.mechanisms import Selection
from privet.privacy.scores import parse_score
from privet.progress import Progress
from privet.recipes import shared
from privet.recipes.gridded import Grid, Gridded
from privet.recipes.recipe import Info
from privet.schema import Schema


@dataclass(frozen=True)
class Mohammed2015(Gridded):
    """Mohammed et al.'s greedy tree: one question per level, none of them about sizes.

    Examples
    --------
    >>> from privet.papers import Mohammed2015Classifier
    >>> from privet.datasets.clinic import clinic
    >>> schema, table = clinic(5000)
    >>> tree = Mohammed2015Classifier(schema=schema, epsilon=1, max_depth=2).fit(table, table["class"])
    >>> tree.certificate_.epsilon
    Fraction(1, 1)
    """

    info: ClassVar[Info] = Info(
        name="mohammed2015",
        title="Greedy tree without size queries",
        citation="Mohammed, Barouti, Alhadidi & Chen 2015",
        budget="B / levels per question",
        guarantee={"sound": "pure epsilon", "as-published": "pure epsilon"},
        chooses="greedily",
        trees="1",
        depth="3 tests (4 levels)",
        numeric="bins where the records lie, bought; or even ones",
    )

    max_depth: int = shared.max_depth(3, "The number of tests on a path; the paper counts levels, one more.")
    criterion: str = shared.criterion("max")
    max_records: int | None = shared.max_records()
    tests: TestKind = shared.tests("multiway")
    max_bins: int = shared.max_bins(5)
    grid: Grid = shared.grid()
    schedule: LevelSchedule = shared.schedule(LevelSchedule)

    def check(self) -> None:
        parse_score(self.criterion, self.max_records)

    def multiway(self, schema: Schema) -> tuple[int, int] | None:
        return (1, self.max_depth) if self.tests == "multiway" else None

    def grow(
        self, data: PrivateDataset, epsilon: Fraction, random: np.random.Generator, progress: Progress | None = None
    ) -> Tree:
        candidates = Candidates.of(data.schema, self.tests)
        depth = min(self.max_depth, candidates.most_tests_on_a_path(data.schema))
        selection = Selection(constant="two-sided" if self.as_published else "one-sided")
        growth = Growth(
            plan=Plan.shares(epsilon, depth, node=0, choice=1, leaf=1, schedule=self.schedule),
            candidates=candidates,
            chooser=JointChoice(parse_score(self.criterion, self.max_records), selection),
        )
        return grow(data.level(), growth, progress).tree
