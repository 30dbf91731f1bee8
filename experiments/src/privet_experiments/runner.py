"""Runs any experiment: the result of a job is kept as soon as it is there, so that an interrupted run goes on.

Whole repeats of a grid are done first, so that what is kept of a run that was cut can be judged. After each of them the
statements are judged, and a run ends when all are settled: the repeats of a form are the most that are done.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from privet.errors import ParameterError
from privet_experiments.experiment import Experiment, Found, Job, Row, key_of
from privet_experiments.outcome import Outcome
from privet_experiments.registry import ENTRIES, Form
from privet_experiments.settling import is_settled, settle, unjudged
from privet_experiments.store import Done, Lines, file_name
from privet_experiments.workers import share_out

Progress = Callable[[int, int], None]
DIGITS = 6  # of a measure: a record of a million changes the sixth


@dataclass(frozen=True)
class Run:
    """Whole repeats of a grid: the rows in the order of the jobs, what they come to, and what all of it cost."""

    name: str
    form: Form
    grid: Experiment
    rows: tuple[Row, ...]
    outcome: Outcome
    seconds: float
    """Of processor time, over all processes and sittings."""
    resumed: int
    """How many jobs had been done before."""
    repeats: int
    """How many there are here, and in the whole form."""
    wanted: int
    left: tuple[str, ...] = ()
    """Tables of which not one repeat is there, where tables are judged one by one."""

    @property
    def settled(self) -> bool:
        """Whether no more repeats are needed, though the form may have more."""
        return not self.left and is_settled(self.grid, self.outcome)

    @property
    def cut(self) -> bool:
        """Whether the form has more, and statements that need it."""
        return bool(self.left) or (self.repeats < self.wanted and not self.settled)

    def to_dict(self) -> dict[str, Any]:
        told = {"experiment": self.name, "form": self.form, "grid": self.grid.to_dict(), "seconds": self.seconds}
        return told | self.outcome.to_dict() | {"rows": list(self.rows)}


class Worked(NamedTuple):
    """What is done of a form, by job; how many jobs had been done before; and whether no more are needed."""

    done: dict[str, Done]
    resumed: int
    settled: bool


def run(name: str, form: Form, grid: Experiment, **how: Any) -> Run:
    """Do the jobs that are not done yet, and conclude. Takes what :func:`work` takes, but for its limits."""
    done, resumed, _ = work(name, form, grid, **how)
    found = _concluded(name, form, grid, done, resumed)
    assert found is not None
    return found


def work(
    name: str,
    form: Form,
    grid: Experiment,
    *,
    out: Path | None = None,
    fresh: bool = False,
    processes: int | None = None,
    progress: Progress | None = None,
    repeats: int | None = None,
    until: float | None = None,
    whole: bool = False,
) -> Worked:
    """Do the jobs that are not done yet, repeat by repeat, until all statements are settled; ``whole`` does all.

    Without ``out`` nothing is kept; ``fresh`` forgets what was. Of the grid only the first ``repeats`` are done, and
    no job is begun after ``until``, a time of the monotonic clock.
    """
    grid.check_axes()
    grid.check()
    jobs = grid.jobs()
    if len({key_of(job) for job in jobs}) < len(jobs):
        raise ParameterError(f"{name} would do a job twice: the axes of its grid name something more than once")
    lines = None if out is None else Lines(out / file_name(name, form, grid), _head(name, form, grid))
    done = {} if lines is None else lines.open(fresh=fresh)
    waiting = sorted((job for job in jobs if key_of(job) not in done), key=grid.repeat_of)
    resumed = len(jobs) - len(waiting)
    left = Counter(map(grid.repeat_of, waiting))

    def settled() -> bool:
        found = None if whole else _concluded(name, form, grid, done, resumed)
        return found is not None and found.settled

    if min(left, default=0) > 0 and settled():
        return Worked(done, resumed, True)
    if repeats is not None:
        waiting = [job for job in waiting if grid.repeat_of(job) < repeats]
    if until is not None and time.monotonic() >= until:
        return Worked(done, resumed, False)
    for job, found, seconds in share_out(_do, [(grid, job) for job in waiting], processes, progress):
        done[key_of(job)] = Done(found, seconds)
        if lines is not None:
            lines.append({"job": job, "found": found, "seconds": seconds})
        first = min(left)
        left -= Counter([grid.repeat_of(job)])  # drops what is not left
        if left and min(left) > first and settled():
            return Worked(done, resumed, True)
        if until is not None and time.monotonic() >= until:
            break
    return Worked(done, resumed, not left)


def recall(name: str, form: Form, grid: Experiment, out: Path) -> Run | None:
    """What is kept of a grid, without any work: its whole repeats, or None where there is not one.

    Of a grid that is judged by table, it is those of the tables that are done.
    """
    done = Lines(out / file_name(name, form, grid), _head(name, form, grid)).done()
    return _concluded(name, form, grid, done, len(done))


def n_repeats(grid: Experiment) -> int:
    """How often all of a grid is done."""
    return 1 + max(map(grid.repeat_of, grid.jobs()))


def _concluded(name: str, form: Form, grid: Experiment, done: Mapping[str, Done], resumed: int) -> Run | None:
    wanted, left = n_repeats(grid), _tables_left(grid, done)
    if left:
        grid = replace(grid, **{"tables": tuple(one for one in getattr(grid, "tables", ()) if one not in left)})
    missing = [grid.repeat_of(job) for job in grid.jobs() if key_of(job) not in done]
    whole = min(missing, default=wanted if grid.jobs() else 0)
    if not whole:
        return None
    part = grid.first(whole) if missing else grid
    jobs = part.jobs()
    rows = tuple(job | done[key_of(job)].found for job in jobs)
    seconds = sum(done[key_of(job)].seconds for job in jobs)
    outcome = settle(part, rows)
    if form == "smoke" and any(one.name == name and one.smoke != one.full for one in ENTRIES):
        outcome = unjudged(outcome, "the smoke form shows that it runs")
    return Run(name, form, part, rows, outcome, seconds, resumed, whole, wanted, left)


def _tables_left(grid: Experiment, done: Mapping[str, Done]) -> tuple[str, ...]:
    """The tables whose first repeat is not done, of a grid that is judged by table."""
    if not grid.by_table:
        return ()
    waiting = (job for job in grid.jobs() if not grid.repeat_of(job) and key_of(job) not in done)
    return tuple(dict.fromkeys(job["table"] for job in waiting))


def _head(name: str, form: Form, grid: Experiment) -> dict[str, Any]:
    return {"experiment": name, "form": form, "grid": grid.to_dict()}


def with_axes(grid: Experiment, changes: dict[str, Any]) -> Experiment:
    """A grid with other values on some axes."""
    known = {one.name for one in grid.axes()}
    if unknown := sorted(changes.keys() - known):
        raise ParameterError(f"the grid has no axis {unknown[0]!r}; it has {', '.join(sorted(known))}")
    return replace(grid, **changes)


def _do(grid: Experiment, job: Job) -> tuple[Job, Found, float]:
    """One job, in whichever process, and the processor time it took."""
    start = time.process_time()
    found = grid.run(job)
    if shared := job.keys() & found.keys():
        raise ValueError(f"a job and what it found share the name {min(shared)!r}")
    return job, json.loads(json.dumps(_short(found), allow_nan=False)), round(time.process_time() - start, 3)


def _short(value: Any) -> Any:
    """Numbers with as many digits as measures need: results stay small."""
    if isinstance(value, dict):
        return {name: _short(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_short(one) for one in value]
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value
