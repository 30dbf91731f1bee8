"""The exact distribution of a fit's release, where few enough outcomes exist to try all."""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Iterator

import numpy as np

from privet.audit.draws import FITTED, Call, Departed, Fit, Outcome, Script, fitted, run

Option = tuple[Outcome, float, bool]
"""An outcome, the log of its chance, and whether it stands for outcomes beyond it."""


class TooLarge(ValueError):
    """More runs are needed than allowed; take a smaller table or a shallower model, or walk transcripts."""


def output_distribution(
    fit: Fit, *, window: tuple[int, int] | None = None, tail: float = 1e-6, limit: int = 20_000
) -> tuple[dict[Hashable, float], float]:
    """The log probability of every possible release of a fit, and the lumped mass.

    Every outcome of every draw is tried. A noisy count is clipped where its probability falls to ``tail``. The two ends
    stand for everything beyond: that is the lumped mass. To compare two tables, pass the same ``window`` for both:
    bounds on the exact counts of both. Then both are clipped alike, which is postprocessing.
    """
    chances: dict[Hashable, float] = {}
    lumped = 0.0
    waiting: list[tuple[tuple[Outcome, ...], float, bool]] = [((), 0.0, False)]
    runs = 0
    while waiting:
        outcomes, chance, at_end = waiting.pop()
        runs += 1
        taken: list[list[Option]] = []
        room = limit - runs - len(waiting)

        def first(call: Call, number: int, taken: list[list[Option]] = taken, room: int = room) -> Outcome:
            if _number_of_options(call, window, tail) > room:
                raise Departed
            taken.append(_options(call, window, tail))
            return taken[-1][0][0]

        script = Script(outcomes, first)
        released = run(fit, script)
        # The first option was followed to the end. The others are queued, each with the script that leads to it.
        for i, options in enumerate(taken, len(outcomes)):
            waiting.extend(
                ((*script.outcomes[:i], outcome), chance + weight, at_end or beyond)
                for outcome, weight, beyond in options[1:]
            )
            chance, at_end = chance + options[0][1], at_end or options[0][2]
        if runs + len(waiting) > limit or len(script.outcomes) < len(script.calls):
            raise TooLarge(f"more than {limit} runs are needed; take a smaller table, or walk transcripts instead")
        chances[released] = float(np.logaddexp(chances.get(released, -math.inf), chance))
        lumped += math.exp(chance) if at_end else 0.0
    return chances, lumped


def largest_log_ratio(ours: dict[Hashable, float], theirs: dict[Hashable, float]) -> tuple[float, Hashable]:
    """The largest loss over all outputs, and an output that attains it; infinite where one table cannot release it."""
    found = ((ratio, output) for output, ratio in log_ratios(ours, theirs))
    return max(found, key=lambda one: one[0], default=(0.0, None))


def log_ratios(ours: dict[Hashable, float], theirs: dict[Hashable, float]) -> Iterator[tuple[Hashable, float]]:
    """The loss at each output."""
    for output in {**ours, **theirs}:
        yield output, abs(ours.get(output, -math.inf) - theirs.get(output, -math.inf))


def _number_of_options(call: Call, window: tuple[int, int] | None, tail: float) -> float:
    """A float, since the number can be too large to compute exactly."""
    if call.kind in ("exponential", "permute-and-flip"):
        return call.values.size
    if call.kind in FITTED:
        return 1
    low, high = _bounds(call, window, tail) if call.kind == "laplace" else (1, int(call.scale))
    try:
        return float(high - low + 1) ** call.values.size
    except OverflowError:
        return math.inf


def _options(call: Call, window: tuple[int, int] | None, tail: float) -> list[Option]:
    if call.kind in ("exponential", "permute-and-flip"):
        return [((i,), chance, False) for i, chance in enumerate(call.log_chances().tolist()) if chance > -math.inf]
    if call.kind in FITTED:
        return [(fitted(call), 0.0, False)]
    if call.kind == "coins":
        sides, size = int(call.scale), call.values.size
        return [(throw, -size * math.log(sides), False) for throw in itertools.product(range(sides), repeat=size)]
    bounds = _bounds(call, window, tail)
    options: list[Option] = [((), 0.0, False)]
    for value in call.values.tolist():
        options = [
            ((*outcome, drawn), chance + weight, beyond or at_end)
            for outcome, chance, beyond in options
            for drawn, weight, at_end in _clipped(value, call.scale, *bounds)
        ]
    return options


def _bounds(call: Call, window: tuple[int, int] | None, tail: float) -> tuple[int, int]:
    reach = max(1, math.ceil(call.scale * math.log(1 / tail)))
    low, high = window or (int(min(call.values, default=0)), int(max(call.values, default=0)))
    return low - reach, high + reach


def _clipped(value: int, scale: float, low: int, high: int) -> Iterator[tuple[int, float, bool]]:
    """A count plus discrete Laplace noise, clipped to a window that holds the count."""
    q = math.exp(-1 / scale)
    yield low, (low - value) / scale - math.log1p(q), True
    for drawn in range(low + 1, high):
        yield drawn, math.log((1 - q) / (1 + q)) - abs(drawn - value) / scale, False
    yield high, (value - high) / scale - math.log1p(q), True
