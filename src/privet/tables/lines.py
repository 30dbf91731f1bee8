"""The cells of one line of a CSV file: the header fixes the separator, the line alone the rest.

Proof: ``docs/proofs/reader.md``. None of this raises, and none of it reads another line.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

SEPARATORS = (",", ";", "\t")  # the first of them where a header has as many of one as of another, or none
SEMICOLON = ";"  # what spreadsheets write where the comma stands in numbers
# A cell in quotes (where "" stands for a quote) or without any, up to its separator or the end of the line. The repeats
# are possessive, so that no line takes more than linear time.
_CELLS = {
    separator: re.compile(rf'(?:{spaces}*+"((?:[^"]++|"")*+)"{spaces}*+|([^"{separator}]*+))(?:{separator}|(\Z))')
    for separator, spaces in ((",", r"[ \t]"), (";", r"[ \t]"), ("\t", " "))
}
_QUOTED = re.compile(r'"[^"]*+"')
_DECIMAL_COMMA = re.compile(r"\s*[+-]?[0-9]*,[0-9]+(?:[eE][+-]?[0-9]+)?\s*")


def separator_of(header: str) -> str:
    """The separator of a header: of the three, the one that occurs most often outside quotes.

    >>> [separator_of(header) for header in ("age,ward", "age;ward", "age\\tward", '"age; years",ward', "age")]
    [',', ';', '\\t', ',', ',']
    """
    bare = _QUOTED.sub("", header)
    return max(SEPARATORS, key=bare.count)


def cells_of_line(line: str | None, separator: str, width: int = -1) -> Sequence[str | None]:
    """The cells of a line, all None if it cannot be read or their number is not ``width``; -1 accepts any number.

    With semicolons as separator, a number may have a decimal comma, and is returned with a point.

    >>> cells_of_line("37,8;ward 3, left", ";", 2)
    ['37.8', 'ward 3, left']
    >>> cells_of_line('37.8,"never closed', ",", 2)
    [None, None]
    """
    if line is None:
        return [None] * max(width, 0)
    cells = _quoted_cells(line, separator, width) if '"' in line else line.split(separator, width)
    if len(cells) != width and width >= 0:
        return [None] * width
    return [_with_point(cell) for cell in cells] if separator == SEMICOLON and "," in line else cells


def fault_of_line(line: str | None, separator: str, width: int) -> str | None:
    """Why a line cannot be read, with the fix, for the owner of the file; None if it can.

    >>> fault_of_line('37.8,"never closed', ",", 2)
    'have a quote out of place; write quotes around the whole cell, and "" for a quote in it'
    """
    if cells_of_line(line, separator, width)[0] is not None:
        return None
    if line is None:
        return "are not UTF-8; save the file as UTF-8 (spreadsheets call it 'CSV UTF-8')"
    if '"' in line and not _quoted_cells(line, separator, -1):
        return 'have a quote out of place; write quotes around the whole cell, and "" for a quote in it'
    return "have more or fewer cells than the header; write quotes around cells that hold what separates them"


def _with_point(cell: str) -> str:
    return cell.replace(",", ".") if _DECIMAL_COMMA.fullmatch(cell) else cell


def _quoted_cells(line: str, separator: str, most: int) -> list[str]:
    """The cells of a line with quotes; no cells if a quote is misplaced. Stops at more cells than a good line has."""
    pattern = _CELLS[separator]
    cells: list[str] = []
    end = 0
    while most < 0 or len(cells) <= most:
        match = pattern.match(line, end)
        if match is None:
            return []
        quoted, plain, last = match.groups()
        cells.append(plain if quoted is None else quoted.replace('""', '"'))
        if last is not None:
            break
        end = match.end()
    return cells
