"""Populations and grants: a cap over all tables about the same people, and a share of it for each analyst.

The sum of grants may not exceed the cap. So an analyst's limit alone decides what is refused, and a refusal reveals
nothing about the questions of others. A cap can only be lowered.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from privet.privacy.books.refusals import Refusal
from privet.privacy.books.storage import Transaction
from privet.privacy.budget import Neighbours
from privet.privacy.chain import START
from privet.privacy.losses import NOTHING, Loss

RESTORED, BY_OWNER = "restored", "owner"  # why a population is frozen


@dataclass(frozen=True, slots=True)
class Grant:
    """What an analyst may spend on a population: spent for good, held for accepted questions that have not begun."""

    limit: Loss
    spent: Loss = NOTHING
    held: Loss = NOTHING

    @property
    def taken(self) -> Loss:
        return self.spent + self.held

    @property
    def left(self) -> Loss:
        return self.limit - self.taken

    def allows(self, loss: Loss) -> bool:
        return self.taken + loss <= self.limit


def read_grant(tx: Transaction, person: str, population: str) -> Grant | None:
    sql = "SELECT most, spent, held FROM grants WHERE person = ? AND population = ?"
    row = tx.one(sql, person, population)
    return None if row is None else Grant(*map(Loss.read, row))


def write_grant(tx: Transaction, person: str, population: str, grant: Grant) -> None:
    tx.run(
        "UPDATE grants SET most = ?, spent = ?, held = ? WHERE person = ? AND population = ?",
        *map(str, (grant.limit, grant.spent, grant.held)),
        person,
        population,
    )


def add_population(
    tx: Transaction,
    population: str,
    title: str,
    unit: str,
    neighbours: Neighbours,
    cap: Loss,
    carried: Loss = NOTHING,
    journal_head: str | None = None,
) -> None:
    """A new population. ``carried`` was spent before, as a journal with that head says, and cannot be granted."""
    if tx.one("SELECT 1 FROM populations WHERE id = ?", population):
        raise Refusal("exists", "there is a population of this name; its cap can be lowered, not set again")
    if not carried <= cap:
        raise Refusal("cap", "more was spent before than the cap allows; give a cap of at least that")
    tx.run(
        "INSERT INTO populations VALUES (?, ?, ?, ?, ?, ?, 0, ?, NULL)",
        *(population, title, unit, neighbours.value, str(cap), str(carried), START),
    )
    body = {"title": title, "unit": unit, "neighbours": neighbours.value, "cap": str(cap)}
    if carried != NOTHING:
        body |= {"carried": str(carried), "journal": journal_head or ""}
    tx.append(population, "population", body)


def lower_cap(tx: Transaction, population: str, cap: Loss) -> None:
    old, granted, _ = _population(tx, population)
    if not cap <= old:
        raise Refusal("cap", f"the cap is {old}, and only falls")
    if not granted <= cap:
        raise Refusal("cap", f"{granted} is granted; lower grants first")
    tx.run("UPDATE populations SET cap = ? WHERE id = ?", str(cap), population)
    tx.append(population, "cap", {"cap": str(cap)})


def put_grant(tx: Transaction, population: str, person: str, limit: Loss, datasets: Iterable[str]) -> Grant:
    """Set an analyst's limit, and which tables of the population may be asked."""
    cap, granted, _ = _population(tx, population)
    if not tx.one("SELECT 1 FROM people WHERE id = ? AND role = 'analyst' AND closed = 0", person):
        raise Refusal("not-found")
    old = read_grant(tx, person, population)
    new = Grant(limit, *(() if old is None else (old.spent, old.held)))
    if not new.taken <= limit:
        raise Refusal("spent", f"{new.taken} is spent or held already; grant at least that")
    total = granted - (NOTHING if old is None else old.limit) + limit
    if not total <= cap:
        raise Refusal("cap", f"grants would reach {total}, and the cap is {cap}; lower other grants first")
    tx.run("UPDATE populations SET granted = ? WHERE id = ?", str(total), population)
    if old is None:
        tx.run("INSERT INTO grants VALUES (?, ?, ?, '0', '0')", person, population, str(limit))
    else:
        write_grant(tx, person, population, new)
    mine = "SELECT id FROM datasets WHERE population = ?"
    tx.run(f"DELETE FROM doors WHERE person = ? AND dataset IN ({mine})", person, population)
    names = sorted(set(datasets))
    for name in names:
        if not tx.one("SELECT 1 FROM datasets WHERE id = ? AND population = ?", name, population):
            raise Refusal("not-found")
        tx.run("INSERT INTO doors VALUES (?, ?)", person, name)
    tx.append(population, "grant", {"person": person, "limit": str(limit), "datasets": names})
    return new


def freeze(
    tx: Transaction, population: str, why: str, head: str | None = None, lost: Mapping[str, Loss] | None = None
) -> bool:
    """Refuse new questions until the owner settles. Says whether it was not frozen before.

    ``lost`` is what analysts are charged for at this moment; see ``work.freeze_restored``.
    """
    _, _, frozen = _population(tx, population)
    if frozen in (RESTORED, why):
        return False
    tx.run("UPDATE populations SET frozen = ? WHERE id = ?", why, population)
    facts: dict[str, Any] = {"why": why} | ({} if head is None else {"head": head})
    tx.append(population, "frozen", facts | ({"lost": texts(lost)} if lost else {}))
    return True


def texts(amounts: Mapping[str, Loss]) -> dict[str, str]:
    return {name: str(amount) for name, amount in amounts.items()}


def settle(tx: Transaction, population: str, statement: str, lost: Mapping[str, Loss] | None) -> dict[str, Loss]:
    """The owner's word on what lost entries cost each analyst; questions go on.

    Without amounts, an old backup costs every analyst all that is left: that is the most that can have been spent.
    """
    _, _, frozen = _population(tx, population)
    if frozen is None:
        raise Refusal("running", "the population is not frozen; there is nothing to settle")
    rows = tx.run("SELECT person FROM grants WHERE population = ?", population).fetchall()
    grants = {person: read_grant(tx, person, population) for (person,) in rows}
    if lost is None:
        lost = {n: g.left for n, g in grants.items() if g and g.left != NOTHING} if frozen == RESTORED else {}
    for person, loss in lost.items():
        grant = grants.get(person)
        if grant is None:
            raise Refusal("invalid", "an amount is stated for a person who has no grant here")
        if not grant.allows(loss):
            raise Refusal("spent", f"{loss} is more than {person} can have spent; raise the grant first")
        write_grant(tx, person, population, Grant(grant.limit, grant.spent + loss, grant.held))
    tx.run("UPDATE populations SET frozen = NULL WHERE id = ?", population)
    tx.append(population, "settled", {"statement": statement, "lost": texts(lost)})
    return dict(lost)


def _population(tx: Transaction, population: str) -> tuple[Loss, Loss, str | None]:
    row = tx.one("SELECT cap, granted, frozen FROM populations WHERE id = ?", population)
    if row is None:
        raise Refusal("not-found")
    return Loss.read(row[0]), Loss.read(row[1]), row[2]
