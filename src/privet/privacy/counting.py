"""The engine protocol: exact counts, for the kernel's eyes only.

An engine is stateless. It sees a *public* partition of the records into cells and answers with exact numbers, which
only ``frontier.py``, ``dataset.py`` and the two samplers may hold and only to hand them to a mechanism.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from privet.schema import Schema
from privet.structure.routes import Routes
from privet.structure.splits import Test, Tests

Ints = npt.NDArray[np.int64]


class Cells(Protocol):
    """A public partition of (some of) the records, in the engine's own form; opaque to everybody else."""

    @property
    def size(self) -> int:
        """How many cells there are, empty ones included."""


class Engine(Protocol):
    """Where the records live and how they are counted."""

    @property
    def schema(self) -> Schema: ...

    def root(self) -> Any:
        """All records in one cell."""

    def refine(self, cells: Any, tests: Sequence[Test | None]) -> Any:
        """Split each cell by its test; children follow one another in order. A cell without a test is left out."""

    def descend(self, cells: Any, routes: Routes) -> Any:
        """Send each cell down its tree; the leaves of all trees, in order, are the new cells."""

    def shards(self, cells: Any, count: int, coins: Any) -> Any:
        """Split a single cell into ``count`` by asking ``coins(sides, size)`` for a throw per record."""

    def only(self, cells: Any, cell: int) -> Any:
        """One cell of a partition, as a partition of its own."""

    def counts(self, cells: Any) -> Ints:
        """(cell, bin, class) counts; the bins of attribute ``a`` are ``schema.offsets[a]:schema.offsets[a + 1]``."""

    def class_counts(self, cells: Any) -> Ints:
        """(cell, class) counts."""

    def level_sums(self, cells: Any, attribute: int) -> Ints:
        """(cell,) sums of a numeric attribute's quantised values."""

    def joint(self, cells: Any, tests: Tests) -> Any:
        """Joint counts of binary tests in a partition of one cell; see ``tree_sampler.Joint``."""
