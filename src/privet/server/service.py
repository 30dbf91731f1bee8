"""The parts of a running server, and what its routes share: who asks, which table, and how an answer looks."""

from __future__ import annotations

import json
import os
import time
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from starlette.requests import Request

from privet.errors import ParameterError
from privet.privacy.books import release
from privet.privacy.books.grants import Grant
from privet.privacy.books.storage import Books, Transaction
from privet.privacy.losses import Loss
from privet.server.keys import Person, add_person, who_asks
from privet.server.logs import Log
from privet.server.metrics import Metrics
from privet.server.pricing import Pricing, Table
from privet.server.problems import LOST, Problem, pair
from privet.server.rates import Buckets
from privet.server.settings import Settings
from privet.server.slots import Slots
from privet.server.witness import Witness
from privet.server.workers import Workers

OWNER = "owner"
KEY_FILE = "owner.key"
TABLE = (
    "SELECT d.id, d.population, d.schema, d.most_records, d.folder, d.state, p.neighbours, p.unit FROM datasets d "
    "JOIN populations p ON p.id = d.population"
)


class Service:
    """Everything that a server holds. Books and workers are opened here, and closed by ``close``."""

    def __init__(self, settings: Settings, log: Log | None = None) -> None:
        self.settings, self.log, self.metrics = settings, log or Log(), Metrics()
        settings.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.books = Books(settings.address)
        self.books.register_server()
        self.first_start = first_owner(self.books, settings.folder)
        self.witness = Witness(self.books, settings.witness)
        if not self.witness.readable:
            self.log.write("witness", fault="the file cannot be read; it is written again")
        self.workers = Workers(settings, self.log)
        self.pricing = Pricing(settings, self.books, self.workers)
        self.slots = Slots(self.books, self.workers, self.metrics, self.log, settings.slots)
        self.requests = Buckets(settings.rate, settings.burst)
        self.metrics.gauges["commits"] = lambda: self.books.commits

    def close(self, patience: float = 20.0) -> None:
        self.slots.close(patience)
        self.workers.stop()
        self.witness.close()
        self.books.close()

    # -- who asks --------------------------------------------------------------------------------------------------

    def person(self, request: Request, *roles: str) -> Person:
        """The person behind a request. For other roles the route does not exist."""
        found = who_asks(self.books, request)
        request.state.key = found.key
        if found.role != OWNER:
            self.requests.check(found.key, 1.0, f"a key may send {self.settings.rate:g} requests a second")
        if roles and found.role not in roles:
            raise Problem("not-found")
        self.witness.check(request.headers.get("privet-head") or request.cookies.get("privet-head"))
        return found

    # -- tables ----------------------------------------------------------------------------------------------------

    def table(self, name: str, person: Person) -> Table:
        """An open table that the person may ask (or any, for the owner); else it does not exist."""
        if person.role == OWNER:
            rows = self.books.read(f"{TABLE} WHERE d.id = ?", name)
        else:
            sql = f"{TABLE} JOIN doors o ON o.dataset = d.id WHERE d.id = ? AND o.person = ? AND d.state <> 'closed'"
            rows = self.books.read(sql, name, person.id)
        if not rows:
            raise Problem("not-found")
        return _table(rows[0])

    def tables(self, person: Person) -> list[Table]:
        if person.role == OWNER:
            rows = self.books.read(f"{TABLE} ORDER BY d.id")
        else:
            sql = f"{TABLE} JOIN doors o ON o.dataset = d.id WHERE o.person = ? AND d.state <> 'closed' ORDER BY d.id"
            rows = self.books.read(sql, person.id)
        return list(map(_table, rows))

    def model_text(self, person: Person, ask: dict[str, Any]) -> str | None:
        """The model that a score is about: an answer that the same person got."""
        if ask["ask"] != "score":
            return None
        view = release.released(self.books, ask["of"], person.id, time.time())
        model = None if view is None or view.answer is None else json.loads(view.answer).get("model")
        if model is None:
            raise ParameterError(parameter="of", problem="must be the id of a model that you got as an answer")
        return json.dumps(model)

    def grants(self, person: str) -> dict[str, Grant]:
        """What a person may spend, by population."""
        rows = self.books.read("SELECT population, most, spent, held FROM grants WHERE person = ?", person)
        return {population: Grant(*map(Loss.read, amounts)) for population, *amounts in rows}

    # -- answers ---------------------------------------------------------------------------------------------------

    def view(self, job: str, person: Person, *, with_answer: bool = True) -> release.View:
        found = release.released(self.books, job, person.id, time.time(), with_answer=with_answer)
        if found is None:
            raise Problem("not-found")
        return found


def shown(view: release.View) -> dict[str, Any]:
    """An answer as JSON."""
    facts: dict[str, Any] = {"id": view.id, "dataset": view.dataset, "state": view.state, **pair(view.loss)}
    facts |= {"seconds": view.seconds, "due": as_time(view.due), "late": view.late, "ask": json.loads(view.ask)}
    if view.queued_before is not None:
        facts["queued_before"] = view.queued_before
    if view.state == "lost":
        facts["detail"] = LOST
    if view.answer is not None:
        facts["answer"] = json.loads(view.answer)
    return facts


def as_time(moment: float | None) -> str | None:
    """RFC 3339 in UTC."""
    return None if moment is None else datetime.fromtimestamp(moment, UTC).isoformat(timespec="milliseconds")


def first_owner(books: Books, folder: Path) -> bool:
    """On the first start: the owner's key, in a file that only this user can read. Says whether it was the first."""
    path = folder / KEY_FILE
    if books.read("SELECT 1 FROM people WHERE role = 'owner'"):
        return False
    made = books.do(partial(_owner, path=path))
    return bool(made)


def _owner(tx: Transaction, path: Path) -> bool:
    if tx.one("SELECT 1 FROM people WHERE role = 'owner'"):
        return False
    key = add_person(tx, OWNER, OWNER)["key"]
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    with open(os.open(beside, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "w") as file:
        file.write(key + "\n")
        file.flush()
        os.fsync(file.fileno())
    os.replace(beside, path)  # before the commit: a crash in between makes a new key and a new file
    return True


def _table(row: tuple[Any, ...]) -> Table:
    name, population, schema, most, folder, state, neighbours, unit = row
    return Table(name, population, json.loads(schema), int(most), Path(folder), state, neighbours, unit)
