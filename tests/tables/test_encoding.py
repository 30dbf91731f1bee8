"""From cells to codes: bins, categories, labels and levels, and no row that raises."""

from __future__ import annotations

import datetime
import decimal
import tracemalloc
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from table_kinds import FEATURES, SCHEMA, TABLE, objects, one

from privet.owner.inspection import check_table
from privet.schema import Categorical, Numeric, Schema
from privet.tables.encoding import Codes, Quantum, decode_labels, encode


class TestNumbers:
    age = Numeric("x", 0, 120, thresholds=(18, 65))

    def test_clipped(self) -> None:
        assert one(self.age, [-5.0, 500.0, float("inf"), float("-inf"), 10**400, -(10**400)]) == [0, 2, 2, 0, 2, 0]

    def test_text_and_typed_cells(self) -> None:
        cells = ["39", " 39 ", "3.9e1", b"39", 39, 39.0, np.str_("39"), np.int64(39), decimal.Decimal(39)]
        assert one(self.age, cells) == [1] * len(cells)

    @pytest.mark.parametrize("cell", [None, float("nan"), pd.NA, pd.NaT, "?", "", "abc", [39], {}, 1j, object()])
    def test_no_number(self, cell: Any) -> None:
        assert one(self.age, [cell, 70]) == [1, 2]  # the bin of 60, half-way between the bounds
        assert one(Numeric("x", 0, 120, thresholds=(18, 65), missing="?"), [cell, 70]) == [3, 2]

    def test_dates_are_not_numbers(self) -> None:
        assert one(self.age, np.array(["2020-01-01"], "M8[ns]")) == [1]

    @pytest.mark.parametrize("marker", ["-1", -1, -1.0])
    def test_a_marker_that_is_a_number(self, marker: Any) -> None:
        numeric = Numeric("x", 0, 120, thresholds=(18, 65), missing=marker)
        for cells in ([-1, "-1", -1.0], np.array([-1, -1, -1], np.int8), np.full(3, -1), np.full(500, -1)[:3]):
            assert one(numeric, cells) == [3, 3, 3]
        assert one(numeric, np.array([-2, 0, 70] * 99)) == [0, 0, 2] * 99

    @given(
        bounds=st.tuples(st.integers(-300, 300), st.integers(1, 400)),
        integer=st.booleans(),
        bins=st.integers(2, 40),
        missing=st.sampled_from([None, "?"]),
        values=st.lists(st.floats(-800, 800) | st.integers(-800, 800).map(float), max_size=20),
    )
    def test_code_and_cut_agree(
        self, bounds: tuple[int, int], integer: bool, bins: int, missing: str | None, values: list[float]
    ) -> None:
        numeric = Numeric("x", bounds[0], sum(bounds), integer=integer, bins=bins, missing=missing)
        clipped = np.clip(np.array(values), numeric.low, numeric.high)
        codes = np.array(one(numeric, np.array(values)))
        for j, cut in enumerate(numeric.cuts):
            assert ((clipped <= cut) == (codes <= j)).all()

    @given(data=st.data(), dtype=st.sampled_from(["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", ">i2"]))
    def test_integers_through_tables(self, data: st.DataObject, dtype: str) -> None:
        info = np.iinfo(dtype)
        least, most = int(info.min), int(info.max)
        whole = st.integers(least, most) | st.integers(max(-400, least), min(400, most))
        column = np.array(data.draw(st.lists(whole, max_size=8)) * 200, dtype=dtype)
        low, width = data.draw(st.integers(-300, 300)), data.draw(st.integers(1, 500))
        numeric = Numeric("x", low, low + width, bins=7, missing=data.draw(st.none() | st.just(3)))
        assert one(numeric, column) == one(numeric, column.astype(object))
        categorical = Categorical("x", tuple(data.draw(st.sets(st.integers(-200, 300), min_size=1))))
        assert one(categorical, column) == one(categorical, column.astype(object))


