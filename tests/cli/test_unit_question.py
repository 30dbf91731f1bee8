"""Whom does epsilon protect? Draft notices, edit asks, a fit says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from privet.cli import app
from privet.schema.written import read_schema

ROWS = "patient_id,age,ill\n" + "".join(f"p{i % 70},{i % 90},{('no', 'yes')[i % 2]}\n" for i in range(140))
FACTS: dict[str, Any] = {
    "name": "visits",
    "attributes": [
        {"name": "patient_id", "type": "categorical", "values": ["p1", "?"], "basis": "meaning"},
        {"name": "age", "type": "continuous", "min": 0, "max": 120, "integer": True, "basis": "meaning"},
    ],
    "class": "ill",
    "labels": ["no", "yes"],
    "labels_basis": "meaning",
}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "visits.csv").write_text(ROWS)
    (tmp_path / "s.json").write_text(json.dumps(FACTS))
    return tmp_path


def run(*arguments: str, answers: str = "") -> Any:
    return CliRunner().invoke(app, list(arguments), prog_name="privet", input=answers)


def test_a_draft_notices_identifiers_that_repeat_and_writes_nothing_of_it(here: Path) -> None:
    result = run("schema", "draft", "visits.csv", "-o", "d.json", "--label", "ill")
    assert result.exit_code == 0, result.stderr
    assert "patient_id looks like an identifier, and some value of it occurs twice" in " ".join(result.stdout.split())
    assert "unit" not in json.loads((here / "d.json").read_text())
    (here / "visits.csv").write_text("patient_id,age,ill\n" + "".join(f"p{i},3{i % 9},no\n" for i in range(99)))
    again = run("schema", "draft", "visits.csv", "-o", "e.json", "--label", "ill", "--json")
    assert json.loads(again.stdout)["repeated_identifiers"] == []


def test_edit_asks_for_the_unit_and_says_what_it_means(here: Path) -> None:
    result = run("schema", "edit", "s.json", answers="yes\npatient_id\nmany\n3\n")
    assert result.exit_code == 0, (result.stdout, result.stderr)
    for text in ("Can one person have several rows?", "a whole number from 1 to 10000 is needed",
                 "nothing is learned from a name", "Epsilon protects all rows of one patient_id"):  # fmt: skip
        assert text in result.stdout
    schema = read_schema("s.json")
    assert (str(schema.unit), schema.names) == ("one patient_id, with at most 3 rows", ("age",))
    assert "several rows" not in run("schema", "edit", "s.json").stdout, "it is asked once"


def test_the_answer_no_is_kept_too(here: Path) -> None:
    assert "Epsilon protects one row." in run("schema", "edit", "s.json", answers="no\n").stdout
    assert json.loads((here / "s.json").read_text())["unit"] is None
    assert "several rows" not in run("schema", "edit", "s.json").stdout
    assert read_schema("s.json").unit is None


def test_a_question_that_names_an_identifier_without_a_unit_says_so_first(here: Path) -> None:
    asked = ("ask", "visits.csv", "count", "--schema", "s.json", "--epsilon", "1")
    assert "the schema lists 'patient_id' and declares no unit" in run(*asked).stderr
    facts = {**FACTS, "attributes": FACTS["attributes"][1:]}
    (here / "s.json").write_text(json.dumps(facts))
    assert "no unit" not in run(*asked).stderr
    assert "no unit" not in run(*asked, "--unit", "patient_id", "--max-rows", "2").stderr
