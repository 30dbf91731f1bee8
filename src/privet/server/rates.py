"""How much a key may ask for: requests by a bucket that fills, free work by seconds in an hour."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict

from privet.server.problems import Problem

KEPT = 10_000  # buckets; the oldest is forgotten first, and starts full again


class Buckets:
    """A bucket for each name: it holds ``most`` and fills by ``each_second``."""

    def __init__(self, each_second: float, most: float) -> None:
        self._fills, self._most = each_second, most
        self._held: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._lock = threading.Lock()

    def take(self, name: str, amount: float = 1.0) -> float:
        """Take from a bucket; 0 if it held enough, else the seconds until it does."""
        now = time.monotonic()
        with self._lock:
            level, at = self._held.pop(name, (self._most, now))
            level = min(self._most, level + (now - at) * self._fills)
            wait = 0.0 if level >= amount else (amount - level) / self._fills
            self._held[name] = (level - amount if not wait else level, now)
            while len(self._held) > KEPT:
                self._held.popitem(last=False)
        return wait

    def check(self, name: str, amount: float, what: str) -> None:
        wait = self.take(name, amount)
        if wait:
            seconds = str(int(wait) + 1)
            raise Problem("rate", f"{what}; try again in {seconds} s", headers={"Retry-After": seconds})

    def use(self, name: str, amount: float) -> None:
        """Take what was used, also more than the bucket holds."""
        now = time.monotonic()
        with self._lock:
            level, at = self._held.pop(name, (self._most, now))
            self._held[name] = (min(self._most, level + (now - at) * self._fills) - amount, now)
