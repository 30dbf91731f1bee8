"""Check the rows of a table for the data owner. OUTSIDE PRIVACY."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.bidi import isolated
from privet.errors import TableError
from privet.owner.hints import hints_of
from privet.schema.attributes import Attribute, Categorical
from privet.schema.facts import Schema
from privet.tables.cells import UNKNOWN, each, plain_of, reader_of
from privet.tables.declared import refuse_source
from privet.tables.encoding import encode_features, open_for, values_of
from privet.tables.files import Records, faults_of_lines
from privet.tables.frames import Array, as_column, cells_of, numbers_of
from privet.tables.inferring import absent

REMEDIES = {
    "out of range": "clipped to the bounds",
    "not whole": "binned as it is",
    "missing label": "dropped",
    "unknown label": "dropped",
    "not a number label": "dropped",
}  # how a fit handles a fault; for others, see ``_reading_of``
WHOLE_LINES = "whole lines"  # the column name of faults that concern a whole line
HARMLESS = "not whole"  # a fault that costs nothing
LONGEST = 40  # characters of a value in a finding
MOST_OUTSIDE = 0.05  # the share of records with one fault in one column above which a check fails


@dataclass(frozen=True)
class Finding:
    """One kind of fault in one column: the number of rows that have it and the first of them, from 0.

    ``remedy`` is how a fit handles it, ``hints`` are guesses at the cause, and ``values`` the cells, the most frequent
    first, each with its number of records.
    """

    column: str
    fault: str
    count: int
    rows: tuple[int, ...]
    remedy: str = ""
    hints: tuple[str, ...] = ()
    values: tuple[tuple[str, int], ...] = ()

    def __str__(self) -> str:
        rows = ", ".join(map(str, self.rows)) + (", ..." if self.count > len(self.rows) else "")
        more = ", ..." if self.values and sum(count for _, count in self.values) < self.count else ""
        named = ", ".join(f"{value} ({count})" for value, count in self.values) + more
        text = "".join(f"\n    {line}" for line in (*([f"values: {named}"] if named else []), *self.hints))
        return f"{isolated(self.column)}: {self.count} {self.fault} (rows {rows}); at fit: {self.remedy}{text}"


@dataclass(frozen=True)
class CheckReport:
    """The result of :func:`check_table`. It describes single records and must not be published."""

    findings: tuple[Finding, ...]
    records: int
    bad_rows: int

    @property
    def ok(self) -> bool:
        return not self.findings

    def ruinous(self, most: float = MOST_OUTSIDE) -> tuple[Finding, ...]:
        """The faults of more than a share ``most`` of all records, which spoil a column for a fit."""
        return tuple(f for f in self.findings if f.fault != HARMLESS and f.count > most * self.records)

    def to_dict(self) -> dict[str, Any]:
        return {"private": False, "ok": self.ok, **asdict(self)}

    def __str__(self) -> str:
        lines = [
            "This check reads the records: it is outside privacy, for the data owner only; do not publish.",
            f"{self.records} records, {self.bad_rows or 'none'} with faults (rows are counted from 0).",
        ]
        return "\n".join([*lines, *(f"- {finding}" for finding in self.findings)])


def check_table(schema: Schema, table: Any, labels: Any = None, limit: int = 10) -> CheckReport:
    """Count and locate bad rows before a fit. OUTSIDE PRIVACY: for the data owner only.

    A missing number is no fault where the schema declares a missing marker. A table that a fit refuses by its names or
    declared types is refused here too.
    """
    refuse_source(schema, table, labels, with_label=True)
    columns = open_for(table, schema, with_label=labels is None)
    lost = _lost(table, columns.read(schema.names[0]))
    findings, bad = _unreadable(table, lost, limit), lost.copy()
    for attribute in (*schema.attributes, schema.label):
        given = attribute is schema.label and labels is not None
        column = as_column(labels) if given else columns.read(attribute.name)
        if column.size != bad.size:
            raise TableError(f"column {attribute.name!r} differs in length from {schema.names[0]!r}")
        for fault, rows in _faults(attribute, column).items():
            if fault == "missing" and attribute.reading is not None and attribute.reading.missing:
                continue  # markers are declared: such a cell is what it should be
            rows &= ~lost
            if rows.any():
                dropped = attribute is schema.label and f"{fault} label" in REMEDIES
                named = f"{fault} label" if dropped else fault
                first = tuple(np.flatnonzero(rows)[:limit].tolist())
                remedy = REMEDIES.get(named) or _reading_of(schema, attribute, fault)
                cells = cells_of(column[rows])
                hints = hints_of(attribute, cells) if fault in ("unknown", "not a number") else ()
                values = () if fault == "missing" else _frequent(cells, limit)
                findings.append(Finding(attribute.name, named, int(rows.sum()), first, remedy, hints, values))
                bad |= rows
    return CheckReport(tuple(findings), bad.size, int(bad.sum()))


def _lost(table: Any, column: Array) -> NDArray[np.bool_]:
    """The records of a CSV file whose line cannot be read: all their cells are missing."""
    if not isinstance(table, Records) or table.path is None:
        return np.zeros(column.size, dtype=bool)
    raw = next(iter(table.values()))  # before markers are read: they are missing cells of lines that can be read
    return np.fromiter((cell is None for cell in raw), bool, column.size)


def _unreadable(table: Any, lost: NDArray[np.bool_], limit: int) -> list[Finding]:
    if not lost.any():
        return []
    first = tuple(np.flatnonzero(lost)[:limit].tolist())
    hints = tuple(f"{count} {why}" for why, count in faults_of_lines(table.path).most_common())
    return [Finding(WHOLE_LINES, "unreadable", int(lost.sum()), first, "dropped", hints)]


def _frequent(cells: list[Any], limit: int) -> tuple[tuple[str, int], ...]:
    """The most frequent cells in Python's notation, shortened."""
    written = Counter(repr(plain_of(cell)) for cell in cells)
    short = [
        (text if len(text) <= LONGEST else text[: LONGEST - 3] + "...", n) for text, n in written.most_common(limit)
    ]
    return tuple(short)


