"""Cells of a CSV stay text, chunks do not show, and what a table lacks is said by name."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privet.cli import tables
from privet.cli.tables import read_table
from privet.errors import TableError
from privet.schema import Categorical, Schema

SCHEMA = Schema((Categorical("a", ("NA", "", "nan", "1")), Categorical("b", ("x", "y"))), Categorical("c", ("0", "1")))

cells = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\x00"), max_size=6)


def test_nothing_is_guessed(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b,c\nNA,x,0\n,x,01\nnan,y,1.0\n007,y,1\n")
    table = read_table(path, SCHEMA, with_label=True)
    assert table["a"].tolist() == ["NA", "", "nan", "007"]
    assert table["c"].tolist() == ["0", "01", "1.0", "1"]


@given(st.lists(st.tuples(cells, cells, cells), max_size=12), st.integers(1, 4))
def test_what_is_written_is_read(rows: list[tuple[str, str, str]], chunk: int) -> None:
    import csv
    import tempfile

    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "CHUNK", chunk)
        path = Path(folder) / "t.csv"
        with open(path, "w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, quoting=csv.QUOTE_ALL)
            writer.writerow("abc")
            writer.writerows(rows)
        table = read_table(path, SCHEMA, with_label=True)
        assert list(zip(*(table[name].tolist() for name in "abc"), strict=True)) == rows


def test_the_label_is_needed_only_to_learn(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("b,a\nx,1\n")
    assert set(read_table(path, SCHEMA, with_label=False)) == {"a", "b"}
    with pytest.raises(TableError, match="lacks the column 'c'"):
        read_table(path, SCHEMA, with_label=True)


def test_parquet_without_pyarrow_names_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    path = tmp_path / "t.parquet"
    path.write_bytes(b"PAR1")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(TableError, match="pip install pyarrow"):
        read_table(path, SCHEMA, with_label=True)
