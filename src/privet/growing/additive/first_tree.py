"""The first tree of an additive model, for when noise is too large for curves.

A few leaf values can say more than a dozen noisy curves, above all where attributes interact. Most of the tree's
epsilon draws its tests and labels, and the rest buys class counts in its leaves, as in the exact tree. The log-odds of
a leaf are part of the model, and curves are fitted on top of them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from privet.growing.cutting.points import LADDERS, halved, laddered, near_zero
from privet.growing.prelude import ClassEstimate
from privet.growing.whole.blocks import Blocks, grow_blocks
from privet.growing.whole.depth_rules import MOST_LEVELS
from privet.growing.whole.whole_tree import WEIGHT_UNIT, affordable_depth
from privet.models.additive import Part
from privet.models.grading import beside, grade
from privet.models.leaf_counts import signal_share
from privet.models.link import Link
from privet.privacy.dataset import PrivateDataset
from privet.privacy.samplers.tree_space import TreeSpace
from privet.schema import Attribute, Numeric, Schema
from privet.structure.routes import Routes
from privet.structure.splits import Tests

Floats = npt.NDArray[np.float64]

LEAF_SHARE = Fraction(1, 4)  # of the tree's part, for class counts in its leaves: only these are kept
LEAF_PRIOR = 0.5  # that a node below the root is a leaf
OPERATIONS = 0.5  # of those of an exact tree's draw: curves have no such costs
LEVELS = 3  # that a draw should afford; otherwise tests are thinned out
MOST_ROUNDING = Fraction(1, 100)  # of epsilon
TEST_BINS = 20  # of a number in the tests of a tree
TEST_OCTAVES = (6, 8, 10, 12)  # thresholds at that many halvings of a number's range from zero
LEAST_WEIGHT = 1e-3  # a class without weight stays possible


def draw_first_tree(
    data: PrivateDataset,
    epsilon: Fraction,
    estimate: ClassEstimate,
    class_weights: Floats,
    favours: Mapping[int, float],
    link: Link,
) -> tuple[Routes, Part]:
    """A tree that costs ``epsilon``, and what each of its leaves adds to the score of everyone, before the link."""
    schema = data.schema
    tests = _tests(schema)
    prior = np.array([favours.get(int(a), 1.0) for a in tests.attribute])
    tests, prior = tests.take(np.flatnonzero(prior)), prior[prior > 0]
    depth = min(affordable_depth(len(tests), schema.n_classes, OPERATIONS), MOST_LEVELS, len(tests))
    # In sixteenths, the unit of the draw; no positive weight becomes 0.
    sixteenths = tuple(math.ceil(WEIGHT_UNIT * weight) for weight in class_weights.tolist())
    leaf_prior = (0.0, *(LEAF_PRIOR,) * depth)[:depth]
    space = TreeSpace(tests, schema.n_classes, leaf_prior, prior, sixteenths, weight_unit=WEIGHT_UNIT)
    steps = data.ledger.steps
    drawn_with = epsilon * (1 - LEAF_SHARE) / steps
    while space.depth > 1 and not (data.can_draw(tests, space.depth) and _is_sharp(space, drawn_with)):
        space = space.of_depth(space.depth - 1)
    tree = grow_blocks(data.level(), Blocks(space, space.depth, LEAF_SHARE), epsilon)
    routes, scale = tree.routes, float(steps / (epsilon * LEAF_SHARE))
    weighted = tree.counts * np.maximum(class_weights, LEAST_WEIGHT)
    if schema.n_classes > 2:  # few records of each: what noise explains of the differences between leaves is no signal
        even = weighted.sum(axis=1, keepdims=True) * estimate.shares
        weighted = even + signal_share(routes, tree.counts, scale, estimate.shares) * (weighted - even)
    scores = link.scores(grade(routes, weighted, tree.label, scale)[routes.leaves])
    everyone = link.scores(estimate.shares[None])[0]
    usual, none = (_deviation(estimate, records, scale) for records in (estimate.records / len(routes.leaves), 0.0))
    return routes, Part((), (), scores - everyone, usual, (), none)


def _tests(schema: Schema) -> Tests:
    """Tests of a small tree: fewer per number if all would leave no draw of some levels."""
    candidates = few_tests(schema)
    enough = (tests for tests in candidates if affordable_depth(len(tests), schema.n_classes, OPERATIONS) >= LEVELS)
    return next(enough, candidates[-1])


def few_tests(schema: Schema) -> list[Tests]:
    """Lists of tests for a small tree over finely cut numbers, from most to fewest thresholds per number.

    They are the thresholds next to a coarse grid's, with more near zero.

    >>> from privet.growing.cutting.points import fine_bins
    >>> from privet.schema import Categorical
    >>> schema = fine_bins(Schema((Numeric("age", 0, 100),), Categorical("ill", ("no", "yes"))))
    >>> schema.arities[0], [len(tests) for tests in few_tests(schema)]
    (192, [15, 6, 4])
    """
    bare = replace(schema, attributes=tuple(_bare(attribute) for attribute in schema.attributes))
    near, every = near_zero(bare, TEST_BINS), Tests.binary(schema)
    grids = [(near, TEST_OCTAVES), *((laddered(bare, octaves), ()) for octaves in LADDERS)]
    return [every.take(_next_to(schema, every, *grid)) for grid in grids]


def _bare(attribute: Attribute) -> Attribute:
    return replace(attribute, thresholds=None) if isinstance(attribute, Numeric) else attribute


def _next_to(schema: Schema, tests: Tests, grid: Schema, octaves: Sequence[int]) -> npt.NDArray[np.intp]:
    """The tests of categories and missing values, and the thresholds next to the cuts of a grid."""
    wanted = np.ones(len(tests), dtype=bool)
    for a, (attribute, coarse) in enumerate(zip(schema.attributes, grid.attributes, strict=True)):
        if not isinstance(attribute, Numeric) or not isinstance(coarse, Numeric) or not attribute.cuts.size:
            continue
        points = np.concatenate([coarse.cuts, halved(attribute, octaves)])
        points = points[(points > attribute.low) & (points < attribute.high)]
        nearest = np.abs(attribute.cuts[:, None] - points).argmin(axis=0)
        mine = tests.of_attribute(a)
        # The last test of a number that can be missing tests for missing.
        wanted[mine] = np.isin(tests.cut[mine], nearest) | (tests.cut[mine] >= attribute.cuts.size)
    return np.flatnonzero(wanted)


def _is_sharp(space: TreeSpace, epsilon: Fraction) -> bool:
    """Whether rounding takes little of epsilon: it takes more of a tiny one, and more for deeper trees."""
    return space.rounding(epsilon) <= MOST_ROUNDING * epsilon


def _deviation(estimate: ClassEstimate, records: float, scale: float) -> float:
    """The approximate noise in the log-odds of a leaf with so many records."""
    share = math.sqrt(2) * scale / (records + beside(estimate.counts.size, scale))
    return share * estimate.records / estimate.evidence
