"""Wrong invocations: one readable message in the command's own words, a failing exit, no traceback, no cell of the
table, and nothing charged or written.
"""

from __future__ import annotations

import csv
import gzip
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from cli_desk import Desk

from privet.privacy.ledger import Ledger

SECRET = "Smythe-1980"  # a cell in every row of the table
# What only Python understands: name='value', name=3, name=True. After --set it is the command's own.
PYTHON = re.compile(r"(?<!--set )\b[a-z_]+=(?:['\"\[\d]|True|False|None)|\bprivet\.[A-Z]|\bLedger\(")
CLINIC = "clinic.csv --schema clinic.schema.json"
REST = "--schema clinic.schema.json --recipe diffpc45 --epsilon 1 --output out.json"
FIT = f"fit clinic.csv {REST}"  # right; a mistake adds an option, and the last one counts
EVALUATE = f"evaluate {CLINIC} --recipe sulq --epsilon 1 --no-references"

# Files that the mistakes name, beside a table with a secret in every row, its schema, a tree and a forest.
FILES: dict[str, str | bytes] = {
    "empty.csv": "",
    "clinic.xlsx": "PK",
    "narrow.csv": "blood_pressure,weight\nLow,Normal\n",
    "twice.csv": "weight,weight\nNormal,Normal\n",
    "few.csv": "blood_pressure,weight,cough\nLow,Normal,True\n",
    "latin.csv": "blood_pressure,größe\n".encode("latin-1"),
    "latin-semicolons.csv": f"größe;weight\n{SECRET};1\n".encode("latin-1"),
    "fake.csv.gz": "a,b\n1,2\n",
    "fake.parquet": "PAR1 and no more",
    "other.tsv": f"a\tb\n{SECRET}\t1\n",
    "clinic.txt": f"a\tb\n{SECRET}\t1\n",
    "clinic.xls": b"\xd0\xcf\x11\xe0",
    "renamed.csv": b"PK\x03\x04" + SECRET.encode() + b"\n",
    "bare.csv": f"31,{SECRET},no\n" * 20,
    "bad.yaml": "name: [clinic",
    "twice.yaml": "class: a\nclass: b\n",
    "list.json": "[1, 2]",
    "bad.json": "{'name': clinic}",
    "diary.txt": "Dear diary, today I spent nothing.\n",
    "mine/patients.csv": "mine",
}
TEMPERATURE = {"name": "temperature", "type": "continuous", "min": 30, "max": 50}
WIDE = [{"name": n, "type": "categorical", "values": [*range(200)]} for n in ("blood_pressure", "weight", "cough")]
SCHEMAS: dict[str, dict[str, Any]] = {
    "misspelt": {"atributes": []},
    "low": {"attributes": [{"name": "temperature", "type": "continuous", "low": 30, "max": 50}]},
    "numeric": {"attributes": [{"name": "x", "type": "numeric", "min": 0, "max": 1}]},
    "reversed": {"attributes": [TEMPERATURE | {"min": 42, "max": 35}]},
    "draft": {"attributes": [TEMPERATURE | {"min": None, "max": None, "basis": "unconfirmed"}]},
    "shoes": {"attributes": [TEMPERATURE | {"name": "shoe_size"}]},
    "temprature": {"attributes": [TEMPERATURE | {"name": "temprature"}]},
    "wide": {"attributes": [*WIDE, WIDE[0] | {"name": "temperature"}]},
    "no-class": {"class": None},
    "no-labels": {"labels": []},
}

