"""Screening: few fits of every pair, more of the best ones, and a short search around the winner.

Nothing here enters the bound. It only chooses which pair the later, fresh fits are spent on.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from privet.audit.sampling.events import count as count_event
from privet.audit.sampling.events import learn_event
from privet.audit.sampling.pairs import TablePair
from privet.audit.sampling.searching import worse
from privet.audit.sampling.tokens import Tokens, failed

FEWEST, MOST = 20, 200  # fits of each table in the first round
ROUNDS = ((4, 3), (2, 6))  # (pairs that go on, times the fits of the first round)
SHARE = 0.3  # of the time; the rest is for looks
AGAIN = 3  # times the fits of the first round, for each variation
SEARCHED = 8 * AGAIN  # fits of a search, in those of the first round: seven variations and the pair itself
LOOSE = 0.5  # the alpha of scores: they rank pairs and prove nothing
NOTHING = -2.0  # the score without an event: below that of any event that may be one, and short of it by luck
HOPELESS = -100.0  # of a pair on which every fit fails

Draw = Callable[[TablePair, str, int], tuple[list[Tokens], list[Tokens]]]
"""Fits of both tables of a pair, for a purpose."""
Sides = tuple[list[Tokens], list[Tokens]]


@dataclass
class Screened:
    """A pair, its fits so far, and how far apart they are."""

    pair: TablePair
    ours: list[Tokens] = field(default_factory=list)
    theirs: list[Tokens] = field(default_factory=list)
    score: float = 0.0

    def add(self, draw: Draw, purpose: str, count: int, delta: float) -> None:
        ours, theirs = draw(self.pair, purpose, count)
        self.ours += ours
        self.theirs += theirs
        even, odd = ((self.ours[i::2], self.theirs[i::2]) for i in (0, 1))
        self.score = (_apart(even, odd, delta) + _apart(odd, even, delta)) / 2  # either half is learned from
        if failed(self.ours) and failed(self.theirs) and self.score <= 0:
            self.score = HOPELESS  # behind every pair on which something can be seen


def screen(
    pairs: Sequence[TablePair], draw: Draw, count: int, delta: float, *, search: bool, stage: Callable[[str], None]
) -> tuple[Screened, list[Screened]]:
    """The most promising pair with its fits, and all pairs with their scores. One pair needs no screening."""
    all_of_them = [Screened(pair) for pair in pairs]
    if len(pairs) > 1:
        for number, one in enumerate(all_of_them, 1):
            stage(f"screening pair {number} of {len(pairs)}")
            one.add(draw, "screen", count, delta)
        for number, (kept, times) in enumerate(ROUNDS, 1):
            for one in _best(all_of_them, kept):
                stage(f"screening the best {kept} pairs")
                one.add(draw, f"screen again {number}", times * count, delta)
    winner = _best(all_of_them, 1)[0]
    if search:
        # The winner has many times the fits of a variation, so its score must be taken anew to be comparable.
        few = AGAIN * count
        level = Screened(winner.pair)
        stage("searching for worse pairs")
        level.add(draw, "search", few, delta)
        found = []
        for pair in worse(winner.pair, np.random.default_rng(0)):
            varied = Screened(pair)
            varied.add(draw, "search", few, delta)
            found.append(varied)
        all_of_them += found
        best = max([level, *found], key=lambda one: one.score)
        winner = winner if best is level else best
    return winner, all_of_them


def _apart(seen: Sides, fresh: Sides, delta: float) -> float:
    """How far apart fresh fits are by an event that was learned from others: the log-ratio, less its deviation.

    Among many tokens and pairs the luckiest would win if an event were counted in the fits that it was learned from.
    And a bound would be 0 for every pair while fits are few, and rank none.
    """
    event, _ = learn_event(*seen, LOOSE, delta, boosted=False)
    if event is None:
        return NOTHING
    hits, tries, other_hits, other_tries = count_event(event, *fresh)
    likely, unlikely = (hits + 0.5) / (tries + 1), (other_hits + 0.5) / (other_tries + 1)
    deviation = math.sqrt(1 / (hits + 1) + 1 / (other_hits + 1))
    return math.log(max(likely - delta, 0.5 / (tries + 1)) / unlikely) - deviation


def _best(screened: Sequence[Screened], count: int) -> list[Screened]:
    return sorted(screened, key=lambda one: -one.score)[:count]
