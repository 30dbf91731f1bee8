"""The strategies give what they promise, and reach the corners they are for."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import pytest
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st

from privet import Categorical, Numeric, ParameterError, Schema
from privet.owner.inspection import check_table
from privet.tables.encoding import encode
from privet.testing import neighbouring_tables, schemas, tables

SEARCH = settings(max_examples=5000, phases=[Phase.generate], derandomize=True, deadline=None, database=None)
Columns = dict[str, list[Any]]


def rows(table: Columns) -> list[str]:
    """Records as text: NaN is not equal to itself, but its text is."""
    return [repr(row) for row in zip(*table.values(), strict=True)]


def with_schema(strategy: Any) -> st.SearchStrategy[Any]:
    return schemas().flatmap(lambda schema: st.tuples(st.just(schema), strategy(schema)))


@given(schemas())
def test_schemas_are_small_and_survive_json(schema: Schema) -> None:
    assert Schema.from_json(schema.to_json()) == schema
    assert 1 <= len(schema.attributes) <= 3
    assert 2 <= schema.n_classes <= 4
    assert schema.total_bins <= 60


@given(with_schema(tables))
def test_dirty_tables_are_encoded_without_a_word(case: Any) -> None:
    schema, table = case
    codes = encode(schema, table, levels=True)
    assert codes.labels is not None
    assert codes.features.shape[1] == codes.labels.size <= len(table["class"])
    for a, arity in enumerate(schema.arities):
        assert (codes.features[a] < arity).all()


@given(with_schema(lambda schema: tables(schema, dirty=False)))
def test_clean_tables_have_nothing_to_check(case: Any) -> None:
    schema, table = case
    faults = {finding.fault for finding in check_table(schema, table).findings}
    assert faults <= {"not whole"}  # cut points of whole numbers lie between them


@given(with_schema(lambda schema: tables(schema, 3)))
def test_tables_keep_to_their_size(case: Any) -> None:
    schema, table = case
    assert list(table) == [*schema.names, schema.label.name]
    assert {len(column) for column in table.values()} <= {0, 1, 2, 3}


@given(with_schema(neighbouring_tables))
def test_the_second_of_two_neighbours_has_one_record_more(case: Any) -> None:
    _, (without, with_one) = case
    assert (Counter(rows(with_one)) - Counter(rows(without))).total() == 1
    assert not Counter(rows(without)) - Counter(rows(with_one))


@given(with_schema(lambda schema: neighbouring_tables(schema, "replace-one")))
def test_replace_one_keeps_the_size(case: Any) -> None:
    _, (before, after) = case
    assert len(rows(before)) == len(rows(after)) >= 1
    assert sum(a != b for a, b in zip(rows(before), rows(after), strict=True)) <= 1


def test_an_unknown_relation_is_refused() -> None:
    schema = Schema((Categorical("x", ("a",)),), Categorical("class", (0, 1)))
    with pytest.raises(ParameterError, match="neighbours"):
        find(neighbouring_tables(schema, "swap"), lambda pair: True, settings=SEARCH)


def numerics(schema: Schema) -> list[Numeric]:
    return [attribute for attribute in schema.attributes if isinstance(attribute, Numeric)]


@pytest.mark.parametrize(
    "wanted",
    [
        lambda s: any(a.integer for a in numerics(s)),
        lambda s: any(a.missing == "?" for a in numerics(s)),
        lambda s: any(a.missing == -999 for a in numerics(s)),
        lambda s: any(a.thresholds for a in numerics(s)),
        lambda s: any(isinstance(a, Categorical) and a.other is not None for a in s.attributes),
        lambda s: numerics(s) and len(numerics(s)) < len(s.attributes),
        lambda s: s.n_classes == 4,
        lambda s: min(s.arities) == 1,
    ],
)
def test_schemas_reach(wanted: Any) -> None:
    find(schemas(), lambda s: bool(wanted(s)), settings=SEARCH)


FAULTS = ["missing", "not a number", "out of range", "unknown", "missing label", "unknown label"]


@pytest.mark.parametrize("fault", FAULTS)
def test_tables_reach(fault: str) -> None:
    find(with_schema(tables), lambda case: fault in {f.fault for f in check_table(*case).findings}, settings=SEARCH)


@pytest.mark.parametrize("place", ["first", "middle", "last", "only"])
def test_the_record_may_be_anywhere(place: str) -> None:
    def stands(case: Any) -> bool:
        without, with_one = (rows(table) for table in case[1])
        if not without:
            return place == "only"
        first = next((i for i, (a, b) in enumerate(zip(without, with_one, strict=False)) if a != b), len(without))
        return {"first": first == 0, "middle": 0 < first < len(without), "last": first == len(without)}.get(
            place, False
        )

    find(with_schema(neighbouring_tables), stands, settings=SEARCH)


def test_a_record_may_be_dropped_for_its_label() -> None:
    """The neighbour may be one whose record has no known label, so that the encoded tables are equal."""

    def dropped(case: Any) -> bool:
        schema, (without, with_one) = case
        return encode(schema, without).labels.size == encode(schema, with_one).labels.size

    find(with_schema(neighbouring_tables), dropped, settings=SEARCH)


def test_infinities_occur() -> None:
    find(with_schema(tables), lambda case: any(math.inf in column for column in case[1].values()), settings=SEARCH)
