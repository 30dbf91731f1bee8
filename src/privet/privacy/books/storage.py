"""Books on disk: SQLite by default, PostgreSQL by an address. One writer thread, which commits in groups.

``do(work)`` runs a function alone, in a savepoint of a transaction, and returns when that transaction is on disk. No
two works run at the same time, whether of one process (one thread runs them) or of several (``BEGIN IMMEDIATE``, or an
advisory lock). So what a work reads is still true when it writes.
"""

from __future__ import annotations

import os
import queue
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from privet.errors import JournalError
from privet.privacy.books.entries import append_entry
from privet.privacy.books.tables import APPEND_ONLY, MIGRATIONS, NAMED

T = TypeVar("T")
Row = tuple[Any, ...]
Work = Callable[["Transaction"], T]
_Waiting = tuple[Work[Any], Future[Any], bool]

WRITERS, SERVERS = 7177, 7178  # PostgreSQL's advisory locks: of all writers, and one for each running server
GROUP = 256  # works in one commit: its cost is shared, and a commit stays below some ten milliseconds
READERS = 4  # connections kept for reading; a PostgreSQL has a hundred in all
PATIENCE = 30  # seconds to wait for another process's write


class Transaction:
    """What a work may do. It is valid until the work returns."""

    def __init__(self, connection: Any, engine: str) -> None:
        self._connection, self._engine = connection, engine

    def run(self, sql: str, *values: Any) -> Any:
        return self._connection.execute(spelt(sql, self._engine), values)

    def one(self, sql: str, *values: Any) -> Row | None:
        row: Row | None = self.run(sql, *values).fetchone()
        return row

    def append(self, population: str, kind: str, body: dict[str, Any]) -> str:
        """Add an entry to the chain of a population; returns the new head."""
        return append_entry(self, population, kind, body)


