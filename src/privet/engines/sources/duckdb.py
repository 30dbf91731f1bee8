"""DuckDB: a database file, or any relation that a user has made.

A file is opened read-only, and DuckDB may touch no other file: a person who may choose the query must not be able to
write records elsewhere, or to read other files. A query must be a single SELECT, as parsed by DuckDB itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from privet.engines.sources.places import Place, needs, opened, parse_place, quoted
from privet.errors import MissingColumnsError, TableError
from privet.tables.files import is_there

PIECE = 2**17  # records that DuckDB hands over at a time
CONFINED = {
    "enable_external_access": "false",  # no other files, no network, no ATTACH, no COPY
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "python_enable_replacements": "false",  # a table is never a variable of this process
    "lock_configuration": "true",  # no statement can undo these
}
ONE_SELECT = (
    "query= must be one SELECT, and nothing before or after it: a source only reads. For what needs more, make a table "
    "or a view in the database, and name it by table="
)


@dataclass(frozen=True, repr=False)
class Relation:
    """A relation on the user's open connection; DuckDB computes it while it is read."""

    relation: Any

    caveats = ()

    def header(self, columns: Sequence[str]) -> Any:
        return self._chosen(columns).limit(0).to_arrow_table()

    def batches(self, columns: Sequence[str]) -> Iterator[Any]:
        yield from self._chosen(columns).to_arrow_reader(PIECE)

    def names(self) -> tuple[str, ...]:
        return tuple(self.relation.columns)

    def _chosen(self, columns: Sequence[str]) -> Any:
        lacking = [name for name in columns if name not in self.relation.columns]
        if lacking:
            message = f"the relation lacks {', '.join(map(repr, lacking))}; select the columns of the schema"
            raise MissingColumnsError(message, tuple(lacking))
        return self.relation.project(", ".join(map(quoted, columns)))

    def __repr__(self) -> str:
        return "<a DuckDB relation>"


@dataclass(frozen=True, repr=False)
class DuckDB:
    """A table or a query of a database file."""

    path: Path
    place: Place

    caveats = ()

    @classmethod
    def parse(cls, name: str) -> DuckDB:
        """Parse ``duckdb:///clinic.db?table=patients``; an absolute path has four slashes."""
        place = parse_place(name)
        _, strokes, path = place.address.partition(":///")
        if not strokes or not path or "?" in path:
            raise TableError(
                f"{place.shown} must be like duckdb:///clinic.db?table=patients: three slashes (four before a path "
                "from the root), a file, and table= or query= alone"
            )
        return cls(Path(path), place)

    def header(self, columns: Sequence[str]) -> Any:
        with self.connected() as relation:
            return relation.header(columns)

    def names(self) -> tuple[str, ...]:
        with self.connected() as relation:
            return relation.names()

    def batches(self, columns: Sequence[str]) -> Iterator[Any]:
        with self.connected() as relation:
            yield from relation.batches(columns)

    def connected(self) -> AbstractContextManager[Relation]:
        """The table or query, in a database that is open as long as the block."""
        try:
            import duckdb
        except ImportError:
            raise needs("duckdb", "duckdb", "a DuckDB database") from None
        if not is_there(self.path):
            raise TableError(f"there is no file at the path of {self.place.shown}; check the path")

        def opening(stack: ExitStack) -> Relation:
            connection = stack.enter_context(closing(duckdb.connect(str(self.path), read_only=True, config=CONFINED)))
            query = f"FROM {self.place.table}" if self.place.query is None else self.place.query
            statements = connection.extract_statements(query)
            if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
                raise TableError(ONE_SELECT)
            return Relation(connection.sql(statements[0]))  # names and types; no record is read yet

        return opened(opening, duckdb.Error, self._explain)

    def _explain(self, error: Exception) -> str:
        """Why a database cannot be read, by the kind of DuckDB's error; its own message is not repeated."""
        import duckdb

        where, words = f"the DuckDB database of {self.place.shown}", str(error)
        if isinstance(error, duckdb.IOException) and "set lock on file" in words:
            return f"{where} is locked: another program has it open for writing. Close it there, or read a copy"
        if isinstance(error, duckdb.ConnectionException):
            return (
                f"{where} is open in this process already, with other settings. Close that connection, or give a "
                "relation of it"
            )
        if isinstance(error, duckdb.IOException):
            return f"{where} is not one that this DuckDB can open; check that the path leads to a DuckDB database"
        if isinstance(error, duckdb.PermissionException):
            return f"{where} refuses {self.place.asked}: it reads other files, which is off; copy them into a table"
        if isinstance(error, duckdb.CatalogException) and self.place.table is not None:
            return f"{where} has no such table; check its name and its schema, and write a name with dots in quotes"
        return f"{where} refuses {self.place.asked}; try it in DuckDB itself"

    def __repr__(self) -> str:
        return "<the DuckDB database>"
