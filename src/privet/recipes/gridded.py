"""Recipes that cut numbers into bins: at bought positions, or evenly between the declared bounds."""

from __future__ import annotations

from fractions import Fraction
from typing import Literal

import numpy as np

from privet.growing.cutting.cuts import worth_finding
from privet.growing.prelude import Prelude
from privet.growing.whole.depth_rules import bins_worth
from privet.models.released import Released
from privet.privacy.dataset import PrivateDataset
from privet.progress import Progress
from privet.recipes.parameters import exact_share
from privet.recipes.recipe import Recipe
from privet.schema import Schema

PART = Fraction(1, 2)  # of what cuts cost the exact tree: these learners lose more by a smaller epsilon
LEVELS = 3  # of multiway tests, at most, below which leaves should be worth it: deeper trees end early in noise
Grid = Literal["bought", "even"]


class Gridded(Recipe):
    """Numbers without declared thresholds are cut into ``max_bins``. A recipe declares both fields itself.

    With ``grid="bought"`` a small share of epsilon, by a public rule on a noisy number of records, finds where they
    lie, as for the exact tree: see ``growing/cutting/cuts.py``. Published forms keep their own cuts.
    """

    grid: Grid
    max_bins: int

    def prepare(self, schema: Schema) -> Schema:
        return schema.with_bins(self.max_bins)

    def recuts(self, schema: Schema) -> bool:
        return self.variant == "sound" and self.grid == "bought" and bool(worth_finding(schema, self.max_bins))

    def survey(self, prelude: Prelude) -> tuple[Recipe, Prelude]:
        data = prelude.data
        if not (self.recuts(data.schema) and data.can_be_recut):
            return self, prelude
        counted = self.count(prelude).note_records()
        bins = self._bins_worth(counted.strength, data.schema, data.ledger.currency.power)
        return self, counted.cut(worth_finding(data.schema, self.max_bins), bins - 1, data.schema, PART)

    def count(self, prelude: Prelude) -> Prelude:
        """Add the number of records to the prelude."""
        return prelude.count()

    def multiway(self, schema: Schema) -> tuple[int, int] | None:
        """If every bin of a number is a child: how many trees share the records, or epsilon, and their levels."""
        return None

    def _bins_worth(self, strength: float, schema: Schema, power: int = 1) -> int:
        """The number of bins for bought cuts: fewer than ``max_bins`` if each is a child.

        ``power`` is that of the currency: by it the strength of a tree falls with their number.
        """
        children = self.multiway(schema)
        if children is None:
            return self.max_bins
        trees, levels = children
        return bins_worth(strength / trees ** (1 / power), schema.n_classes, min(levels, LEVELS), self.max_bins)


class SizedGrid(Gridded):
    """The same for recipes that count the records anyway: the count is bought once."""

    n_public: int | None
    count_share: float

    def count(self, prelude: Prelude) -> Prelude:
        return prelude.count(self.n_public, exact_share(self.count_share))

    def grow(
        self, data: PrivateDataset, epsilon: Fraction, random: np.random.Generator, progress: Progress | None = None
    ) -> Released:
        return self.grow_after(Prelude(data, epsilon), random, progress)
