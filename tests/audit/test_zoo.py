"""The zoo: every animal that the issue asks for, from any small schema, in both relations."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from privet.audit import Pair, tiny_schema, zoo
from privet.schema import Categorical, Numeric, Schema
from privet.tables.encoding import encode
from privet.testing import schemas

RELATIONS = ["add-remove", "replace-one"]


def differences(pair: Pair) -> tuple[int, int]:
    """Records that only the one table has, and that only the other has."""
    ours, theirs = (Counter(map(repr, records)) for records in (pair.table, pair.neighbour))
    return (ours - theirs).total(), (theirs - ours).total()


@pytest.mark.parametrize("relation", RELATIONS)
@given(schema=schemas())
@settings(max_examples=25)
def test_pairs_are_neighbours_and_can_be_encoded(relation: str, schema: Schema) -> None:
    pairs = zoo(schema, relation=relation, of_a_class=(1, 7))
    assert len({pair.name for pair in pairs}) == len(pairs)
    for pair in pairs:
        assert pair.relation == relation
        allowed = {(0, 1)} if relation == "add-remove" else {(1, 1), (0, 0)}
        assert differences(pair) in allowed, pair.name
        for records in (pair.table, pair.neighbour):
            encode(schema, pair.columns(records))


@pytest.mark.parametrize("relation", RELATIONS)
def test_the_place_is_where_the_tables_differ(relation: str) -> None:
    for pair in zoo(relation=relation):
        kept = [[r for r in records if r[-1] in ("no", "yes")] for records in (pair.table, pair.neighbour)]
        shorter, longer = sorted(kept, key=len)
        if len(longer) > len(shorter):
            assert longer[: pair.place] + longer[pair.place + 1 :] == shorter, pair.name


WANTED = [
    "margin 0",
    "margin 1",
    "margin 4",
    "an empty table",
    "an empty node",
    "a shard boundary",
    "a value at a bound",
    "a value beyond a bound",
    "a missing value in colour",
    "a missing value in size",
    "an unknown category",
    "an unknown label",
    "duplicated records",
    "19 against 20",
    "99 against 100",
    "one class only",
]


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("name", WANTED)
def test_no_recipe_is_missing(name: str, relation: str) -> None:
    assert any(pair.name.startswith(name) for pair in zoo(relation=relation))


def by_name(name: str, **options: Any) -> Pair:
    return next(pair for pair in zoo(**options) if pair.name.startswith(name))


def labels(pair: Pair, records: Any) -> list[int]:
    counts = Counter(record[-1] for record in records)
    return [counts[value] for value in pair.schema.label.values]


@pytest.mark.parametrize(("name", "before", "after"), [("margin 0 to 1", 0, 1), ("margin 1 to 0", 1, 0),
                                                       ("margin 4 to 5", 4, 5), ("margin 4 to 3", 4, 3)])  # fmt: skip
def test_margins_are_what_they_say(name: str, before: int, after: int) -> None:
    pair = by_name(name)
    assert len({record[:-1] for record in (*pair.table, *pair.neighbour)}) == 1
    assert abs(int(np.diff(labels(pair, pair.table))[0])) == before
    assert abs(int(np.diff(labels(pair, pair.neighbour))[0])) == after


def test_crowds_cross_their_threshold_in_one_node_of_both_classes() -> None:
    pair = by_name("36 against 37", thresholds=(37,))
    assert (len(pair.table), len(pair.neighbour)) == (36, 37)
    assert len({record[:-1] for record in pair.neighbour}) == 1
    assert min(labels(pair, pair.table)) >= 17


def test_an_empty_node_gets_its_first_record() -> None:
    pair = by_name("an empty node")
    newcomer = pair.neighbour[pair.place]
    assert all(newcomer[i] != record[i] for record in pair.table for i in range(len(pair.schema.attributes)))


def test_rows_come_in_front_so_that_positions_move() -> None:
    assert all(pair.neighbour[1:] == pair.table for pair in zoo())


def test_numbers_come_between_others_where_there_is_room() -> None:
    schema = Schema((Numeric("x", 0, 8, bins=8),), Categorical("class", ("no", "yes")))
    names = [pair.name for pair in zoo(schema)]
    assert sum("between others" in name for name in names) == 2
    assert not any("between" in pair.name for pair in zoo(tiny_schema()))
