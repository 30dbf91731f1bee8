"""From tables to codes: every kind of table alike, no row that raises, and the owner's check."""

from __future__ import annotations

import datetime
import decimal
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privet.errors import TableError
from privet.schema import Categorical, Numeric, Schema
from privet.schema.encoding import Codes, Quantum, decode_labels, encode, encode_features
from privet.schema.inspection import check, infer

SCHEMA = Schema(
    (
        Numeric("age", 0, 120, integer=True, thresholds=(18, 65)),
        Numeric("weight", 0, 200, thresholds=(50, 100), missing="?"),
        Categorical("sex", ("Female", "Male", "?")),
    ),
    Categorical("class", ("no", "yes")),
)
TABLE: dict[str, list[Any]] = {
    "age": [18, 19, 90, 65],
    "weight": [50.0, 50.5, float("nan"), 150.0],
    "sex": ["Male", "Female", "?", "Male"],
    "class": ["yes", "no", "no", "yes"],
}
FEATURES = [[0, 1, 2, 1], [0, 1, 3, 2], [1, 0, 2, 1]]
LABELS = [1, 0, 0, 1]


def one(attribute: Numeric | Categorical, cells: Any) -> list[int]:
    """The codes of one column."""
    schema = Schema((attribute,), Categorical("class", ("no", "yes")))
    codes: list[int] = encode_features(schema, {attribute.name: cells})[0].tolist()
    return codes


def objects(*cells: Any) -> np.ndarray[Any, Any]:
    return np.fromiter(cells, dtype=object, count=len(cells))


def structured(table: dict[str, list[Any]]) -> np.ndarray[Any, Any]:
    dtype = [("class", "U3"), ("age", "i2"), ("weight", "f4"), ("sex", "S6")]
    return np.array(list(zip(*(table[name] for name, _ in dtype), strict=True)), dtype=dtype)


KINDS: dict[str, Callable[[dict[str, list[Any]]], Any]] = {
    "dict of lists": lambda t: t,
    "dict of arrays": lambda t: {name: np.array(column) for name, column in t.items()},
    "dict of series": lambda t: {name: pd.Series(column) for name, column in t.items()},
    "pandas": pd.DataFrame,
    "pandas text": lambda t: pd.DataFrame(t).astype(str),
    "pandas objects": lambda t: pd.DataFrame(t, dtype=object),
    "pandas categories": lambda t: pd.DataFrame(t).astype({"sex": "category", "class": "category"}),
    "pandas nullable": lambda t: pd.DataFrame(t).convert_dtypes(),
    "pandas pyarrow": lambda t: pd.DataFrame(t).convert_dtypes(dtype_backend="pyarrow"),
    "pandas, odd index": lambda t: pd.DataFrame(t, index=[7, 7, 3, 1]),
    "polars": pl.DataFrame,
    "polars categories": lambda t: pl.DataFrame(t, schema_overrides={"sex": pl.Categorical, "class": pl.Categorical}),
    "pyarrow": pa.table,
    "pyarrow dictionary": lambda t: pa.table(t | {"sex": pa.array(t["sex"]).dictionary_encode()}),
    "2-D objects": lambda t: np.array(list(t.values()), dtype=object).T,
    "2-D text": lambda t: np.array([[str(cell) for cell in column] for column in t.values()]).T,
    "structured": structured,
}


