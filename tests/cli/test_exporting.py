"""``privet export`` in every form, and ``privet predict`` from and to Parquet, DuckDB and PostgreSQL."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="module")
def postgres(postgres_server: Any) -> Any:
    return postgres_server.fresh()


@pytest.fixture
def model(desk: Any) -> str:
    assert desk.fit("-o", desk["tree.json"]).exit_code == 0
    return desk["tree.json"]


def predictions(desk: Any, model: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(desk.ok("predict", model, desk["clinic.csv"], "--proba").stdout)))[1:]


@pytest.mark.parametrize("form", ["onnx", "sql", "pmml", "python", "shap"])
def test_every_form(desk: Any, model: str, form: str) -> None:
    if form == "onnx":
        pytest.importorskip("onnx", reason="NOT TESTED: ONNX; pip install 'privet[onnx]'")
    result = desk.ok("export", model, "--to", form, "-o", desk["out"], "--json")
    facts = json.loads(result.stdout)
    content = Path(desk["out"]).read_bytes()
    assert facts == {"file": desk["out"], "form": form, "bytes": len(content)}
    assert b"schema_fingerprint" in content
    again = desk.run("export", model, "--to", form, "-o", desk["out"])
    assert again.exit_code == 1
    assert "--force" in again.stderr


def test_the_file_of_python_predicts(desk: Any, model: str) -> None:
    desk.ok("export", model, "--to", "python", "-o", desk["score.py"])
    command = [sys.executable, "-I", "-S", desk["score.py"], desk["clinic.csv"]]
    found = list(csv.reader(io.StringIO(subprocess.run(command, capture_output=True, text=True, check=True).stdout)))[
        1:
    ]
    assert [row[0] for row in found] == [row[0] for row in predictions(desk, model)]


def test_options_of_sql(desk: Any, model: str) -> None:
    duckdb = pytest.importorskip("duckdb", reason="NOT TESTED: DuckDB; pip install 'privet[duckdb]'")
    desk.ok("export", model, "--to", "sql", "--table", "main.visits", "--keep", "number", "-o", desk["q.sql"])
    with duckdb.connect() as connection:
        connection.execute(
            f"create table visits as select row_number() over () as number, * from read_csv('{desk['clinic.csv']}')"
        )
        rows = sorted(connection.execute(Path(desk["q.sql"]).read_text()).fetchall())
    assert [row[1] for row in rows] == [row[0] for row in predictions(desk, model)]
    refused = desk.run("export", model, "--to", "pmml", "--dialect", "sqlite", "-o", desk["x"])
    assert refused.exit_code == 1
    assert "--to sql" in refused.stderr


def test_an_export_does_not_take_the_name_of_another_format(desk: Any, model: str) -> None:
    refused = desk.run("export", model, "--to", "onnx", "-o", desk["model.parquet"])
    assert refused.exit_code == 1
    assert ".parquet" in refused.stderr


def test_predict_to_parquet_and_from_it(desk: Any, model: str) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    desk.ok("predict", model, desk["clinic.csv"], "--proba", "--keep", "cough", "-o", desk["p.parquet"])
    table = parquet.read_table(desk["p.parquet"])
    assert table.column_names[:2] == ["cough", "class"]
    assert table["class"].to_pylist() == [row[0] for row in predictions(desk, model)]
    parquet.write_table(_typed(desk), desk["clinic.parquet"])
    desk.ok("predict", model, desk["clinic.parquet"], "-o", desk["again.csv"])
    assert Path(desk["again.csv"]).read_text().split()[1:] == table["class"].to_pylist()


def test_predict_from_duckdb_to_duckdb(desk: Any, model: str) -> None:
    duckdb = pytest.importorskip("duckdb", reason="NOT TESTED: DuckDB; pip install 'privet[duckdb]'")
    records = _typed(desk)
    with duckdb.connect(desk["c.db"]) as connection:
        connection.execute("create table visits as from records")
    source, target = (f"duckdb:///{desk['c.db']}?table={name}" for name in ("visits", "predicted"))
    desk.ok("predict", model, source, "--keep", "row", "-o", target)
    with duckdb.connect(desk["c.db"]) as connection:
        rows = connection.execute('select "class" from predicted order by "row"').fetchall()
    assert len(records) == len(rows)
    assert [row[0] for row in rows] == [row[0] for row in predictions(desk, model)]
    assert "--force" in desk.run("predict", model, source, "-o", target).stderr
    desk.ok("predict", model, source, "-o", target, "--force")
    assert "must stay" in desk.run("predict", model, source, "-o", source, "--force").stderr
    assert "no such column" in desk.run("predict", model, source, "--keep", "nothing").stderr


def test_predict_from_postgres_to_postgres(desk: Any, model: str, postgres: Any) -> None:
    postgres.ingest("visits", _typed(desk))
    source, target = postgres.address(table="visits"), postgres.address(table="public.predicted")
    desk.ok("predict", model, source, "--proba", "--keep", "row", "-o", target)
    rows = postgres.run('select "class" from predicted order by "row"')
    assert [row[0] for row in rows] == [row[0] for row in predictions(desk, model)]
    assert "--force" in desk.run("predict", model, source, "-o", target).stderr
    desk.ok("predict", model, source, "-o", target, "--force")
    assert "must stay" in desk.run("predict", model, source, "-o", source, "--force").stderr
    assert "schema before the dot" in desk.run("predict", model, source, "-o", postgres.address(table="no.x")).stderr


def _typed(desk: Any) -> Any:
    import pyarrow

    return pyarrow.table({"row": range(len(desk.columns["cough"]))} | {n: list(c) for n, c in desk.columns.items()})
