"""SuLQ-based ID3: every quantity a noisy count.

Blum, Dwork, McSherry & Nissim 2005, as Friedman & Schuster 2010 write it down (Algorithm 1).

Budget: eps = B / (2(d+1)) for each of the d+1 levels' two queries: the size of a node, then either its class counts
(leaf) or, for every remaining attribute, the sizes and class counts of its children with eps / 2|A| each.

Where privet differs: the published form is sound and unchanged. The sound form counts children once
(``reuse_counts``, Fletcher 3.3.2) and counts the records of a node only where it can matter (3.3.8).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from privet.growing.greedy.candidates import Candidates
from privet.growing.greedy.choosing import NoisyGain
from privet.growing.greedy.grower import Growth, Plan, grow
from privet.growing.greedy.stopping import TooNoisy
from privet.growing.schedules import Schedule
from privet.models.tree import Tree
from privet.privacy.dataset import PrivateDataset
from privet.progress import Progress
from privet.recipes import shared
from privet.recipes.gridded import Grid, Gridded
from privet.recipes.recipe import Info
from privet.schema import Schema


@dataclass(frozen=True)
class SuLQ(Gridded):
    """SuLQ-based ID3: a tree grown from noisy counts alone.

    Examples
    --------
    >>> from privet.papers import SuLQTreeClassifier
    >>> from privet.datasets.clinic import clinic
    >>> schema, table = clinic(5000)
    >>> tree = SuLQTreeClassifier(schema=schema, epsilon=2, max_depth=2).fit(table, table["class"])
    >>> tree.certificate_.epsilon <= 2
    True
    """

    info: ClassVar[Info] = Info(
        name="sulq",
        title="SuLQ-based ID3",
        citation="Blum, Dwork, McSherry & Nissim, PODS 2005; Friedman & Schuster, KDD 2010, Alg. 1",
        budget="B / (2(d+1)) per question, that of a split shared by all attributes",
        guarantee={"sound": "pure epsilon", "as-published": "pure epsilon"},
        chooses="greedily",
        trees="1",
        depth="user",
        numeric="bins where the records lie, bought; or even ones",
    )

    max_depth: int = shared.max_depth(5)
    max_bins: int = shared.max_bins(10)
    grid: Grid = shared.grid()
    schedule: Schedule = shared.schedule()

    def multiway(self, schema: Schema) -> tuple[int, int]:
        return 1, self.max_depth

    def grow(
        self, data: PrivateDataset, epsilon: Fraction, random: np.random.Generator, progress: Progress | None = None
    ) -> Tree:
        candidates = Candidates.of(data.schema, "multiway")
        depth = min(self.max_depth, len(candidates.tests))
        growth = Growth(
            plan=Plan.shares(epsilon, depth, node=1, ask_last=self.as_published, schedule=self.schedule),
            candidates=candidates,
            chooser=NoisyGain(reuse_counts=not self.as_published),
            stop=TooNoisy(),
        )
        return grow(data.level(), growth, progress).tree
