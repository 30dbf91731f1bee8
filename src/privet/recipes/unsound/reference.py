"""Non-private trees for comparison, through the same grower: ID3 and a learner like C4.5.

NOT DIFFERENTIALLY PRIVATE. They count exactly, see the number of records, stop in pure nodes and spend nothing. Do not
release trees that they grow from records that need protection. They exist to show what privacy costs.

Where they differ from their sources: numbers are cut at the schema's public points, not between the values seen. C4.5
ranks tests by gain ratio; here that is ``criterion="gainratio"``, and by default the Gini index decides, as in the
private recipes, so that a comparison shows only the noise. A leaf without records predicts like its parent.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

import numpy as np

from privet.growing.greedy.candidates import TEST_KINDS, Candidates, TestKind
from privet.growing.greedy.choosing import JointChoice
from privet.growing.greedy.grower import Grown, Growth, Plan, grow
from privet.growing.greedy.stopping import SmallOrPure
from privet.models.leaf_counts import shares
from privet.models.pruning import prune_c45
from privet.models.tree import Tree
from privet.privacy.counting import Engine
from privet.privacy.scores import MAX_RECORDS, Score, parse_score
from privet.progress import Progress
from privet.recipes.parameters import check_choice, check_whole
from privet.recipes.unsound.exact_level import ExactLevel
from privet.recipes.unsound.gain_ratio import GainRatio
from privet.schema import Schema

_DEEPEST = 1000
_MOST_LEAVES = 2**30  # no cap: leaves are never more than records times arity


@dataclass(frozen=True)
class ID3Reference:
    """ID3: information gain, a child for every value, to full depth, unpruned. Not private."""

    name: ClassVar[str] = "id3"
    title: ClassVar[str] = "ID3 (not private)"

    max_depth: int | None = None
    criterion: str = "infogain"
    tests: TestKind = "multiway"
    max_bins: int = 10

    def __post_init__(self) -> None:
        if self.max_depth is not None:
            check_whole(self.max_depth, "max_depth", 0, _DEEPEST)
        check_whole(self.max_bins, "max_bins", 2, 65_000)
        check_choice(self.tests, "tests", tuple(TEST_KINDS))
        self._score()

    def _score(self) -> Score:
        return parse_score(self.criterion, MAX_RECORDS)

    def prepare(self, schema: Schema) -> Schema:
        """The schema it works with, cut as the private recipes cut it."""
        return schema.with_bins(self.max_bins)

    def grow(self, engine: Engine, progress: Progress | None = None) -> Tree:
        """Grow the exact tree of the engine's records."""
        return self._grow(engine, 1, progress).tree

    def _grow(self, engine: Engine, min_branch: int, progress: Progress | None) -> Grown:
        candidates = Candidates.of(engine.schema, self.tests)
        depth = candidates.most_tests_on_a_path(engine.schema)
        growth = Growth(
            # The shares mean nothing here, since nothing is charged.
            plan=Plan.shares(Fraction(1), depth if self.max_depth is None else min(self.max_depth, depth), node=1),
            candidates=candidates,
            chooser=JointChoice(self._score()),
            stop=SmallOrPure(),
            node_question="classes",
            max_leaves=_MOST_LEAVES,
        )
        level = ExactLevel(engine, min_branch=min_branch)
        grown = grow(level, growth, progress)
        tree = grown.tree
        # Ties go to the first class, as in the papers' own learners. Private trees break them differently.
        plain = replace(tree, label=tree.counts.argmax(axis=1), proba=shares(tree.counts))
        return replace(grown, tree=fill_empty(plain))


@dataclass(frozen=True)
class C45Reference(ID3Reference):
    """A learner like C4.5: thresholds for numbers, at least ``min_branch`` records in two branches, pruned."""

    name: ClassVar[str] = "c45"
    title: ClassVar[str] = "C4.5-like (not private)"

    criterion: str = "gini"
    tests: TestKind = "binary"
    max_bins: int = 20
    min_branch: int = 2
    prune: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        check_whole(self.min_branch, "min_branch", 1, MAX_RECORDS)

    def _score(self) -> Score:
        return GainRatio() if self.criterion == "gainratio" else super()._score()

    def grow(self, engine: Engine, progress: Progress | None = None) -> Tree:
        grown = self._grow(engine, self.min_branch, progress)
        return prune_c45(grown.tree, grown.sizes) if self.prune else grown.tree


def fill_empty(tree: Tree) -> Tree:
    """The tree in which every node without records predicts like its parent."""
    label, proba = tree.label.copy(), tree.proba.copy()
    empty = np.asarray((tree.counts <= 0).all(axis=1))
    # Parents come before their children, so one pass from the root reaches all.
    for node in np.flatnonzero(~tree.is_leaf).tolist():
        for child in tree.children(node):
            if empty[child]:
                label[child], proba[child] = label[node], proba[node]
    return replace(tree, label=label, proba=proba)
