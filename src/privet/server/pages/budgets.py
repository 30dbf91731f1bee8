"""The budget of a population as its pages show it: cap, granted, spent and free, now and over time."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from privet.privacy.books.entries import NAMES, Examined, amounts
from privet.privacy.books.grants import Grant
from privet.privacy.books.storage import Books
from privet.privacy.losses import NOTHING, Loss
from privet.server.problems import Problem


@dataclass(frozen=True, slots=True)
class Share:
    """An analyst's part of a population."""

    person: str
    grant: Grant
    tables: tuple[str, ...]
    last: float | None  # when the last question was asked
    closed: bool
    colour: int


@dataclass(frozen=True, slots=True)
class Moment:
    """What was promised, granted and spent from a time on."""

    at: float
    cap: Loss
    granted: Loss
    spent: Loss


@dataclass(frozen=True, slots=True)
class Budget:
    id: str
    title: str
    unit: str
    neighbours: str
    cap: Loss
    granted: Loss
    frozen: str | None
    shares: tuple[Share, ...] = ()
    tables: tuple[dict[str, Any], ...] = field(default=())

    @property
    def carried(self) -> Loss:
        """Spent before there were books."""
        return self.granted - sum((one.grant.limit for one in self.shares), NOTHING)

    @property
    def spent(self) -> Loss:
        return sum((one.grant.spent for one in self.shares), self.carried)

    @property
    def held(self) -> Loss:
        return sum((one.grant.held for one in self.shares), NOTHING)

    @property
    def free(self) -> Loss:
        return self.cap - self.granted


COLOURS = 8  # of the style sheet


def budgets(books: Books) -> list[Budget]:
    """All populations, by their titles."""
    names = [name for (name,) in books.read("SELECT id FROM populations ORDER BY title, id")]
    return [budget(books, name) for name in names]


def budget(books: Books, name: str) -> Budget:
    rows = books.read("SELECT title, unit, neighbours, cap, granted, frozen FROM populations WHERE id = ?", name)
    if not rows:
        raise Problem("not-found")
    title, unit, neighbours, cap, granted, frozen = rows[0]
    mine = books.read("SELECT id, state, most_records, missed, schema FROM datasets WHERE population = ?", name)
    keys = ("id", "state", "most_records", "missed", "schema")
    tables = tuple(dict(zip(keys, row, strict=True)) | {"schema": json.loads(row[4])} for row in sorted(mine))
    facts = (title or name, unit, neighbours, Loss.read(cap), Loss.read(granted), frozen)
    return Budget(name, *facts, _shares(books, name), tables)


def _shares(books: Books, name: str) -> tuple[Share, ...]:
    sql = "SELECT g.person, g.most, g.spent, g.held, p.closed FROM grants g JOIN people p ON p.id = g.person "
    rows = books.read(sql + "WHERE g.population = ? ORDER BY g.person", name)
    doors: dict[str, list[str]] = {}
    sql = "SELECT o.person, o.dataset FROM doors o JOIN datasets d ON d.id = o.dataset WHERE d.population = ? "
    for person, table in books.read(sql + "ORDER BY o.dataset", name):
        doors.setdefault(person, []).append(table)
    last: dict[str, float] = dict(
        books.read("SELECT person, MAX(asked) FROM jobs WHERE population = ? GROUP BY person", name)
    )
    return tuple(
        Share(
            person,
            Grant(*map(Loss.read, parts)),
            tuple(doors.get(person, ())),
            last.get(person),
            bool(closed),
            i % COLOURS,
        )
        for i, (person, *parts, closed) in enumerate(rows)
    )


def history(books: Books, name: str) -> tuple[list[Moment], Examined]:
    """How cap, grants and spending came about, and what is wrong with the entries that say so."""
    examined, moments = Examined(), list[Moment]()
    rows = books.read(f"SELECT {', '.join(NAMES)} FROM entries WHERE population = ? ORDER BY seq", name)
    granted = spent = NOTHING
    for line, row in enumerate(rows, 1):
        entry = dict(zip(NAMES, row, strict=True))
        examined.take(line, entry)
        kind, facts = entry["kind"], json.loads(entry["body"])
        if kind in ("population", "grant"):
            granted = sum(examined.limits.values(), examined.carried)
            spent = examined.carried if kind == "population" else spent
        elif kind == "charge":
            spent += amounts(facts)
        elif facts.get("lost"):
            spent += sum(map(Loss.read, facts["lost"].values()), NOTHING)
        elif kind != "cap":
            continue
        at = datetime.strptime(entry["at"], "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC).timestamp()
        moments.append(Moment(at, examined.cap, granted, spent))
    return moments, examined
