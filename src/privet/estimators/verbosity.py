"""Progress lines of a fit with ``verbose``: about once a second, and at the end."""

from __future__ import annotations

import sys
import time

from privet.progress import Progress, tell_stage

EVERY = 1.0  # seconds between two lines


class VerboseProgress:
    """Writes progress to stderr, and passes it on to another callback."""

    def __init__(self, name: str, also: Progress | None = None) -> None:
        self._name = name
        self._also = also
        self._began = time.monotonic()
        self._next = self._began
        self._say("begins")

    def __call__(self, done: int, total: int) -> None:
        if self._also is not None:
            self._also(done, total)
        if time.monotonic() >= self._next and total > 0:
            self._say(f"{100 * done / total:.0f} % done")

    def stage(self, what: str) -> None:
        tell_stage(self._also, what)
        self._say(what)

    def end(self, result: str) -> None:
        self._say(f"ends: {result}")

    def _say(self, what: str) -> None:
        now = time.monotonic()
        self._next = now + EVERY
        print(f"[{self._name}] {now - self._began:.0f} s: {what}", file=sys.stderr)
