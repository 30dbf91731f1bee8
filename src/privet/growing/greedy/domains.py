"""What a path leaves open: the bins that an attribute can still have in each cell. This is public."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from privet.schema import Schema
from privet.structure.open_tests import open_tests
from privet.structure.splits import Test, Tests

Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Domains:
    """``possible[cell, bin]``: whether the tests on the way to the cell leave that bin of an attribute open.

    Candidates need nothing else. A numeric domain that the path has narrowed, a category that was split off and an
    attribute that a multiway test has used up all look the same here.
    """

    schema: Schema
    possible: Bools

    @classmethod
    def whole(cls, schema: Schema, cells: int = 1) -> Domains:
        return cls(schema, np.ones((cells, schema.total_bins), dtype=bool))

    def split(self, tests: Sequence[Test | None]) -> Domains:
        """The domains of the children, in the order of ``Level.split``."""
        rows = []
        for row, test in zip(self.possible, tests, strict=True):
            if test is None:
                continue
            bins = self.bins(test.attribute)
            branch = np.asarray(test.branch(np.arange(bins.stop - bins.start)))
            for child in range(test.arity(self.schema)):
                narrowed = row.copy()
                narrowed[bins] &= branch == child
                rows.append(narrowed)
        return Domains(self.schema, np.array(rows, dtype=bool).reshape(-1, self.schema.total_bins))

    def allowed(self, tests: Tests) -> Bools:
        """(cell, test): whether every child of the test is possible in the cell."""
        return open_tests(self.schema, self.possible, tests)

    def bins(self, attribute: int) -> slice:
        return slice(int(self.schema.offsets[attribute]), int(self.schema.offsets[attribute + 1]))
