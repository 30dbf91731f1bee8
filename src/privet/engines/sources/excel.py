"""A sheet of a spreadsheet by an address: ``excel:///visits.xlsx?sheet=2024&header=3``.

A plain path to a spreadsheet is its first sheet, with the names in the first row (:mod:`privet.engines.sources.files`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote_plus

from privet.errors import TableError
from privet.tables.excel import CAVEAT, SUFFIXES, excel_batches, excel_header, excel_names
from privet.tables.files import is_there

MOST_HEADER = 10_000  # the last row that can hold the names


@dataclass(frozen=True)
class Excel:
    """A sheet, and the row of its names."""

    path: Path
    sheet: str | None = None
    header_row: int = 1

    caveats = (CAVEAT,)

    @classmethod
    def parse(cls, name: str) -> Excel:
        """Parse ``excel:///visits.xlsx?sheet=2024&header=3``; an absolute path has four slashes.

        >>> Excel.parse("excel:///visits.xlsx?header=0")  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        privet.errors.TableError: an excel:// address must be like ...
        """
        address, _, query = name.partition("?")
        _, strokes, path = address.partition(":///")
        options = [option.partition("=") for option in query.split("&") if option]
        given = {key: unquote_plus(value) for key, _, value in options}
        row = given.get("header", "1")
        known = set(given) <= {"sheet", "header"} and len(given) == len(options)
        if not strokes or not path or not known or not row.isdecimal() or not 1 <= int(row) <= MOST_HEADER:
            raise TableError(
                "an excel:// address must be like excel:///visits.xlsx?sheet=2024&header=3: three slashes (four before "
                "a path from the root), a file, and if need be the name of a sheet and the row of the names"
            )
        if not path.lower().endswith(SUFFIXES):
            raise TableError(f"a spreadsheet must end in {', '.join(SUFFIXES)}")
        if not is_there(Path(path)):
            raise TableError("there is no file at the path of excel://...; check the path")
        return cls(Path(path), given.get("sheet"), int(row))

    def header(self, columns: Sequence[str]) -> Any:
        return excel_header(self.path, columns, self.sheet, self.header_row)

    def names(self) -> tuple[str, ...]:
        return excel_names(self.path, self.sheet, self.header_row)

    def batches(self, columns: Sequence[str]) -> Iterator[Any]:
        return excel_batches(self.path, columns, self.sheet, self.header_row)
