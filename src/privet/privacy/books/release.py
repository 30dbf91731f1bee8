"""What an analyst may see of a question, at a time. This is the only reader of answers.

Until an answer is due, a finished question looks like a running one, whatever is asked about it. So a view depends on
public facts, the queue, the rung and the released answer, and not on how long the work took.
"""

from __future__ import annotations

from dataclasses import dataclass

from privet.privacy.books.storage import Books, Row
from privet.privacy.books.work import RUNGS, due_at, first_rung
from privet.privacy.losses import Loss

PAGE = 100  # questions in one list
COLUMNS = "id, dataset, population, state, loss, seconds, asked, begun, rung, ask"
OTHERS = "SELECT count(*) FROM jobs WHERE state = 'queued' AND person = ? AND asked < ?"


@dataclass(frozen=True, slots=True)
class View:
    """A question as its analyst sees it now."""

    id: str
    dataset: str
    population: str
    state: str  # queued, running, done, lost or cancelled
    loss: Loss
    seconds: float
    due: float | None  # of a running question: when it is due at the earliest
    late: bool
    queued_before: int | None  # own questions that wait before it
    ask: str
    answer: str | None
    asked: float  # when it was asked

    @property
    def waits(self) -> bool:
        return self.state in ("queued", "running")


def released(books: Books, job: str, person: str, now: float, *, with_answer: bool = True) -> View | None:
    """The view of one question; None if it is not this analyst's."""
    rows = books.read(f"SELECT {COLUMNS} FROM jobs WHERE id = ? AND person = ?", job, person)
    return _view(books, rows[0], person, now, with_answer=with_answer) if rows else None


def listed(books: Books, person: str, now: float, after: str | None = None) -> list[View]:
    """The newest questions without their answers, or those before the question ``after``."""
    before = now
    if after is not None:
        known = books.read("SELECT asked FROM jobs WHERE id = ? AND person = ?", after, person)
        if not known:
            return []
        before = known[0][0]
    sql = f"SELECT {COLUMNS} FROM jobs WHERE person = ? AND asked < ? ORDER BY asked DESC, id LIMIT {PAGE}"
    return [_view(books, row, person, now, with_answer=False) for row in books.read(sql, person, before)]


def _view(books: Books, row: Row, person: str, now: float, *, with_answer: bool) -> View:
    job, dataset, population, state, loss, seconds, asked, begun, rung, ask = row
    due, late, answer, before = None, False, None, None
    if state in ("done", "lost") and not is_due(now, begun, seconds, rung):
        state = "running"
    if state == "queued":
        before = int(books.read(OTHERS, person, asked)[0][0])
    elif state == "running":
        next_rung = first_rung(begun, seconds, now)
        due = due_at(begun, seconds, len(RUNGS) - 1 if next_rung is None else next_rung)
    elif state != "cancelled":
        due, late = due_at(begun, seconds, rung), state == "done" and rung > 0
    if state == "done" and with_answer:
        answer = books.read("SELECT answer FROM answers WHERE job = ?", job)[0][0]
    return View(job, dataset, population, state, Loss.read(loss), seconds, due, late, before, ask, answer, asked)


def is_due(now: float, begun: float, seconds: float, rung: int) -> bool:
    return now >= due_at(begun, seconds, rung)
