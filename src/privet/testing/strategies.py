"""Hypothesis strategies for schemas, dirty tables and neighbouring tables.

>>> from hypothesis import given
>>> from privet.testing import neighbouring_tables, schemas
>>> @given(schemas().flatmap(neighbouring_tables))
... def check(pair):
...     without, with_one_more = pair
...     assert all(len(with_one_more[name]) == len(column) + 1 for name, column in without.items())
>>> check()
"""

from __future__ import annotations

import math
from typing import Any

from hypothesis import strategies as st

from privet.privacy.budget import Neighbours
from privet.schema import Attribute, Categorical, Numeric, Schema

Table = dict[str, list[Any]]

_CATEGORIES: list[tuple[Any, ...]] = [
    ("a", "b"),
    ("low", "middle", "high"),
    ("yes", "no", "?"),
    (1, 2, 3, 4),
    (True, False),
    ("only",),
    (0.5, 1.5),
]
_LABELS: list[tuple[Any, ...]] = [
    ("sick", "healthy"),
    (False, True),
    (7, 9),
    ("a", "b", "c"),
    (0, 1, 2, 3),
]
_RUBBISH = [None, math.nan, "", "?", "no such value", -1e9, 1e9, math.inf, -math.inf, 10**400, b"bytes", ("a", "tuple")]


@st.composite
def numerics(draw: st.DrawFn, name: str = "x") -> Numeric:
    """A numeric attribute of a few bins: whole or not, thresholds or equal bins, with a missing marker or without."""
    low = draw(st.integers(-20, 20))
    width = draw(st.integers(1, 12))
    thresholds = None
    if draw(st.booleans()):
        quarters = draw(st.sets(st.integers(1, 4 * width - 1), min_size=1, max_size=4))
        thresholds = tuple(low + quarter / 4 for quarter in sorted(quarters))
    return Numeric(
        name,
        low,
        low + width,
        integer=draw(st.booleans()),
        thresholds=thresholds,
        bins=draw(st.integers(2, 5)),
        missing=draw(st.sampled_from([None, None, "?", -999])),
    )


@st.composite
def categoricals(draw: st.DrawFn, name: str = "x") -> Categorical:
    """A categorical attribute of one to four values, with a declared ``other`` or without."""
    values = draw(st.sampled_from(_CATEGORIES))
    return Categorical(name, values, other=draw(st.sampled_from([None, None, values[-1]])))


@st.composite
def schemas(draw: st.DrawFn, max_attributes: int = 3, max_labels: int = 4) -> Schema:
    """A small schema: up to ``max_attributes`` numbers and categories, and a label of 2 to ``max_labels`` values."""
    numeric = draw(st.lists(st.booleans(), min_size=1, max_size=max_attributes))
    attributes: list[Attribute] = [
        draw(numerics(f"x{i}")) if is_numeric else draw(categoricals(f"x{i}")) for i, is_numeric in enumerate(numeric)
    ]
    labels = draw(st.sampled_from([values for values in _LABELS if len(values) <= max_labels]))
    return Schema(tuple(attributes), Categorical("class", labels))


def cells(attribute: Attribute, *, dirty: bool = True) -> st.SearchStrategy[Any]:
    """Cells of a column: declared values and, if ``dirty``, undeclared ones."""
    clean: st.SearchStrategy[Any]
    if isinstance(attribute, Categorical):
        clean = st.sampled_from(attribute.values)
    else:
        edges = [attribute.low, attribute.high, *attribute.cuts.tolist()]
        marker = [] if attribute.missing is None else [attribute.missing]
        clean = st.sampled_from([*edges, *marker])
        if attribute.integer:
            clean |= st.integers(math.ceil(attribute.low), math.floor(attribute.high))
        else:
            clean |= st.floats(attribute.low, attribute.high)
    # Clean cells come first, so that a shrunk example is as clean as it can be.
    return clean | st.sampled_from(_RUBBISH) if dirty else clean


def records(schema: Schema, *, dirty: bool = True) -> st.SearchStrategy[tuple[Any, ...]]:
    """One record: a cell for every attribute, then the label."""
    return st.tuples(*(cells(column, dirty=dirty) for column in (*schema.attributes, schema.label)))


def tables(schema: Schema, max_records: int = 8, *, dirty: bool = True) -> st.SearchStrategy[Table]:
    """A table as a dict of columns, the label among them. Dirty cells are out of bounds, unknown, missing or absurd."""
    return st.lists(records(schema, dirty=dirty), max_size=max_records).map(lambda rows: _columns(schema, rows))


@st.composite
def neighbouring_tables(
    draw: st.DrawFn,
    schema: Schema,
    relation: str | Neighbours = Neighbours.ADD_REMOVE,
    max_records: int = 8,
    *,
    dirty: bool = True,
) -> tuple[Table, Table]:
    """Two tables that differ in one record, which may stand anywhere.

    Under add/remove the second has the record and the first has not; under replace-one both have as many. Either may
    be the private one: a check asks both ways.
    """
    relation = Neighbours.parse(relation)
    one = records(schema, dirty=dirty)
    rows = draw(st.lists(one, max_size=max_records - 1))
    place = draw(st.integers(0, len(rows)))
    with_one = [*rows[:place], draw(one), *rows[place:]]
    other = rows if relation is Neighbours.ADD_REMOVE else [*rows[:place], draw(one), *rows[place:]]
    return _columns(schema, other), _columns(schema, with_one)


def _columns(schema: Schema, rows: list[tuple[Any, ...]]) -> Table:
    names = (*schema.names, schema.label.name)
    return {name: [row[i] for row in rows] for i, name in enumerate(names)}
