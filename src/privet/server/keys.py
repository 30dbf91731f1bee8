"""Keys and sessions: 256 random bits, kept as their SHA-256. Nothing else in a request says who asks.

A session is the cookie of a browser. It ends when it is signed out, after its hours, and with the key that began it.
"""

from __future__ import annotations

import hashlib
import secrets
import time
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from privet.privacy.books.storage import Books, Transaction
from privet.server.problems import Problem
from privet.server.settings import Settings

ROLES = ("owner", "analyst", "auditor")
COOKIE = "privet"
KEY, SESSION, LINK = "key", "session", "link"  # kinds; a link signs in once
LONGEST = 200  # characters of a key that is looked up
LINK_SECONDS = 3600  # of the link that a first start prints


@dataclass(frozen=True, slots=True)
class Person:
    """Who asks, by which key."""

    id: str
    role: str
    key: str


def digest(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()


def add_key(
    tx: Transaction,
    person: str,
    kind: str = KEY,
    name: str = "",
    ends: float | None = None,
    parent: str | None = None,
) -> dict[str, Any]:
    """A new key; its text is returned here and kept nowhere. It ends with its parent."""
    number, text = secrets.token_hex(4), secrets.token_urlsafe(32)
    key = f"privet_{number}_{text}"
    row = (digest(key), number, person, kind, name, ends, parent)
    tx.run(
        "INSERT INTO keys (hash, id, person, kind, name, ends, parent, revoked) VALUES (?, ?, ?, ?, ?, ?, ?, 0)", *row
    )
    return {"id": number, "key": key, "name": name, "ends": ends}


def add_person(tx: Transaction, person: str, role: str) -> dict[str, Any]:
    tx.run("INSERT INTO people VALUES (?, ?, 0)", person, role)
    return add_key(tx, person, name="first key")


def add_link(tx: Transaction, person: str) -> str:
    """The text of a link that signs a person in, once."""
    first = tx.one("SELECT id FROM keys WHERE person = ? AND kind = 'key' AND revoked = 0", person)
    ends = time.time() + LINK_SECONDS
    return str(add_key(tx, person, LINK, "sign-in link", ends, None if first is None else first[0])["key"])


def find_person(books: Books, key: str, kind: str) -> Person | None:
    """Whose key it is, unless it or its parent was revoked or has ended, or the person's account was closed."""
    if not 0 < len(key) <= LONGEST:
        return None
    sql = (
        "SELECT p.id, p.role, k.id FROM keys k JOIN people p ON p.id = k.person LEFT JOIN keys q ON q.id = k.parent "
        "WHERE k.hash = ? AND k.kind = ? AND k.revoked = 0 AND p.closed = 0 AND (k.ends IS NULL OR k.ends > ?) "
        "AND (q.id IS NULL OR q.revoked = 0) AND (q.ends IS NULL OR q.ends > ?)"
    )
    now = time.time()
    rows = books.read(sql, digest(key), kind, now, now)
    return Person(*rows[0]) if rows else None


def who_asks(books: Books, request: Request) -> Person:
    """The person behind a request: by a bearer key, or by the cookie of a session."""
    header = request.headers.get("authorization")
    if header is not None:
        scheme, _, key = header.partition(" ")
        found = find_person(books, key.strip(), KEY) if scheme.lower() == "bearer" else None
    else:
        found = find_person(books, request.cookies.get(COOKIE, ""), SESSION)
    if found is None:
        raise Problem("no-key", "send a valid key: Authorization: Bearer privet_...")
    return found


def begin_session(response: Response, books: Books, settings: Settings, person: Person) -> None:
    """Give the browser a cookie that only this server gets, and no script reads."""
    seconds = int(3600 * settings.session_hours)

    def work(tx: Transaction) -> str:
        if tx.run("UPDATE keys SET revoked = 1 WHERE id = ? AND kind = 'link' AND revoked = 0", person.key).rowcount:
            (parent,) = tx.one("SELECT parent FROM keys WHERE id = ?", person.key) or (None,)
        elif tx.one("SELECT 1 FROM keys WHERE id = ? AND revoked = 0", person.key):
            parent = person.key
        else:  # a link that another request has used up, or a key that was revoked, in this moment
            raise Problem("no-key", "this key is not valid")
        return str(add_key(tx, person.id, SESSION, SESSION, time.time() + seconds, parent)["key"])

    how: dict[str, Any] = {"httponly": True, "samesite": "strict", "secure": settings.secure, "path": "/"}
    response.set_cookie(COOKIE, books.do(work), max_age=seconds, **how)


def end_session(response: Response, books: Books, person: Person) -> None:
    books.do(lambda tx: tx.run("UPDATE keys SET revoked = 1 WHERE id = ? AND kind = 'session'", person.key))
    response.delete_cookie(COOKIE, path="/")
