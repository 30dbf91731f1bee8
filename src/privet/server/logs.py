"""The log: one line of JSON per request. No body, no answer, no query, no address of a source, no time of paid work."""

from __future__ import annotations

import json
import sys
import threading
from datetime import UTC, datetime
from typing import Any, TextIO

from starlette.types import Scope


class Log:
    """Lines of JSON to a stream."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream, self._lock = stream, threading.Lock()

    def request(self, scope: Scope, number: str, status: int, seconds: float) -> None:
        state = scope.get("state", {})
        route = getattr(scope.get("route"), "path", "-")  # the template, not what was typed
        facts = {"request": number, "method": scope["method"], "route": route, "status": status}
        facts |= {"key": state.get("key"), "price": state.get("price")}
        if is_free(scope["method"], route):
            facts["ms"] = round(1000 * seconds, 1)
        self.write("request", **facts)

    def fault(self, number: str, error: Exception) -> None:
        """A fault of ours: where it happened, and not what it says, which may quote a record."""
        at, trace = None, error.__traceback__
        while trace is not None:
            at = f"{trace.tb_frame.f_code.co_filename.rpartition('privet/')[2]}:{trace.tb_lineno}"
            trace = trace.tb_next
        self.write("fault", request=number, error=type(error).__name__, at=at)

    def write(self, event: str, **facts: Any) -> None:
        line = json.dumps({"time": datetime.now(UTC).isoformat(timespec="milliseconds"), "event": event} | facts)
        with self._lock:
            print(line, file=self._stream or sys.stderr, flush=True)


def is_free(method: str, route: str) -> bool:
    """Whether a route does no paid work, so that the log may have its milliseconds."""
    return method != "POST" or not route.endswith("/answers")
