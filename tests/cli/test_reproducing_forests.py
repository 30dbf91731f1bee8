"""The commands around the forests' experiments; what the numbers say is tested with the experiments."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from privet.experiments import fletcher_fig81, fletcher_instances

COMMANDS = ("fletcher-fig81", "forest-settings", "forest-claims")


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_an_example(shared_desk: Any, command: str) -> None:
    assert f"Example: privet reproduce {command}" in shared_desk.ok("reproduce", command, "--help").stdout


@pytest.fixture
def tables(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRIVET_DATA", str(data_dir))


@pytest.mark.usefixtures("tables")
def test_forest_claims(shared_desk: Any) -> None:
    asked = ("reproduce", "forest-claims", "--table", "wbc", "--epsilon", 10, "--folds", 2)
    told = shared_desk.ok(*asked, "--json")
    assert "NOT PRIVATE" in told.stderr
    found = json.loads(told.stdout)
    [claim] = found["results"]
    assert (claim["table"], claim["epsilon"], claim["fits"]) == ("wbc", 10, 48)  # a small table is dealt more often
    assert claim["accuracy"] > claim["majority"] == pytest.approx(0.655, abs=0.001)
    assert claim["log_loss"] < claim["shares_log_loss"] == pytest.approx(0.64, abs=0.03)
    assert found["verdict"] == "all 1 hold"
    text = shared_desk.ok(*asked, "--markdown").stdout
    assert text.startswith("| table | epsilon | majority % | accuracy % |")
    assert text.rstrip().endswith("claims: all 1 hold")


def test_without_tables_the_fix_is_named(shared_desk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PRIVET_DATA", raising=False)
    told = shared_desk.run("reproduce", "accuracy", "--quick", "--recipe", "sulq", "--epsilon", 1)
    assert told.exit_code != 0
    assert "PRIVET_DATA" in told.stderr
    assert "Traceback" not in told.stderr


def test_fig81(shared_desk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(tables: tuple[str, ...], **_: Any) -> Any:
        score = {"smooth": 90.0, "global": 73.0, "sound": 88.0, "random-forest": 91.0}
        row = fletcher_fig81.Row("A", 16, 5, score, {"smooth": 90.6, "global": 72.6})
        return fletcher_fig81.Figure81((row,), 2)

    monkeypatch.setattr(fletcher_fig81, "run", run)
    assert "verdict: reproduced" in shared_desk.ok("reproduce", "fletcher-fig81", "--quick").stdout
    assert json.loads(shared_desk.ok("reproduce", "fletcher-fig81", "--json").stdout)["verdict"] == "reproduced"
    found = {"A": {0: {"smooth": 80.0, "global": 70.0}, 1: {"smooth": 91.0, "global": 73.0}}}
    monkeypatch.setattr(fletcher_instances, "search", lambda *_, **__: found)
    monkeypatch.setattr(fletcher_fig81, "QUICK_TABLES", ("A",))
    text = shared_desk.ok("reproduce", "fletcher-fig81", "--quick", "--search", 2).stdout
    assert "smooth 80.0 to 91.0, on average 85.5" in text
    assert "seed 1" in text
    told = shared_desk.run("reproduce", "fletcher-fig81", "--table", "Z")
    assert told.exit_code != 0
    assert "'Z'" in told.stderr
