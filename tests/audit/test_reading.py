"""Tables in every container, and readers that let one record change the codes of others: each is caught."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import narwhals as nw
import numpy as np
import pytest

from privet.audit import audit_learner, comparing, exact, tiny_schema, wide_schema, zoo
from privet.audit.animals import record
from privet.audit.containers import containers, kind_of
from privet.audit.exact import _in_containers
from privet.schema import Schema
from privet.tables.encoding import encode

RELATIONS = ["add-remove", "replace-one"]
WIDE = {relation: zoo(wide_schema(), relation=relation, of_a_class=()) for relation in RELATIONS}
ALL = ["lists", "numpy arrays", "pandas objects", "pandas nullable types", "pandas Arrow types", "polars", "Arrow"]


def counts(data: Any, epsilon: Any) -> Any:
    """How many records there are of each value of each attribute."""
    asked = np.ones((1, len(data.schema.attributes)), dtype=bool)
    return data.level().attribute_counts_all(epsilon, asked)


def columns_of(table: Any) -> dict[str, Any]:
    if isinstance(table, dict):
        return {name: np.asarray(column, dtype=object) if isinstance(column, list) else column
                for name, column in table.items()}  # fmt: skip
    frame = nw.from_native(table)
    return {name: frame.get_column(name).to_numpy() for name in frame.columns}


def floats_for_nulls(schema: Schema, table: Any) -> Any:
    """A null turns a column of whole numbers into floats: for everybody."""
    return encode(schema, columns_of(table))


def strips_all(schema: Schema, table: Any) -> Any:
    """One cell that cannot be hashed sends the column down another path, on which blanks are lost."""
    columns = dict(table) if isinstance(table, dict) else columns_of(table)
    for name, column in columns.items():
        if any(isinstance(cell, list) for cell in column):
            columns[name] = [cell.strip() if isinstance(cell, str) else cell for cell in column]
    return encode(schema, columns)


def wraps_where_many(schema: Schema, table: Any) -> Any:
    """From nine records on a lookup table is used, by signed integers."""
    columns = columns_of(table)
    for name, column in columns.items():
        if column.dtype == np.uint64 and column.size >= 9:
            columns[name] = column.astype(np.int64)
            table = columns
    return encode(schema, table)


def refuses_large_numbers(schema: Schema, table: Any) -> Any:
    """What one cell holds decides whether anything is read at all."""
    columns = columns_of(table)
    if any(column.dtype == np.uint64 and (column > 2**63).any() for column in columns.values()):
        raise OverflowError("Python int too large to convert to C long")
    return encode(schema, columns)


FAULTS: list[Callable[[Schema, Any], Any]] = [floats_for_nulls, strips_all, wraps_where_many, refuses_large_numbers]


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("neighbours", RELATIONS)
def test_readers_at_fault(fault: Any, neighbours: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if fault is wraps_where_many and neighbours == "replace-one":
        return  # where the number of records is public
    monkeypatch.setattr(comparing, "admitted", fault)
    found = audit_learner(counts, WIDE[neighbours], neighbours=neighbours, transcripts=2)
    assert found.verdict == "violated", found
    if fault in (floats_for_nulls, wraps_where_many):
        assert found.container not in ("lists", "pandas objects")


@pytest.mark.parametrize("neighbours", RELATIONS)
def test_the_reader_that_is(neighbours: str) -> None:
    found = audit_learner(counts, WIDE[neighbours], neighbours=neighbours, transcripts=2)
    assert found.verdict == "holds", found
    assert found.lower_bound == pytest.approx(1)
    assert set(found.containers) == set(ALL)


def test_a_whole_recipe_notices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparing, "admitted", floats_for_nulls)
    pairs = [pair for pair in WIDE["add-remove"] if pair.containers]
    assert exact("sulq", pairs, transcripts=3).verdict == "violated"


def test_all_libraries_are_here() -> None:
    assert list(containers()) == ALL


@pytest.mark.parametrize("schema", [tiny_schema(), wide_schema()], ids=["tiny", "wide"])
@pytest.mark.parametrize("name", ALL)
def test_clean_records_have_the_same_codes_in_each(name: str, schema: Schema) -> None:
    records = [record(schema, value, label=value) for value in (0, 1, 2, 1)]
    names = (*schema.names, schema.label.name)
    columns = {column: [row[i] for row in records] for i, column in enumerate(names)}
    plain, other = encode(schema, columns), encode(schema, containers()[name](schema, columns))
    assert np.array_equal(plain.features, other.features)
    assert np.array_equal(plain.labels, other.labels)


def test_types_follow_the_schema() -> None:
    assert [kind_of(a) for a in (*tiny_schema().attributes, tiny_schema().label)] == ["text", "number", "flag", "text"]
    assert [kind_of(a) for a in wide_schema().attributes] == ["text", "number", "unsigned"]
    odd = {"job": [3], "age": ["x"], "code": [-1], "class": [2**70]}
    made = containers()["Arrow"](wide_schema(), odd)
    assert [str(kind) for kind in made.schema.types] == ["string", "double", "uint64", "int64"]
    assert all(column.null_count == 1 for column in made.columns)
    empty = containers()["polars"](wide_schema(), {name: [] for name in odd})
    assert empty.shape == (0, 4)


def test_few_containers_for_most_and_all_for_some() -> None:
    fed: dict[str, list[str]] = {}
    for pair, container in _in_containers(zoo()):
        fed.setdefault(pair.name, []).append(container)
    assert fed["margin 0 to 1"] == ["lists", "numpy arrays"]
    assert fed["margin 1 to 0"] == ["lists", "pandas objects"]
    assert fed["a missing value in code (wide)"] == ALL
