"""Rules by value, and ``privet retention``: the toy of the thesis's Fig. 5.2 by hand-written rules."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from privet.cli import app
from privet.errors import ParameterError
from privet.rules.by_value import read_rules, rules_by_value
from privet.schema import Categorical, Numeric, Schema
from privet.tables.encoding import encode_features
from privet.testing import ZeroNoise, use_noise

SCHEMA = Schema(
    (Numeric("age", 0, 120, integer=True), Numeric("dose", 0, 9, missing="?"), Categorical("ward", ("a", "b", "c"))),
    Categorical("ill", ("no", "yes")),
)
CELLS = {"age": [63, 64, 64, 30], "dose": [1, "?", 3.3, 9], "ward": ["a", "b", "c", "c"]}


@pytest.mark.parametrize(
    ("text", "matches"),
    [
        ("IF age > 63.7 THEN yes", [False, True, True, False]),
        ("if age <= 63 then no", [True, False, False, True]),
        ("IF dose > 3.2 THEN yes", [False, False, True, True]),
        ("IF dose is missing THEN yes", [False, True, False, False]),
        ("IF age = 64 AND ward in (a, c) THEN yes", [False, False, True, False]),
        ("ALWAYS no", [True] * 4),
    ],
)
def test_a_rule_matches_what_it_says(text: str, matches: list[bool]) -> None:
    rules = rules_by_value(SCHEMA, text)
    assert rules[0].matches(encode_features(rules.schema, CELLS)).tolist() == matches
    assert type(rules).from_json(rules.to_json()) == rules


def test_json_and_lines_are_the_same() -> None:
    lines = read_rules(SCHEMA, "# of the owner\nIF age > 63.7 AND ward in (a, b) THEN yes\n\nALWAYS no\n")
    content = [{"if": ["age > 63.7", "ward in (a, b)"], "then": "yes"}, {"if": [], "then": "no"}]
    assert read_rules(SCHEMA, json.dumps(content)) == lines


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "there is no rule"),
        ("IF age > 63", "expects 'and' or 'then'"),
        ("age > 63 THEN yes", "expects 'if' or 'always'"),
        ("IF age > 63 THEN maybe", "'maybe' is no value of 'ill'"),
        ("IF ill = yes THEN yes", "about the label"),
        ("IF age in (1, 9) THEN yes", "no single run of numbers"),
        ("[1]", "must be a text, or an object"),
        ("[", "no JSON"),
    ],
)
def test_refusals(text: str, says: str) -> None:
    with pytest.raises(ParameterError, match=says):
        read_rules(SCHEMA, text)


TOY = Schema((Categorical("A0", ("a0", "a1", "a2")), Categorical("A1", ("b0", "b1"))), Categorical("C", ("c0", "c1")))
X = "A0,A1,C\na0,b0,c0\na0,b0,c1\na0,b0,c0\na1,b1,c1\na2,b0,c0\na2,b1,c1\n"
Z = "A0,A1,C\na0,b0,c0\na0,b1,c1\na1,b0,c0\na2,b1,c1\na2,b0,c0\na2,b0,c1\n"
RULES = """\
IF A0 = a0 THEN c0
IF A0 = a1 THEN c1
IF A0 = a2 AND A1 = b0 THEN c0
IF A0 = a2 AND A1 = b1 THEN c1
"""


@pytest.fixture
def toy(tmp_path: Path) -> Any:
    for name, text in (("x.csv", X), ("z.csv", Z), ("rules.txt", RULES), ("s.json", TOY.to_json())):
        (tmp_path / name).write_text(text)

    def run(*more: str) -> Any:
        files = [str(tmp_path / name) for name in ("x.csv", "z.csv")]
        facts = ["--schema", str(tmp_path / "s.json"), "--patterns", str(tmp_path / "rules.txt")]
        return CliRunner().invoke(app, ["retention", *files, *facts, *more], prog_name="privet")

    return run


def test_the_toy_of_the_thesis_by_hand_written_rules(toy: Any) -> None:
    found = toy("--min-support", "0", "--json")
    assert found.exit_code == 0, found.stderr
    facts = json.loads(found.stdout)
    assert facts["pattern_accuracy"] == pytest.approx(1 / 3)
    assert facts["accuracy_anonymised"] == pytest.approx(0.5)  # what the thesis's Table 5.4 prints
    assert facts["means"] == pytest.approx({"PSD": 0.0833, "PLD": 0.3405, "RE": 1 / 3}, abs=5e-5)
    assert (facts["private"], [row["support"] for row in facts["patterns"]]) == (
        False,
        [[3, 2], [1, 1], [1, 2], [1, 1]],
    )
    assert "OUTSIDE PRIVACY" in found.stderr


def test_figures_to_publish_are_bought(toy: Any, tmp_path: Path) -> None:
    with use_noise(ZeroNoise()):
        found = toy("--epsilon", "1", "--min-support", "0", "--json")
    assert found.exit_code == 0, found.stderr
    facts = json.loads(found.stdout)
    assert facts["means"] == pytest.approx({"PSD": 0.0833, "PLD": 0.3405, "RE": 1 / 3}, abs=5e-5)
    assert facts["pattern_accuracy"] == pytest.approx(1 / 3)
    budget = ("--journal", str(tmp_path / "j.journal"), "--budget", "1")
    bought = json.loads(toy("--epsilon", "1", "--json", *budget).stdout)
    assert (bought["private"], bought["certificate"]["epsilon"], bought["left"]["epsilon"]) == (True, "1", "0")
    again = toy("--epsilon", "1", *budget)
    assert (again.exit_code, "budget" in again.stderr.lower()) == (1, True)


def test_a_measure_of_ones_own(toy: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ownmeasures.py").write_text("def lost(rule, x, z):\n    return float(x.support > z.support)\n")
    monkeypatch.chdir(tmp_path)
    found = toy("--measure", "ownmeasures:lost", "--json")
    assert found.exit_code == 0, found.stderr
    assert json.loads(found.stdout)["means"]["lost"] == 0.25
    for more, message in (
        (("--measure", "ownmeasures:lost", "--epsilon", "1"), "goes without --epsilon"),
        (("--measure", "ownmeasures:none"), "cannot find the measure 'ownmeasures:none'"),
        (("--measure", "lost"), "write MODULE:FUNCTION"),
    ):
        refused = toy(*more)
        assert (refused.exit_code, message in refused.stderr) == (1, True), refused.stderr


def test_patterns_that_cannot_be_read(toy: Any, tmp_path: Path) -> None:
    (tmp_path / "rules.txt").unlink()
    found = toy()
    assert (found.exit_code, "cannot read the patterns" in found.stderr) == (1, True)
