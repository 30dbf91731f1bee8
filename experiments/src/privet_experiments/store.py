"""The store of raw results: a file a grid, one line of JSON a job.

A form with other axes has a file of its own. A file's first line says which experiment, form and grid it belongs to; if
the form has changed since, the file is refused, for its results would not belong together. More or fewer repeats are no
change: each is done in the same way. A line is written and synced whole; if the machine stops in the middle of one, the
torn end is dropped and its job is done again.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from privet.errors import ParameterError, Setting
from privet_experiments.experiment import Experiment, Found, key_of
from privet_experiments.registry import ENTRIES, Form

ANEW = ("begin anew with ", Setting("fresh", True))


def file_name(name: str, form: Form, grid: Experiment) -> str:
    """Where the results go: a grid with other axes than the form's has a file of its own."""
    axes = grid.to_dict()
    known = next((one for one in ENTRIES if one.name == name), None)
    if known is None or known.form(form).to_dict() == axes:
        return f"{name}.{form}.jsonl"
    return f"{name}.{form}.{hashlib.sha256(key_of(axes).encode()).hexdigest()[:8]}.jsonl"


def read_lines(path: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The first line of a file of results, and the others: a job, what it found, and its seconds."""
    head, *lines = Lines(path, {}).whole() or [{}]
    return head, lines


@dataclass(frozen=True)
class Done:
    """What a job found, and how long it took."""

    found: Found
    seconds: float


@dataclass(frozen=True)
class Lines:
    """The file of a run."""

    path: Path
    head: dict[str, Any]

    def open(self, *, fresh: bool = False) -> dict[str, Done]:
        """What has been done, by job; an empty file with its first line where there is nothing yet."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        kept = self.whole()
        if fresh or not kept:
            self.path.write_bytes(b"")
            self.append(self.head)
            return {}
        done = self.done()
        if kept[0] != self.head:  # other repeats
            draft = self.path.with_suffix(".draft")
            draft.unlink(missing_ok=True)
            for line in (self.head, *kept[1:]):
                Lines(draft, self.head).append(line)
            draft.replace(self.path)
        return done

    def done(self) -> dict[str, Done]:
        """What has been done, by job."""
        head, *kept = self.whole() or [self.head]
        self._check_head(head)
        return {key_of(line["job"]): Done(line["found"], line["seconds"]) for line in kept}

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

    def _check_head(self, found: dict[str, Any]) -> None:
        before, now = (head.get("grid", {}) for head in (found, self.head))
        apart = [name for name in dict.fromkeys((*before, *now)) if before.get(name) != now.get(name)]
        if found == self.head or (apart == ["repeats"] and found | {"grid": now} == self.head):
            return
        what = f"another grid ({', '.join(apart)})" if apart else "another experiment"
        problem = f"{str(self.path)!r} holds results of {what}, which do not belong with these"
        fix = ("name another directory for ", Setting("out"), ", or ", *ANEW)
        raise ParameterError(problem, parameter="out", fix=fix)