class TestTables:
    @pytest.mark.parametrize("kind", KINDS)
    def test_all_kinds_alike(self, kind: str) -> None:
        codes = encode(SCHEMA, KINDS[kind](TABLE))
        assert codes.features.tolist() == FEATURES
        assert codes.labels is not None
        assert codes.labels.tolist() == LABELS
        assert codes.levels is None

    @pytest.mark.parametrize("kind", KINDS)
    def test_for_prediction(self, kind: str) -> None:
        assert encode_features(SCHEMA, KINDS[kind](TABLE)).tolist() == FEATURES

    @pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow", "dict of lists", "structured"])
    def test_empty(self, kind: str) -> None:
        codes = encode(SCHEMA, KINDS[kind]({name: [] for name in TABLE}))
        assert codes.features.shape == (3, 0)
        assert codes.labels is not None
        assert codes.labels.shape == (0,)

    def test_empty_array(self) -> None:
        assert encode(SCHEMA, np.empty((0, 4))).features.shape == (3, 0)

    @pytest.mark.parametrize(
        "labels",
        [
            TABLE["class"],
            tuple(TABLE["class"]),
            np.array(TABLE["class"]),
            np.array(TABLE["class"])[:, None],
            pd.Series(TABLE["class"], index=[9, 8, 7, 6]),
            pl.Series(TABLE["class"]),
            pa.array(TABLE["class"]),
            pa.chunked_array([TABLE["class"]]),
        ],
        ids=lambda labels: type(labels).__module__ + "." + type(labels).__name__,
    )
    def test_labels_apart(self, labels: Any) -> None:
        table = pd.DataFrame(TABLE).drop(columns="class")
        for given_table in (table, table.to_numpy()):
            codes = encode(SCHEMA, given_table, labels)
            assert codes.labels is not None
            assert codes.labels.tolist() == LABELS

    def test_order_and_other_columns_do_not_matter(self) -> None:
        frame = pd.DataFrame(TABLE).assign(name="secret")[["class", "name", "sex", "weight", "age"]]
        assert encode(SCHEMA, frame).features.tolist() == FEATURES

    def test_column_names_that_are_no_text(self) -> None:
        schema = Schema((Categorical("0", ("a", "b")),), Categorical("1", ("no", "yes")))
        codes = encode(schema, pd.DataFrame([["b", "yes"]]))
        assert codes.features.tolist() == [[1]]

    @pytest.mark.parametrize(
        "column",
        [
            pd.Series(["1", "x", None]).astype("category"),
            pl.Series(["1", "x", None], dtype=pl.Categorical),
            pl.Series(["1", "x", None], dtype=pl.Enum(["x", "1"])),
            pa.chunked_array([pa.array(["1", "x", None]).dictionary_encode()]),
        ],
        ids=["pandas", "polars", "polars enum", "pyarrow"],
    )
    def test_nulls_among_categories(self, column: Any) -> None:
        assert one(Categorical("c", ("?", "1", "x")), column) == [1, 2, 0]
        assert one(Numeric("c", 0, 2, thresholds=(0.5,), missing="?"), column) == [1, 2, 2]

    def test_nulls_among_numbers_and_text(self) -> None:
        table: dict[str, list[Any]] = {
            "age": [20, None],
            "weight": [None, 70.0],
            "sex": ["Male", None],
            "class": ["no", "yes"],
        }
        for kind in ("pandas", "pandas nullable", "pandas pyarrow", "polars", "pyarrow"):
            assert encode(SCHEMA, KINDS[kind](table)).features.tolist() == [[1, 1], [3, 1], [1, 2]], kind

    def test_masked_array(self) -> None:
        assert one(SCHEMA.attributes[1], np.ma.masked_array([10, 70], mask=[True, False])) == [3, 1]

    def test_layout(self) -> None:
        codes = encode(SCHEMA, TABLE, levels=True)
        assert codes.labels is not None
        assert codes.levels is not None
        assert codes.features.dtype == codes.labels.dtype == np.uint8
        assert codes.features.flags.c_contiguous
        for array in (codes.features, codes.labels, *codes.levels.values(), encode_features(SCHEMA, TABLE)):
            assert not array.flags.writeable

    def test_more_codes_than_a_byte(self) -> None:
        attributes = tuple(Categorical(f"c{n}", tuple(range(n))) for n in (256, 257))
        label = Categorical("class", tuple(range(300)))
        table = {"c256": [255], "c257": [256], "class": [299]}
        for last, dtype in ((1, np.uint8), (2, np.uint16)):
            codes = encode(Schema(attributes[:last], label), table)
            assert codes.features.dtype == dtype
            assert codes.labels is not None
            assert codes.labels.dtype == np.uint16
            assert codes.labels.tolist() == [299]
        assert codes.features.tolist() == [[255], [256]]

    def test_shows_nothing(self) -> None:
        assert repr(encode(SCHEMA, TABLE)) == str(encode(SCHEMA, TABLE)) == "Codes(attributes=3, records=<private>)"

    def test_real_tables_are_clean(self, data_dir: Path) -> None:
        for name in ("credit-approval", "wbc", "vote", "yeast"):
            schema = Schema.from_json(data_dir / f"{name}.schema.json")
            frame = pd.read_csv(data_dir / f"{name}.csv.gz", dtype=str, keep_default_na=False)
            assert schema.check(frame).ok, name
            assert schema.encode(frame).features.shape == (len(schema.attributes), len(frame))
        credit = Schema.from_json(data_dir / "credit-approval.schema.json")
        frame = pd.read_csv(data_dir / "credit-approval.csv.gz", dtype=str, keep_default_na=False)
        a2 = credit.index("A2")
        missing = credit.encode(frame).features[a2] == credit.arities[a2] - 1
        assert missing.tolist() == (frame["A2"] == "?").tolist()


