"""Metrics that reveal nothing about records. No label names a person or a table."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable

from starlette.types import Scope

from privet.server.logs import is_free


class Metrics:
    """Counters, and values that are asked for when they are shown."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: Counter[str] = Counter()
        self._seconds = 0.0
        self._free = 0
        self.gauges: dict[str, Callable[[], float]] = {}

    def count_request(self, scope: Scope, status: int, seconds: float) -> None:
        route = getattr(scope.get("route"), "path", "other")
        labels = f'method="{scope["method"] if len(scope["method"]) < 8 else "other"}",route="{route}"'
        with self._lock:
            self._counts[f'privet_requests_total{{{labels},status="{status // 100}xx"}}'] += 1
            if is_free(scope["method"], route):
                self._seconds += seconds
                self._free += 1

    def count(self, name: str) -> None:
        with self._lock:
            self._counts[f"privet_{name}_total"] += 1

    def text(self) -> str:
        """All of it, in the format of Prometheus."""
        with self._lock:
            lines = [f"{name} {value}" for name, value in sorted(self._counts.items())]
            lines += [f"privet_free_seconds_sum {self._seconds:.6f}", f"privet_free_seconds_count {self._free}"]
        lines += [f"privet_{name} {read():g}" for name, read in sorted(self.gauges.items())]
        return "\n".join(lines) + "\n"
