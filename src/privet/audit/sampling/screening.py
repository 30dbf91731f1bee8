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

ROUNDS = ((4, 3), (2, 6))  # (pairs that go on, times the fits of the first round)
AGAIN = 3  # times the fits of the first round, for each variation
FINALISTS = 2  # variations that are compared with the pair itself
LEVEL = 1 + sum(times for _, times in ROUNDS)  # times the fits of the first round: what each finalist has in the end
SEARCHED = 7 * AGAIN + FINALISTS * (LEVEL - AGAIN)  # fits of a search, in those of the first round: of seven variations
LOOSE = 0.5  # the alpha of scores: they rank pairs and prove nothing
NOTHING = -2.0  # the score without an event: below that of any event that may be one, and short of it by luck
HOPELESS = -100.0  # of a pair on which every fit fails
UNSEEN = -1000.0  # of a pair that no time was left for

Draw = Callable[[TablePair, str, int], tuple[list[Tokens], list[Tokens]]]
"""Fits of both tables of a pair, for a purpose."""
Sides = tuple[list[Tokens], list[Tokens]]


@dataclass
class Screened:
    """A pair, its fits so far, and how far apart they are."""

    pair: TablePair
    ours: list[Tokens] = field(default_factory=list)
    theirs: list[Tokens] = field(default_factory=list)
    score: float = UNSEEN

    def add(self, draw: Draw, purpose: str, count: int, delta: float) -> None:
        ours, theirs = draw(self.pair, purpose, count) if count > 0 else ([], [])
        if not ours:
            return
        self.ours += ours
        self.theirs += theirs
        even, odd = ((self.ours[i::2], self.theirs[i::2]) for i in (0, 1))
        self.score = (_apart(even, odd, delta) + _apart(odd, even, delta)) / 2  # either half is learned from
        if failed(self.ours) and failed(self.theirs) and self.score <= 0:
            self.score = HOPELESS  # behind every pair on which something can be seen


def fits_of_a_screening(pairs: int, search: bool) -> int:
    """All fits of a screening, as a multiple of those of one table in the first round."""
    rounds = pairs + sum(kept * times for kept, times in ROUNDS) if pairs > 1 else 0
    return 2 * (rounds or search * LEVEL) + 2 * search * SEARCHED


def screen(
    pairs: Sequence[TablePair], draw: Draw, count: int, delta: float, *, search: bool, stage: Callable[[str], None]
) -> tuple[Screened, list[Screened]]:
    """The most promising pair with its fits, and all pairs with their scores. One pair needs no screening."""
    all_of_them = [Screened(pair) for pair in pairs]
    if len(pairs) > 1:
        # Similar pairs stand side by side: in another order a screening that is cut short has seen all kinds.
        order = np.random.default_rng(0).permutation(len(pairs)).tolist()
        for number, one in enumerate((all_of_them[i] for i in order), 1):
            stage(f"screening pair {number} of {len(pairs)}")
            one.add(draw, "screen", count, delta)
        for number, (kept, times) in enumerate(ROUNDS, 1):
            for one in _best(all_of_them, kept):
                stage(f"screening the best {kept} pairs")
                one.add(draw, f"screen again {number}", times * count, delta)
    winner = _best(all_of_them, 1)[0]
    if search:
        stage("searching for worse pairs")
        found = [Screened(pair) for pair in worse(winner.pair, np.random.default_rng(0))]
        for varied in found:
            varied.add(draw, "search", AGAIN * count, delta)
        all_of_them += found
        # The best of seven is often lucky only. Scores can be compared once all have as many fits.
        finalists = [winner, *_best(found, FINALISTS)] if found else []
        for one in finalists:
            one.add(draw, "final", LEVEL * count - len(one.ours), delta)
        winner = _best([winner, *finalists], 1)[0]
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
