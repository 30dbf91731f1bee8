"""Entries of the books: one chain per population, by the hashes of ``privacy/chain.py``, and what they add up to.

An entry is (population, number, time, kind, body). Exported as lines of JSON they can be examined without a server:
the chain, that no charge exceeds a grant, that no grant exceeds the cap, and that each answer was charged once.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

from privet.errors import JournalError, PrivetError
from privet.privacy.chain import START, extend, is_hash
from privet.privacy.losses import NOTHING, Loss

NAMES = ("population", "seq", "at", "kind", "body", "hash")
LONGEST = 2**20  # bytes of an exported line; a body has some hundreds


class _Writes(Protocol):
    def run(self, sql: str, *values: Any) -> Any: ...
    def one(self, sql: str, *values: Any) -> tuple[Any, ...] | None: ...


def append_entry(tx: _Writes, population: str, kind: str, body: dict[str, Any]) -> str:
    """Add an entry; returns the new head."""
    found = tx.one("SELECT seq, head FROM populations WHERE id = ?", population)
    assert found is not None, "an entry is about a population that exists"
    number, at = found[0] + 1, datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    text = json.dumps(body, sort_keys=True, separators=(",", ":"))
    head = extend(found[1], record(population, number, at, kind, text))
    tx.run("INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?)", population, number, at, kind, text, head)
    tx.run("UPDATE populations SET seq = ?, head = ? WHERE id = ?", number, head, population)
    return head


def record(population: str, number: int, at: str, kind: str, body: str) -> bytes:
    """The bytes that the chain covers. None of the parts before the body can hold a line break."""
    return f"{population}\n{number}\n{at}\n{kind}\n{body}".encode()


@dataclass
class Examined:
    """What exported entries say, and what is wrong with them, by number of the line."""

    population: str = ""
    entries: int = 0
    heads: list[str] = field(default_factory=lambda: [START])
    cap: Loss = NOTHING
    carried: Loss = NOTHING
    limits: dict[str, Loss] = field(default_factory=dict)
    spent: dict[str, Loss] = field(default_factory=dict)
    faults: dict[int, str] = field(default_factory=dict)
    charged: set[str] = field(default_factory=set)

    @property
    def head(self) -> str:
        return self.heads[-1]

    @property
    def total(self) -> Loss:
        return sum(self.spent.values(), self.carried)

    def take(self, line: int, entry: dict[str, Any]) -> None:
        """Follow the chain by one entry, then count it."""
        try:
            population, number, at, kind, body, hash_ = (entry[name] for name in NAMES)
            head = extend(self.head, record(population, number, at, kind, body))
            facts = json.loads(body)
        except (KeyError, TypeError, ValueError):
            self.faults[line] = "is no entry of exported books"
            return
        self.population = self.population or population
        self.entries += 1
        if hash_ != head or number != self.entries or population != self.population:
            self.faults[line] = "does not follow from the entries before it"
        self.heads.append(hash_ if is_hash(hash_) else head)  # go on from what it claims: one break is reported once
        try:
            self._count(kind, facts)
        except (KeyError, TypeError, AttributeError, PrivetError) as error:
            why = str(error) if isinstance(error, _Wrong) else "holds other facts than its kind has"
            self.faults.setdefault(line, why)

    def _count(self, kind: str, facts: dict[str, Any]) -> None:
        match kind:
            case "population":
                self.cap, self.carried = Loss.read(facts["cap"]), Loss.read(facts.get("carried", "0"))
            case "cap":
                self.cap = Loss.read(facts["cap"])
            case "grant":
                self.limits[facts["person"]] = Loss.read(facts["limit"])
            case "charge":
                if facts["job"] in self.charged:
                    raise _Wrong("charges an answer a second time")
                self.charged.add(facts["job"])
                self._spend(facts["person"], amounts(facts))
            case "settled" | "frozen":
                for person, lost in facts.get("lost", {}).items():
                    self._spend(person, Loss.read(lost))
        if kind in ("population", "cap", "grant") and not sum(self.limits.values(), self.carried) <= self.cap:
            raise _Wrong("leaves grants that together pass the cap")

    def _spend(self, person: str, loss: Loss) -> None:
        self.spent[person] = self.spent.get(person, NOTHING) + loss
        if not self.spent[person] <= self.limits.get(person, NOTHING):
            raise _Wrong("spends more than was granted")


class _Wrong(PrivetError):
    """A fault of an entry; ``Examined`` keeps its text."""


def amounts(facts: dict[str, Any]) -> Loss:
    """The loss in the body of an entry, whose epsilon and delta are two fields."""
    return Loss.read(f"{facts['epsilon']}, {facts['delta']}")


def examine_rows(rows: Iterable[tuple[Any, ...]]) -> Examined:
    """Examine rows of the table of entries, in their order."""
    found = Examined()
    for line, row in enumerate(rows, 1):
        found.take(line, dict(zip(NAMES, row, strict=True)))
    return found


def examine_export(path: Path) -> Examined:
    """Examine a file of exported entries, one a line."""
    found = Examined()
    with path.open("rb") as file:
        for line, text in enumerate(iter(lambda: file.readline(LONGEST), b""), 1):
            try:
                entry = json.loads(text)
            except ValueError:
                entry = None
            found.take(line, entry if isinstance(entry, dict) else {})
    if not found.entries:
        raise JournalError(f"{path} holds no exported entries; name what `privet owner export` wrote")
    return found


def is_export(path: Path) -> bool:
    """Whether a file begins like exported entries, and not like a journal."""
    with path.open("rb") as file:
        try:
            first = json.loads(file.readline(LONGEST))
        except ValueError:
            return False
    return isinstance(first, dict) and first.keys() >= set(NAMES)
