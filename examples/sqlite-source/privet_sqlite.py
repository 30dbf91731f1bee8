"""Tables of SQLite databases as a source of privet: ``sqlite:///clinic.db?table=patients``."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from privet.engines.sources.places import parse_place, quoted
from privet.errors import TableError

PIECE = 2**16  # records read at a time


@dataclass(frozen=True, repr=False)  # no address in any message, so none in the repr either
class SQLite:
    path: Path
    table: str  # as SQL writes it

    caveats = ()

    @classmethod
    def parse(cls, address: str) -> SQLite:
        place = parse_place(address)  # takes table= or query= out of the address
        path = Path(place.address.removeprefix("sqlite:///"))
        if place.table is None or not path.is_file():
            raise TableError("give a database file that exists and a table: sqlite:///clinic.db?table=patients")
        return cls(path, place.table)

    def names(self) -> tuple[str, ...]:
        """The names of all columns; only ``privet schema draft`` asks for them."""
        with closing(self._connect()) as database:
            found = database.execute(f"SELECT * FROM {self.table} LIMIT 0").description
        return tuple(column[0] for column in found)

    def header(self, columns: Sequence[str]) -> dict[str, list[Any]]:
        """The wanted columns without a record. SQLite declares no types that hold, so there are none to tell."""
        lacking = [name for name in columns if name not in self.names()]
        if lacking:
            raise TableError(f"the table lacks {', '.join(map(repr, lacking))}; it needs the columns of the schema")
        return {name: [] for name in columns}

    def batches(self, columns: Sequence[str]) -> Iterator[dict[str, tuple[Any, ...]]]:
        with closing(self._connect()) as database:
            records = database.execute(f"SELECT {', '.join(map(quoted, columns))} FROM {self.table}")
            while piece := records.fetchmany(PIECE):
                yield dict(zip(columns, zip(*piece, strict=True), strict=True))

    def _connect(self) -> sqlite3.Connection:
        return sqlite3.connect(f"{self.path.absolute().as_uri()}?mode=ro", uri=True)
