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
MISTAKES: dict[str, tuple[Make, str]] = {}


def mistake(message: str) -> Callable[[Make], Make]:
    """A wrong command line, built on a desk, and a part of what must be said about it."""

    def remember(make: Make) -> Make:
        MISTAKES[make.__name__.removeprefix("_").replace("_", " ")] = (make, message)
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


# ---- tables -------------------------------------------------------------------------------------------------------


@mistake("there is no table")
def _missing_table(desk: Any) -> list[object]:
    return fit(desk, table=desk["nowhere.csv"])


@mistake("holds a file that does not end in .parquet or .pq")
def _a_directory_for_a_table(desk: Any) -> list[object]:
    return fit(desk, table=str(desk.folder))


@mistake("is empty")
def _empty_table(desk: Any) -> list[object]:
    return fit(desk, table=desk.write("empty.csv", ""))


@mistake("must end in .csv")
def _unknown_kind_of_table(desk: Any) -> list[object]:
    return fit(desk, table=desk.write("clinic.xlsx", "PK"))


@mistake("lacks the columns 'temperature', 'cough', 'class'")
def _table_without_columns(desk: Any) -> list[object]:
    return fit(desk, table=desk.write("narrow.csv", "blood_pressure,weight\nLow,Normal\n"))


@mistake("two columns called 'weight'")
def _a_column_twice(desk: Any) -> list[object]:
    return fit(desk, table=desk.write("twice.csv", "weight,weight\nNormal,Normal\n"))


@mistake("is not UTF-8")
def _table_in_another_encoding(desk: Any) -> list[object]:
    return fit(desk, table=desk.write("latin.csv", "blood_pressure,größe\n".encode("latin-1")))


