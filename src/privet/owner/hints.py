"""Guess why the schema cannot read some cells. OUTSIDE PRIVACY: for the data owner only.

Hints name kinds of mistakes and the schema's own values, never a cell.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from datetime import date, time, timedelta
from difflib import get_close_matches
from typing import Any

import numpy as np

from privet.schema.attributes import Attribute, Categorical, Numeric

NEAR = 0.75  # difflib's ratio: one letter in four may be wrong
MOST_GUESSES = 200  # distinct cells to compare with the schema's values; comparing is slow
COMMA = re.compile(r"[+-]?\d+,\d+")
DATE = re.compile(r"\d{1,4}([-/.])\d{1,2}\1\d{1,4}([T ].*)?")


def hints_of(attribute: Attribute, cells: Iterable[Any]) -> tuple[str, ...]:
    """What the unreadable cells of a column have in common, the most frequent first, with the fix.

    >>> from privet.schema import Categorical, Numeric
    >>> hints_of(Numeric("temperature", 35, 42), ["37,8", "36,9", "warm"])
    ('2 have a decimal comma; write a decimal point',)
    >>> hints_of(Categorical("class", ("Sick", "Healthy")), ["sick", True, False])
    ("2 are booleans; write 'Sick', 'Healthy'", "1 are 'Sick' except for case and spaces")
    """
    guess = _guess_number if isinstance(attribute, Numeric) else _guess_category(attribute)
    counted: Counter[str] = Counter()
    for cell, count in Counter(map(_key, cells)).most_common(MOST_GUESSES):
        if (reason := guess(cell)) is not None:
            counted[reason] += count
    return tuple(f"{count} {reason}" for reason, count in counted.most_common())


def _key(cell: Any) -> Any:
    """A hashable key of a cell: its kind, or its text."""
    if isinstance(cell, bool | np.bool_):
        return bool
    if isinstance(cell, date | time | timedelta | np.datetime64 | np.timedelta64):
        return date
    if isinstance(cell, int | float | np.number):
        return float
    return cell.strip() if isinstance(cell, str) else object


def _guess_number(cell: Any) -> str | None:
    if cell is date or (isinstance(cell, str) and DATE.fullmatch(cell)):
        return "are dates or times; give a number, such as the year or the number of days"
    if isinstance(cell, str) and COMMA.fullmatch(cell):
        return "have a decimal comma; write a decimal point"
    return None


def _guess_category(attribute: Categorical) -> Any:
    values = {str(value).strip().casefold(): value for value in reversed(attribute.values)}
    listed = ", ".join(map(repr, attribute.values[:5])) + (", ..." if len(attribute.values) > 5 else "")

    def guess(cell: Any) -> str | None:
        if cell is bool or cell is float or cell is date:
            kind = {bool: "booleans", float: "numbers", date: "dates or times"}[cell]
            return f"are {kind}; write {listed}"
        if not isinstance(cell, str):
            return None
        if cell.casefold() in values:
            return f"are {values[cell.casefold()]!r} except for case and spaces"
        near = get_close_matches(cell.casefold(), values, n=1, cutoff=NEAR)
        return f"look like {values[near[0]]!r}" if near else None

    return guess
