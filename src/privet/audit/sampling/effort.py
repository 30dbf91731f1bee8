"""Effort: the time and the fits that an audit may spend, and what is left of them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from privet.audit.sampling.fits import Crew

FEWEST, MOST = 4, 100  # fits of each table in the first round of screening: four show a leak without noise
SHARE = 0.3  # of time and fits that screening plans with; the rest is for looks
LATEST = 0.4  # of time and fits: nothing is screened after it
TINY = 1e-6  # seconds of a fit that nobody has timed yet


class Effort:
    """A limit of seconds by the clock, perhaps one of fits, and what was spent."""

    def __init__(self, crew: Crew, seconds: float, max_fits: int | None) -> None:
        self._crew, self._seconds, self._max_fits = crew, seconds, max_fits
        self._started, self._cpu = time.monotonic(), self._cpu_now
        self._learning = 0.0  # seconds for each fit that is learned from
        self.fits = 0

    @property
    def seconds_taken(self) -> float:
        return time.monotonic() - self._started

    @property
    def cpu_taken(self) -> float:
        return self._cpu_now - self._cpu

    @property
    def _cpu_now(self) -> float:
        # With one process the crew's time is in this process's own.
        return time.process_time() + (self._crew.cpu if self._crew.processes > 1 else 0.0)

    def affordable(self, wanted: int, share: float = 1.0, learning: int = 0) -> int:
        """At most so many more fits of each table, after learning from ``learning`` of them."""
        left = self._seconds - self.seconds_taken - self._learning * learning
        most = int(max(left, 0.0) * share / (2 * (self._crew.seconds_each or TINY)))
        if self._max_fits is not None:
            most = min(most, int((self._max_fits - self.fits) * share / 2))
        return max(0, min(wanted, most))

    @contextmanager
    def learning(self, fits: int) -> Iterator[None]:
        """Time a block that learns from so many fits of each table. The next one knows what that takes."""
        started = time.monotonic()
        yield
        self._learning = (time.monotonic() - started) / max(fits, 1)

    def screening(self, rounds: int) -> int:
        """Fits of each table in the first round of a screening that has ``rounds`` times as many in all."""
        most: float = SHARE * self._seconds / (self._crew.seconds_each or TINY) / max(rounds, 1)
        if self._max_fits is not None:
            most = min(most, SHARE * self._max_fits / max(rounds, 1))
        return max(FEWEST, min(MOST, int(most)))

    def may_screen(self) -> bool:
        """Whether screening has not had its share yet."""
        if self._max_fits is not None and self.fits >= LATEST * self._max_fits:
            return False
        return self.seconds_taken < LATEST * self._seconds
