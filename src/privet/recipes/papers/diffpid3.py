"""DiffPID3: one exponential mechanism picks the attribute (Friedman & Schuster 2010, Algorithm 2).

Budget: eps = B / (2(d+1)) for each of the d+1 levels' two queries: the size of a node, then its class counts (leaf)
or its attribute.

Errata: eq. (1) lacks a minus sign and q_IG has one too many, so maximising the printed score picks the worst attribute.
Eq. (2) and Algorithm 1 are right, and are implemented here.

Where privet differs: adding a record moves all three scores in one direction, so the sound form draws with
exp(eps q / S) where the paper has exp(eps q / 2S): twice as sharp for the same epsilon.
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
from privet.models.tree import Tree
from privet.privacy.dataset import PrivateDataset
from privet.privacy.mechanisms import Selection
from privet.privacy.scores import parse_score
from privet.progress import Progress
from privet.recipes import shared
from privet.recipes.gridded import Grid, Gridded
from privet.recipes.parameters import choice
from privet.recipes.recipe import PURE_OR_DELTA, Info
from privet.schema import Schema


@dataclass(frozen=True)
class DiffPID3(Gridded):
    """DiffPID3: the exponential mechanism picks each node's attribute.

    Examples
    --------
    >>> from privet.papers import DiffPID3Classifier
    >>> from privet.datasets.clinic import clinic
    >>> schema, table = clinic(5000)
    >>> tree = DiffPID3Classifier(schema=schema, epsilon=1, max_depth=2).fit(table, table["class"])
    >>> tree.score(table, table["class"]) > 0.5
    True
    """

    info: ClassVar[Info] = Info(
        name="diffpid3",
        title="DiffPID3",
        citation="Friedman & Schuster, KDD 2010, Alg. 2",
        budget="B / (2(d+1)) per question",
        guarantee={"sound": PURE_OR_DELTA, "as-published": "pure epsilon"},
        chooses="greedily",
        trees="1",
        depth="user",
        numeric="bins where the records lie, bought; or even ones",
        errata="signs of eq. (1) and q_IG",
    )
    concentrates: ClassVar[bool] = True

    max_depth: int = shared.max_depth(5)
    criterion: str = shared.criterion("max")
    tests: TestKind = shared.tests("multiway")
    mechanism: str = choice("exponential", ("exponential", "permute-and-flip"), "How a test is drawn by its score.")
    max_records: int | None = shared.max_records()
    max_bins: int = shared.max_bins(10)
    grid: Grid = shared.grid()
    schedule: Schedule = shared.schedule()
    delta: float = shared.delta()

    def check(self) -> None:
        parse_score(self.criterion, self.max_records)

    def selection(self) -> Selection:
        constant = "two-sided" if self.as_published else "one-sided"
        return Selection(self.mechanism, constant)  # type: ignore[arg-type]  # Selection checks it

    def multiway(self, schema: Schema) -> tuple[int, int] | None:
        return (1, self.max_depth) if self.tests == "multiway" else None

    def grow(
        self, data: PrivateDataset, epsilon: Fraction, random: np.random.Generator, progress: Progress | None = None
    ) -> Tree:
        candidates = Candidates.of(data.schema, self.tests)
        depth = min(self.max_depth, candidates.most_tests_on_a_path(data.schema))
        growth = Growth(
            plan=Plan.shares(epsilon, depth, node=1, schedule=self.schedule),
            candidates=candidates,
            chooser=JointChoice(parse_score(self.criterion, self.max_records), self.selection()),
            stop=TooNoisy(),
        )
        return grow(data.level(), growth, progress).tree
