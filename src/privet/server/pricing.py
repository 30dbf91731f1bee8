"""Prices and deadlines, from public facts: each question is rehearsed on invented records before it is accepted.

A deadline is three times the longest of four runs: on as many invented records as there may be, twice, on a hundredth
of them, and on one (fewer records can take longer). What fails there is refused, and nothing is charged.
"""

from __future__ import annotations

import hashlib
import json
import math
import threading
import time
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from privet.privacy.books.storage import Books
from privet.privacy.losses import Loss
from privet.server.problems import Problem
from privet.server.rates import Buckets
from privet.server.settings import Settings
from privet.server.workers import Workers

FACTOR = 3  # how much longer than its longest rehearsal a question may take
LEAST = 1.0  # seconds; below, what else the machine does for a moment decides
GRID = tuple(step * 10**power for power in range(-1, 5) for step in (1, 2, 5))  # deadlines tell as little as they can
TWINS = ("twin0", "twin1", "twin2", "twin0")
PATIENCE = 20.0  # seconds that a request waits for a nursery


@dataclass(frozen=True, slots=True)
class Table:
    """A table as the server knows it."""

    id: str
    population: str
    schema: dict[str, Any]
    most_records: int
    folder: Path
    state: str
    neighbours: str
    unit: str


class Pricing:
    """Rehearsals, remembered by the shape of the question and the public facts of the table."""

    def __init__(self, settings: Settings, books: Books, workers: Workers) -> None:
        self._settings, self._books, self._workers = settings, books, workers
        hour = settings.rehearsal_seconds / 3600
        self._free = Buckets(hour, settings.rehearsal_seconds)
        self._one_at_a_time: dict[str, threading.Lock] = {}
        self._lock = threading.Lock()

    def quote(self, table: Table, ask: dict[str, Any], key: str, model: str | None = None) -> tuple[Loss, float]:
        """What a question costs, and its deadline in seconds."""
        shape = self._shape(table, ask)
        with self._lock:
            alone = self._one_at_a_time.setdefault(shape, threading.Lock())
        with alone:  # forty equal questions at once are rehearsed once
            known = self._books.read("SELECT seconds, loss FROM rehearsals WHERE shape = ?", shape)
            if known:
                return self._exact(ask, Loss.read(known[0][1])), float(known[0][0])
            loss, seconds = self._rehearse(table, ask, key, model)
            self._books.do(
                lambda tx: tx.run(
                    "INSERT INTO rehearsals VALUES (?, ?, ?) ON CONFLICT DO NOTHING", shape, seconds, str(loss)
                )
            )
        return loss, seconds

    def forget(self, table: Table) -> None:
        """Rehearse the questions of a table anew: its deadlines were too short."""
        start = _facts(table)
        self._books.do(lambda tx: tx.run("DELETE FROM rehearsals WHERE shape LIKE ?", start + "%"))

    def trial(self, table: Table, ask: dict[str, Any], key: str, model: str | None) -> Any:
        """The answer on invented records."""
        request = self._request(table, ask, "twin1", self.quote(table, ask, key, model)[0], model)
        return self.free(ask["ask"], request, key)

    def free(self, kind: str, request: dict[str, Any], key: str) -> Any:
        """Free work in a child, taken from the key's seconds of this hour. Its faults are public, and told."""
        self._free.check(key, 1.0, "this key has used its free work of this hour")
        if not self._workers.nursery_of(kind).ready.wait(PATIENCE):
            raise Problem("busy", "the workers are starting", headers={"Retry-After": "5"})
        begun = time.monotonic()
        try:
            reply = self._workers.run(kind, request | {"public": True}, self._settings.rehearsal_limit)
        finally:
            self._free.use(key, max(0.0, time.monotonic() - begun - 1.0))
        if "ok" not in reply:
            raise Problem("rehearsal", f"on invented records this fails: {reply.get('fault', '')}"[:600])
        return reply["ok"]

    def _rehearse(self, table: Table, ask: dict[str, Any], key: str, model: str | None) -> tuple[Loss, float]:
        loss = Loss.read(self.free(ask["ask"], {"job": "price", "ask": ask}, key))
        longest = 0.0
        for twin in TWINS:
            begun = time.monotonic()
            self.free(ask["ask"], self._request(table, ask, twin, loss, model), key)
            longest = max(longest, time.monotonic() - begun)
        return loss, deadline(longest)

    def _request(self, table: Table, ask: dict[str, Any], twin: str, loss: Loss, model: str | None) -> dict[str, Any]:
        return job_request(ask, table.folder / twin, loss, table.neighbours, model)

    def _shape(self, table: Table, ask: dict[str, Any]) -> str:
        """What the time of a question depends on. Of epsilon only its magnitude, but for fits, whose price may."""
        like = dict(ask)
        if ask["ask"] != "fit":
            like["epsilon"] = round(math.log2(Fraction(ask["epsilon"])))
        return _facts(table) + _hash(like)

    def _exact(self, ask: dict[str, Any], like: Loss) -> Loss:
        return Loss(Fraction(ask["epsilon"]), like.delta)


def job_request(
    ask: dict[str, Any], folder: Path, loss: Loss, neighbours: str, model: str | None = None
) -> dict[str, Any]:
    """What a child process gets of a question."""
    request = {"job": "answer", "ask": ask, "folder": str(folder), "loss": str(loss), "neighbours": neighbours}
    return request | ({} if model is None else {"model": model})


def deadline(longest: float) -> float:
    """The deadline after the longest rehearsal."""
    return next((step for step in GRID if step >= max(LEAST, FACTOR * longest)), GRID[-1])


def _facts(table: Table) -> str:
    public = {key: value for key, value in table.schema.items() if key != "name"}
    return _hash([public, table.most_records, table.neighbours])


def _hash(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
