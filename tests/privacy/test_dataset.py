"""``PrivateDataset``: its queries, and that there is no way around them."""

from __future__ import annotations

import copy
import json
import operator
import pickle
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

import privet
from privet import Categorical, Ledger, Numeric, PrivateDataset, Schema
from privet.errors import BudgetExceeded, ParameterError, PrivacyError, SchemaError
from privet.privacy.scores import Max
from privet.structure.splits import Multiway, Tests, Threshold
from privet.testing import ReplayNoise, ZeroNoise, use_noise

SCHEMA = Schema(
    (
        Numeric("age", 0, 100, integer=True, bins=10),
        Numeric("heat", 35, 42, bins=7, missing="?"),
        Categorical("town", ("north", "south", "west")),
    ),
    Categorical("sick", (False, True)),
)
RECORDS = [
    (20, 36.0, "north", False),
    (31, 39.0, "south", True),
    (42, "?", "south", False),
    (87, 41.0, "west", True),
    (300, 41.0, "nowhere", True),  # clipped to 100; read as north
    (19, 35.0, "west", "who knows"),  # dropped
]


def table(records: list[tuple[Any, ...]]) -> dict[str, Any]:
    names = [*SCHEMA.names, "sick"]
    return {name: np.array([record[i] for record in records], dtype=object) for i, name in enumerate(names)}


def protect(ledger: Ledger | None = None, records: list[tuple[Any, ...]] = RECORDS) -> PrivateDataset:
    return privet.protect(table(records), SCHEMA, ledger or Ledger(1))


class Spy(ZeroNoise):
    def __init__(self) -> None:
        super().__init__()
        self.draws: list[tuple[Any, float]] = []

    def laplace(self, values: Any, scale: float) -> Any:
        self.draws.append((values.tolist(), scale))
        return super().laplace(values, scale)


# ---- queries ------------------------------------------------------------------------------------------------------


def test_without_noise_the_queries_are_exact() -> None:
    data = protect(Ledger(10))
    with use_noise(ZeroNoise()):
        assert data.noisy_count(1) == 5
        assert data.class_counts(1) == {False: 2, True: 3}
        assert data.noisy_sum("age", 1) == 20 + 31 + 42 + 87 + 100
        assert data.noisy_average("age", 1) == pytest.approx(280 / 5)
        assert data.noisy_sum("heat", 1) == pytest.approx(36 + 39 + 41 + 41, abs=1e-3)
        assert data.noisy_average("heat", 1) == pytest.approx((36 + 39 + 41 + 41) / 4, abs=1e-3)
        towns_or_ages = Tests.of(SCHEMA, [Multiway(2), Multiway(0)])
        assert data.choose(towns_or_ages, Max(), 1) == Multiway(0)  # 3 right by town, 5 by age
        # An unknown town is read as the middle one of the list.
        assert [part.noisy_count(1) for part in data.partition(Multiway(2))] == [1, 3, 1]
    assert data.ledger.spent == 8, "three parts cost as much as one"


def test_a_record_moves_a_draw_by_no_more_than_its_scale_covers() -> None:
    # At epsilon 1 the scale is the sensitivity: the L1 distance of what neighbouring tables hand to the noise.
    for query in (
        lambda data: data.noisy_count(1),
        lambda data: data.class_counts(1),
        lambda data: data.noisy_sum("age", 1),
        lambda data: data.noisy_sum("heat", 1),
        lambda data: data.noisy_average("age", 1),
        lambda data: data.noisy_average("heat", 1),
    ):
        reached = []
        for record in [*RECORDS, (-(10**9), 42, "north", True), (10**9, 35, "north", True)]:
            spy = Spy()
            with use_noise(spy):
                query(protect())
                query(protect(records=[*RECORDS, record]))
            (before, scale), (after, same) = spy.draws
            assert scale == same
            reached.append(np.abs(np.subtract(before, after)).sum() / scale)
        assert max(reached) <= 1
        assert max(reached) > 0.99, "the bound is not met: the noise is larger than it need be"


def test_noise_has_the_scale_of_the_charge() -> None:
    spy = Spy()
    with use_noise(spy):
        protect().noisy_count(Fraction(1, 4))
        protect(Ledger(1, neighbours="replace-one")).noisy_count(Fraction(1, 4))
        protect().noisy_sum("age", Fraction(1, 4))
    assert [scale for _, scale in spy.draws] == [4.0, 8.0, 400.0]


def test_bounds_closer_than_the_step_of_a_sum_can_be_averaged() -> None:
    # 2**20 steps to the larger bound leave both bounds on one level.
    schema = Schema((Numeric("x", 1e9, 1e9 + 1, bins=2),), Categorical("y", ("a", "b")))
    data = privet.protect({"x": [1e9, 1e9 + 1], "y": ["a", "b"]}, schema, Ledger(1))
    with use_noise(ZeroNoise()):
        assert data.noisy_average("x", 1) == pytest.approx(1e9, rel=1e-5)


