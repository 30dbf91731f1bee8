"""The queries that a policy may make on a level: all that choosers and the grower see of the records."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Protocol

import numpy as np
import numpy.typing as npt

from privet.privacy.mechanisms import Selection
from privet.privacy.scores import Score
from privet.schema import Schema
from privet.structure.splits import Test, Tests

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Index = npt.NDArray[np.intp]

NO_TEST = -1
"""A choice of no test: the cell stays a leaf. A private level never answers that."""


class Questions(Protocol):
    """Disjoint cells of records, and the queries they answer; :class:`privet.privacy.level.Level` is one.

    ``cells`` are the indices of the queried cells, all by default. ``epsilon`` is the cost for each of them, in what
    the account of the records counts in.
    """

    @property
    def schema(self) -> Schema: ...

    @property
    def size(self) -> int:
        """The number of cells."""

    def count_all(self, epsilon: Fraction | None, cells: Index | None = None, what: str = ...) -> Ints:
        """(cell,) numbers of records."""

    def class_counts_all(self, epsilon: Fraction | None, cells: Index | None = None, what: str = ...) -> Ints:
        """(cell, class) numbers of records."""

    def attribute_counts_all(
        self, epsilon: Fraction | None, asked: Bools, cells: Index | None = None, *, by_class: bool = True
    ) -> Ints:
        """(cell, bin, class) numbers of records, or (cell, bin); 0 in bins of attributes that are not ``asked``."""

    def choose_all(
        self,
        tests: Tests,
        score: Score,
        epsilon: Fraction | None,
        cells: Index | None = None,
        *,
        selection: Selection = ...,
        allowed: Bools | None = None,
        log_prior: npt.NDArray[np.float64] | None = None,
        what: str = ...,
    ) -> Index:
        """(cell,) the index of a good test among the ``allowed``, or ``NO_TEST``."""

    def noise_scale(self, amount: Fraction) -> float:
        """The scale of the noise of a count that costs this much."""

    def will_choose(self) -> None:
        """Announce that tests will be chosen here, so that one pass over the records can serve the whole level."""

    def split(self, tests: Sequence[Test | None]) -> Questions:
        """The children of the cells that have a test, in order; the others are left out."""
