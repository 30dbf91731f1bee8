"""The meaning of a single cell. This is the definition; every faster way to read a column must agree with it.

A cell may be any object. :func:`plain_of` turns it into a bool, an int, a float, a text or None. :func:`number_of` and
:func:`reader_of` build on that. None of them reads another cell, and none of them raises.

The proof that encoding treats records one by one is in ``docs/proofs/encoding.md``.
"""

from __future__ import annotations

import datetime
import decimal
import math
import numbers
import re
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from privet.schema.attributes import Attribute, Categorical, Numeric

UNKNOWN = -1  # the code of a cell that holds no declared value
_PLAIN = frozenset((bool, int, float, str, type(None)))
_DATE = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d.*)?")
_MOST_DIGITS = 40  # of a Decimal read as an integer; the exponent of one can ask for a million


def plain_of(cell: Any) -> bool | int | float | str | None:
    """The plain value of a cell; None if no schema could mean it.

    >>> [plain_of(cell) for cell in (b"red", np.uint64(2**63), decimal.Decimal("7"), np.datetime64("2020-01-02", "ns"))]
    ['red', 9223372036854775808, 7, '2020-01-02']
    >>> [plain_of(cell) for cell in (None, [1], object(), np.ma.masked)]
    [None, None, None, None]
    """
    try:
        return cell if type(cell) in _PLAIN else _translated(cell)
    except Exception:  # a cell may raise at any operation; it then counts as None
        return None


def _translated(cell: Any) -> bool | int | float | str | None:
    # Use the methods of the built-in types: a subclass may have overridden them.
    if isinstance(cell, str):
        return str.__str__(cell)
    if isinstance(cell, bytes):
        return bytes.decode(cell, errors="replace")
    if isinstance(cell, np.datetime64):
        return None if np.isnat(cell) else moment(str(np.datetime_as_string(cell)))
    if isinstance(cell, datetime.timedelta | datetime.time | np.timedelta64):
        return None  # it is a number with a unit, and no schema declares units
    if isinstance(cell, np.bool_):
        return np.bool_.__bool__(cell)
    if isinstance(cell, int | np.integer):
        return np.generic.__int__(cell) if isinstance(cell, np.integer) else int.__int__(cell)
    if isinstance(cell, float | np.floating):
        return np.generic.__float__(cell) if isinstance(cell, np.floating) else float.__float__(cell)
    if isinstance(cell, decimal.Decimal):
        plain = decimal.Decimal(cell)
        whole = int(plain) if plain.is_finite() and abs(plain.adjusted()) < _MOST_DIGITS else None
        return whole if whole is not None and whole == plain else float(plain)
    if isinstance(cell, datetime.datetime):
        if cell != cell:  # NaT calls itself a datetime
            return None
        utc = cell if cell.tzinfo is None else cell.astimezone(datetime.UTC).replace(tzinfo=None)
        return moment(utc.isoformat())
    if isinstance(cell, datetime.date):
        return cell.isoformat()
    if isinstance(cell, numbers.Real):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # only the code of a foreign number is released, no warning about it
            return float(cell)
    return None


def moment(text: str) -> str:
    """A date and time (in UTC, if it has a zone), in one format, whatever its resolution.

    >>> [moment(text) for text in ("2020", "2020-01-02T00:00:00.000000000", "2020-01-02T03", "2020-01-02T03:04:05.60")]
    ['2020-01-01', '2020-01-02', '2020-01-02T03:00:00', '2020-01-02T03:04:05.6']
    """
    date, _, time = text.partition("T")
    date += "-01" * (2 - date[1:].count("-"))  # the first character may be the sign of a year
    time += ":00" * (2 - time.count(":")) if time else ""
    time = time.rstrip("0").rstrip(".") if "." in time else time
    return date if time in ("", "00:00:00") else f"{date}T{time}"


def number_of(cell: Any) -> float:
    """The number in a cell, as the nearest double; NaN if there is none.

    >>> [number_of(cell) for cell in ("39", " 3.9e1 ", 10**400, "37,8", None)]
    [39.0, 39.0, inf, nan, nan]
    """
    plain = plain_of(cell)
    if plain is None:
        return math.nan
    try:
        return float(plain)
    except ValueError:
        return math.nan
    except OverflowError:  # an integer beyond every double
        return math.inf if plain > 0 else -math.inf  # type: ignore[operator]


def reader_of(attribute: Attribute) -> Callable[[Any], int]:
    """The function from a cell to its code, or :data:`UNKNOWN`: the definition of the encoding.

    >>> read = reader_of(Categorical("colour", ("red", "blue")))
    >>> [read(cell) for cell in ("blue", " red ", "green", None, [0])]
    [1, 0, -1, -1, -1]
    """
    if isinstance(attribute, Categorical):
        spellings = spellings_of(attribute)

        def category(cell: Any) -> int:
            plain = plain_of(cell)
            code = spellings.get(plain, UNKNOWN)
            return spellings.get(plain.strip(), UNKNOWN) if code == UNKNOWN and isinstance(plain, str) else code

        return category

    def bin_of(cell: Any) -> int:
        value = value_of(attribute, cell)
        return UNKNOWN if math.isnan(value) else int(np.searchsorted(attribute.cuts, value, side="left"))

    return bin_of


def value_of(numeric: Numeric, cell: Any) -> float:
    """The number of a cell; NaN if there is none, or if it is the missing marker."""
    value = number_of(cell)
    return math.nan if numeric.missing is not None and value == number_of(numeric.missing) else value


def each(function: Callable[[Any], Any], cells: Iterable[Any]) -> Iterator[Any]:
    """``map(function, cells)``, with one call for each distinct text."""
    known = _Known(function)
    return (known[cell] if type(cell) is str or type(cell) is bytes else function(cell) for cell in cells)


class _Known(dict[Any, Any]):
    def __init__(self, function: Callable[[Any], Any]) -> None:
        self._function = function

    def __missing__(self, text: Any) -> Any:
        answer = self[text] = self._function(text)
        return answer


def spellings_of(attribute: Categorical) -> dict[Any, int]:
    """Every spelling of a declared value, the exact one first: "1" may arrive as 1 or 1.0, True as "true"."""
    spellings = {value: i for i, value in enumerate(attribute.values)}
    for i, value in enumerate(attribute.values):
        spellings.setdefault(str(value).strip(), i)
    # If several texts mean a number the shortest wins: 1 means "1" rather than "01".
    for i, value in sorted(enumerate(attribute.values), key=lambda item: len(str(item[1]))):
        for way in _other_ways(value):
            spellings.setdefault(way, i)
    return spellings


def _other_ways(value: Any) -> Iterator[Any]:
    text = str(value).strip()
    if text.lower() in ("true", "false"):
        yield from (text.lower(), text.capitalize(), text.lower() == "true")
    number = number_of(text)
    if math.isfinite(number):
        whole = _whole(text)
        if whole is None or whole == number:
            yield from (number, str(number), *([str(int(number))] if number.is_integer() else []))
        else:  # a double cannot hold so many digits: it would be another number
            yield from (whole, str(whole))
    if _DATE.fullmatch(text):
        try:
            yield plain_of(datetime.datetime.fromisoformat(text))
        except ValueError:
            return


def _whole(text: str) -> int | None:
    try:
        return int(text)
    except ValueError:
        return None
