"""Books on SQLite, and on a PostgreSQL that the tests start; skipped, loudly, where none can be had."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from privet.privacy.books.storage import Books

sys.path[:0] = [str(Path(__file__).parent)]  # importlib mode leaves it off
numbers = itertools.count()


@pytest.fixture(scope="session")
def postgres_books(request: Any) -> Callable[[], str]:
    """Makes an empty schema of a database, and returns its address."""
    psycopg = pytest.importorskip("psycopg", reason="NOT TESTED: books in PostgreSQL; pip install psycopg")
    server = request.getfixturevalue("postgres_server")

    def new() -> str:
        name = f"books{next(numbers)}"
        with psycopg.connect(server.address(), autocommit=True) as connection:
            connection.execute(f"CREATE SCHEMA {name}")
        return str(server.address(options=f"-csearch_path={name}")).replace("+", "%20")

    return new


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request: Any, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return str(tmp_path / "books.sqlite")
    return str(request.getfixturevalue("postgres_books")())


@pytest.fixture
def books(address: str) -> Iterator[Books]:
    with Books(address) as made:
        made.register_server()
        yield made