class Books:
    """The books at a path, or at an address ``postgresql://...``.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, Books(f"{folder}/books.sqlite") as books:
    ...     _ = books.do(lambda tx: tx.run("INSERT INTO facts VALUES ('colour', 'green')"))
    ...     books.read("SELECT value FROM facts WHERE name = ?", "colour")
    [('green',)]
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self.engine = "postgresql" if url.startswith(("postgres://", "postgresql://")) else "sqlite"
        self.commits = 0
        self.server = -1  # its number, once it is registered
        self._alone: Any = None
        self._readers: queue.LifoQueue[Any] = queue.LifoQueue()
        self._room = threading.Semaphore(READERS)
        self._works: queue.SimpleQueue[_Waiting | None] = queue.SimpleQueue()
        self._writer = self._connect(new=True)
        self._migrate()
        self._thread = threading.Thread(target=self._write, daemon=True, name="books")
        self._thread.start()

    # -- works -----------------------------------------------------------------------------------------------------

    def do(self, work: Work[T], *, counted: bool = True) -> T:
        """Run a work; it is on disk when this returns. What the work raises is raised here, and nothing is kept.

        Auditors see the number of commits. That of an answer is not ``counted``: its moment tells how long work took.
        """
        return self.later(work, counted).result()

    def later(self, work: Work[T], counted: bool = True) -> Future[T]:
        done: Future[T] = Future()
        self._works.put((work, done, counted))
        return done

    def read(self, sql: str, *values: Any) -> list[Row]:
        """Rows as of the last commit."""
        for attempt in (0, 1):
            with self._reader() as (connection, drop):
                try:
                    return list(connection.execute(spelt(sql, self.engine), values).fetchall())
                except Exception as error:
                    drop()
                    if attempt or not self._is_lost(error):
                        raise
        raise AssertionError("unreachable")

    def backup(self, path: Path) -> None:
        """A consistent copy of SQLite books, while they are in use."""
        if self.engine != "sqlite":
            raise JournalError("books in PostgreSQL are copied by its own tool; run pg_dump --format=custom")
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        with self._reader() as (connection, _):
            copy = sqlite3.connect(path)
            try:
                connection.backup(copy)
            finally:
                copy.close()

    # -- servers ---------------------------------------------------------------------------------------------------

    def register_server(self) -> int:
        """A number for this server, as long as it runs. SQLite books have one server at a time, PostgreSQL several."""
        number = int.from_bytes(os.urandom(4), "big") >> 1
        if self.engine == "sqlite":
            import fcntl

            self._alone = os.open(f"{self.url}.lock", os.O_CREAT | os.O_RDWR, 0o600)
            try:
                fcntl.flock(self._alone, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise JournalError(f"a server runs on {self.url} already; stop it, or use PostgreSQL") from None
        else:
            self._alone = self._connect()
            self._alone.execute("SELECT pg_advisory_lock(%s, %s)", (SERVERS, number))
        self.server = number
        return number

    def running_servers(self) -> set[int]:
        """The numbers of the servers that run now."""
        if self.engine == "sqlite":
            return {self.server}
        locks = "SELECT objid FROM pg_locks WHERE locktype = 'advisory' AND classid = ? AND granted"
        return {int(number) for (number,) in self.read(locks, SERVERS)}

    # -- inside ----------------------------------------------------------------------------------------------------

    def _connect(self, *, new: bool = False) -> Any:
        if self.engine == "postgresql":
            try:
                import psycopg
            except ImportError:
                raise JournalError("books in PostgreSQL need psycopg: pip install 'privet[server-postgres]'") from None
            try:
                return psycopg.connect(self.url, autocommit=True)
            except psycopg.Error:  # its message repeats the address
                raise JournalError("cannot connect to the PostgreSQL of the books; check the address") from None
        try:
            if new:
                os.close(os.open(self.url, os.O_CREAT | os.O_RDWR, 0o600))
            connection = sqlite3.connect(self.url, isolation_level=None, check_same_thread=False, timeout=PATIENCE)
            for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "trusted_schema=OFF"):
                connection.execute(f"PRAGMA {pragma}").fetchall()
        except (OSError, sqlite3.Error) as error:
            raise JournalError(f"cannot open the books {self.url}: {error}; check the folder") from error
        return connection

    @contextmanager
    def _reader(self) -> Iterator[tuple[Any, Callable[[], None]]]:
        """A connection, and a function that says it is broken."""
        kept = True

        def drop() -> None:
            nonlocal kept
            kept = False

        with self._room:
            try:
                connection = self._readers.get_nowait()
            except queue.Empty:
                connection = self._connect()
            try:
                yield connection, drop
            finally:
                if kept:
                    self._readers.put(connection)
                else:
                    with suppress(Exception):
                        connection.close()

    def _is_lost(self, error: Exception) -> bool:
        """Whether a connection to PostgreSQL broke, so that another one may work."""
        return self.engine == "postgresql" and type(error).__name__ in ("OperationalError", "InterfaceError")

    def _begin(self) -> None:
        self._writer.execute("BEGIN IMMEDIATE" if self.engine == "sqlite" else "BEGIN")
        if self.engine == "postgresql":
            self._writer.execute(f"SELECT pg_advisory_xact_lock({WRITERS})")

    def _migrate(self) -> None:
        """Bring the tables up to date. Two servers that start at once wait for each other."""
        self._begin()
        try:
            tx, version = Transaction(self._writer, self.engine), 0
            if tx.one(f"SELECT 1 FROM {NAMED[self.engine]} = 'facts'"):
                found = tx.one("SELECT value FROM facts WHERE name = 'version'")
                version = int(found[0]) if found else 0
            if version > len(MIGRATIONS):
                raise JournalError(f"these books were written by a newer privet (version {version}); upgrade privet")
            for statement in (one for migration in MIGRATIONS[version:] for one in migration):
                tx.run(statement)
            for statement in APPEND_ONLY[self.engine]:
                tx.run(statement)
            if version < len(MIGRATIONS):
                tx.run("DELETE FROM facts WHERE name = 'version'")
                tx.run("INSERT INTO facts VALUES ('version', ?)", str(len(MIGRATIONS)))
            self._writer.execute("COMMIT")
        except BaseException:
            with suppress(Exception):
                self._writer.execute("ROLLBACK")
            raise

    def _write(self) -> None:
        while (first := self._works.get()) is not None:
            group, last = [first], False
            while len(group) < GROUP and not last:
                try:
                    more = self._works.get_nowait()
                except queue.Empty:
                    break
                if more is None:
                    last = True
                else:
                    group.append(more)
            self._commit(group)
            if last:
                return

    def _commit(self, group: list[_Waiting]) -> None:
        """All works of a group in one transaction. If it cannot be committed, none of them happened."""
        results = list[tuple[Any, BaseException | None]]()
        try:
            self._begin()
            for work, _, _ in group:
                results.append(self._run(work))
            self._writer.execute("COMMIT")
        except Exception as error:
            with suppress(Exception):
                self._writer.execute("ROLLBACK")
            if self._is_lost(error):
                time.sleep(0.1)
                with suppress(Exception):
                    self._writer.close()
                with suppress(JournalError):
                    self._writer = self._connect()
            for _, done, _ in group:
                text = "the books cannot be written now; ask again with the same key, which is charged once"
                done.set_exception(JournalError(text))
            return
        self.commits += any(counted for *_, counted in group)
        for (_, done, _), (value, refused) in zip(group, results, strict=True):
            if refused is None:
                done.set_result(value)
            else:
                done.set_exception(refused)

    def _run(self, work: Work[Any]) -> tuple[Any, BaseException | None]:
        self._writer.execute("SAVEPOINT one")
        try:
            value = work(Transaction(self._writer, self.engine))
        except Exception as error:
            if self._is_lost(error):
                raise
            self._writer.execute("ROLLBACK TO SAVEPOINT one")
            self._writer.execute("RELEASE SAVEPOINT one")
            return None, error
        self._writer.execute("RELEASE SAVEPOINT one")
        return value, None

    def close(self) -> None:
        """Finish the works that wait, then close."""
        self._works.put(None)
        self._thread.join()
        with suppress(Exception):
            self._writer.close()
            while not self._readers.empty():
                self._readers.get_nowait().close()
        if isinstance(self._alone, int):
            os.close(self._alone)
        elif self._alone is not None:
            with suppress(Exception):  # PostgreSQL would notice the end of the connection a little later
                self._alone.execute("SELECT pg_advisory_unlock(%s, %s)", (SERVERS, self.server))
            self._alone.close()

    def __enter__(self) -> Books:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def spelt(sql: str, engine: str) -> str:
    """Placeholders as the engine writes them."""
    return sql if engine == "sqlite" else sql.replace("?", "%s")
