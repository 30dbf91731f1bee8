"""PostgreSQL through ADBC: Arrow batches from one statement, so of one snapshot."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, closing
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

from privet.engines.sources.places import Place, needs, opened, parse_place, quoted
from privet.tables.cells import plain_of

TYPE = b"POSTGRESQL:type"  # ADBC's metadata key for a column's type
NOT_CONNECTED = {  # words of libpq -> ours; a server that speaks another language falls to the last
    "Connection refused": "nothing listens at that host and port; check both",
    "timeout expired": "the host does not answer; check the host and the port",
    "No such file or directory": "no server has a socket in that folder; check the host and the port",
    "translate host name": "there is no host of that name; check the host",
    "URI": "the address cannot be read; write %-escapes for special characters in a password, as in %40 for @",
    "password": "it refuses the user or the password; check both, or set PGPASSWORD",
    "role": "there is no such user; check the user",
    "database": "it has no such database, or not for this user; check the database's name",
    "": "check the host, the port, the database, the user and the password",
}
NOT_ANSWERED = {  # SQLSTATE -> what to check; classes 22 and 23 are about rows, and get no words of their own
    "42P01": "there is no such table; check its name and its schema, and write a name with dots in double quotes",
    "3F000": "there is no such schema; check the name before the dot",
    "42703": "it lacks a column that the schema declares; check the names of the columns",
    "42501": "this user may not read it; grant SELECT, or connect as another user",
    "42601": "it is not one SELECT that PostgreSQL can parse",
}


@dataclass(frozen=True, repr=False)
class Postgres:
    """A table or a query. Parts missing from the address (password, host, user) come from PGPASSWORD and the like."""

    place: Place

    caveats = ()

    @classmethod
    def parse(cls, name: str) -> Postgres:
        return cls(parse_place(name))

    def header(self, columns: Sequence[str]) -> Any:
        with self.connected() as session:
            return session.header(columns)

    def batches(self, columns: Sequence[str]) -> Iterator[Any]:
        with self.connected() as session:
            yield from session.batches(columns)

    def names(self) -> tuple[str, ...]:
        with self.connected() as session:
            return session.names()

    def connected(self) -> AbstractContextManager[Session]:
        """The table or query, over one connection that lasts as long as the block."""
        dbapi = _driver()

        def connecting(stack: ExitStack) -> Session:
            return Session(self, stack.enter_context(closing(dbapi.connect(self.place.address))))

        return opened(connecting, dbapi.Error, self._explain_connection)

    def _explain_connection(self, error: Exception) -> str:
        """Why there is no connection, from libpq's message, which is not repeated: it can hold the address."""
        words = str(error)
        reason = next((result for mark, result in NOT_CONNECTED.items() if mark in words), NOT_CONNECTED[""])
        return f"no connection to the PostgreSQL server of {self.place.shown}: {reason}"

    def _explain_answer(self, error: Any) -> str:
        """Why the server refuses, by its public error code. Codes that a row could cause are not shown."""
        reason = NOT_ANSWERED.get(getattr(error, "sqlstate", None) or "", "try it in psql")
        return f"the PostgreSQL server of {self.place.shown} cannot read {self.place.asked}: {reason}"

    def __repr__(self) -> str:
        return "<the PostgreSQL database>"


@dataclass(frozen=True, repr=False)
class Session:
    """A table or a query, over an open connection."""

    of: Postgres
    connection: Any

    caveats = ()

    def header(self, columns: Sequence[str]) -> Any:
        arrow = _arrow()
        with self._reader(columns, " LIMIT 0") as reader:
            empty = [arrow.nulls(0, field.type) for field in reader.schema]
            return arrow.Table.from_batches([_plain(arrow.RecordBatch.from_arrays(empty, schema=reader.schema))])

    def batches(self, columns: Sequence[str]) -> Iterator[Any]:
        with self._reader(columns) as reader:
            for batch in reader:
                yield _plain(batch)

    def names(self) -> tuple[str, ...]:
        with self._reader((), " LIMIT 0") as reader:
            return tuple(reader.schema.names)

    def _reader(self, columns: Sequence[str], end: str = "") -> AbstractContextManager[Any]:
        """The wanted columns, or all if none is named."""
        place = self.of.place
        asked = place.table or f"({(place.query or '').strip().rstrip(';')}\n) AS asked"  # after a comment

        def asking(stack: ExitStack) -> Any:
            cursor = stack.enter_context(closing(self.connection.cursor()))
            cursor.execute(f"SELECT {', '.join(map(quoted, columns)) or '*'} FROM {asked}{end}")
            return cursor.fetch_record_batch()

        return opened(asking, _driver().Error, self.of._explain_answer)


def _plain(batch: Any) -> Any:
    """Plain Arrow types only. A ``numeric`` arrives as text; its trailing zeros are removed: 1.00 is 1."""
    arrow = _arrow()
    columns = []
    for field, column in zip(batch.schema, batch.columns, strict=True):
        column = getattr(column, "storage", column)
        if (field.metadata or {}).get(TYPE) == b"numeric":
            result = column.dictionary_encode()
            texts = [_plain_text(text) for text in result.dictionary.to_pylist()]
            column = arrow.DictionaryArray.from_arrays(result.indices, arrow.array(texts, arrow.string()))
        columns.append(column)
    return arrow.RecordBatch.from_arrays(columns, names=batch.schema.names)


def _plain_text(text: str) -> str | None:
    try:
        number = plain_of(Decimal(text))
    except InvalidOperation:
        return None
    return None if number is None or number != number else repr(number)


def _driver() -> Any:
    try:
        from adbc_driver_postgresql import dbapi
    except ImportError:
        raise needs("adbc-driver-postgresql", "postgres", "from PostgreSQL") from None
    return dbapi


def _arrow() -> Any:
    try:
        import pyarrow  # type: ignore[import-untyped]
    except ImportError:
        raise needs("pyarrow", "postgres", "from PostgreSQL") from None
    return pyarrow
