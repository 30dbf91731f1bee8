"""A large greedy forest under a weaker promise (Rana, Gupta & Venkatesh 2016). NEVER DIFFERENTIALLY PRIVATE.

Friedman & Schuster's trees on bootstrap samples, for two classes, every tree with the *whole* epsilon. A number is cut
half-way between the means of the classes, with noise of three standard deviations over the smaller class, as if it were
normal. Their definition asks that estimates of a value keep some variance, and so allows tau <= (n'(n' + 1) + 1/eps^2)
/ (p (1 - p)) trees (TH eq. 3.18). Here n' is the least support of a leaf and p the share of the rarer class. It hides a
value, not whether a person is in the table, and it does not compose.

There is no sound form of it here: ``patil-singh2014`` has FS's trees with a share of the budget each. So users must ask
for ``variant="as-published"`` explicitly. What the paper leaves open: no depth is given (5 levels here). The formula
asks for 500 trees and more, which takes long, so ``max_trees`` bounds them. Numbers are cut on the schema's grid.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal

import numpy as np

from privet.errors import ParameterError
from privet.growing.greedy.candidates import Candidates
from privet.growing.greedy.grower import Growth, Plan, grow
from privet.growing.schedules import LevelSchedule
from privet.models.forest import Forest
from privet.models.tree import Tree
from privet.privacy.counting import ROOT, class_counts
from privet.privacy.dataset import PrivateDataset
from privet.progress import Progress
from privet.recipes import shared
from privet.recipes.parameters import whole
from privet.recipes.recipe import Info, Recipe
from privet.recipes.unsound.choices import ClassMidpoints, EveryClass
from privet.recipes.unsound.noisy_level import NoisyLevel
from privet.recipes.unsound.nonprivate import bootstrap, open_engine
from privet.schema import Schema

WHY = "every tree spends the whole epsilon, on bootstrap samples, under a weaker definition that assumes normality"


def number_of_trees(min_support: int, rarer: float, epsilon: float) -> int:
    """TH eq. 3.18.

    >>> number_of_trees(min_support=10, rarer=0.5, epsilon=1)
    444
    """
    spread = max(rarer * (1 - rarer), 1e-9)
    return max(1, math.floor((min_support * (min_support + 1) + 1 / epsilon**2) / spread))


@dataclass(frozen=True)
class Rana2016(Recipe):
    """Rana et al.'s forest: every tree spends all of epsilon. NEVER DIFFERENTIALLY PRIVATE.

    For comparisons on data that need no protection, with two classes. There is no sound form of it, so the default
    ``variant="sound"`` refuses to fit: no one gets such a model by accident. A shared ledger refuses it too.

    Examples
    --------
    >>> from privet.papers import Rana2016Classifier
    >>> from privet.datasets.clinic import clinic
    >>> schema, table = clinic(5000)
    >>> forest = Rana2016Classifier(schema=schema, n_estimators=3, variant="as-published").fit(table, table["class"])
    >>> forest.certificate_.private
    False
    """

    info: ClassVar[Info] = Info(
        name="rana2016",
        title="Greedy forest under a weaker definition",
        citation="Rana, Gupta & Venkatesh, ICDM 2015 (in print 2016)",
        budget="B per tree, B / (3 levels) per question",
        guarantee={"as-published": "none: its own definition is weaker, and every tree spends B"},
        chooses="greedily",
        trees="by TH eq. 3.18, at most 100",
        depth="4 tests (5 levels)",
        numeric="midpoints of class means",
        errata="its definition hides values, not presence; its noise assumes normality",
    )
    unsound: ClassVar[dict[str, str]] = {"as-published": WHY}
    two_classes_only: ClassVar[bool] = True

    n_estimators: int | Literal["auto"] = shared.n_estimators(
        "auto",
        'How many trees, each of which spends all of epsilon; "auto" is the paper\'s formula, which reads the share of '
        "the rarer class off the records.",
    )
    max_trees: int = whole(
        100, low=1, high=shared.MOST_ESTIMATORS, help='The most trees that "auto" grows; the formula gives hundreds.'
    )
    max_depth: int = shared.max_depth(4, "The number of tests on a path. The paper gives none.")
    min_support: int = whole(
        10,
        low=0,
        high=2**30,
        help="A node with fewer released records of a class is a leaf; the formula calls it n'.",
    )
    max_bins: int = shared.max_bins(
        64, "On a grid of how many bins numbers are cut, half-way between the means of the classes."
    )
    schedule: LevelSchedule = shared.schedule(LevelSchedule)

    def prepare(self, schema: Schema) -> Schema:
        if schema.n_classes != 2:
            raise ParameterError(
                "Only binary classification is supported: rana2016 is for two labels, and "
                f"{schema.label.name!r} has {schema.n_classes} class{'es' if schema.n_classes > 1 else ''}"
            )
        return schema.with_bins(self.max_bins)

    def grow(
        self, data: PrivateDataset, epsilon: Fraction, random: np.random.Generator, progress: Progress | None = None
    ) -> Forest:
        engine, cells = open_engine(data, "rana2016 as published", WHY, whole="a bootstrap sample")
        data.ledger.charge(epsilon, "a greedy forest, as published")
        candidates = Candidates.of(data.schema, "mixed")
        depth = min(self.max_depth, candidates.most_tests_on_a_path(data.schema))
        levels = depth + 1
        growth = Growth(
            # A third of each level's share counts, a third cuts numbers, a third chooses; the last level only counts.
            plan=Plan.shares(
                epsilon * Fraction(3 * levels - 2, 3 * levels), depth, node=1, choice=2, leaf=0, schedule=self.schedule
            ),
            candidates=candidates,
            chooser=ClassMidpoints(),
            stop=EveryClass(self.min_support),
            node_question="classes",
        )
        trees = self._trees(class_counts(engine, cells)[0], float(epsilon))
        grown: list[Tree] = []
        for number in range(trees):
            sample = bootstrap(engine, cells)
            level = NoisyLevel(sample, ROOT, data.ledger.steps)
            grown.append(grow(level, growth).tree)
            if progress is not None:
                progress(number + 1, trees)
        return Forest(data.schema, tuple(grown))

    def _trees(self, classes: np.ndarray, epsilon: float) -> int:
        if self.n_estimators != "auto":
            return int(self.n_estimators)
        rarer = float(classes.min() / max(classes.sum(), 1))
        return min(self.max_trees, number_of_trees(self.min_support, rarer, epsilon))
