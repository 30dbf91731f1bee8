"""Folders of Parquet files: what a record says depends on its own file and folders alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import privet
from privet import Categorical, Ledger, Numeric, Schema, TableError
from privet.engines.opening import open_engine
from privet.owner.drafting import draft
from privet.privacy.counting import ROOT, Tally
from privet.tables.files import read_table

pa = pytest.importorskip("pyarrow")
dataset = pytest.importorskip("pyarrow.dataset")
parquet = pytest.importorskip("pyarrow.parquet")

SCHEMA = Schema(
    (Numeric("age", 0, 100, bins=5), Categorical("ward", ("01", "1", "north side", "a/b", "?"))),
    Categorical("ill", ("no", "yes")),
)
ROWS = {
    "age": [10, 30, 50, 70, 90],
    "ward": ["01", "1", "north side", "a/b", None],
    "ill": ["no", "yes", "no", "yes", "no"],
}


def put(folder: Path, name: str, **columns: Any) -> None:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    parquet.write_table(pa.table(columns), folder / name)


def cells(source: Any, schema: Schema = SCHEMA) -> list[Any]:
    """How many records of each code and class there are, in every attribute."""
    return [
        c.tolist()
        for c in open_engine(source, schema).answer([Tally(ROOT, ((a,),)) for a in range(len(schema.attributes))])
    ]


def test_a_plain_folder(tmp_path: Path) -> None:
    put(tmp_path, "b.parquet", **{name: column[:2] for name, column in ROWS.items()})
    put(tmp_path, "more/a.pq", **{name: column[2:] for name, column in ROWS.items()})
    put(tmp_path, "more/000000_0", age=[20], ward=["1"], ill=["no"])
    for name in ("_SUCCESS", "_metadata", ".part.crc", "more/_common_metadata"):
        (tmp_path / name).write_text("not data")
    expected = cells({"age": [*ROWS["age"], 20], "ward": [*ROWS["ward"], "1"], "ill": [*ROWS["ill"], "no"]})
    assert cells(tmp_path) == cells(read_table(tmp_path, SCHEMA)) == expected


@pytest.mark.parametrize("keys", [["ward"], ["ill"], ["ill", "ward"]])
def test_partitions_are_columns_of_text(tmp_path: Path, keys: list[str]) -> None:
    fields = pa.schema([(key, pa.string()) for key in keys])
    dataset.write_dataset(
        pa.table(ROWS), tmp_path, format="parquet", partitioning=dataset.partitioning(fields, flavor="hive")
    )
    assert cells(tmp_path) == cells(read_table(tmp_path, SCHEMA)) == cells(ROWS)


def test_the_value_of_a_partition_does_not_depend_on_others(tmp_path: Path) -> None:
    """Arrow's own reader makes 1 of '01' if all folders have numbers for names, and text if one has not."""
    put(tmp_path, "ward=01/a.parquet", age=[10], ill=["no"])
    alone = cells(tmp_path)
    assert alone == cells({"age": [10], "ward": ["01"], "ill": ["no"]})
    put(tmp_path, "ward=north%20side/a.parquet", age=[50], ill=["yes"])
    put(tmp_path, "ward=%FF/a.parquet", age=[50], ill=["yes"])  # not UTF-8: missing
    both = cells(tmp_path)
    assert [row[0] for row in both[1][0]] == [row[0] for row in alone[1][0]]


def test_all_columns_can_be_partitions(tmp_path: Path) -> None:
    put(tmp_path, "age=10/ward=1/ill=no/a.parquet", other=[1, 2, 3])
    assert cells(tmp_path) == cells({"age": [10] * 3, "ward": ["1"] * 3, "ill": ["no"] * 3})


def test_columns_where_nothing_was_seen_and_kinds_of_text_agree(tmp_path: Path) -> None:
    put(tmp_path, "a.parquet", age=pa.nulls(1), ward=pa.array(["1"]).dictionary_encode(), ill=["no"])
    put(tmp_path, "b.parquet", age=[2**53 + 1], ward=pa.array(["01"], pa.large_string()), ill=["yes"])
    table = read_table(tmp_path, SCHEMA)
    assert table["age"].to_pylist() == [None, 2**53 + 1]  # not a float
    assert cells(tmp_path) == cells(table)


WRONG: dict[str, tuple[dict[str, dict[str, Any]], str]] = {
    "nothing": ({}, "holds no Parquet file"),
    "types": ({"a.parquet": {"age": [1]}, "b.parquet": {"age": [1.0]}}, "different types for the column 'age'"),
    "a column": ({"a.parquet": {}, "b.parquet": {"age": None}}, "lacks the column 'age'"),
    "partitions": ({"ward=Smith/a.parquet": {}, "b.parquet": {}}, "different partitions"),
    "order": ({"ward=Smith/x=1/a.parquet": {}, "x=1/ward=Smith/a.parquet": {}}, "different partitions"),
    "twice": ({"ward=Smith/a.parquet": {"ward": ["1"]}}, "partition and a column"),
}


@pytest.mark.parametrize("what", WRONG)
@pytest.mark.parametrize("values", [1, 7])
def test_refused_by_names_and_types_and_no_cell_is_shown(what: str, values: int, tmp_path: Path) -> None:
    files, message = WRONG[what]
    for name, changes in files.items():
        columns: dict[str, Any] = {"age": [1], "ill": ["no"], **({} if "ward=" in name else {"ward": ["1"]}), **changes}
        given = {key: column * values for key, column in columns.items() if column is not None}
        put(tmp_path, name, **given)
    ledger = Ledger(1)
    with pytest.raises(TableError, match=message) as raised:
        privet.protect(tmp_path, SCHEMA, ledger)
    with pytest.raises(TableError, match=message):
        read_table(tmp_path, SCHEMA)
    assert "Smith" not in str(raised.value)
    assert ledger.spent == 0


def test_a_damaged_file_is_named_without_its_partition(tmp_path: Path) -> None:
    put(tmp_path, "ward=Smith/a.parquet", age=[1], ill=["no"])
    (tmp_path / "ward=Smith" / "a.parquet").write_bytes(b"PAR1 and no more")
    with pytest.raises(TableError, match=r"ward=\.\.\./a\.parquet' is not a Parquet table") as raised:
        privet.protect(tmp_path, SCHEMA, Ledger(1))
    assert "Smith" not in str(raised.value)


def test_other_files_are_not_passed_over(tmp_path: Path) -> None:
    put(tmp_path, "a.parquet", **ROWS)
    (tmp_path / "b.csv").write_text("age,ward,ill\n1,1,no\n")
    with pytest.raises(TableError, match="name the files by a pattern"):
        privet.protect(tmp_path, SCHEMA, Ledger(1))


def test_a_unit_can_be_a_partition(tmp_path: Path) -> None:
    schema = Schema((SCHEMA.attributes[0],), SCHEMA.label, unit=privet.Unit("who", max_rows=1))
    for who in ("9007199254740992", "9007199254740993"):
        put(tmp_path, f"who={who}/a.parquet", age=[10, 10], ill=["no", "no"])
    assert sum(sum(row) for row in cells(tmp_path, schema)[0][0]) == 2


def test_a_draft_of_a_folder(tmp_path: Path) -> None:
    put(tmp_path, "ward=north/a.parquet", age=[10, 20], ill=["no", "yes"])
    facts = draft(tmp_path, "ill").facts
    assert [attribute["name"] for attribute in facts["attributes"]] == ["age", "ward"]
    assert json.dumps(facts)
