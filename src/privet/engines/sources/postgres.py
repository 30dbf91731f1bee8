"""PostgreSQL, through ADBC: batches of Arrow as the server copies them out, in one statement, so of one moment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, closing
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

from privet.engines.sources.places import needs, opened, parse_place, select
from privet.schema.cells import plain_of

TYPE = b"POSTGRESQL:type"  # what ADBC says of each column


@dataclass(frozen=True, repr=False)
class Postgres:
    """A table or a query. What the address leaves out (password, host, user) comes from PGPASSWORD and the like."""

    address: str
    words: str

    caveats = ()

    @classmethod
    def parse(cls, name: str) -> Postgres:
        return cls(*parse_place(name))

    def header(self, columns: Sequence[str]) -> Any:
        arrow = _arrow()
        with self._reader(columns, " LIMIT 0") as reader:
            empty = [arrow.nulls(0, field.type) for field in reader.schema]
            return arrow.Table.from_batches([_plain(arrow.RecordBatch.from_arrays(empty, schema=reader.schema))])

    def batches(self, columns: Sequence[str]) -> Iterator[Any]:
        with self._reader(columns) as reader:
            for batch in reader:
                yield _plain(batch)

    def _reader(self, columns: Sequence[str], end: str = "") -> AbstractContextManager[Any]:
        dbapi = _driver()

        def opening(stack: ExitStack) -> Any:
            connection = stack.enter_context(closing(dbapi.connect(self.address)))
            cursor = stack.enter_context(closing(connection.cursor()))
            cursor.execute(select(columns, self.words) + end)
            return cursor.fetch_record_batch()

        return opened("the PostgreSQL database", dbapi.Error, opening)

    def __repr__(self) -> str:
        return "<the PostgreSQL database>"


def _plain(batch: Any) -> Any:
    """Only types of Arrow itself. A ``numeric`` arrives as text with its zeros: as a number says itself, 1.00 is 1."""
    arrow = _arrow()
    columns = []
    for field, column in zip(batch.schema, batch.columns, strict=True):
        column = getattr(column, "storage", column)
        if (field.metadata or {}).get(TYPE) == b"numeric":
            told = column.dictionary_encode()
            texts = [_plain_text(text) for text in told.dictionary.to_pylist()]
            column = arrow.DictionaryArray.from_arrays(told.indices, arrow.array(texts, arrow.string()))
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
