"""The depth that one draw of a whole tree affords, and the public space it is drawn from."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from privet.errors import ParameterError
from privet.growing.greedy.grower import MAX_LEAVES
from privet.privacy.samplers.tree_space import MAX_ENTRIES, entries, regions, widest_table
from privet.schema import Schema
from privet.structure.splits import Tests

MAX_OPERATIONS = 3 * 10**9  # some two seconds on two cores
REGION_OPERATIONS = 128  # what a region costs beside its leaves; this matters where tests are few
LABEL_OPERATIONS = 3  # what a label of a leaf costs where there are more than two: they have sums of their own
COUNT_OPERATIONS = 24  # what a count costs that a multiway test looks at: an exponential, among others
PASS_OPERATIONS = 10**5  # what a counting pass costs beside its counts
MAX_BYTES = 2**30  # of the tables that a draw holds
COUNT_BYTES = 40  # what a count takes while its weight is worked out
WEIGHT_UNIT = 16  # class weights are whole sixteenths: weighted counts stay small integers


def operations(n_tests: int, n_classes: int, depth: int) -> int:
    """The number of leaf weights that a draw of this depth adds up, from public facts alone."""
    if depth < 1:
        return n_classes
    leaves = n_tests * n_classes * (1 if n_classes == 2 else LABEL_OPERATIONS)
    return math.comb(n_tests, depth - 1) * 2 ** (depth - 1) * (leaves + REGION_OPERATIONS)


def table_bytes(n_tests: int, n_classes: int, depth: int) -> int:
    """The memory of a draw: a weight for every region, and joint counts of sets with two tests less.

    The engine also holds bitsets, or tables of at most half a gigabyte.
    """
    regions = 12 * math.comb(n_tests, max(depth - 1, 0)) * 2 ** max(depth - 1, 0)
    counts = sum(4 * math.comb(n_tests, size) * n_tests**2 * n_classes for size in range(depth - 2))
    return regions + counts


def affordable_depth(n_tests: int, n_classes: int, part: float = 1.0) -> int:
    """The deepest tree that one draw affords, or a draw with a part of its operations.

    >>> [affordable_depth(n_tests, n_classes=2) for n_tests in (208, 168)]
    [3, 4]
    """
    depth = 1
    while (
        depth < n_tests
        and operations(n_tests, n_classes, depth + 1) <= part * MAX_OPERATIONS
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
    """The deepest tree of multiway tests that one draw affords, and that has no more leaves than the cap."""
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
    """The most leaves of a tree with that many tests on a path.

    >>> most_leaves([2, 12, 3, 5], depth=2)
    60
    """
    return math.prod(sorted(arities, reverse=True)[:depth])


def test_prior(
    schema: Schema, tests: Tests, measure: Literal["tests", "attributes"], favours: Mapping[str, float] | None
) -> npt.NDArray[np.float64]:
    """Prior weight of every test: the same for each test or each attribute, times the user's weights (0 forbids)."""
    weights = np.ones(len(tests))
    if measure == "attributes":
        weights /= np.bincount(tests.attribute, minlength=len(schema.attributes))[tests.attribute]
    for name, favour in (favours or {}).items():
        if not (isinstance(favour, int | float) and math.isfinite(favour) and favour >= 0):
            problem = f"of {name!r} must be a number of at least 0, not {favour!r}"
            raise ParameterError(parameter="attribute_prior", problem=problem)
        weights[tests.of_attribute(schema.index(name))] *= favour
    if len(tests) and not weights.any():
        raise ParameterError(parameter="attribute_prior", problem="forbids every attribute", fix="leave at least one")
    return weights
