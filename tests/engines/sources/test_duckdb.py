"""A DuckDB file is only read: one SELECT, no other file, and clear words when it cannot be."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import quote_plus

import pytest

import privet
from privet import Categorical, EngineError, Ledger, Schema, TableError
from privet.engines.opening import open_engine
from privet.privacy.counting import ROOT, class_counts

duckdb = pytest.importorskip("duckdb", reason="NOT TESTED: DuckDB; pip install 'privet[duckdb]'")
pytest.importorskip("pyarrow")

SCHEMA = Schema((Categorical("ward", ("a", "b")),), Categorical("ill", ("no", "yes")))
ROWS = "(values ('a', 'no'), ('b', 'yes'), ('b', 'no')) as rows(ward, ill)"


@pytest.fixture
def clinic(tmp_path: Path) -> Path:
    (tmp_path / "other.csv").write_text("ward,ill\na,no\n")
    with duckdb.connect(str(tmp_path / "clinic.db")) as connection:
        connection.execute(f"create table t as from {ROWS}")
        connection.execute('create schema "s.x"; create table "s.x"."visits.2024" as from t')
        connection.execute(f"create view outside as from read_csv('{tmp_path / 'other.csv'}')")
        connection.execute("create view inside as select * from t")
        connection.execute("create sequence numbers")
    return tmp_path / "clinic.db"


def protect(path: Path, **asked: str) -> Any:
    [(key, value)] = asked.items()
    return open_engine(f"duckdb:///{path}?{key}={quote_plus(value)}", SCHEMA)


@pytest.mark.parametrize(
    "query",
    [
        "select * from t",
        "select * from t;",
        "select ward, ill from t -- a remark",
        "with x as (select * from t) select * from x",
        "from t",
        "(select * from t where ward = 'a') union all (select * from t where ward <> 'a')",
        f"from {ROWS}",
        "select * from query('from t')",
        "select ';' as sign, * from t",
    ],
)
def test_one_select(clinic: Path, query: str) -> None:
    assert class_counts(protect(clinic, query=query), ROOT).tolist() == [[2, 1]]


@pytest.mark.parametrize("table", ["t", "main.t", "clinic.main.t", "inside", '"s.x"."visits.2024"'])
def test_tables_and_views(clinic: Path, table: str) -> None:
    assert class_counts(protect(clinic, table=table), ROOT).tolist() == [[2, 1]]


OUT = "'{folder}/stolen.csv'"
REFUSED = {
    "two": "select * from t; select * from t",
    "copy after": f"select * from t; copy t to {OUT}",
    "copy before": f"copy t to {OUT}; select * from t",
    "copy": f"copy (select * from t) to {OUT}",
    "copy behind a bracket": f"select * from t) as x; copy t to {OUT}; select * from (from t",
    "export": "export database '{folder}/stolen'",
    "attach": "attach '{folder}/stolen.db' as stolen",
    "attach and create": "attach '{folder}/stolen.db' as stolen; create table stolen.t as from t; select * from t",
    "set": "set enable_external_access = true; select * from t",
    "reset": "reset lock_configuration",
    "pragma": "pragma database_list",
    "call": "call pragma_version()",
    "install": "install httpfs",
    "load": "load httpfs",
    "create": "create temp table x as from t",
    "insert": "insert into t from t returning *",
    "delete": "delete from t returning *",
    "update": "update t set ward = 'a' returning *",
    "explain": "explain analyze select * from t",
    "prepare": "prepare p as select * from t",
    "checkpoint": "checkpoint",
    "nothing": ";",
    "nonsense": "selct * from t",
}
OUTSIDE = {
    "a function": "select * from read_csv('{folder}/other.csv')",
    "a name": "select * from '{folder}/other.csv'",
    "in a common table expression": "with x as (from read_csv('{folder}/other.csv')) select * from x",
    "in a subquery": "select ward, (select max(content) from read_text('{folder}/other.csv')) as ill from t",
    "bytes": "select content as ward, content as ill from read_blob('{folder}/other.csv')",
    "names of files": "select file as ward, file as ill from glob('{folder}/*')",
    "within a query function": "select * from query('from read_csv(''{folder}/other.csv'')')",
    "a view": "select * from outside",
    "a variable": "select * from VARIABLE",
}
VARIABLE = {"ward": ["a"], "ill": ["no"]}


@pytest.mark.parametrize("what", [*REFUSED, *OUTSIDE])
def test_a_query_does_nothing_but_read_the_file(clinic: Path, what: str) -> None:
    before = {path.name: path.read_bytes() for path in clinic.parent.iterdir()}
    query = (REFUSED | OUTSIDE)[what].replace("{folder}", str(clinic.parent))
    ledger = Ledger(1)
    with pytest.raises((TableError, EngineError)) as raised:
        privet.protect(f"duckdb:///{clinic}?query={quote_plus(query)}", SCHEMA, ledger)
    assert ledger.spent == 0
    assert raised.value.__context__ is None
    assert str(clinic.parent) not in str(raised.value)
    assert {path.name: path.read_bytes() for path in clinic.parent.iterdir()} == before


@pytest.mark.parametrize("table", ["outside", "{folder}/other.csv", '"{folder}/other.csv"', "VARIABLE"])
def test_a_table_is_one_of_the_file(clinic: Path, table: str) -> None:
    with pytest.raises(TableError, match=r"no such table|reads other files"):
        protect(clinic, table=table.replace("{folder}", str(clinic.parent)))


def test_nothing_can_be_switched_on_again(clinic: Path) -> None:
    """The last line of defence, should a statement get past the parser."""
    from privet.engines.sources.duckdb import CONFINED

    with duckdb.connect(str(clinic), read_only=True, config=CONFINED) as connection:
        for statement in (
            "set enable_external_access = true",
            "set lock_configuration = false",
            "reset lock_configuration",
        ):
            with pytest.raises(duckdb.Error, match=r"locked|Cannot change"):
                connection.execute(statement)
        with pytest.raises(duckdb.Error):
            connection.execute(f"copy t to '{clinic.parent}/stolen.csv'")
    assert not (clinic.parent / "stolen.csv").exists()


# ---- why it cannot be read ------------------------------------------------------------------------------------------


WRITER = "import duckdb, sys; c = duckdb.connect(sys.argv[1]); print('open', flush=True); sys.stdin.read()"


def test_a_file_that_a_writer_has_open(clinic: Path) -> None:
    command = [sys.executable, "-c", WRITER, str(clinic)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == b"open\n"
        with pytest.raises(TableError, match="locked: another program has it open for writing"):
            protect(clinic, table="t")
        writer.communicate()
    protect(clinic, table="t")


def test_a_file_that_this_process_has_open(clinic: Path) -> None:
    """Its settings are the owner's, and stay."""
    with duckdb.connect(str(clinic)) as connection:
        with pytest.raises(TableError, match="open in this process"):
            protect(clinic, table="t")
        assert connection.sql("from read_csv('/dev/null', columns = {'a': 'INT'})").fetchall() == []


def test_faults_are_distinguished(clinic: Path) -> None:
    (clinic.parent / "no.db").write_bytes(b"not a database" * 1000)
    shown = r"duckdb://\.\.\.\?table="
    wrong = {
        f"duckdb:///{clinic}?table=nothing": f"{shown}nothing has no such table",
        f"duckdb:///{clinic}?table=visits.2024": "no such table.*quotes",
        f"duckdb:///{clinic.parent}/nothing.db?table=t": f"no file at the path of {shown}t",
        f"duckdb:///{clinic.parent}/no.db?table=t": "leads to a DuckDB database",
        f"duckdb:///{clinic.parent}?table=t": "leads to a DuckDB database",
        f"duckdb:///{clinic}?query=select+ward+from+t": "lacks 'ill'",
        f"duckdb:///{clinic}?query=select+nothing+from+t": "refuses the query",
        f"duckdb:///{clinic}?query=from+outside": "reads other files",
        f"duckdb://{clinic.name}?table=t": "three slashes",
        f"duckdb:///{clinic}?table=t&read_only=false": "table= or query= alone",
    }
    for address, words in wrong.items():
        with pytest.raises(TableError, match=words):
            privet.protect(address, SCHEMA, Ledger(1))
