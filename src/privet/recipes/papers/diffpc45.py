"""DiffPC4.5: DiffPID3 with numeric attributes and pruning (Friedman & Schuster 2010, 4.3 and Algorithm 3).

Budget: as published eps = B / ((2+m)d+2), with m numeric attributes whose split points are bought one by one. The
joint choice puts (attribute, point) pairs and discrete attributes into one mechanism, so eps = B / (2(d+1)) again. Each
attribute has the same public mass, over what the path leaves of its domain.

Errata: the range probabilities of 4.3 drop the 1/2S; as printed they would lose S times eps. The integral before them
is right and is what ``numeric="points"`` implements, over a public grid of points.

Where privet differs (sound form): the joint choice, the one-sided constant, binary tests, and node sizes bought only
with the small share that stopping and pruning need.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal

import numpy as np

from privet.growing.greedy.candidates import Candidates, TestKind
from privet.growing.greedy.choosing import Chooser, JointChoice, PointsFirst
from privet.growing.greedy.grower import Growth, Plan, grow
from privet.growing.greedy.stopping import TooNoisy
from privet.models.pruning import CONFIDENCE, prune_c45
from privet.models.tree import Tree
from privet.privacy.dataset import PrivateDataset
from privet.privacy.scores import parse_score
from privet.progress import Progress
from privet.recipes import shared
from privet.recipes.papers.diffpid3 import DiffPID3
from privet.recipes.parameters import choice, flag, number, whole
from privet.recipes.recipe import PURE_OR_DELTA, Info
from privet.schema import Schema


@dataclass(frozen=True)
class DiffPC45(DiffPID3):
    """DiffPC4.5: numeric split points and pruning on top of DiffPID3.

    Examples
    --------
    >>> from privet.papers import DiffPC45Classifier
    >>> from privet.datasets.clinic import clinic
    >>> schema, table = clinic(5000)
    >>> tree = DiffPC45Classifier(schema=schema, epsilon=1, max_depth=3).fit(table, table["class"])
    >>> tree.certificate_.private
    True
    """

    info: ClassVar[Info] = Info(
        name="diffpc45",
        title="DiffPC4.5",
        citation="Friedman & Schuster, KDD 2010, 4.3 and Alg. 3",
        budget="joint choice: B / (2(d+1)) per question; as published B / ((2+m)d+2), with m numeric attributes",
        guarantee={"sound": PURE_OR_DELTA, "as-published": "pure epsilon"},
        chooses="greedily",
        trees="1",
        depth="user",
        numeric="points where the records lie, bought, or even ones, chosen jointly with the attribute (or bins)",
        errata="4.3 drops the 1/2S from the range probabilities",
    )

    criterion: str = shared.criterion("gini")
    tests: TestKind = shared.tests("binary")
    numeric: Literal["auto", "joint", "points", "bins"] = choice(
        "auto",
        ("auto", "joint", "points", "bins"),
        "One choice over (attribute, point) pairs, a point bought for each numeric attribute before the choice as "
        'published, or bins as multiway tests. "auto" is "joint", or "points" with ``variant="as-published"``.',
    )
    prune: bool = flag(True, "Error-based pruning on released counts, which costs nothing.")
    confidence: float = number(
        CONFIDENCE, low=1e-6, high=0.5, help="C4.5's certainty factor: a smaller one prunes more."
    )
    min_samples_leaf: int = whole(
        0,
        low=0,
        high=2**40,
        help="C4.5's least size of a leaf: a node of fewer than twice as many released records is not split.",
    )
    size_share: float = number(
        0.25,
        low=0,
        high=1,
        help="What the noisy size of a node may cost, as a share of the cost of a choice (1 as published).",
    )
    max_bins: int = shared.max_bins(20)

    def multiway(self, schema: Schema) -> tuple[int, int] | None:
        return (1, self.max_depth) if self.numeric == "bins" else super().multiway(schema)

    def grow(
        self, data: PrivateDataset, epsilon: Fraction, random: np.random.Generator, progress: Progress | None = None
    ) -> Tree:
        schema, score, selection = data.schema, parse_score(self.criterion, self.max_records), self.selection()
        numeric = self.numeric if self.numeric != "auto" else "points" if self.as_published else "joint"
        tests = self.tests
        if numeric == "bins":
            tests = "multiway"
        elif self.as_published and tests == "binary":
            tests = "mixed"
        # Permute-and-flip has no prior: with it every test weighs the same.
        weighted = numeric == "joint" and self.mechanism == "exponential"
        candidates = Candidates.of(schema, tests, "attributes" if weighted else "tests")
        depth = min(self.max_depth, candidates.most_tests_on_a_path(schema))
        chooser: Chooser = JointChoice(score, selection)
        choice_weight = 1
        if numeric == "points":
            chooser = PointsFirst(score, selection)
            choice_weight += len(candidates.point_attributes)
        size_weight = Fraction(1) if self.as_published else Fraction(str(self.size_share))
        growth = Growth(
            plan=Plan.shares(epsilon, depth, node=size_weight, choice=choice_weight, schedule=self.schedule),
            candidates=candidates,
            chooser=chooser,
            stop=TooNoisy(2 * self.min_samples_leaf),
        )
        grown = grow(data.level(), growth, progress)
        return prune_c45(grown.tree, grown.sizes, self.confidence) if self.prune else grown.tree
