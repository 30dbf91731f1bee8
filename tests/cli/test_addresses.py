"""No password is shown or kept: every command that takes a table, every form of an address, with a canary in it."""

from __future__ import annotations

import io
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cli_desk import Desk

import privet
from privet import Ledger, PrivetError
from privet.addresses import is_address, safe

for package in ("duckdb", "adbc_driver_postgresql", "pyarrow"):
    pytest.importorskip(package, reason=f"NOT TESTED: addresses; {package} is not installed")

CANARY = "hunter2"
CODED = "%68unter2"  # the same to a driver, which decodes it
ADDRESSES = [
    f"postgresql://me:{CANARY}@127.0.0.1:1/db?connect_timeout=1&table=t",
    f"postgres://me:{CANARY}@127.0.0.1:1/db?table=ward.t",
    f"postgresql://me:{CODED}@127.0.0.1:1/db?table=t",
    f"postgresql://127.0.0.1:1/db?user=me&password={CANARY}&table=t",
    f"postgresql://127.0.0.1:1/db?table=t&password={CODED}",
    f"postgresql://127.0.0.1:1/db?table=t+password={CANARY}",
    f"postgresql://127.0.0.1:1/db?table=t;password={CANARY}",
    f"postgresql://127.0.0.1:1/db?pasword={CANARY}&table=t",
    f"postgresql://me:{CANARY}@127.0.0.1:1/db?query=select+1",
    f"postgresql://me:{CANARY}@127.0.0.1:1/db",
    f"postgresql://me:{CANARY}@[bad/db?table=t",
    f"postgresql://me:{CANARY}@127.0.0.1:port/db?table=t",
    f"postgresql://me:{CANARY} {CANARY}'\"\\{CANARY}@127.0.0.1:1/db?table=t",
    f'postgresql://me:{CANARY}@127.0.0.1:1/db?table="{CANARY}=',
    f"postgresql:/me:{CANARY}@127.0.0.1:1/db?table=t",
    f"postgresql:me:{CANARY}@127.0.0.1:1/db?table=t",
    f"postgresq:{CANARY}",
    f"postgre://me:{CANARY}@127.0.0.1:1/db?table=t",
    f"PostgreSQL+psycopg2://me:{CANARY}@127.0.0.1:1/db?table=t",
    f"jdbc:postgresql://127.0.0.1:1/db?user=me&password={CANARY}",
    f"postgresql//me:{CANARY}@127.0.0.1:1/db?table=t",
    f"//me:{CANARY}@127.0.0.1/db",
    f"me:{CANARY}@127.0.0.1/db",
    f"host=127.0.0.1 port=1 user=me password={CANARY} dbname=db",
    f"host=127.0.0.1 user={CANARY}",
    f"Server=127.0.0.1;Uid=me;Pwd={CANARY}",
    f"PGPASSWORD={CANARY}",
    f"duckdb:///nothing.db?table=t&password={CANARY}",
    f"duckdb:///{CANARY}.db?table=t",
    f"duckdb://me:{CANARY}@host/nothing.db?table=t",
    f"duckdb:///md:clinic?motherduck_token={CANARY}&table=t",
    f"duckdb:///nothing.db?query=select+'{CANARY}'",
    f"duckdb:nothing.db?table=t&password={CANARY}",
    f"mysql://me:{CANARY}@host/db?table=t",
    f"s3://key:{CANARY}@bucket/t.parquet",
    f"https://me:{CANARY}@host/t.csv?table=t",
    f"clinic.csv?password={CANARY}",
    f"postgresql://me:{CANARY}@127.0.0.1:1/{'d' * 5000}?table=t",
    f"postgre://me:{CANARY}@127.0.0.1:1/{'d' * 300}/*.csv",
]
Make = Callable[[Desk, str], tuple[object, ...]]
COMMANDS: dict[str, Make] = {
    "fit": lambda desk, table: ("fit", table, *facts(desk), "-e", 1, "-o", desk["out.json"], "--journal", desk["j"]),
    "fit --public": lambda desk, table: (
        *("fit", desk["clinic.csv"], *facts(desk), "-e", 1, "-o", desk["out.json"]),
        *("--recipe", "bai2017", "--public", table),
    ),
    "schema check": lambda desk, table: ("schema", "check", table, *facts(desk)),
    "schema draft": lambda desk, table: ("schema", "draft", table, "-o", desk["draft.json"]),
    "predict": lambda desk, table: ("predict", desk["tree.json"], table, "-o", desk["out.csv"]),
    "score": lambda desk, table: ("score", desk["tree.json"], table, "-e", 1, "--journal", desk["j"]),
    "evaluate": lambda desk, table: ("evaluate", table, *facts(desk), "-e", 1, "--report", desk["page.html"]),
    "publish": lambda desk, table: ("publish", table, *facts(desk), "-m", "diffgen", "-e", 1, "-o", desk["out.csv"]),
}
ELSEWHERE: dict[str, Make] = {
    "a model": lambda desk, table: ("show", table),
    "a report": lambda desk, table: ("report", table, "-o", desk["page.html"]),
    "a journal": lambda desk, table: ("ledger", "show", table),
    "a recipe": lambda desk, table: ("recipes", table),
    "a command": lambda desk, table: (table,),
    "one argument too many": lambda desk, table: ("show", desk["tree.json"], table),
    "an option": lambda desk, table: (f"--{table}",),
    "a schema": lambda desk, table: ("schema", "check", desk["clinic.csv"], f"--schema={table}"),
    "the output": lambda desk, table: ("fit", desk["clinic.csv"], *facts(desk), "-e", 1, "-o", table),
    "the predictions": lambda desk, table: ("predict", desk["tree.json"], desk["clinic.csv"], "-o", table),
    "an export": lambda desk, table: ("export", desk["tree.json"], "--to", "sql", "-o", table),
    "the journal": lambda desk, table: (
        *("fit", desk["clinic.csv"], *facts(desk), "-e", 1, "-o", desk["out.json"], "--journal", table),
    ),
}


