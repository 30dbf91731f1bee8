"""Noise sources for tests: seeded, none, and scripted with probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt

from privet.audit.seam import ScriptedNoise
from privet.audit.seam import use_noise as use_noise
from privet.privacy.noise import Law

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


class SeededNoise:
    """The right distributions from a repeatable generator, in floating point. For experiments, not for releases."""

    def __init__(self, seed: int) -> None:
        self.caveat = "the noise was seeded, so anyone who knows the seed can remove it (epsilon = infinity)"
        self._random = np.random.default_rng(seed)

    def laplace(self, values: Ints, scale: float) -> Ints:
        # The difference of two geometric variables is discrete Laplace.
        p = -np.expm1(-1 / scale)
        noise = self._random.geometric(p, values.shape) - self._random.geometric(p, values.shape)
        return np.asarray(values + noise, dtype=np.int64)

    covering = laplace

    def gaussian(self, values: Ints, scale: float) -> Ints:
        return np.asarray(values + np.rint(self._random.normal(0.0, scale, values.shape)), dtype=np.int64)

    def hidden(self, law: Law, size: int, scale: float) -> Ints:
        return (self.laplace if law == "laplace" else self.gaussian)(np.zeros(size, dtype=np.int64), scale)

    def exponential(self, scores: Floats, scale: float) -> int:
        return int(np.argmax(scores / scale + self._random.gumbel(size=scores.size)))

    def branching(self, weights: Floats) -> int:
        return self.exponential(weights, 1.0)

    def permute_and_flip(self, scores: Floats, scale: float) -> int:
        # Permute-and-flip is report-noisy-max with exponential noise.
        return int(np.argmax(scores / scale + self._random.exponential(size=scores.size)))

    def coins(self, sides: int, size: int) -> Ints:
        return self._random.integers(0, sides, size)


class ZeroNoise:
    """No noise: exact counts, and the first of the best candidates. Coins still fall, from a fixed seed.

    With ``same_coins`` the same number of coins always falls the same way, so that two fits agree.
    """

    def __init__(self, *, same_coins: bool = False) -> None:
        self.caveat = "no noise was added (epsilon = infinity)"
        self._same_coins = same_coins
        self._random = np.random.default_rng(0)

    def laplace(self, values: Ints, scale: float) -> Ints:
        return values.copy()

    gaussian = covering = laplace

    def hidden(self, law: Law, size: int, scale: float) -> Ints:
        return np.zeros(size, dtype=np.int64)

    def exponential(self, scores: Floats, scale: float) -> int:
        return int(np.argmax(scores))

    def branching(self, weights: Floats) -> int:
        return int(np.argmax(weights))

    def permute_and_flip(self, scores: Floats, scale: float) -> int:
        return int(np.argmax(scores))

    def coins(self, sides: int, size: int) -> Ints:
        random = np.random.default_rng(0) if self._same_coins else self._random
        return random.integers(0, sides, size)


@dataclass(frozen=True, slots=True, eq=False)
class Draw:
    """One call into the noise source: its kind, scale and numbers."""

    kind: Literal["laplace", "gaussian", "exponential", "permute-and-flip", "coin"]
    values: Floats | Ints
    scale: float

    def probability(self, outcome: int) -> float:
        """The exact probability of ``outcome``: a released integer of a count, an index or a side otherwise."""
        if self.kind in ("laplace", "gaussian"):
            law = discrete_laplace if self.kind == "laplace" else discrete_gaussian
            return law(outcome - int(self.values[0]), self.scale)
        return float(self.probabilities()[outcome])

    def probabilities(self) -> Floats:
        """The probabilities of all outcomes of a choice or a coin."""
        if self.kind == "coin":
            return np.full(len(self.values), 1 / len(self.values))
        weights = np.exp((self.values - self.values.max()) / self.scale)
        if self.kind == "exponential":
            return np.asarray(weights / weights.sum())
        return _permute_and_flip(weights)


@dataclass
class ReplayNoise(ScriptedNoise):
    """Scripts the outcome of every elementary draw and reports its probability.

    ``script`` holds one number per elementary draw, in order: the released integer for each noisy count, the index of
    each choice, the side of each coin. When it runs out, :class:`ScriptEnded` carries the next draw, so that an
    explorer can branch.
    """

    script: Sequence[int]
    draws: list[Draw] = field(default_factory=list)
    log_probability: float = 0.0

    def answer(self, kind: str, values: Floats | Ints, scale: float) -> tuple[int, ...]:
        if kind in ("laplace", "gaussian"):
            law: Literal["laplace", "gaussian"] = "laplace" if kind == "laplace" else "gaussian"
            return tuple(self._next(Draw(law, values[i : i + 1], scale)) for i in range(values.size))
        if kind == "coins":
            return tuple(self._next(Draw("coin", np.arange(int(scale)), 1.0)) for _ in values)
        return (self._next(Draw("exponential" if kind == "exponential" else "permute-and-flip", values, scale)),)

    def _next(self, draw: Draw) -> int:
        if len(self.draws) == len(self.script):
            raise ScriptEnded(draw)
        outcome = int(self.script[len(self.draws)])
        self.draws.append(draw)
        with np.errstate(divide="ignore"):
            self.log_probability += float(np.log(draw.probability(outcome)))
        return outcome


class ScriptEnded(Exception):
    """The script of a ``ReplayNoise`` ran out at ``draw``."""

    def __init__(self, draw: Draw) -> None:
        super().__init__(f"the script ended before a draw of kind {draw.kind!r}")
        self.draw = draw


def discrete_laplace(noise: int, scale: float) -> float:
    """The probability of an integer under the discrete Laplace distribution."""
    return float(np.tanh(1 / (2 * scale)) * np.exp(-abs(noise) / scale))


def discrete_gaussian(noise: int, scale: float) -> float:
    """The probability of an integer under the discrete Gaussian distribution."""
    reach = np.arange(-int(40 * scale) - 1, int(40 * scale) + 2)
    return float(np.exp(-((noise / scale) ** 2) / 2) / np.exp(-((reach / scale) ** 2) / 2).sum())


def _permute_and_flip(accept: Floats) -> Floats:
    """Probabilities of permute-and-flip from its acceptance probabilities, one of which is 1.

    P(r) is accept_r times the integral over t in [0, 1] of the product over the others of (1 - accept_s t): with t the
    place of r in a uniform random order, each other candidate comes earlier with chance t and then must have refused.
    """
    # The integrand is a polynomial of degree size - 1, so Gauss and Legendre's rule is exact, and nothing cancels.
    nodes, weights = np.polynomial.legendre.leggauss(accept.size // 2 + 1)
    refuse = 1 - np.outer(accept, (nodes + 1) / 2)
    return np.asarray(accept * ((np.prod(refuse, axis=0) / refuse) @ (weights / 2)))
