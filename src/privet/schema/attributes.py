"""Attributes as public facts: a number with bounds and cut points, or one of a list of values.

Either says how a cell becomes a small integer code, by itself (:mod:`privet.tables.encoding`).
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.errors import SchemaError
from privet.schema.limits import brief, has_surrogates
from privet.schema.readings import Reading

DEFAULT_BINS = 20
MAX_CODES = 65_000  # codes fit into uint16, with room for a missing code
UNCONFIRMED = "unconfirmed"  # the basis of a fact in a draft; no schema can be built with it
LONGEST_BITS = 1_330  # of a whole number among values: 400 digits, more than the largest double has
LONGEST_TEXT = 10_000  # characters of a name or a value: a page repeats them hundreds of times
MARKERS = ("?", "missing", "other")  # listed values to which unknown categories fall back, in this order


@dataclass(frozen=True)
class Numeric:
    """A number between public bounds, cut into bins at public points.

    ``value <= cuts[j]`` exactly when ``code <= j``. Give ``thresholds`` (ascending, strictly inside the bounds), or let
    the bounds be cut into ``bins`` of equal width. A whole-number attribute is cut half-way between whole numbers, at
    all of them when there are no more than ``bins``. With a ``missing`` marker, missing values have a code of their
    own, the last; without one they are read as the ``middle``. ``basis`` is the origin of the bounds: ``"documented"``,
    or ``"meaning"`` if they follow from it. Certificates quote any other text.

    >>> Numeric("age", 0, 120).fallback, Numeric("age", 0, 120, missing="?").fallback
    (9, 20)
    """

    name: str
    low: float
    high: float
    integer: bool = False
    thresholds: tuple[float, ...] | None = None
    bins: int = DEFAULT_BINS
    missing: str | float | None = None
    basis: str | None = None
    reading: Reading | None = None

    def __post_init__(self) -> None:
        where = f"numeric attribute {brief(checked_name(self.name))}"
        _check_basis(self.basis, where)
        _check_reading(self.reading, self.name, None)
        low, high = _finite(self.low, f"{where}: low (JSON 'min')"), _finite(self.high, f"{where}: high (JSON 'max')")
        if not low < high or math.isinf(high - low):
            raise SchemaError(f"{where}: low {low:g} must be below high {high:g}, by a finite width; widen the bounds")
        if self.integer and math.ceil(low) > math.floor(high):
            raise SchemaError(f"{where}: no whole number lies between {low:g} and {high:g}; drop integer or widen them")
        if isinstance(self.bins, bool) or not isinstance(self.bins, int) or not 2 <= self.bins <= MAX_CODES:
            raise SchemaError(f"{where}: bins must be a whole number from 2 to {MAX_CODES}, not {self.bins!r}")
        if isinstance(self.missing, bool) or not isinstance(self.missing, str | int | float | None):
            raise SchemaError(f"{where}: missing must be the marker of a missing value, such as '?'")
        if isinstance(self.missing, str):
            check_text(self.missing, f"{where}: missing")
        elif self.missing is not None:
            _finite(self.missing, f"{where}: missing")
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)
        if self.thresholds is not None:
            if not isinstance(self.thresholds, Iterable) or isinstance(self.thresholds, str):
                raise SchemaError(f"{where}: thresholds must be a list of numbers")
            cuts = tuple(_finite(cut, f"{where}: each threshold") for cut in self.thresholds)
            if not 1 <= len(cuts) <= MAX_CODES:
                raise SchemaError(f"{where}: give 1 to {MAX_CODES} thresholds, or none at all to use bins")
            if any(a >= b for a, b in zip((low, *cuts), (*cuts, high), strict=True)):
                raise SchemaError(f"{where}: thresholds must ascend strictly inside ({low:g}, {high:g})")
            object.__setattr__(self, "thresholds", cuts)

    @cached_property
    def cuts(self) -> NDArray[np.float64]:
        """The public cut points, ascending and read-only."""
        first, last = math.ceil(self.low), math.floor(self.high)
        if self.thresholds is not None:
            cuts = np.array(self.thresholds)
        elif not self.integer:
            cuts = np.linspace(self.low, self.high, self.bins + 1)[1:-1]
        elif last - first < self.bins:
            cuts = np.array([first + j + 0.5 for j in range(last - first)], dtype=np.float64)
        else:
            cuts = np.floor(np.linspace(self.low, self.high, self.bins + 1)[1:-1]) + 0.5
        # Rounding can merge cuts or push one onto a bound; a cut at `high` would leave an empty last bin.
        cuts = np.unique(cuts[(cuts >= self.low) & (cuts < self.high)])
        cuts.setflags(write=False)
        return cuts

    @property
    def arity(self) -> int:
        """The number of codes."""
        return len(self.cuts) + 1 + (self.missing is not None)

    @property
    def middle(self) -> float:
        """The number that a missing one is read as without a marker: half-way between the bounds."""
        half = self.low + (self.high - self.low) / 2
        return min(math.floor(half + 0.5), self.high) if self.integer else half

    @cached_property
    def fallback(self) -> int:
        """The code of a missing value or one that is no number."""
        return len(self.cuts) + 1 if self.missing is not None else int(np.searchsorted(self.cuts, self.middle))


@dataclass(frozen=True)
class Categorical:
    """One of a public list of values (strings, booleans or numbers, kept as given).

    A value outside the list, or a missing one, is read as ``other`` if that is declared, else as a listed ``"?"``,
    ``"missing"`` or ``"other"`` (in any case), else as the middle of the list, which suits ordered lists: list a
    ``"?"`` for all others. The rule is public; no record is refused.

    >>> Categorical("pain", ("none", "some", "much")).fallback, Categorical("ward", ("A", "B", "?")).fallback
    (1, 2)
    """

    name: str
    values: tuple[Any, ...]
    other: Any | None = None
    basis: str | None = None
    reading: Reading | None = None

    def __post_init__(self) -> None:
        where = f"categorical attribute {brief(checked_name(self.name))}"
        _check_basis(self.basis, where)
        if isinstance(self.values, str | bytes | Mapping) or not isinstance(self.values, Iterable):
            raise SchemaError(f"{where}: values must be a list")
        # NumPy scalars become Python ones, so that a schema built from an array can be written as JSON.
        values = tuple(value.item() if isinstance(value, np.generic) else value for value in self.values)
        if not values:
            raise SchemaError(f"{where}: the list of values is empty; list every value that may occur")
        if len(values) > MAX_CODES:
            raise SchemaError(f"{where}: at most {MAX_CODES} values are possible; group the rare ones under 'other'")
        if any(not isinstance(value, str | int | float) or value in (math.inf, -math.inf) or value != value
               for value in values):  # fmt: skip
            raise SchemaError(f"{where}: values must be strings, booleans or numbers; write a missing value as '?'")
        for value in values:
            if isinstance(value, str):
                check_text(value, f"{where}: a value")
            elif isinstance(value, int) and value.bit_length() > LONGEST_BITS:
                raise SchemaError(f"{where}: a value has hundreds of digits; write it as text")
        if len(set(values)) < len(values):
            raise SchemaError(f"{where}: a value is listed twice (True equals 1 and False equals 0); drop one")
        if self.other is not None and self.other not in values:
            raise SchemaError(f"{where}: other={brief(self.other)} is not among its values; list it or drop it")
        object.__setattr__(self, "values", values)
        _check_reading(self.reading, self.name, values)

    @property
    def arity(self) -> int:
        """The number of codes."""
        return len(self.values)

    @cached_property
    def fallback(self) -> int:
        """The code of unknown and missing values."""
        if self.other is not None:
            return self.values.index(self.other)
        written = [str(value).strip().lower() for value in self.values]
        return next((written.index(marker) for marker in MARKERS if marker in written), self.arity // 2)


Attribute = Numeric | Categorical


def column_read(attribute: Attribute) -> str:
    """The column that an attribute is read from."""
    return (attribute.reading.source if attribute.reading else None) or attribute.name


def checked_name(name: Any) -> str:
    if not isinstance(name, str) or not name:
        raise SchemaError(f"a name must be a non-empty string, not {brief(name)}")
    check_text(name, "a name")
    return name


def _check_reading(reading: Any, name: str, values: tuple[Any, ...] | None) -> None:
    if reading is not None:
        if type(reading) is not Reading:
            raise SchemaError(f"attribute {brief(name)}: reading must be a Reading, not {type(reading).__name__}")
        reading.check(name, values)


def check_text(text: Any, what: str) -> None:
    """Refuse text that no model, journal or page can hold, before anything is paid for."""
    if isinstance(text, str) and has_surrogates(text):
        raise SchemaError(f"{what} holds half of a character (a lone surrogate), which no file can hold; correct it")
    if isinstance(text, str) and len(text) > LONGEST_TEXT:
        raise SchemaError(f"{what} has {len(text):,} characters; at most {LONGEST_TEXT:,} are possible")


def _check_basis(basis: Any, where: str) -> None:
    if basis is not None and (not isinstance(basis, str) or not basis.strip()):
        raise SchemaError(f"{where}: basis must say in words where the facts come from, such as 'documented'")
    check_text(basis, f"{where}: basis")
    if basis == UNCONFIRMED:
        raise SchemaError(f"{where}: its facts are not confirmed; say where they come from, such as 'documented'")


def _finite(value: Any, what: str) -> float:
    is_number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    if not is_number or not abs(value) <= sys.float_info.max:  # NaN, infinities, integers beyond float64
        raise SchemaError(f"{what} must be a finite number, not {brief(value)}")
    return float(value)
