"""Verdicts that other runs would flip are not given: clear ones stay, coin tosses are "too few runs"."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pytest

from privet_experiments.experiment import Row
from privet_experiments.folds import Learner
from privet_experiments.judge import Measure
from privet_experiments.papers.fs.grid import FsGrid
from privet_experiments.settling import averaged, draw_again, settle
from privet_experiments.sweep import Results, Sweep, declare


@dataclass(frozen=True)
class Race(Sweep):
    """Two learners: the first is said to be ahead of the second by some points."""

    section: ClassVar[str] = "fletcher.fig86"
    least_tables: ClassVar[int] = 1
    known: ClassVar[Mapping[str, Learner]] = declare({"one": ("exact", {}), "two": ("exact", {})})

    def measures(self, results: Results) -> Iterator[Measure]:
        yield Measure("enough", mean=90.0 if results.gap("vote", "one", "two", 1.0) > 0 else 0.0)


GRID = Race(("vote",), (1.0,), folds=10)


def rows(gap: float, spread: float, folds: int = 10) -> list[Row]:
    """The two learners have the same luck in a fold, but for the spread."""
    luck = np.random.default_rng(0).normal(0, 0.1, folds)
    noise = spread * np.resize([1.0, -1.0], folds)
    at: dict[str, Any] = {"table": "vote", "epsilon": 1.0, "repeat": 0, "fit_seconds": 0.0}
    found = {"one": 0.5 + luck + noise + gap, "two": 0.5 + luck}
    return [at | {"learner": name, "accuracy": values.tolist()} for name, values in found.items()]


@pytest.mark.parametrize(("gap", "spread", "verdict"), [
    (0.02, 0.01, "reproduced"), (-0.02, 0.01, "differs"), (0.001, 0.02, "too few runs"),
])  # fmt: skip
def test_only_what_other_runs_would_not_flip_is_judged(gap: float, spread: float, verdict: str) -> None:
    """The luck that both share (0.1) is far above the gap: pairing the folds shows it all the same."""
    [found] = settle(GRID, rows(gap, spread)).statements
    assert found.verdict == verdict
    assert found.flip is not None
    assert (found.flip > 0.05) == (verdict == "too few runs")
    assert verdict != "too few runs" or "agrees" in found.reason


def test_few_runs_judge_nothing_however_clear() -> None:
    [found] = settle(replace(GRID, folds=9), rows(0.3, 0.0, folds=9)).statements
    assert (found.verdict, found.flip) == ("too few runs", None)
    assert found.reason == "9 runs behind each number; 10 are the least; here it agrees"


def test_runs_are_drawn_whole() -> None:
    one, two = draw_again(GRID, rows(0.0, 0.0), seed=3)
    assert one["accuracy"] == two["accuracy"]  # the same folds for both
    assert set(one["accuracy"]) < set(rows(0.0, 0.0)[0]["accuracy"])  # with replacement


def test_a_repeat_can_be_one_run() -> None:
    """Trees differ in how hard they are: what one tree found takes the place of another's, in all of its rows."""
    grid = FsGrid(depths=(3,), arities=(2,), noises=(0.1,), records=(500, 1000), trees=3)
    found = [job | {"Max": [10.0 * job["tree"] + job["records"]]} for job in grid.jobs()]
    drawn = draw_again(grid, found, seed=1)
    assert [{name: row[name] for name in job} for job, row in zip(grid.jobs(), drawn, strict=True)] == grid.jobs()
    picked = [[row["Max"][0] - row["records"] for row in drawn if row["tree"] == tree] for tree in range(3)]
    assert all(few == many for few, many in picked)
    assert {few for few, _ in picked} < {0.0, 10.0, 20.0}  # with replacement


def test_means_of_nested_runs() -> None:
    row = {"table": "vote", "methods": {"a": [[1.0, 2.0], [None, 4.0]]}, "none": [None, None], "names": ["x", "y"]}
    expected = {"table": "vote", "methods": {"a": [1.5, 4.0]}, "none": None, "names": ["x", "y"]}
    assert averaged(row) == expected
