"""``privet refine``: the loop of the thesis's Fig. 5.1 on one budget."""

from __future__ import annotations

import csv
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import privet
from privet.datasets.clinic import clinic
from privet.errors import BudgetExceeded, ParameterError
from privet.publishing import DiffGen
from privet.rules.by_value import rules_by_value
from privet.rules.refining import Goal, refine

RULES = "IF temperature > 38 THEN Sick\nIF cough = true AND temperature > 37.5 THEN Sick\nALWAYS Healthy\n"
SCHEMA, TABLE = clinic(400)
WAYS = [DiffGen(max_depth=1), DiffGen(max_depth=2), DiffGen(max_depth=3)]


@pytest.fixture
def run(desk: Any) -> Any:
    desk.write("rules.txt", RULES)

    def run(*more: object) -> Any:
        facts = ("--schema", desk["clinic.schema.json"], "--patterns", desk["rules.txt"], "-o", desk["out.csv"])
        return desk.run("refine", desk["clinic.csv"], *facts, "-e", "0.5", "--epsilon-patterns", "0.25", *more)

    return run


def test_it_stops_at_the_first_that_is_good_enough(run: Any, desk: Any) -> None:
    journal = ("--journal", desk["j.journal"], "--budget", 2)
    found = run("--try", "diffgen:max_depth=1", "--try", "dpcube:cells=16", "--psd", 1, *journal, "--json")
    assert found.exit_code == 0, found.stderr
    facts = json.loads(found.stdout)
    assert (len(facts["rounds"]), facts["met"], facts["chosen"]) == (1, True, 0)
    assert facts["certificate"]["epsilon"] == "3/4"  # one table, and the patterns once
    assert facts["left"]["epsilon"] == "5/4"  # the reservation of the second table was given back
    with open(desk["out.csv"], newline="") as file:
        assert set(next(csv.reader(file))) == set(SCHEMA.columns)


def test_it_writes_the_nearest_if_none_is_good_enough(run: Any, desk: Any) -> None:
    found = run("--try", "diffgen:max_depth=1", "--try", "diffgen:max_depth=2", "--psd", "0.0000001")
    assert found.exit_code == 0, found.stderr
    assert "comes nearest, and is not good enough (PSD <= 1e-07)" in found.stdout
    assert "epsilon = 5/4" in found.stdout or "epsilon = 1.25" in found.stdout
    assert Path(desk["out.csv"]).exists()


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (("--try", "diffgen"), "give one, such as psd=0.02"),
        (("--try", "uniform", "--psd", 1), "must begin with dpcube or diffgen"),
        (("--try", "diffgen:depth", "--psd", 1), "not of the form name=value"),
        (("--try", "diffgen:colour=3", "--psd", 1), "colour"),
        (("--try", "diffgen", "--psd", 3), "PSD must be a number above 0"),
    ],
)
def test_refusals(run: Any, desk: Any, options: tuple[object, ...], named: str) -> None:
    found = run(*options, "--journal", desk["j.journal"], "--budget", 2)
    assert (found.exit_code, named in found.stderr) == (1, True), found.stderr
    assert not Path(desk["j.journal"]).exists()


def test_the_price_of_all_is_reserved_before_the_first() -> None:
    ledger = privet.Ledger(1)
    data = privet.protect(TABLE, SCHEMA, ledger)
    rules = rules_by_value(SCHEMA, RULES)
    with pytest.raises(BudgetExceeded):
        refine(data, WAYS, rules, Goal(psd=1), epsilon=0.5, epsilon_patterns=0.25)
    assert ledger.spent == 0
    found = refine(data, WAYS[:1], rules, Goal(psd=1), epsilon=0.5, epsilon_patterns=0.25)
    assert (len(found.rounds), ledger.spent) == (1, Fraction(3, 4))
    with pytest.raises(ParameterError, match="no way to publish"):
        refine(data, [], rules, Goal(psd=1), epsilon=0.5, epsilon_patterns=0.25)


def test_a_goal_is_met_if_every_measure_is() -> None:
    report = privet.rules.retention_report(TABLE, TABLE, rules_by_value(SCHEMA, RULES))
    assert Goal(psd=0.1, pld=0.1, accuracy=0.1).distance(report) == 0
    half = {name: column[::2] for name, column in TABLE.items()}
    changed = privet.rules.retention_report(TABLE, half, rules_by_value(SCHEMA, RULES))
    assert Goal(psd=0.001, pld=0.9).distance(changed) == pytest.approx(changed.psd / 0.001)
