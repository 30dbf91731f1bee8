"""Recipes that cut numbers into bins: where the records lie, bought, or evenly between the declared bounds."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import ClassVar, Literal

from privet.growing.cutting.cuts import worth_finding
from privet.growing.forests.leaf_counts import Counted
from privet.growing.whole.depth_rules import COUNT_SHARE, bins_worth
from privet.privacy.dataset import PrivateDataset
from privet.recipes.parameters import exact_share
from privet.recipes.recipe import Recipe, Survey
from privet.recipes.surveying import buy_count, cut_where_records_lie
from privet.schema import Schema

PART = Fraction(1, 2)  # of what cuts cost the exact tree: these learners lose more by a smaller epsilon
LEVELS = 3  # of multiway tests that leaves should be worth it below, at most: deeper trees end early where they drown
Grid = Literal["bought", "even"]


class Gridded(Recipe):
    """Numbers without thresholds of their own are cut into ``max_bins``. A recipe declares both fields itself.

    With ``grid="bought"`` a small share of epsilon, by a public rule on a noisy number of records, finds out where they
    lie, as for the exact tree: see ``growing/cutting/cuts.py``. Only the sound form does.
    Published ones cut as they always did.
    """

    grid: Grid
    max_bins: int

    def prepare(self, schema: Schema) -> Schema:
        return schema.with_bins(self.max_bins)

    def recuts(self, schema: Schema) -> bool:
        return self.variant == "sound" and self.grid == "bought" and bool(worth_finding(schema, self.max_bins))

    def survey(self, data: PrivateDataset, epsilon: Fraction) -> Survey:
        if not (self.recuts(data.schema) and data.can_be_recut):
            return Survey(self, data, epsilon)
        signal, left = buy_count(data, self._declared_size, epsilon, self._count_share)
        numbers = worth_finding(data.schema, self.max_bins)
        count = self._bins_worth(float(signal), data.schema) - 1
        cut, cost, text = cut_where_records_lie(data, signal, numbers, count, data.schema, PART)
        return Survey(self.with_count(signal.records), cut, left - cost, (str(signal), text))

    def multiway(self, schema: Schema) -> tuple[int, int] | None:
        """Where every bin of a number is a child: how many trees share the records, or epsilon, and their levels."""
        return None

    def _bins_worth(self, signal: float, schema: Schema) -> int:
        """Into how many bins numbers are cut where that is bought: fewer than ``max_bins`` where each is a child."""
        children = self.multiway(schema)
        if children is None:
            return self.max_bins
        trees, levels = children
        return bins_worth(signal / trees, schema.n_classes, min(levels, LEVELS), self.max_bins)

    # -- the number of records, which some recipes want for other reasons too --------------------------------------

    _known: ClassVar[Counted | None] = None  # what was bought before, on a copy that is made for one fit

    def knowing(self, records: Counted) -> Recipe:
        text = replace(super().knowing(records))
        object.__setattr__(text, "_known", records)
        return text

    @property
    def _declared_size(self) -> int | None:
        return self._known

    @property
    def _count_share(self) -> Fraction:
        return COUNT_SHARE

    def with_count(self, records: int) -> Recipe:
        """The recipe that knows how many records there are."""
        return self


class SizedGrid(Gridded):
    """The same for recipes that look at the number of records anyway: it is bought once."""

    n_public: int | None
    count_share: float

    @property
    def _declared_size(self) -> int | None:
        return self.n_public

    @property
    def _count_share(self) -> Fraction:
        return exact_share(self.count_share)

    def with_count(self, records: int) -> Recipe:
        return replace(self, n_public=records)  # type: ignore[call-arg]  # it is a field of every such recipe
