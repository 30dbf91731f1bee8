"""Top-down generalisation with private counts (DiffGen; Mohammed, Chen, Fung & Yu 2011; Fletcher 2017, 3.4).

All records start as one group with full ranges. A group is specialised by cutting the range of one attribute in two, at
the next cut of a public hierarchy; the exponential mechanism chooses the attribute. Half of the budget pays for the
choices, the other half for the class counts of the final groups.

Differences from the paper: it cuts one range in the whole table at a time; here every group chooses for itself, level
by level. Groups are disjoint, so a level costs one choice however many groups there are. Numbers are halved at public
points, where the paper buys a point for each. Scores are one-sided, so a choice is twice as sharp. The default score is
Gini's, since the paper's Max gives no credit to a cut that leaves both sides with the same majority.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar

from privet.growing.greedy.choosing import JointChoice
from privet.growing.greedy.grower import Growth, Plan, grow
from privet.models.tree import Tree
from privet.privacy.dataset import PrivateDataset
from privet.privacy.scores import MAX_RECORDS, parse_score
from privet.progress import Progress
from privet.publishing.hierarchies import Hierarchies, Specialisations, Taxonomy
from privet.publishing.release import Publisher
from privet.recipes.parameters import check_number, check_whole, exact_share
from privet.schema import Schema


@dataclass(frozen=True)
class DiffGen(Publisher):
    """Groups of generalised records. ``taxonomies`` are public, by attribute name; see :class:`Hierarchies`."""

    name: ClassVar[str] = "diffgen"

    max_depth: int = 8
    criterion: str = "gini"
    max_records: int | None = None
    choosing: float = 0.5
    max_bins: int = 32
    taxonomies: Mapping[str, Taxonomy] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        check_whole(self.max_depth, "max_depth", 0, 16)
        check_whole(self.max_bins, "max_bins", 2, 65_000)
        if self.max_records is not None:
            check_whole(self.max_records, "max_records", 1, MAX_RECORDS)
        check_number(self.choosing, "choosing", 0.01, 0.99)
        parse_score(self.criterion, self.max_records)

    def prepare(self, schema: Schema) -> Schema:
        return schema.with_bins(self.max_bins)

    def grow(self, data: PrivateDataset, epsilon: Fraction, progress: Progress | None = None) -> Tree:
        schema = data.schema
        candidates = Specialisations.of_hierarchies(Hierarchies(schema, self.taxonomies))
        depth = min(self.max_depth, sum(arity - 1 for arity in schema.arities))
        choosing = exact_share(self.choosing)
        # In units of the leaf's charge: all choices of a path together get their share.
        each = choosing / (1 - choosing) / depth if depth else Fraction(0)
        growth = Growth(
            plan=Plan.shares(epsilon, depth, node=0, choice=each, leaf=1),
            candidates=candidates,
            chooser=JointChoice(parse_score(self.criterion, self.max_records)),
        )
        return grow(data.level(), growth, progress).tree
