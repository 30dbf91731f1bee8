"""Trees drawn whole: the public space of the exact mechanism, and blocks of it for deeper trees."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np
import numpy.typing as npt

from privet.errors import ParameterError
from privet.growing.grower import Progress
from privet.growing.leaves import shares
from privet.privacy.frontier import Frontier
from privet.privacy.tree_sampler import Sketch, TreeSpace
from privet.schema import Schema
from privet.splits import Test, Tests
from privet.trees.tree import Tree

MAX_OPERATIONS = 10**9  # some ten seconds on two cores
REGION_OPERATIONS = 64  # what a region costs beside its leaves; it decides where tests are few
MAX_BYTES = 2**30  # of the tables that a draw holds
TIE = 1e-6  # of a leaf's opinion goes to its label, so that it also wins ties
WEIGHT_UNIT = 16  # class weights are whole sixteenths: weighted counts stay small integers


def operations(n_tests: int, n_classes: int, depth: int) -> int:
    """How many leaf weights a draw of this depth adds up. From public facts: never the records, never a clock."""
    if depth < 1:
        return n_classes
    return math.comb(n_tests, depth - 1) * 2 ** (depth - 1) * (n_tests * n_classes + REGION_OPERATIONS)


def table_bytes(n_tests: int, n_classes: int, depth: int) -> int:
    """What a draw holds at a time: a weight for every region, and joint counts two tests shorter."""
    regions = 12 * math.comb(n_tests, max(depth - 1, 0)) * 2 ** max(depth - 1, 0)
    counts = sum(4 * math.comb(n_tests, size) * n_tests**2 * n_classes for size in range(depth - 2))
    return regions + counts


def affordable_depth(n_tests: int, n_classes: int) -> int:
    """The deepest tree that one draw affords.

    >>> affordable_depth(n_tests=208, n_classes=2)
    3
    """
    depth = 1
    while (
        depth < n_tests
        and operations(n_tests, n_classes, depth + 1) <= MAX_OPERATIONS
        and table_bytes(n_tests, n_classes, depth + 1) <= MAX_BYTES
    ):
        depth += 1
    return depth


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
    schema, n_classes = frontier.schema, frontier.schema.n_classes
    for_leaves = epsilon * blocks.leaf_share
    each = (epsilon - for_leaves) / len(blocks.depths)
    nodes = _Nodes(n_classes)
    open_cells, open_nodes = [0], [nodes.add()]
    for number, depth in enumerate(blocks.depths):
        space = blocks.space.of_depth(depth)
        sketches = frontier.sample_trees_all(space, each, np.array(open_cells), progress=progress)
        last_block = number == len(blocks.depths) - 1
        # All sketches of a block go down together, a level at a time, with the cells of their records alongside.
        level = list(zip(open_cells, open_nodes, sketches, [0] * len(sketches), strict=True))
        open_cells, open_nodes = [], []
        while level:
            here: list[Test | None] = [None] * frontier.size
            final: list[tuple[int, int]] = []
            deeper: list[tuple[int, Sketch, int]] = []
            for cell, node, sketch, i in level:
                nodes.label[node] = sketch.label[i]
                if sketch.test[i] >= 0:
                    here[cell] = space.tests[sketch.test[i]]
                    children = nodes.split(node, space.tests[sketch.test[i]])
                    deeper += [(child, sketch, sketch.first_child[i] + k) for k, child in enumerate(children)]
                elif sketch.at_full_depth[i] and not last_block:
                    open_cells.append(cell)
                    open_nodes.append(node)
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
        if not open_cells:
            break
    return nodes.finish(schema)


class _Nodes:
    """The columns of the tree under construction."""

    def __init__(self, n_classes: int) -> None:
        self.tests: list[Test | None] = []
        self.first_child: list[int] = []
        self.label: list[int] = []
        self.counts: list[npt.NDArray[np.float64]] = []
        self._unknown = np.full(n_classes, np.nan)

    def add(self) -> int:
        self.tests.append(None)
        self.first_child.append(-1)
        self.label.append(0)
        self.counts.append(self._unknown)
        return len(self.tests) - 1

    def split(self, node: int, test: Test) -> tuple[int, int]:
        self.tests[node] = test
        self.first_child[node] = len(self.tests)
        return self.add(), self.add()

    def finish(self, schema: Schema) -> Tree:
        counts, labels = np.array(self.counts), np.array(self.label)
        if np.isnan(counts).all():
            return Tree.build(schema, self.tests, self.first_child, labels)
        # The drawn label decides: where noise in the counts disagrees, its share and the largest change places.
        proba = shares(counts)
        rows, largest = np.arange(len(labels)), proba.argmax(axis=1)
        proba[rows, labels], proba[rows, largest] = proba[rows, largest], proba[rows, labels].copy()
        proba *= 1 - TIE
        proba[rows, labels] += TIE
        return Tree.build(schema, self.tests, self.first_child, labels, proba=proba, counts=counts)
