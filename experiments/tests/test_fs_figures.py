"""Friedman & Schuster's figures: what is drawn, and statements that can be refuted."""

from __future__ import annotations

import numpy as np
import pytest

from privet.errors import ParameterError
from privet_experiments.experiment import Row
from privet_experiments.papers.fs import synthetic as fs_synthetic
from privet_experiments.papers.fs.adult import SCORES, FsAdult
from privet_experiments.papers.fs.curves import BINS, MAX
from privet_experiments.papers.fs.synthetic import FIGURES, FsSynthetic
from privet_experiments.runner import run

RUNS = 40


def made_up(figure: str, curves: dict[str, dict[int, float]], spread: float = 1.0) -> list[Row]:
    """Rows in which a method has a mean at each size, and the same spread everywhere."""
    sizes = next(iter(curves.values()))
    around = np.linspace(-spread, spread, RUNS)
    return [
        {
            "figure": figure,
            "records": n,
            "tree": 0,
            "accuracy": {m: (curve[n] + np.roll(around, i)).tolist() for i, (m, curve) in enumerate(curves.items())},
        }
        for n in sizes
    ]


def verdicts(figure: str, curves: dict[str, dict[int, float]], spread: float = 1.0) -> list[str]:
    filled = {m: curves.get(m, dict.fromkeys(curves[MAX], 90.0)) for m in FIGURES[figure].methods}
    grid = FsSynthetic((figure,), tuple(curves[MAX]), runs=RUNS)
    return [one.verdict for one in grid.conclude(made_up(figure, filled, spread)).statements]


def test_figure_3() -> None:
    good = {"Max": {500: 80.0, 1500: 99.0}, "Gini": {500: 60.0, 1500: 80.0}, "InfoGain": {500: 50.0, 1500: 60.0}}
    assert verdicts("3", good) == ["reproduced"] * 6
    assert verdicts("3", good, spread=5.0)[2:4] == ["differs"] * 2  # the spread does not shrink
    assert verdicts("3", good | {"Gini": {500: 90.0, 1500: 95.0}})[1] == "differs"  # ahead of Max
    assert verdicts("3", good | {"InfoGain": {500: 50.0, 1500: 45.0}})[0] == "differs"
    assert verdicts("3", good | {"Max": {500: 80.0, 1500: 90.0}})[4] == "differs"


def test_figure_5_needs_a_crossing() -> None:
    points = {1000: 80.0, 5000: 99.0}
    assert verdicts("5", {MAX: points, BINS: {1000: 90.0, 5000: 95.0}}) == ["reproduced", "reproduced"]
    assert verdicts("5", {MAX: points, BINS: {1000: 70.0, 5000: 95.0}}) == ["differs", "reproduced"]
    assert verdicts("5", {MAX: points, BINS: {1000: 90.0, 5000: 99.5}}) == ["reproduced", "differs"]


def test_larger_trees() -> None:
    few = {m: {1000: a, 20_000: b} for m, a, b in (("Max", 80.0, 90.0), ("Gini", 75.0, 95.0), ("InfoGain", 70.0, 96.0))}
    assert verdicts("6", few) == ["reproduced"] * 3
    assert verdicts("6", few | {"Max": {1000: 70.0, 20_000: 97.0}}) == ["differs", "differs", "reproduced"]
    assert verdicts("7", few, spread=20.0)[2] == "differs"


def test_a_numeric_split_is_found_with_enough_records() -> None:
    """Max at B = 0.2 on 5,000 records: 35 on a grid of 64 cells, to a point or two; ten bins miss half of one."""
    found = run("fs-figs345", "full", FsSynthetic(("5",), (5000,), runs=4, seed=3), processes=1)
    accuracy = {m: np.mean([row["accuracy"][m] for row in found.rows]) for m in (MAX, BINS)}
    assert accuracy[MAX] > 96.5
    assert accuracy[BINS] == pytest.approx(95, abs=1.5)


def test_trees_of_a_larger_figure_are_drawn_once() -> None:
    jobs = FsSynthetic(fs_synthetic.LARGER, (1000,), 3, 15).jobs()
    assert len(jobs) == 2 * 3 * 2
    assert {job["runs"] for job in jobs} == {10, 5}
    with pytest.raises(ParameterError, match="no figure here is called '9'"):
        run("fs-figs345", "full", FsSynthetic(("9",)))


def test_figure_8_asks_for_significance() -> None:
    grid = FsAdult(("adult-complete",), (1.0, 4.0), 5, who=SCORES)

    def judged(means: dict[str, tuple[float, float]], spread: float) -> list[str]:
        around = np.linspace(-spread, spread, 5)
        rows = [
            {"table": "adult-complete", "learner": name, "epsilon": e, "repeat": 0, "private": True,
             "accuracy": (mean + np.roll(around, i + int(e))).tolist()}
            for i, (name, both) in enumerate(means.items())
            for e, mean in zip((1.0, 4.0), both, strict=True)
        ]  # fmt: skip
        return [one.verdict for one in grid.conclude(rows).statements]

    good = {"InfoGain": (0.75, 0.77), "Gini": (0.79, 0.81), "Max": (0.82, 0.84)}
    assert judged(good, 0.006) == ["reproduced"] * 7
    assert judged(good, 0.1)[:3] == ["differs"] * 3  # the same means, and no significance
    assert judged(good | {"Max": (0.78, 0.80)}, 0.006)[0] == "differs"
