"""A package outside privet brings a source, and every command that takes a table takes it."""

from __future__ import annotations

import json
import shutil
import sqlite3
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from cli_desk import Desk

import privet
from privet.engines.sources import open_source
from privet.engines.sources.others import GROUP
from privet.privacy.counting import ROOT, class_counts

ROOT_FOLDER = Path(__file__).parents[3]
EXAMPLE = ROOT_FOLDER / "examples" / "sqlite-source"
SECRET = "hunter2"
BROKEN = {
    "telling": "def opened(address):\n    raise privet.TableError(f'cannot read {address}')\n",
    "quoting": "def opened(address):\n    raise privet.TableError('wrong password: ' + address.split(':')[2][:7])\n",
    "decoding": "from urllib.parse import unquote\n"
    "def opened(address):\n    raise privet.TableError('me with ' + unquote(address.split(':')[2].split('@')[0]))\n",
    "crashing": "def opened(address):\n    raise OSError(address)\n",
    "empty": "def opened(address):\n    return None\n",
    "late": "class opened:\n    caveats = ()\n    def __init__(self, address): self.address = address\n"
    "    def header(self, columns): raise privet.TableError(f'no columns at {self.address}')\n"
    "    batches = header\n",
}


def install(site: Path, name: str, schemes: dict[str, str]) -> None:
    """What an installer leaves behind: the package's name and its entry points."""
    record = site / f"{name.replace('-', '_')}-0.1.dist-info"
    record.mkdir(parents=True)
    (record / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 0.1\n")
    lines = [f"{scheme} = {value}" for scheme, value in schemes.items()]
    (record / "entry_points.txt").write_text("\n".join([f"[{GROUP}]", *lines]))


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A desk with the example installed, and a table in SQLite."""
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text("utf-8"))
    install(tmp_path / "site", project["project"]["name"], project["project"]["entry-points"][GROUP])
    (module,) = project["tool"]["hatch"]["build"]["targets"]["wheel"]["only-include"]
    shutil.copy(EXAMPLE / module, tmp_path / "site")
    monkeypatch.syspath_prepend(tmp_path / "site")
    monkeypatch.delitem(sys.modules, "privet_sqlite", raising=False)
    desk = Desk(tmp_path)
    with sqlite3.connect(desk["clinic.db"]) as database:
        database.execute(f"create table patients ({', '.join(desk.columns)}, shoe_size)")
        rows = [(*map(str, row), 43) for row in zip(*desk.columns.values(), strict=True)]
        database.executemany(f"insert into patients values ({', '.join('?' * len(rows[0]))})", rows)
    database.close()
    return desk


def test_the_records_are_those_of_the_table(desk: Any) -> None:
    schema = privet.Schema.from_json(desk["clinic.schema.json"])
    address = f"sqlite:///{desk['clinic.db']}?table=patients"
    data = privet.protect(address, schema, privet.Ledger(1))
    plain = privet.protect(desk.columns, schema, privet.Ledger(1))
    assert class_counts(data._engine, ROOT).tolist() == class_counts(plain._engine, ROOT).tolist()
    model = privet.ExactTreeClassifier(schema, epsilon=1, max_depth=1).fit(address)
    assert model.predict(address).size == 600
    assert "clinic.db" not in repr(open_source(address))


def test_every_command_that_takes_a_table_takes_it(desk: Any) -> None:
    table = f"sqlite:///{desk['clinic.db']}?table=patients"
    facts = ("--schema", desk["clinic.schema.json"])
    desk.ok("fit", table, *facts, "--recipe", "sulq", "--epsilon", "1", "-o", desk["out.json"])
    assert json.loads(desk.ok("schema", "check", table, *facts, "--json").stdout)["records"] == 600
    assert len(json.loads(desk.ok("predict", desk["out.json"], table, "--json").stdout)["predictions"]) == 600
    desk.ok("score", desk["out.json"], table, "--epsilon", "1")
    desk.ok("evaluate", table, *facts, "--epsilon", "1", "--recipe", "sulq", "--folds", "2", "--no-references")
    desk.ok("publish", table, *facts, "-m", "diffgen", "-e", "1", "-o", desk["table.csv"])
    drafted = json.loads(desk.ok("schema", "draft", table, "-o", desk["draft.json"], "--json").stdout)
    assert [column["column"] for column in drafted["columns"]] == [*desk.columns, "shoe_size"]


def test_what_cannot_be_read_is_refused(desk: Any) -> None:
    facts = ("--schema", desk["clinic.schema.json"], "--epsilon", "1", "-o", desk["out.json"])
    for address in (f"sqlite:///{SECRET}.db?table=patients", f"sqlite:///{desk['clinic.db']}?table={SECRET}+;"):
        result = desk.run("fit", address, *facts)
        assert result.exit_code == 1
        assert SECRET not in result.output
    assert "no table is read from mysql://" in desk.run("fit", "mysql://host/db?table=t", *facts).stderr


@pytest.mark.parametrize("fault", [*BROKEN, "missing"])
def test_a_broken_package_shows_no_address(fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, "privet-broken", {"broken": f"privet_broken_{fault}:opened"})
    if fault in BROKEN:
        (tmp_path / f"privet_broken_{fault}.py").write_text(f"import privet\n{BROKEN[fault]}")
    monkeypatch.syspath_prepend(tmp_path)
    schema = privet.Schema((privet.Numeric("age", 0, 120),), privet.Categorical("state", ("well", "sick")))
    password = SECRET + ("%2F%40" if fault == "decoding" else "")  # it means hunter2/@
    with pytest.raises((privet.TableError, privet.EngineError), match="privet-broken") as raised:
        privet.protect(f"broken://me:{password}@host.example/db?table=t", schema, privet.Ledger(1))
    assert SECRET not in repr(raised.value)
    assert "host.example" not in str(raised.value)
    assert raised.value.__context__ is None


def test_an_error_among_the_records_quotes_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, "privet-quoting", {"quoting": "privet_quoting:Opened"})
    (tmp_path / "privet_quoting.py").write_text(
        "import privet\nclass Opened:\n    caveats = ()\n    def __init__(self, address): pass\n"
        "    def header(self, columns): return {name: [] for name in columns}\n"
        "    def batches(self, columns):\n        yield {'age': [40.7], 'state': ['sick']}\n"
        "        raise privet.TableError('row 1: age 40.7 cannot be read')\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    schema = privet.Schema((privet.Numeric("age", 0, 120),), privet.Categorical("state", ("well", "sick")))
    with pytest.raises(privet.EngineError) as raised:
        privet.protect("quoting://host/db", schema, privet.Ledger(1))
    assert "40.7" not in str(raised.value)
    assert raised.value.__context__ is None
