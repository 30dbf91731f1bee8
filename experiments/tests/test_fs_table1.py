"""Friedman & Schuster's Table 1 with real noise: two columns by default, the quick form's 200 runs a cell as slow."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from privet.errors import ParameterError
from privet_experiments.experiment import Row
from privet_experiments.judge import judge
from privet_experiments.papers.fs import table1 as fs_table1
from privet_experiments.papers.fs.table1 import (
    EXACT,
    FULL,
    METHODS,
    PRIVATE,
    QUICK,
    SIZES,
    TARGETS,
    FsTable1,
    behind,
    collect,
    measures,
    missed,
)  # fmt: skip
from privet_experiments.runner import run

Accuracy = dict[fs_table1.Column, Any]

# What 5,000 runs a cell gave (as published, then sound), for the false alarm below and for the reader.
MEASURED = {
    "ID3": ((90.1, 92.7, 94.8, 96.5, 97.7),),
    "InfoGain": ((57.5, 62.0, 66.5, 72.0, 78.8), (61.5, 72.6, 84.4, 93.0, 97.5)),
    "Gini": ((73.3, 93.5, 99.1, 99.9, 99.98), (93.2, 99.9, 100, 100, 100)),
    "Max": ((96.5, 99.98, 100, 100, 100), (99.95, 100, 100, 100, 100)),
    "SuLQ": ((55.1, 55.7, 56.6, 57.5, 59.3), (58.6, 64.6, 71.5, 79.7, 86.2)),
}


FEW = 120  # runs


def differs(accuracy: Accuracy) -> set[str]:
    """The cells that differ from the paper's."""
    return {one.says for one in judge("fs.table1", measures(accuracy)) if one.verdict == "differs"}


def cell(method: str, records: int) -> str:
    return f"accuracy of {method} after {records} records"


@pytest.fixture(scope="module")
def few() -> Accuracy:
    return collect(run("fs-table1", "full", FsTable1((200, 1000), FEW, 2010), processes=1, whole=True).rows)


@pytest.fixture(scope="module")
def accuracy() -> Accuracy:
    return collect(run("fs-table1", "full", FsTable1(runs=QUICK, seed=2010), processes=2, whole=True).rows)


def swapped(accuracy: Accuracy) -> Accuracy:
    """With the sound forms, which draw choices twice as sharply, in the place of the published ones."""
    other = {"as-published": "sound", "sound": "as-published"}
    return {(n, method, other.get(v, v)): values for (n, method, v), values in accuracy.items()}


def test_a_thousand_records_are_as_in_the_table(few: Accuracy) -> None:
    """False alarm about 3e-7, by the means of ``MEASURED`` and the standard errors of 120 runs and of the paper's 200.

    Of the cells against the paper Gini is nearest to its limit, by 5.1 of its standard errors; SuLQ by 5.6. A sound
    form falls behind by 5.4 and more. The exact tree misses its target at 200 records with 18 misses in 120 runs, where
    1.6 % miss: 1e-13. In the sound form's place Gini is 5.2 of its standard errors beyond the limit.
    """
    assert (differs(few), behind(few), missed(few)) == (set(), [], [])
    assert sorted(n for n, method, _ in few if method == EXACT) == [200, 1000]
    assert cell("Gini", 1000) in differs(swapped(few))


@pytest.mark.slow
def test_the_quick_form_reproduces_the_table(accuracy: Accuracy) -> None:
    """False alarm about 3e-7 over all 45 cells.

    With the means of ``MEASURED`` every cell but the ±0 ones is at least 5.5 of its standard errors from its limit.
    Where the paper prints 100 ± 0, five misses in 200 runs raise the alarm and the largest miss rate is 5e-4: 8e-8 a
    cell by the binomial distribution.
    """
    assert (differs(accuracy), behind(accuracy)) == (set(), [])


@pytest.mark.slow
def test_the_exact_tree_reaches_its_targets(accuracy: Accuracy) -> None:
    """97 % at 200 records and 99.9 % at 300 and more; 5,000 runs gave 99.22 and 99.97.

    A miss costs 50 points. At 200 records 1.6 % of runs miss and the alarm needs 26 in 200: 1e-16. At 300, 0.06 % do
    and the alarm needs 5: 2e-7. Above that none was seen.
    """
    assert sorted(n for n, method, _ in accuracy if method == EXACT) == [200, 300, *SIZES]
    assert missed(accuracy) == []
    weaker = {**accuracy, (200, EXACT, "sound"): np.repeat([100.0, 50.0], [170, 30])}
    assert missed(weaker)


