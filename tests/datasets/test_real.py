"""Real tables: the loader on a made-up directory, and the files themselves where there are any."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from privet.datasets import real
from privet.errors import ParameterError, TableError
from privet.owner.inspection import check_table

FACTS = """{
 "name": "tiny",
 "rows": 2,
 "attributes": [
  {"name": "age", "type": "continuous", "min": 0, "max": 120, "integer": true, "missing": "?"},
  {"name": "town", "type": "categorical", "values": ["Ulm", "Köln, alt", "?"]}
 ],
 "class": "class",
 "labels": ["no", "yes"]
}"""
TINY = 'age,town,class\n30,"Köln, alt",yes\n?,?,no\n'


def write(where: Path, name: str = "tiny", table: str = TINY) -> None:
    (where / f"{name}.schema.json").write_text(FACTS, encoding="utf-8")
    (where / f"{name}.csv.gz").write_bytes(gzip.compress(table.encode()))


def test_every_cell_is_text(tmp_path: Path) -> None:
    write(tmp_path)
    schema, table = real.load("tiny", tmp_path)
    assert schema.name == "tiny"
    assert {name: column.tolist() for name, column in table.items()} == {
        "age": ["30", "?"],
        "town": ["Köln, alt", "?"],
        "class": ["yes", "no"],
    }
    assert real.load_schema("tiny", tmp_path) == schema


def test_the_directory_comes_from_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path)
    monkeypatch.setenv("PRIVET_DATA", str(tmp_path))
    assert real.names() == ("tiny",)
    assert len(real.load("tiny")[1]["age"]) == 2


def test_an_empty_table_has_its_columns(tmp_path: Path) -> None:
    write(tmp_path, table="age,town,class\n")
    assert {name: len(column) for name, column in real.load("tiny", tmp_path)[1].items()} == {
        "age": 0,
        "town": 0,
        "class": 0,
    }


def test_a_table_without_schema_is_not_listed(tmp_path: Path) -> None:
    write(tmp_path)
    (tmp_path / "lonely.csv.gz").write_bytes(gzip.compress(TINY.encode()))
    assert real.names(tmp_path) == ("tiny",)
    with pytest.raises(ParameterError, match=r"lonely\.schema\.json.*there are tiny"):
        real.load("lonely", tmp_path)


@pytest.mark.parametrize("table", ["", "age,Ulm,class\n30,Ulm,yes\n", "30,Ulm,yes\n"])
def test_a_missing_header_is_reported_without_a_cell(tmp_path: Path, table: str) -> None:
    write(tmp_path, table=table)
    with pytest.raises(TableError, match=r"tiny\.csv\.gz") as caught:
        real.load("tiny", tmp_path)
    assert "Ulm" not in str(caught.value)


def test_a_line_that_cannot_be_read_is_missing_everywhere(tmp_path: Path) -> None:
    write(tmp_path, table="age,town,class\n30,Ulm,yes\n30,Ulm\n31,Ulm,no\n")
    assert [column.tolist() for column in real.load("tiny", tmp_path)[1].values()] == [
        ["30", None, "31"],
        ["Ulm", None, "Ulm"],
        ["yes", None, "no"],
    ]


def test_a_missing_directory_names_the_fix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PRIVET_DATA", raising=False)
    monkeypatch.setenv("PRIVET_CACHE", str(tmp_path / "empty"))
    with pytest.raises(ParameterError, match=r"PRIVET_DATA is not set and the cache is empty: point PRIVET_DATA"):
        real.names()
    monkeypatch.setenv("PRIVET_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(ParameterError, match=r"PRIVET_DATA names .*nowhere"):
        real.load("tiny")
    with pytest.raises(ParameterError, match="data_dir names"):
        real.load("tiny", tmp_path / "nowhere")
    with pytest.raises(ParameterError, match=r"no table called 'tiny'.*there are none"):
        real.load("tiny", tmp_path)


def test_every_real_schema_is_read(data_dir: Path) -> None:
    assert len(real.names(data_dir)) >= 1
    for name in real.names(data_dir):
        schema = real.load_schema(name, data_dir)
        assert schema.name == name


@pytest.mark.parametrize(
    "most",
    [
        100_000,
        pytest.param(1_000_000, marks=pytest.mark.slow),  # covertype alone would take longer than all others
    ],
    ids=["small", "larger"],
)
def test_every_real_table_follows_its_schema(data_dir: Path, most: int) -> None:
    for name in real.names(data_dir):
        if (data_dir / f"{name}.csv.gz").stat().st_size > most:  # compressed bytes
            continue
        schema, table = real.load(name, data_dir)
        assert list(table) == [*schema.names, schema.label.name], name
        assert check_table(schema, table).ok, name


def test_a_known_table(data_dir: Path) -> None:
    if "mushroom" not in real.names(data_dir):
        pytest.skip("this directory has no mushroom table")
    schema, table = real.load("mushroom", data_dir)
    assert (len(table["class"]), len(schema.attributes)) == (8124, 22)
    assert int((table["stalk-root"] == "?").sum()) == 2480