def facts(desk: Desk) -> tuple[str, str]:
    return ("--schema", desk["clinic.schema.json"])


def no_canary(desk: Desk, result: Any) -> None:
    assert result.exit_code in (1, 2), (result.output, result.exception)
    seen = io.StringIO()
    traceback.print_exception(result.exception, file=seen)  # what a traceback would have shown
    for text in (result.stdout, result.stderr, seen.getvalue()):
        assert CANARY not in text.replace("\n", "").replace("│", "").replace(" ", "")  # panels wrap their lines
    for path in desk.folder.rglob("*"):
        assert CANARY not in str(path.relative_to(desk.folder))
        assert not path.is_file() or CANARY.encode() not in path.read_bytes()


@pytest.fixture
def inside(shared_desk: Desk, monkeypatch: pytest.MonkeyPatch) -> Desk:
    """A desk that is the working folder too, where a command would write by mistake."""
    monkeypatch.chdir(shared_desk.folder)
    return shared_desk


@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_shows_or_keeps_a_password(inside: Desk, command: str) -> None:
    before = sorted(inside.folder.iterdir())
    chosen = ADDRESSES if command in ("fit", "predict") else ADDRESSES[::3]  # one function reads them all
    for number, address in enumerate(chosen):
        no_canary(inside, inside.run(*COMMANDS[command](inside, address), *(["--json"] if number % 2 else [])))
    assert sorted(inside.folder.iterdir()) == before  # refused, they leave nothing behind


@pytest.mark.parametrize("place", ELSEWHERE)
def test_an_address_in_the_place_of_something_else_is_not_shown(inside: Desk, place: str) -> None:
    for address in ADDRESSES[::3]:
        no_canary(inside, inside.run(*ELSEWHERE[place](inside, address)))


def test_the_library_does_not_show_it_either(inside: Desk) -> None:
    schema = privet.Schema.from_json(inside["clinic.schema.json"])
    model = privet.load_model(inside["tree.json"])
    for address in ADDRESSES:
        for read in (
            lambda address=address: privet.protect(address, schema, Ledger(1)),
            lambda address=address: privet.papers.DiffPC45Classifier(schema, epsilon=1).fit(address),
            lambda address=address: model.predict(address),
            lambda address=address: model.predict(Path(address)),
        ):
            with pytest.raises(PrivetError) as raised:
                read()
            assert CANARY not in "".join(traceback.format_exception(raised.value))


def test_the_safe_form_says_which_table_is_meant() -> None:
    assert safe(ADDRESSES[0]) == "postgresql://...?table=t"
    assert safe(f"duckdb:///{CANARY}.db?table=ward.the+visits") == "duckdb://...?table=ward.the visits"
    assert all(is_address(address) and CANARY not in safe(address) for address in ADDRESSES)
    for path in ("visits.csv", "data/visits 2024.csv", "../a.parquet", "C:/a.csv", "ward=north/a.parquet", "a@b.csv"):
        assert not is_address(path)


def test_a_misspelt_scheme_names_the_right_one(inside: Desk) -> None:
    told = inside.run(*COMMANDS["fit"](inside, f"postgre://me:{CANARY}@host/db?table=t")).stderr
    assert "postgre://...?table=t is misspelt: did you mean postgresql://...?" in told


@pytest.mark.parametrize("name", ["a:b@c.csv", "duckdb: old.csv", "what?x=1.csv"])
def test_a_file_that_is_there_is_a_file_whatever_its_name(desk: Desk, name: str, monkeypatch: Any) -> None:
    monkeypatch.chdir(desk.folder)
    (desk.folder / name).write_bytes((desk.folder / "clinic.csv").read_bytes())
    desk.ok("schema", "check", name, *facts(desk))
