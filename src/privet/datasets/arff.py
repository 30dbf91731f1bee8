"""Dense ARFF, OpenML's table format: column names, and cells as text.

Names and cells may be in single or double quotes; a backslash escapes a quote. ``?`` without quotes is a missing cell,
and becomes None. Sparse rows and dates are not supported: no table that privet knows has them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from privet.errors import TableError

# A cell, in quotes of one kind or without any, up to its comma or the end of the line.
_CELL = re.compile(r"""\s*(?:'((?:[^'\\]|\\.)*+)'|"((?:[^"\\]|\\.)*+)"|([^,'"]*+))\s*(?:,|(\Z))""")
_ATTRIBUTE = re.compile(
    r"""@attribute\s+(?:'((?:[^'\\]|\\.)*+)'|"((?:[^"\\]|\\.)*+)"|([^\s'"]\S*))\s+\S""", re.IGNORECASE
)
_ESCAPED = re.compile(r"\\(.)")

Row = list[str | None]


def read_arff(text: str) -> tuple[list[str], list[Row]]:
    """Read the column names and the rows.

    >>> read_arff("% a toy\\n@relation r\\n@attribute 'is old' {y,n}\\n@ATTRIBUTE age numeric\\n@data\\ny, 70\\n?,8\\n")
    (['is old', 'age'], [['y', '70'], [None, '8']])
    """
    lines = iter(text.splitlines())
    names = list(_header(lines))
    rows = []
    for line in lines:
        if line.strip() and not line.lstrip().startswith("%"):
            if line.lstrip().startswith("{"):
                raise TableError("the ARFF file has sparse rows, as no table that privet knows has")
            row = _cells(line)
            if len(row) != len(names):
                raise TableError(f"the ARFF file has {len(names)} columns and a row of {len(row)} cells: it is damaged")
            rows.append(row)
    return names, rows


def _header(lines: Iterator[str]) -> Iterator[str]:
    """Column names, up to the @data line."""
    for line in lines:
        word = line.strip()
        if word.lower().startswith("@data"):
            return
        if word.lower().startswith("@attribute"):
            found = _ATTRIBUTE.match(word)
            if found is None:
                raise TableError("the ARFF file has an @attribute line that cannot be read: it is damaged")
            yield _text(found.group(1), found.group(2), found.group(3)) or ""
    raise TableError("the ARFF file has no @data line: it is cut short, or no ARFF")


def _cells(line: str) -> Row:
    cells: Row = []
    place, ended = 0, False
    while not ended:
        found = _CELL.match(line, place)
        if found is None:
            raise TableError("the ARFF file has a row that cannot be read: it is damaged, or not dense ARFF")
        single, double, plain, end = found.groups()
        cells.append(None if plain is not None and plain.strip() == "?" else _text(single, double, plain))
        place, ended = found.end(), end is not None
    return cells


def _text(single: str | None, double: str | None, plain: str | None) -> str:
    quoted = single if single is not None else double
    return _ESCAPED.sub(r"\1", quoted) if quoted is not None else (plain or "").strip()
