"""Books on disk: works are alone, all or nothing, and on disk when they return."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from privet.errors import JournalError
from privet.privacy.books import storage
from privet.privacy.books.storage import Books


def put(name: str, value: str = "1"):  # type: ignore[no-untyped-def]
    return lambda tx: tx.run("INSERT INTO facts VALUES (?, ?)", name, value)


def add_one(tx: storage.Transaction) -> None:
    (value,) = tx.one("SELECT value FROM facts WHERE name = 'sum'") or ("0",)
    tx.run("DELETE FROM facts WHERE name = 'sum'")
    tx.run("INSERT INTO facts VALUES ('sum', ?)", str(int(value) + 1))


def test_works_of_many_threads_and_two_connections_run_one_after_another(books: Books, address: str) -> None:
    with Books(address) as other:
        threads = [threading.Thread(target=lambda b=b: [b.do(add_one) for _ in range(20)]) for b in (books, other) * 4]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert books.read("SELECT value FROM facts WHERE name = 'sum'") == [("160",)]


def test_a_refused_work_leaves_nothing_and_spoils_no_other_of_its_group(books: Books) -> None:
    def refused(tx: storage.Transaction) -> None:
        put("half")(tx)
        raise ValueError("no")

    first, wrong, last = books.later(put("a")), books.later(refused), books.later(put("b"))
    first.result()
    last.result()
    with pytest.raises(ValueError, match="no"):
        wrong.result()
    assert books.read("SELECT name FROM facts WHERE name IN ('a', 'b', 'half') ORDER BY name") == [("a",), ("b",)]


def test_entries_cannot_be_changed_or_deleted(books: Books) -> None:
    from desk import furnish

    furnish(books)
    for sql in ("UPDATE entries SET body = '{}'", "DELETE FROM entries"):
        with pytest.raises(Exception, match="only added"):
            books.do(lambda tx, sql=sql: tx.run(sql))


def test_books_open_again_and_keep_what_they_hold(address: str) -> None:
    with Books(address) as books:
        books.do(put("colour", "green"))
    with Books(address) as books:
        assert books.read("SELECT value FROM facts WHERE name = 'colour'") == [("green",)]


def test_books_of_a_newer_version_are_refused(address: str) -> None:
    with Books(address) as books:
        books.do(lambda tx: tx.run("UPDATE facts SET value = '99' WHERE name = 'version'"))
    with pytest.raises(JournalError, match="newer privet"):
        Books(address)


def test_a_migration_is_applied_once(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    Books(address).close()
    more = (*storage.MIGRATIONS, ("CREATE TABLE later (x INTEGER)", "INSERT INTO later VALUES (1)"))
    monkeypatch.setattr(storage, "MIGRATIONS", more)
    for _ in range(2):
        with Books(address) as books:
            assert books.read("SELECT x FROM later") == [(1,)]


def test_books_of_the_first_version_are_brought_up_to_date(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as before:
        before.setattr(storage, "MIGRATIONS", storage.MIGRATIONS[:1])
        with Books(address) as books:
            books.do(put("colour", "green"))
    with Books(address) as books:
        assert books.read("SELECT value FROM facts WHERE name = 'colour'") == [("green",)]
        assert books.read("SELECT value FROM facts WHERE name = 'version'") == [(str(len(storage.MIGRATIONS)),)]


def test_sqlite_books_have_one_server_and_are_private(tmp_path: Path) -> None:
    path = tmp_path / "books.sqlite"
    with Books(str(path)) as books, Books(str(path)) as other:
        number = books.register_server()
        assert books.running_servers() == {number}
        with pytest.raises(JournalError, match="a server runs on"):
            other.register_server()
        assert path.stat().st_mode & 0o777 == 0o600
        books.backup(tmp_path / "copy.sqlite")
        assert (tmp_path / "copy.sqlite").stat().st_mode & 0o777 == 0o600


def test_servers_on_postgresql_see_each_other(postgres_books) -> None:  # type: ignore[no-untyped-def]
    address = postgres_books()
    with Books(address) as books:
        first = books.register_server()
        with Books(address) as other:
            second = other.register_server()
            assert books.running_servers() == {first, second}
        assert books.running_servers() == {first}


def test_an_address_is_in_no_message(postgres_books) -> None:  # type: ignore[no-untyped-def]
    address = postgres_books().replace("user=privet", "user=nobody%20here&password=secret")
    with pytest.raises(JournalError) as caught:
        Books(address)
    assert "secret" not in str(caught.value)
