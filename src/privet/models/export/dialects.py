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
        top, bottom = _ratio(value)
        return text if top == text else f"({top} / {bottom})"

    def numbers(self, rows: Sequence[Sequence[float]]) -> str:
        """A table of doubles with a row for each of ``rows``, which begins with its place."""
        if self.name != "sqlite":
            lines = (", ".join([str(r), *map(self.number, row)]) for r, row in enumerate(rows))
            return "VALUES\n" + ",\n".join(f"({line})" for line in lines)
        # SQLite compares each division of constants with all others, so these are divisions of columns.
        lines = (", ".join([str(r), *(part for value in row for part in _ratio(value))]) for r, row in enumerate(rows))
        columns = ["column1", *(f"column{2 * c + 2} / column{2 * c + 3}" for c in range(len(rows[0])))]
        return f"SELECT {', '.join(columns)}\nFROM (VALUES\n" + ",\n".join(f"({line})" for line in lines) + ")"

    def cell(self, column: str) -> str:
        """A numeric column as doubles, NULL for NaN."""
        cell = name(column)
        cast = f"CAST({cell} AS {self.real})"
        if self.nan is None:  # SQLite keeps texts in numeric columns too; one that is no number equals no number
            return f"CASE WHEN typeof({cell}) <> 'text' OR {cell} = {cast} THEN {cast} END"
        return f"NULLIF({cast}, {self.nan})"

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


def _ratio(value: float) -> tuple[str, str]:
    """Two numbers that SQLite reads exactly, and whose quotient is the double: it does not round every decimal of 17
    digits to the nearest double.
    """
    text = repr(float(value))
    top, bottom = float(value).as_integer_ratio()
    digits = len(text.lower().partition("e")[0].replace(".", "").strip("-0"))
    return (text, "1.0") if digits <= _SHORT or max(abs(top), bottom) > _LARGEST else (str(top), f"{bottom}.0")


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
