"""Every kind of question by value, on every engine that needs no server: the same answers as in memory.

PostgreSQL and Spark have the same test among their own.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path[:0] = [str(Path(__file__).parent)]  # importlib mode leaves it off
from asked import TABLE, answers  # noqa: E402


def csv_file(folder: Path) -> Any:
    path = folder / "clinic.csv"
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([TABLE, *zip(*TABLE.values(), strict=True)])
    return path


def parquet(folder: Path) -> Any:
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    parquet.write_table(pa.table({n: list(c) for n, c in TABLE.items()}), folder / "t.parquet", row_group_size=50)
    return folder / "t.parquet"


def duckdb_file(folder: Path) -> Any:
    duckdb = pytest.importorskip("duckdb", reason="NOT TESTED: DuckDB; pip install 'privet[duckdb]'")
    with duckdb.connect(str(folder / "c.db")) as connection:
        connection.execute(f"create table t as from read_csv('{csv_file(folder)}', all_varchar = true)")
    return f"duckdb:///{folder}/c.db?table=t"


@pytest.mark.parametrize("make", [csv_file, parquet, duckdb_file])
def test_an_engine_answers_as_memory_does(make: Any, tmp_path: Path) -> None:
    assert answers(make(tmp_path)) == answers(TABLE)


def test_a_known_answer() -> None:
    exact = sum(float(value) > 38.2 for value in TABLE["temperature"])
    assert answers(TABLE)[0]["rows"][0]["value"] == exact
