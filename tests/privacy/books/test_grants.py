"""Caps and grants, frozen books, and entries that anybody can examine."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from desk import accept, furnish, grant, question

from privet.privacy.books import grants, work
from privet.privacy.books.entries import Examined, examine_export, examine_rows, is_export
from privet.privacy.books.refusals import Refusal
from privet.privacy.books.release import released
from privet.privacy.books.storage import Books
from privet.privacy.budget import Neighbours
from privet.privacy.losses import NOTHING, Loss

ROWS = "SELECT population, seq, at, kind, body, hash FROM entries WHERE population = 'town' ORDER BY seq"


def refused(books: Books, make) -> str:  # type: ignore[no-untyped-def]
    with pytest.raises(Refusal) as caught:
        books.do(make)
    return caught.value.kind


def put(books: Books, person: str, limit: object) -> None:
    books.do(lambda tx: grants.put_grant(tx, "town", person, Loss(limit), ["visits"]))  # type: ignore[arg-type]


def test_grants_never_sum_past_the_cap_which_only_falls(books: Books) -> None:
    furnish(books, cap=2, limit=1, people=("ann", "bob"))
    assert refused(books, lambda tx: grants.put_grant(tx, "town", "ann", Loss(1.5), ["visits"])) == "cap"
    assert refused(books, lambda tx: grants.lower_cap(tx, "town", Loss(1))) == "cap"
    assert refused(books, lambda tx: grants.lower_cap(tx, "town", Loss(3))) == "cap"
    put(books, "bob", 0.25)
    books.do(lambda tx: grants.lower_cap(tx, "town", Loss(1.25)))
    assert refused(books, lambda tx: grants.put_grant(tx, "town", "bob", Loss(0.5), ["visits"])) == "cap"


def test_a_grant_stays_above_what_is_spent_or_held(books: Books) -> None:
    furnish(books)
    accept(books, question(0.5))
    assert refused(books, lambda tx: grants.put_grant(tx, "town", "ann", Loss(0.4), ["visits"])) == "spent"
    put(books, "ann", 0.5)
    assert grant(books).left == NOTHING


def test_a_journal_is_carried_over_and_cannot_be_granted(books: Books) -> None:
    furnish(books)
    how = "old", "Old", "person", Neighbours.ADD_REMOVE
    books.do(lambda tx: grants.add_population(tx, *how, Loss(1), Loss(0.75), "ab" * 32))
    assert refused(books, lambda tx: grants.put_grant(tx, "old", "ann", Loss(0.5), [])) == "cap"
    books.do(lambda tx: grants.put_grant(tx, "old", "ann", Loss(0.25), []))
    assert refused(books, lambda tx: grants.add_population(tx, *how, Loss(1))) == "exists"


def test_frozen_books_accept_nothing_and_begin_nothing_until_settled(books: Books) -> None:
    furnish(books, people=("ann", "bob"))
    job, _ = accept(books, question(0.25))
    assert books.do(lambda tx: grants.freeze(tx, "town", grants.RESTORED, "ab" * 32))
    assert not books.do(lambda tx: grants.freeze(tx, "town", grants.RESTORED, "cd" * 32))
    with pytest.raises(Refusal, match="settle"):
        accept(books, question())
    assert not books.do(lambda tx: work.begin(tx, job, 0.0))
    too_much = {"ann": Loss(0.8)}
    assert refused(books, lambda tx: grants.settle(tx, "town", "all", too_much)) == "spent"
    books.do(lambda tx: grants.settle(tx, "town", "two counts of Ann were lost", {"ann": Loss(0.2)}))
    assert grant(books).spent == Loss(0.2)
    assert books.do(lambda tx: work.begin(tx, job, 0.0))
    assert refused(books, lambda tx: grants.settle(tx, "town", "again", None)) == "running"


def test_without_amounts_an_old_backup_costs_all_that_is_left(books: Books) -> None:
    furnish(books, people=("ann", "bob"))
    accept(books, question(0.25))
    books.do(lambda tx: grants.freeze(tx, "town", grants.RESTORED))
    books.do(lambda tx: grants.settle(tx, "town", "nobody knows", None))
    assert grant(books).left == grant(books, "bob").left == NOTHING
    books.do(lambda tx: grants.freeze(tx, "town", grants.BY_OWNER))
    assert books.do(lambda tx: grants.settle(tx, "town", "a break", None)) == {}


def test_open_questions_of_an_old_backup_are_lost_and_paid(books: Books, tmp_path: Path) -> None:
    """They may have been answered after the backup; a second answer would have no charge of its own."""
    furnish(books)
    running, _ = accept(books, question(0.25))
    books.do(lambda tx: work.begin(tx, running, 1.0))
    waiting, _ = accept(books, question(0.5))
    assert books.do(lambda tx: work.freeze_restored(tx, "town", "ab" * 32))
    assert grant(books) == grants.Grant(Loss(1), spent=Loss(0.75))
    assert not books.do(lambda tx: work.store(tx, running, 1, "{}", 0))
    assert books.do(lambda tx: work.redo(tx, running, 1, 2.0)) == 0
    books.do(lambda tx: grants.settle(tx, "town", "nothing else was asked", {}))
    assert not books.do(lambda tx: work.begin(tx, waiting, 3.0))
    assert [released(books, job, "ann", 100.0).state for job in (running, waiting)] == ["lost", "lost"]  # type: ignore[union-attr]
    found = export(lines(books), tmp_path / "town.jsonl")
    assert (found.faults, found.total) == ({}, Loss(0.75))


@pytest.fixture
def used(books: Books) -> Books:
    furnish(books, people=("ann", "bob"))
    for person in ("ann", "bob"):
        job, _ = accept(books, question(0.25, person=person))
        books.do(lambda tx, job=job: work.begin(tx, job, 0.0))
    return books


def lines(books: Books) -> list[dict[str, object]]:
    return [
        dict(zip(("population", "seq", "at", "kind", "body", "hash"), row, strict=True)) for row in books.read(ROWS)
    ]


def export(entries: list[dict[str, object]], path: Path) -> Examined:
    path.write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    return examine_export(path)


def test_exported_entries_add_up(used: Books, tmp_path: Path) -> None:
    found = export(lines(used), tmp_path / "town.jsonl")
    assert is_export(tmp_path / "town.jsonl")
    assert found.faults == {}
    assert (found.total, found.cap, found.entries) == (Loss(0.5), Loss(10), 5)
    assert used.read("SELECT head FROM populations")[0][0] == found.head
    assert examine_rows(used.read(ROWS)).heads == found.heads


@pytest.mark.parametrize("how", ["change", "drop", "swap", "insert"])
def test_a_change_of_exported_entries_is_found(used: Books, tmp_path: Path, how: str) -> None:
    entries = lines(used)
    if how == "change":
        entries[3]["body"] = str(entries[3]["body"]).replace("1/4", "1/8")
    elif how == "drop":
        del entries[3]
    elif how == "swap":
        entries[3], entries[4] = entries[4], entries[3]
    else:
        entries.insert(3, dict(entries[3]))
    assert export(entries, tmp_path / "town.jsonl").faults


def test_a_new_chain_must_still_add_up(used: Books, tmp_path: Path) -> None:
    from privet.privacy.books.entries import record
    from privet.privacy.chain import START, extend

    for change, fault in (("5/4", "granted"), ("ann", "second time")):
        entries, head = lines(used), START
        bodies = [json.loads(str(entry["body"])) for entry in entries]
        if fault == "granted":
            bodies[3]["epsilon"] = change
        else:
            bodies[4] = dict(bodies[3])
        for entry, body in zip(entries, bodies, strict=True):
            entry["body"] = json.dumps(body, sort_keys=True, separators=(",", ":"))
            head = entry["hash"] = extend(
                head, record(*(entry[n] for n in ("population", "seq", "at", "kind", "body")))
            )  # type: ignore[arg-type]
        found = export(entries, tmp_path / "town.jsonl")
        assert [text for text in found.faults.values() if fault in text]
        assert found.head not in (used.read("SELECT head FROM populations")[0][0],), "a head kept elsewhere shows it"
