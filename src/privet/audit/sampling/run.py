"""``sample``: audit any learner by fitting it many times on neighbouring tables.

Screen all pairs with few fits and take the best. Then look again and again: learn an event from all fits so far, count
it in fresh ones, and compute a bound that may spend alpha / (k (k + 1)) at look k. So the audit may stop at any time.
The fresh fits of one look are what the next one learns from, and every look has twice as many.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any

from privet.audit.sampling.bounds import check_claim, group_claim, loss_bound, provable, share_of
from privet.audit.sampling.effort import Effort
from privet.audit.sampling.events import count, learn_event, load
from privet.audit.sampling.fits import Crew, Fitter
from privet.audit.sampling.keeping import Kept
from privet.audit.sampling.pairs import TablePair, as_pairs, rows_of, table_pairs
from privet.audit.sampling.result import Look, SampleResult
from privet.audit.sampling.screening import fits_of_a_screening, screen
from privet.audit.sampling.tokens import Tokens, failed, failure
from privet.errors import ParameterError
from privet.privacy.budget import Neighbours
from privet.progress import Progress, check_progress, tell_stage

FIRST = 250  # fits of each table in the first look: a loss of 3 shows at once, and little alpha is spent
GROWTH = 2  # each look has as many fresh fits as all looks before it together
LOOKS = 40  # more are never reached
LEAST = 100  # fits: fewer show nothing
TRIED = 3  # fits of each table before anything is planned
BRIEF = 10.0  # seconds that a relation gets at least once another one is broken
TURNS = 10  # the tables take turns within a look, so that a date in a release does not tell them apart


def sample(
    make: Callable[..., Any],
    pairs: Any = None,
    claimed: object = 1,
    delta: object = 0,
    alpha: object = 1e-3,
    seconds: object = 600,
    *,
    function: bool = False,
    neighbours: str = "add-remove",
    processes: int = 1,
    max_fits: int | None = None,
    search: bool = True,
    resume: str | PathLike[str] | None = None,
    progress: Progress | None = None,
    name: str = "",
    repeat: str = "",
) -> SampleResult:
    """Audit a learner by many fits. The result's ``bound`` is above the true loss with probability ``alpha`` at most.

    Parameters
    ----------
    make : called without arguments it makes an object with ``fit(X, y)``; with ``function`` it is a function of (X, y)
        whose value is released. It must not be seeded: every fit has to draw its own noise
    pairs : neighbouring tables as ``((X, y), (X2, y2))``; by default those of :func:`table_pairs`
    claimed, delta : the promise about one row
    alpha : the probability of a false alarm, over all looks and relations together
    seconds : when to stop, by the clock
    neighbours : what the promise is about, "add-remove" or "replace-one"
    processes : how many processes fit; with more than one, ``make`` must be defined in a module
    max_fits : stop after so many fits
    search : try variations of the best pair
    resume : a folder that keeps all fits; the same call with the same folder goes on where it was stopped
    progress : called with (fits, fits at most) of a stage; its ``stage`` shows the bound so far
    name, repeat : what is audited, and how to run it again, for the result

    >>> import numpy as np
    >>> random = np.random.default_rng(0)
    >>> def noisy_count(X, y):  # too little noise: its loss is 2
    ...     return len(X) + random.geometric(1 - np.exp(-2)) - random.geometric(1 - np.exp(-2))
    >>> result = sample(noisy_count, [((np.zeros(5), [0] * 5), (np.zeros(4), [0] * 4))], 1, function=True, search=False)
    >>> result.verdict, 1 < result.bound <= 2
    ('violated', True)
    """
    *_, result = watch(
        make, pairs, claimed, delta, alpha, seconds, function=function, neighbours=neighbours, processes=processes,
        max_fits=max_fits, search=search, resume=resume, progress=progress, name=name, repeat=repeat,
    )  # fmt: skip
    return result


def watch(
    make: Callable[..., Any],
    pairs: Any = None,
    claimed: object = 1,
    delta: object = 0,
    alpha: object = 1e-3,
    seconds: object = 600,
    *,
    function: bool = False,
    neighbours: str = "add-remove",
    processes: int = 1,
    max_fits: int | None = None,
    search: bool = True,
    resume: str | PathLike[str] | None = None,
    progress: Progress | None = None,
    name: str = "",
    repeat: str = "",
) -> Iterator[SampleResult]:
    """The same as :func:`sample`, with the result so far after every look, so that the caller can stop early."""
    epsilon, loss_delta, alpha, seconds = check_claim(claimed, delta, alpha, seconds)
    relation = Neighbours.parse(neighbours).value
    check_progress(progress)
    if max_fits is not None and max_fits < LEAST:
        raise ParameterError(
            parameter="max_fits", problem=f"must be at least {LEAST}", fix="allow more, or all that fit"
        )
    groups: dict[str, list[TablePair]] = {}
    for pair in as_pairs(table_pairs() if pairs is None else pairs):
        pair.steps(relation)  # refuses a pair that the promise does not cover
        groups.setdefault(pair.relation, []).append(pair)
    facts = {
        "claimed": epsilon, "delta": loss_delta, "alpha": alpha, "neighbours": relation, "search": search,
        "pairs": [[pair.name, _checksum(pair)] for some in groups.values() for pair in some],
    }  # fmt: skip
    kept = Kept(resume, facts)
    load()
    share = len(groups)
    done: list[SampleResult] = []
    with Crew(Fitter(make, function), processes) as crew:
        for some in groups.values():
            rows = some[0].steps(relation)
            group_epsilon, group_delta = group_claim(epsilon, loss_delta, rows)
            blank = SampleResult(group_epsilon, group_delta, alpha / share, name=name, repeat=repeat)
            effort = Effort(crew, _time_for_the_next(seconds, share, done), max_fits and max_fits // share)
            audit = _Audit(crew, kept, some, blank, effort, search, progress)
            latest = blank
            for latest in audit.looks():
                yield _most_telling([*done, latest])
            done.append(latest)


def _time_for_the_next(seconds: float, share: int, done: Sequence[SampleResult]) -> float:
    """An equal part of what is left. Once a promise is broken, other relations get no more than that took."""
    left = max(seconds - sum(one.seconds for one in done), 0.0) / (share - len(done))
    return min([left, *(max(one.seconds, BRIEF) for one in done if one.verdict == "violated")])


def _most_telling(results: Sequence[SampleResult]) -> SampleResult:
    """Of several relations: the one that comes closest to its claim, or passes it most."""
    worst = max(results, key=lambda one: one.bound / one.claimed)
    if len(results) == 1:
        return worst
    fits, seconds, cpu = (sum(getattr(one, part) for one in results) for part in ("fits", "seconds", "cpu_seconds"))
    return replace(worst, fits=int(fits), seconds=seconds, cpu_seconds=cpu, apart=tuple(results))


def _checksum(pair: TablePair) -> int:
    return zlib.crc32("\n".join([*rows_of(pair.ours), "against", *rows_of(pair.theirs)]).encode(errors="replace"))


@dataclass
class _Audit:
    """The audit of the pairs of one relation."""

    crew: Crew
    kept: Kept
    pairs: list[TablePair]
    result: SampleResult
    effort: Effort
    search: bool
    progress: Progress | None

    def looks(self) -> Iterator[SampleResult]:
        winner, screened = screen(
            self.pairs, self._screen, self._screen_count(), self.result.delta, search=self.search, stage=self._stage
        )
        self.result = replace(
            self.result,
            pair=winner.pair.name,
            relation=winner.pair.relation,
            screened=tuple((one.pair.name, one.score) for one in screened if one.ours),
        )
        yield self._so_far()
        ours, theirs, fresh = winner.ours, winner.theirs, FIRST
        if len(ours) < FIRST:
            more = self._draw(winner.pair, "learn", self.effort.affordable(FIRST - len(ours), share=0.5))
            ours, theirs = ours + more[0], theirs + more[1]
        if failed(ours) and failed(theirs):
            problem = f"fails on both tables of every pair: {failure(ours[0])}"
            fix = "fit it by hand on one of the tables first"
            if not self.crew.fitter.function:
                fix += ", or set function to True if it is a function of (X, y)"
            raise ParameterError(parameter="make", problem=problem, fix=fix)
        for number in range(1, LOOKS + 1):
            found = self._look(number, winner.pair, ours, theirs, fresh)
            if found is None:
                if number == 1:
                    self.result = replace(self.result, note="no time or fits were left to look: allow more")
                    yield self._so_far()
                return
            fresh_ours, fresh_theirs, look = found
            self.result = replace(
                self.result,
                looks=(*self.result.looks, look),
                bound=max(self.result.bound, look.bound),
                note=_note(ours, theirs) or self._weak(look),
            )
            yield self._so_far()
            if self.result.verdict == "violated":
                return
            ours, theirs, fresh = ours + fresh_ours, theirs + fresh_theirs, fresh * GROWTH

    def _look(
        self, number: int, pair: TablePair, ours: list[Tokens], theirs: list[Tokens], fresh: int
    ) -> tuple[list[Tokens], list[Tokens], Look] | None:
        """Learn an event, make fresh fits and count it in them; None where not enough time or fits are left."""
        key = self._key(pair, f"look {number}")
        # Nobody knows how long the first learning takes: half of the time is for fits then, also if it is slow.
        least = self.effort.affordable(FIRST, 0.5 if number == 1 else 1.0, learning=len(ours))
        if not self.kept.decided(key) and least < (2 if number == 1 else FIRST):
            return None
        alpha = share_of(self.result.alpha, number)
        self._stage(f"look {number}")
        with self.effort.learning(len(ours)):
            event, _ = learn_event(ours, theirs, alpha, self.result.delta)
        # The last look has all that is left: one after it would be smaller, and share alpha with it.
        most = self.effort.affordable(2 * fresh)
        planned = self.kept.decide(key, fresh if most == 2 * fresh else max(most, least))
        fresh_ours, fresh_theirs = self._draw(pair, f"look {number}", planned)
        if event is None:
            return fresh_ours, fresh_theirs, Look(number, alpha, 0.0, "", "first", 0, planned, 0, planned)
        counts = count(event, fresh_ours, fresh_theirs)
        bound = float(loss_bound(*counts, alpha, self.result.delta))
        side = "second" if event.swapped else "first"
        return fresh_ours, fresh_theirs, Look(number, alpha, bound, str(event), side, *counts)

    def _screen(self, pair: TablePair, purpose: str, planned: int) -> tuple[list[Tokens], list[Tokens]]:
        """Fits that only help to choose a pair: none once that has had its share."""
        return self._draw(pair, purpose, planned if self.effort.may_screen() else 0)

    def _draw(self, pair: TablePair, purpose: str, planned: int) -> tuple[list[Tokens], list[Tokens]]:
        """Fits of both tables: kept ones first, then new ones, by turns."""
        key = self._key(pair, purpose)
        wanted = int(self.kept.decide(f"{key}: fits", planned))
        probes = pair.probes()
        tables = {"first": pair.ours, "second": pair.theirs}
        sides = {side: self.kept.take(f"{key}: {side}", wanted) for side in tables}
        for turn in range(1, TURNS + 1):
            for side, table in tables.items():
                fits = sides[side]
                for chunk in self.crew.fits(table, probes, max(0, wanted * turn // TURNS - len(fits))):
                    self.kept.keep(f"{key}: {side}", chunk)
                    fits += chunk
                    if self.progress is not None:
                        self.progress(sum(map(len, sides.values())), 2 * wanted)
        self.effort.fits += 2 * wanted
        return sides["first"], sides["second"]

    def _screen_count(self) -> int:
        """Fits of each table in the first round of screening: as many as its share of time and fits allows."""
        self._draw(self.pairs[0], "try", TRIED)  # to see how long a fit takes
        count = self.effort.screening(fits_of_a_screening(len(self.pairs), self.search))
        return int(self.kept.decide(f"{self.pairs[0].relation}: screening", count))

    def _weak(self, look: Look) -> str:
        """A hint where no event could have refuted the claim."""
        most = provable(look.tries, look.alpha)
        if max(self.result.bound, most) > self.result.claimed:
            return ""
        return f"{look.tries} fits of each table prove a loss of {most:.2g} at most: allow more"

    def _key(self, pair: TablePair, purpose: str) -> str:
        return f"{self.result.relation or pair.relation}: {pair.name}: {purpose}"

    def _stage(self, what: str) -> None:
        tell_stage(self.progress, f"{what}, bound so far {self.result.bound:.3g}")

    def _so_far(self) -> SampleResult:
        effort = self.effort
        return replace(self.result, fits=effort.fits, seconds=effort.seconds_taken, cpu_seconds=effort.cpu_taken)


def _note(ours: Sequence[Tokens], theirs: Sequence[Tokens]) -> str:
    """A hint where all fits of a table are the same: a seed, more likely than a leak."""
    if not any(fit.names for fit in [*ours, *theirs]):
        return "no fit released anything that can be compared: release numbers, texts, or arrays of them"
    for fits in (ours, theirs):
        if len(fits) > 1 and fits[0].names and all(_same(fits[0], fit) for fit in fits):
            if failed(fits):
                return f"every fit of a table {failure(fits[0])}"
            return "all fits of a table released the same: is something seeded?"
    return ""


def _same(one: Tokens, other: Tokens) -> bool:
    return one.names == other.names and bool((one.values == other.values).all())
