"""What the text says of Figures 5.4 and 5.5 and of Table 5.6, judged by the rows of ``fletcher-retention``.

The rows have distances, 0 where nothing was lost; correlations are with the thesis's pattern *accuracy*, 1 at best.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt

from privet_experiments.experiment import Row
from privet_experiments.judge import Measure, published
from privet_experiments.outcome import Table
from privet_experiments.sweep import all_of

OF_PATTERNS = ("pattern_accuracy", "pld", "psd")
OF_TREES = ("accuracy", "auc", "f1")
MEASURES = (*OF_PATTERNS, *OF_TREES)
TOLD = ("pattern accuracy", "PLD", "PSD", "accuracy", "AUC", "F1")
PAIRS = tuple(combinations(range(len(MEASURES)), 2))
NOISES = ("uniform", "gaussian")
TWO_CLASSES = {name for name, facts in published("fletcher.tables", "facts").items() if facts[3] == 2}


def trends(rows: Sequence[Row]) -> Iterator[Measure]:
    """Figure 5.4."""
    for measure, told in (("psd", "PSD"), ("pld", "PLD"), ("pattern_accuracy", "pattern accuracy error")):
        found = {}
        for table in dict.fromkeys(row["table"] for row in rows):
            mine = sorted((row["setting"], row[measure]) for row in _of(rows, "uniform") if row["table"] == table)
            if len(mine) > 1:
                found[table] = mine[-1][1] - mine[0][1]
        if found:
            flat = [table for table, rise in found.items() if rise <= 0]
            yield Measure("rises", measure=told, flat=flat, told=all_of(found, flat))


def correlations(rows: Sequence[Row]) -> Iterator[Measure]:
    """What the text says of Table 5.6."""
    for noise in NOISES:
        r, points = matrix(rows, noise)
        if r is None:
            continue
        least, most = _together(r)
        outlier, times = _outlier(rows, noise)
        rest, _ = matrix([row for row in rows if row["table"] != outlier], noise)
        without = "" if rest is None else "{:.2f} to {:.2f}".format(*_together(rest))
        told = {"outlier": outlier, "times": times, "without": without}
        yield Measure("together", at=noise, least=least, most=most, points=points, **told)
        yield Measure("weak", at=noise, strongest=float(np.abs(r[:3, 3:]).max()))
        yield Measure("matrix", at=noise, r=[float(r[pair]) for pair in PAIRS])


def _together(r: npt.NDArray[np.float64]) -> tuple[float, float]:
    """The least and the largest correlation among pattern measures: an accuracy against two distances."""
    among = (-float(r[0, 1]), -float(r[0, 2]), float(r[1, 2]))
    return min(among), max(among)


def _outlier(rows: Sequence[Row], noise: str) -> tuple[str, float]:
    """The table whose largest PSD is largest, and how many times the median of all tables' that is."""
    largest: dict[str, float] = {}
    for row in _of(rows, noise):
        if row["table"] in TWO_CLASSES:
            largest[row["table"]] = max(row["psd"], largest.get(row["table"], 0.0))
    table = max(largest, key=largest.__getitem__)
    return table, largest[table] / max(float(np.median(list(largest.values()))), 1e-9)


def matrix(rows: Sequence[Row], noise: str) -> tuple[npt.NDArray[np.float64] | None, int]:
    """Table 5.6 for one kind of noise, in the order of ``MEASURES``, and of how many points; None of too few.

    Pearson's r over tables and rates; a tree's measures less those at the lowest rate. Tables with more than two
    classes are left out, as in the thesis, which has no AUC and no F1 of them.
    """
    mine = [
        row
        for row in _of(rows, noise)
        if row["table"] in TWO_CLASSES and all(row[name] is not None for name in MEASURES)
    ]
    points = []
    tables = list(dict.fromkeys(row["table"] for row in mine))
    for table in tables:
        here = sorted((row for row in mine if row["table"] == table), key=lambda row: float(row["setting"]))
        first = here[0]
        points += [[1 - row["pattern_accuracy"], row["pld"], row["psd"]] + [row[n] - first[n] for n in OF_TREES]
                   for row in here]  # fmt: skip
    if len(points) < 8 or len(tables) < 3:
        return None, len(points)
    return np.corrcoef(np.array(points).T), len(points)


def printed_matrix(rows: Sequence[Row]) -> Iterator[Table]:
    """Table 5.6 with the thesis's numbers beside ours."""
    for noise in NOISES:
        r, points = matrix(rows, noise)
        if r is None:
            continue
        thesis = dict(zip(PAIRS, published("fletcher.retention", "matrix")[noise], strict=True))
        cells = tuple(
            (TOLD[i], *(f"{r[i, j]:.2f} ({thesis[i, j]:.2f})" if j > i else "" for j in range(1, len(MEASURES))))
            for i in range(len(MEASURES) - 1)
        )
        title = f"TH Table 5.6: correlations under {noise} noise over {points} points, and the thesis's"
        yield Table(title, ("measure", *TOLD[1:]), cells)


def budgets(rows: Sequence[Row]) -> Iterator[Measure]:
    """Figure 5.5: DPCube on banknote."""
    mine = sorted(
        (row for row in _of(rows, "dpcube") if row["table"] == "banknote"), key=lambda row: float(row["setting"])
    )
    if len(mine) < 4 or mine[0]["setting"] > 0.02:
        return
    low, high = mine[0], mine[-1]
    worse = [low[name] > high[name] for name in OF_PATTERNS] + [low["accuracy"] < high["accuracy"]]
    yield Measure("worse", worse=sum(worse))
    told = ", ".join(f"{row['setting']:g}: {row['pld']:.3f}" for row in mine)
    yield Measure("labels", told=told, pld=[row["pld"] for row in mine])
    middle, lowest = [100 * row["accuracy"] for row in mine[1:]], 100 * low["accuracy"]
    yield Measure("accuracy", least=min(middle), most=max(middle), lowest=lowest, budget=low["setting"])
    told = ", ".join(f"{row['setting']:g}: {row['psd']:.4f}" for row in mine)
    yield Measure("support", told=told, psd=[row["psd"] for row in mine])


def _of(rows: Sequence[Row], method: str) -> list[Row]:
    return [row for row in rows if row["method"] == method]
