"""Ruins at the command line: refused without a charge, stopped for little, and named by the owner's check."""

from __future__ import annotations

import csv
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from privet.privacy.ledger import Ledger


def write(desk: Any, name: str, **columns: Any) -> str:
    """The clinic's table with some columns exchanged, as CSV."""
    table = {**desk.columns, **columns}
    with open(desk[name], "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(table)
        writer.writerows(zip(*table.values(), strict=True))
    return name


@pytest.mark.parametrize(
    ("column", "cells", "says"),
    [
        ("class", pa.array([True] * 600), "'class' is declared to hold booleans"),
        (
            "temperature",
            pa.array([20_000] * 600).cast(pa.int32()).cast(pa.date32()),
            "'temperature' is declared to hold",
        ),
        ("cough", pa.array([[1]] * 600), "'cough' is declared to hold lists"),
    ],
)
def test_parquet_types_are_refused_before_a_journal_is_there(desk: Any, column: str, cells: Any, says: str) -> None:
    table = pa.table({name: cells if name == column else list(told) for name, told in desk.columns.items()})
    parquet.write_table(table, desk["typed.parquet"])
    for more in ((), ("--journal", desk["new.journal"])):
        result = desk.fit("-o", desk["tree.json"], *more, table="typed.parquet")
        assert result.exit_code == 1
        assert says in result.stderr
    assert not Path(desk["new.journal"]).exists()
    Ledger(5, journal=desk["old.journal"])
    assert desk.fit("-o", desk["tree.json"], "--journal", desk["old.journal"], table="typed.parquet").exit_code == 1
    assert Ledger(journal=desk["old.journal"]).spent == 0
    facts = ("--schema", desk["clinic.schema.json"])
    for command in (("evaluate", "-r", "sulq", "-e", 1), ("schema", "check")):
        head = 1 if command[0] == "evaluate" else 2
        result = desk.run(*command[:head], desk["typed.parquet"], *facts, *command[head:])
        assert result.exit_code == 1
        assert says in result.stderr


def test_an_expectation_stops_a_fit_of_unknown_labels(desk: Any) -> None:
    table = write(desk, "shouting.csv", **{"class": np.char.upper(desk.columns["class"].astype(str))})
    journal = ("--journal", desk["budget.journal"], "--budget", 10)
    result = desk.fit("-o", desk["tree.json"], "--expect", 600, *journal, table=table)
    assert result.exit_code == 1
    assert "the fit was stopped" in result.stderr
    assert "privet schema check" in result.stderr
    assert not Path(desk["tree.json"]).exists()
    assert Ledger(journal=desk["budget.journal"]).spent == Fraction(56, 600)
    kept = json.loads(desk.fit("-o", desk["tree.json"], "--expect", 600, "--json").stdout)
    assert kept["certificate"]["charges"][0]["what"] == "number of usable records"
    too_few = desk.fit("-o", desk["tree.json"], "--expect", 600, "--journal", desk["other.journal"], epsilon="0.5")
    assert too_few.exit_code == 1
    assert "from 1120 on it works" in too_few.stderr
    assert not Path(desk["other.journal"]).exists()


def check(desk: Any, table: str, *more: object) -> Any:
    return desk.run("schema", "check", desk[table], "--schema", desk["clinic.schema.json"], *more)


def test_the_check_fails_when_much_is_outside(desk: Any) -> None:
    commas = [f"{value:.1f}".replace(".", ",") for value in desk.columns["temperature"].astype(float)]
    table = write(desk, "commas.csv", temperature=commas, **{"class": desk.columns["class"] == "Sick"})
    result = check(desk, table)
    assert result.exit_code == 1
    assert "outside privacy" in result.stdout
    assert "600 have a decimal comma; write a decimal point" in result.stdout
    assert "600 unknown label" in result.stdout
    assert "more than 5.0% of the records have the same fault in temperature, class" in result.stderr
    told = json.loads(check(desk, table, "--json").stdout)
    assert (told["passed"], told["most"], told["private"]) == (False, 0.05, False)
    assert check(desk, table, "--most", 1).exit_code == 0


def test_a_few_faults_pass(desk: Any) -> None:
    cells = desk.columns["cough"].astype(object)
    cells[:6] = "perhaps"
    table = write(desk, "few.csv", cough=cells)
    assert check(desk, table).exit_code == 0
    assert check(desk, table, "--most", 0.009).exit_code == 1
    assert json.loads(check(desk, table, "--json").stdout)["passed"]
    assert check(desk, table, "--most", 2).exit_code == 2