class TestCategories:
    @pytest.mark.parametrize(
        ("values", "cells", "codes"),
        [
            (("0", "1"), [1, 1.0, "1", " 1", "1.0", np.int8(1), np.str_("1"), b"1", True], [1] * 9),
            ((0, 1), [1, 1.0, "1", " 1 ", "1.0", np.int64(1), np.float64(1), decimal.Decimal(1), True], [1] * 9),
            ((False, True), [True, "True", "true", np.bool_(True), 1, " True "], [1] * 6),
            (("false", "true"), [True, "true", "True", np.True_], [1] * 4),
            (("01", "1", "1.0"), ["01", "1", "1.0", 1, 1.0], [0, 1, 2, 1, 1]),
            ((1, "1"), [1, "1"], [0, 1]),
            (("a ", "a"), ["a ", "a", " a"], [0, 1, 1]),
            ((0.5, 1.5), [1.5, "1.5", np.float32(1.5)], [1, 1, 1]),
            (("nan", "inf", "x"), ["nan", "inf", "x"], [0, 1, 2]),
            (("2020-01-02", "2020-01-01"), [datetime.date(2020, 1, 2), "2020-01-02"], [0, 0]),
        ],
    )
    def test_spellings(self, values: tuple[Any, ...], cells: list[Any], codes: list[int]) -> None:
        assert one(Categorical("c", values), cells) == codes

    @pytest.mark.parametrize("cell", [None, float("nan"), pd.NA, "green", "", 7, [1], {"a": 1}, object(), b"\xff"])
    def test_unknown(self, cell: Any) -> None:
        assert one(Categorical("c", ("red", "blue", "?")), ["blue", cell, " blue"]) == [1, 2, 1]
        assert one(Categorical("c", ("red", "blue")), [cell, "red"]) == [1, 0]
        assert one(Categorical("c", ("red", "blue"), other="blue"), [cell, "red"]) == [1, 0]

    def test_typed_arrays(self) -> None:
        assert one(Categorical("c", (7, 9)), np.array([9, 7, 8], np.uint8)) == [1, 0, 1]
        assert one(Categorical("c", ("7", "9")), np.array([9.0, 7.0, np.nan])) == [1, 0, 1]
        assert one(Categorical("c", (False, True)), np.array([True, False])) == [1, 0]
        assert one(Categorical("c", ("no", "yes")), np.array([b"yes", b"no"])) == [1, 0]
        assert one(Categorical("c", ("2020-01-01", "2020-01-02")), np.array(["2020-01-02"], "M8[D]")) == [1]


class Hostile:
    """An object that objects to everything."""

    def __hash__(self) -> int:
        raise RuntimeError("secret")

    def __float__(self) -> float:
        raise RuntimeError("secret")

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("secret")

    def __str__(self) -> str:
        raise RuntimeError("secret")


anything = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.binary(max_size=3)
    | st.complex_numbers()
    | st.decimals()
    | st.dates()
    | st.lists(st.integers(), max_size=2)
    | st.sampled_from([pd.NA, pd.NaT, np.float32("nan"), np.str_("?"), np.array([1.0]), "1", " 39", "yes"])
    | st.builds(Hostile)
)


class TestRowFaultsNeverRaise:
    @given(cells=st.lists(st.tuples(anything, anything, anything, anything), max_size=6), whole=st.booleans())
    def test_whatever_the_cells(self, cells: list[tuple[Any, ...]], whole: bool) -> None:
        columns = [objects(*(row[i] for row in cells)) for i in range(4)]
        table: Any = dict(zip(TABLE, columns, strict=True))
        if whole:
            table = np.empty((len(cells), 4), dtype=object)
            for i, column in enumerate(columns):
                table[:, i] = column
        codes = encode(SCHEMA, table, levels=True)
        assert (codes.features < np.array(SCHEMA.arities)[:, None]).all()
        assert codes.levels is not None
        for a, levels in codes.levels.items():
            numeric = SCHEMA.attributes[a]
            assert isinstance(numeric, Numeric)
            assert (abs(levels) <= Quantum.of(numeric).bound).all()
        assert check_table(SCHEMA, table).records == len(cells)

    def test_unknown_labels_are_dropped(self) -> None:
        table = TABLE | {"class": ["yes", None, "perhaps", " no "]}
        codes = encode(SCHEMA, table, levels=True)
        assert codes.features.tolist() == [[row[0], row[3]] for row in FEATURES]
        assert codes.features.flags.c_contiguous
        assert codes.labels is not None
        assert codes.labels.tolist() == [1, 0]
        assert codes.levels is not None
        assert codes.levels[0].tolist() == [18, 65]
        assert encode(SCHEMA, TABLE, [None] * 4).features.shape == (3, 0)


