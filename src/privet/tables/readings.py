"""Cells as an attribute's reading turns them, before they are encoded. One cell at a time; nothing raises.

The code of a cell is the code of what :func:`translator` makes of it. So everything that is proved of the encoding
(``docs/proofs/encoding.md``) holds for attributes with a reading too.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from privet.schema.attributes import Attribute, Categorical
from privet.schema.facts import Schema
from privet.schema.readings import DatePart
from privet.tables.cells import each, number_of, plain_of
from privet.tables.frames import Array, Columns, Repeated, cells_of

_ISO = re.compile(r"(?P<Y>\d{4})-(?P<m>\d\d)-(?P<d>\d\d)(?:[T ].*)?", re.ASCII | re.DOTALL)
_CENTURY = 69  # two digits of a year from here on are of the twentieth century, as POSIX reads them


def translator(attribute: Attribute) -> Callable[[Any], Any]:
    """The function from a cell to the cell that is encoded instead.

    >>> from privet.schema import Categorical, Numeric, Reading
    >>> read = translator(Categorical("sex", ("f", "m", "?"), reading=Reading(spellings={"f": ["W"]}, fold=True)))
    >>> [read(cell) for cell in (" F", "w", "x", None)]
    ['f', 'f', 'x', None]
    >>> read = translator(Numeric("month", 1, 12, reading=Reading(date=DatePart("month", ("%d.%m.%Y",)))))
    >>> [read(cell) for cell in ("24.12.2020", "2020-12-24T10:00", datetime.date(2020, 1, 2), "yesterday", 7)]
    [12, 12, 1, None, None]
    """
    reading = attribute.reading
    if reading is None or not reading.changes_cells:
        return lambda cell: cell
    texts = {marker.strip() for marker in reading.missing if isinstance(marker, str)}
    numbers = {number for marker in reading.missing if (number := number_of(marker)) == number}
    spelt = reading.table(attribute.name, attribute.values) if isinstance(attribute, Categorical) else {}

    def translated(cell: Any) -> Any:
        plain = plain_of(cell)
        if (
            plain is None
            or plain != plain
            or (isinstance(plain, str) and plain.strip() in texts)
            or number_of(plain) in numbers
        ):
            return None
        if reading.date is not None:
            plain = date_part(plain, reading.date)
        if reading.prefix is not None and plain is not None:
            plain = _text(plain).strip()[: reading.prefix]
        if spelt and plain is not None:
            return spelt.get(reading.key(_text(plain)), plain)
        return plain

    return translated


def date_part(plain: Any, wanted: DatePart) -> int | None:
    """The part of a date in a text; None if there is none."""
    if not isinstance(plain, str):
        return None
    for pattern in (_ISO, *wanted.patterns):
        found = pattern.fullmatch(plain.strip())
        date = None if found is None else _date(found.groupdict())
        if date is not None:
            if wanted.at is not None:
                return (wanted.at - date).days
            return date.isoweekday() if wanted.part == "weekday" else int(getattr(date, wanted.part))
    return None


def _date(parts: dict[str, str]) -> datetime.date | None:
    year = int(parts["Y"]) if "Y" in parts else int(parts["y"]) + (1900 if int(parts["y"]) >= _CENTURY else 2000)
    try:
        return datetime.date(year, int(parts["m"]), int(parts["d"]))
    except ValueError:
        return None


def _text(plain: Any) -> str:
    """A cell as it would be written: 1.0, which a column of numbers makes of 1, as 1."""
    whole = isinstance(plain, float) and plain.is_integer() and abs(plain) < 2**53  # beyond, digits are invented
    return str(int(plain)) if whole else str(plain)


def read_columns(schema: Schema, columns: Columns, *, with_label: bool = True) -> Columns:
    """The columns under the names of the attributes, each read as declared; others as they are."""
    facts = [*schema.attributes, *([schema.label] if with_label else [])]
    known: dict[str, Attribute] = {fact.name: fact for fact in facts if fact.reading is not None}
    if not known:
        return columns
    sources = {name: (fact.reading.source if fact.reading else None) or name for name, fact in known.items()}
    made = tuple(name for name, source in sources.items() if source in columns.names and name not in columns.names)

    def read(name: str) -> Array:
        if name not in known:
            return columns.read(name)
        return _translated(known[name], columns.read(sources[name]))

    def repeated(name: str) -> Repeated | None:
        if name not in known:
            return columns.repeated(name)
        found = columns.repeated(sources[name])
        return None if found is None else found._replace(cells=_translated(known[name], found.cells))

    hidden = {name for name, source in sources.items() if source not in columns.names}
    return Columns((*(name for name in columns.names if name not in hidden), *made), read, repeated)


def _translated(attribute: Attribute, column: Array) -> Array:
    reading = attribute.reading
    if reading is None or not reading.changes_cells:
        return column
    cells = cells_of(column)
    found = np.empty(len(cells), dtype=object)
    found[:] = list(each(translator(attribute), cells))
    return found
