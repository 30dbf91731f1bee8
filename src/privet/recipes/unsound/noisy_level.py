"""A level with a paper's noise and no charges. NOT PRIVATE.

The ledger is marked epsilon = infinity before any count is read. It also shows the cost that the paper claims.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from privet.growing.greedy.questions import Bools, Index, Ints
from privet.privacy.counting import Engine, bin_counts, class_counts, refine
from privet.privacy.mechanisms import Selection
from privet.privacy.scores import Score, score_tests
from privet.recipes.unsound.nonprivate import add_noise, draw_allowed
from privet.schema import Schema
from privet.structure.splits import Test, Tests


class NoisyLevel:
    """The grower's queries, answered with a paper's noise, without charge."""

    def __init__(self, engine: Engine, cells: Any, steps: int) -> None:
        self._engine, self._cells, self._steps = engine, cells, steps
        self.released: Ints | None = None
        """The last class counts that were released."""

    @property
    def schema(self) -> Schema:
        return self._engine.schema

    @property
    def size(self) -> int:
        return int(self._cells.size)

    @property
    def exact(self) -> Ints:
        """(cell, bin, class) exact counts, which no private level shows."""
        return bin_counts(self._engine, self._cells)

    def noise_scale(self, amount: Fraction | None) -> float:
        """The noise scale of a count."""
        assert amount is not None
        return float(self._steps / amount)

    def count_all(self, epsilon: Fraction | None, cells: Index | None = None, what: str = "") -> Ints:
        return add_noise(self._class_counts(cells).sum(axis=1), self.noise_scale(epsilon))

    def class_counts_all(self, epsilon: Fraction | None, cells: Index | None = None, what: str = "") -> Ints:
        self.released = add_noise(self._class_counts(cells), self.noise_scale(epsilon))
        return self.released

    def attribute_counts_all(
        self, epsilon: Fraction | None, asked: Bools, cells: Index | None = None, *, by_class: bool = True
    ) -> Ints:
        counts = self.exact if cells is None else self.exact[cells]
        exact = counts if by_class else counts.sum(axis=2)
        wanted = np.repeat(asked, np.diff(self.schema.offsets), axis=1)
        noisy = np.zeros_like(exact)
        noisy[wanted] = add_noise(exact[wanted], self.noise_scale(epsilon) * int(asked.sum(axis=1).max()))
        return noisy

    def choose_all(
        self,
        tests: Tests,
        score: Score,
        epsilon: Fraction | None,
        cells: Index | None = None,
        *,
        selection: Selection | None = None,
        allowed: Bools | None = None,
        log_prior: npt.NDArray[np.float64] | None = None,
        what: str = "",
    ) -> Index:
        """The textbook's exponential mechanism, exp(eps q / 2S), whatever ``selection`` is."""
        scores, _ = score_tests(self.exact if cells is None else self.exact[cells], tests, score, self.schema)
        exponents = scores / (2 * float(score.sensitivity) * self.noise_scale(epsilon))
        exponents = exponents if log_prior is None else exponents + log_prior
        return draw_allowed(exponents, np.ones_like(exponents, dtype=bool) if allowed is None else allowed)

    def will_choose(self) -> None:
        """Nothing to prepare: exact counts are made on demand."""

    def split(self, tests: Sequence[Test | None]) -> NoisyLevel:
        return NoisyLevel(self._engine, refine(self._cells, self._engine.schema, tests), self._steps)

    def _class_counts(self, cells: Index | None) -> Ints:
        exact = class_counts(self._engine, self._cells)
        return exact if cells is None else exact[cells]