def test_parts_are_disjoint_and_complete() -> None:
    with use_noise(ZeroNoise()):
        for parts in (protect().partition(Threshold(0, 4)), protect().shards(3), protect().partition(Multiway(1))):
            assert sum(part.noisy_count(1) for part in parts) == 5
            inner = [quarter for part in parts for quarter in part.partition(Multiway(2))]
            with pytest.raises(BudgetExceeded):
                inner[0].noisy_count(Fraction(1, 100))


def test_shards_are_coins_of_single_records() -> None:
    # Shard by position and one record less moves everybody after it; by its own coin it moves nobody.
    coins = ReplayNoise([0, 1, 1, 0, 1, *[0] * 10])
    with use_noise(coins):
        parts = protect().shards(2)
        for part in parts:
            part.noisy_count(1)
    throws, counts = coins.draws[:5], coins.draws[5:]
    assert {draw.kind for draw in throws} == {"coin"}
    assert [int(draw.values[0]) for draw in counts] == [2, 3]


@pytest.mark.parametrize("count", [0, -1, 2.5, "2", None, True])
def test_a_number_of_shards_is_a_whole_number(count: Any) -> None:
    with pytest.raises(ParameterError, match="count must be a whole number"):
        protect().shards(count)


def test_sums_need_a_numeric_attribute() -> None:
    data = protect()
    with pytest.raises(ParameterError, match="'town' is categorical"):
        data.noisy_sum("town", 0.5)
    with pytest.raises(SchemaError, match="no attribute is called 'shoe size'"):
        data.noisy_average("shoe size", 0.5)
    assert data.ledger.spent == 0


# ---- no way around ------------------------------------------------------------------------------------------------

WAYS: dict[str, Callable[[Any], object]] = {
    "len": len,
    "iter": iter,
    "next": lambda data: next(iter(data)),
    "list": list,
    "unpacking": lambda data: [*data],
    "index": lambda data: data[0],
    "slice": lambda data: data[:],
    "column": lambda data: data["age"],
    "in": lambda data: 20 in data,
    "reversed": reversed,
    "bool": bool,
    "not": lambda data: not data,
    "array": np.array,
    "asarray": np.asarray,
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "clone": lambda data: clone(data, safe=False),
    "deepcopy in a list": lambda data: copy.deepcopy([data]),
    **{f"pickle {n}": partial(pickle.dumps, protocol=n) for n in range(pickle.HIGHEST_PROTOCOL + 1)},
    "getstate": lambda data: data.__getstate__(),
}
FOREIGN_WAYS: dict[str, Callable[[Any], object]] = {
    "vars": vars,
    "json": json.dumps,
    "float": float,
    "index number": operator.index,
    "memoryview": memoryview,
    "bytes": bytes,
    "narwhals": lambda data: privet.protect(data, SCHEMA, Ledger(1)),
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_records_do_not_come_out(way: Callable[[Any], object]) -> None:
    for data in (protect(), protect().shards(2)[0]):
        with pytest.raises(PrivacyError, match="only through its queries; use noisy_count"):
            way(data)
        assert data.ledger.spent == 0


@pytest.mark.parametrize("way", FOREIGN_WAYS.values(), ids=FOREIGN_WAYS)
def test_nor_by_ways_that_python_itself_closes(way: Callable[[Any], object]) -> None:
    with pytest.raises((TypeError, ValueError)):
        way(protect())


def test_a_journal_does_not_allow_pickling_a_budget(tmp_path: Any) -> None:
    with pytest.raises(PrivacyError):
        pickle.dumps(protect(Ledger(1, journal=tmp_path / "journal")))


record = st.tuples(
    st.integers(-10, 200),
    st.floats(30, 45),
    st.sampled_from(["north", "south", "east"]),
    st.sampled_from([False, True]),
)


@given(st.lists(record, max_size=6), record)
@settings(max_examples=50)
def test_neighbours_show_the_same(records: list[tuple[Any, ...]], extra: tuple[Any, ...]) -> None:
    one, other = protect(records=records), protect(records=[*records, extra])
    for look in (repr, str, format, lambda data: repr(data.level()), lambda data: repr(data.partition(Multiway(2)))):
        assert look(one) == look(other)
    assert str(one.certificate()) == str(other.certificate())
    assert dir(one) == dir(other)


def test_the_representation_shows_schema_and_budget() -> None:
    data = protect(Ledger(2))
    with use_noise(ZeroNoise()):
        data.noisy_count(0.5)
    assert "age, heat, town -> sick" in repr(data)
    assert "0.5 spent, 1.5 left" in repr(data)