@mistake("not a whole gzip file")
def _truncated_gzip(desk: Any) -> list[object]:
    whole = Path(desk["clinic.csv.gz"]).read_bytes()
    return fit(desk, table=desk.write("cut.csv.gz", whole[: len(whole) // 2]))


@mistake("not a whole gzip file")
def _no_gzip_at_all(desk: Any) -> list[object]:
    return fit(desk, table=desk.write("fake.csv.gz", "a,b\n1,2\n"))


@mistake("not a Parquet table")
def _unreadable_parquet(desk: Any) -> list[object]:
    return fit(desk, table=desk.write("fake.parquet", "PAR1 and no more"))


@mistake("lacks the column 'temperature'")
def _predict_without_a_column(desk: Any) -> list[object]:
    return ["predict", desk["tree.json"], desk.write("few.csv", "blood_pressure,weight,cough\nLow,Normal,True\n")]


@mistake("its first line has bars between the names: write commas, semicolons or tabs")
def _bars(desk: Any) -> list[object]:
    text = Path(desk["clinic.csv"]).read_text().replace(",", "|")
    return fit(desk, table=desk.write("bars.csv", text))


@mistake("its names differ from the schema's in capital letters")
def _semicolons_and_other_capitals(desk: Any) -> list[object]:
    head, rows = Path(desk["clinic.csv"]).read_text().replace(",", ";").split("\n", 1)
    return fit(desk, table=desk.write("semicolons.csv", f"{head.upper()}\n{rows}"))


@mistake("is not UTF-8 text, which spreadsheets call 'CSV UTF-8'")
def _a_header_in_latin_1(desk: Any) -> list[object]:
    return fit(desk, table=desk.write("latin.csv", f"größe;weight\n{SECRET};1\n".encode("latin-1")))


@mistake("lacks the columns")
def _a_tab_file_of_other_columns(desk: Any) -> list[object]:
    return fit(desk, table=desk.write("clinic.tsv", f"a\tb\n{SECRET}\t1\n"))


@mistake("call it .csv")
def _a_text_file(desk: Any) -> list[object]:
    return fit(desk, table=desk.write("clinic.txt", f"a\tb\n{SECRET}\t1\n"))


@mistake("it is a spreadsheet: open it and save it as CSV UTF-8")
def _an_excel_file(desk: Any) -> list[object]:
    return fit(desk, table=desk.write("clinic.xls", b"\xd0\xcf\x11\xe0"))


@mistake("an Excel file under another name")
def _an_excel_file_called_csv(desk: Any) -> list[object]:
    return fit(desk, table=desk.write("renamed.csv", b"PK\x03\x04" + SECRET.encode() + b"\n"))


@mistake("it is compressed by gzip: call it .csv.gz")
def _gzip_called_csv(desk: Any) -> list[object]:
    return fit(desk, table=desk.write("zipped.csv", Path(desk["clinic.csv.gz"]).read_bytes()))


@mistake("it is not compressed: call it .csv")
def _csv_called_gzip(desk: Any) -> list[object]:
    return fit(desk, table=desk.write("plain.csv.gz", Path(desk["clinic.csv"]).read_bytes()))


@mistake("it is UTF-16")
def _utf_16(desk: Any) -> list[object]:
    return fit(desk, table=desk.write("wide.csv", Path(desk["clinic.csv"]).read_text().encode("utf-16")))


@mistake("in capital letters")
def _names_in_capitals(desk: Any) -> list[object]:
    header, _, rest = Path(desk["clinic.csv"]).read_text().partition("\n")
    return fit(desk, table=desk.write("capitals.csv", f"{header.upper()}\n{rest}"))


@mistake("lacks the columns")
def _no_header(desk: Any) -> list[object]:
    _, _, rest = Path(desk["clinic.csv"]).read_text().partition("\n")
    return fit(desk, table=desk.write("headless.csv", rest))


# ---- schemas ------------------------------------------------------------------------------------------------------


@mistake("has no key 'atributes'; did you mean 'attributes'?")
def _a_misspelt_key(desk: Any) -> list[object]:
    return fit(desk, schema=changed_schema(desk, atributes=[]))


@mistake("has no key 'low'; did you mean 'min'?")
def _a_key_of_another_tool(desk: Any) -> list[object]:
    size = {"name": "temperature", "type": "continuous", "low": 30, "max": 50}
    return fit(desk, schema=changed_schema(desk, attributes=[size]))


@mistake("did you mean 'continuous'?")
def _a_type_of_another_tool(desk: Any) -> list[object]:
    return fit(desk, schema=changed_schema(desk, attributes=[{"name": "x", "type": "numeric", "min": 0, "max": 1}]))


@mistake("min 42 must be below max 35")
def _bounds_the_wrong_way_round(desk: Any) -> list[object]:
    size = {"name": "temperature", "type": "continuous", "min": 42, "max": 35}
    return fit(desk, schema=changed_schema(desk, attributes=[size]))


@mistake("the schema is a draft: nobody has confirmed the facts about temperature")
def _a_draft_for_a_schema(desk: Any) -> list[object]:
    size = {"name": "temperature", "type": "continuous", "min": None, "max": None, "basis": "unconfirmed"}
    return fit(desk, schema=changed_schema(desk, attributes=[size]))


@mistake("this is a model file, not a schema")
def _a_model_for_a_schema(desk: Any) -> list[object]:
    return fit(desk, schema=desk["tree.json"])


@mistake("--output is the model file, which is JSON: call it .json; `privet report` makes its page")
def _a_page_for_a_model(desk: Any) -> list[object]:
    return fit(desk, output=desk["tree.html"])


@mistake("--output is a page, HTML, and cannot be a .pdf file; call it .html or .htm")
def _a_pdf_for_a_page(desk: Any) -> list[object]:
    return ["report", desk["tree.json"], "-o", desk["page.pdf"]]


@mistake("--output is predictions as CSV and cannot be a .parquet file; call it .csv")
def _parquet_for_predictions(desk: Any) -> list[object]:
    return ["predict", desk["tree.json"], desk["clinic.csv"], "-o", desk["out.parquet"]]


@mistake("--output is the model file, JSON, and cannot be a .pkl file; call it .json")
def _a_pickle_for_a_model(desk: Any) -> list[object]:
    return fit(desk, output=desk["tree.pkl"])


@mistake("has no column 'Class'; did you mean 'class'?")
def _a_label_in_other_letters(desk: Any) -> list[object]:
    return ["schema", "draft", desk["clinic.csv"], "--label", "Class", "-o", desk["drafted.json"]]


@mistake("unknown recipe 'exakt'; did you mean 'exact'?")
def _a_misspelt_recipe(desk: Any) -> list[object]:
    return ["audit", "exakt"]


@mistake("not a privet model")
def _a_table_for_a_page(desk: Any) -> list[object]:
    return ["report", desk["clinic.csv"], "-o", desk["page.html"]]


MODEL = "give the model file that `privet fit -o` wrote"


@mistake(f"it is a journal, the record of a budget, which `privet ledger show` reads; {MODEL}")
def _a_journal_for_a_page(desk: Any) -> list[object]:
    return ["report", journal(desk), "-o", desk["page.html"]]


@mistake(f"it is a journal, the record of a budget, which `privet ledger show` reads; {MODEL}")
def _a_journal_to_show(desk: Any) -> list[object]:
    return ["show", journal(desk)]


@mistake(f"it is a journal, the record of a budget, which `privet ledger show` reads; {MODEL}")
def _a_journal_to_compare(desk: Any) -> list[object]:
    return ["compare", desk["tree.json"], journal(desk)]


@mistake(f"it is a journal, the record of a budget, which `privet ledger show` reads; {MODEL}")
def _a_journal_to_predict(desk: Any) -> list[object]:
    return ["predict", journal(desk), desk["clinic.csv"]]


@mistake(f"it is a schema, the public facts about a table; {MODEL}")
def _a_schema_to_score(desk: Any) -> list[object]:
    return ["score", desk["clinic.schema.json"], desk["clinic.csv"], "-e", 1]


@mistake(f"it is a table; {MODEL}")
def _arguments_the_wrong_way_round(desk: Any) -> list[object]:
    return ["predict", desk["clinic.csv"], desk["tree.json"]]


@mistake("it is a model; give the records")
def _a_model_for_a_table(desk: Any) -> list[object]:
    return fit(desk, table=desk["tree.json"])


@mistake("it is a schema, the public facts about a table; give the records")
def _a_schema_for_a_table(desk: Any) -> list[object]:
    return ["predict", desk["tree.json"], desk["clinic.schema.json"]]


@mistake("is no schema: it is a journal")
def _a_journal_for_a_schema(desk: Any) -> list[object]:
    return fit(desk, schema=journal(desk))


@mistake("is no schema: it is a table; give the public facts about the table; `privet schema draft` begins such a file")
def _the_table_for_its_schema(desk: Any) -> list[object]:
    return fit(desk, schema=desk["clinic.csv"])


@mistake("not valid YAML in line 1")
def _schema_that_is_no_yaml(desk: Any) -> list[object]:
    return fit(desk, schema=desk.write("bad.yaml", "name: [clinic"))


@mistake("the key 'class' twice")
def _a_key_twice(desk: Any) -> list[object]:
    return fit(desk, schema=desk.write("twice.yaml", "class: a\nclass: b\n"))


@mistake("must be an object")
def _a_table_for_a_schema(desk: Any) -> list[object]:
    return fit(desk, schema=desk.write("list.json", "[1, 2]"))


@mistake("has no column 'illness'; the class must be one of")
def _a_draft_for_a_class_that_is_not_there(desk: Any) -> list[object]:
    return ["schema", "draft", desk["clinic.csv"], "--label", "illness", "-o", desk["draft.json"]]


@mistake("looks like a record")
def _a_draft_of_a_table_without_a_header(desk: Any) -> list[object]:
    text = f"31,{SECRET},no\n" * 20
    return ["schema", "draft", desk.write("bare.csv", text), "-o", desk["draft.json"]]


@mistake("it is there already")
def _a_draft_over_a_schema(desk: Any) -> list[object]:
    return ["schema", "draft", desk["clinic.csv"], "-o", desk["clinic.schema.json"]]


@mistake("it is there already")
def _a_sample_over_a_file(desk: Any) -> list[object]:
    desk.write("patients.csv", "mine")
    return ["sample", "-o", str(desk.folder)]


@mistake("cannot read the schema file")
def _missing_schema(desk: Any) -> list[object]:
    return fit(desk, schema=desk["nowhere.json"])


@mistake("not valid JSON")
def _schema_that_is_no_json(desk: Any) -> list[object]:
    return fit(desk, schema=desk.write("bad.schema.json", "{'name': clinic}"))


@mistake("lacks the key 'class'")
def _schema_without_a_label(desk: Any) -> list[object]:
    return fit(desk, schema=changed_schema(desk, **{"class": None}))


@mistake("the list of values is empty")
def _schema_with_no_labels_listed(desk: Any) -> list[object]:
    return fit(desk, schema=changed_schema(desk, labels=[]))


@mistake("lacks the column 'shoe_size'")
def _schema_of_another_table(desk: Any) -> list[object]:
    size = {"name": "shoe_size", "type": "continuous", "min": 30, "max": 50}
    return ["schema", "check", desk["clinic.csv"], "--schema", changed_schema(desk, attributes=[size])]


# ---- parameters ---------------------------------------------------------------------------------------------------


@mistake("--epsilon must be greater than 0")
def _epsilon_zero(desk: Any) -> list[object]:
    return fit(desk, epsilon=0)


@mistake("--epsilon must be greater than 0")
def _epsilon_negative(desk: Any) -> list[object]:
    return [*fit(desk, epsilon=None), "--epsilon=-1"]


@mistake("'much' is not a number")
def _epsilon_in_words(desk: Any) -> list[object]:
    return fit(desk, epsilon="much")


@mistake("'1,5' is not a number; write a decimal point: 1.5")
def _epsilon_with_a_comma(desk: Any) -> list[object]:
    return fit(desk, epsilon="1,5")


@mistake("'10%' is not a number; write a plain number: 10/100")
def _epsilon_in_percent(desk: Any) -> list[object]:
    return fit(desk, epsilon="10%")


@mistake("'nan' is not a number")
def _epsilon_nan(desk: Any) -> list[object]:
    return fit(desk, epsilon="nan")


@mistake("unknown recipe 'oak'")
def _unknown_recipe(desk: Any) -> list[object]:
    return fit(desk, recipe="oak")


@mistake("'as-painted'")
def _unknown_variant(desk: Any) -> list[object]:
    return fit(desk, variant="as-painted")


@mistake("--neighbours must be")
def _unknown_neighbours(desk: Any) -> list[object]:
    return fit(desk, neighbours="next-door")


@mistake("--max-depth must be a whole number")
def _negative_depth(desk: Any) -> list[object]:
    return fit(desk, "--max-depth=-1")


@mistake("recipe 'diffpc45' has no parameter 'leaf_colour'; it takes bins, criterion, grid, max_records, mechanism, ")
def _unknown_setting(desk: Any) -> list[object]:
    return fit(desk, "--set", "leaf_colour=green")


@mistake("did you mean --set prune? It takes")
def _misspelt_setting(desk: Any) -> list[object]:
    return fit(desk, "--set", "prun=true")


@mistake("did you mean --max-depth? It takes")
def _misspelt_setting_that_has_an_option(desk: Any) -> list[object]:
    return fit(desk, "--set", "max_dept=3")


@mistake("recipe 'random-forest' has no parameter 'n_estimators'; use --set trees")
def _setting_of_scikit_learn(desk: Any) -> list[object]:
    return fit(desk, "--set", "n_estimators=3", recipe="random-forest")


@mistake("diffgen has no parameter 'colour'; it takes")
def _unknown_setting_of_a_publisher(desk: Any) -> list[object]:
    return ["publish", desk["clinic.csv"], "--schema", desk["clinic.schema.json"], "-m", "diffgen", "-e", 1,
            "-o", desk["out.csv"], "--set", "colour=red"]  # fmt: skip


@mistake("--unit 'surnam' is no column of the table; did you mean 'surname'?")
def _misspelt_unit(desk: Any) -> list[object]:
    return fit(desk, "--unit", "surnam", "--max-rows", 2)


@mistake("--unit 'person' is no column of the table; name the column that says who a row belongs to")
def _unit_of_another_table(desk: Any) -> list[object]:
    return fit(desk, "--unit", "person", "--max-rows", 2)


@mistake("lacks the column 'temprature' that the schema declares; did you mean 'temperature'?")
def _one_column_of_another_name(desk: Any) -> list[object]:
    size = {"name": "temprature", "type": "continuous", "min": 30, "max": 50}
    facts = json.loads(Path(desk["clinic.schema.json"]).read_text())["attributes"]
    return fit(desk, schema=changed_schema(desk, attributes=[*(a for a in facts if a["name"] != "temperature"), size]))


@mistake("name=value")
def _setting_without_a_value(desk: Any) -> list[object]:
    return fit(desk, "--set", "bins")


@mistake("--epsilon")
def _setting_that_has_an_option(desk: Any) -> list[object]:
    return fit(desk, "--set", "epsilon=100")


@mistake("--set bins must be a whole number")
def _setting_of_the_wrong_kind(desk: Any) -> list[object]:
    return fit(desk, "--set", "bins=many")


@mistake("--set size_share must be a number from 0 to 1, not 'abc'")
def _share_in_words(desk: Any) -> list[object]:
    return fit(desk, "--set", "size_share=abc")


@mistake("--set prune must be True or False")
def _flag_in_words(desk: Any) -> list[object]:
    return fit(desk, "--set", "prune=maybe")


@mistake("unknown criterion ['gini']")
def _list_for_a_word(desk: Any) -> list[object]:
    return fit(desk, "--set", 'criterion=["gini"]')


@mistake("--set max_records")
def _infogain_without_a_bound(desk: Any) -> list[object]:
    return fit(desk, "--set", "criterion=infogain")


@mistake("--set criterion=gainratio is refused")
def _gain_ratio(desk: Any) -> list[object]:
    return fit(desk, "--set", "criterion=gainratio")


@mistake("--folds must be a whole number from 2")
def _one_fold(desk: Any) -> list[object]:
    return evaluate(desk, "--folds", 1)


@mistake("--repeats must be a whole number from 1")
def _no_repeats(desk: Any) -> list[object]:
    return evaluate(desk, "--repeats", 0)


@mistake("1000 folds need")
def _more_folds_than_records(desk: Any) -> list[object]:
    return evaluate(desk, "--folds", 1000)


@mistake("set --variant as-published")
def _a_recipe_that_is_never_private(desk: Any) -> list[object]:
    return fit(desk, recipe="rana2016")


@mistake("use --set search=exhaustive")
def _a_search_that_was_not_published(desk: Any) -> list[object]:
    return fit(desk, "--variant", "as-published", "--set", "search=exact", recipe="embedded")


@mistake("--set class_weights must be a dict")
def _a_word_for_weights(desk: Any) -> list[object]:
    return fit(desk, "--set", "class_weights=heavy", recipe="exact")


@mistake("lower --max-depth or --set bins, or use --set tests=binary")
def _a_tree_that_is_too_large(desk: Any) -> list[object]:
    columns = ("blood_pressure", "weight", "temperature", "cough")
    wide = [{"name": name, "type": "categorical", "values": list(range(200))} for name in columns]
    schema = changed_schema(desk, attributes=wide)
    return fit(desk, "--max-depth", 4, "--set", "tests=multiway", recipe="exact", schema=schema)


@mistake("--expect 3 is too few")
def _too_few_to_expect(desk: Any) -> list[object]:
    return fit(desk, expect=3)


@mistake("--public is for jagannathan2013")
def _public_records_for_another_recipe(desk: Any) -> list[object]:
    return fit(desk, public=desk["clinic.csv"])


# ---- models and outputs -------------------------------------------------------------------------------------------


@mistake("there is no directory")
def _output_in_a_missing_directory(desk: Any) -> list[object]:
    return fit(desk, output=desk["nowhere/tree.json"])


@mistake("it is a directory")
def _output_onto_a_directory(desk: Any) -> list[object]:
    return fit(desk, output=str(desk.folder))


@mistake("there is no directory")
def _predictions_into_a_missing_directory(desk: Any) -> list[object]:
    return ["predict", desk["tree.json"], desk["clinic.csv"], "-o", desk["nowhere/out.csv"]]


@mistake("cannot read the model file")
def _missing_model(desk: Any) -> list[object]:
    return ["show", desk["nowhere.json"]]


@mistake("not a privet model")
def _model_that_is_no_json(desk: Any) -> list[object]:
    return ["show", desk["clinic.csv"]]


@mistake("not a privet model")
def _json_that_is_no_model(desk: Any) -> list[object]:
    return ["predict", desk["clinic.schema.json"], desk["clinic.csv"]]


@mistake("truncated or damaged")
def _truncated_model(desk: Any) -> list[object]:
    return ["show", changed_model(desk, lambda text: text[: len(text) // 2])]


@mistake("damaged or edited")
def _edited_model(desk: Any) -> list[object]:
    return ["show", changed_model(desk, lambda text: text.replace('"diffpc45"', '"diffpid3"'))]


@mistake("written by a newer privet")
def _model_from_the_future(desk: Any) -> list[object]:
    return ["show", changed_model(desk, lambda text: text.replace('"version": 1', '"version": 9'))]


@mistake("--tree must be all or a number from 1 to 2, not '7'")
def _a_tree_that_is_not_there(desk: Any) -> list[object]:
    return ["show", desk["forest.json"], "--tree", 7]


@mistake("it is an input of this command")
def _model_over_the_table(desk: Any) -> list[object]:
    return fit(desk, "--force", output=desk["clinic.csv"])


@mistake("unknown recipe 'oak'")
def _all_about_an_unknown_recipe(desk: Any) -> list[object]:
    return ["recipes", "oak"]


@mistake("Invalid value for '--format'")
def _unknown_format(desk: Any) -> list[object]:
    return ["show", desk["tree.json"], "--format", "watercolour"]


# ---- budgets ------------------------------------------------------------------------------------------------------


@mistake("To go on, ask with --epsilon 0.25 or less")
def _budget_nearly_spent(desk: Any) -> list[object]:
    Ledger(1, journal=desk["nearly.journal"]).charge(0.75, "an earlier question")
    return fit(desk, journal=desk["nearly.journal"])


@mistake("nothing was charged or released")
def _budget_spent(desk: Any) -> list[object]:
    Ledger(1, journal=desk["spent.journal"]).charge(1, "an earlier question")
    return fit(desk, journal=desk["spent.journal"])


@mistake("is not a privet journal")
def _foreign_journal(desk: Any) -> list[object]:
    return fit(desk, journal=desk.write("diary.txt", "Dear diary, today I spent nothing.\n"))


@mistake("cannot open the journal")
def _journal_in_a_missing_directory(desk: Any) -> list[object]:
    return fit(desk, journal=desk["nowhere/journal"])


@mistake("never changes")
def _another_budget_for_a_journal(desk: Any) -> list[object]:
    Ledger(3, journal=desk["three.journal"])
    return fit(desk, journal=desk["three.journal"], budget=5)


@mistake("counts in replace-one neighbours")
def _other_neighbours_than_the_journal(desk: Any) -> list[object]:
    Ledger(3, neighbours="replace-one", journal=desk["replace.journal"])
    return fit(desk, journal=desk["replace.journal"], neighbours="add-remove")


@mistake("give --journal")
def _a_budget_without_a_journal(desk: Any) -> list[object]:
    return fit(desk, budget=5)


# ---- usage --------------------------------------------------------------------------------------------------------


@mistake("No such command")
def _unknown_command(desk: Any) -> list[object]:
    return ["prune-hedge"]


@mistake("Missing option '--epsilon'")
def _no_epsilon(desk: Any) -> list[object]:
    return fit(desk, epsilon=None)


@mistake("`privet schema draft TABLE -o FILE` begins such a file")
def _a_fit_without_a_schema(desk: Any) -> list[object]:
    return ["fit", desk["clinic.csv"], "-e", 1, "-o", desk["out.json"]]


@mistake("Missing option '--schema'")
def _no_schema(desk: Any) -> list[object]:
    return ["schema", "check", desk["clinic.csv"]]


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
    assert desk.fit("-o", desk["forest.json"], "--set", "trees=2", recipe="random-forest").exit_code == 0
    rows = [[*row[:1], SECRET if number < 20 else row[1], *row[2:], SECRET]
            for number, row in enumerate(zip(*desk.columns.values(), strict=True))]  # fmt: skip
    for name, opener in (("clinic.csv", open), ("clinic.csv.gz", gzip.open)):
        with opener(desk[name], "wt", encoding="utf-8", newline="") as file:  # type: ignore[operator]
            csv.writer(file).writerows([[*desk.columns, "surname"], *rows])
    return desk


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_one_readable_message(shared_desk: Any, name: str) -> None:
    make, message = MISTAKES[name]
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
