"""How sure a verdict is: whether it would flip if the runs behind it had been others.

Runs (folds, or training sets) are drawn again with replacement, as a bootstrap does, and every statement is judged
anew. The chance of a flip is the share of draws with another verdict. Folds share records, so it is a little too small.
A statement whose chance is above 5 % is not judged: "too few runs". Rows of one table draw the same runs, so that
learners stay paired.

A form is run repeat by repeat, and is done when no statement has too few runs any more (:func:`is_settled`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from privet_experiments.experiment import Experiment, Row
from privet_experiments.folds import mean_of
from privet_experiments.outcome import Outcome, Statement

DRAWS = 200  # a chance of 5 % is known within 3 points
MOST_FLIPS = 0.05
LEAST_RUNS = 10  # fewer say little of how runs vary
SHARED = ("figure", "table", "repeat", "records", "tree", "start")  # rows that agree here had the same folds or sets


def settle(grid: Experiment, rows: Sequence[Row], draws: int = DRAWS) -> Outcome:
    """What the rows come to, with the verdicts that enough runs stand behind. Nothing changes where nothing is drawn.

    >>> from privet_experiments.registry import entry
    >>> settle(entry("worked-examples").form("smoke"), []).statements
    ()
    """
    outcome = grid.conclude(rows)
    runs = grid.n_runs
    if runs is None or not outcome.statements:
        return outcome
    if runs < LEAST_RUNS:
        why = f"{runs} runs behind each number; {LEAST_RUNS} are the least"
        return unjudged(outcome, why)
    drawn = [grid.conclude(draw_again(grid, rows, seed)).statements for seed in range(draws)]
    same = [found for found in drawn if len(found) == len(outcome.statements)]
    settled = []
    for i, one in enumerate(outcome.statements):
        flips = sum(found[i].verdict != one.verdict for found in same) + len(drawn) - len(same)
        chance = flips / draws
        known = replace(one, flip=chance)
        settled.append(known if chance <= MOST_FLIPS else _unsure(known, f"flips in {chance:.0%} of {draws} draws"))
    return replace(outcome, statements=tuple(settled))


def unjudged(outcome: Outcome, why: str) -> Outcome:
    """The same without verdicts."""
    return replace(outcome, statements=tuple(_unsure(one, why) for one in outcome.statements))


def is_settled(grid: Experiment, outcome: Outcome) -> bool:
    """Whether more runs are not needed: enough runs stand behind the verdict on every statement.

    >>> from privet_experiments.registry import entry
    >>> is_settled(entry("fs-fig8").form("smoke"), Outcome())
    False
    """
    verdicts = {one.verdict for one in outcome.statements}
    return grid.n_runs is not None and bool(verdicts) and "too few runs" not in verdicts


def _unsure(one: Statement, why: str) -> Statement:
    if one.verdict not in _SO_FAR:
        return one
    return replace(one, verdict="too few runs", reason=f"{why}; here it {_SO_FAR[one.verdict]}")


_SO_FAR = {"reproduced": "agrees", "differs": "differs"}


def draw_again(grid: Experiment, rows: Sequence[Row], seed: int) -> list[Row]:
    """The rows with other runs, drawn with replacement."""
    if grid.by_repeats:
        return _other_repeats(grid, rows, seed)
    picks: dict[str, list[int]] = {}
    random = np.random.default_rng(seed)

    def again(row: Row) -> Row:
        n = grid.runs_in(row)
        where = repr([n, *(row.get(name) for name in SHARED)])
        if where not in picks:
            picks[where] = random.integers(n, size=n).tolist() if n else []
        pick = picks[where]
        return {name: each_runs(value, lambda runs: [runs[i] for i in pick], n) for name, value in row.items()}

    return [again(row) for row in rows]


def _other_repeats(grid: Experiment, rows: Sequence[Row], seed: int) -> list[Row]:
    """The rows of each repeat with what another repeat found; jobs of all repeats are in the same order."""
    jobs = grid.jobs()
    repeats: dict[int, list[Row]] = {}
    for job, row in zip(jobs, rows, strict=True):
        repeats.setdefault(grid.repeat_of(job), []).append(row)
    picks = np.random.default_rng(seed).integers(len(repeats), size=len(repeats))
    others = {repeat: iter(repeats[int(pick)]) for repeat, pick in zip(repeats, picks, strict=True)}
    return [next(others[grid.repeat_of(job)]) | job for job in jobs]


def averaged(row: Row) -> Row:
    """A row with the mean over its runs in place of every list of them; None where no run has a value."""
    return {name: each_runs(value, mean_of) for name, value in row.items()}


def pooled(rows: Sequence[Row], *names: str) -> list[Row]:
    """The means over the runs of all rows that agree in these names; repeats have as many runs each.

    >>> rows = [{"table": "vote", "repeat": repeat, "found": {"a": [repeat, 2.0]}} for repeat in range(3)]
    >>> pooled(rows, "table")
    [{'table': 'vote', 'repeat': 0, 'found': {'a': 1.5}}]
    """
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row[name] for name in names), []).append(row)
    return [_mean([averaged(row) for row in group], group[0]) for group in groups.values()]


def _mean(found: Sequence[Any], first: Any) -> Any:
    """The mean of each number that was a list of runs in the first row; other values are the first's."""
    if isinstance(first, dict):
        return {name: _mean([one[name] for one in found], first[name]) for name in first}
    if _is_runs(first):
        return mean_of(found)
    return [_mean(some, one) for one, *some in zip(first, *found, strict=True)] if isinstance(first, list) else found[0]


def each_runs(value: Any, work: Callable[[list[Any]], Any], n: int | None = None) -> Any:
    """A value with every list of runs in it replaced: plain numbers, ``n`` of them if that is given."""
    if isinstance(value, dict):
        return {name: each_runs(one, work, n) for name, one in value.items()}
    if _is_runs(value) and (n is None or len(value) == n):
        return work(value)
    return [each_runs(one, work, n) for one in value] if isinstance(value, list) else value


def _is_runs(value: Any) -> bool:
    plain = (int, float, type(None))
    return isinstance(value, list) and bool(value) and all(isinstance(one, plain) for one in value)
