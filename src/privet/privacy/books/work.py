"""The life of a question, as transactions: T0 accept, T1 begin, T2 store; redo and cancel.

Accepted means held, begun means charged. Only a charged question reads records. One row per key of an analyst: the same
key gives the same answer again. Only the row (running, attempt k) takes an answer, once. Proof:
``docs/proofs/server.md``.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from dataclasses import dataclass
from typing import Any

from privet.privacy.books.grants import RESTORED, Grant, freeze, read_grant, write_grant
from privet.privacy.books.refusals import Refusal
from privet.privacy.books.storage import Transaction
from privet.privacy.losses import NOTHING, Loss

RUNGS = (1, 4, 16)  # times the deadline: when an answer may leave, at the first one that it does not miss
MISSES = 3  # late or lost answers of a table before it pauses: one may be chance, three say that the deadline is wrong


@dataclass(frozen=True, slots=True)
class Question:
    """What T0 needs: whose, about which table, under which key, the canonical question, its price and deadline."""

    person: str
    dataset: str
    key: str
    ask: dict[str, Any]
    loss: Loss
    seconds: float

    @property
    def digest(self) -> str:
        text = json.dumps([self.dataset, self.ask], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()


def find(tx: Transaction, question: Question) -> str | None:
    """The answer's id if this key was used before; another question under the same key is refused."""
    row = tx.one("SELECT id, digest FROM jobs WHERE person = ? AND idem = ?", question.person, question.key)
    if row is not None and row[1] != question.digest:
        raise Refusal("idempotency-key-reused", "this Idempotency-Key was used for another question; make a new one")
    return None if row is None else str(row[0])


def accept(tx: Transaction, question: Question, server: int, now: float, most_queued: int) -> tuple[str, bool]:
    """T0: hold the price, or refuse. Returns the answer's id, and whether it is new."""
    if (known := find(tx, question)) is not None:
        return known, False
    row = tx.one(
        "SELECT d.population, d.state, p.frozen FROM datasets d JOIN doors o ON o.dataset = d.id "
        "JOIN populations p ON p.id = d.population WHERE d.id = ? AND o.person = ?",
        *(question.dataset, question.person),
    )
    if row is None or row[1] == "closed":
        raise Refusal("not-found")
    population, state, frozen = row
    if frozen is not None:
        raise Refusal("frozen", "the owner has to settle the books first")
    if state == "paused":
        raise Refusal(
            "paused",
            "the table is paused: answers were late or lost, or its owner paused it; the owner has to open it",
        )
    grant = read_grant(tx, question.person, population)
    if grant is None:
        raise Refusal("not-found")
    if not grant.allows(question.loss):
        raise Refusal("budget", asked=question.loss, left=grant.left)
    waiting = tx.one("SELECT count(*) FROM jobs WHERE person = ? AND state = 'queued'", question.person)
    if waiting is not None and waiting[0] >= most_queued:
        raise Refusal("rate", f"{most_queued} of your questions wait already; come back when some are answered")
    job = secrets.token_hex(16)
    tx.run(
        "INSERT INTO jobs VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'queued', 0, ?, ?, ?, NULL, 0, 0)",
        *(job, question.person, question.dataset, population, question.key, question.digest),
        *(json.dumps(question.ask), str(question.loss), server, question.seconds, now),
    )
    held = Grant(grant.limit, grant.spent, grant.held + question.loss)
    write_grant(tx, question.person, population, held)
    return job, True


def begin(tx: Transaction, job: str, now: float) -> bool:
    """T1: the hold becomes a charge, and the due time is fixed. False if the question does not wait any more.

    While the population is frozen or the table paused it goes on waiting. A closed table gives the hold back.
    """
    row = tx.one(
        "SELECT j.person, j.population, j.dataset, j.loss, j.ask, d.state, d.missed, p.frozen FROM jobs j "
        "JOIN datasets d ON d.id = j.dataset JOIN populations p ON p.id = j.population "
        "WHERE j.id = ? AND j.state = 'queued'",
        job,
    )
    if row is None:
        return False
    person, population, dataset, text, ask, state, missed, frozen = row
    if state == "closed":
        cancel(tx, job, person, now)
        return False
    if frozen is not None or state == "paused":
        return False
    loss, grant = Loss.read(text), read_grant(tx, person, population)
    assert grant is not None
    write_grant(tx, person, population, Grant(grant.limit, grant.spent + loss, grant.held - loss))
    body = {"job": job, "person": person, "dataset": dataset, "ask": json.loads(ask)["ask"]}
    tx.append(population, "charge", body | {"epsilon": str(loss.epsilon), "delta": str(loss.delta)})
    longer = 2**missed  # after a late answer, which everybody could see, deadlines of the table are longer
    sql = "UPDATE jobs SET state = 'running', attempt = 1, begun = ?, seconds = seconds * ? WHERE id = ?"
    tx.run(sql, now, longer, job)
    return True


