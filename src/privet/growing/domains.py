"""What a path leaves open: the bins that an attribute can still have in each cell. This is public."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from privet.schema import Schema
from privet.structure.splits import Kind, Test, Tests

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
        """The domains of the children, in the order of ``Frontier.split``."""
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
        """(cell, test): whether more than one child of the test is possible in the cell."""
        first, last = self.schema.offsets[tests.attribute], self.schema.offsets[tests.attribute + 1]
        # Possible bins before each bin, over all attributes in a row. The difference of two is the number between them.
        before = np.zeros((len(self.possible), self.schema.total_bins + 1), dtype=np.int64)
        np.cumsum(self.possible, axis=1, out=before[:, 1:])
        total = before[:, last] - before[:, first]
        up_to = before[:, first + tests.cut + 1] - before[:, first]
        single = self.possible[:, first + tests.cut]
        return np.where(
            tests.kind == Kind.THRESHOLD,
            (up_to > 0) & (up_to < total),
            (single | (tests.kind == Kind.MULTIWAY)) & (total > 1),
        )

    def bins(self, attribute: int) -> slice:
        return slice(int(self.schema.offsets[attribute]), int(self.schema.offsets[attribute + 1]))
