"""Runs any experiment: one line of JSON a job, kept as soon as it is done, so that an interrupted run goes on.

A form with other axes has a file of its own. A file's first line says which experiment, form and grid it belongs to; if
the form has changed since, the file is refused, for its results would not belong together. A line is written and synced
whole; if the machine stops in the middle of one, the torn end is dropped and its job is done again.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from privet.errors import ParameterError, Setting
from privet_experiments.experiment import Experiment, Found, Job, Row, key_of
from privet_experiments.outcome import Outcome
from privet_experiments.registry import ENTRIES, Form
from privet_experiments.settling import settle
from privet_experiments.workers import share_out

Progress = Callable[[int, int], None]
ANEW = ("begin anew with ", Setting("fresh", True))


@dataclass(frozen=True)
class Run:
    """A finished run: the rows in the order of the jobs, what they come to, and what all of it cost."""

    name: str
    form: Form
    grid: Experiment
    rows: tuple[Row, ...]
    outcome: Outcome
    seconds: float
    """Of processor time, over all processes and sittings."""
    resumed: int
    """How many jobs had been done before."""

    def to_dict(self) -> dict[str, Any]:
        told = {"experiment": self.name, "form": self.form, "grid": self.grid.to_dict(), "seconds": self.seconds}
        return told | self.outcome.to_dict() | {"rows": list(self.rows)}


def run(
    name: str,
    form: Form,
    grid: Experiment,
    *,
    out: Path | None = None,
    fresh: bool = False,
    processes: int | None = None,
    progress: Progress | None = None,
) -> Run:
    """Do the jobs that are not done yet, and conclude. Without ``out`` nothing is kept; ``fresh`` forgets what was."""
    grid.check_axes()
    grid.check()
    jobs = grid.jobs()
    if len({key_of(job) for job in jobs}) < len(jobs):
        raise ParameterError(f"{name} would do a job twice: the axes of its grid name something more than once")
    done: dict[str, _Done] = {}
    lines = None if out is None else Lines(out / file_name(name, form, grid), {"experiment": name, "form": form})
    if lines is not None:
        done = lines.open(grid.to_dict(), fresh=fresh)
    waiting = [job for job in jobs if key_of(job) not in done]
    resumed = len(jobs) - len(waiting)
    for job, found, seconds in share_out(_do, [(grid, job) for job in waiting], processes, progress):
        done[key_of(job)] = _Done(found, seconds)
        if lines is not None:
            lines.append({"job": job, "found": found, "seconds": seconds})
    rows = tuple(job | done[key_of(job)].found for job in jobs)
    seconds = sum(done[key_of(job)].seconds for job in jobs)
    return Run(name, form, grid, rows, settle(grid, rows), seconds, resumed)


def file_name(name: str, form: Form, grid: Experiment) -> str:
    """Where the results go: a grid with other axes than the form's has a file of its own."""
    axes = grid.to_dict()
    known = next((one for one in ENTRIES if one.name == name), None)
    if known is None or known.form(form).to_dict() == axes:
        return f"{name}.{form}.jsonl"
    return f"{name}.{form}.{hashlib.sha256(key_of(axes).encode()).hexdigest()[:8]}.jsonl"


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
    return job, json.loads(json.dumps(found, allow_nan=False)), round(time.process_time() - start, 3)


def read_lines(path: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The first line of a file of results, and the others: a job, what it found, and its seconds."""
    head, *lines = Lines(path, {}).whole() or [{}]
    return head, lines


@dataclass(frozen=True)
class _Done:
    found: Found
    seconds: float


@dataclass(frozen=True)
class Lines:
    """The file of a run."""

    path: Path
    head: dict[str, Any]

    def open(self, grid: dict[str, Any], *, fresh: bool = False) -> dict[str, _Done]:
        """What has been done, by job; an empty file with its first line where there is nothing yet."""
        head = self.head | {"grid": grid}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        kept = [] if fresh else self.whole()
        if not kept:
            self.path.write_bytes(b"")
            self.append(head)
            return {}
        self._check_head(kept[0], head)
        return {key_of(line["job"]): _Done(line["found"], line["seconds"]) for line in kept[1:]}

    def append(self, line: dict[str, Any]) -> None:
        """Write one line, whole and down to the disk."""
        with self.path.open("ab") as out:
            out.write(json.dumps(line, separators=(",", ":")).encode() + b"\n")
            out.flush()
            os.fsync(out.fileno())

    def whole(self) -> list[dict[str, Any]]:
        """The lines as they were written; a torn end is cut off the file."""
        return list(self._whole_lines())

    def _whole_lines(self) -> Iterator[dict[str, Any]]:
        if not self.path.is_file():
            return
        content = self.path.read_bytes()
        whole = content[: content.rfind(b"\n") + 1]
        if len(whole) < len(content):
            with self.path.open("r+b") as file:
                file.truncate(len(whole))
        for number, text in enumerate(whole.splitlines(), 1):
            try:
                yield json.loads(text)
            except ValueError:
                problem = f"line {number} of {str(self.path)!r} is damaged"
                raise ParameterError(problem, parameter="fresh", fix=("delete it, or ", *ANEW)) from None

    def _check_head(self, found: dict[str, Any], wanted: dict[str, Any]) -> None:
        if found == wanted:
            return
        before, now = (head.get("grid", {}) for head in (found, wanted))
        apart = [name for name in dict.fromkeys((*before, *now)) if before.get(name) != now.get(name)]
        what = f"another grid ({', '.join(apart)})" if apart else "another experiment"
        problem = f"{str(self.path)!r} holds results of {what}, which do not belong with these"
        fix = ("name another directory for ", Setting("out"), ", or ", *ANEW)
        raise ParameterError(problem, parameter="out", fix=fix)
