"""Files of CSV and Parquet, one or many, and folders of Parquet, through privet's own reader."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from glob import glob, has_magic
from pathlib import Path
from typing import Any

import numpy as np

from privet.addresses import safe
from privet.errors import TableError
from privet.tables.files import Records, column_names, file_caveats, is_there, read_batches, read_columns, read_header
from privet.tables.folders import common_header, joined


@dataclass(frozen=True)
class Files:
    """The records of some files, one after the other."""

    paths: tuple[Path, ...]
    quoted_line_breaks: bool = False
    name: str = ""

    @classmethod
    def named(cls, name: str, *, quoted_line_breaks: bool = False) -> Files:
        """A file, a folder, or all files that a pattern such as ``visits/*.parquet`` matches, in order of names."""
        if is_there(Path(name)) or not has_magic(name):
            return cls((Path(name),), quoted_line_breaks, name)
        paths = tuple(map(Path, sorted(glob(name, recursive=True))))
        if not paths:
            raise TableError(f"no file matches {safe(name)}; check the pattern")
        return cls(paths, quoted_line_breaks, name)

    @property
    def caveats(self) -> tuple[str, ...]:
        return file_caveats(*self.paths, quoted_line_breaks=self.quoted_line_breaks)

    def header(self, columns: Sequence[str]) -> Any:
        how = {"quoted_line_breaks": self.quoted_line_breaks}
        headers = [read_header(path, columns, **how) for path in self.paths]  # a later file may lack a column
        declared = [header for header in headers if not isinstance(header, dict)]  # CSV declares no types
        return common_header(safe(self.name), declared) if declared else headers[0]

    def names(self) -> tuple[str, ...]:
        return column_names(self.paths[0])

    def batches(self, columns: Sequence[str]) -> Iterator[Any]:
        for path in self.paths:
            yield from read_batches(path, columns, quoted_line_breaks=self.quoted_line_breaks)

    def whole(self, columns: Sequence[str]) -> Any:
        """All records in memory: an Arrow table, or columns of text."""
        parts = [read_columns(path, columns, quoted_line_breaks=self.quoted_line_breaks) for path in self.paths]
        if len(parts) == 1:
            return parts[0]
        if all(isinstance(part, Records) for part in parts):
            records = Records({name: np.concatenate([part[name] for part in parts]) for name in columns})
            records.caveats = self.caveats
            return records
        if any(isinstance(part, Records) for part in parts):
            raise TableError(f"some files of {safe(self.name)} are CSV and some Parquet; name those of one kind")
        return joined(self.header(columns), parts)