def _reading_of(schema: Schema, attribute: Attribute, fault: str) -> str:
    """How the encoding reads a missing or unknown cell, in words; found by encoding one, so it is always true."""
    listed = attribute.values if isinstance(attribute, Categorical) else ("no number",)
    cell = None if fault == "missing" else max(map(str, listed), key=len) + "?"  # longer than all listed values
    code = int(encode_features(Schema((attribute,), schema.label), {attribute.name: [cell]})[0, 0])
    if isinstance(attribute, Categorical):
        return f"read as {attribute.values[code]!r}"
    if attribute.missing is not None and code == attribute.arity - 1:
        return "read as missing, a branch of its own"
    edges = [attribute.low, *attribute.cuts.tolist(), attribute.high]
    return f"read as a number from {edges[code]:g} to {edges[code + 1]:g}"


def _faults(attribute: Attribute, column: Array) -> dict[str, NDArray[np.bool_]]:
    if isinstance(attribute, Categorical):
        codes = np.fromiter(each(reader_of(attribute), cells_of(column)), np.int32, column.size)
        unknown = codes == UNKNOWN
        missing = unknown & absent(column)
        return {"missing": missing, "unknown": unknown & ~missing}
    values, numbers = values_of(attribute, column), numbers_of(column)
    # A number that became NaN was the missing marker.
    missing = np.isnan(values) & (~np.isnan(numbers) | absent(column, str(attribute.missing or "")))
    outside = (values < attribute.low) | (values > attribute.high)
    return {
        "missing": missing & (attribute.missing is None),
        "not a number": np.isnan(values) & ~missing,
        "out of range": outside,
        "not whole": ~outside & ~np.isnan(values) & (values != np.rint(values)) & attribute.integer,
    }