class TestBadTables:
    @pytest.mark.parametrize(
        ("table", "labels", "message"),
        [
            (
                {"age": [1], "class": ["no"]},
                None,
                "lacks 'weight', 'sex'; expected the columns age, weight, sex, class",
            ),
            ({name: TABLE[name] for name in SCHEMA.names}, None, "lacks 'class'; expected"),
            (pd.DataFrame(TABLE).drop(columns="age"), None, "lacks 'age'"),
            (np.zeros((2, 2)), [0, 1], "lacks 'sex'"),
            (np.zeros((2, 3)), None, "lacks 'class'"),
            (np.zeros((2, 5)), None, "has 5 columns; expected, in this order: age, weight, sex, class"),
            (np.zeros(3), None, "2 dimensions .* not 1"),
            (TABLE, ["no"], "labels must have one entry for each record"),
            (TABLE, np.zeros((4, 2)), "one dimension, not 2"),
            (TABLE, "yes", "must be an array, a series or a list, not str"),
            (TABLE | {"sex": ["Male"]}, None, "column 'sex' differs in length from 'age'"),
            (TABLE | {"sex": 3}, None, "must be an array, a series or a list, not int"),
            ([[1, 2, 3]], None, "cannot read a table of type list"),
            (pl.DataFrame(TABLE).lazy(), None, "cannot read a table of type LazyFrame.*in memory"),
            (pd.concat([pd.DataFrame(TABLE), pd.DataFrame(TABLE)], axis=1), None, "without duplicate columns"),
        ],
    )
    def test_refused(self, table: Any, labels: Any, message: str) -> None:
        with pytest.raises(TableError, match=message):
            encode(SCHEMA, table, labels)
        with pytest.raises(TableError):
            check(SCHEMA, table, labels)

    def test_no_number_of_records_in_messages(self) -> None:
        with pytest.raises(TableError) as caught:
            encode(SCHEMA, TABLE | {"sex": ["Male"] * 4321})
        assert "4321" not in str(caught.value)


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

    def test_dates_are_no_numbers(self) -> None:
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
        assert check(SCHEMA, table).records == len(cells)

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


