"""The life of a question: held, charged, stored once, shown when due; and the limits that no race passes."""

from __future__ import annotations

import threading
from collections import Counter
from fractions import Fraction

import pytest
from desk import accept, furnish, grant, question

from privet.privacy.books import release, work
from privet.privacy.books.refusals import Refusal
from privet.privacy.books.storage import Books
from privet.privacy.losses import NOTHING, Loss


def seen(books: Books, job: str, now: float) -> release.View:
    view = release.released(books, job, "ann", now)
    assert view is not None
    return view


def begun(books: Books, now: float = 0.0, **how: object) -> str:
    job, _ = accept(books, question(**how))  # type: ignore[arg-type]
    assert books.do(lambda tx: work.begin(tx, job, now))
    return job


def test_a_question_is_held_charged_stored_and_shown_when_due(books: Books) -> None:
    furnish(books)
    job, new = accept(books, question(0.1))
    assert new
    assert (grant(books).held, grant(books).spent) == (Loss(0.1), NOTHING)
    assert seen(books, job, 1).state == "queued"
    assert books.do(lambda tx: work.begin(tx, job, 10.0))
    assert not books.do(lambda tx: work.begin(tx, job, 10.0)), "only once"
    assert (grant(books).held, grant(books).spent) == (NOTHING, Loss(0.1))
    assert books.do(lambda tx: work.store(tx, job, 1, '{"value": 3}', 0))
    assert not books.do(lambda tx: work.store(tx, job, 1, '{"value": 4}', 0)), "only once"
    early, due = seen(books, job, 10.1), seen(books, job, 10.2)
    assert (early.state, early.answer, early.due) == ("running", None, 10.2)
    assert (due.state, due.answer, due.late) == ("done", '{"value": 3}', False)


def test_until_it_is_due_a_finished_question_looks_like_a_running_one(books: Books) -> None:
    furnish(books)
    views = []
    for how in ("runs", "done", "late", "lost"):
        job = begun(books)
        if how != "runs":
            answer, rung = None if how == "lost" else "{}", 1 if how == "late" else 0
            books.do(lambda tx, job=job, a=answer, r=rung: work.store(tx, job, 1, a, r))
        view = seen(books, job, 0.19)
        views.append((view.state, view.due, view.late, view.answer, view.seconds))
    assert len(set(views)) == 1
    for view in release.listed(books, "ann", 0.19):
        assert (view.state, view.answer) == ("running", None)


def test_cancelling_tells_nothing_and_gives_back_only_what_read_nothing(books: Books) -> None:
    furnish(books)
    waits, _ = accept(books, question())
    runs, done = begun(books), begun(books)
    books.do(lambda tx: work.store(tx, done, 1, "{}", 0))
    before = grant(books)
    assert before.held == Loss(0.1)
    for job in (waits, runs, done):
        books.do(lambda tx, job=job: work.cancel(tx, job, "ann", 0.1))
        assert seen(books, job, 0.1).state == "cancelled"
        assert seen(books, job, 100).answer is None
    assert grant(books).held == NOTHING
    assert grant(books).spent == before.spent
    assert not books.do(lambda tx: work.store(tx, runs, 1, "{}", 0))
    books.do(lambda tx: work.drop_cancelled(tx, 100.0))
    assert books.read("SELECT count(*) FROM answers") == [(0,)]


def test_an_answer_that_was_shown_cannot_be_cancelled(books: Books) -> None:
    furnish(books)
    job = begun(books)
    books.do(lambda tx: work.store(tx, job, 1, "{}", 0))
    books.do(lambda tx: work.cancel(tx, job, "ann", 0.3))
    assert seen(books, job, 0.3).state == "done"


def test_the_same_key_gives_the_same_row_and_another_question_is_refused(books: Books) -> None:
    furnish(books)
    job, _ = accept(books, question(key="same-key"))
    assert accept(books, question(key="same-key")) == (job, False)
    with pytest.raises(Refusal) as caught:
        accept(books, question(0.2, key="same-key"))
    assert caught.value.kind == "idempotency-key-reused"
    assert grant(books).held == Loss(0.1)


def test_no_race_passes_a_limit(books: Books) -> None:
    furnish(books, cap=100, people=("ann", "bob", "cid"))
    got: list[str] = []

    def many(person: str) -> None:
        for _ in range(15):
            try:
                accept(books, question(Fraction(1, 10), person=person))
                got.append(person)
            except Refusal as refused:
                got.append(refused.kind)

    threads = [threading.Thread(target=many, args=(p,)) for p in ("ann", "bob", "cid") for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert Counter(got) == {"ann": 10, "bob": 10, "cid": 10, "budget": 105}
    assert grant(books).left == NOTHING


def test_a_refusal_says_what_is_left(books: Books) -> None:
    furnish(books)
    with pytest.raises(Refusal) as caught:
        accept(books, question(2))
    assert caught.value.facts == {"asked": Loss(2), "left": Loss(1)}


def test_one_redo_then_lost_and_an_old_attempt_stores_nothing(books: Books) -> None:
    furnish(books)
    job = begun(books)
    assert books.do(lambda tx: work.redo(tx, job, books.server, 5.0)) == 2
    assert not books.do(lambda tx: work.store(tx, job, 1, '{"value": 1}', 0)), "the first attempt is over"
    assert seen(books, job, 5.1).due == 5.2
    assert books.do(lambda tx: work.redo(tx, job, books.server, 9.0)) == 0
    assert [seen(books, job, now).state for now in (5.2, 5 + 3.1, 5 + 3.2)] == ["running", "running", "lost"]
    assert grant(books).spent == Loss(0.1)


def test_three_missed_answers_pause_the_table_once_each(books: Books) -> None:
    furnish(books)
    for i in range(3):
        job = begun(books)
        for _ in range(2):
            books.do(lambda tx, job=job: work.note(tx, job, "late"))
        assert books.read("SELECT missed, state FROM datasets") == [(i + 1, "paused" if i == 2 else "open")]
    with pytest.raises(Refusal) as caught:
        accept(books, question())
    assert caught.value.kind == "paused"


def test_a_closed_table_gives_holds_back_and_a_paused_one_waits(books: Books) -> None:
    furnish(books)
    job, _ = accept(books, question())
    books.do(lambda tx: tx.run("UPDATE datasets SET state = 'paused'"))
    assert not books.do(lambda tx: work.begin(tx, job, 1.0))
    assert seen(books, job, 1).state == "queued"
    books.do(lambda tx: tx.run("UPDATE datasets SET state = 'closed'"))
    assert not books.do(lambda tx: work.begin(tx, job, 1.0))
    assert (seen(books, job, 1).state, grant(books).held) == ("cancelled", NOTHING)


def test_another_analysts_question_is_not_there(books: Books) -> None:
    furnish(books, people=("ann", "bob"))
    job, _ = accept(books, question())
    assert release.released(books, job, "bob", 1) is None
    assert release.listed(books, "bob", 1) == []
    with pytest.raises(Refusal, match="not-found"):
        books.do(lambda tx: work.cancel(tx, job, "bob", 1.0))


def test_only_so_many_may_wait(books: Books) -> None:
    furnish(books)
    accept(books, question(), most=1)
    with pytest.raises(Refusal) as caught:
        accept(books, question(), most=1)
    assert caught.value.kind == "rate"
