"""``privet reproduce bai``: what it prints and writes, and what it refuses before it works."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from privet.experiments import bai, bai_chain, bai_pictures
from privet.experiments.bai import Figures, Point

METHODS = list(bai.methods("vote", 5))
FIGURES = Figures(
    tuple(
        Point("vote", method, epsilon, 5, 2, 1, 0.5 + i / 100, 0.001, 0.1, "published" not in method)
        for i, method in enumerate(METHODS)
        for epsilon in bai.EPSILONS
    )
)
DISTANCES = [bai_chain.Distance((2, 2), 2, 1.0, steps, 0.125) for steps in (0, 10)]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The experiment without its work; what was asked of it."""
    calls: list[Any] = []

    def run(tables: Any, **options: Any) -> Figures:
        options.pop("progress")
        calls.append((tuple(tables), options))
        return FIGURES

    monkeypatch.setattr(bai, "run", run)
    monkeypatch.setattr(bai_chain, "distances", lambda: DISTANCES)
    return calls


def test_in_words(desk: Any, asked: list[Any]) -> None:
    result = desk.ok("reproduce", "bai")
    for part in (
        "vote: accuracy %",
        "50.0 ± 0.1",
        "as published, d = whole",
        "0.125",
        "verdict: exact, against the best",
    ):
        assert part in result.stdout
    assert "verdict: as published, d = 2, against d = 1, a mechanism per level: ahead in 4" in result.stdout
    assert "not differentially private" in " ".join(result.stderr.replace("│", " ").split())
    assert asked == [(bai.TABLES, {"folds": 5, "repeats": 1, "steps": None})]


def test_quick_and_chosen_tables(desk: Any, asked: list[Any]) -> None:
    desk.ok("reproduce", "bai", "--quick", "--tables", "vote", "--tables", "tic-tac-toe")
    desk.ok("reproduce", "bai", "--quick", "--folds", 3, "--repeats", 2, "--steps", 7)
    assert asked == [
        (("vote", "tic-tac-toe"), {"folds": 2, "repeats": 1, "steps": 100}),
        (bai.TABLES, {"folds": 3, "repeats": 2, "steps": 7}),
    ]


def test_json_and_markdown(desk: Any, asked: list[Any]) -> None:
    told = json.loads(desk.ok("reproduce", "bai", "--json").stdout)
    assert told["experiment"] == "bai"
    assert len(told["points"]) == len(METHODS) * 4
    assert [contest["method"] for contest in told["contests"]] == [*bai.BLOCKS, "exact"]
    assert told["distances"][1] == {"arities": [2, 2], "subtrees": 2, "epsilon": 1.0, "steps": 10, "distance": 0.125}
    page = desk.ok("reproduce", "bai", "--markdown").stdout
    assert "| exact | yes | 50.0 ± 0.1 |" in page
    assert "- exact, against the best published form: ahead in 0 and behind in 4 of 4 cells" in page


def test_pictures(desk: Any, asked: list[Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    followed: list[Any] = []

    def traces(name: str, steps: int | None, progress: Any) -> list[bai_chain.Trace]:
        followed.append((name, steps))
        return [bai_chain.Trace(name, epsilon, (0.0, 1.0, 1.0)) for epsilon in bai_chain.EPSILONS]

    monkeypatch.setattr(bai_chain, "traces", traces)
    result = desk.ok("reproduce", "bai", "--quick", "--tables", "vote", "--plots", tmp_path / "new" / "pictures")
    assert {path.name for path in (tmp_path / "new" / "pictures").iterdir()} == {
        "bai-fig3-vote.png",
        "bai-fig4-vote.png",
    }
    assert "bai-fig3-vote.png" in result.stderr
    assert followed == [("vote", 100)]
    asked.clear()
    again = desk.run("reproduce", "bai", "--quick", "--tables", "vote", "--plots", tmp_path / "new" / "pictures")
    assert again.exit_code == 1
    assert "it is there already" in again.stderr
    assert not asked  # it says so before it works


def test_without_matplotlib_it_says_so_before_it_works(
    desk: Any, asked: list[Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    result = desk.run("reproduce", "bai", "--plots", tmp_path / "pictures")
    assert result.exit_code == 1
    assert "pip install 'privet[plots]'" in result.stderr
    assert not asked
    assert not (tmp_path / "pictures").exists()
    assert bai_pictures.FIGURES == {"vote": 4, "mushroom": 5, "tic-tac-toe": 6}


def test_without_tables_it_says_what_to_set(desk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PRIVET_DATA", raising=False)
    result = desk.run("reproduce", "bai", "--quick")
    assert result.exit_code == 1
    assert "PRIVET_DATA is not set: point it" in result.stderr
    unknown = desk.run("reproduce", "bai", "--tables", "iris")
    assert unknown.exit_code == 1
    assert "no figure shows 'iris'; choose among vote, mushroom, tic-tac-toe" in unknown.stderr


def test_help_has_an_example(desk: Any) -> None:
    assert "Example: privet reproduce bai --quick" in desk.ok("reproduce", "bai", "--help").stdout
