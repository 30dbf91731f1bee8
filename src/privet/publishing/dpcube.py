"""A synthetic table from noisy counts of a grid and of a partition fitted to them (DPCube; Xiao, Xiong & Yuan 2010).

A public grid divides the records into cells, and half of the budget buys the class counts of every cell. Similar cells
are merged into boxes, top down as in a kd-tree; this reads the noisy counts only and so is free. The other half buys
the class counts of the boxes, which are few and so less noisy in relation. Both estimates of a box are averaged by
their variance. The right resolution depends on the number of records, which is private: a small part of the budget buys
that number first, unless ``cells`` is given.

Differences from the paper: it cuts a box at the median of the dimension with the largest variance and stops at a
threshold that its user finds. Here every cut is tried, by the distance between the means of its sides, and a box stays
whole once that distance is within the noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from privet.errors import ParameterError
from privet.models.leaf_counts import Floats, tree_of_counts
from privet.models.tree import Tree
from privet.privacy.dataset import PrivateDataset
from privet.progress import Progress
from privet.publishing.grids import Grid
from privet.publishing.release import Publisher
from privet.recipes.parameters import check_number, check_whole, exact_share
from privet.schema import Schema
from privet.structure.routes import Routes
from privet.structure.splits import Test, Threshold

MOST_CELLS = 65_536  # a public cap, as for the leaves of trees
LEAST_BOUGHT, MOST_BOUGHT = 16, 16_384  # bounds on a grid whose size is bought
COUNTING = Fraction(1, 50)  # the share of the budget for the number of records
PER_CELL = 4  # the mean number of records of a cell, in units of its noise scale


@dataclass(frozen=True)
class DPCube(Publisher):
    """A grid of at most ``cells`` over the named attributes (all if none are named).

    Without ``cells`` a fiftieth of the budget buys the number of records, from which the resolution follows.
    """

    name: ClassVar[str] = "dpcube"

    cells: int | None = None
    attributes: tuple[str, ...] | None = None
    first: float = 0.5
    max_bins: int = 32

    def __post_init__(self) -> None:
        if self.cells is not None:
            check_whole(self.cells, "cells", 1, MOST_CELLS)
        check_whole(self.max_bins, "max_bins", 2, 65_000)
        check_number(self.first, "first", 0.01, 0.99)
        if self.attributes is not None:
            if isinstance(self.attributes, str):
                raise ParameterError(parameter="attributes", problem="must be a list of names")
            if not self.attributes or len(set(self.attributes)) < len(self.attributes):
                raise ParameterError(parameter="attributes", problem="must name at least one attribute, and none twice")
            object.__setattr__(self, "attributes", tuple(self.attributes))

    def prepare(self, schema: Schema) -> Schema:
        return schema.with_bins(self.max_bins)

    def grow(self, data: PrivateDataset, epsilon: Fraction, progress: Progress | None = None) -> Tree:
        schema = data.schema
        names = schema.names if self.attributes is None else self.attributes
        dimensions = [schema.index(name) for name in names]
        rest = epsilon if self.cells is not None else epsilon * (1 - COUNTING)
        first = rest * exact_share(self.first)
        second = rest - first
        cells = self.cells
        if cells is None:
            bought = data.noisy_count(epsilon - rest) * first / (PER_CELL * data.ledger.steps)
            cells = min(max(int(bought), LEAST_BOUGHT), MOST_BOUGHT)
        grid = Grid.of(schema, dimensions, cells)
        fine = data.level().descend(grid.routes()).class_counts_all(first, what="grid counts")
        if progress is not None:
            progress(1, 2)
        noise = [2 * float(data.ledger.steps / share) ** 2 for share in (first, second)]
        tests, sums, sizes = partition(grid, grid.arrange(fine.astype(np.float64)), noise[0])
        routes = Routes.in_level_order(schema, tests)
        coarse = data.level().descend(routes).class_counts_all(second, what="partition counts")
        if progress is not None:
            progress(2, 2)
        weight = noise[1] / (noise[1] + sizes * noise[0])[:, None]  # of the first estimate: by the other's variance
        counts = np.full((len(tests), schema.n_classes), np.nan)
        counts[routes.leaves] = weight * sums + (1 - weight) * coarse
        return tree_of_counts(schema, tests, counts)


class _Box(NamedTuple):
    low: tuple[int, ...]
    high: tuple[int, ...]


def partition(grid: Grid, counts: Floats, noise: float) -> tuple[list[Test | None], Floats, npt.NDArray[np.int64]]:
    """The tests of a kd-tree in level order and, for each leaf, the sum and the number of its noisy cells.

    ``counts`` is (segment of the first dimension, of the second, ..., class) and ``noise`` the variance of each.
    """
    tests: list[Test | None] = []
    sums: list[Floats] = []
    sizes: list[int] = []
    level = [_Box((0,) * len(grid.ends), tuple(len(ends) - 1 for ends in grid.ends))]
    while level:
        below: list[_Box] = []
        for box in level:
            inside = counts[tuple(slice(a, b + 1) for a, b in zip(box.low, box.high, strict=True))]
            found = _best_cut(inside, noise)
            if found is None:
                tests.append(None)
                sums.append(inside.sum(axis=tuple(range(inside.ndim - 1))))
                sizes.append(inside[..., 0].size)
                continue
            dimension, place = found
            last = box.low[dimension] + place
            tests.append(Threshold(grid.attributes[dimension], int(grid.ends[dimension][last])))
            below.append(_Box(box.low, _with(box.high, dimension, last)))
            below.append(_Box(_with(box.low, dimension, last + 1), box.high))
        level = below
    return tests, np.array(sums), np.array(sizes, dtype=np.int64)


def _best_cut(cells: Floats, noise: float) -> tuple[int, int] | None:
    """(dimension, last segment of the left side) of the best cut, or None if noise alone could explain it."""
    classes, dimensions = cells.shape[-1], cells.ndim - 1
    tried = sum(length - 1 for length in cells.shape[:-1])
    if tried == 0:
        return None
    best, at, total = 0.0, (0, 0), float(cells[..., 0].size)
    for dimension in range(dimensions):
        length = cells.shape[dimension]
        if length == 1:
            continue
        slabs = cells.sum(axis=tuple(d for d in range(dimensions) if d != dimension))
        left = slabs.cumsum(axis=0)[:-1]
        size = total / length * np.arange(1, length)[:, None]
        apart = left / size - (slabs.sum(axis=0) - left) / (total - size)
        gain = (size * (total - size) / total * apart**2).sum(axis=1)
        if gain.max() > best:
            best, at = float(gain.max()), (dimension, int(gain.argmax()))
    # A bound that the largest of so many chi-squared variables of noise exceeds once in ten times.
    logs = np.log(10 * tried)
    return at if best > noise * (classes + 2 * np.sqrt(classes * logs) + 2 * logs) else None


def _with(values: Sequence[int], place: int, value: int) -> tuple[int, ...]:
    return (*values[:place], value, *values[place + 1 :])
