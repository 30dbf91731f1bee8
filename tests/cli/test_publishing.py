"""``privet publish`` and ``privet compare``: good days, refusals, and what they leave behind."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from privet.models.model import Model
from privet.privacy.ledger import Ledger
from privet.rules import rule_list
from privet.schema import Schema
from privet.tables.encoding import encode
from privet.tables.files import read_table


def publish(desk: Any, method: str, *more: object, out: str = "out.csv") -> Any:
    facts = ("--schema", desk["clinic.schema.json"], "--method", method, "-o", desk[out])
    return desk.run("publish", desk["clinic.csv"], *facts, *more)


@pytest.mark.parametrize("method", ["diffgen", "dpcube"])
def test_a_published_table_is_a_table(desk: Any, method: str) -> None:
    result = publish(desk, method, "--epsilon", 1)
    assert result.exit_code == 0, result.stderr
    assert "Differentially private with epsilon = 1" in result.stdout
    schema = Schema.from_json(desk["clinic.schema.json"])
    codes = encode(schema, read_table(desk["out.csv"], schema))
    assert codes.labels is not None
    assert 400 < codes.labels.size < 800
    again = desk.ok("fit", desk["out.csv"], "-s", desk["clinic.schema.json"], "-r", "exact", "-e", 1, "-o", desk["m"])
    assert again.exit_code == 0


@pytest.mark.parametrize("method", ["uniform", "gaussian"])
def test_noise_at_a_rate_is_marked_as_not_private(desk: Any, method: str) -> None:
    result = publish(desk, method, "--rate", 0.2, "--json")
    assert result.exit_code == 0, result.stderr
    assert "NOT PRIVATE" in result.stderr
    assert json.loads(result.stdout)["certificate"]["epsilon"] == "infinity"


def test_a_journal_pays(desk: Any) -> None:
    settings = ("--journal", desk["books"], "--epsilon", 1, "--max-depth", 2, "--json")
    assert publish(desk, "diffgen", *settings).exit_code == 0
    assert Ledger(journal=Path(desk["books"])).spent == 1
    refused = publish(desk, "diffgen", *settings, out="more.csv")
    assert refused.exit_code == 1
    assert "0 left" in refused.stderr
    assert not Path(desk["more.csv"]).exists()


def test_a_taxonomy(desk: Any) -> None:
    good = desk.write("good.json", json.dumps({"weight": [["Underweight"], ["Normal", "Overweight"]]}))
    assert publish(desk, "diffgen", "-e", 1, "--taxonomy", good).exit_code == 0
    bad = desk.write("bad.json", json.dumps({"weight": ["Normal"]}))
    result = publish(desk, "diffgen", "-e", 1, "--taxonomy", bad, "--journal", desk["j"], out="other.csv")
    assert result.exit_code == 1
    assert "taxonomy's order" in result.stderr
    assert not Path(desk["j"]).exists()


@pytest.mark.parametrize(
    ("method", "options", "says"),
    [
        ("diffgen", (), "--epsilon"),
        ("dpcube", ("-e", 1, "--rate", 0.1), "--rate is for"),
        ("dpcube", ("-e", 1, "--taxonomy", "x.json"), "--taxonomy is for"),
        ("uniform", (), "--rate"),
        ("uniform", ("--rate", 0.1, "-e", 1), "not differentially private"),
        ("gaussian", ("--rate", 0.1, "--set", "max_bins=3"), "no other parameters"),
        ("gaussian", ("--rate", 3), "rate must be"),
        (
            "dpcube",
            ("-e", 1, "--set", "depth=3"),
            "dpcube has no parameter 'depth'; it takes\n  attributes, cells, first, max_bins\n",
        ),
        ("dpcube", ("-e", 1, "--set", "name=mine"), "has no parameter 'name'"),
        ("dpcube", ("-e", 0), "epsilon"),
    ],
)
def test_what_is_refused_leaves_nothing(desk: Any, method: str, options: tuple[object, ...], says: str) -> None:
    result = publish(desk, method, *options)
    assert result.exit_code == 1
    assert says in result.stderr
    assert not Path(desk["out.csv"]).exists()


def test_an_input_is_never_replaced(desk: Any) -> None:
    before = Path(desk["clinic.csv"]).read_bytes()
    result = publish(desk, "diffgen", "-e", 1, "--force", out="clinic.csv")
    assert result.exit_code == 1
    assert Path(desk["clinic.csv"]).read_bytes() == before


def test_compare(desk: Any) -> None:
    for name in ("a", "b"):
        assert desk.fit("-o", desk[name], "--max-depth", 2, recipe="exact").exit_code == 0
    told = desk.ok("compare", desk["a"], desk["b"]).stdout
    assert "Jaccard index" in told
    found = json.loads(desk.ok("compare", desk["a"], desk["a"], "--json").stdout)
    assert found["jaccard"] == found["upper_bound"] == 1
    assert found["only_first"] == found["only_second"] == []
    desk.write("rules.json", rule_list(Model.read(desk["a"])).to_json())
    assert json.loads(desk.ok("compare", desk["a"], desk["rules.json"], "--json").stdout)["jaccard"] == 1
    unlabelled = json.loads(desk.ok("compare", desk["a"], desk["a"], "--no-labels", "--json").stdout)
    assert {row["label"] for row in unlabelled["shared"]} == {None}
    none = json.loads(desk.ok("compare", desk["a"], desk["b"], "--min-support", 10**9, "--json").stdout)
    assert (none["first"], none["jaccard"]) == (0, 1)


def test_compare_files_that_are_not_models(desk: Any) -> None:
    for name in ("clinic.csv", "nowhere.json"):
        result = desk.run("compare", desk[name], desk[name])
        assert result.exit_code == 1
        assert name in result.stderr