class TestLabels:
    @pytest.mark.parametrize("values", [("no", "yes"), (True, False), (7, 9), (0.5, 1.5), ("a", 1), (2, "2", 0.5)])
    def test_come_back_as_they_went_in(self, values: tuple[Any, ...]) -> None:
        schema = Schema((Numeric("x", 0, 1),), Categorical("y", values))
        codes = encode(schema, {"x": [0.0] * len(values)}, objects(*values)).labels
        decoded = decode_labels(schema, codes).tolist()
        assert decoded == list(values)
        assert list(map(type, decoded)) == list(map(type, values))

    def test_natural_types(self) -> None:
        for values, kind in (("ab", "U"), ((True, False), "b"), ((7, 9), "i"), (("a", 1), "O")):
            schema = Schema((Numeric("x", 0, 1),), Categorical("y", tuple(values)))
            assert decode_labels(schema, [0, 1, 1]).dtype.kind == kind
            assert decode_labels(schema, []).shape == (0,)


class TestQuantum:
    def test_whole_numbers_keep_step_one(self) -> None:
        quantum = Quantum.of(Numeric("x", -3, 120, integer=True))
        assert (quantum.step, quantum.low, quantum.high, quantum.bound) == (1.0, -3, 120, 120)

    @pytest.mark.parametrize(
        "numeric",
        [
            Numeric("x", 0, 10),
            Numeric("x", -10, 1),
            Numeric("x", 0.5, 10, integer=True),
            Numeric("x", 0, 2**31, integer=True),
        ],
    )
    def test_others_have_a_million_steps(self, numeric: Numeric) -> None:
        assert Quantum.of(numeric).bound == 2**20

    @given(st.floats(-1e300, 1e300), st.floats(0, 1e300), st.booleans(), st.lists(st.floats(), max_size=9))
    def test_levels_stay_between_low_and_high(
        self, low: float, width: float, marked: bool, values: list[float]
    ) -> None:
        if not low < low + width:
            return
        numeric = Numeric("x", low, low + width, missing="?" if marked else None)
        quantum = Quantum.of(numeric)
        known = np.array([value for value in values if value == value])
        levels = quantum.levels(numeric, known)
        assert ((quantum.low <= levels) & (levels <= quantum.high)).all()
        clipped = np.clip(known, low, low + width)
        assert (abs(levels * quantum.step - clipped) <= 0.5001 * quantum.step).all()

    def test_the_least_numbers(self) -> None:
        for high in (5e-324, 7e-318, 1e-310):
            numeric = Numeric("x", 0, high)
            quantum = Quantum.of(numeric)
            assert quantum.levels(numeric, np.array([0.0, high, np.inf])).tolist() == [0, quantum.bound, quantum.bound]

    def test_missing(self) -> None:
        # Where missing values have no code of their own they count as records, so they must lie within the bounds.
        cells = [None, 45.0, "?"]
        declared, not_declared = Numeric("x", 40, 60, True, missing="?"), Numeric("x", 40, 60, True)
        assert Quantum.of(declared).levels(declared, cells).tolist() == [0, 45, 0]
        assert Quantum.of(not_declared).levels(not_declared, cells).tolist() == [50, 45, 50]
        around_zero = Numeric("x", -10, 10, True)
        assert Quantum.of(around_zero).levels(around_zero, cells).tolist() == [0, 10, 0]

    def test_only_numbers_have_levels(self) -> None:
        codes = encode(SCHEMA, TABLE, levels=True)
        assert codes.levels is not None
        assert set(codes.levels) == {0, 1}
        assert codes.levels[0].tolist() == [18, 19, 90, 65]
        assert codes.levels[0].dtype == np.int32


def test_a_million_records_are_encoded_without_a_wider_copy() -> None:
    attributes = [Numeric(f"x{i}", 0, 200, integer=True) if i % 2 else Categorical(f"x{i}", tuple(range(99)))
                  for i in range(14)]  # fmt: skip
    schema = Schema(tuple(attributes), Categorical("class", ("0", "1")))
    table = np.random.default_rng(0).integers(0, 100, (10**6, 14), dtype=np.uint8)
    labels = table[:, 0] % 2

    tracemalloc.start()
    try:
        assert isinstance(encode(schema, table, labels), Codes)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 4 * table.nbytes  # a copy as float64 alone would take eight times the table
