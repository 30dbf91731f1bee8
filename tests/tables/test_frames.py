"""Every kind of table is read alike, and what is no table is refused in words."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from table_kinds import FEATURES, KINDS, LABELS, SCHEMA, TABLE, one

from privet.errors import TableError
from privet.owner.inspection import check_table
from privet.schema import Categorical, Numeric, Schema
from privet.tables.encoding import encode, encode_features


class TestTables:
    @pytest.mark.parametrize("kind", KINDS)
    def test_all_kinds_are_read_the_same(self, kind: str) -> None:
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

    def test_a_record_of_another_width_is_shorter_and_changes_no_other(self) -> None:
        rows = [[18, 50.0, "Male"], [18], None, (), [18, 50.0, "Male", "yes", "more"], np.array([18, 50, 0])]
        features = encode_features(SCHEMA, rows)
        assert features[:, 0].tolist() == features[:, 4].tolist() == [0, 0, 1]
        for place, row in enumerate(rows):
            assert features[:, [place]].tolist() == encode_features(SCHEMA, [row]).tolist()
        assert encode(SCHEMA, rows).labels.tolist() == [1]  # the one that has a label
        assert encode(SCHEMA, []).features.shape == (3, 0)

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

    @pytest.mark.parametrize(
        "framed",
        [
            lambda ids: pd.DataFrame({"y": pd.Series(ids, dtype="Int64")}),
            lambda ids: pd.DataFrame({"y": pd.Series(ids, dtype=pd.ArrowDtype(pa.int64()))}),
            lambda ids: pl.DataFrame({"y": pl.Series(ids, dtype=pl.Int64)}),
            lambda ids: pa.table({"y": pa.array(ids, pa.int64())}),
        ],
        ids=["pandas", "pandas arrow", "polars", "pyarrow"],
    )
    def test_a_frame_of_one_column_is_that_column(self, framed: Callable[[list[Any]], Any]) -> None:
        """As ``frame[["class"]]`` gives it. As one array, a null would make floats of everybody's integers."""
        label = Categorical("y", (900000000000207008, 900000000000207009))
        schema = Schema((Categorical("x", (0, 1)),), label)
        for ids in ([label.values[1]] * 3, [label.values[1]] * 3 + [None]):
            codes = encode(schema, {"x": framed([n % 2 for n in range(len(ids))])}, framed(ids))
            assert codes.labels is not None
            assert codes.labels.tolist() == [1, 1, 1]
            assert codes.features.tolist() == [[0, 1, 0]]

    def test_order_and_other_columns_do_not_matter(self) -> None:
        frame = pd.DataFrame(TABLE).assign(name="secret")[["class", "name", "sex", "weight", "age"]]
        assert encode(SCHEMA, frame).features.tolist() == FEATURES

    def test_column_names_that_are_not_text(self) -> None:
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
            assert check_table(schema, frame).ok, name
            assert encode(schema, frame).features.shape == (len(schema.attributes), len(frame))
        credit = Schema.from_json(data_dir / "credit-approval.schema.json")
        frame = pd.read_csv(data_dir / "credit-approval.csv.gz", dtype=str, keep_default_na=False)
        a2 = credit.index("A2")
        missing = encode(credit, frame).features[a2] == credit.arities[a2] - 1
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
            (TABLE, pd.DataFrame(TABLE), "must be one column, not a table of 4"),
            (TABLE, pd.DataFrame([["Mary", "x"]] * 4, columns=["Mary", "Mary"]), "must be one column"),
            (TABLE, pl.DataFrame(TABLE).lazy(), "must be an array, a series or a list, not LazyFrame"),
            (TABLE, "yes", "must be an array, a series or a list, not str"),
            (TABLE | {"sex": ["Male"]}, None, "column 'sex' differs in length from 'age'"),
            (TABLE | {"sex": 3}, None, "must be an array, a series or a list, not int"),
            ([1, 2, 3], None, "a list must hold records"),
            (["abc"], None, "a list must hold records"),
            ([[1, 2], {"age": 3}], None, "a list must hold records"),
            (pl.DataFrame(TABLE).lazy(), None, "cannot read a table of type LazyFrame.*in memory"),
            (pd.concat([pd.DataFrame(TABLE), pd.DataFrame(TABLE)], axis=1), None, "without duplicate columns"),
        ],
    )
    def test_refused(self, table: Any, labels: Any, message: str) -> None:
        with pytest.raises(TableError, match=message):
            encode(SCHEMA, table, labels)
        with pytest.raises(TableError):
            check_table(SCHEMA, table, labels)

    def test_no_name_of_the_table_in_messages(self) -> None:
        """Where the header was forgotten, the names are a record."""
        frame = pd.DataFrame([["Mary", "x"]], columns=["Mary", "Mary"])
        for table, labels in ((frame, None), (TABLE, frame)):
            with pytest.raises(TableError) as caught:
                encode(SCHEMA, table, labels)
            assert "Mary" not in "".join(traceback.format_exception(caught.value)).replace('"Mary"', "")

    def test_no_number_of_records_in_messages(self) -> None:
        with pytest.raises(TableError) as caught:
            encode(SCHEMA, TABLE | {"sex": ["Male"] * 4321})
        assert "4321" not in str(caught.value)
