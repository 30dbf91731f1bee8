"""Trees drawn whole: the public space of the exact mechanism, and blocks of it for deeper trees."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

import numpy as np
import numpy.typing as npt

from privet.errors import ParameterError
from privet.growing.grower import MAX_LEAVES, Progress
from privet.privacy.frontier import Frontier
from privet.privacy.samplers.tree_space import (
    MAX_ENTRIES,
    Bools,
    Meter,
    Sketch,
    TreeSpace,
    entries,
    regions,
    widest_table,
)
from privet.schema import Attribute, Numeric, Schema
from privet.structure.splits import Test, Tests
from privet.trees.leaf_counts import shares
from privet.trees.tree import Tree

MAX_OPERATIONS = 3 * 10**9  # some six seconds on two cores
REGION_OPERATIONS = 128  # what a region costs beside its leaves; it decides where tests are few
LABEL_OPERATIONS = 3  # what a label of a leaf costs where there are more than two: they have sums of their own
COUNT_OPERATIONS = 24  # what a count costs that a multiway test looks at: an exponential, among others
PASS_OPERATIONS = 10**5  # what a counting pass costs beside its counts
MAX_BYTES = 2**30  # of the tables that a draw holds
COUNT_BYTES = 40  # what a count takes while its weight is worked out
# How far from zero, in shares of a number's range, cuts are thinned out by two, and by four; just there they are not.
NEAR, FAR = 0.4 + 1e-9, 0.6 + 1e-9
FEW_BINS = 10  # fewer are all kept
PER_BLOCK = 100  # steps of progress
EVERY = 0.2  # seconds between two looks at how far a draw has come
TIE = 1e-6  # of a leaf's opinion goes to its label, so that it also wins ties
WEIGHT_UNIT = 16  # class weights are whole sixteenths: weighted counts stay small integers


def operations(n_tests: int, n_classes: int, depth: int) -> int:
    """How many leaf weights a draw of this depth adds up. From public facts: never the records, never a clock."""
    if depth < 1:
        return n_classes
    leaves = n_tests * n_classes * (1 if n_classes == 2 else LABEL_OPERATIONS)
    return math.comb(n_tests, depth - 1) * 2 ** (depth - 1) * (leaves + REGION_OPERATIONS)


def table_bytes(n_tests: int, n_classes: int, depth: int) -> int:
    """What a draw holds at a time: a weight for every region, and joint counts two tests shorter."""
    regions = 12 * math.comb(n_tests, max(depth - 1, 0)) * 2 ** max(depth - 1, 0)
    counts = sum(4 * math.comb(n_tests, size) * n_tests**2 * n_classes for size in range(depth - 2))
    return regions + counts


def affordable_depth(n_tests: int, n_classes: int) -> int:
    """The deepest tree that one draw affords.

    >>> [affordable_depth(n_tests, n_classes=2) for n_tests in (208, 168)]
    [3, 4]
    """
    depth = 1
    while (
        depth < n_tests
        and operations(n_tests, n_classes, depth + 1) <= MAX_OPERATIONS
        and table_bytes(n_tests, n_classes, depth + 1) <= MAX_BYTES
    ):
        depth += 1
    return depth


def multiway_operations(schema: Schema, tests: Tests, depth: int) -> int:
    """The same for multiway tests: every count below every set of tests, and a pass for each of these sets."""
    leaves = regions(tests.arity.tolist(), depth)[max(depth - 1, 0)] * schema.total_bins * schema.n_classes
    passes = sum(math.comb(len(tests), size) for size in range(depth))
    return COUNT_OPERATIONS * leaves + PASS_OPERATIONS * passes


def affordable_multiway_depth(schema: Schema, tests: Tests) -> int:
    """The deepest tree of multiway tests that one draw affords, and whose leaves can be held."""
    arities, depth = tests.arity.tolist(), 1
    while (
        depth < len(tests)
        and multiway_operations(schema, tests, depth + 1) <= MAX_OPERATIONS
        and entries(tests, depth + 1) <= MAX_ENTRIES
        and COUNT_BYTES * widest_table(tests, schema, depth + 1) <= MAX_BYTES
        and most_leaves(arities, depth + 1) <= MAX_LEAVES
    ):
        depth += 1
    return depth


def most_leaves(arities: Sequence[int], depth: int) -> int:
    """How many leaves a tree of that many tests on a path can have.

    >>> most_leaves([2, 12, 3, 5], depth=2)
    60
    """
    return math.prod(sorted(arities, reverse=True)[:depth])


def near_zero(schema: Schema, bins: int) -> Schema:
    """Numbers cut into ``bins`` of equal width near zero, and into wider ones further away.

    Amounts, durations and deviations crowd near zero, and a declared range leaves room at its far end. Fewer tests
    there mean fewer trees to choose among, so that a draw affords another level.

    >>> from privet import Categorical, Numeric
    >>> schema = near_zero(Schema((Numeric("income", 0, 100),), Categorical("class", ("no", "yes"))), bins=20)
    >>> schema.attributes[0].cuts.tolist()
    [5.0, 10.0, 15.0, 20.0, 25.0, 30.0, 35.0, 40.0, 50.0, 60.0, 80.0]
    """
    return replace(schema, attributes=tuple(_near_zero(a, bins) for a in schema.attributes))


def _near_zero(attribute: Attribute, bins: int) -> Attribute:
    if not isinstance(attribute, Numeric) or attribute.thresholds is not None:
        return attribute
    even = replace(attribute, bins=bins)
    few_numbers = even.integer and math.floor(even.high) - math.ceil(even.low) < bins
    if bins < FEW_BINS or few_numbers or len(even.cuts) < bins - 1:
        return even
    nearest = min(max(even.low, 0.0), even.high)
    away = np.abs(even.cuts - nearest) / (even.high - even.low)
    every = np.where(away <= NEAR, 1, np.where(away <= FAR, 2, 4))
    number = np.arange(1, bins) if nearest < even.high else np.arange(bins - 1, 0, -1)
    kept = even.cuts[(number % every == 0) & (even.cuts > even.low)]
    return replace(even, thresholds=tuple(kept.tolist()))


def test_prior(
    schema: Schema, tests: Tests, measure: Literal["tests", "attributes"], favours: Mapping[str, float] | None
) -> npt.NDArray[np.float64]:
    """Prior weight of every test: uniform, or each attribute the same; times what the user favours or forbids (0)."""
    weights = np.ones(len(tests))
    if measure == "attributes":
        weights /= np.bincount(tests.attribute, minlength=len(schema.attributes))[tests.attribute]
    for name, favour in (favours or {}).items():
        if not (isinstance(favour, int | float) and math.isfinite(favour) and favour >= 0):
            raise ParameterError(f"attribute_prior[{name!r}] must be a number of at least 0, not {favour!r}")
        weights[tests.of_attribute(schema.index(name))] *= favour
    if len(tests) and not weights.any():
        raise ParameterError("attribute_prior forbids every attribute; leave at least one")
    return weights


@dataclass(frozen=True)
class Blocks:
    """A tree of ``depth`` levels drawn in blocks of at most ``block`` levels, each an equal share of epsilon.

    Early leaves are final; leaves at the full depth of a block are drawn again by the next one.
    """

    space: TreeSpace
    depth: int
    leaf_share: Fraction = Fraction(0)

    @property
    def depths(self) -> list[int]:
        """The depth of each block."""
        block = max(self.space.depth, 1)
        return [min(block, self.depth - start) for start in range(0, max(self.depth, 1), block)]


def grow_whole(frontier: Frontier, blocks: Blocks, epsilon: Fraction, progress: Progress | None = None) -> Tree:
    """Draw a tree block by block; with a leaf share, buy class counts in its leaves for graded predictions."""
    for_leaves = epsilon * blocks.leaf_share
    each = (epsilon - for_leaves) / len(blocks.depths)
    nodes = _Nodes(frontier.schema)
    # Where the next block goes on: a cell, its node, and the tests that are not yet on its path.
    open_nodes = [(0, nodes.add(), np.ones(len(blocks.space.tests), dtype=bool))]
    for number, depth in enumerate(blocks.depths):
        space = blocks.space.of_depth(depth)
        spaces = [space.among(left) if number else space for _, _, left in open_nodes]
        open_cells = np.array([cell for cell, *_ in open_nodes])
        with _watched(progress, number, len(blocks.depths)) as meter:
            sketches = frontier.sample_trees_all(spaces, each, open_cells, meter=meter)
        last_block = number == len(blocks.depths) - 1
        # All sketches of a block go down together, a level at a time, with the cells of their records alongside.
        level = [(*place, sketch, 0) for place, sketch in zip(open_nodes, sketches, strict=True)]
        open_nodes = []
        while level:
            here: list[Test | None] = [None] * frontier.size
            final: list[tuple[int, int]] = []
            deeper: list[tuple[int, Bools, Sketch, int]] = []
            for cell, node, left, sketch, i in level:
                nodes.label[node] = sketch.label[i]
                test = sketch.test[i]
                if test >= 0:
                    here[cell] = space.tests[test]
                    below = left & (np.arange(left.size) != test)
                    first = sketch.first_child[i]
                    children = nodes.split(node, space.tests[test])
                    deeper += [(child, below, sketch, first + k) for k, child in enumerate(children)]
                elif sketch.at_full_depth[i] and not last_block:
                    open_nodes.append((cell, node, left))
                else:
                    final.append((cell, node))
            if final and for_leaves:
                cells, leaves = zip(*final, strict=True)
                bought = frontier.class_counts_all(for_leaves, np.array(cells), what="leaf class counts")
                for leaf, row in zip(leaves, bought, strict=True):
                    nodes.counts[leaf] = row.astype(np.float64)
            if deeper:
                frontier = frontier.split(here)
            level = [(cell, *entry) for cell, entry in enumerate(deeper)]
        if progress is not None:
            done = number + 1 if open_nodes else len(blocks.depths)
            progress(PER_BLOCK * done, PER_BLOCK * len(blocks.depths))
        if not open_nodes:
            break
    return nodes.finish()


@contextmanager
def _watched(progress: Progress | None, number: int, blocks: int) -> Iterator[Meter | None]:
    """A meter for the kernel to write to, and somebody who reads it out while the kernel works.

    The kernel takes no callables, so it cannot tell anybody itself.
    """
    if progress is None:
        yield None
        return
    meter, done = Meter(), threading.Event()

    def read_out() -> None:
        while not done.wait(EVERY):
            progress(round(PER_BLOCK * (number + meter.done / meter.total)), PER_BLOCK * blocks)

    reader = threading.Thread(target=read_out, daemon=True)
    reader.start()
    try:
        yield meter
    finally:
        done.set()
        reader.join()


class _Nodes:
    """The columns of the tree under construction."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self.tests: list[Test | None] = []
        self.first_child: list[int] = []
        self.label: list[int] = []
        self.counts: list[npt.NDArray[np.float64]] = []

    def add(self) -> int:
        self.tests.append(None)
        self.first_child.append(-1)
        self.label.append(0)
        self.counts.append(np.full(self._schema.n_classes, np.nan))
        return len(self.tests) - 1

    def split(self, node: int, test: Test) -> list[int]:
        """The children of a node, one after another."""
        self.tests[node] = test
        self.first_child[node] = len(self.tests)
        return [self.add() for _ in range(test.arity(self._schema))]

    def finish(self) -> Tree:
        counts, labels = np.array(self.counts), np.array(self.label)
        if np.isnan(counts).all():
            return Tree.build(self._schema, self.tests, self.first_child, labels)
        # The drawn label decides: where noise in the counts disagrees, its share and the largest change places.
        proba = shares(counts)
        rows, largest = np.arange(len(labels)), proba.argmax(axis=1)
        proba[rows, labels], proba[rows, largest] = proba[rows, largest], proba[rows, labels].copy()
        proba *= 1 - TIE
        proba[rows, labels] += TIE
        return Tree.build(self._schema, self.tests, self.first_child, labels, proba=proba, counts=counts)
