"""The replay explorer: all that a fit can do, on two neighbouring tables at once.

A fit is run again and again with scripted noise. The testing seam replaces only the calls into OpenDP, after scales and
weights are computed, so what is walked is the real code. A *transcript* is the sequence of everything drawn; both
tables are driven through the same one and it is weighed under each.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from privet.privacy.noise import NoiseSource
from privet.testing.noise import Draw, discrete_laplace, use_noise

Values = npt.NDArray[np.float64] | npt.NDArray[np.int64]
Outcome = tuple[int, ...]
Fit = Callable[[], Hashable]
"""Runs the fit under the noise source in force and returns the released model in canonical form."""

FAR = 40  # scales: a count that far out is exp(-40) likely, and ratios are constant beyond


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """One call into the noise source: a whole vector of counts, a choice, or a coin per record."""

    kind: str
    values: Values
    scale: float

    def log_probability(self, outcome: Outcome) -> float:
        if self.kind == "laplace":
            return sum(
                _log(discrete_laplace(drawn - int(value), self.scale))
                for drawn, value in zip(outcome, self.values, strict=True)
            )
        if self.kind == "coin":
            return -len(self.values) * math.log(self.scale)
        return _log(float(_choice(self).probabilities()[outcome[0]]))


class _Paused(BaseException):
    """The script ran out at a call. Not an Exception: a fit that swallows errors must not swallow this."""

    def __init__(self, call: Call) -> None:
        self.call = call


class _Script:
    """A noise source that answers call by call from a list, then pauses."""

    caveat = "outcomes were scripted (epsilon = infinity)"

    def __init__(self, outcomes: list[Outcome]) -> None:
        self.calls: list[Call] = []
        self._outcomes = outcomes

    def laplace(self, values: npt.NDArray[np.int64], scale: float) -> npt.NDArray[np.int64]:
        drawn = self._answer(Call("laplace", values.ravel(), scale))
        return np.array(drawn, dtype=np.int64).reshape(values.shape)

    def exponential(self, scores: npt.NDArray[np.float64], scale: float) -> int:
        return self._answer(Call("exponential", scores, scale))[0]

    def permute_and_flip(self, scores: npt.NDArray[np.float64], scale: float) -> int:
        return self._answer(Call("permute-and-flip", scores, scale))[0]

    def coins(self, sides: int, size: int) -> npt.NDArray[np.int64]:
        return np.array(self._answer(Call("coin", np.zeros(size, dtype=np.int64), float(sides))), dtype=np.int64)

    def _answer(self, call: Call) -> Outcome:
        if len(self.calls) == len(self._outcomes):
            raise _Paused(call)
        self.calls.append(call)
        return self._outcomes[len(self.calls) - 1]


@dataclass(frozen=True)
class Transcript:
    """One way a fit can go, with its log probability on either table and what was released on either."""

    outcomes: tuple[Outcome, ...]
    log_p: float
    log_q: float
    released: Hashable
    released_by_neighbour: Hashable

    @property
    def log_ratio(self) -> float:
        """How much more likely one table makes it; infinite where what is released depends on more than the draws."""
        if self.released != self.released_by_neighbour:
            return math.inf
        return abs(self.log_p - self.log_q)


@dataclass
class _Side:
    """A table's half of the walk."""

    fit: Fit
    outcomes: list[Outcome] = field(default_factory=list)

    def go_on(self, outcomes: list[Outcome]) -> tuple[float, Call | None, Hashable]:
        """Run with a script: log probability of it, the call it paused at (None at the end) and what was released."""
        script = _Script(outcomes)
        call, released = None, None
        source: NoiseSource = script
        try:
            with use_noise(source):
                released = self.fit()
        except _Paused as paused:
            call = paused.call
        except Exception as error:
            released = ("raised", type(error).__name__, str(error))
        weight = sum(c.log_probability(o) for c, o in zip(script.calls, outcomes, strict=False))
        return weight, call, released


def explore(
    fit: Fit, neighbour: Fit, *, extra: int | None = None, limit: int = 100, seed: int = 0
) -> Iterator[Transcript]:
    """Walk the transcripts of two fits together.

    All outcomes of a choice are taken; of a vector of counts the two that favour either table most (beyond which ratios
    do not change), the far ends of counts on which the tables agree, and a random one; of coins a few throws, the
    neighbour's without its ``extra`` record. After ``limit`` transcripts the walk stops.
    """
    random = np.random.default_rng(seed)
    stack: list[tuple[list[Outcome], list[Outcome]]] = [([], [])]
    left, right = _Side(fit), _Side(neighbour)
    found = 0
    while stack and found < limit:
        ours, theirs = stack.pop()
        log_p, call, released = left.go_on(ours)
        log_q, other, released_too = right.go_on(theirs)
        if call is None or other is None or not _alike(call, other, extra):
            if call is not None or other is not None:
                # One of them wants to draw what the other does not: what happens depends on the data, not the noise.
                released = ("draws", _shape(call)) if released is None else released
                released_too = ("draws", _shape(other)) if released_too is None else released_too
            found += 1
            yield Transcript(tuple(ours), log_p, log_q, released, released_too)
            continue
        branches = [
            (call.log_probability(a) - other.log_probability(b), a, b) for a, b in _branches(call, other, extra, random)
        ]
        # The branch that drives the tables furthest apart is taken first, so that a limit costs the least.
        apart = [(abs(log_p - log_q + gain) if math.isfinite(gain) else math.inf, a, b) for gain, a, b in branches]
        stack.extend(([*ours, a], [*theirs, b]) for _, a, b in sorted(apart))


