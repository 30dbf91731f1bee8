"""Events: what to count in the fits of two tables, learned from fits that the bound does not use.

Candidates are single tokens (present, one of some values, at least or at most a number) and the scores of two
classifiers that tell the tables apart by all tokens (as DP-Sniper does). The candidate with the largest bound on the
fits it was learned from is taken. That bound is too optimistic: only fresh fits prove something.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from privet.audit.sampling.bounds import loss_bound, provable
from privet.audit.sampling.sheets import Linear, names_of, sheet
from privet.audit.sampling.tokens import Tokens

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

OFTEN = 10  # sightings of a value before a set may have it: sets of rare values fit the past and not the future
CUTS = 60  # thresholds of a token
EXACTLY = 5  # candidates of a token and a direction that get exact limits
SCORED = 200  # tokens that a classifier sees: those with the largest bounds by themselves
LEARNED = 20_000  # fits that a classifier learns from
FEWEST = 40  # fits of each table, for a classifier
ENOUGH = 0.95  # of what so many fits can prove: a token that shows it needs no classifier


@dataclass(frozen=True, eq=False)
class Event:
    """Something that a fit does or does not show. ``swapped``: it is likelier on the second table."""

    measure: Callable[[Sequence[Tokens]], Floats]
    what: str
    test: str  # "present", "one of", "at least", "at most"
    values: tuple[float, ...]
    swapped: bool = False

    def happens(self, fits: Sequence[Tokens]) -> Flags:
        measured = self.measure(fits)
        if self.test == "present":
            return ~np.isnan(measured)
        if self.test == "one of":
            return np.isin(measured, self.values)
        with np.errstate(invalid="ignore"):
            return measured >= self.values[0] if self.test == "at least" else measured <= self.values[0]

    def __str__(self) -> str:
        if self.test == "present":
            return self.what
        shown = ", ".join(f"{value:.6g}" for value in self.values[:8])
        more = f" and {len(self.values) - 8} others" if len(self.values) > 8 else ""
        relation = "=" if self.test == "one of" and len(self.values) == 1 else self.test
        return f"{self.what} {relation} {shown}{more}"


class Candidates(NamedTuple):
    """Events about one column that differ in their values, and how many fits of each table have each."""

    test: str
    ours: Ints
    theirs: Ints
    values: Callable[[int], tuple[float, ...]]


class Found(NamedTuple):
    bound: float
    test: str
    values: tuple[float, ...]
    swapped: bool


def load() -> None:
    """Load the classifiers and what bounds need. An audit does so before its clock starts."""
    for module in ("scipy.special", "sklearn.ensemble", "sklearn.linear_model"):
        import_module(module)


def learn_event(
    ours: Sequence[Tokens], theirs: Sequence[Tokens], alpha: float, delta: float = 0.0, *, boosted: bool = True
) -> tuple[Event | None, float]:
    """The event with the largest bound on these fits, and that bound; None where the fits show no difference.

    Without ``boosted`` the slower of the two classifiers is left out.
    """
    fits = [*ours, *theirs]
    names = names_of(fits)
    if not names:
        return None, 0.0
    filled = sheet(fits, names)
    first, second = filled[: len(ours)], filled[len(ours) :]
    best: tuple[float, Event | None] = (0.0, None)
    single = np.zeros(len(names))
    for j, name in enumerate(names):
        found = _best_of_column(first[:, j], second[:, j], alpha, delta)
        single[j] = found.bound
        if found.bound > best[0]:
            best = found.bound, Event(_Token(name), name, *found[1:])
    most = provable(min(len(ours), len(theirs)), alpha)
    if len(names) > 1 and min(len(ours), len(theirs)) >= FEWEST and best[0] < ENOUGH * most:
        seen = np.sort(np.argsort(-single, kind="stable")[:SCORED])
        chosen = [names[j] for j in seen]
        for what, measure in _scores(first[:, seen], second[:, seen], chosen, boosted):
            # The first half taught the classifier; the rest chooses the threshold.
            rest_ours, rest_theirs = measure(ours[len(ours) // 2 :]), measure(theirs[len(theirs) // 2 :])
            found = _best_of_column(rest_ours, rest_theirs, alpha, delta)
            if found.bound > best[0]:
                best = found.bound, Event(measure, what, *found[1:])
    return best[1], best[0]


def count(event: Event, ours: Sequence[Tokens], theirs: Sequence[Tokens]) -> tuple[int, int, int, int]:
    """(hits, tries) on the table where the event is likelier, then on the other one."""
    counts = [(int(event.happens(fits).sum()), len(fits)) for fits in (ours, theirs)]
    (hits, tries), (other_hits, other_tries) = counts[::-1] if event.swapped else counts
    return hits, tries, other_hits, other_tries


def _best_of_column(a: Floats, b: Floats, alpha: float, delta: float) -> Found:
    best = Found(0.0, "", (), False)
    for test, ours, theirs, values in _candidates(a, b):
        for swapped in (False, True):
            hits, tries, other, others = (theirs, len(b), ours, len(a)) if swapped else (ours, len(a), theirs, len(b))
            few = _promising(hits, tries, other, others)
            bounds = loss_bound(hits[few], tries, other[few], others, alpha, delta)
            j = int(np.argmax(bounds))
            if bounds[j] > best.bound:
                best = Found(float(bounds[j]), test, values(int(few[j])), swapped)
    return best


def _promising(hits: Ints, tries: int, other: Ints, others: int) -> Ints:
    """The candidates that may have the largest bound, by the normal approximation: exact limits take longer."""
    ratio = np.log((hits + 0.5) / (tries + 1)) - np.log((other + 0.5) / (others + 1))
    worst = ratio - 3 * np.sqrt(1 / (hits + 1) + 1 / (other + 1))  # 3 deviations, as a bound at 0.001 has
    return np.argsort(-worst, kind="stable")[:EXACTLY]


def _candidates(a: Floats, b: Floats) -> Iterator[Candidates]:
    known = [column[~np.isnan(column)] for column in (a, b)]
    sizes = len(known[0]), len(known[1])
    if sizes != (len(a), len(b)):
        yield Candidates("present", np.array(sizes[:1]), np.array(sizes[1:]), lambda j: ())
    values, inverse = np.unique(np.concatenate(known), return_inverse=True)
    if len(values) < 2:
        return
    counts = [np.bincount(part, minlength=len(values)) for part in (inverse[: sizes[0]], inverse[sizes[0] :])]
    below = [np.cumsum(part) for part in counts]
    at = np.arange(len(values)) if len(values) <= CUTS else np.linspace(0, len(values) - 1, CUTS).astype(int)
    above = [part[-1] - part + each for part, each in zip(below, counts, strict=True)]
    yield Candidates("at most", below[0][at], below[1][at], lambda j: (float(values[at[j]]),))
    yield Candidates("at least", above[0][at], above[1][at], lambda j: (float(values[at[j]]),))
    usual = np.flatnonzero(counts[0] + counts[1] >= OFTEN)
    if len(usual):
        # All values at least so many times likelier on one table: by Neyman and Pearson no set of them is better.
        order = usual[np.argsort(-((counts[0] + 1) / (counts[1] + 1))[usual], kind="stable")]
        for way in (order, order[::-1]):
            first, second = (np.cumsum(part[way]) for part in counts)
            yield Candidates("one of", first, second, partial(_first_of, values[way]))


def _first_of(values: Floats, last: int) -> tuple[float, ...]:
    return tuple(values[: last + 1].tolist())


@dataclass(frozen=True)
class _Token:
    name: str

    def __call__(self, fits: Sequence[Tokens]) -> Floats:
        return sheet(fits, [self.name])[:, 0]


def _scores(
    a: Floats, b: Floats, names: Sequence[str], boosted: bool
) -> Iterator[tuple[str, Callable[[Sequence[Tokens]], Floats]]]:
    """Two classifiers that tell the tables apart, taught by the first half of each table's fits."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression
    from threadpoolctl import threadpool_limits  # scikit-learn needs it

    half = min(len(a) // 2, LEARNED // 2), min(len(b) // 2, LEARNED // 2)
    filled = np.concatenate([a[: half[0]], b[: half[1]]])
    table = np.repeat([1, 0], half)
    known = ~np.isnan(filled).all(axis=0)
    filled, names = filled[:, known], [name for name, there in zip(names, known, strict=True) if there]
    linear = Linear.of(filled, names)
    logistic = LogisticRegression(C=0.3, max_iter=300)  # C: shrink, tokens are many
    with threadpool_limits(1):  # other processes fit; threads that wait for a core cost more than they save
        logistic.fit(linear.read(filled), table)
    yield _score("logistic", names, lambda rows: logistic.decision_function(linear.read(rows)))
    if not boosted:
        return
    # Few shallow trees: they need find one region where the tables differ, not predict well everywhere.
    trees = HistGradientBoostingClassifier(max_iter=40, max_leaf_nodes=8, early_stopping=False, random_state=0)
    with threadpool_limits(1):
        trees.fit(filled, table)
    yield _score("boosted", names, lambda rows: trees.decision_function(rows))


def _score(kind: str, names: Sequence[str], decide: Callable[[Floats], Any]) -> tuple[str, Callable[..., Floats]]:
    from threadpoolctl import threadpool_limits

    def measure(fits: Sequence[Tokens]) -> Floats:
        with threadpool_limits(1):
            decided = np.asarray(decide(sheet(fits, names)), dtype=np.float64)
        return np.round(decided, 6)  # equal fits, equal scores

    return f"the {kind} score of {len(names)} tokens", measure
