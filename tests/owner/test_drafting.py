"""Drafts: types are guessed, nothing of a single record is copied, and no schema comes of it without an owner."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from privet.datasets.patients import SCHEMA, TABLE, sample_files
from privet.errors import SchemaError, TableError
from privet.owner.drafting import ENOUGH, draft, draft_column
from privet.owner.inspection import check_table
from privet.schema import Categorical, Numeric, Schema
from privet.schema.written import schema_of, unconfirmed
from privet.tables.files import read_table

MANY = 200


def write(path: Path, columns: dict[str, list[Any]]) -> Path:
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return path


COLUMNS: dict[str, tuple[list[Any], dict[str, Any] | str]] = {
    "whole numbers": ([i % 70 for i in range(MANY)], {"type": "continuous", "integer": True}),
    "numbers": ([i / 7 for i in range(MANY)], {"type": "continuous"}),
    "numbers as text": ([f" {i / 7} " for i in range(MANY)], {"type": "continuous"}),
    "gaps": ([*(i / 7 for i in range(MANY)), None, ""], {"type": "continuous", "missing": "?"}),
    "a marker": ([*(i % 9 for i in range(MANY)), "NA"], {"type": "continuous", "integer": True, "missing": "NA"}),
    "a few odd cells": ([*(i / 7 for i in range(MANY)), "abc"], {"type": "continuous"}),
    "two numbers": ([0, 1] * MANY, {"type": "categorical", "values": [0, 1]}),
    "booleans": ([True, False] * MANY, {"type": "categorical", "values": [False, True]}),
    "words": (["b", "a"] * MANY, {"type": "categorical", "values": ["a", "b"]}),
    "words and gaps": (["b", "a", None] * MANY, {"type": "categorical", "values": ["a", "b", "?"]}),
    "a rare word": ([*["b", "a"] * MANY, "Smith"], {"type": "categorical", "values": ["a", "b", "?"]}),
    "rare words only": (["a", "b"], {"type": "categorical", "values": None}),
    "nothing": ([], {"type": "categorical", "values": None}),
    "any letters of a marker": (
        [*(i % 9 for i in range(MANY)), "n/a"],
        {"type": "continuous", "integer": True, "missing": "n/a"},
    ),
    "a marker of one's own": (
        [*(i / 7 for i in range(MANY)), *["refused"] * ENOUGH],
        {"type": "continuous", "missing": "refused"},
    ),
    "a word and a marker": (["b", "n/a"] * MANY, {"type": "categorical", "values": ["b", "n/a"], "other": "n/a"}),
    "names": ([f"Smith {i}" for i in range(MANY)], "an identifier"),
    "none is a value": (["drug", "none"] * MANY, {"type": "categorical", "values": ["drug", "none"]}),
    "names that return": ([f"Smith {i // 2}" for i in range(MANY)], "a text, a name"),
    "many words": ([f"w{i % 60}" for i in range(60 * ENOUGH)], "a text, a name"),
    "an identifier": (list(range(1000, 1000 + MANY)), "an identifier"),
    "dates": (["2020-01-02", "2021-11-30"] * MANY, "dates or times"),
    "decimal commas": ([f"{i},5" for i in range(MANY)], "a decimal comma"),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_a_column(name: str) -> None:
    cells, expected = COLUMNS[name]
    column = draft_column("x", cells)
    if isinstance(expected, str):
        assert column.facts is None
        assert expected in column.taken_for
        return
    bounds = {"min": None, "max": None} if expected["type"] == "continuous" else {}
    assert column.facts == {"name": "x", **bounds, **expected, "basis": "unconfirmed"}
    assert "Smith" not in json.dumps(column.facts)


def test_the_sample(tmp_path: Path) -> None:
    """Types and lists as its own schema has them; no bound; and refused until confirmed."""
    (tmp_path / TABLE).write_text(sample_files()[TABLE], encoding="utf-8")
    facts = draft(tmp_path / TABLE, "readmitted").facts
    truth = json.loads(sample_files()[SCHEMA])
    for drafted, true in zip(facts["attributes"], truth["attributes"], strict=True):
        assert (drafted["name"], drafted["type"]) == (true["name"], true["type"])
        assert drafted.get("min", drafted.get("max")) is None
        assert set(drafted.get("values", [])) == set(true.get("values", []))
        assert (drafted.get("integer"), drafted.get("missing")) == (true.get("integer"), true.get("missing"))
    assert (facts["class"], facts["labels"]) == ("readmitted", ["no", "yes"])
    assert len(unconfirmed(facts)) == len(truth["attributes"]) + 1
    with pytest.raises(SchemaError, match="is a draft"):
        schema_of(facts)


def test_no_extreme_and_no_single_record_is_copied(tmp_path: Path) -> None:
    """Two tables that differ in one record, however it looks, have the same draft once there are enough others."""
    columns: dict[str, list[Any]] = {"age": [i % 70 for i in range(MANY)], "town": ["a", "b", ""] * 66 + ["a", "b"],
                                     "class": ["x", "y"] * (MANY // 2)}  # fmt: skip
    drafts = []
    for extra in ((3, "a", "x"), (999_999, "Smith", "zzz"), (-5, "Jones", "y")):
        longer = {name: [*cells, cell] for (name, cells), cell in zip(columns.items(), extra, strict=True)}
        drafts.append(draft(write(tmp_path / "t.csv", longer)).facts)
    assert drafts[0] == drafts[1] == drafts[2]


def test_the_class(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", {"a": [0, 1] * 20, "Outcome": ["x", "y"] * 20})
    assert draft(path).facts["class"] == "Outcome"  # the usual name of one
    assert draft(path, "a").facts["labels"] == ["0", "1"]
    plain = write(tmp_path / "u.csv", {"a": [0, 1] * 20, "b": ["x", "y"] * 20})
    assert draft(plain).facts["class"] is None
    assert [one["name"] for one in draft(plain).facts["attributes"]] == ["a", "b"]
    with pytest.raises(TableError, match="has no column 'c'; the class must be one of a, b"):
        draft(plain, "c")


@pytest.mark.parametrize(
    ("head", "says"),
    [
        ("31,Smith,no", "looks like a record"),
        ("2020-01-02,Smith,no", "looks like a record"),
        ("a,a,b", "the same name"),
        ("31;Smith;no", "looks like a record"),
        ("a|b|c", "bars between the names: write commas, semicolons or tabs"),
    ],
)
def test_a_header_that_is_none(tmp_path: Path, head: str, says: str) -> None:
    (tmp_path / "t.csv").write_text(head + "\n" + head + "\n")
    with pytest.raises(TableError, match=says) as refused:
        draft(tmp_path / "t.csv")
    assert "Smith" not in str(refused.value)


def test_an_index_without_a_name_is_left_out(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", {"": list(range(40)), "a": [0, 1] * 20, "class": ["x", "y"] * 20})
    assert [one["name"] for one in draft(path).facts["attributes"]] == ["a"]


def test_parquet_columns(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    table = pyarrow.table({
        "age": pyarrow.array([*range(39), None], pyarrow.int32()),
        "born": pyarrow.array(list(range(40)), pyarrow.int32()).cast(pyarrow.date32()),
        "ill": [True, False] * 20,
    })  # fmt: skip
    parquet.write_table(table, tmp_path / "t.parquet")
    drafted = draft(tmp_path / "t.parquet", "ill")
    (age,) = drafted.facts["attributes"]
    assert (age["name"], age["integer"], age["missing"]) == ("age", True, "?")
    assert drafted.facts["labels"] == [False, True]
    assert [c.taken_for for c in drafted.columns if c.name == "born"] == ["dates or times"]


LOST = {
    b"caf\xe9;no": "are not UTF-8",
    b'"never closed;no': "have a quote out of place",
    b"a;b;c": "have more or fewer cells than the header",
}


def test_lines_that_cannot_be_read_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"a;class\n" + b"1,5;yes\n2,5;no\n3;no\n" * MANY + b"\n".join(LOST) + b"\n\n")
    drafted = draft(path)
    assert [next(said for said in LOST.values() if why.startswith(said)) for why in drafted.unreadable] == [
        *LOST.values()
    ]
    assert set(drafted.unreadable.values()) == {1}
    assert [one["type"] for one in drafted.facts["attributes"]] == ["continuous"]
    path.write_bytes(b"a;class\n" + b"1,5;yes\n2,5;no\n3;no\n" * MANY)
    assert draft(path).unreadable == {}


def test_they_are_one_finding_of_the_check(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"a;class\n1,5;yes\n" + b"\n".join(LOST) + b"\n2,5;no\n11;\n")
    schema = Schema((Numeric("a", 0, 10),), Categorical("class", ("no", "yes")))
    report = check_table(schema, read_table(path, schema))
    assert [(one.column, one.count, one.rows) for one in report.findings] == [
        ("whole lines", 3, (1, 2, 3)),
        ("a", 1, (5,)),
        ("class", 1, (5,)),
    ]
    assert report.bad_rows == 4
    assert [said for said, hint in zip(LOST.values(), report.findings[0].hints, strict=True) if said in hint] == [
        *LOST.values()
    ]
