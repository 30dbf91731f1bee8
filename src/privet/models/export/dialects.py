"""What differs between DuckDB, PostgreSQL and SQLite in the queries of :mod:`privet.models.export.sql`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from privet.errors import ParameterError

DialectName = Literal["duckdb", "postgres", "sqlite"]
SPACES = "".join(chr(code) for code in range(0x3001) if chr(code).isspace())  # what str.strip removes; none comes later
_SHORT = 15  # digits that every reader of decimals gets right
_LARGEST = 2**62  # SQLite's whole numbers have 64 bits


@dataclass(frozen=True)
class Dialect:
    """The words of one database. ``nan`` is NaN as a literal, if a column can hold one. ``advice`` heads a query.

    ``join`` is how a record finds its row in a table of numbers. There is one for each, but SQLite may begin with these
    tables, and multiply them all, unless the records must come first.
    """

    name: DialectName
    real: str
    nan: str | None
    strip: str
    greatest: str = "GREATEST"
    least: str = "LEAST"
    join: str = "JOIN"
    advice: str = ""

    def number(self, value: float) -> str:
        """A double, exactly: as written here it is a double, not a decimal."""
        text = repr(float(value))
        if self.name == "postgres":
            return f"float8 '{text}'"
        if self.name == "duckdb":
            return text if "e" in text else f"{text}e0"
        top, bottom = float(value).as_integer_ratio()
        digits = len(text.lower().partition("e")[0].replace(".", "").strip("-0"))
        if digits <= _SHORT or max(abs(top), bottom) > _LARGEST:
            return text
        return f"({top} / {bottom}.0)"  # SQLite does not round every decimal of 17 digits to the nearest double

    def cell(self, column: str) -> str:
        """A numeric column as doubles, NULL for NaN."""
        cast = f"CAST({name(column)} AS {self.real})"
        return cast if self.nan is None else f"NULLIF({cast}, {self.nan})"

    def largest(self, values: Sequence[str]) -> str:
        return values[0] if len(values) == 1 else f"{self.greatest}({', '.join(values)})"

    def within(self, value: str, low: float, high: float) -> str:
        """The value, or the nearer bound."""
        return f"{self.least}({self.greatest}({value}, {self.number(low)}), {self.number(high)})"


DIALECTS = {
    "duckdb": Dialect("duckdb", "DOUBLE", "'NaN'::DOUBLE", "TRIM"),
    "postgres": Dialect("postgres", "DOUBLE PRECISION", "float8 'NaN'", "BTRIM", advice="run SET jit = off before it"),
    "sqlite": Dialect("sqlite", "REAL", None, "TRIM", "MAX", "MIN", "LEFT JOIN"),
}


def dialect_of(given: str) -> Dialect:
    if given not in DIALECTS:
        raise ParameterError(parameter="dialect", problem=f"is {given!r}", fix=f"choose one of {', '.join(DIALECTS)}")
    return DIALECTS[given]


def name(text: str) -> str:
    """A name in double quotes."""
    return '"' + text.replace('"', '""') + '"'


def table_name(text: str) -> str:
    """A table's name: a dot separates schema and table."""
    return ".".join(map(name, text.split(".")))


def literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
