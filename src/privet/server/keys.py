"""Keys and sessions: 256 random bits, kept as their SHA-256. Nothing else in a request says who asks."""

from __future__ import annotations

import hashlib
import secrets
import time
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request

from privet.privacy.books.storage import Books, Transaction
from privet.server.problems import Problem

ROLES = ("owner", "analyst", "auditor")
COOKIE = "privet"
LONGEST = 200  # characters of a key that is looked up


@dataclass(frozen=True, slots=True)
class Person:
    """Who asks, by which key."""

    id: str
    role: str
    key: str


def digest(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()


def add_key(
    tx: Transaction, person: str, kind: str = "key", name: str = "", ends: float | None = None
) -> dict[str, Any]:
    """A new key; its text is returned here and kept nowhere."""
    number, text = secrets.token_hex(4), secrets.token_urlsafe(32)
    key = f"privet_{number}_{text}"
    tx.run("INSERT INTO keys VALUES (?, ?, ?, ?, ?, ?, 0)", digest(key), number, person, kind, name, ends)
    return {"id": number, "key": key, "name": name, "ends": ends}


def add_person(tx: Transaction, person: str, role: str) -> dict[str, Any]:
    tx.run("INSERT INTO people VALUES (?, ?, 0)", person, role)
    return add_key(tx, person, name="first key")


def find_person(books: Books, key: str, kind: str) -> Person | None:
    """Whose key it is, unless it was revoked or has ended, or the person's account was closed."""
    if not 0 < len(key) <= LONGEST:
        return None
    sql = (
        "SELECT p.id, p.role, k.id FROM keys k JOIN people p ON p.id = k.person WHERE k.hash = ? AND k.kind = ? "
        "AND k.revoked = 0 AND p.closed = 0 AND (k.ends IS NULL OR k.ends > ?)"
    )
    rows = books.read(sql, digest(key), kind, time.time())
    return Person(*rows[0]) if rows else None


def who_asks(books: Books, request: Request) -> Person:
    """The person behind a request: by a bearer key, or by the cookie of a session."""
    header = request.headers.get("authorization")
    if header is not None:
        scheme, _, key = header.partition(" ")
        found = find_person(books, key.strip(), "key") if scheme.lower() == "bearer" else None
    else:
        found = find_person(books, request.cookies.get(COOKIE, ""), "session")
    if found is None:
        raise Problem("no-key", "send a valid key: Authorization: Bearer privet_...")
    return found
