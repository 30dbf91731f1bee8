"""Addresses of tables, as in ``postgresql://host/clinic?table=patients``, and what is asked of a database.

An address can hold a password. No message and no representation shows any part of one, but for the scheme.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlencode

from privet.errors import TableError

KNOWN = ("duckdb", "postgresql", "postgres")


class Place(NamedTuple):
    """An address without its table, and the words that follow FROM in a query of it."""

    address: str
    words: str


def scheme_of(name: str) -> str:
    """What stands before ``://``; empty for a path.

    >>> scheme_of("postgresql://host/clinic"), scheme_of("C:/clinic.csv")
    ('postgresql', '')
    """
    scheme, found, _ = name.partition("://")
    return scheme.lower() if found and scheme.isalnum() else ""


def refuse_scheme(scheme: str) -> None:
    if scheme:
        raise TableError(
            f"no table is read from {scheme}:// addresses; give a path to .csv or .parquet files, duckdb:///file.db, "
            "postgresql://..., or open it with a library and hand over the frame, relation or reader"
        )


def parse_place(name: str) -> Place:
    """Take ``table=`` or ``query=`` out of an address.

    >>> parse_place("postgresql://host/clinic?sslmode=require&table=ward.patients")
    Place(address='postgresql://host/clinic?sslmode=require', words='"ward"."patients"')
    """
    address, _, query = name.partition("?")
    options = parse_qsl(query, keep_blank_values=True)
    asked = [(key, value) for key, value in options if key in ("table", "query")]
    if len(asked) != 1 or not asked[0][1].strip():
        raise TableError(
            f"a {scheme_of(name)}:// address must say what to read: end it with ?table=patients, or with ?query= and a "
            "SELECT in which spaces are written as +"
        )
    [(key, value)] = asked
    rest = urlencode([option for option in options if option[0] != key])
    words = ".".join(map(quoted, value.split("."))) if key == "table" else f"({value.strip().rstrip(';')}) AS asked"
    return Place(f"{address}?{rest}" if rest else address, words)


def quoted(name: str) -> str:
    """A name as SQL writes it."""
    return '"' + name.replace('"', '""') + '"'


def select(columns: Sequence[str], words: str) -> str:
    return f"SELECT {', '.join(map(quoted, columns))} FROM {words}"


def needs(package: str, extra: str, what: str) -> TableError:
    """The error for a package that is not installed."""
    return TableError(f"reading {what} needs the package {package}: run `pip install 'privet[{extra}]'`")


@contextmanager
def opened(where: str, failure: type[Exception], opening: Callable[[ExitStack], Any]) -> Iterator[Any]:
    """What ``opening`` finds in a database, and all that it put on the stack closed again at the end.

    What the database says of a table that is not there is left out, and not kept as a context: it can hold the address.
    """
    with ExitStack() as stack:
        found = None
        with suppress(failure):
            found = opening(stack)
        if found is None:
            raise TableError(
                f"{where} cannot be read: check the address, the password, the table's name, and that it has the "
                "columns that the schema declares"
            )
        yield found
