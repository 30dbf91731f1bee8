"""How a cell is read before it is encoded: missing markers, spellings, parts of a date, prefixes of codes.

A :class:`Reading` is part of an attribute's public facts. It turns one cell into another, by itself
(:mod:`privet.tables.readings`), so several attributes can be made from one column.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from privet.errors import SchemaError
from privet.schema.limits import brief, has_surrogates

PARTS = ("year", "month", "day", "weekday", "days")
ISO = ("%Y-%m-%d",)
MOST_FORMATS = 20
MOST_SPELLINGS = 200_000  # of one attribute: ICD-10 has some 70,000 codes
MOST_MARKERS = 100
_DIRECTIVES = {"%Y": r"(?P<Y>\d{4})", "%y": r"(?P<y>\d{2})", "%m": r"(?P<m>\d{1,2})", "%d": r"(?P<d>\d{1,2})"}


@dataclass(frozen=True)
class DatePart:
    """A number from a date: its ``year``, ``month`` (1 to 12), ``day``, ``weekday`` (1 is Monday), or ``days``.

    ``days`` is how many days the date lies before the public date ``at``. Cells that are dates, or texts in ISO form,
    are always read; ``formats`` are the others, made of %Y, %y (69 to 99 are 1969 to 1999), %m, %d and plain
    characters. The first that fits is taken, so the order matters where days and months could be confused.

    >>> DatePart("year", ("%d.%m.%Y", "%m/%d/%y")).formats
    ('%d.%m.%Y', '%m/%d/%y')
    """

    part: str
    formats: tuple[str, ...] = ISO
    at: datetime.date | None = None

    def __post_init__(self) -> None:
        if self.part not in PARTS:
            raise SchemaError(f"the part of a date must be one of {', '.join(PARTS)}, not {brief(self.part)}")
        formats = (self.formats,) if isinstance(self.formats, str) else tuple(self.formats)
        if not 1 <= len(formats) <= MOST_FORMATS:
            raise SchemaError(f"a date has 1 to {MOST_FORMATS} formats")
        object.__setattr__(self, "formats", formats)
        object.__setattr__(self, "at", _date(self.at))
        if (self.at is None) != (self.part != "days"):
            raise SchemaError("'at' is the public date that 'days' are counted to; give it with days, and only then")
        _ = self.patterns  # refuses an unknown format

    @cached_property
    def patterns(self) -> tuple[re.Pattern[str], ...]:
        """The formats as patterns, none of which depends on the language of the machine."""
        return tuple(map(_pattern, self.formats))


@dataclass(frozen=True)
class Reading:
    """How the cells of an attribute are read. Every record by itself, by public facts alone.

    In this order: a cell that is a ``missing`` marker becomes missing; a date becomes one of its parts; a text is cut
    to its first ``prefix`` characters; a text that is one of the ``spellings`` of a value, or differs from it in case
    and surrounding blanks only (``fold``), becomes this value. ``source`` is the column that is read, if it has another
    name than the attribute.

    >>> Reading(spellings={"female": ["f", "W"]}, fold=True, missing=["NA", "-"]).missing
    ('NA', '-')
    """

    source: str | None = None
    missing: tuple[Any, ...] = ()
    date: DatePart | None = None
    prefix: int | None = None
    spellings: Any = ()
    """A mapping of values to lists of texts; stored as sorted pairs."""
    fold: bool = False

    def __post_init__(self) -> None:
        if self.source is not None and (not isinstance(self.source, str) or not self.source):
            raise SchemaError(f"'from' must name a column, not {brief(self.source)}")
        markers = (self.missing,) if isinstance(self.missing, str | int | float) else tuple(self.missing)
        if len(markers) > MOST_MARKERS or any(isinstance(m, bool) or not isinstance(m, str | int | float)
                                               for m in markers):  # fmt: skip
            raise SchemaError(
                f"missing must list at most {MOST_MARKERS} markers, texts or numbers, such as ['NA', 999]"
            )
        object.__setattr__(self, "missing", markers)
        if self.date is not None and type(self.date) is not DatePart:
            raise SchemaError("date must be a DatePart")
        if self.prefix is not None and (type(self.prefix) is not int or not 1 <= self.prefix <= 100):
            raise SchemaError("prefix must be a number of characters from 1 to 100")
        if type(self.fold) is not bool:
            raise SchemaError("fold must be true or false")
        object.__setattr__(self, "spellings", _pairs(self.spellings))
        for text in (self.source, *markers, *(text for _, texts in self.spellings for text in texts)):
            if isinstance(text, str) and has_surrogates(text):
                raise SchemaError("a marker or a spelling holds half of a character, which no file can hold")

    @property
    def changes_cells(self) -> bool:
        """Whether it does more than name the column."""
        return bool(self.missing or self.date or self.prefix or self.spellings or self.fold)

    def check(self, name: str, values: tuple[Any, ...] | None) -> None:
        """Refuse what does not suit an attribute: the values of a category, or None for a number."""
        where = f"attribute {brief(name)}"
        if values is None and (self.spellings or self.fold or self.prefix is not None):
            raise SchemaError(f"{where}: spellings, fold and prefix are for categories")
        if values is not None:
            self.table(name, values)

    def key(self, text: str) -> str:
        """The form in which texts are compared."""
        return text.strip().casefold() if self.fold else text.strip()

    def table(self, name: str, values: tuple[Any, ...]) -> dict[str, Any]:
        """The value of each spelling; refused where a text would be two values."""
        known = {str(value).strip(): value for value in values}
        found: dict[str, Any] = {}
        for value in values if self.fold else ():
            _add(found, self.key(str(value)), value, name)
        for spelt, texts in self.spellings:
            if str(spelt).strip() not in known:
                raise SchemaError(
                    f"attribute {brief(name)}: spellings of {brief(spelt)}, which is not among its values"
                )
            for text in texts:
                if self.key(text) in known and known[self.key(text)] != known[str(spelt).strip()]:
                    raise SchemaError(f"attribute {brief(name)}: {brief(text)} is a value and spells another; drop one")
                _add(found, self.key(text), known[str(spelt).strip()], name)
        return found


def _add(found: dict[str, Any], key: str, value: Any, name: str) -> None:
    if key in found and found[key] != value:
        raise SchemaError(
            f"attribute {brief(name)}: {brief(key)} would be two values at once; drop one, or do not fold"
        )
    found[key] = value


def _pairs(spellings: Any) -> tuple[tuple[Any, tuple[str, ...]], ...]:
    pairs = list(spellings.items()) if isinstance(spellings, Mapping) else list(spellings)
    found = []
    for value, texts in pairs:
        several = (texts,) if isinstance(texts, str | int | float) else texts
        if not isinstance(several, Iterable) or any(not isinstance(t, str | int | float) for t in several):
            raise SchemaError(f"the spellings of {brief(value)} must be a list of texts")
        found.append((value, tuple(str(text) for text in several)))
    if sum(len(texts) for _, texts in found) > MOST_SPELLINGS:
        raise SchemaError(f"an attribute has at most {MOST_SPELLINGS:,} spellings; use a prefix")
    return tuple(found)


def _date(value: Any) -> datetime.date | None:
    if value is None or type(value) is datetime.date:
        return value
    try:
        return datetime.date.fromisoformat(value)
    except (TypeError, ValueError):
        raise SchemaError(f"'at' must be a date such as 2024-01-31, not {brief(value)}") from None


def _pattern(text: Any) -> re.Pattern[str]:
    pieces = re.split(r"(%.)", text) if isinstance(text, str) else ["%?"]
    if any(piece.startswith("%") and piece not in _DIRECTIVES for piece in pieces):
        raise SchemaError(f"a format of dates is made of %Y, %y, %m, %d and plain characters, not {brief(text)}")
    years = sum(piece in ("%Y", "%y") for piece in pieces)
    if years != 1 or pieces.count("%m") != 1 or pieces.count("%d") != 1:
        raise SchemaError(f"a format of dates has one year, one %m and one %d: {brief(text)}")
    return re.compile("".join(_DIRECTIVES.get(piece, re.escape(piece)) for piece in pieces), re.ASCII)
