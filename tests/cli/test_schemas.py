"""From a table to a schema: the draft, the dialogue that finishes it, and what stops on the way."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from privet.cli import app
from privet.datasets.patients import patients_schema
from privet.schema import Schema
from privet.schema.keys import json_schema


def run(folder: Path, *arguments: str, answers: str = "") -> Any:
    old = os.getcwd()
    os.chdir(folder)
    try:
        return CliRunner().invoke(app, list(arguments), prog_name="privet", input=answers)
    finally:
        os.chdir(old)


@pytest.fixture
def hospital(tmp_path: Path) -> Path:
    assert run(tmp_path, "sample", "-o", ".").exit_code == 0
    return tmp_path


def drafted(folder: Path, name: str = "my.schema.json") -> Path:
    result = run(folder, "schema", "draft", "patients.csv", "--label", "readmitted", "-o", name)
    assert result.exit_code == 0, result.output
    return folder / name


def number(low: str, high: str, *more: str, basis: str = "meaning") -> list[str]:
    return ["", low, high, *(more or ("", "")), basis]


ANSWERS = {
    "age": number("18", "110"),
    "sex": ["", "", "", "m"],
    "bmi": number("10", "70"),
    "smoker": ["", "never, former, current", "", "doc"],
    "systolic": number("60", "260"),
    "diabetes": ["", "", "", "documented"],
    "ward": ["", "+hospice", "", "the hospital's web page"],
    "days": number("0", "90"),
    "admissions": number("0", "20"),
    "emergency": ["", "", "", "d"],
    "readmitted": ["", "meaning"],
}


def typed(*columns: str) -> str:
    return "".join(f"{answer}\n" for column in columns for answer in ANSWERS[column])


@pytest.mark.parametrize("name", ["my.schema.json", "my.schema.yaml"])
def test_from_a_table_to_a_fit(hospital: Path, name: str) -> None:
    file = drafted(hospital, name)
    fit = ("fit", "patients.csv", "--schema", name, "--epsilon", "1", "-o", "tree.json", "--recipe", "diffpc45")
    refused = run(hospital, *fit)
    assert refused.exit_code == 1
    assert "the schema is a draft" in refused.stderr
    done = run(hospital, "schema", "edit", name, answers=typed(*ANSWERS))
    assert done.exit_code == 0, done.output
    assert f"The schema is complete: {name}" in done.stdout
    schema = Schema.from_json(file)
    assert schema.names == patients_schema().names
    smoker, ward = (schema.attributes[schema.index(name)] for name in ("smoker", "ward"))
    assert smoker.values == ("never", "former", "current")  # type: ignore[union-attr]
    assert (ward.values[-1], ward.basis) == ("hospice", "the hospital's web page")  # type: ignore[union-attr]
    assert len(schema.caveats()) == 1
    assert run(hospital, "schema", "check", "patients.csv", "--schema", name).exit_code == 0
    result = run(hospital, *fit)
    assert result.exit_code == 0, result.output


def test_the_draft_says_why_bounds_are_empty_and_what_is_next(hospital: Path) -> None:
    result = run(hospital, "schema", "draft", "patients.csv", "-o", "d.json")
    assert "outside privacy" in result.stderr
    words = " ".join(result.stdout.split())
    assert "the least and the greatest value of a column belong to single records" in words
    assert "privet schema edit d.json" in words
    assert "Which column is to be predicted is open" in words
    again = run(hospital, "schema", "draft", "patients.csv", "-o", "d.json")
    assert again.exit_code == 1
    assert "--force" in again.stderr
    told = json.loads(run(hospital, "schema", "draft", "patients.csv", "-o", "d.json", "--force", "--json").stdout)
    assert told["private"] is False
    assert len(told["columns"]) == 11
    assert told["schema"]["class"] is None


def test_a_dialogue_can_be_left_and_taken_up(hospital: Path) -> None:
    file = drafted(hospital)
    first = run(hospital, "schema", "edit", file.name, answers=typed("age", "sex") + ":skip\n:drop\n:stop\n")
    assert first.exit_code == 1
    assert "still to do: bmi, systolic, diabetes, ward, days, admissions, emergency, readmitted" in first.stderr
    facts = json.loads(file.read_text())
    assert [one["name"] for one in facts["attributes"]][:4] == ["age", "sex", "bmi", "systolic"]  # smoker is gone
    rest = [column for column in ANSWERS if column not in ("age", "sex", "smoker")]
    second = run(hospital, "schema", "edit", file.name, answers=typed(*rest))
    assert second.exit_code == 0, second.output
    assert "1 of 9: bmi" in second.stdout  # what is confirmed is shown, and not asked again
    assert re.search(r"1  age +whole numbers from 18 to 110; meaning", second.stdout)
    everything = run(hospital, "schema", "edit", file.name, "--all", answers="\n" * 80)
    assert everything.exit_code == 0
    assert Schema.from_json(file) == Schema.from_dict(json.loads(file.read_text()))


def test_an_invalid_answer_is_asked_again(hospital: Path) -> None:
    file = drafted(hospital)
    answers = "\nlots\n0,5\n120\n18\n\n\nmeaning\n" + "\n18\n120\nperhaps\nyes\n\n\nunconfirmed\nmeaning\n:stop\n"
    result = run(hospital, "schema", "edit", file.name, answers=answers)
    for told in ("a number is needed, such as", "with a decimal point", "min 120 must be below max 18",
                 "one of yes, no is needed", "say where the facts come from"):  # fmt: skip
        assert told in result.stdout, told
    age = json.loads(file.read_text())["attributes"][0]
    assert (age["min"], age["max"], age["basis"]) == (18, 120, "meaning")


def test_a_column_can_be_begun_again_and_the_first_questions_are_asked_until_answered(tmp_path: Path) -> None:
    begun = ":skip\nage, ill\n:drop\nill\n" + "number\n0\n12\n:again\nnumber\n0\n120\nyes\n-\nmeaning\n"
    result = run(tmp_path, "schema", "edit", "new.json", answers=begun + "no\n:again\nno, yes\ndocumented\n")
    assert result.exit_code == 0, result.output
    assert result.stdout.count("comes later") == 2
    schema = Schema.from_json(tmp_path / "new.json")
    assert schema.attributes[0].high == 120  # type: ignore[union-attr]
    assert schema.label.values == ("no", "yes")


def test_a_schema_without_a_table(tmp_path: Path) -> None:
    answers = "age, ill\nill\n" + "number\n0\n120\nyes\n-\nmeaning\n" + "no, yes\ndocumented\n"
    result = run(tmp_path, "schema", "edit", "new.yaml", answers=answers)
    assert result.exit_code == 0, result.output
    schema = Schema.from_json(tmp_path / "new.yaml")
    assert (schema.name, schema.names, schema.label.values) == ("new", ("age",), ("no", "yes"))


def test_types_of_values_survive(tmp_path: Path) -> None:
    facts = {"attributes": [{"name": "c", "type": "categorical", "values": [2, True, "a, b"], "basis": "unconfirmed"},
                            {"name": "n", "type": "continuous", "min": 0, "max": 1, "missing": -9, "bins": 7,
                             "basis": "unconfirmed"}],
             "class": "y", "labels": [0, 1]}  # fmt: skip
    (tmp_path / "s.json").write_text(json.dumps(facts))
    result = run(tmp_path, "schema", "edit", "s.json", answers="\n\n\nd\n" + "\n\n\n\n\nd\n")
    assert result.exit_code == 0, result.output
    category, numeric = json.loads((tmp_path / "s.json").read_text())["attributes"]
    assert category["values"] == [2, True, "a, b"]
    assert (numeric["missing"], numeric["bins"]) == (-9, 7)


@pytest.mark.parametrize(
    ("content", "says"),
    [("[1]", "holds no schema"), ('{"attributes": [5]}', "an object with a name"), ("{", "not valid JSON"),
     ('{"attributes": [{"name": "a", "type": "categorical", "values": ["x"]}], "class": "y", "labels": [0, 1], '
      '"colour": 1}', "has no key 'colour'")],
)  # fmt: skip
def test_a_file_that_cannot_be_edited(tmp_path: Path, content: str, says: str) -> None:
    (tmp_path / "s.json").write_text(content)
    result = run(tmp_path, "schema", "edit", "s.json")
    assert result.exit_code == 1
    assert says in result.stderr
    assert (tmp_path / "s.json").read_text() == content


def test_ctrl_c_leaves_a_whole_file(hospital: Path) -> None:
    """A real signal to a real process in the middle of a column."""
    file = drafted(hospital)
    command = [sys.executable, "-u", "-m", "privet", "schema", "edit", file.name]
    process = subprocess.Popen(command, cwd=hospital, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)  # fmt: skip
    assert process.stdin is not None
    process.stdin.write(typed("age") + "\n\n")
    process.stdin.flush()
    deadline = time.monotonic() + 60
    while json.loads(file.read_text())["attributes"][0]["basis"] != "meaning" and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "still to do: sex, bmi" in told
    facts = json.loads(file.read_text())
    assert facts["attributes"][0]["max"] == 110
    assert facts["attributes"][1]["basis"] == "unconfirmed"
    assert [path for path in hospital.iterdir() if path.name.startswith(".")] == []


def test_the_keys_are_explained(tmp_path: Path) -> None:
    told = run(tmp_path, "schema", "keys").stdout
    assert all(key in told for key in ("labels_basis", "thresholds", "other", "needed"))
    assert json.loads(run(tmp_path, "schema", "keys", "--json").stdout) == json_schema()


def test_the_sample_is_not_written_over_anything(hospital: Path) -> None:
    (hospital / "patients.csv").write_text("mine")
    result = run(hospital, "sample", "-o", ".")
    assert result.exit_code == 1
    assert "there already" in result.stderr
    assert (hospital / "patients.csv").read_text() == "mine"
    told = json.loads(run(hospital, "sample", "-o", "new/folder", "--json").stdout)
    assert sorted(told["files"]) == sorted(path.name for path in (hospital / "new" / "folder").iterdir())


def test_a_page_shows_what_is_decided_and_steps_can_be_gone_back_to(hospital: Path) -> None:
    file = drafted(hospital)
    answers = typed("age", "sex") + ":back\nlist\nf, m, x\n-\nmeaning\n"  # back from bmi to sex
    answers += ":go 1\nnumber\n20\n99\nyes\n-\nround\n"  # and to age, from bmi
    answers += ":page\n:go nowhere\n" + typed("bmi") + ":stop\n"
    result = run(hospital, "schema", "edit", file.name, answers=answers)
    age, sex, bmi = json.loads(file.read_text())["attributes"][:3]
    assert (age["min"], age["max"], age["basis"]) == (20, 99, "round")
    assert (sex["values"], sex["basis"]) == (["f", "m", "x"], "meaning")
    assert bmi["basis"] == "meaning"
    page = result.stdout.partition("whole numbers from 20 to 99; round")[2]
    assert re.search(r"2  sex +f, m, x; meaning\n +3  bmi +\(to do\)", page)
    assert re.search(r"the class: readmitted +\(to do\)\n +12  the unit +\(to do\)", page)
    assert "There is no such column; :page lists them." in result.stdout
    again = run(hospital, "schema", "edit", file.name, answers=":back\n:back\n:back\n:back\n:stop\n")
    assert "There is nothing before this." in again.stdout  # smoker, bmi, sex, age
    assert json.loads(file.read_text())["attributes"][0] == age


def test_spellings_and_markers_are_asked_for(tmp_path: Path) -> None:
    column = {"name": "sex", "type": "categorical", "values": ["female", "male", "?"], "basis": "unconfirmed"}
    facts = {"attributes": [column], "class": "ill", "labels": ["no", "yes"], "labels_basis": "meaning", "unit": None}
    (tmp_path / "s.json").write_text(json.dumps(facts))
    answers = "\n\nwoman: w\nfemale: f, W; male: m; missing: NA, -; fold\nmeaning\n"
    result = run(tmp_path, "schema", "edit", "s.json", answers=answers)
    assert result.exit_code == 0, result.output
    assert "with a value of the list" in result.stdout
    (written,) = json.loads((tmp_path / "s.json").read_text())["attributes"]
    assert written["spellings"] == {"female": ["f", "W"], "male": ["m"]}
    assert (written["missing"], written["fold"]) == (["NA", "-"], True)
    before = Schema.from_json(tmp_path / "s.json")
    kept = run(tmp_path, "schema", "edit", "s.json", "--all", answers="\n" * 20 + "no\n")
    assert kept.exit_code in (0, 1)
    assert Schema.from_json(tmp_path / "s.json") == before  # Enter keeps them
    cleared = run(tmp_path, "schema", "edit", "s.json", "--all", answers="\n\n-\n\n:stop\n")
    assert "spellings" not in json.loads((tmp_path / "s.json").read_text())["attributes"][0], cleared.output
