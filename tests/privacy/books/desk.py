"""A population, a table and analysts, for tests of the books."""

from __future__ import annotations

from itertools import count
from typing import Any

from privet.privacy.books import grants, work
from privet.privacy.books.storage import Books
from privet.privacy.budget import Neighbours
from privet.privacy.losses import Loss

keys = count()


def furnish(books: Books, cap: Any = 10, limit: Any = 1, people: tuple[str, ...] = ("ann",)) -> None:
    def furnished(tx: Any) -> None:
        grants.add_population(tx, "town", "A town", "person", Neighbours.ADD_REMOVE, Loss(cap))
        tx.run("INSERT INTO datasets VALUES ('visits', 'town', '{}', 1000, '', 'open', 0)")
        for person in people:
            tx.run("INSERT INTO people VALUES (?, 'analyst', 0)", person)
            grants.put_grant(tx, "town", person, Loss(limit), ["visits"])

    books.do(furnished)


def question(price: Any = 0.1, key: str | None = None, person: str = "ann", **ask: Any) -> work.Question:
    asked = {"ask": "count", "epsilon": str(Loss(price).epsilon)} | ask
    return work.Question(person, "visits", key or f"key-{next(keys)}", asked, Loss(price), 0.2)


def accept(books: Books, one: work.Question, now: float = 0.0, most: int = 10**6) -> tuple[str, bool]:
    return books.do(lambda tx: work.accept(tx, one, books.server, now, most))


def grant(books: Books, person: str = "ann") -> grants.Grant:
    found = books.do(lambda tx: grants.read_grant(tx, person, "town"))
    assert found is not None
    return found