class TestCheck:
    bad: dict[str, Any] = {  # noqa: RUF012
        "age": [200, "x", None, 1.5, 30, float("inf")],
        "weight": ["?", None, "heavy", 1, -1, 2],
        "sex": ["Male", None, "green", "Male", "?", "Female"],
        "class": ["yes", "no", "no", "perhaps", None, "no"],
    }

    def test_known_answer(self) -> None:
        report = SCHEMA.check(self.bad)
        found = {(finding.column, finding.fault): finding.rows for finding in report.findings}
        assert found == {
            ("age", "missing"): (2,),
            ("age", "not a number"): (1,),
            ("age", "out of range"): (0, 5),
            ("age", "not whole"): (3,),
            ("weight", "not a number"): (2,),
            ("weight", "out of range"): (4,),
            ("sex", "missing"): (1,),
            ("sex", "unknown"): (2,),
            ("class", "missing label"): (4,),
            ("class", "unknown label"): (3,),
        }
        assert not report.ok
        assert (report.records, report.bad_rows) == (6, 6)

    def test_words(self) -> None:
        text = str(SCHEMA.check(self.bad))
        assert "outside privacy" in text.splitlines()[0]
        assert "6 records, 6 with faults" in text
        assert "- age: 2 out of range (rows 0, 5); at fit: clipped to the bounds" in text
        assert "- class: 1 unknown label (rows 3); at fit: dropped" in text
        for value in ("200", "heavy", "green", "perhaps"):
            assert value not in text

    def test_good_table(self) -> None:
        report = SCHEMA.check(pd.DataFrame(TABLE))
        assert report.ok
        assert report.bad_rows == 0
        assert "none with faults" in str(report)

    def test_limit(self) -> None:
        table = {name: column * 10 for name, column in TABLE.items()} | {"age": np.full(40, 999)}
        (finding,) = SCHEMA.check(table, limit=3).findings
        assert (finding.count, finding.rows) == (40, (0, 1, 2))
        assert "rows 0, 1, 2, ..." in str(finding)

    def test_as_data(self) -> None:
        facts = json.loads(json.dumps(SCHEMA.check(self.bad).to_dict()))
        assert facts["private"] is False
        assert facts["findings"][0] == {"column": "age", "fault": "missing", "count": 1, "rows": [2]}

    def test_a_marker_that_is_a_number(self) -> None:
        schema = Schema((Numeric("x", 0, 9, missing=-1),), SCHEMA.label)
        assert schema.check({"x": [-1, "-1", -1.0]}, ["no"] * 3).ok


class TestInfer:
    def test_known_answer(self) -> None:
        schema = Schema.infer(pd.DataFrame(TABLE), "class")
        assert schema.inferred
        assert schema.attributes == (
            Numeric("age", 18, 90, integer=True, basis="observed"),
            Numeric("weight", 50, 150, missing="?", basis="observed"),
            Categorical("sex", ("Female", "Male", "?"), basis="observed"),
        )
        assert schema.label == Categorical("class", ("no", "yes"), basis="observed")
        assert schema.caveats()

    def test_text_and_array(self) -> None:
        text = Schema.infer(KINDS["pandas text"](TABLE), "class")
        assert [type(a) for a in text.attributes] == [Numeric, Numeric, Categorical]
        array = Schema.infer(np.array([[1.0, 0.5], [1.0, 0.25]]), np.array([7, 9]))
        assert array.names == ("x0", "x1")
        assert array.label == Categorical("class", (7, 9), basis="observed")
        assert array.attributes[0] == Numeric("x0", 1, 2, integer=True, basis="observed")
        assert encode(array, np.array([[1.0, 0.5]]), [9]).features.shape == (2, 1)

    @pytest.mark.parametrize("kind", sorted(KINDS.keys() - {"2-D objects", "2-D text"}))
    def test_fits_its_own_table(self, kind: str) -> None:
        table = KINDS[kind](TABLE)
        assert infer(table, "class").check(table).ok

    def test_odd_columns(self) -> None:
        table = {"empty": [None, None], "flags": np.array([True, False]), "same": [3, 3], "mixed": ["a", 1]}
        schema = infer(table, ["u", "v"])
        assert schema.attributes == (
            Categorical("empty", ("?",), basis="observed"),
            Categorical("flags", (False, True), basis="observed"),
            Numeric("same", 3, 4, integer=True, basis="observed"),
            Categorical("mixed", (1, "a"), basis="observed"),
        )

    def test_no_such_label(self) -> None:
        with pytest.raises(TableError, match="lacks the label column 'y'; its columns are age"):
            infer(TABLE, "y")


def test_a_million_records_are_quick() -> None:
    attributes = [Numeric(f"x{i}", 0, 200, integer=True) if i % 2 else Categorical(f"x{i}", tuple(range(99)))
                  for i in range(14)]  # fmt: skip
    schema = Schema(tuple(attributes), Categorical("class", ("0", "1")))
    table = np.random.default_rng(0).integers(0, 100, (10**6, 14), dtype=np.uint8)
    labels = table[:, 0] % 2

    def once() -> float:
        start = time.process_time()
        assert isinstance(encode(schema, table, labels), Codes)
        return time.process_time() - start

    # Measured 0.05 s; a copy as float64 alone would take longer than the bound.
    assert min(once() for _ in range(3)) < 0.25
