"""Frozen records, whose numbers can still be cut at other points: a category as its code, a number as its value.

Each recipe cuts numbers its own way. Freezing reads the table once; encoding the frozen records for a schema gives what
encoding the table for that schema would give, since both use the same 64-bit numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.errors import SchemaError, TableError
from privet.schema.attributes import Categorical, Numeric
from privet.schema.facts import Schema, Unit
from privet.tables.encoding import (
    Codes,
    Quantum,
    bins_of,
    code_type,
    encode,
    open_for,
    read_codes,
    read_labels,
    read_values,
)
from privet.tables.frames import Array, Columns, open_table
from privet.tables.readings import read_columns
from privet.tables.units import Words, choose, key_of, read_ids, row_words


@dataclass(frozen=True, eq=False, repr=False)
class Frozen:
    """The records of a table, without those of unknown label. Private, so its repr shows none."""

    schema: Schema
    columns: Sequence[Array]  # the codes of a category; the float64 values of a number, NaN where there is none
    labels: Array  # codes of classes, or the float64 values of a number to predict
    unit: Unit | None = None  # each has at most its bound of rows here

    def __repr__(self) -> str:
        return f"Frozen(attributes={len(self.columns)}, records=<private>)"

    def codes(self, schema: Schema) -> Codes:
        """The records, cut by ``schema``."""
        if declared_facts(schema) != declared_facts(self.schema):
            raise SchemaError("the schema declares other facts than the records were read by; only cuts may differ")
        dtype = code_type(max(schema.arities))
        features = np.empty((len(self.columns), self.labels.size), dtype)
        for row, attribute, column in zip(features, schema.attributes, self.columns, strict=True):
            row[:] = column if isinstance(attribute, Categorical) else bins_of(attribute, column, attribute.fallback)
        features.setflags(write=False)
        return Codes(features, self.label_codes(schema), unit=self.unit)

    def label_codes(self, schema: Schema) -> Array:
        """The codes of the labels; those of a number are the bins that ``schema`` cuts it into."""
        if not schema.predicts_number:
            return self.labels
        return bins_of(schema.number, self.labels, 0).astype(code_type(schema.n_classes))

    def levels(self, attribute: int) -> NDArray[np.int32]:
        """The quantised values of a number, for sums. They do not depend on cuts."""
        numeric = self.schema.attributes[attribute]
        assert isinstance(numeric, Numeric)
        return Quantum.of(numeric).levels(numeric, self.columns[attribute])

    def take(self, records: NDArray[np.intp]) -> Frozen:
        """Some of these records, by number."""
        return Frozen(self.schema, tuple(column[records] for column in self.columns), self.labels[records], self.unit)


def freeze(schema: Schema, table: Any, labels: Any = None) -> Frozen:
    """Read a table once; see :func:`privet.tables.encoding.encode` for the accepted tables.

    If the schema declares a unit, at most its bound of rows of each are kept.
    """
    columns = open_for(table, schema, with_label=labels is None, with_unit=True)
    frozen, known = _frozen_rows(schema, columns, labels)
    if schema.unit is None:
        return frozen
    ids = read_ids(columns, schema.unit.name)
    if ids.shape[0] != known.size:
        raise TableError(f"column {schema.unit.name!r} differs in length from the labels")
    return bounded(frozen, ids[known])


def bounded(frozen: Frozen, ids: Words) -> Frozen:
    """Keep at most the schema's bound of rows of each unit; all rows of a unit must be here."""
    kept = replace(frozen.take(np.flatnonzero(_chosen(frozen, ids))), unit=frozen.schema.unit)
    for array in (*kept.columns, kept.labels):
        array.setflags(write=False)
    return kept


def _chosen(frozen: Frozen, ids: Words) -> NDArray[np.bool_]:
    unit = frozen.schema.unit
    assert unit is not None
    return choose(ids, row_words(frozen.columns, frozen.labels), unit.max_rows, key_of(unit))


def freeze_rows(schema: Schema, table: Any) -> tuple[Frozen, Words | None]:
    """The rows of one batch, with their units: a unit may have rows in other batches, so none is dropped yet."""
    columns = open_for(table, schema, with_label=True, with_unit=True)
    frozen, known = _frozen_rows(schema, columns, None)
    return frozen, None if schema.unit is None else read_ids(columns, schema.unit.name)[known]


def admitted(schema: Schema, table: Any, labels: Any = None) -> Codes:
    """The usable records as codes: all of known label, or at most the bound of each unit."""
    return encode(schema, table, labels) if schema.unit is None else freeze(schema, table, labels).codes(schema)


def _frozen_rows(schema: Schema, columns: Columns, labels: Any) -> tuple[Frozen, NDArray[np.bool_]]:
    """All records of known label, and the mask of their rows."""
    classes = read_labels(schema, columns, labels)
    known = classes >= 0
    if schema.predicts_number:
        source = columns if labels is None else read_columns(schema, open_table({schema.label.name: labels}))
        label = read_values(schema.number, source)[known]
    else:
        label = classes[known].astype(code_type(schema.n_classes))
    kept: list[Array] = []
    for attribute in schema.attributes:
        if isinstance(attribute, Numeric):
            column = read_values(attribute, columns)
        else:
            column = read_codes(attribute, columns, code_type(attribute.arity), attribute.fallback)
        if column.size != classes.size:
            raise TableError(f"column {attribute.name!r} differs in length from the labels")
        kept.append(column[known])  # a copy: the column may be the table's own array
    for array in (*kept, label):
        array.setflags(write=False)
    return Frozen(schema, tuple(kept), label), known


def declared_facts(schema: Schema) -> Schema:
    """The owner's declarations about the table, without the cuts that recipes choose."""
    *same_cuts, label = (
        replace(a, bins=2, thresholds=None) if isinstance(a, Numeric) else a for a in (*schema.attributes, schema.label)
    )
    return replace(schema, attributes=tuple(same_cuts), label=label)
