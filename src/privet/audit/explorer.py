"""The replay explorer: walk the transcripts of a fit on two neighbouring tables at once.

A *transcript* is the sequence of everything drawn in a fit. The real code runs on both tables with the same transcript,
and its probability is computed for each. The walk starts from the ends of every distribution and then changes one
answer at a time. It alternates between the change that promises the largest loss and the oldest one not tried. So the
largest losses come early, and every kind of call still gets its turn.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections import deque
from collections.abc import Hashable, Iterator
from dataclasses import dataclass

import numpy as np

from privet.audit.draws import FAR, FITTED, NOISY, Call, Fit, Outcome, Policy, Script, fitted, run
from privet.audit.weighing import LogRatios, Weighing


@dataclass(frozen=True)
class Transcript:
    """One run of a fit: its draws, what each draw adds to the loss, and what each table released.

    If the neighbour asks for other draws, it goes on by itself. Then the release depends on more than the draws, and so
    it does if the two releases differ. Something bypassed the noise, and the log-ratio means nothing.
    """

    outcomes: tuple[Outcome, ...]
    gains: tuple[float, ...]
    released: Hashable
    released_by_neighbour: Hashable
    same_draws: bool

    @property
    def follows_from_the_draws(self) -> bool:
        return self.same_draws and self.released == self.released_by_neighbour

    @property
    def total(self) -> float:
        """What the draws add up to; in pure epsilon, the log-ratio of their probabilities on both tables."""
        return math.fsum(self.gains)

    @property
    def log_ratio(self) -> float:
        return abs(self.total)


@dataclass(frozen=True)
class _Plan:
    """A script for the first table's fit, and the direction of counts beyond it, in ``FAR`` scales from the exact ones.

    All up is likelier for a larger table, all down for a smaller one. 0, the exact counts themselves, favours the first
    table as much as anything does, but lets small nodes end.
    """

    script: tuple[Outcome, ...]
    side: int


def explore(
    fit: Fit,
    neighbour: Fit,
    *,
    place: int | None = None,
    limit: int = 24,
    seed: int = 0,
    weighing: Weighing = LogRatios(),  # noqa: B008 - frozen
) -> Iterator[Transcript]:
    """Walk the transcripts of two fits together, up to ``limit`` of them.

    Candidates are all outcomes of a choice; for a vector of counts the ends that favour either table most (beyond which
    ratios do not change), with agreeing counts at either end, and a random one; for coins a few throws. ``place`` is
    the position of the record that only one table has: a throw for the others leaves it out.
    """
    random = np.random.default_rng(seed)
    ticks = itertools.count()
    best: list[tuple[float, int, _Plan]] = []
    oldest: deque[_Plan] = deque(_Plan((), side) for side in (1, 0, -1))
    tried: set[tuple[Outcome, ...]] = set()
    walked: set[tuple[Outcome, ...]] = set()
    while (best or oldest) and len(walked) < limit:
        if best and len(walked) >= 3 and len(walked) % 2:
            plan = heapq.heappop(best)[2]
        elif oldest:
            plan = oldest.popleft()
        else:
            plan = heapq.heappop(best)[2]
        if plan.script and plan.script in tried:
            continue
        tried.add(plan.script)
        among = place if len(walked) < 3 else None
        ours = Script(plan.script, _outward(plan.side, random, among))
        released = run(fit, ours)
        taken = tuple(ours.outcomes)
        if taken in walked:
            continue
        walked.add(taken)
        follower = _Follower(ours, place, _outward(plan.side, random), sampled=among is not None)
        theirs = Script((), follower.answer)
        released_too = run(neighbour, theirs)
        pairs = list(zip(ours.calls, ours.outcomes, theirs.calls, theirs.outcomes, strict=False))[: follower.parted]
        gains = tuple(weighing.gain(*pair) for pair in pairs)
        same_draws = follower.parted is None and follower.paired and len(theirs.calls) == len(ours.calls)
        transcript = Transcript(taken, gains, released, released_too, same_draws)
        yield transcript
        for i in range(len(plan.script), len(pairs)):
            call, _, other, _ = pairs[i]
            for outcome in _branches(call, other, random, place):
                script = (*taken[:i], outcome)
                if outcome != taken[i] and script not in tried:
                    # A good guess: it assumes that all later draws stay the same.
                    promise = abs(math.fsum(gains) - gains[i] + weighing.gain(call, outcome, other, outcome))
                    branch = _Plan(script, plan.side)
                    heapq.heappush(best, (-promise, next(ticks), branch))
                    oldest.append(branch)


def _outward(side: int, random: np.random.Generator, place: int | None = None) -> Policy:
    """Counts to one side, choices to the least likely candidate: losses are largest there."""

    def answer(call: Call, number: int) -> Outcome:
        if call.kind in NOISY:
            return tuple((call.values + side * (math.ceil(FAR * call.scale) + 1)).tolist())
        if call.kind == "coins":
            return _throw(call, random, place)
        if call.kind in FITTED:
            return fitted(call)
        chances = call.log_chances()
        return (int(np.argmin(np.where(np.isfinite(chances), chances, np.inf))),)

    return answer


def _throw(call: Call, random: np.random.Generator, place: int | None = None) -> Outcome:
    """A coin for every record; the one at ``place`` falls on the first side, so it enters a sample."""
    throw = random.integers(0, int(call.scale), call.values.size)
    if place is not None:
        throw[place : place + 1] = 0
    return tuple(throw.tolist())


class _Follower:
    """Replays the other table's answers while the calls are the same; ``parted`` is the first that differs.

    Both tables get the same coins, except for the record that only one of them has. If the calls for coins differ in
    more than that, the walk goes on, but the tables are not ``paired``: their throws cannot be compared.
    """

    def __init__(self, lead: Script, place: int | None, alone: Policy, *, sampled: bool) -> None:
        self.parted: int | None = None
        self.paired = True
        self._lead, self._place, self._alone, self._sampled = lead, place, alone, sampled

    def answer(self, call: Call, number: int) -> Outcome:
        lead = self._lead.calls[number] if number < len(self._lead.calls) else None
        if self.parted is None and (lead is None or not _alike(lead, call)):
            if lead is not None and lead.kind == "coins" == call.kind:
                self.paired = False
                return self._alone(call, number)
            self.parted = number
        if self.parted is not None:
            return self._alone(call, number)
        outcome, place = self._lead.outcomes[number], self._place
        if call.kind == "coins" and place is not None:
            if call.values.size < len(outcome):
                return outcome[:place] + outcome[place + 1 :]
            if call.values.size > len(outcome):
                side = 0 if self._sampled else sum(outcome) % int(call.scale)
                return (*outcome[:place], side, *outcome[place:])
        return outcome


def _alike(call: Call, other: Call) -> bool:
    if call.kind == "coins" == other.kind:
        return call.scale == other.scale and abs(call.values.size - other.values.size) <= 1
    return call.shape == other.shape


def _branches(call: Call, other: Call, random: np.random.Generator, place: int | None) -> list[Outcome]:
    if call.kind in NOISY:
        return _ends(call, other, random)
    if call.kind == "coins":
        return [_throw(call, random, among) for among in (place, None, None)]
    if call.kind in FITTED:
        return []
    possible = np.isfinite(call.log_chances()) | np.isfinite(other.log_chances())
    return [(int(i),) for i in np.flatnonzero(possible)]


def _ends(call: Call, other: Call, random: np.random.Generator) -> list[Outcome]:
    far = math.ceil(FAR * max(call.scale, other.scale)) + 1
    low, high = np.minimum(call.values, other.values) - far, np.maximum(call.values, other.values) + far
    more, less = call.values > other.values, call.values < other.values
    near = call.values + np.rint(random.laplace(0, call.scale, call.values.size)).astype(np.int64)
    found = [
        np.where(less, low, high),  # favours the first table; agreeing counts high
        np.where(more, high, low),  # the same; agreeing counts low
        np.where(more, low, high),  # favours the second
        np.where(less, high, low),
        call.values,  # favours the first as much, without driving small nodes to their end
        other.values,
        near,
    ]
    return list(dict.fromkeys(tuple(outcome.astype(np.int64).tolist()) for outcome in found))
