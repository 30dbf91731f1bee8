"""Declared readings: markers, spellings, dates and prefixes, in files, in tables of every kind, and in a fit."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import privet
from privet.errors import ParameterError, SchemaError, TableError
from privet.models.export.sql import to_sql
from privet.schema import Categorical, DatePart, Numeric, Reading, Schema
from privet.schema.written import facts_text, parse_json, parse_yaml, read_schema, schema_of
from privet.structure.grammar import parse_question
from privet.tables.encoding import encode, encode_features
from privet.tables.readings import translator
from privet.testing import ZeroNoise, use_noise

FACTS: dict[str, Any] = {
    "name": "visits",
    "attributes": [
        {"name": "age", "type": "continuous", "min": 0, "max": 120, "integer": True, "missing": ["NA", 999, -1]},
        {"name": "sex", "type": "categorical", "values": ["female", "male", "?"], "missing": ["-", "NA"],
         "spellings": {"female": ["f", "W"], "male": ["m"]}, "fold": True},
        {"name": "year", "type": "continuous", "min": 2000, "max": 2030, "integer": True, "bins": 31, "missing": "?",
         "from": "admitted", "date": {"part": "year", "formats": ["%d.%m.%Y", "%m/%d/%y"]}},
        {"name": "weekday", "type": "categorical", "values": [1, 2, 3, 4, 5, 6, 7], "from": "admitted",
         "date": {"part": "weekday", "formats": ["%d.%m.%Y", "%m/%d/%y"]}},
        {"name": "icd", "type": "categorical", "values": ["I21", "J18", "other"], "prefix": 3},
    ],
    "class": "ill", "labels": ["no", "yes"], "labels_spellings": {"yes": ["1", "Y"], "no": ["0"]}, "labels_fold": True,
}  # fmt: skip
SCHEMA = schema_of(FACTS)
TABLE = {
    "age": ["30", "999", "NA", "-1"],
    "sex": [" F", "w", "-", "MALE"],
    "admitted": ["24.12.2020", "12/24/19", "2021-01-04", "?"],
    "icd": ["I21.9", "J18", "Z00", "i21"],
    "ill": ["y", "0", "NO", "1"],
}
CODES = [[4, 20, 20, 20], [0, 0, 2, 1], [20, 19, 21, 31], [3, 1, 0, 3], [0, 1, 2, 2]]


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table, lambda t: pa.table(t).to_batches()[0], dict])
def test_every_container_is_read_by_declaration(frame: Any) -> None:
    found = encode(SCHEMA, frame(TABLE))
    assert (found.features.tolist(), found.labels.tolist()) == (CODES, [1, 0, 0, 1])  # type: ignore[union-attr]
    assert encode_features(SCHEMA, frame({k: v for k, v in TABLE.items() if k != "ill"})).tolist() == CODES


def test_typed_dates_and_dictionaries() -> None:
    days = [datetime.date(2020, 12, 24), datetime.date(2019, 12, 24), datetime.date(2021, 1, 4), None]
    for column in (
        pa.array(days),
        pa.array(days).cast(pa.timestamp("ns")),
        pa.array(map(str, days)).dictionary_encode(),
    ):
        table = pa.table({**TABLE, "admitted": column})
        assert encode(SCHEMA, table).features[2:4].tolist() == CODES[2:4]


def test_an_array_has_the_columns_that_are_read() -> None:
    rows = np.array(list(zip(*TABLE.values(), strict=True)), dtype=object)
    assert SCHEMA.columns == ("age", "sex", "admitted", "icd", "ill")
    assert encode(SCHEMA, rows).features.tolist() == CODES


@pytest.mark.parametrize("name", ["visits.json", "visits.yaml"])
def test_a_file_keeps_all_of_it(name: str) -> None:
    text = facts_text(SCHEMA.to_dict(), name)
    assert schema_of((parse_json if name.endswith("json") else parse_yaml)(text)) == SCHEMA


def test_a_file_of_spellings_lies_beside_the_schema(tmp_path: Any) -> None:
    (tmp_path / "groups.csv").write_text("I21,heart\nI22,heart\n\nJ18,lung\n")
    icd = {
        "name": "icd",
        "type": "categorical",
        "values": ["heart", "lung", "?"],
        "prefix": 3,
        "spellings": "groups.csv",
    }
    schema_text = facts_text({"attributes": [icd], "class": "y", "labels": ["a", "b"]}, "s.json")
    (tmp_path / "s.json").write_text(schema_text)
    schema = read_schema(tmp_path / "s.json")
    assert encode_features(schema, {"icd": ["I22.0", "J18", "Z00"]}).tolist() == [[0, 1, 2]]
    assert schema_of(schema.to_dict()) == schema, "the file's content is part of the schema"
    (tmp_path / "groups.csv").write_text("I21\n")
    with pytest.raises(SchemaError, match="two columns, a text and its value"):
        read_schema(tmp_path / "s.json")
    (tmp_path / "groups.csv").unlink()
    with pytest.raises(SchemaError, match=r"cannot read the file of spellings 'groups\.csv'"):
        read_schema(tmp_path / "s.json")


@pytest.mark.parametrize(("part", "number"), [("year", 2024), ("month", 2), ("day", 29), ("weekday", 4), ("days", 336)])
def test_parts_of_a_date(part: str, number: int) -> None:
    at = "2025-01-30" if part == "days" else None
    read = translator(Numeric("d", 0, 9999, reading=Reading(date=DatePart(part, ("%d.%m.%Y", "%m/%d/%y"), at))))  # type: ignore[arg-type]
    for cell in ("29.2.2024", "02/29/24", "2024-02-29", "2024-02-29 10:15:00", datetime.date(2024, 2, 29),
                 np.datetime64("2024-02-29"), b"29.02.2024"):  # fmt: skip
        assert read(cell) == number, cell
    for cell in ("29.2.2023", "2/30/24", "2024-02", "٢٩.٢.٢٠٢٤", "", None, 20240229, 3.5, True, [1]):
        assert read(cell) is None, cell


def test_a_fit_a_prediction_and_a_question_read_the_same() -> None:
    many = {name: column * 100 for name, column in TABLE.items()}
    tree = privet.ExactTreeClassifier(SCHEMA, epsilon=5, max_depth=1).fit(pd.DataFrame(many))
    assert tree.feature_names_in_.tolist() == ["age", "sex", "admitted", "icd"]
    assert len(tree.predict(pd.DataFrame(TABLE))) == 4
    data = privet.protect(many, SCHEMA, privet.Ledger(1))
    with use_noise(ZeroNoise()):
        assert data.ask(parse_question("count where sex = female and year <= 2019"), 1).value == 100
    with pytest.raises(ParameterError, match="read by declaration"):
        to_sql(tree.model_)


def test_a_table_without_the_source_column_is_refused() -> None:
    with pytest.raises(TableError, match="lacks 'admitted'"):
        privet.protect({k: v for k, v in TABLE.items() if k != "admitted"}, SCHEMA, privet.Ledger(1))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"spellings": {"other": ["x"]}}, "not among its values"),
        ({"spellings": {"a": ["x"], "b": ["x"]}}, "two values at once"),
        ({"spellings": {"a": ["b"]}}, "is a value and spells another"),
        ({"spellings": {"a": 3.5, "b": [None]}}, "must be a list of texts"),
        ({"spellings": "missing.csv"}, "give its content"),
        ({"values": ["a", "A "], "fold": True}, "two values at once"),
        ({"prefix": 0}, "prefix must be"),
        ({"missing": [True]}, "missing must list"),
        ({"date": {"part": "hour"}}, "one of year, month"),
        ({"date": {"part": "year", "formats": ["%d.%b.%Y"]}}, "%Y, %y, %m, %d"),
        ({"date": {"part": "year", "formats": ["%Y"]}}, "one year, one %m and one %d"),
        ({"date": {"part": "days"}}, "'at' is the public date"),
        ({"date": {"part": "days", "at": "soon"}}, "a date such as"),
        ({"date": {"parts": "year"}}, "did you mean 'part'"),
        ({"from": "ill"}, "would give the label away"),
    ],
)
def test_refusals(change: dict[str, Any], says: str) -> None:
    facts = {"name": "x", "type": "categorical", "values": ["a", "b"], **change}
    with pytest.raises(SchemaError, match=says):
        schema_of({"attributes": [facts], "class": "ill", "labels": ["n", "y"]})


def test_spellings_are_for_categories_and_not_for_units() -> None:
    with pytest.raises(SchemaError, match="are for categories"):
        Numeric("x", 0, 1, reading=Reading(fold=True))
    with pytest.raises(SchemaError, match="must be a Reading"):
        Categorical("x", ("a",), reading="fold")  # type: ignore[arg-type]
    with pytest.raises(SchemaError, match="the unit 'who' is also an attribute"):
        Schema(
            (Categorical("x", ("a",), reading=Reading("who")),),
            Categorical("y", ("a", "b")),
            unit=privet.Unit("who", 1),
        )
