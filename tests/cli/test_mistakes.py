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


def _truncated_gzip(desk: Any) -> list[object]:
    whole = Path(desk["clinic.csv.gz"]).read_bytes()
    return fit(desk, table=desk.write("cut.csv.gz", whole[: len(whole) // 2]))


def _bars(desk: Any) -> list[object]:
    text = Path(desk["clinic.csv"]).read_text().replace(",", "|")
    return fit(desk, table=desk.write("bars.csv", text))


def _semicolons_and_other_capitals(desk: Any) -> list[object]:
    head, rows = Path(desk["clinic.csv"]).read_text().replace(",", ";").split("\n", 1)
    return fit(desk, table=desk.write("semicolons.csv", f"{head.upper()}\n{rows}"))


def _names_in_capitals(desk: Any) -> list[object]:
    header, _, rest = Path(desk["clinic.csv"]).read_text().partition("\n")
    return fit(desk, table=desk.write("capitals.csv", f"{header.upper()}\n{rest}"))


def _no_header(desk: Any) -> list[object]:
    _, _, rest = Path(desk["clinic.csv"]).read_text().partition("\n")
    return fit(desk, table=desk.write("headless.csv", rest))


def _a_key_of_another_tool(desk: Any) -> list[object]:
    size = {"name": "temperature", "type": "continuous", "low": 30, "max": 50}
    return fit(desk, schema=changed_schema(desk, attributes=[size]))


def _bounds_the_wrong_way_round(desk: Any) -> list[object]:
    size = {"name": "temperature", "type": "continuous", "min": 42, "max": 35}
    return fit(desk, schema=changed_schema(desk, attributes=[size]))


def _a_draft_for_a_schema(desk: Any) -> list[object]:
    size = {"name": "temperature", "type": "continuous", "min": None, "max": None, "basis": "unconfirmed"}
    return fit(desk, schema=changed_schema(desk, attributes=[size]))


def _a_draft_of_a_table_without_a_header(desk: Any) -> list[object]:
    text = f"31,{SECRET},no\n" * 20
    return ["schema", "draft", desk.write("bare.csv", text), "-o", desk["draft.json"]]


def _a_sample_over_a_file(desk: Any) -> list[object]:
    desk.write("patients.csv", "mine")
    return ["sample", "-o", str(desk.folder)]


def _schema_of_another_table(desk: Any) -> list[object]:
    size = {"name": "shoe_size", "type": "continuous", "min": 30, "max": 50}
    return ["schema", "check", desk["clinic.csv"], "--schema", changed_schema(desk, attributes=[size])]


def _unknown_setting_of_a_publisher(desk: Any) -> list[object]:
    return ["publish", desk["clinic.csv"], "--schema", desk["clinic.schema.json"], "-m", "diffgen", "-e", 1,
            "-o", desk["out.csv"], "--set", "colour=red"]  # fmt: skip


def _one_column_of_another_name(desk: Any) -> list[object]:
    size = {"name": "temprature", "type": "continuous", "min": 30, "max": 50}
    facts = json.loads(Path(desk["clinic.schema.json"]).read_text())["attributes"]
    return fit(desk, schema=changed_schema(desk, attributes=[*(a for a in facts if a["name"] != "temperature"), size]))


def _a_tree_that_is_too_large(desk: Any) -> list[object]:
    columns = ("blood_pressure", "weight", "temperature", "cough")
    wide = [{"name": name, "type": "categorical", "values": list(range(200))} for name in columns]
    schema = changed_schema(desk, attributes=wide)
    return fit(desk, "--max-depth", 4, "--set", "tests=multiway", recipe="exact", schema=schema)


def _budget_nearly_spent(desk: Any) -> list[object]:
    Ledger(1, journal=desk["nearly.journal"]).charge(0.75, "an earlier question")
    return fit(desk, journal=desk["nearly.journal"])


def _budget_spent(desk: Any) -> list[object]:
    Ledger(1, journal=desk["spent.journal"]).charge(1, "an earlier question")
    return fit(desk, journal=desk["spent.journal"])


def _another_budget_for_a_journal(desk: Any) -> list[object]:
    Ledger(3, journal=desk["three.journal"])
    return fit(desk, journal=desk["three.journal"], budget=5)


def _other_neighbours_than_the_journal(desk: Any) -> list[object]:
    Ledger(3, neighbours="replace-one", journal=desk["replace.journal"])
    return fit(desk, journal=desk["replace.journal"], neighbours="add-remove")


# A name for each wrong command line: how it is typed at a desk, the kind of error, a part of what is said.
MISTAKES: dict[str, tuple[Make, str, str]] = {
    # tables
    "missing table": (lambda d: fit(d, table=d["nowhere.csv"]), "TableError", "there is no table"),
    "a directory for a table": (lambda d: fit(d, table=str(d.folder)), "TableError", "holds a file that does"),
    "empty table": (lambda d: fit(d, table=d.write("empty.csv", "")), "TableError", "is empty"),
    "unknown kind of table": (lambda d: fit(d, table=d.write("clinic.xlsx", "PK")), "TableError", "must end in .csv"),
    "table without columns": (
        lambda d: fit(d, table=d.write("narrow.csv", "blood_pressure,weight\nLow,Normal\n")),
        "TableError",
        "'temperature'",
    ),
    "a column twice": (
        lambda d: fit(d, table=d.write("twice.csv", "weight,weight\nNormal,Normal\n")),
        "TableError",
        "two columns called 'weight'",
    ),
    "table in another encoding": (
        lambda d: fit(d, table=d.write("latin.csv", "blood_pressure,größe\n".encode("latin-1"))),
        "TableError",
        "is not UTF-8",
    ),
    "truncated gzip": (_truncated_gzip, "TableError", "not a whole gzip file"),
    "no gzip at all": (
        lambda d: fit(d, table=d.write("fake.csv.gz", "a,b\n1,2\n")),
        "TableError",
        "not a whole gzip file",
    ),
    "unreadable parquet": (
        lambda d: fit(d, table=d.write("fake.parquet", "PAR1 and no more")),
        "TableError",
        "not a Parquet table",
    ),
    "predict without a column": (
        lambda d: ["predict", d["tree.json"], d.write("few.csv", "blood_pressure,weight,cough\nLow,Normal,True\n")],
        "TableError",
        "lacks the column 'temperature'",
    ),
    "bars": (_bars, "TableError", "its first line has bars"),
    "semicolons and other capitals": (_semicolons_and_other_capitals, "TableError", "its names differ from the"),
    "a header in latin 1": (
        lambda d: fit(d, table=d.write("latin.csv", f"größe;weight\n{SECRET};1\n".encode("latin-1"))),
        "TableError",
        "'CSV UTF-8'",
    ),
    "a tab file of other columns": (
        lambda d: fit(d, table=d.write("clinic.tsv", f"a\tb\n{SECRET}\t1\n")),
        "TableError",
        "lacks the columns",
    ),
    "a text file": (
        lambda d: fit(d, table=d.write("clinic.txt", f"a\tb\n{SECRET}\t1\n")),
        "TableError",
        "call it .csv",
    ),
    "an excel file": (
        lambda d: fit(d, table=d.write("clinic.xls", b"\xd0\xcf\x11\xe0")),
        "TableError",
        "it is a spreadsheet",
    ),
    "an excel file called csv": (
        lambda d: fit(d, table=d.write("renamed.csv", b"PK\x03\x04" + SECRET.encode() + b"\n")),
        "TableError",
        "an Excel file under another name",
    ),
    "gzip called csv": (
        lambda d: fit(d, table=d.write("zipped.csv", Path(d["clinic.csv.gz"]).read_bytes())),
        "TableError",
        "it is compressed by gzip",
    ),
    "csv called gzip": (
        lambda d: fit(d, table=d.write("plain.csv.gz", Path(d["clinic.csv"]).read_bytes())),
        "TableError",
        "it is not compressed: call it .csv",
    ),
    "utf 16": (
        lambda d: fit(d, table=d.write("wide.csv", Path(d["clinic.csv"]).read_text().encode("utf-16"))),
        "TableError",
        "it is UTF-16",
    ),
    "names in capitals": (_names_in_capitals, "TableError", "in capital letters"),
    "no header": (_no_header, "TableError", "lacks the columns"),
    # schemas
    "a misspelt key": (
        lambda d: fit(d, schema=changed_schema(d, atributes=[])),
        "SchemaError",
        "did you mean 'attributes'?",
    ),
    "a key of another tool": (_a_key_of_another_tool, "SchemaError", "has no key 'low'; did you mean 'min'?"),
    "a type of another tool": (
        lambda d: fit(d, schema=changed_schema(d, attributes=[{"name": "x", "type": "numeric", "min": 0, "max": 1}])),
        "SchemaError",
        "did you mean 'continuous'?",
    ),
    "bounds the wrong way round": (_bounds_the_wrong_way_round, "SchemaError", "min 42 must be below max 35"),
    "a draft for a schema": (_a_draft_for_a_schema, "SchemaError", "the schema is a draft"),
    "a model for a schema": (
        lambda d: fit(d, schema=d["tree.json"]),
        "SchemaError",
        "this is a model file, not a schema",
    ),
    "a page for a model": (lambda d: fit(d, output=d["tree.html"]), "ParameterError", "--output"),
    "a pdf for a page": (lambda d: ["report", d["tree.json"], "-o", d["page.pdf"]], "ParameterError", "--output"),
    "parquet for predictions": (
        lambda d: ["predict", d["tree.json"], d["clinic.csv"], "-o", d["out.parquet"]],
        "ParameterError",
        "--output",
    ),
    "a pickle for a model": (lambda d: fit(d, output=d["tree.pkl"]), "ParameterError", "--output"),
    "a label in other letters": (
        lambda d: ["schema", "draft", d["clinic.csv"], "--label", "Class", "-o", d["drafted.json"]],
        "TableError",
        "did you mean 'class'?",
    ),
    "a misspelt recipe": (lambda d: ["audit", "exakt"], "RecipeError", "did you mean 'exact'?"),
    "a table for a page": (
        lambda d: ["report", d["clinic.csv"], "-o", d["page.html"]],
        "ModelFileError",
        "not a privet model",
    ),
    "a journal for a page": (
        lambda d: ["report", journal(d), "-o", d["page.html"]],
        "ModelFileError",
        "it is a journal",
    ),
    "a journal to show": (lambda d: ["show", journal(d)], "ModelFileError", "it is a journal"),
    "a journal to compare": (lambda d: ["compare", d["tree.json"], journal(d)], "ModelFileError", "it is a journal"),
    "a journal to predict": (lambda d: ["predict", journal(d), d["clinic.csv"]], "ModelFileError", "it is a journal"),
    "a schema to score": (
        lambda d: ["score", d["clinic.schema.json"], d["clinic.csv"], "-e", 1],
        "ModelFileError",
        "it is a schema",
    ),
    "arguments the wrong way round": (
        lambda d: ["predict", d["clinic.csv"], d["tree.json"]],
        "ModelFileError",
        "it is a table",
    ),
    "a model for a table": (lambda d: fit(d, table=d["tree.json"]), "TableError", "it is a model; give the records"),
    "a schema for a table": (
        lambda d: ["predict", d["tree.json"], d["clinic.schema.json"]],
        "TableError",
        "it is a schema",
    ),
    "a journal for a schema": (lambda d: fit(d, schema=journal(d)), "SchemaError", "is no schema: it is a journal"),
    "the table for its schema": (lambda d: fit(d, schema=d["clinic.csv"]), "SchemaError", "`privet schema draft`"),
    "schema that is no yaml": (
        lambda d: fit(d, schema=d.write("bad.yaml", "name: [clinic")),
        "SchemaError",
        "not valid YAML in line 1",
    ),
    "a key twice": (
        lambda d: fit(d, schema=d.write("twice.yaml", "class: a\nclass: b\n")),
        "SchemaError",
        "the key 'class' twice",
    ),
    "a table for a schema": (
        lambda d: fit(d, schema=d.write("list.json", "[1, 2]")),
        "SchemaError",
        "must be an object",
    ),
    "a draft for a class that is not there": (
        lambda d: ["schema", "draft", d["clinic.csv"], "--label", "illness", "-o", d["draft.json"]],
        "TableError",
        "'illness'",
    ),
    "a draft of a table without a header": (_a_draft_of_a_table_without_a_header, "TableError", "looks like a record"),
    "a draft over a schema": (
        lambda d: ["schema", "draft", d["clinic.csv"], "-o", d["clinic.schema.json"]],
        "ParameterError",
        "it is there already",
    ),
    "a sample over a file": (_a_sample_over_a_file, "ParameterError", "it is there already"),
    "missing schema": (lambda d: fit(d, schema=d["nowhere.json"]), "SchemaError", "cannot read the schema file"),
    "schema that is no json": (
        lambda d: fit(d, schema=d.write("bad.schema.json", "{'name': clinic}")),
        "SchemaError",
        "not valid JSON",
    ),
    "schema without a label": (
        lambda d: fit(d, schema=changed_schema(d, **{"class": None})),
        "SchemaError",
        "lacks the key 'class'",
    ),
    "schema with no labels listed": (
        lambda d: fit(d, schema=changed_schema(d, labels=[])),
        "SchemaError",
        "the list of values is empty",
    ),
    "schema of another table": (_schema_of_another_table, "TableError", "lacks the column 'shoe_size'"),
    # parameters
    "epsilon zero": (lambda d: fit(d, epsilon=0), "EpsilonError", "--epsilon must be greater than 0"),
    "epsilon negative": (
        lambda d: [*fit(d, epsilon=None), "--epsilon=-1"],
        "EpsilonError",
        "--epsilon must be greater than 0",
    ),
    "epsilon in words": (lambda d: fit(d, epsilon="much"), "UsageError", "'much' is not a number"),
    "epsilon with a comma": (lambda d: fit(d, epsilon="1,5"), "UsageError", "'1,5'"),
    "epsilon in percent": (lambda d: fit(d, epsilon="10%"), "UsageError", "'10%'"),
    "epsilon nan": (lambda d: fit(d, epsilon="nan"), "UsageError", "'nan' is not a number"),
    "unknown recipe": (lambda d: fit(d, recipe="oak"), "RecipeError", "unknown recipe 'oak'"),
    "unknown variant": (lambda d: fit(d, variant="as-painted"), "RecipeError", "'as-painted'"),
    "unknown neighbours": (lambda d: fit(d, neighbours="next-door"), "ParameterError", "--neighbours must be"),
    "negative depth": (lambda d: fit(d, "--max-depth=-1"), "ParameterError", "--max-depth must be a whole number"),
    "unknown setting": (lambda d: fit(d, "--set", "leaf_colour=green"), "RecipeError", "'diffpc45'"),
    "misspelt setting": (lambda d: fit(d, "--set", "prun=true"), "RecipeError", "did you mean --set prune? It takes"),
    "misspelt setting that has an option": (
        lambda d: fit(d, "--set", "max_dept=3"),
        "RecipeError",
        "did you mean --max-depth? It takes",
    ),
    "setting of scikit learn": (
        lambda d: fit(d, "--set", "max_leaf_nodes=3", recipe="random-forest"),
        "RecipeError",
        "--set",
    ),
    "unknown setting of a publisher": (_unknown_setting_of_a_publisher, "RecipeError", "'colour'"),
    "misspelt unit": (
        lambda d: fit(d, "--unit", "surnam", "--max-rows", 2),
        "ParameterError",
        "did you mean 'surname'?",
    ),
    "unit of another table": (lambda d: fit(d, "--unit", "person", "--max-rows", 2), "ParameterError", "--unit"),
    "one column of another name": (_one_column_of_another_name, "TableError", "did you mean 'temperature'?"),
    "setting without a value": (lambda d: fit(d, "--set", "max_bins"), "UsageError", "name=value"),
    "setting that has an option": (lambda d: fit(d, "--set", "epsilon=100"), "UsageError", "--epsilon"),
    "setting of the wrong kind": (
        lambda d: fit(d, "--set", "max_bins=many"),
        "ParameterError",
        "--set max_bins must be a whole number",
    ),
    "share in words": (lambda d: fit(d, "--set", "size_share=abc"), "ParameterError", "--set"),
    "flag in words": (lambda d: fit(d, "--set", "prune=maybe"), "ParameterError", "--set prune must be True or False"),
    "list for a word": (lambda d: fit(d, "--set", 'criterion=["gini"]'), "ScoreError", "unknown criterion ['gini']"),
    "infogain without a bound": (
        lambda d: fit(d, "--set", "criterion=infogain"),
        "ParameterError",
        "--set max_records",
    ),
    "gain ratio": (
        lambda d: fit(d, "--set", "criterion=gainratio"),
        "ScoreError",
        "--set criterion=gainratio is refused",
    ),
    "one fold": (lambda d: evaluate(d, "--folds", 1), "ParameterError", "--folds must be a whole number from 2"),
    "no repeats": (lambda d: evaluate(d, "--repeats", 0), "ParameterError", "--repeats must be a whole number from 1"),
    "more folds than records": (lambda d: evaluate(d, "--folds", 1000), "TableError", "1000 folds need"),
    "a recipe that is never private": (
        lambda d: fit(d, recipe="rana2016"),
        "RecipeError",
        "set --variant as-published",
    ),
    "a search that was not published": (
        lambda d: fit(d, "--variant", "as-published", "--set", "search=exact", recipe="embedded"),
        "ParameterError",
        "use --set search=exhaustive",
    ),
    "a word for weights": (
        lambda d: fit(d, "--set", "class_weight=heavy", recipe="exact"),
        "ParameterError",
        "--set class_weight=heavy is refused",
    ),
    "a tree that is too large": (_a_tree_that_is_too_large, "ParameterError", "--max-depth"),
    "too few to expect": (lambda d: fit(d, expect=3), "ParameterError", "--expect 3 is too few"),
    "public records for another recipe": (
        lambda d: fit(d, public=d["clinic.csv"]),
        "RecipeError",
        "--public is for jagannathan2013",
    ),
    # models and outputs
    "output in a missing directory": (
        lambda d: fit(d, output=d["nowhere/tree.json"]),
        "ParameterError",
        "there is no directory",
    ),
    "output onto a directory": (lambda d: fit(d, output=str(d.folder)), "ParameterError", "it is a directory"),
    "predictions into a missing directory": (
        lambda d: ["predict", d["tree.json"], d["clinic.csv"], "-o", d["nowhere/out.csv"]],
        "ParameterError",
        "there is no directory",
    ),
    "missing model": (lambda d: ["show", d["nowhere.json"]], "ModelFileError", "cannot read the model file"),
    "model that is no json": (lambda d: ["show", d["clinic.csv"]], "ModelFileError", "not a privet model"),
    "json that is no model": (
        lambda d: ["predict", d["clinic.schema.json"], d["clinic.csv"]],
        "ModelFileError",
        "not a privet model",
    ),
    "truncated model": (
        lambda d: ["show", changed_model(d, lambda text: text[: len(text) // 2])],
        "ModelFileError",
        "truncated or damaged",
    ),
    "edited model": (
        lambda d: ["show", changed_model(d, lambda text: text.replace('"diffpc45"', '"diffpid3"'))],
        "ModelFileError",
        "damaged or edited",
    ),
    "model from the future": (
        lambda d: ["show", changed_model(d, lambda text: text.replace('"version": 1', '"version": 9'))],
        "ModelFileError",
        "written by a newer privet",
    ),
    "a tree that is not there": (lambda d: ["show", d["forest.json"], "--tree", 7], "ParameterError", "--tree"),
    "model over the table": (
        lambda d: fit(d, "--force", output=d["clinic.csv"]),
        "ParameterError",
        "it is an input of this command",
    ),
    "all about an unknown recipe": (lambda d: ["recipes", "oak"], "RecipeError", "unknown recipe 'oak'"),
    "unknown format": (
        lambda d: ["show", d["tree.json"], "--format", "watercolour"],
        "UsageError",
        "Invalid value for '--format'",
    ),
    # budgets
    "budget nearly spent": (_budget_nearly_spent, "BudgetExceeded", "To go on, ask with --epsilon 0.25 or less"),
    "budget spent": (_budget_spent, "BudgetExceeded", "nothing was charged or released"),
    "foreign journal": (
        lambda d: fit(d, journal=d.write("diary.txt", "Dear diary, today I spent nothing.\n")),
        "JournalError",
        "is not a privet journal",
    ),
    "journal in a missing directory": (
        lambda d: fit(d, journal=d["nowhere/journal"]),
        "JournalError",
        "cannot open the journal",
    ),
    "another budget for a journal": (_another_budget_for_a_journal, "JournalError", "never changes"),
    "other neighbours than the journal": (
        _other_neighbours_than_the_journal,
        "JournalError",
        "counts in replace-one neighbours",
    ),
    "a budget without a journal": (lambda d: fit(d, budget=5), "ParameterError", "give --journal"),
    # usage
    "unknown command": (lambda d: ["prune-hedge"], "UsageError", "No such command"),
    "no epsilon": (lambda d: fit(d, epsilon=None), "UsageError", "Missing option '--epsilon'"),
    "a fit without a schema": (
        lambda d: ["fit", d["clinic.csv"], "-e", 1, "-o", d["out.json"]],
        "UsageError",
        "`privet schema draft TABLE -o FILE`",
    ),
    "no schema": (lambda d: ["schema", "check", d["clinic.csv"]], "UsageError", "Missing option '--schema'"),
}


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
    make, kind, part = MISTAKES[name]
    arguments = make(shared_desk)
    before = {path.name: path.read_bytes() for path in shared_desk.folder.iterdir() if path.is_file()}
    result = shared_desk.run(*arguments, "--json")
    assert result.exit_code == (2 if kind == "UsageError" else 1), result.output
    assert isinstance(result.exception, SystemExit)  # nothing else came through
    assert "Traceback" not in result.output
    assert SECRET not in result.output
    assert not PYTHON.search(result.stderr), result.stderr
    if kind != "UsageError":
        lines = [line for line in result.stderr.splitlines() if not line.startswith("  ")]  # but for lists of names
        assert lines[-1].startswith("privet: ")  # one line, last
    error = json.loads(result.stdout)["error"]
    assert (error["kind"], error["exit_code"]) == (kind, result.exit_code)
    assert part in unwrapped(error["message"])
    assert part in unwrapped(result.stderr)
    assert not PYTHON.search(error.get("fix", ""))
    after = {path.name: path.read_bytes() for path in shared_desk.folder.iterdir() if path.is_file()}
    assert after == before  # no model appeared and no journal was charged


@pytest.mark.parametrize("name", [*MISTAKES][::8])
def test_without_json_nothing_is_on_stdout(shared_desk: Any, name: str) -> None:
    arguments = MISTAKES[name][0](shared_desk)
    plain, as_json = shared_desk.run(*arguments), shared_desk.run(*arguments, "--json")
    assert (plain.exit_code, plain.stdout, plain.stderr) == (as_json.exit_code, "", as_json.stderr)


def test_there_are_enough_of_them() -> None:
    assert len(MISTAKES) >= 100
    assert len({kind for _, kind, _ in MISTAKES.values()}) >= 9


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
