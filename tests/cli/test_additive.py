"""The additive model at the command line: fitted, shown, and with a delta that a journal keeps."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

from privet.privacy.ledger import Ledger


def test_a_model_is_fitted_and_shown(desk: Any) -> None:
    told = desk.fit("-o", desk["sum.json"], recipe="additive")
    assert told.exit_code == 0, told.stderr
    assert "parts" in told.stdout
    text = desk.ok("show", desk["sum.json"]).stdout
    assert text.startswith("additive: ")
    assert "blood_pressure" in text
    assert "epsilon" in desk.ok("show", desk["sum.json"], "--format", "certificate").stdout
    facts = json.loads(desk.ok("show", desk["sum.json"], "--json").stdout)
    assert facts["parts"] == len(facts["additive"]["parts"])
    refused = desk.run("show", desk["sum.json"], "--format", "rules")
    assert refused.exit_code != 0
    assert "has no rules" in refused.stderr


def test_a_journal_keeps_the_delta(desk: Any) -> None:
    delta = ("--set", "delta=1e-6", "--journal", desk["books.jsonl"])
    assert desk.fit("-o", desk["one.json"], *delta, "--budget", 5, recipe="additive").exit_code == 0
    ledger = Ledger(journal=Path(desk["books.jsonl"]))
    assert 0 < ledger.loss.delta <= Fraction(1, 10**6)
    assert ledger.spent == 2
    second = desk.fit("-o", desk["two.json"], *delta, recipe="additive")
    assert second.exit_code != 0, "a new journal had the delta of one fit, and no more"
    assert "delta" in second.stderr
    assert desk.fit("-o", desk["two.json"], "--journal", desk["books.jsonl"], recipe="additive").exit_code == 0
