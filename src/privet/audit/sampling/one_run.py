"""One-run auditing: a single fit with many canaries (Steinke, Nasr and Jagielski 2023).

Every canary is in the table by a coin of its own. From the fitted model the auditor guesses, for those it is surest of,
whether they are in. If the promise holds, the number of right guesses is at most that of coins which fall right with
probability e^epsilon / (1 + e^epsilon). Proof: ``docs/proofs/sampling_audit.md``.

It sees only what a model says about each canary by itself: noisy counts of cells, predictions at a record. A fault that
moves all records together (shards by position), or that shows in one number (the exact size), is one guess or none
among many. :func:`privet.audit.sample` is for those.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

from privet.audit.sampling.bounds import check_claim
from privet.audit.sampling.pairs import Table, size_of, take
from privet.errors import ParameterError

Floats = npt.NDArray[np.float64]
Guess = Callable[[Any, Any, Any], Any]
"""Scores of the canaries by (what was released, their records, their labels): the larger, the likelier it is in."""


@dataclass(frozen=True)
class OneRunResult:
    """With probability 1 - ``alpha`` the loss is at least ``bound``: ``right`` of ``guesses`` guesses were right."""

    claimed: float
    delta: float
    alpha: float
    bound: float
    canaries: int
    guesses: int
    right: int

    @property
    def verdict(self) -> str:
        return "violated" if self.bound > self.claimed else "not refuted"

    @property
    def most(self) -> float:
        """The bound if every guess had been right: no loss above it can be shown with so many canaries."""
        return one_run_bound(self.guesses, self.guesses, self.canaries, self.alpha, self.delta)


def one_run(
    make: Callable[..., Any],
    canaries: Table,
    claimed: object = 1,
    delta: object = 0,
    alpha: object = 1e-3,
    *,
    base: Table | None = None,
    function: bool = False,
    guess: Guess | None = None,
    guesses: int | None = None,
    seed: int | None = None,
) -> OneRunResult:
    """Audit a learner by one fit, for outputs that say something about each record by itself.

    Parameters
    ----------
    make, function, claimed, delta, alpha : as for :func:`privet.audit.sample`; the promise is about adding a record
    canaries : records and labels, each of which is in the table by a coin
    base : records and labels that are always there
    guess : scores from (what was released, records, labels); by default the probability of the canary's label
    guesses : how many canaries to guess, the surest ones; by default half of them. Choose it before you see the result
    seed : for the coins

    >>> random = np.random.default_rng(0)
    >>> def counts(X, y):  # a count of each cell; the loss of one record is 2
    ...     noise = random.geometric(1 - np.exp(-2), 1000) - random.geometric(1 - np.exp(-2), 1000)
    ...     return np.bincount(X, minlength=1000) + noise
    >>> cells = np.arange(1000), np.zeros(1000, dtype=int)
    >>> result = one_run(counts, cells, 1, function=True, guess=lambda counts, X, y: counts[X], seed=1)
    >>> result.verdict, 1 < result.bound <= 2
    ('violated', True)
    """
    epsilon, loss_delta, alpha, _ = check_claim(claimed, delta, alpha, 1)
    X, y = canaries
    size = size_of(X)
    wanted = size // 2 if guesses is None else guesses
    if not 2 <= wanted <= size:
        problem = f"must be from 2 to the number of canaries, {size}"
        raise ParameterError(parameter="guesses", problem=problem, fix="give more canaries, or fewer guesses")
    random = np.random.default_rng(seed)
    included = random.random(size) < 0.5
    rows = np.flatnonzero(included).tolist()
    table = take(X, rows), take(y, rows)
    if base is not None:
        table = _join(base[0], table[0]), _join(base[1], table[1])
    if function:
        released = make(*table)
    else:
        released = make()
        released.fit(*table)
    scores = np.asarray((guess or own_label)(released, X, y), dtype=np.float64)
    if scores.shape != (size,):
        raise ParameterError(parameter="guess", problem=f"must give {size} numbers, one a canary, not {scores.shape}")
    # The surest: as many of the largest scores (in) as of the smallest (out). Ties are broken by coins.
    order = np.lexsort((random.random(size), scores))
    out, in_it = order[: wanted // 2], order[size - (wanted - wanted // 2) :]
    right = int(included[in_it].sum() + (~included[out]).sum())
    bound = one_run_bound(right, wanted, size, alpha, loss_delta)
    return OneRunResult(epsilon, loss_delta, alpha, bound, size, wanted, right)


def own_label(fitted: Any, X: Any, y: Any) -> Floats:
    """The probability that a fitted classifier gives to each canary's own label."""
    proba = np.asarray(fitted.predict_proba(X), dtype=np.float64)
    place = {label: i for i, label in enumerate(fitted.classes_.tolist())}
    return np.array([row[place[label]] if label in place else 0.0 for row, label in zip(proba, y, strict=True)])


def one_run_bound(right: int, guesses: int, canaries: int, alpha: float, delta: float = 0.0) -> float:
    """The largest epsilon that ``right`` of ``guesses`` right guesses refute at level ``alpha``, at least 0.

    >>> one_run_bound(50, 100, 100, 0.05)
    0.0
    >>> round(one_run_bound(90, 100, 100, 0.05), 2)
    1.63
    """
    low, high = 0.0, 40.0  # no number of guesses that a machine can hold refutes more
    if chance(right, guesses, canaries, low, delta) > alpha:
        return 0.0
    for _ in range(60):
        middle = (low + high) / 2
        if chance(right, guesses, canaries, middle, delta) <= alpha:
            low = middle
        else:
            high = middle
    return low


def chance(right: int, guesses: int, canaries: int, epsilon: float, delta: float) -> float:
    """The most likely that so many right guesses can be under (epsilon, delta): Theorem 5.2 of the paper."""
    from scipy.stats import binom

    q = 1 / (1 + math.exp(-epsilon))
    tail = float(binom.sf(right - 1, guesses, q))
    if delta == 0 or right == 0:
        return min(1.0, tail)
    less = np.cumsum(binom.pmf(np.arange(right - 1, -1, -1), guesses, q)) / np.arange(1, right + 1)
    return min(1.0, tail + 2 * canaries * delta * float(less.max()))


def _join(first: Any, second: Any) -> Any:
    if hasattr(first, "iloc"):
        pd: Any = import_module("pandas")
        return pd.concat([first, second], ignore_index=True)
    if isinstance(first, dict):
        return {name: [*first[name], *second[name]] for name in first}
    if isinstance(first, np.ndarray):
        return np.concatenate([first, np.asarray(second)])
    return [*first, *second]
