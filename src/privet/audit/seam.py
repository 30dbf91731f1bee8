"""The auditor's seam: replace OpenDP by another noise source for one block of code.

Only the calls into OpenDP are replaced, after scales and weights are computed. So a script sees what the real sampler
would have seen. Such a source voids every certificate that it touches.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import numpy.typing as npt

from privet.privacy.noise import Law, NoiseSource, _source

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@contextmanager
def use_noise(source: NoiseSource) -> Iterator[NoiseSource]:
    """Draw from ``source`` instead of OpenDP inside the block (this thread and context only)."""
    token = _source.set(source)
    try:
        yield source
    finally:
        _source.reset(token)


class ScriptedNoise(ABC):
    """A noise source that answers every call by ``answer``, which subclasses define."""

    caveat = "outcomes were scripted (epsilon = infinity)"
    in_tree = False
    """Whether the answer is for a node of a tree that is drawn as a whole."""

    @abstractmethod
    def answer(self, kind: str, values: Floats | Ints, scale: float) -> tuple[int, ...]:
        """The released integers of a vector of counts, the index of a choice, or a side (of ``scale``) per coin."""

    def laplace(self, values: Ints, scale: float) -> Ints:
        drawn = self.answer("laplace", values.ravel().astype(np.int64), scale)
        return np.array(drawn, dtype=np.int64).reshape(values.shape)

    def gaussian(self, values: Ints, scale: float) -> Ints:
        drawn = self.answer("gaussian", values.ravel().astype(np.int64), scale)
        return np.array(drawn, dtype=np.int64).reshape(values.shape)

    def covering(self, values: Ints, scale: float) -> Ints:
        drawn = self.answer("covering", values.ravel().astype(np.int64), scale)
        return np.array(drawn, dtype=np.int64).reshape(values.shape)

    def hidden(self, law: Law, size: int, scale: float) -> Ints:
        return np.array(self.answer("hidden", np.zeros(size, dtype=np.int64), scale), dtype=np.int64)

    def exponential(self, scores: Floats, scale: float) -> int:
        return self.answer("exponential", scores.copy(), scale)[0]

    def branching(self, weights: Floats) -> int:
        self.in_tree = True
        try:
            return self.exponential(weights, 1.0)
        finally:
            self.in_tree = False

    def permute_and_flip(self, scores: Floats, scale: float) -> int:
        return self.answer("permute-and-flip", scores.copy(), scale)[0]

    def coins(self, sides: int, size: int) -> Ints:
        return np.array(self.answer("coins", np.zeros(size, dtype=np.int64), float(sides)), dtype=np.int64)
