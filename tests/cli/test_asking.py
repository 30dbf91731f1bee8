"""``privet ask``."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest


def ask(desk: Any, question: str, *more: object, table: str = "clinic.csv") -> Any:
    return desk.run("ask", desk[table], question, "--schema", desk["clinic.schema.json"], "--epsilon", "0.5", *more)


def test_an_answer_has_its_price_and_its_error_bar(desk: Any) -> None:
    found = ask(desk, "count where temperature > 38.7 by weight", "--journal", desk["j"], "--budget", "1")
    assert found.exit_code == 0, found.stderr
    for text in ("Underweight", "Each number is within 6", "epsilon = 0.5", "Left of the budget", "epsilon 0.5"):
        assert text in found.stdout
    again = ask(desk, "count", "--journal", desk["j"], "--epsilon", "0.6")
    assert again.exit_code == 1
    assert "0.5 left" in again.stderr


def test_as_json(desk: Any) -> None:
    found = json.loads(ask(desk, "class counts where cough = true", "--json", table="clinic.csv.gz").stdout)
    assert found["ask"]["where"] == [{"column": "cough", "op": "is", "value": "true"}]
    assert [row["of"] for row in found["rows"]] == ["Healthy", "Sick"]
    assert (found["epsilon"], found["within"], found["certificate"]["epsilon"]) == ("1/2", 6, "1/2")


@pytest.mark.parametrize(
    ("question", "says"),
    [
        ("drop table", "question expects count"),
        ("average of weight", "'weight' is categorical"),
        ("count where temprature > 3", "did you mean 'temperature'"),
        ("count where temperature > 50", "beyond the declared bounds"),
    ],
)
def test_a_mistake_charges_nothing(desk: Any, question: str, says: str) -> None:
    found = ask(desk, question, "--journal", desk["j"], "--budget", "1")
    assert (found.exit_code, says in found.stderr) == (1, True), found.stderr
    assert not (desk.folder / "j").exists()


def test_a_server_is_named_by_its_address(desk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The branch alone: the tests of the server ask a real one."""
    asked: list[Any] = []
    monkeypatch.setattr("privet.cli.remote.ask_server", lambda url, remote, as_json: asked.append((url, remote.body())))
    desk.ok("ask", "https://privet.example", "visits", "count where age > 3 by ward", "--epsilon", "1/3")
    comparison = {"column": "age", "op": "above", "value": 3.0}
    what = {"epsilon": Fraction(1, 3), "where": [comparison], "by": "ward"}
    assert asked == [("https://privet.example", ("count", what))]


def test_a_table_needs_its_schema_and_a_price(desk: Any) -> None:
    assert "give --schema FILE" in desk.run("ask", desk["clinic.csv"], "count", "--epsilon", "1").stderr
    assert "say what the answer may cost" in desk.run("ask", desk["clinic.csv"], "count").stderr
