"""Wrong invocations: one readable message in the command's own words, a failing exit, no traceback, no cell of the
table, and nothing charged or written.
"""

from __future__ import annotations

import csv
import gzip
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cli_desk import Desk

from privet.privacy.ledger import Ledger

SECRET = "Smythe-1980"  # a cell in every row of the table
# What only Python understands: name='value', name=3, name=True. After --set it is the command's own.
PYTHON = re.compile(r"(?<!--set )\b[a-z_]+=(?:['\"\[\d]|True|False|None)|\bprivet\.[A-Z]|\bLedger\(")
Make = Callable[[Any], list[object]]


def mistake(message: str) -> Callable[[Make], Make]:
    """A wrong command line, built on a desk, and a part of what must be said about it."""

    def remember(make: Make) -> Make:
        MISTAKES[make.__name__.removeprefix("_").replace("_", " ")] = (message, make)
        return make

    return remember


def fit(
    desk: Any, *more: object, table: str | None = None, schema: str | None = None, **options: object
) -> list[object]:
    """A right ``fit``, but for what is said; ``output=None`` leaves the option out."""
    known: dict[str, object] = {"recipe": "diffpc45", "epsilon": 1, "output": desk["out.json"]} | options
    named = [part for name, value in known.items() if value is not None for part in (f"--{name}", value)]
    return ["fit", table or desk["clinic.csv"], "--schema", schema or desk["clinic.schema.json"], *named, *more]


def evaluate(desk: Any, *more: object) -> list[object]:
    return ["evaluate", desk["clinic.csv"], "--schema", desk["clinic.schema.json"], "--recipe", "sulq",
            "--epsilon", 1, "--no-references", *more]  # fmt: skip


def changed_schema(desk: Any, **changes: Any) -> str:
    facts = json.loads(Path(desk["clinic.schema.json"]).read_text())
    return desk.write("changed.schema.json", json.dumps({k: v for k, v in (facts | changes).items() if v is not None}))


def journal(desk: Any) -> str:
    Ledger(1, journal=desk["some.journal"])
    return str(desk["some.journal"])


def changed_model(desk: Any, change: Callable[[str], str]) -> str:
    return desk.write("changed.json", change(Path(desk["tree.json"]).read_text()))


