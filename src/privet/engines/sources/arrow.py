"""Arrow's readers: a dataset (a folder of files, partitions, a bucket), a scanner of one, a stream of batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from privet.errors import MissingColumnsError

PIECE = 2**17  # records read at a time
AHEAD = 1  # batches and files to read ahead; more take memory, and the encoder is slower anyway


@dataclass(frozen=True, repr=False)
class Scanned:
    """A ``pyarrow.dataset.Dataset``, scanned for the wanted columns, or a scanner made by the user."""

    made: Any

    caveats = ()

    def header(self, columns: Sequence[str]) -> Any:
        schema = getattr(self.made, "projected_schema", None) or self.made.schema
        return schema.empty_table().select(_present(columns, schema.names))

    def batches(self, columns: Sequence[str]) -> Iterator[Any]:
        if not hasattr(self.made, "scanner"):
            yield from (batch.select(list(columns)) for batch in self.made.to_batches())
            return
        how = {"batch_size": PIECE, "batch_readahead": AHEAD, "fragment_readahead": AHEAD, "use_threads": False}
        yield from self.made.scanner(columns=list(columns), **how).to_batches()

    def __repr__(self) -> str:
        return "<an Arrow dataset>"


@dataclass(frozen=True, repr=False)
class Reader:
    """A ``pyarrow.RecordBatchReader``: a stream, which can be read once."""

    reader: Any

    caveats = ()

    def header(self, columns: Sequence[str]) -> Any:
        return self.reader.schema.empty_table().select(_present(columns, self.reader.schema.names))

    def batches(self, columns: Sequence[str]) -> Iterator[Any]:
        yield from (batch.select(list(columns)) for batch in self.reader)

    def __repr__(self) -> str:
        return "<an Arrow stream>"


def _present(columns: Sequence[str], names: Sequence[str]) -> list[str]:
    lacking = [name for name in columns if name not in names]
    if lacking:
        message = f"the Arrow reader lacks {', '.join(map(repr, lacking))}; read the columns of the schema"
        raise MissingColumnsError(message, tuple(lacking))
    return [name for name in names if name in columns]
