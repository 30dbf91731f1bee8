"""Looking at the rows themselves: the data owner's check, and schemas read off the data. OUTSIDE PRIVACY, both."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.errors import TableError
from privet.schema.cells import UNKNOWN, each, reader_of
from privet.schema.encoding import open_for, values_of
from privet.schema.facts import Attribute, Categorical, Numeric, Schema
from privet.schema.tables import Array, as_column, cells_of, numbers_of, open_table

REMEDIES = {
    "missing": "read as the declared branch, or as the middle where none is declared",
    "not a number": "read as missing",
    "out of range": "clipped to the bounds",
    "not whole": "binned as it is",
    "unknown": "read as the declared branch, or as the middle of the list where none is declared",
    "missing label": "dropped",
    "unknown label": "dropped",
}  # what a fit does about each fault


@dataclass(frozen=True)
class Finding:
    """One kind of fault in one column: how many rows have it and the first of them, counted from 0."""

    column: str
    fault: str
    count: int
    rows: tuple[int, ...]

    def __str__(self) -> str:
        rows = ", ".join(map(str, self.rows)) + (", ..." if self.count > len(self.rows) else "")
        return f"{self.column}: {self.count} {self.fault} (rows {rows}); at fit: {REMEDIES[self.fault]}"


@dataclass(frozen=True)
class CheckReport:
    """What :func:`check` found. It tells of single records and must not be published."""

    findings: tuple[Finding, ...]
    records: int
    bad_rows: int

    @property
    def ok(self) -> bool:
        return not self.findings

    def to_dict(self) -> dict[str, Any]:
        return {"private": False, "ok": self.ok, **asdict(self)}

    def __str__(self) -> str:
        lines = [
            "This check reads the records themselves: it is outside privacy, for the data owner only; do not publish.",
            f"{self.records} records, {self.bad_rows or 'none'} with faults (rows are counted from 0).",
        ]
        return "\n".join([*lines, *(f"- {finding}" for finding in self.findings)])


def check(schema: Schema, table: Any, labels: Any = None, limit: int = 10) -> CheckReport:
    """Count and locate bad rows before a fit. OUTSIDE PRIVACY: for the data owner's eyes only.

    A missing number is no fault where the schema declares a missing marker. Values themselves are not shown.
    """
    columns = open_for(table, schema, with_label=labels is None)
    findings, bad = [], np.zeros(columns.read(schema.names[0]).size, dtype=bool)
    for attribute in (*schema.attributes, schema.label):
        given = attribute is schema.label and labels is not None
        column = as_column(labels) if given else columns.read(attribute.name)
        if column.size != bad.size:
            raise TableError(f"column {attribute.name!r} differs in length from {schema.names[0]!r}")
        for fault, rows in _faults(attribute, column).items():
            if rows.any():
                named = f"{fault} label" if attribute is schema.label else fault
                first = tuple(np.flatnonzero(rows)[:limit].tolist())
                findings.append(Finding(attribute.name, named, int(rows.sum()), first))
                bad |= rows
    return CheckReport(tuple(findings), bad.size, int(bad.sum()))


def _faults(attribute: Attribute, column: Array) -> dict[str, NDArray[np.bool_]]:
    if isinstance(attribute, Categorical):
        codes = np.fromiter(each(reader_of(attribute), cells_of(column)), np.int32, column.size)
        unknown = codes == UNKNOWN
        absent = unknown & _absent(column)
        return {"missing": absent, "unknown": unknown & ~absent}
    values, told = values_of(attribute, column), numbers_of(column)
    # A number that became NaN was the missing marker.
    absent = np.isnan(values) & (~np.isnan(told) | _absent(column, str(attribute.missing or "")))
    outside = (values < attribute.low) | (values > attribute.high)
    return {
        "missing": absent & (attribute.missing is None),
        "not a number": np.isnan(values) & ~absent,
        "out of range": outside,
        "not whole": ~outside & ~np.isnan(values) & (values != np.rint(values)) & attribute.integer,
    }


def _absent(column: Array, marker: str = "") -> NDArray[np.bool_]:
    """Where a cell says that there is nothing: None, NaN, NA, NaT, empty text or the declared marker."""
    if column.dtype.kind in "biuf":
        return np.isnan(numbers_of(column))

    def absent(cell: Any) -> bool:
        if isinstance(cell, str):
            return cell.strip() in ("", marker)
        nan = isinstance(cell, float | np.floating) and bool(cell != cell)
        return cell is None or nan or type(cell).__name__ in ("NAType", "NaTType")

    return np.fromiter(map(absent, cells_of(column)), bool, column.size)


def infer(table: Any, label: Any) -> Schema:
    """A schema read off the data, marked ``inferred``. OUTSIDE PRIVACY: what uses it has epsilon = infinity.

    ``label`` is a column's name or the labels themselves. A column is numeric when all it holds, but for missing
    cells and "?", are numbers (also written as text).
    """
    columns = open_table(table)
    apart = not isinstance(label, str)
    if not apart and label not in columns.names:
        raise TableError(f"the table lacks the label column {label!r}; its columns are {', '.join(columns.names)}")
    labels = as_column(label) if apart else columns.read(label)
    name = "class" if apart else label
    names = [other for other in columns.names if other != name]
    known = _distinct(labels[~_absent(labels)])
    return Schema(
        tuple(_infer_attribute(other, columns.read(other)) for other in names),
        Categorical(name, known, basis="observed"),
        inferred=True,
    )


def _infer_attribute(name: str, column: Array) -> Attribute:
    absent = _absent(column, "?")
    values = numbers_of(column[~absent])
    finite = values[np.isfinite(values)]
    if column.dtype.kind == "b" or not finite.size or np.isnan(values).any():
        listed = _distinct(column[~absent])
        return Categorical(name, (*listed, "?") if absent.any() or not listed else listed, basis="observed")
    low, high = float(finite.min()), float(finite.max())
    whole = bool((finite == np.rint(finite)).all())
    missing = "?" if absent.any() else None
    return Numeric(name, low, high if low < high else low + 1, whole, missing=missing, basis="observed")


def _distinct(column: Array) -> tuple[Any, ...]:
    return tuple(sorted(set(cells_of(column)), key=lambda value: (str(type(value)), value)))
