"""The ridge of a fit: it pulls numbers to 0, and neighbours of an ordered term towards each other. All of it is public.

The ridge of a term is lambda theta^T C^-1 theta. C is the correlation that its cells are expected to have: 2**-|a - b|
between cells a and b of its chain, 1 with itself and 0 otherwise. No entry is above 1, so x^T C x <= 1 for the features
of a record, and the smoothness costs nothing (``docs/proofs/perturbed_fit.md``). C^-1 has three numbers in a row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

END, INNER, BESIDE = 4 / 3, 5 / 3, -2 / 3  # C^-1 on a chain: at its ends, between them, and next to the diagonal
STRETCH = 3  # the largest eigenvalue of C, and the largest sum of a row of |C^-1|, are at most this


def mass(size: int, chain: int) -> Fraction:
    """The sum of all entries of C.

    >>> mass(3, 0), mass(3, 2)
    (Fraction(3, 1), Fraction(4, 1))
    """
    return Fraction(size) + sum((chain - apart) * Fraction(2, 2**apart) for apart in range(1, chain))


def stretch(chain: int) -> int:
    """An upper bound of the largest eigenvalue of C."""
    return STRETCH if chain > 1 else 1


@dataclass(frozen=True, eq=False)
class Ridge:
    """The matrix of all terms: ``own`` on its diagonal, and ``beside`` next to it."""

    own: Floats
    beside: Floats

    @classmethod
    def of(cls, sizes: Sequence[int], chains: Sequence[int], ridges: Sequence[float]) -> Ridge:
        own, beside = [], []
        for size, chain, ridge in zip(sizes, chains, ridges, strict=True):
            mine, next_to = np.full(size, ridge), np.zeros(size)
            if chain > 1:
                mine[:chain] *= INNER
                mine[[0, chain - 1]] = END * ridge
                next_to[: chain - 1] = BESIDE * ridge
            own.append(mine)
            beside.append(next_to)
        return cls(np.concatenate(own), np.concatenate(beside)[:-1])

    def pull(self, theta: Floats) -> Floats:
        """(cell, column) the product with ``theta``."""
        pulled = self.own[:, None] * theta
        pulled[:-1] += self.beside[:, None] * theta[1:]
        pulled[1:] += self.beside[:, None] * theta[:-1]
        return pulled

    def most(self, theta: Floats) -> float:
        """The largest sum of absolute values that an entry of ``pull`` is made of: its rounding is in proportion."""
        apart = Ridge(self.own, -self.beside)
        return float(apart.pull(np.abs(theta)).max())

    @property
    def matrix(self) -> Floats:
        return np.diag(self.own) + np.diag(self.beside, 1) + np.diag(self.beside, -1)
