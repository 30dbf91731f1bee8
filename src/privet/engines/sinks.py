"""Tables that privet writes into databases: predictions, which are not private for the owner of the records.

A table that is there already stays, unless it is to be replaced. As for sources, no message shows an address or what a
database says, which can quote a record.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import unquote_plus

from privet.addresses import safe, scheme_of
from privet.engines.sources.duckdb import DuckDB
from privet.engines.sources.places import Place, needs, parse_place, table_parts
from privet.engines.sources.postgres import Postgres
from privet.errors import TableError
from privet.tables.files import is_there

WHERE = "write to a path that ends in .csv or .parquet, duckdb:///file.db?table=t or postgresql://host/db?table=t"


class Sink(Protocol):
    def write(self, table: Any) -> None:
        """Write an Arrow table, all of it or nothing."""


def open_sink(name: str, what: str, *, replace: bool, source: str = "") -> Sink:
    """A table of a database, by its address, to write ``what`` to. Its place is checked before the work.

    ``source`` is the address of the input, which must stay.
    """
    scheme = scheme_of(name)
    if scheme not in ("duckdb", "postgresql", "postgres"):
        raise TableError(f"cannot write {what} to {safe(name)}; {WHERE}")
    place = parse_place(name)
    if place.table is None:
        raise TableError(f"cannot write {what} to a query; end the address with ?table= and the name of a table")
    if scheme_of(source) == scheme and "?" in source and _same(place, parse_place(source)):
        raise TableError(f"cannot write {what} to {place.shown}: it is the input, which must stay; name another table")
    kind = _DuckDB if scheme == "duckdb" else _Postgres
    sink = kind(place, what, replace, _parts(name))
    if sink.is_taken() and not replace:
        raise TableError(
            f"cannot write {what} to {place.shown}: the table is there already; name another, or give --force to "
            "replace it"
        )
    return sink


def _same(one: Place, other: Place) -> bool:
    return one.table == other.table and one.address.partition("?")[0] == other.address.partition("?")[0]


def _parts(name: str) -> list[str]:
    options = (option.partition("=") for option in name.partition("?")[2].split("&"))
    return table_parts(next(unquote_plus(value) for key, _, value in options if key == "table"))


@dataclass(frozen=True)
class _DuckDB:
    place: Place
    what: str
    replace: bool
    parts: list[str]

    @property
    def path(self) -> Path:
        return DuckDB.parse(f"{self.place.address}?table=t").path

    def is_taken(self) -> bool:
        if not is_there(self.path):
            return False
        *_, schema, table = ["main", *self.parts]
        asked = "SELECT count(*) FROM information_schema.tables WHERE lower(table_schema) = ? AND lower(table_name) = ?"
        return bool(
            self._run(lambda connection: connection.execute(asked, [schema.lower(), table.lower()]).fetchone()[0])
        )

    def write(self, table: Any) -> None:
        def writing(connection: Any) -> None:
            connection.register("privet_rows", table)
            how = "CREATE OR REPLACE TABLE" if self.replace else "CREATE TABLE"
            connection.execute(f"{how} {self.place.table} AS FROM privet_rows")

        self._run(writing)

    def _run(self, work: Callable[[Any], Any]) -> Any:
        try:
            import duckdb
        except ImportError:
            raise needs("duckdb", "duckdb", "a DuckDB database") from None
        try:
            with closing(duckdb.connect(str(self.path))) as connection:
                return work(connection)
        except duckdb.Error:
            pass
        raise TableError(
            f"cannot write {self.what} to {self.place.shown}: check that no other program has the database open, and "
            "that the schema before the dot is there"
        )


@dataclass(frozen=True)
class _Postgres:
    place: Place
    what: str
    replace: bool
    parts: list[str]

    def is_taken(self) -> bool:
        with Postgres(self.place).connected() as session, closing(session.connection.cursor()) as cursor:
            cursor.execute("SELECT to_regclass($1) IS NOT NULL", (self.place.table,))
            return bool(cursor.fetchone()[0])

    def write(self, table: Any) -> None:
        from adbc_driver_postgresql import dbapi

        mode = "replace" if self.replace and self.is_taken() else "create"
        schema = {"db_schema_name": self.parts[-2]} if len(self.parts) > 1 else {}
        try:
            with Postgres(self.place).connected() as session, closing(session.connection.cursor()) as cursor:
                cursor.adbc_ingest(self.parts[-1], table, mode=mode, **schema)
                session.connection.commit()
                return
        except dbapi.Error:
            pass
        raise TableError(
            f"cannot write {self.what} to {self.place.shown}: check that the user may create tables there, and that "
            "the schema before the dot is there"
        )