@pytest.mark.slow
def test_another_constant_is_not_taken_for_the_papers(accuracy: Accuracy) -> None:
    """The sound forms must be told from the published ones, and those are behind them."""
    assert behind(swapped(accuracy))
    assert {cell("Gini", 1000), cell("SuLQ", 4000), cell("SuLQ", 5000)} <= differs(swapped(accuracy))


def test_accuracies_are_what_single_splits_have(few: Accuracy) -> None:
    """Right attribute or not, leaves right or not: a single split is right about all records, half of them or none."""
    for (_, method, _), values in few.items():
        assert len(values) == FEW
        if method in (*PRIVATE, EXACT):
            assert set(values) <= {0.0, 50.0, 100.0}


def as_measured() -> Accuracy:
    """Runs made up to have the means of ``MEASURED``."""
    exact = {200: 99.22, 300: 99.97} | dict.fromkeys(SIZES, 100.0)
    return {(n, EXACT, "sound"): np.full(FULL, mean) for n, mean in exact.items()} | {
        (n, method, variant): np.full(FULL, mean)
        for method, rows in MEASURED.items()
        for variant, row in zip(("as-published", "sound") if method in PRIVATE else ("non-private",), rows, strict=True)
        for n, mean in zip(SIZES, row, strict=True)
    }


def test_what_was_measured_reproduces_the_table_in_full() -> None:
    found = as_measured()
    assert (differs(found), behind(found), missed(found)) == (set(), [], [])
    assert len(judge("fs.table1", measures(found))) == len(METHODS) * len(SIZES)
    assert sorted(n for n, method, _ in found if method == EXACT) == sorted(TARGETS)


@pytest.mark.parametrize(("records", "mean"), [(200, 96.9), (300, 99.8), (5000, 99.8)])
def test_the_exact_tree_may_not_miss_a_target(records: int, mean: float) -> None:
    assert missed(as_measured() | {(records, EXACT, "sound"): np.full(FULL, mean)}) == [f"exact at {records}"]


@pytest.mark.parametrize(
    ("method", "records", "off", "verdict"),
    [
        ("Gini", 1000, 2.5, "reproduced"),  # 3.8 standard errors
        ("Gini", 1000, 3.1, "differs"),  # 4.1
        ("ID3", 5000, -0.2, "differs"),
        ("Max", 2000, -0.1, "reproduced"),  # 99.88, and 99.8 is the floor
        ("Max", 2000, -0.2, "differs"),
    ],
)
def test_the_full_form_is_strict(method: str, records: int, off: float, verdict: str) -> None:
    measured = as_measured()
    variant = "as-published" if method in PRIVATE else "non-private"
    measured[records, method, variant] += off
    assert differs(measured) == ({cell(method, records)} if verdict == "differs" else set())


def test_a_sound_form_may_not_fall_behind() -> None:
    measured = as_measured()
    measured[1000, "Max", "sound"] -= 5.0
    assert behind(measured) == ["Max at 1000"]


@pytest.mark.parametrize("runs", [0, 1])
def test_runs_are_checked(runs: int) -> None:
    with pytest.raises(ParameterError, match="runs must be at least 2"):
        run("fs-table1", "full", FsTable1(runs=runs))


def as_rows(accuracy: Accuracy) -> list[Row]:
    found: dict[int, list[Any]] = {}
    for (records, method, variant), values in accuracy.items():
        found.setdefault(records, []).append([method, variant, values.tolist()])
    return [{"records": records, "accuracy": cells} for records, cells in found.items()]


def test_what_is_shown() -> None:
    """A cell that differs, a sound form that falls behind and a missed target are all told."""
    measured = as_measured()
    measured[3000, "Gini", "as-published"] -= 60
    measured[1000, "Max", "sound"] -= 60
    measured[300, EXACT, "sound"] -= 10
    outcome = FsTable1().conclude(as_rows(measured))
    assert outcome.verdict == "24 of 25 statements reproduced; 1 differs"
    [apart] = [statement for statement in outcome.statements if statement.verdict == "differs"]
    assert (apart.says, apart.ours) == ("accuracy of Gini after 3000 records", "39.10 ± 0.0 %")
    assert outcome.notes == ("Sound forms: Max at 1000 falls behind.", "Exact tree: exact at 300 missed.")
    published, sound, exact = outcome.tables
    assert published.columns == ("records", *METHODS)
    assert published.rows[0][1] == "90.10 ± 0.0 (paper 90.1 ± 1.5)"
    assert [len(table.rows) for table in (published, sound, exact)] == [5, 5, 7]
    assert [series.name for series in outcome.figures[0].series] == [EXACT, *METHODS]
