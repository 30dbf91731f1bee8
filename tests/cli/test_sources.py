"""``privet fit`` from a database or a pattern of files."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from privet import Categorical
from privet.datasets.clinic import clinic

SECRET = "hunter2"


def write_parts(desk: Any) -> None:
    schema, table = clinic(800, seed=1)
    names = [*schema.names, schema.label.name]
    for part in range(2):
        rows = [",".join(str(table[name][i]) for name in names) for i in range(part, 800, 2)]
        desk.write(f"part{part}.csv", "\n".join([",".join(names), *rows]))


def fit(desk: Any, table: object, *more: object) -> Any:
    how = ("--schema", desk["clinic.schema.json"], "--recipe", "sulq", "--epsilon", "1")
    return desk.run("fit", table, *how, "-o", desk["out.json"], "--force", *more)


def test_a_pattern_of_files(desk: Any) -> None:
    write_parts(desk)
    result = fit(desk, desk["part*.csv"], "--expect", "800")
    assert result.exit_code == 0, result.stderr


def test_a_database_file(desk: Any) -> None:
    duckdb = pytest.importorskip("duckdb", reason="NOT TESTED: DuckDB; pip install 'privet[duckdb]'")
    write_parts(desk)
    with duckdb.connect(str(desk["clinic.db"])) as connection:
        connection.execute(f"create table patients as from read_csv('{desk['part*.csv']}')")
    result = fit(desk, f"duckdb:///{desk['clinic.db']}?table=patients", "--json")
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout)["certificate"]["neighbours"] == "add-remove"


def test_no_password_is_shown_or_kept(desk: Any) -> None:
    pytest.importorskip("adbc_driver_postgresql", reason="NOT TESTED: PostgreSQL; pip install 'privet[postgres]'")
    address = f"postgresql://me:{SECRET}@127.0.0.1:1/db?connect_timeout=1&table=t"
    journal = desk["clinic.journal"]
    result = fit(desk, address, "--journal", journal)
    assert result.exit_code == 1
    assert SECRET not in result.output
    assert not Path(journal).exists()
    assert "nothing listens at that host and port" in result.stderr


def test_a_person_instead_of_a_row(desk: Any) -> None:
    schema, table = clinic(800, seed=1)
    names = [*schema.names, schema.label.name]
    rows = [",".join([*(str(table[name][i]) for name in names), str(i // 4)]) for i in range(800)]
    visits = desk.write("visits.csv", "\n".join([",".join([*names, "patient"]), *rows]))
    told = json.loads(fit(desk, visits, "--unit", "patient", "--max-rows", "2", "--json").stdout)
    assert told["certificate"]["unit"] == {"name": "patient", "max_rows": 2}
    assert fit(desk, visits, "--unit", "patient").exit_code == 1
    assert "nobody" in fit(desk, visits, "--unit", "nobody", "--max-rows", "2").stderr


def test_every_command_reads_folders_patterns_and_databases(desk: Any) -> None:
    arrow = pytest.importorskip("pyarrow")
    from pyarrow import dataset

    duckdb = pytest.importorskip("duckdb", reason="NOT TESTED: DuckDB; pip install 'privet[duckdb]'")
    write_parts(desk)
    schema, table = clinic(800, seed=1)
    partition = next(each.name for each in schema.attributes if isinstance(each, Categorical))
    layout = dataset.partitioning(arrow.schema([(partition, arrow.string())]), flavor="hive")
    columns = {name: list(map(str, column)) for name, column in table.items()}
    dataset.write_dataset(arrow.table(columns), desk["hive"], format="parquet", partitioning=layout)
    with duckdb.connect(desk["clinic.db"]) as connection:
        connection.execute(f"create table patients as from read_csv('{desk['part*.csv']}', all_varchar = true)")
    facts = ("--schema", desk["clinic.schema.json"])
    told = []
    for name in (desk["hive"], desk["part*.csv"], f"duckdb:///{desk['clinic.db']}?table=patients"):
        assert fit(desk, name).exit_code == 0
        told.append(json.loads(desk.ok("schema", "check", name, *facts, "--json").stdout)["records"])
        told.append(len(json.loads(desk.ok("predict", desk["out.json"], name, "--json").stdout)["predictions"]))
        desk.ok("score", desk["out.json"], name, "--epsilon", "1")
        desk.ok("evaluate", name, *facts, "--epsilon", "1", "--recipe", "sulq", "--folds", "2", "--no-references")
        desk.ok("publish", name, *facts, "-m", "diffgen", "-e", "1", "-o", desk["table.csv"], "--force")
        desk.ok("schema", "draft", name, "-o", desk["draft.json"], "--force")
        assert json.loads(Path(desk["draft.json"]).read_text())["class"] == "class"
    assert told == [800] * 6


def test_a_killed_fit_leaves_nothing_for_good(desk: Any) -> None:
    command = [sys.executable, "-c", KILLED, "fit", desk["clinic.csv"], "--schema", desk["clinic.schema.json"]]
    done = subprocess.run([*command, "--recipe", "sulq", "--epsilon", "1", "-o", desk["out.json"]], timeout=120)
    assert done.returncode == -signal.SIGKILL
    assert list(desk.folder.glob(".*"))
    assert fit(desk, desk["clinic.csv"]).exit_code == 0
    assert not list(desk.folder.glob(".*"))


KILLED = """
import os, signal
from privet.fitting import Fit
Fit.grow = lambda *given, **how: os.kill(os.getpid(), signal.SIGKILL)
from privet.cli import main
main()
"""
