"""A public grid over the codes of some attributes, each cut into segments along its hierarchy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
import numpy.typing as npt

from privet.errors import ParameterError
from privet.publishing.hierarchies import Hierarchies
from privet.schema import Schema
from privet.structure.routes import Routes
from privet.structure.splits import Test, Threshold

Index = npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Grid:
    """``ends[d]`` are the last codes of the segments of attribute ``attributes[d]``, ascending."""

    schema: Schema
    attributes: tuple[int, ...]
    ends: tuple[Index, ...]

    @classmethod
    def of(cls, schema: Schema, attributes: Sequence[int], most: int) -> Grid:
        """The finest grid of at most ``most`` cells: attributes are halved in turn as long as possible.

        >>> from privet.datasets.clinic import clinic
        >>> schema, _ = clinic(10)
        >>> [ends.tolist() for ends in Grid.of(schema, range(4), 20).ends]
        [[1, 2], [1, 2], [6, 13], [0, 1]]
        """
        if len(set(attributes)) < len(attributes) or not len(attributes):
            raise ParameterError(parameter="attributes", problem="must name at least one attribute, and none twice")
        hierarchies = Hierarchies(schema)
        ends = [[schema.arities[a] - 1] for a in attributes]
        grew = True
        while grew:
            grew = False
            for d, a in enumerate(attributes):
                finer = _halved(hierarchies, a, ends[d])
                size = prod(len(mine) for mine in ends) // len(ends[d]) * len(finer)
                if len(finer) > len(ends[d]) and size <= most:
                    ends[d], grew = finer, True
        return cls(schema, tuple(attributes), tuple(np.array(mine, dtype=np.intp) for mine in ends))

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(len(ends) for ends in self.ends)

    def routes(self) -> Routes:
        """The grid as a tree: one attribute after another, each halved down to its segments."""
        return Routes.in_level_order(self.schema, self._tests()[0])

    def arrange(self, counts: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """(leaf, class) counts as (segment, segment, ..., class)."""
        places = self._tests()[1]
        arranged = np.zeros((*self.shape, counts.shape[-1]))
        arranged[tuple(np.array(places).T)] = counts
        return arranged

    def _tests(self) -> tuple[list[Test | None], list[tuple[int, ...]]]:
        """The tests in level order, and the segments of every leaf."""
        tests: list[Test | None] = []
        leaves: list[tuple[int, ...]] = []
        level = [tuple((0, size - 1) for size in self.shape)]
        while level:
            below = []
            for box in level:
                d = next((d for d, (low, high) in enumerate(box) if low < high), None)
                if d is None:
                    tests.append(None)
                    leaves.append(tuple(low for low, _ in box))
                    continue
                low, high = box[d]
                middle = (low + high) // 2
                tests.append(Threshold(self.attributes[d], int(self.ends[d][middle])))
                below += [(*box[:d], part, *box[d + 1 :]) for part in ((low, middle), (middle + 1, high))]
            level = below
        return tests, leaves


def _halved(hierarchies: Hierarchies, attribute: int, ends: list[int]) -> list[int]:
    starts = [0, *(end + 1 for end in ends[:-1])]
    cuts = [hierarchies.cut(attribute, low, high) for low, high in zip(starts, ends, strict=True)]
    return sorted({*ends, *(cut for cut in cuts if cut is not None)})
