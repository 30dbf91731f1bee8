"""Random trees that cut at medians of public records, so that their leaves hold about equally many."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from privet.growing.greedy.candidates import Domains
from privet.schema import Schema
from privet.structure.routes import Routes
from privet.structure.splits import Kind, Test, Tests

Index = npt.NDArray[np.intp]


@dataclass(frozen=True)
class MedianTrees:
    """A random attribute per node; a number is cut at the median of the public records in the node, a category has a
    child per value. A node with fewer than ``least`` public records is a leaf. No private record is read.
    """

    depth: int
    least: int = 2
    max_leaves: int = 1024

    def draw(self, schema: Schema, features: npt.NDArray[np.integer], random: np.random.Generator) -> Routes:
        """One tree; ``features`` are the codes (attributes, records) of the public records."""
        tests, candidates = list[Test | None](), Tests.mixed(schema)
        domains, members, leaves = Domains.whole(schema), [np.arange(features.shape[1])], 1
        for depth in range(self.depth + 1):
            level, below = list[Test | None](), list[Index]()
            for row, mine in zip(domains.allowed(candidates), members, strict=True):
                test = None
                if depth < self.depth and len(mine) >= self.least and row.any():
                    test = _median_test(candidates, row, features[:, mine], random)
                    if leaves + test.arity(schema) - 1 > self.max_leaves:
                        test = None
                level.append(test)
                if test is not None:
                    leaves += test.arity(schema) - 1
                    side = test.branch(features[test.attribute, mine])
                    below += [mine[side == child] for child in range(test.arity(schema))]
            tests += level
            if not below:
                break
            domains, members = domains.split(level), below
        return Routes.in_level_order(schema, tests)


def _median_test(
    candidates: Tests, allowed: npt.NDArray[np.bool_], codes: npt.NDArray[np.integer], random: np.random.Generator
) -> Test:
    attribute = int(random.choice(np.unique(candidates.attribute[allowed])))
    mine = np.flatnonzero(allowed & (candidates.attribute == attribute))
    if candidates.kind[mine[0]] != Kind.THRESHOLD:
        return candidates[int(mine[0])]
    below = np.searchsorted(np.sort(codes[attribute]), candidates.cut[mine], side="right")
    return candidates[int(mine[np.abs(2 * below - codes.shape[1]).argmin()])]
