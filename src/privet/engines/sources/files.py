"""Files of CSV and Parquet, one or many, through privet's own reader."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from glob import glob, has_magic
from pathlib import Path
from typing import Any

from privet.errors import TableError
from privet.schema.files import BREAKS_CAVEAT, read_batches, read_header


@dataclass(frozen=True)
class Files:
    """The records of some files, one after the other."""

    paths: tuple[Path, ...]
    quoted_line_breaks: bool = False

    @classmethod
    def named(cls, name: str, *, quoted_line_breaks: bool = False) -> Files:
        """A file, or all files that a pattern such as ``visits/*.parquet`` matches, in the order of their names."""
        if Path(name).exists() or not has_magic(name):
            return cls((Path(name),), quoted_line_breaks)
        paths = tuple(map(Path, sorted(glob(name, recursive=True))))
        if not paths:
            raise TableError(f"no file matches {name!r}; check the pattern")
        return cls(paths, quoted_line_breaks)

    @property
    def caveats(self) -> tuple[str, ...]:
        return (BREAKS_CAVEAT,) if self.quoted_line_breaks else ()

    def header(self, columns: Sequence[str]) -> Any:
        how = {"quoted_line_breaks": self.quoted_line_breaks}
        headers = [read_header(path, columns, **how) for path in self.paths]  # a later file may lack a column
        return headers[0]

    def batches(self, columns: Sequence[str]) -> Iterator[Any]:
        for path in self.paths:
            yield from read_batches(path, columns, quoted_line_breaks=self.quoted_line_breaks)
