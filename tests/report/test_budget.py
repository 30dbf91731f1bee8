"""The page of a budget: sums of the journal, who spent what, and whether the books can be trusted."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import privet
from privet.cli import app
from privet.privacy.examining import examine
from privet.report.budget import MOST_WORKS, budget_context, budget_page


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    """Two analysts and the owner; one piece of work is not ended."""
    path = tmp_path / "clinic.journal"
    ledger = privet.Ledger(4, journal=path, dataset="clinic <b>")
    alice = ledger.analyst("alice", 1)
    ledger.analyst("bob", 2)
    with ledger.reserve(0.5, "fit of exact") as work:
        work.charge(0.25, "leaf class counts")
    with alice.reserve(0.25, "score of a model") as work:
        work.charge(0.25, "private score")
    ledger.charge(0.125, "noisy count")
    ledger.reserve(1, "fit of sulq")
    return path


def words(page: str) -> str:
    return html.unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page)))


def context(path: Path) -> dict[str, Any]:
    return budget_context(examine(path), path.name)


def test_the_sums_are_those_of_the_ledger(journal: Path) -> None:
    before = journal.read_bytes()
    found = context(journal)
    assert dict(found["amounts"]) == {"allowed": "4", "spent": "1.625", "left": "2.375"}
    assert [(one.name, one.limit, one.spent, one.left) for one in found["people"]] == [
        ("the owner", "4", "1.375", "2.375"),
        ("alice", "1", "0.25", "0.75"),
        ("bob", "2", "0", "2"),
    ]
    assert [(work["who"], work["what"], work["cost"]) for work in found["works"]] == [
        ("the owner", "fit of sulq", "1"),
        ("alice", "score of a model", "0.25"),
        ("the owner", "fit of exact", "0.25"),
    ]
    assert found["undated"] == "0.125"
    assert journal.read_bytes() == before


def test_the_page_escapes_names_and_needs_no_network(journal: Path) -> None:
    page = budget_page(journal)
    assert "The privacy budget of clinic <b>" in words(page)
    assert "clinic <b>" not in page
    assert not re.search(r'(?:src|href)="(?!#|data:,)', page)
    assert "not ended: all of 1 counts" in words(page)
    assert "54.6 times as likely" in words(page)  # e^4, rounded up
    assert "A budget of 4 is a weak promise" in words(page)


def test_damage_is_on_the_page(journal: Path) -> None:
    assert "each follows from the one before it" in words(budget_page(journal))
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[:4] + lines[5:]))
    page = words(budget_page(journal))
    assert "The journal is damaged" in page
    assert dict(context(journal)["amounts"])["left"] == "0"


def test_work_at_several_times_is_drawn(journal: Path) -> None:
    assert context(journal)["chart"] is None or len({work["time"] for work in context(journal)["works"]}) > 1
    found = examine(journal)
    for day, hold in enumerate(found.works, 10):
        hold.time = f"2026-11-{day}T09:30Z"
    chart = budget_context(found, "clinic.journal")["chart"]
    assert "2026-11-10" in chart
    assert "2026-11-12" in chart
    heights = [float(point.split(",")[1]) for point in re.findall(r'points="([^"]+)"', chart)[0].split()]
    assert heights == sorted(heights, reverse=True)  # an amount that only grows


def test_much_work_is_added_up(tmp_path: Path) -> None:
    found = examine(_with_works(tmp_path / "a.journal", 3))
    several = tuple(found.works) * MOST_WORKS
    shown = budget_context(type(found)(**(vars(found) | {"works": several})), "a.journal")
    assert len(shown["works"]) == MOST_WORKS
    assert shown["before"][0] == 2 * MOST_WORKS


def _with_works(path: Path, count: int) -> Path:
    ledger = privet.Ledger(1, journal=path)
    for _ in range(count):
        ledger.reserve(0.1, "work").end()
    return path


def test_the_command(journal: Path, tmp_path: Path) -> None:
    output = tmp_path / "budget.html"
    run = CliRunner().invoke(app, ["ledger", "report", str(journal), "-o", str(output), "--json"])
    assert run.exit_code == 0, run.output
    assert json.loads(run.stdout)["bytes"] == output.stat().st_size
    again = CliRunner().invoke(app, ["ledger", "report", str(journal), "-o", str(journal)])
    assert again.exit_code != 0
