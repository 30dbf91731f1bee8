"""Schedules and stability: what rows come to, also those of a run that was cut, and the pages of what is committed."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest

from privet_experiments.experiment import Row
from privet_experiments.ours import samples
from privet_experiments.ours.schedules import OTHERS, Schedules, at
from privet_experiments.ours.stability import UNSTOPPED, Stability

ROOT = Path(__file__).parents[2]


def row(table: str, learner: str, **found: float) -> Row:
    lists = {name: [value] for name, value in found.items()}
    return {"table": table, "learner": learner, "epsilon": 2.0, "repeat": 0, **lists}


def test_samples_are_the_same_each_time_and_no_larger_than_said(tables: Any) -> None:
    for name in ("vote", "bell"):
        schema, columns = samples.load(name)
        assert len(columns[schema.label.name]) <= samples.RECORDS
        again = samples.load(name)[1]
        assert all(list(columns[one]) == list(again[one]) for one in schema.names)
    assert set(samples.EVERY) == {*samples.TABLES, *samples.SHAPES}


def test_a_schedule_is_compared_where_both_were_run() -> None:
    grid = Schedules(tables=("vote", "car", "bell"), epsilons=(2.0,))
    rows = [row(table, at("diffpid3", "equal"), accuracy=0.7) for table in ("vote", "car", "bell")]
    rows += [row("vote", at("diffpid3", "root"), accuracy=0.8), row("bell", at("diffpid3", "root"), accuracy=0.6)]
    found = grid.conclude(rows)
    by_recipe, by_table = found.tables
    column = 2 + OTHERS.index("root")
    cells = {(one[0], one[1]): one[column] for one in by_recipe.rows}
    assert cells["diffpid3", "2 real tables"] == cells["all", "2 real tables"] == "+10.0"  # car is not there yet
    assert cells["diffpid3", "1 shapes"] == "-10.0"
    assert cells["diffpc45", "0 shapes"] == "-"
    assert {one[0]: one[column - 1] for one in by_table.rows} == {"vote": "+10.0", "bell": "-10.0"}
    assert "On the real tables the best is 'root', +10.0" in found.notes[1]
    assert "chance explains as much" in found.notes[2]


def test_what_a_stopping_rule_buys() -> None:
    grid = Stability(tables=("vote", "bell"), epsilons=(2.0,))
    without = "diffpc45, not pruned"
    rows = [row("vote", "diffpc45", accuracy=0.9, agreement=0.95, rules=0.5)]
    rows += [row("vote", without, accuracy=0.8, agreement=0.75, rules=0.25)]
    rows += [row("bell", without, accuracy=0.8, agreement=0.75, rules=0.25)]
    whole, bought, by_table = grid.conclude(rows).tables
    assert dict(zip(UNSTOPPED, bought.rows, strict=True))[without][2:] == ("1", "+10.0", "+20.0", "+25.0")
    assert {one[0]: one[1:] for one in whole.rows}["diffpc45"] == ("90.0", "95.0", "50.0", "-", "-", "-")
    assert [(one[0], one[by_table.columns.index("diffpc45")]) for one in by_table.rows] == [("vote", "95.0")]


def test_pages_are_what_the_committed_results_say() -> None:
    """Red after new results or a change of what is concluded: `python tools/evidence.py` writes them."""
    tool = runpy.run_path(str(ROOT / "tools" / "evidence.py"))
    for experiment in tool["FROM_RESULTS"]:
        page = ROOT / "docs" / "experiments" / f"{experiment}.md"
        assert page.read_text("utf-8") == tool["written"](experiment), f"{page.name} is out of date"


@pytest.mark.parametrize("kind", [Schedules, Stability])
def test_an_unfinished_run_has_some_of_both_kinds(kind: type[samples.Sampled]) -> None:
    jobs = kind().jobs()
    early = {job["table"] for job in jobs[: len(jobs) // 4]}
    assert early & set(samples.TABLES)
    assert early & set(samples.SHAPES)