# What is wrong, the kind of error, a part of its message, and the command line.
LINES = f"""
missing table | TableError | there is no table | fit nowhere.csv {REST}
a directory for a table | TableError | holds a file that does | fit . {REST}
empty table | TableError | is empty | fit empty.csv {REST}
unknown kind of table | TableError | must end in .csv | fit clinic.txt {REST}
table without columns | MissingColumnsError | 'temperature' | fit narrow.csv {REST}
a column twice | TableError | two columns called 'weight' | fit twice.csv {REST}
table in another encoding | TableError | is not UTF-8 | fit latin.csv {REST}
truncated gzip | TableError | not a whole gzip file | fit cut.csv.gz {REST}
no gzip at all | TableError | not a whole gzip file | fit fake.csv.gz {REST}
unreadable parquet | TableError | not a Parquet table | fit fake.parquet {REST}
predict without a column | MissingColumnsError | lacks the column 'temperature' | predict tree.json few.csv
bars | MissingColumnsError | its first line has bars | fit bars.csv {REST}
semicolons and other capitals | MissingColumnsError | its names differ from the | fit semicolons.csv {REST}
a header in latin 1 | TableError | 'CSV UTF-8' | fit latin-semicolons.csv {REST}
a tab file of other columns | MissingColumnsError | lacks the columns | fit other.tsv {REST}
a text file | TableError | call it .csv | fit clinic.txt {REST}
a damaged excel file | TableError | cannot be read as a spreadsheet | fit clinic.xls {REST}
an excel file called csv | MissingColumnsError | an Excel file under another name | fit renamed.csv {REST}
gzip called csv | TableError | it is compressed by gzip | fit zipped.csv {REST}
csv called gzip | TableError | it is not compressed: call it .csv | fit plain.csv.gz {REST}
utf 16 | TableError | it is UTF-16 | fit utf-16.csv {REST}
names in capitals | MissingColumnsError | in capital letters | fit capitals.csv {REST}
no header | MissingColumnsError | lacks the columns | fit headless.csv {REST}
a model for a table | TableError | it is a model; give the records | fit tree.json {REST}
a schema for a table | TableError | it is a schema | predict tree.json clinic.schema.json
a column of another name | MissingColumnsError | did you mean 'temperature'? | {FIT} --schema temprature.json
schema of another table | MissingColumnsError | lacks the column 'shoe | schema check clinic.csv --schema shoes.json

a misspelt key | SchemaError | did you mean 'attributes'? | {FIT} --schema misspelt.json
a key of another tool | SchemaError | has no key 'low'; did you mean 'min'? | {FIT} --schema low.json
a type of another tool | SchemaError | did you mean 'continuous'? | {FIT} --schema numeric.json
bounds the wrong way round | SchemaError | min 42 must be below max 35 | {FIT} --schema reversed.json
a draft for a schema | SchemaError | the schema is a draft | {FIT} --schema draft.json
a model for a schema | SchemaError | this is a model file, not a schema | {FIT} --schema tree.json
a journal for a schema | SchemaError | is not a schema: it is a journal | {FIT} --schema some.journal
the table for its schema | SchemaError | `privet schema draft` | {FIT} --schema clinic.csv
schema that is no yaml | SchemaError | not valid YAML in line 1 | {FIT} --schema bad.yaml
a key twice | SchemaError | the key 'class' twice | {FIT} --schema twice.yaml
a list for a schema | SchemaError | must be an object | {FIT} --schema list.json
missing schema | SchemaError | cannot read the schema file | {FIT} --schema nowhere.json
schema that is no json | SchemaError | not valid JSON | {FIT} --schema bad.json
schema without a label | SchemaError | lacks the key 'class' | {FIT} --schema no-class.json
schema with no labels listed | SchemaError | the list of values is empty | {FIT} --schema no-labels.json

a draft in other letters | TableError | did you mean 'class'? | schema draft clinic.csv --label Class -o new.json
a draft for no column | TableError | 'illness' | schema draft clinic.csv --label illness -o new.json
a draft without a header | TableError | looks like a record | schema draft bare.csv -o new.json
a draft over a schema | ParameterError | it is there already | schema draft clinic.csv -o clinic.schema.json
a sample over a file | ParameterError | it is there already | sample -o mine

epsilon zero | EpsilonError | --epsilon must be greater than 0 | {FIT} --epsilon 0
epsilon negative | EpsilonError | --epsilon must be greater than 0 | {FIT} --epsilon=-1
epsilon in words | UsageError | 'much' is not a number | {FIT} --epsilon much
epsilon with a comma | UsageError | '1,5' | {FIT} --epsilon 1,5
epsilon in percent | UsageError | '10%' | {FIT} --epsilon 10%
epsilon nan | UsageError | 'nan' is not a number | {FIT} --epsilon nan
unknown recipe | RecipeError | unknown recipe 'oak' | {FIT} --recipe oak
a misspelt recipe | RecipeError | did you mean 'exact'? | audit exakt
all about an unknown recipe | RecipeError | unknown recipe 'oak' | recipes oak
unknown variant | RecipeError | 'as-painted' | {FIT} --variant as-painted
unknown neighbours | ParameterError | --neighbours must be | {FIT} --neighbours next-door
negative depth | ParameterError | --max-depth must be a whole number | {FIT} --max-depth=-1
unknown setting | RecipeError | 'diffpc45' | {FIT} --set leaf_colour=green
misspelt setting | RecipeError | did you mean --set prune? It takes | {FIT} --set prun=true
misspelt option | RecipeError | did you mean --max-depth? It takes | {FIT} --set max_dept=3
setting of scikit-learn | RecipeError | --set | {FIT} --recipe random-forest --set max_leaf_nodes=3
setting of no publisher | RecipeError | 'colour' | publish {CLINIC} -m diffgen -e 1 -o out.csv --set colour=red
misspelt unit | ParameterError | did you mean 'surname'? | {FIT} --unit surnam --max-rows 2
unit of another table | ParameterError | --unit | {FIT} --unit person --max-rows 2
setting without a value | UsageError | name=value | {FIT} --set max_bins
setting that has an option | UsageError | --epsilon | {FIT} --set epsilon=100
setting of the wrong kind | ParameterError | --set max_bins must be a whole number | {FIT} --set max_bins=many
share in words | ParameterError | --set | {FIT} --set size_share=abc
flag in words | ParameterError | --set prune must be True or False | {FIT} --set prune=maybe
list for a word | ScoreError | unknown criterion ['gini'] | {FIT} --set 'criterion=["gini"]'
infogain without a bound | ParameterError | --set max_records | {FIT} --set criterion=infogain
gain ratio | ScoreError | --set criterion=gainratio is refused | {FIT} --set criterion=gainratio
one fold | ParameterError | --folds must be a whole number of at least 2 | {EVALUATE} --folds 1
no repeats | ParameterError | --repeats must be a whole number of at least 1 | {EVALUATE} --repeats 0
more folds than records | TableError | 1000 folds need | {EVALUATE} --folds 1000
a recipe that is never private | RecipeError | set --variant as-published | {FIT} --recipe rana2016
a search that was not published | ParameterError | use --set search=exhaustive | \
    {FIT} --variant as-published --set search=exact --recipe embedded
a word for weights | ParameterError | --set class_weight=heavy is refused | \
    {FIT} --set class_weight=heavy --recipe exact
a tree that is too large | ParameterError | --max-depth | \
    {FIT} --recipe exact --schema wide.json --max-depth 4 --set tests=multiway
too few to expect | ParameterError | --expect 3 is too few | {FIT} --expect 3
public records for another recipe | RecipeError | --public is for jagannathan2013 | {FIT} --public clinic.csv

a page for a model | ParameterError | --output | {FIT} --output tree.html
a pickle for a model | ParameterError | --output | {FIT} --output tree.pkl
a pdf for a page | ParameterError | --output | report tree.json -o page.pdf
a page for predictions | ParameterError | --output | predict tree.json clinic.csv -o out.html
output in a missing directory | ParameterError | there is no directory | {FIT} --output nowhere/tree.json
output onto a directory | ParameterError | it is a directory | {FIT} --output .
predictions into no directory | ParameterError | there is no directory | predict tree.json clinic.csv -o nowhere/out.csv
model over the table | ParameterError | it is an input of this command | {FIT} --force --output clinic.csv

a table for a page | ModelFileError | not a privet model | report clinic.csv -o page.html
a journal for a page | ModelFileError | it is a journal | report some.journal -o page.html
a journal to show | ModelFileError | it is a journal | show some.journal
a journal to compare | ModelFileError | it is a journal | compare tree.json some.journal
a journal to predict | ModelFileError | it is a journal | predict some.journal clinic.csv
a schema to score | ModelFileError | it is a schema | score clinic.schema.json clinic.csv -e 1
arguments the wrong way round | ModelFileError | it is a table | predict clinic.csv tree.json
missing model | ModelFileError | cannot read the model file | show nowhere.json
model that is no json | ModelFileError | not a privet model | show clinic.csv
json that is no model | ModelFileError | not a privet model | predict clinic.schema.json clinic.csv
truncated model | ModelFileError | truncated or damaged | show truncated.json
edited model | ModelFileError | damaged or edited | show edited.json
model from the future | ModelFileError | written by a newer privet | show future.json
a tree that is not there | ParameterError | --tree | show forest.json --tree 7

budget nearly spent | BudgetExceeded | To go on, ask with --epsilon 0.25 or less | {FIT} --journal nearly.journal
budget spent | BudgetExceeded | nothing was charged or released | {FIT} --journal spent.journal
foreign journal | JournalError | is not a privet journal | {FIT} --journal diary.txt
journal in a missing directory | JournalError | cannot open the journal | {FIT} --journal nowhere/journal
another budget for a journal | JournalError | never changes | {FIT} --journal some.journal --budget 5
other neighbours than the journal | JournalError | counts in add-remove neighbours | \
    {FIT} --journal some.journal --neighbours replace-one
a budget without a journal | ParameterError | give --journal | {FIT} --budget 5

unknown command | UsageError | No such command | prune-hedge
unknown format | UsageError | Invalid value for '--format' | show tree.json --format watercolour
no epsilon | UsageError | Missing option '--epsilon' | fit {CLINIC} -o out.json
a fit without a schema | UsageError | `privet schema draft TABLE -o FILE` | fit clinic.csv -e 1 -o out.json
no schema | UsageError | Missing option '--schema' | schema check clinic.csv
"""
MISTAKES = {row[0]: row[1:] for line in LINES.replace("\\\n", "").splitlines() if (row := line.split(" | "))[1:]}


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
    with open(desk["clinic.csv"], "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([[*desk.columns, "surname"], *rows])
    text, model = (Path(desk[name]).read_text() for name in ("clinic.csv", "tree.json"))
    header, _, rest = text.partition("\n")
    zipped = gzip.compress(text.encode())
    (desk.folder / "mine").mkdir()
    made = {
        "cut.csv.gz": zipped[: len(zipped) // 2],
        "zipped.csv": zipped,
        "plain.csv.gz": text,
        "utf-16.csv": text.encode("utf-16"),
        "bars.csv": text.replace(",", "|"),
        "capitals.csv": f"{header.upper()}\n{rest}",
        "semicolons.csv": f"{header.upper()}\n{rest}".replace(",", ";"),
        "headless.csv": rest,
        "truncated.json": model[: len(model) // 2],
        "edited.json": model.replace('"diffpc45"', '"diffpid3"'),
        "future.json": model.replace('"version": 1', '"version": 9'),
    }
    facts = json.loads(Path(desk["clinic.schema.json"]).read_text())
    for name, changes in SCHEMAS.items():
        changed = facts | changes
        if name == "temprature":
            changed["attributes"] += [a for a in facts["attributes"] if a["name"] != "temperature"]
        made[f"{name}.json"] = json.dumps({key: value for key, value in changed.items() if value is not None})
    for name, content in (FILES | made).items():
        desk.write(name, content)
    Ledger(3, journal=desk["some.journal"])
    for name, spent in (("nearly.journal", 0.75), ("spent.journal", 1)):
        Ledger(1, journal=desk[name]).charge(spent, "an earlier question")
    return desk


@pytest.fixture
def here(shared_desk: Desk, monkeypatch: pytest.MonkeyPatch) -> Desk:
    """The desk, as the working directory."""
    monkeypatch.chdir(shared_desk.folder)
    return shared_desk


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_one_readable_message(here: Desk, name: str) -> None:
    kind, part, command = MISTAKES[name]
    before = {path.name: path.read_bytes() for path in here.folder.rglob("*") if path.is_file()}
    result = here.run(*shlex.split(command), "--json")
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
    after = {path.name: path.read_bytes() for path in here.folder.rglob("*") if path.is_file()}
    assert after == before  # no model appeared and no journal was charged


@pytest.mark.parametrize("name", [*MISTAKES][::8])
def test_without_json_nothing_is_on_stdout(here: Desk, name: str) -> None:
    arguments = shlex.split(MISTAKES[name][2])
    plain, as_json = here.run(*arguments), here.run(*arguments, "--json")
    assert (plain.exit_code, plain.stdout, plain.stderr) == (as_json.exit_code, "", as_json.stderr)


def test_there_are_enough_of_them() -> None:
    assert len(MISTAKES) >= 100
    assert len({kind for kind, _, _ in MISTAKES.values()}) >= 9


def test_the_real_command_prints_no_traceback(here: Desk) -> None:
    """A process of its own: exit code, stdout and stderr as a shell sees them."""
    command = [sys.executable, "-m", "privet.cli", *shlex.split(f"{FIT} --epsilon 0")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith("privet: --epsilon must be greater than 0")
    assert len(done.stderr.splitlines()) == 1


def test_a_fault_of_our_own_keeps_its_traceback(here: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    def break_down(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("privet.recipes.saved.read_model", break_down)
    assert isinstance(here.run("show", "tree.json").exception, ZeroDivisionError)


def test_an_interrupt_says_that_charges_stay(desk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C in the middle of a fit: exit 130, a word on it, and the journal remembers what was charged."""
    from privet.privacy import mechanisms

    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(mechanisms, "choose", interrupt)
    monkeypatch.chdir(desk.folder)
    result = desk.run(*shlex.split(f"{FIT} --journal budget.journal"))
    assert result.exit_code == 130
    assert "what was charged stays charged" in result.stderr.lower()
    assert not os.path.exists(desk["out.json"])
    assert Ledger(journal=desk["budget.journal"]).spent > 0