def output_distribution(fit: Fit, *, tail: float = 1e-6, limit: int = 200_000) -> tuple[dict[Hashable, float], float]:
    """The exact distribution of what a fit releases, and the mass that was lumped.

    Every outcome of every draw is taken; a noisy count goes to the ends of an interval that holds all but ``tail`` of
    its mass, and those ends stand for what lies beyond. For spaces small enough to walk.
    """
    chances: dict[Hashable, float] = {}
    lumped = 0.0
    side = _Side(fit)
    stack: list[tuple[list[Outcome], float]] = [([], 1.0)]
    runs = 0
    while stack:
        outcomes, chance = stack.pop()
        runs += 1
        if runs > limit:
            raise ValueError(f"more than {limit} runs are needed; take a smaller table, or audit transcripts instead")
        _, call, released = side.go_on(outcomes)
        if call is None:
            chances[released] = chances.get(released, 0.0) + chance
            continue
        for outcome, weight, beyond in _all_outcomes(call, tail):
            lumped += chance * beyond
            stack.append(([*outcomes, outcome], chance * weight))
    return chances, lumped


def _branches(
    call: Call, other: Call, extra: int | None, random: np.random.Generator
) -> Iterator[tuple[Outcome, Outcome]]:
    if call.kind == "laplace":
        for outcome in _extremes(call, other, random):
            yield outcome, outcome
    elif call.kind == "coin":
        sides = int(call.scale)
        longer = max(len(call.values), len(other.values))
        throws = {tuple(int(c) for c in random.integers(0, sides, longer)) for _ in range(3)} | {(0,) * longer}
        for throw in throws:
            shorter = throw if extra is None else throw[:extra] + throw[extra + 1 :]
            yield (
                throw if len(call.values) == longer else shorter,
                throw if len(other.values) == longer else shorter,
            )
    else:
        for i in range(len(call.values)):
            yield (i,), (i,)


def _extremes(call: Call, other: Call, random: np.random.Generator) -> set[Outcome]:
    far = math.ceil(FAR * call.scale) + 1
    low = np.minimum(call.values, other.values).astype(np.int64) - far
    high = np.maximum(call.values, other.values).astype(np.int64) + far
    middle = call.values.astype(np.int64)
    ours_up = call.values >= other.values
    found = [
        np.where(ours_up, high, low),  # favours this table; agreeing counts high
        np.where(call.values > other.values, high, low),  # the same; agreeing counts low
        np.where(ours_up, low, high),
        np.where(call.values > other.values, low, high),
        middle + np.rint(random.laplace(0, call.scale, middle.size)).astype(np.int64),
    ]
    return {tuple(int(x) for x in outcome) for outcome in found}


def _all_outcomes(call: Call, tail: float) -> Iterator[tuple[Outcome, float, float]]:
    """(outcome, chance, part of the chance that is lumped)"""
    if call.kind in ("exponential", "permute-and-flip"):
        for i, chance in enumerate(_choice(call).probabilities()):
            if chance > 0:
                yield (i,), float(chance), 0.0
        return
    if call.kind == "coin":
        sides = int(call.scale)
        for number in range(sides ** len(call.values)):
            digits = tuple(number // sides**i % sides for i in range(len(call.values)))
            yield digits, call.scale ** -len(call.values), 0.0
        return
    reach = max(1, math.ceil(call.scale * math.log(2 / tail)))
    noise = np.arange(-reach, reach + 1)
    chance = np.array([discrete_laplace(int(n), call.scale) for n in noise])
    beyond = (1 - chance.sum()) / 2
    chance[[0, -1]] += beyond
    grid = np.stack(np.meshgrid(*[noise] * len(call.values), indexing="ij"), axis=-1).reshape(-1, len(call.values))
    for row in grid:
        weight = float(np.prod(chance[row + reach]))
        at_end = bool((np.abs(row) == reach).any())
        yield tuple(int(v) for v in call.values.astype(np.int64) + row), weight, weight if at_end else 0.0


def _choice(call: Call) -> Draw:
    return Draw("exponential" if call.kind == "exponential" else "permute-and-flip", call.values, call.scale)


def _shape(call: Call | None) -> tuple[str, int] | None:
    return None if call is None else (call.kind, len(call.values))


def _alike(call: Call, other: Call, extra: int | None) -> bool:
    if call.kind == "coin" and other.kind == "coin" and call.scale == other.scale:
        return abs(len(call.values) - len(other.values)) == (0 if extra is None else 1)
    return _shape(call) == _shape(other)


def _log(chance: float) -> float:
    return math.log(chance) if chance > 0 else -math.inf