MODEL = "give the model file that `privet fit -o` wrote"
MISTAKES: dict[str, tuple[str, Make]] = {
    # ---- tables
    "missing table": ("there is no table", lambda desk: fit(desk, table=desk["nowhere.csv"])),
    "a directory for a table": (
        "holds a file that does not end in .parquet or .pq",
        lambda desk: fit(desk, table=str(desk.folder)),
    ),
    "empty table": ("is empty", lambda desk: fit(desk, table=desk.write("empty.csv", ""))),
    "unknown kind of table": ("must end in .csv", lambda desk: fit(desk, table=desk.write("clinic.xlsx", "PK"))),
    "table without columns": (
        "lacks the columns 'temperature', 'cough', 'class'",
        lambda desk: fit(desk, table=desk.write("narrow.csv", "blood_pressure,weight\nLow,Normal\n")),
    ),
    "a column twice": (
        "two columns called 'weight'",
        lambda desk: fit(desk, table=desk.write("twice.csv", "weight,weight\nNormal,Normal\n")),
    ),
    "table in another encoding": (
        "is not UTF-8",
        lambda desk: fit(desk, table=desk.write("latin.csv", "blood_pressure,größe\n".encode("latin-1"))),
    ),
    "no gzip at all": ("not a whole gzip file", lambda desk: fit(desk, table=desk.write("fake.csv.gz", "a,b\n1,2\n"))),
    "unreadable parquet": (
        "not a Parquet table",
        lambda desk: fit(desk, table=desk.write("fake.parquet", "PAR1 and no more")),
    ),
    "predict without a column": (
        "lacks the column 'temperature'",
        lambda desk: [
            "predict",
            desk["tree.json"],
            desk.write("few.csv", "blood_pressure,weight,cough\nLow,Normal,True\n"),
        ],
    ),
    "a header in latin 1": (
        "is not UTF-8 text, which spreadsheets call 'CSV UTF-8'",
        lambda desk: fit(desk, table=desk.write("latin.csv", f"größe;weight\n{SECRET};1\n".encode("latin-1"))),
    ),
    "a tab file of other columns": (
        "lacks the columns",
        lambda desk: fit(desk, table=desk.write("clinic.tsv", f"a\tb\n{SECRET}\t1\n")),
    ),
    "a text file": ("call it .csv", lambda desk: fit(desk, table=desk.write("clinic.txt", f"a\tb\n{SECRET}\t1\n"))),
    "an excel file": (
        "it is a spreadsheet: open it and save it as CSV UTF-8",
        lambda desk: fit(desk, table=desk.write("clinic.xls", b"\xd0\xcf\x11\xe0")),
    ),
    "an excel file called csv": (
        "an Excel file under another name",
        lambda desk: fit(desk, table=desk.write("renamed.csv", b"PK\x03\x04" + SECRET.encode() + b"\n")),
    ),
    "gzip called csv": (
        "it is compressed by gzip: call it .csv.gz",
        lambda desk: fit(desk, table=desk.write("zipped.csv", Path(desk["clinic.csv.gz"]).read_bytes())),
    ),
    "csv called gzip": (
        "it is not compressed: call it .csv",
        lambda desk: fit(desk, table=desk.write("plain.csv.gz", Path(desk["clinic.csv"]).read_bytes())),
    ),
    "utf 16": (
        "it is UTF-16",
        lambda desk: fit(desk, table=desk.write("wide.csv", Path(desk["clinic.csv"]).read_text().encode("utf-16"))),
    ),
    # ---- schemas
    "a misspelt key": (
        "has no key 'atributes'; did you mean 'attributes'?",
        lambda desk: fit(desk, schema=changed_schema(desk, atributes=[])),
    ),
    "a type of another tool": (
        "did you mean 'continuous'?",
        lambda desk: fit(
            desk, schema=changed_schema(desk, attributes=[{"name": "x", "type": "numeric", "min": 0, "max": 1}])
        ),
    ),
    "a model for a schema": ("this is a model file, not a schema", lambda desk: fit(desk, schema=desk["tree.json"])),
    "a page for a model": (
        "--output is the model file, which is JSON: call it .json; `privet report` makes its page",
        lambda desk: fit(desk, output=desk["tree.html"]),
    ),
    "a pdf for a page": (
        "--output is a page, HTML, and cannot be a .pdf file; call it .html or .htm",
        lambda desk: ["report", desk["tree.json"], "-o", desk["page.pdf"]],
    ),
    "parquet for predictions": (
        "--output is predictions as CSV and cannot be a .parquet file; call it .csv",
        lambda desk: ["predict", desk["tree.json"], desk["clinic.csv"], "-o", desk["out.parquet"]],
    ),
    "a pickle for a model": (
        "--output is the model file, JSON, and cannot be a .pkl file; call it .json",
        lambda desk: fit(desk, output=desk["tree.pkl"]),
    ),
    "a label in other letters": (
        "has no column 'Class'; did you mean 'class'?",
        lambda desk: ["schema", "draft", desk["clinic.csv"], "--label", "Class", "-o", desk["drafted.json"]],
    ),
    "a misspelt recipe": ("unknown recipe 'exakt'; did you mean 'exact'?", lambda desk: ["audit", "exakt"]),
    "a table for a page": ("not a privet model", lambda desk: ["report", desk["clinic.csv"], "-o", desk["page.html"]]),
    "a journal for a page": (
        f"it is a journal, the record of a budget, which `privet ledger show` reads; {MODEL}",
        lambda desk: ["report", journal(desk), "-o", desk["page.html"]],
    ),
    "a journal to show": (
        f"it is a journal, the record of a budget, which `privet ledger show` reads; {MODEL}",
        lambda desk: ["show", journal(desk)],
    ),
    "a journal to compare": (
        f"it is a journal, the record of a budget, which `privet ledger show` reads; {MODEL}",
        lambda desk: ["compare", desk["tree.json"], journal(desk)],
    ),
    "a journal to predict": (
        f"it is a journal, the record of a budget, which `privet ledger show` reads; {MODEL}",
        lambda desk: ["predict", journal(desk), desk["clinic.csv"]],
    ),
    "a schema to score": (
        f"it is a schema, the public facts about a table; {MODEL}",
        lambda desk: ["score", desk["clinic.schema.json"], desk["clinic.csv"], "-e", 1],
    ),
    "arguments the wrong way round": (
        f"it is a table; {MODEL}",
        lambda desk: ["predict", desk["clinic.csv"], desk["tree.json"]],
    ),
    "a model for a table": ("it is a model; give the records", lambda desk: fit(desk, table=desk["tree.json"])),
    "a schema for a table": (
        "it is a schema, the public facts about a table; give the records",
        lambda desk: ["predict", desk["tree.json"], desk["clinic.schema.json"]],
    ),
    "a journal for a schema": ("is no schema: it is a journal", lambda desk: fit(desk, schema=journal(desk))),
    "the table for its schema": (
        "is no schema: it is a table; give the public facts about the table; `privet schema draft` begins such a file",
        lambda desk: fit(desk, schema=desk["clinic.csv"]),
    ),
    "schema that is no yaml": (
        "not valid YAML in line 1",
        lambda desk: fit(desk, schema=desk.write("bad.yaml", "name: [clinic")),
    ),
    "a key twice": (
        "the key 'class' twice",
        lambda desk: fit(desk, schema=desk.write("twice.yaml", "class: a\nclass: b\n")),
    ),
    "a table for a schema": ("must be an object", lambda desk: fit(desk, schema=desk.write("list.json", "[1, 2]"))),
    "a draft for a class that is not there": (
        "has no column 'illness'; the class must be one of",
        lambda desk: ["schema", "draft", desk["clinic.csv"], "--label", "illness", "-o", desk["draft.json"]],
    ),
    "a draft over a schema": (
        "it is there already",
        lambda desk: ["schema", "draft", desk["clinic.csv"], "-o", desk["clinic.schema.json"]],
    ),
    "missing schema": ("cannot read the schema file", lambda desk: fit(desk, schema=desk["nowhere.json"])),
    "schema that is no json": (
        "not valid JSON",
        lambda desk: fit(desk, schema=desk.write("bad.schema.json", "{'name': clinic}")),
    ),
    "schema without a label": (
        "lacks the key 'class'",
        lambda desk: fit(desk, schema=changed_schema(desk, **{"class": None})),
    ),
    "schema with no labels listed": (
        "the list of values is empty",
        lambda desk: fit(desk, schema=changed_schema(desk, labels=[])),
    ),
    # ---- parameters
    "epsilon zero": ("--epsilon must be greater than 0", lambda desk: fit(desk, epsilon=0)),
    "epsilon negative": ("--epsilon must be greater than 0", lambda desk: [*fit(desk, epsilon=None), "--epsilon=-1"]),
    "epsilon in words": ("'much' is not a number", lambda desk: fit(desk, epsilon="much")),
    "epsilon with a comma": (
        "'1,5' is not a number; write a decimal point: 1.5",
        lambda desk: fit(desk, epsilon="1,5"),
    ),
    "epsilon in percent": (
        "'10%' is not a number; write a plain number: 10/100",
        lambda desk: fit(desk, epsilon="10%"),
    ),
    "epsilon nan": ("'nan' is not a number", lambda desk: fit(desk, epsilon="nan")),
    "unknown recipe": ("unknown recipe 'oak'", lambda desk: fit(desk, recipe="oak")),
    "unknown variant": ("'as-painted'", lambda desk: fit(desk, variant="as-painted")),
    "unknown neighbours": ("--neighbours must be", lambda desk: fit(desk, neighbours="next-door")),
    "negative depth": ("--max-depth must be a whole number", lambda desk: fit(desk, "--max-depth=-1")),
    "unknown setting": (
        "recipe 'diffpc45' has no parameter 'leaf_colour'; it takes bins, criterion, grid, max_records, mechanism, ",
        lambda desk: fit(desk, "--set", "leaf_colour=green"),
    ),
    "misspelt setting": ("did you mean --set prune? It takes", lambda desk: fit(desk, "--set", "prun=true")),
    "misspelt setting that has an option": (
        "did you mean --max-depth? It takes",
        lambda desk: fit(desk, "--set", "max_dept=3"),
    ),
    "setting of scikit learn": (
        "recipe 'random-forest' has no parameter 'n_estimators'; use --set trees",
        lambda desk: fit(desk, "--set", "n_estimators=3", recipe="random-forest"),
    ),
    "unknown setting of a publisher": (
        "diffgen has no parameter 'colour'; it takes",
        lambda desk: [
            "publish",
            desk["clinic.csv"],
            "--schema",
            desk["clinic.schema.json"],
            "-m",
            "diffgen",
            "-e",
            1,
            "-o",
            desk["out.csv"],
            "--set",
            "colour=red",
        ],
    ),
    "misspelt unit": (
        "--unit 'surnam' is no column of the table; did you mean 'surname'?",
        lambda desk: fit(desk, "--unit", "surnam", "--max-rows", 2),
    ),
    "unit of another table": (
        "--unit 'person' is no column of the table; name the column that says who a row belongs to",
        lambda desk: fit(desk, "--unit", "person", "--max-rows", 2),
    ),
    "setting without a value": ("name=value", lambda desk: fit(desk, "--set", "bins")),
    "setting that has an option": ("--epsilon", lambda desk: fit(desk, "--set", "epsilon=100")),
    "setting of the wrong kind": ("--set bins must be a whole number", lambda desk: fit(desk, "--set", "bins=many")),
    "share in words": (
        "--set size_share must be a number from 0 to 1, not 'abc'",
        lambda desk: fit(desk, "--set", "size_share=abc"),
    ),
    "flag in words": ("--set prune must be True or False", lambda desk: fit(desk, "--set", "prune=maybe")),
    "list for a word": ("unknown criterion ['gini']", lambda desk: fit(desk, "--set", 'criterion=["gini"]')),
    "infogain without a bound": ("--set max_records", lambda desk: fit(desk, "--set", "criterion=infogain")),
    "gain ratio": ("--set criterion=gainratio is refused", lambda desk: fit(desk, "--set", "criterion=gainratio")),
    "one fold": ("--folds must be a whole number from 2", lambda desk: evaluate(desk, "--folds", 1)),
    "no repeats": ("--repeats must be a whole number from 1", lambda desk: evaluate(desk, "--repeats", 0)),
    "more folds than records": ("1000 folds need", lambda desk: evaluate(desk, "--folds", 1000)),
    "a recipe that is never private": ("set --variant as-published", lambda desk: fit(desk, recipe="rana2016")),
    "a search that was not published": (
        "use --set search=exhaustive",
        lambda desk: fit(desk, "--variant", "as-published", "--set", "search=exact", recipe="embedded"),
    ),
    "a word for weights": (
        "--set class_weights must be a dict",
        lambda desk: fit(desk, "--set", "class_weights=heavy", recipe="exact"),
    ),
    "too few to expect": ("--expect 3 is too few", lambda desk: fit(desk, expect=3)),
    "public records for another recipe": (
        "--public is for jagannathan2013",
        lambda desk: fit(desk, public=desk["clinic.csv"]),
    ),
    # ---- models and outputs
    "output in a missing directory": (
        "there is no directory",
        lambda desk: fit(desk, output=desk["nowhere/tree.json"]),
    ),
    "output onto a directory": ("it is a directory", lambda desk: fit(desk, output=str(desk.folder))),
    "predictions into a missing directory": (
        "there is no directory",
        lambda desk: ["predict", desk["tree.json"], desk["clinic.csv"], "-o", desk["nowhere/out.csv"]],
    ),
    "missing model": ("cannot read the model file", lambda desk: ["show", desk["nowhere.json"]]),
    "model that is no json": ("not a privet model", lambda desk: ["show", desk["clinic.csv"]]),
    "json that is no model": (
        "not a privet model",
        lambda desk: ["predict", desk["clinic.schema.json"], desk["clinic.csv"]],
    ),
    "truncated model": (
        "truncated or damaged",
        lambda desk: ["show", changed_model(desk, lambda text: text[: len(text) // 2])],
    ),
    "edited model": (
        "damaged or edited",
        lambda desk: ["show", changed_model(desk, lambda text: text.replace('"diffpc45"', '"diffpid3"'))],
    ),
    "model from the future": (
        "written by a newer privet",
        lambda desk: ["show", changed_model(desk, lambda text: text.replace('"version": 1', '"version": 9'))],
    ),
    "a tree that is not there": (
        "--tree must be all or a number from 1 to 2, not '7'",
        lambda desk: ["show", desk["forest.json"], "--tree", 7],
    ),
    "model over the table": (
        "it is an input of this command",
        lambda desk: fit(desk, "--force", output=desk["clinic.csv"]),
    ),
    "all about an unknown recipe": ("unknown recipe 'oak'", lambda desk: ["recipes", "oak"]),
    "unknown format": (
        "Invalid value for '--format'",
        lambda desk: ["show", desk["tree.json"], "--format", "watercolour"],
    ),
    # ---- budgets
    "foreign journal": (
        "is not a privet journal",
        lambda desk: fit(desk, journal=desk.write("diary.txt", "Dear diary, today I spent nothing.\n")),
    ),
    "journal in a missing directory": (
        "cannot open the journal",
        lambda desk: fit(desk, journal=desk["nowhere/journal"]),
    ),
    "a budget without a journal": ("give --journal", lambda desk: fit(desk, budget=5)),
    # ---- usage
    "unknown command": ("No such command", lambda desk: ["prune-hedge"]),
    "no epsilon": ("Missing option '--epsilon'", lambda desk: fit(desk, epsilon=None)),
    "a fit without a schema": (
        "`privet schema draft TABLE -o FILE` begins such a file",
        lambda desk: ["fit", desk["clinic.csv"], "-e", 1, "-o", desk["out.json"]],
    ),
    "no schema": ("Missing option '--schema'", lambda desk: ["schema", "check", desk["clinic.csv"]]),
}
"""Wrong command lines: part of what must be said about each, and how to build it on a desk."""


@mistake("not a whole gzip file")
def _truncated_gzip(desk: Any) -> list[object]:
    whole = Path(desk["clinic.csv.gz"]).read_bytes()
    return fit(desk, table=desk.write("cut.csv.gz", whole[: len(whole) // 2]))


@mistake("its first line has bars between the names: write commas, semicolons or tabs")
def _bars(desk: Any) -> list[object]:
    text = Path(desk["clinic.csv"]).read_text().replace(",", "|")
    return fit(desk, table=desk.write("bars.csv", text))


@mistake("its names differ from the schema's in capital letters")
def _semicolons_and_other_capitals(desk: Any) -> list[object]:
    head, rows = Path(desk["clinic.csv"]).read_text().replace(",", ";").split("\n", 1)
    return fit(desk, table=desk.write("semicolons.csv", f"{head.upper()}\n{rows}"))


@mistake("in capital letters")
def _names_in_capitals(desk: Any) -> list[object]:
    header, _, rest = Path(desk["clinic.csv"]).read_text().partition("\n")
    return fit(desk, table=desk.write("capitals.csv", f"{header.upper()}\n{rest}"))


@mistake("lacks the columns")
def _no_header(desk: Any) -> list[object]:
    _, _, rest = Path(desk["clinic.csv"]).read_text().partition("\n")
    return fit(desk, table=desk.write("headless.csv", rest))


@mistake("has no key 'low'; did you mean 'min'?")
def _a_key_of_another_tool(desk: Any) -> list[object]:
    size = {"name": "temperature", "type": "continuous", "low": 30, "max": 50}
    return fit(desk, schema=changed_schema(desk, attributes=[size]))


@mistake("min 42 must be below max 35")
def _bounds_the_wrong_way_round(desk: Any) -> list[object]:
    size = {"name": "temperature", "type": "continuous", "min": 42, "max": 35}
    return fit(desk, schema=changed_schema(desk, attributes=[size]))


@mistake("the schema is a draft: nobody has confirmed the facts about temperature")
def _a_draft_for_a_schema(desk: Any) -> list[object]:
    size = {"name": "temperature", "type": "continuous", "min": None, "max": None, "basis": "unconfirmed"}
    return fit(desk, schema=changed_schema(desk, attributes=[size]))


@mistake("looks like a record")
def _a_draft_of_a_table_without_a_header(desk: Any) -> list[object]:
    text = f"31,{SECRET},no\n" * 20
    return ["schema", "draft", desk.write("bare.csv", text), "-o", desk["draft.json"]]


@mistake("it is there already")
def _a_sample_over_a_file(desk: Any) -> list[object]:
    desk.write("patients.csv", "mine")
    return ["sample", "-o", str(desk.folder)]


@mistake("lacks the column 'shoe_size'")
def _schema_of_another_table(desk: Any) -> list[object]:
    size = {"name": "shoe_size", "type": "continuous", "min": 30, "max": 50}
    return ["schema", "check", desk["clinic.csv"], "--schema", changed_schema(desk, attributes=[size])]


@mistake("lacks the column 'temprature' that the schema declares; did you mean 'temperature'?")
def _one_column_of_another_name(desk: Any) -> list[object]:
    size = {"name": "temprature", "type": "continuous", "min": 30, "max": 50}
    facts = json.loads(Path(desk["clinic.schema.json"]).read_text())["attributes"]
    return fit(desk, schema=changed_schema(desk, attributes=[*(a for a in facts if a["name"] != "temperature"), size]))


@mistake("lower --max-depth or --set bins, or use --set tests=binary")
def _a_tree_that_is_too_large(desk: Any) -> list[object]:
    columns = ("blood_pressure", "weight", "temperature", "cough")
    wide = [{"name": name, "type": "categorical", "values": list(range(200))} for name in columns]
    schema = changed_schema(desk, attributes=wide)
    return fit(desk, "--max-depth", 4, "--set", "tests=multiway", recipe="exact", schema=schema)


@mistake("To go on, ask with --epsilon 0.25 or less")
def _budget_nearly_spent(desk: Any) -> list[object]:
    Ledger(1, journal=desk["nearly.journal"]).charge(0.75, "an earlier question")
    return fit(desk, journal=desk["nearly.journal"])


@mistake("nothing was charged or released")
def _budget_spent(desk: Any) -> list[object]:
    Ledger(1, journal=desk["spent.journal"]).charge(1, "an earlier question")
    return fit(desk, journal=desk["spent.journal"])


@mistake("never changes")
def _another_budget_for_a_journal(desk: Any) -> list[object]:
    Ledger(3, journal=desk["three.journal"])
    return fit(desk, journal=desk["three.journal"], budget=5)


@mistake("counts in replace-one neighbours")
def _other_neighbours_than_the_journal(desk: Any) -> list[object]:
    Ledger(3, neighbours="replace-one", journal=desk["replace.journal"])
    return fit(desk, journal=desk["replace.journal"], neighbours="add-remove")


USAGE = {"epsilon in words", "epsilon nan", "setting without a value", "setting that has an option",
         "unknown format", "unknown command", "no epsilon", "no schema",
         "epsilon with a comma", "epsilon in percent", "a fit without a schema"}  # fmt: skip


def unwrapped(text: str) -> str:
    """What a message says, without the frame that typer draws around it."""
    return " ".join("".join(" " if c in "│╭╮╰╯─" else c for c in text).split())


@pytest.fixture(scope="module")
def shared_desk(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    """A desk with models, whose table has a secret in every row: in a column of its own, and where words belong."""
    desk = Desk(tmp_path_factory.mktemp("mistakes"))
    assert desk.fit("-o", desk["tree.json"]).exit_code == 0
    assert desk.fit("-o", desk["forest.json"], "--set", "n_estimators=2", recipe="random-forest").exit_code == 0
    rows = [[*row[:1], SECRET if number < 20 else row[1], *row[2:], SECRET]
            for number, row in enumerate(zip(*desk.columns.values(), strict=True))]  # fmt: skip
    for name, opener in (("clinic.csv", open), ("clinic.csv.gz", gzip.open)):
        with opener(desk[name], "wt", encoding="utf-8", newline="") as file:  # type: ignore[operator]
            csv.writer(file).writerows([[*desk.columns, "surname"], *rows])
    return desk


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_one_readable_message(shared_desk: Any, name: str) -> None:
    message, make = MISTAKES[name]
    arguments = make(shared_desk)
    before = {path.name: path.read_bytes() for path in shared_desk.folder.iterdir() if path.is_file()}
    result = shared_desk.run(*arguments)
    assert result.exit_code == (2 if name in USAGE else 1), result.output
    assert isinstance(result.exception, SystemExit)  # nothing else came through
    assert message in unwrapped(result.stderr)
    assert "Traceback" not in result.output
    assert SECRET not in result.output
    assert not PYTHON.search(result.stderr), result.stderr
    assert result.stdout == ""
    if name not in USAGE:
        assert [line for line in result.stderr.splitlines() if line.startswith("privet: ")], result.stderr
        lines = [line for line in result.stderr.splitlines() if not line.startswith("  ")]  # but for lists of names
        assert lines[-1].startswith("privet: ")  # one line, last
    again = shared_desk.run(*arguments, "--json")
    assert (again.exit_code, again.stderr) == (result.exit_code, result.stderr)
    error = json.loads(again.stdout)["error"]
    assert error["exit_code"] == result.exit_code
    assert error["kind"] == "UsageError" if name in USAGE else error["kind"].endswith(("Error", "Exceeded"))
    assert message in unwrapped(error["message"])
    assert SECRET not in again.output
    assert not PYTHON.search(error.get("fix", ""))
    after = {path.name: path.read_bytes() for path in shared_desk.folder.iterdir() if path.is_file()}
    assert after == before  # no model appeared and no journal was charged


def test_there_are_enough_of_them() -> None:
    assert len(MISTAKES) >= 60
    assert set(MISTAKES) >= USAGE


def test_the_real_command_prints_no_traceback(shared_desk: Any) -> None:
    """A process of its own: exit code, stdout and stderr as a shell sees them."""
    command = [sys.executable, "-m", "privet.cli", *map(str, fit(shared_desk, epsilon=0))]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith("privet: --epsilon must be greater than 0")
    assert len(done.stderr.splitlines()) == 1


def test_a_fault_of_our_own_keeps_its_traceback(shared_desk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def break_down(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("privet.recipes.saved.read_model", break_down)
    assert isinstance(shared_desk.run("show", shared_desk["tree.json"]).exception, ZeroDivisionError)


def test_an_interrupt_says_that_charges_stay(desk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C in the middle of a fit: exit 130, a word on it, and the journal remembers what was charged."""
    from privet.privacy import mechanisms

    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(mechanisms, "choose", interrupt)
    result = desk.run(*fit(desk, journal=desk["budget.journal"]))
    assert result.exit_code == 130
    assert "what was charged stays charged" in result.stderr.lower()
    assert not os.path.exists(desk["out.json"])
    assert Ledger(journal=desk["budget.journal"]).spent > 0
