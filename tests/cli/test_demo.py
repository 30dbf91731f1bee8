"""The tour: what it shows and what it leaves behind."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import privet
from privet.cli import demo
from privet.cli.demo_text import tell
from privet.recipes.registry import recipe_classes


def test_the_tour_as_data(desk: Any) -> None:
    told = json.loads(desk.ok("demo", "--json", "-o", desk["tour"]).stdout)
    share = {(one["learner"], one["epsilon"]): one["accuracy"] for one in told["accuracies"]}
    for name, recipe in recipe_classes().items():
        assert ((name, 1.0) in share) == bool(recipe.info.recommended)
    # A tree below 0.7 is 500 of 5000 records behind the best: e^-250 its weight, and there are e^40 trees.
    assert share["exact", 1.0] > 0.7
    assert share["always no", None] < share["sklearn-tree", None]
    verdicts = {one["recipe"]: one["verdict"] for one in told["audits"]}
    assert verdicts == {"diffpc45": "holds", "smooth-forest": "violated"}
    assert "nothing was charged or released" in told["refusal"]
    # What it leaves behind: a model, a page, and a journal that knows what was spent.
    ledger = privet.Ledger(journal=told["files"]["patients.journal"])
    assert float(ledger.spent) == 1.9
    assert float(ledger.remaining) == 0.1
    assert 0 < len(told["importances"]) <= 5
    assert privet.load_model(told["files"]["tree.json"]).certificate_.epsilon == 1
    page = Path(told["files"]["tree.html"]).read_text("utf-8")
    assert page.startswith("<!doctype html>") or page.startswith("<!DOCTYPE html>")


def test_the_tour_for_people(desk: Any, capsys: Any, monkeypatch: Any) -> None:
    """Told from what another tour found, so that it costs nothing here."""
    monkeypatch.setenv("COLUMNS", "80")
    found = demo.Tour(Path("folder"), schema="patients", tree="|--- age\n", certificate="Private\n", left="0.6 of 2",
                      importances={"age": 0.5, "days": 0.25},
                      refusal="nothing was charged", answers=[demo.Answer("How many?", 0.1, "7", "8")],
                      accuracies=[demo.Accuracy("exact", {0.1: 0.75}), demo.Accuracy("tree", {None: 0.8})],
                      audits=[{"recipe": "r", "variant": "v", "claimed": 1.0, "pair": "p", "lower_bound": bound,
                               "verdict": "violated"} for bound in (5948.0, "infinity")])  # fmt: skip
    monkeypatch.setattr(demo, "STEPS", {what: lambda tour: None for what in demo.STEPS})
    tell(found)
    text = capsys.readouterr().out
    assert max(map(len, text.splitlines())) <= 80
    words = " ".join(text.split())
    for part in ("How many?", "|--- age", "nothing was charged", "75.0 %", "not private", "5,948", "infinite",
                 "folder/tree.html"):  # fmt: skip
        assert part in words, part


def test_the_page_is_opened_on_request(desk: Any, monkeypatch: Any) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    monkeypatch.setattr("privet.cli.demo_text.tell", lambda tour: None)
    desk.ok("demo", "--open", "-o", desk["tour"])
    assert opened == [(desk.folder / "tour" / "tree.html").resolve().as_uri()]
    (desk.folder / "tour" / "tree.json").write_text("{}")
    refused = desk.run("demo", "-o", desk["tour"])
    assert refused.exit_code == 1
    assert "there already" in refused.stderr
