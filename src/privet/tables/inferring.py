"""Schemas inferred from data, and detection of missing cells. OUTSIDE PRIVACY: such a schema promises nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.errors import TableError
from privet.schema.attributes import Attribute, Categorical, Numeric
from privet.schema.facts import INFERRED, Schema
from privet.tables.frames import Array, as_column, cells_of, numbers_of, open_table


def absent(column: Array, marker: str = "") -> NDArray[np.bool_]:
    """Where a cell is missing: None, NaN, NA, NaT, empty text or the declared marker."""
    if column.dtype.kind in "biuf":
        return np.isnan(numbers_of(column))

    def is_absent(cell: Any) -> bool:
        if isinstance(cell, str):
            return cell.strip() in ("", marker)
        nan = isinstance(cell, float | np.floating) and bool(cell != cell)
        return cell is None or nan or type(cell).__name__ in ("NAType", "NaTType")

    return np.fromiter(map(is_absent, cells_of(column)), bool, column.size)


def infer_schema(table: Any, label: Any, *, number: bool = False) -> Schema:
    """A schema inferred from the data, marked ``inferred``. OUTSIDE PRIVACY: what uses it has epsilon = infinity.

    ``label`` is a column's name or the labels themselves. A column is numeric if all its cells, except missing ones and
    "?", are numbers (also written as text). The label is one of its classes, or a number with ``number``.
    """
    columns = open_table(table)
    apart = not isinstance(label, str)
    if not apart and label not in columns.names:
        raise TableError(
            f"the table lacks the label column {label!r}; give the column's name, or the labels themselves"
        )
    labels = as_column(label) if apart else columns.read(label)
    name = "class" if apart else label
    names = [other for other in columns.names if other != name]
    attributes = tuple(_infer_attribute(other, columns.read(other)) for other in names)
    if number:
        return Schema(attributes, _infer_bounds(name, labels))
    return Schema(attributes, Categorical(name, _distinct(labels[~absent(labels)]), basis=INFERRED))


def _infer_bounds(name: str, column: Array) -> Numeric:
    values = numbers_of(column)
    finite = values[np.isfinite(values)]
    if not finite.size:
        raise TableError(f"the labels {name!r} hold no number; a regressor needs some")
    low, high = float(finite.min()), float(finite.max())
    return Numeric(name, low, high if low < high else low + 1, basis=INFERRED)


def _infer_attribute(name: str, column: Array) -> Attribute:
    missing = absent(column, "?")
    values = numbers_of(column[~missing])
    finite = values[np.isfinite(values)]
    if column.dtype.kind == "b" or not finite.size or np.isnan(values).any():
        listed = _distinct(column[~missing])
        return Categorical(name, (*listed, "?") if missing.any() or not listed else listed, basis=INFERRED)
    low, high = float(finite.min()), float(finite.max())
    whole = bool((finite == np.rint(finite)).all())
    marker = "?" if missing.any() else None
    return Numeric(name, low, high if low < high else low + 1, whole, missing=marker, basis=INFERRED)


def _distinct(column: Array) -> tuple[Any, ...]:
    return tuple(sorted(set(cells_of(column)), key=lambda value: (str(type(value)), value)))