def store(tx: Transaction, job: str, attempt: int, answer: str | None, rung: int) -> bool:
    """T2: the answer of this attempt, to leave at that rung; without one it is lost, which shows at the last rung."""
    state, last = ("lost", len(RUNGS) - 1) if answer is None else ("done", rung)
    done = tx.run(
        "UPDATE jobs SET state = ?, rung = ? WHERE id = ? AND state = 'running' AND attempt = ?",
        *(state, last, job, attempt),
    )
    if done.rowcount != 1:
        return False
    if answer is not None:
        tx.run("INSERT INTO answers VALUES (?, ?)", job, answer)
    return True


def redo(tx: Transaction, job: str, server: int, now: float) -> int:
    """The server that ran it stopped: a second attempt under the same charge, or 0 if there was one already.

    Only the end of a server or its host leads here, never the end of a child: what a child does may depend on records.
    """
    row = tx.one("SELECT attempt FROM jobs WHERE id = ? AND state = 'running'", job)
    if row is None:
        return 0
    if row[0] >= 2:
        store(tx, job, row[0], None, 0)
        note(tx, job, "lost", counts=False)  # servers that stop twice say nothing about the table's deadlines
        return 0
    tx.run("UPDATE jobs SET attempt = 2, server = ?, begun = ? WHERE id = ?", server, now, job)
    return 2


def note(tx: Transaction, job: str, kind: str, *, counts: bool = True) -> None:
    """Write a late or lost answer into the chain, once, when it is due; the third one that counts pauses the table.

    Not before it is due: the moment of an entry must not tell how long the work took.
    """
    row = tx.one("SELECT population, dataset, noted FROM jobs WHERE id = ?", job)
    if row is None or row[2]:
        return
    population, dataset, _ = row
    tx.run("UPDATE jobs SET noted = 1 WHERE id = ?", job)
    tx.append(population, kind, {"job": job, "dataset": dataset})
    if not counts:
        return
    tx.run("UPDATE datasets SET missed = missed + 1 WHERE id = ?", dataset)
    paused = tx.run(
        "UPDATE datasets SET state = 'paused' WHERE id = ? AND state = 'open' AND missed >= ?", dataset, MISSES
    )
    if paused.rowcount:
        tx.append(population, "paused", {"dataset": dataset})


def cancel(tx: Transaction, job: str, person: str, now: float) -> None:
    """A waiting question gives its hold back: it read nothing. A begun one keeps its charge, and its answer is dropped.

    Until an answer is due it looks like one that is still worked on, here too.
    """
    row = tx.one(
        "SELECT state, population, loss, begun, seconds, rung FROM jobs WHERE id = ? AND person = ?", job, person
    )
    if row is None:
        raise Refusal("not-found")
    state, population, text, begun, seconds, rung = row
    if state == "queued":
        grant = read_grant(tx, person, population)
        assert grant is not None
        write_grant(tx, person, population, Grant(grant.limit, grant.spent, grant.held - Loss.read(text)))
    waits = state in ("queued", "running") or (state != "cancelled" and now < due_at(begun, seconds, rung))
    if waits:
        tx.run("UPDATE jobs SET state = 'cancelled' WHERE id = ?", job)  # `drop_cancelled` removes its answer later


def drop_cancelled(tx: Transaction, now: float) -> None:
    """Remove the answers of cancelled questions, once all their rungs are over."""
    over = f"state = 'cancelled' AND begun + {RUNGS[-1]} * seconds < ?"
    tx.run(f"DELETE FROM answers WHERE job IN (SELECT id FROM jobs WHERE {over})", now)


def freeze_restored(tx: Transaction, population: str, head: str | None = None) -> bool:
    """An old backup is in place, and entries after it are lost. Says whether the population was not frozen before.

    Questions that wait or run in the backup may have been answered after it was made. A second answer would have no
    charge of its own, so they are lost, and what was held for them is spent.
    """
    mine = "WHERE population = ? AND state IN ('queued', 'running')"
    spent: dict[str, Loss] = {}
    for person, text, state in tx.run(f"SELECT person, loss, state FROM jobs {mine}", population).fetchall():
        if state == "queued":
            spent[person] = spent.get(person, NOTHING) + Loss.read(text)
    if not freeze(tx, population, RESTORED, head, spent):
        return False
    for person, loss in spent.items():
        grant = read_grant(tx, person, population)
        assert grant is not None
        write_grant(tx, person, population, Grant(grant.limit, grant.spent + loss, grant.held - loss))
    # They are noted already, by the entry: the table was not late.
    gone = "UPDATE jobs SET state = 'lost', noted = 1, rung = ?, begun = COALESCE(begun, asked)"
    tx.run(f"{gone} {mine}", len(RUNGS) - 1, population)
    return True


def due_at(begun: float, seconds: float, rung: int) -> float:
    """When an answer of that rung may leave."""
    return begun + RUNGS[rung] * seconds


def first_rung(begun: float, seconds: float, now: float) -> int | None:
    """The first rung that is not missed now, if there is one."""
    return next((i for i in range(len(RUNGS)) if now <= due_at(begun, seconds, i)), None)
