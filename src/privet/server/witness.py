"""Heads that others keep, so that an old backup shows.

A head is ``population:hash:mac``. A hash that the books hold is fine, and a forged one is ignored. An authentic hash
that the books do not hold proves that entries are lost: the population is frozen until the owner settles it.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import re
import secrets
import threading
from pathlib import Path

from privet.privacy.books.storage import Books, Transaction
from privet.privacy.books.work import freeze_restored

HEAD = re.compile(r"([a-z0-9][a-z0-9-]{0,62}):([0-9a-f]{64}):([0-9a-f]{64})")


class Witness:
    """Makes heads and checks those that come back. The secret stays in the books, so a backup keeps it."""

    def __init__(self, books: Books, file: str = "") -> None:
        self._books, self._file = books, Path(file) if file else None
        self._secret = bytes.fromhex(books.do(_secret))
        self._known: set[str] = set()  # heads that the books held when they were last looked up
        self._wake, self._stop = threading.Event(), False
        self._written = -1
        self.readable = True  # whether the file could be read at the start, or was not there yet
        if self._file is not None:
            self._compare(self._file)
            threading.Thread(target=self._keep, daemon=True, name="witness").start()

    def head(self, population: str) -> str:
        (hash_,) = self._books.read("SELECT head FROM populations WHERE id = ?", population)[0]
        return f"{population}:{hash_}:{self._mac(population, hash_)}"

    def check(self, text: str | None) -> None:
        """Freeze the population of an authentic head that the books do not hold."""
        found = HEAD.fullmatch(text or "")
        if found is None or text in self._known:
            return
        population, hash_, mac = found.groups()
        if hmac.compare_digest(mac, self._mac(population, hash_)):
            self._check_hash(population, hash_)
            if len(self._known) > 10_000:  # it only saves a look into the books
                self._known.clear()

    def _check_hash(self, population: str, hash_: str) -> None:
        if self._books.read("SELECT 1 FROM entries WHERE hash = ? AND population = ?", hash_, population):
            self._known.add(f"{population}:{hash_}:{self._mac(population, hash_)}")
            return

        def frozen(tx: Transaction) -> None:
            known = tx.one("SELECT 1 FROM entries WHERE hash = ? AND population = ?", hash_, population)
            settled = tx.one("SELECT 1 FROM facts WHERE name = ?", f"head {hash_}")
            if known or settled or not tx.one("SELECT 1 FROM populations WHERE id = ?", population):
                return
            freeze_restored(tx, population, hash_)
            tx.run("INSERT INTO facts VALUES (?, 'lost')", f"head {hash_}")  # it proves the same loss only once

        self._books.do(frozen)

    def _mac(self, population: str, hash_: str) -> str:
        return hmac.new(self._secret, f"{population}:{hash_}".encode(), hashlib.sha256).hexdigest()

    # -- the file --------------------------------------------------------------------------------------------------

    def _compare(self, file: Path) -> None:
        """At the start: the heads that the file holds must be in the books."""
        try:
            heads = json.loads(file.read_text("utf-8"))
        except FileNotFoundError:
            return
        except (OSError, ValueError):
            heads, self.readable = {}, False
        for head in heads.values() if isinstance(heads, dict) else ():
            self.check(str(head))

    def _keep(self) -> None:
        """Write the heads after commits; without waiting for the disk, which the books have done."""
        assert self._file is not None
        while not self._stop:
            if self._books.commits != self._written:
                self._written = self._books.commits
                heads = {name: self.head(name) for (name,) in self._books.read("SELECT id FROM populations")}
                beside = self._file.with_name(f".{self._file.name}.{os.getpid()}")
                try:
                    beside.write_text(json.dumps(heads, indent=1))
                    os.replace(beside, self._file)
                except OSError:
                    self._written = -1  # try again: the other disk may come back
            self._wake.wait(0.1)

    def close(self) -> None:
        self._stop = True
        self._wake.set()


def _secret(tx: Transaction) -> str:
    row = tx.one("SELECT value FROM facts WHERE name = 'secret'")
    if row is not None:
        return str(row[0])
    made = secrets.token_hex(32)
    tx.run("INSERT INTO facts VALUES ('secret', ?)", made)
    return made
