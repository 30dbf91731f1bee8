"""DuckDB: a database file, or any relation that a user has made."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from privet.engines.sources.places import needs, opened, parse_place, quoted, select
from privet.errors import TableError

PIECE = 2**17  # records that DuckDB hands over at a time


@dataclass(frozen=True, repr=False)
class Relation:
    """A relation of a connection that the user keeps open; DuckDB computes it while it is read."""

    relation: Any

    caveats = ()

    def header(self, columns: Sequence[str]) -> Any:
        return self._chosen(columns).limit(0).to_arrow_table()

    def batches(self, columns: Sequence[str]) -> Iterator[Any]:
        yield from self._chosen(columns).to_arrow_reader(PIECE)

    def _chosen(self, columns: Sequence[str]) -> Any:
        lacking = [name for name in columns if name not in self.relation.columns]
        if lacking:
            raise TableError(f"the relation lacks {', '.join(map(repr, lacking))}; select the columns of the schema")
        return self.relation.project(", ".join(map(quoted, columns)))

    def __repr__(self) -> str:
        return "<a DuckDB relation>"


@dataclass(frozen=True, repr=False)
class DuckDB:
    """A table or a query of a database file, which is opened for reading only."""

    path: Path
    words: str

    caveats = ()

    @classmethod
    def parse(cls, name: str) -> DuckDB:
        """From ``duckdb:///clinic.db?table=patients``; a path from the root has four strokes."""
        place = parse_place(name)
        return cls(Path(place.address.partition(":///")[2].partition("?")[0]), place.words)

    def header(self, columns: Sequence[str]) -> Any:
        with self._relation(columns) as relation:
            return Relation(relation).header(columns)

    def batches(self, columns: Sequence[str]) -> Iterator[Any]:
        with self._relation(columns) as relation:
            yield from Relation(relation).batches(columns)

    def _relation(self, columns: Sequence[str]) -> AbstractContextManager[Any]:
        try:
            import duckdb
        except ImportError:
            raise needs("duckdb", "duckdb", "a DuckDB database") from None
        if not self.path.is_file():
            raise TableError(f"there is no DuckDB database {str(self.path)!r}; check the path")

        def opening(stack: ExitStack) -> Any:
            connection = stack.enter_context(closing(duckdb.connect(str(self.path), read_only=True)))
            return connection.sql(select(columns, self.words))  # names and types; no record is read yet

        return opened("the DuckDB database", duckdb.Error, opening)

    def __repr__(self) -> str:
        return "<the DuckDB database>"
