"""Trees that predict a number: drawn like labelled trees, from what leaf values would cost in each bin of the label.

The label is cut into bins where the labels lie; they are the classes of the draw. A leaf carries one of some values of
a grid, and a record in a leaf costs the squared distance of its bin from that value, cut off at 1. So adding a record
moves the score of every tree by at most 1, and down: the law of ``docs/proofs/whole_tree.md`` with other gains. A share
of epsilon then buys in each leaf the number of records and the sum of what they are away from its value.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from privet.growing.labels import LabelFacts, bin_values, cut_labels
from privet.growing.whole.blocks import Blocks, Levels, draw_blocks
from privet.kinds import ChargeKind
from privet.models.number_tree import NumberTree
from privet.privacy.label_questions import noisy_label_sums
from privet.privacy.level import Level
from privet.privacy.samplers.tree_space import TreeSpace
from privet.progress import Progress
from privet.schema import Schema

Floats = npt.NDArray[np.float64]

BINS = 16  # of the label
VALUES = 17  # that a leaf can carry before its mean is bought
UNIT = 2**7  # steps of a record's loss: neighbouring values differ by one or more
REACH = 0.35  # of the range: a label that far from a leaf's value costs 1, and so does any further one
STEPS = 2**12  # of a residual
COUNT_SHARE = Fraction(1, 4)  # of a leaf's epsilon, for its number of records
OFF = 0.05  # of the range: how far the value with the least loss may be from the mean of skewed labels
LEAST = 200.0  # strength: with less, the mean of all labels is all that can be told
A_LEAF = 120.0  # strength that a leaf needs
DEEP, BLOCK, MOST_BLOCKS = 3, 2, 4  # levels of a single draw, and of each of several: two, in measurements on shapes


def number_labels(schema: Schema) -> int:
    """How many labels a leaf of a drawn tree can carry: the classes, or the values of a grid."""
    return VALUES if schema.predicts_number else schema.n_classes


def cut_for_tree(schema: Schema, facts: LabelFacts) -> Schema:
    """The schema with its label in even bins over the range of most labels."""
    return cut_labels(schema, np.linspace(facts.low, facts.high, BINS + 1)[1:-1])


def grid_of(facts: LabelFacts) -> Floats:
    return np.linspace(facts.low, facts.high, VALUES)


def gains(values: Floats, grid: Floats, reach: float) -> tuple[tuple[int, ...], ...]:
    """What a record of each bin counts in a leaf of each value, in units: all of them at no distance, 0 from reach on.

    >>> gains(np.array([0.0, 0.5, 1.0]), np.array([0.0, 0.5, 1.0]), reach=1.0)
    ((128, 96, 0), (96, 128, 96), (0, 96, 128))
    """
    loss = np.minimum(((values[:, None] - grid) / reach) ** 2, 1.0)
    return tuple(map(tuple, (UNIT - np.rint(UNIT * loss).astype(np.int64)).tolist()))


def for_numbers(space: TreeSpace, schema: Schema, facts: LabelFacts) -> TreeSpace:
    """The space of trees with numbers in their leaves."""
    values = bin_values(schema.number, facts.low, facts.high)
    return replace(space, gains=gains(values, grid_of(facts), REACH * facts.width), weight_unit=UNIT)


class NumberLevels(Levels):
    """A tree of numbers under construction; a leaf costs ``epsilon`` for its count and its sum."""

    def __init__(self, level: Level, epsilon: Fraction, steps: int, drawn_with: Fraction, facts: LabelFacts) -> None:
        super().__init__(level, epsilon)
        self._facts, self._drawn_with, self._steps = facts, drawn_with, steps
        self._values = bin_values(level.schema.number, facts.low, facts.high)
        self._sums: list[Floats] = []

    def _buy(self, leaves: npt.NDArray[np.intp], labels: Sequence[int]) -> None:
        counts, sums = np.full((len(labels), 1), np.nan), np.zeros(len(labels))
        if leaves.size and self._epsilon:
            for_count = self._epsilon * COUNT_SHARE
            what, kind = "leaf counts", ChargeKind.CLASS_COUNTS
            counts[leaves, 0] = self.level.count_all(for_count, leaves, what=what, kind=kind)
            away = (self._values - grid_of(self._facts)[np.array(labels)[leaves], None]) / self._away
            steps = np.rint(STEPS * np.clip(away, -1, 1)).astype(np.int64)
            what = "leaf sums of label distances"
            bought = noisy_label_sums(self.level, self._epsilon - for_count, steps, leaves, what)
            sums[leaves] = bought * (self._away / STEPS)
        self._counts.append(counts)
        self._sums.append(sums)

    @property
    def middle(self) -> int:
        """The number of the value in the middle of the range."""
        return VALUES // 2

    @property
    def _away(self) -> float:
        """How far a label counts as away from the value of its leaf, at most."""
        return self._facts.width / 2

    def number_tree(self) -> NumberTree:
        """The drawn values and the bought means, weighted by their precision."""
        counts, sums, facts = np.concatenate(self._counts), np.concatenate(self._sums), self._facts
        drawn = grid_of(facts)[np.array(self._labels)]
        records = np.maximum(np.nan_to_num(counts[:, 0]), 1.0)
        # A value is drawn with weight exp(-epsilon records (distance / reach)^2), that of a normal variable.
        precision = 2 * float(self._drawn_with / self._steps) * records / (REACH * facts.width) ** 2
        noise = 1 / np.maximum(precision, 1 / facts.width**2) + (OFF * facts.width) ** 2
        value = drawn
        if self._epsilon:
            scale = float(self._steps / (self._epsilon * (1 - COUNT_SHARE))) * self._away
            bought = 2 * (scale / records) ** 2
            value = drawn + sums / records * noise / (noise + bought)
            noise = noise * bought / (noise + bought)
        value = np.clip(value, facts.low, facts.high)
        return NumberTree.of(self.level.schema, self._tests, counts, value, np.sqrt(noise))


def grow_numbers(
    level: Level,
    blocks: Blocks,
    epsilon: Fraction,
    facts: LabelFacts,
    progress: Progress | None = None,
    steps: int = 1,
) -> NumberTree:
    """Draw the tests and values of a tree in blocks, and buy the means of its leaves."""
    assert blocks.space is not None
    blocks = replace(blocks, space=for_numbers(blocks.space, level.schema, facts))
    growing = NumberLevels(level, blocks.for_leaves(epsilon), steps, blocks.each(epsilon), facts)
    draw_blocks(growing, blocks, epsilon, progress)
    return growing.number_tree()


def label_share(strength: float) -> Fraction:
    """The share of epsilon for where the labels lie.

    >>> [str(label_share(strength)) for strength in (200, 2_000, 20_000)]
    ['2/5', '2/25', '3/100']
    """
    return Fraction(round(1000 * min(max(160 / max(strength, 1.0), 0.03), 0.4)), 1000)


def value_levels(strength: float, in_one_draw: int) -> tuple[int, ...]:
    """The levels of each draw: one of up to three, or several of two, as leaves of a strength of their own allow.

    >>> [value_levels(strength, 3) for strength in (50, 500, 2_000, 20_000)]
    [(0,), (2,), (2, 2), (2, 2, 2)]
    """
    worth = int(math.log2(max(strength / A_LEAF, 1.0))) if strength >= LEAST else 0
    if worth <= DEEP:
        return (max(min(worth, in_one_draw), min(int(strength >= LEAST), in_one_draw)),)
    return (min(BLOCK, in_one_draw),) * min(worth // BLOCK, MOST_BLOCKS)
