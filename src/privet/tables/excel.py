"""Spreadsheets (.xlsx, .xlsm, .xlsb, .xls, .ods) by ``python-calamine``, which reads cells and runs no macro.

A row below the header is a record, and rows without a cell are none. Each cell becomes a text by itself: a number as
Python writes it (``64``, ``3.5``), a date as ``2024-03-01``, true and false as words, an error such as #N/A as an empty
cell. A row with a cell that the package cannot turn into a value is a record whose cells are all missing. So the
records go through the same encoder as those of a CSV file, and a record's cells depend on its own row and on the header
alone. A damaged file is refused as a whole: a certificate says that the file must be one that a program wrote.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date, datetime, time
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.addresses import safe
from privet.errors import TableError
from privet.tables.parquet import check_names

SUFFIXES = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
BATCH = 2**15  # rows turned into text at a time
FIX = "the row of the names must be the first of its sheet, or be said: excel:///table.xlsx?sheet=name&header=3"
CAVEAT = (
    "the table was read from a spreadsheet, so the promise needs a well-formed file, as spreadsheet programs write it: "
    "a damaged one is refused as a whole"
)
Column = NDArray[np.object_]


def excel_names(path: Path, sheet: str | None = None, header: int = 1) -> tuple[str, ...]:
    """The names of all columns; columns without a name are left out."""
    return tuple(name for name in _named(path, _rows(path, sheet, header)) if name)


def excel_header(path: Path, names: Sequence[str], sheet: str | None = None, header: int = 1) -> dict[str, list[Any]]:
    """The wanted columns as an empty table, in the order of the sheet."""
    found = _named(path, _rows(path, sheet, header))
    check_names(path, found, names, FIX)
    return {name: [] for name in sorted(names, key=found.index)}


def excel_batches(
    path: Path, names: Sequence[str], sheet: str | None = None, header: int = 1
) -> Iterator[dict[str, Column]]:
    """The records in batches, at least one, as columns of text."""
    rows = _rows(path, sheet, header)
    found = _named(path, rows)
    check_names(path, found, names, FIX)
    places = [found.index(name) for name in names]
    cells = ([_text(row[place]) for place in places] for row in rows if any(cell != "" for cell in row))
    empty = True
    while part := list(islice(cells, BATCH)):
        empty = False
        yield {name: _column(column) for name, column in zip(names, zip(*part, strict=True), strict=True)}
    if empty:
        yield {name: _column(()) for name in names}


def _rows(path: Path, sheet: str | None, header: int) -> Iterator[list[Any]]:
    """The rows of a sheet from its header on, each as long as the widest."""
    try:
        from python_calamine import CalamineError, load_workbook
    except ImportError:
        raise TableError(
            f"reading the spreadsheet {safe(path)} needs the package python-calamine: run `pip install 'privet[excel]'`"
        ) from None
    why = ""
    try:
        book = load_workbook(str(path))
        if sheet is not None and sheet not in book.sheet_names:
            why = "has no sheet of that name; check sheet="
        elif not book.sheet_names:
            why = "has no sheet"
        else:
            found = book.get_sheet_by_index(0) if sheet is None else book.get_sheet_by_name(sheet)
            # From the first cell on: rows are counted as a person sees them, empty ones too.
            rows = islice(_each(found.iter_rows()), header - 1, None)
    except (CalamineError, OSError, ValueError):  # the message can quote a cell
        why = "cannot be read as a spreadsheet; open it, take its password away, and save it again"
    if why:
        raise TableError(f"{safe(path)} {why}")
    return rows


def _each(rows: Iterator[list[Any]]) -> Iterator[list[Any]]:
    """The rows one by one. The package panics at a date beyond all calendars: no cell of such a row can be read."""
    width = 0
    while True:
        try:
            row = next(rows)
        except StopIteration:
            return
        except BaseException as error:
            if type(error).__name__ != "PanicException":
                raise
            row = [None] * width
        width = len(row)
        yield row


def _named(path: Path, rows: Iterator[list[Any]]) -> list[str]:
    names = [(_text(cell) or "").strip() for cell in next(rows, [])]
    if not any(names):
        raise TableError(f"the row of {safe(path)} that must name the columns is empty; {FIX}")
    return names


def _text(cell: Any) -> str | None:
    """A cell as text; None in a row that cannot be read. Whole numbers have no point: a sheet keeps 64 as 64.0."""
    if cell is None:
        return None
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 2**53:
        return str(int(cell))
    if isinstance(cell, datetime):
        return cell.date().isoformat() if cell.time() == time() else cell.isoformat(" ")
    if isinstance(cell, date | time):
        return cell.isoformat()
    return str(cell)


def _column(cells: Sequence[str | None]) -> Column:
    return np.fromiter(cells, object, len(cells))
