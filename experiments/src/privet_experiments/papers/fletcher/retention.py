"""What the text says of Figures 5.4 and 5.5 and of Table 5.6, judged by the rows of ``fletcher-retention``.

Measures here are distances, 0 where nothing was lost, so a correlation that the thesis prints with its pattern
*accuracy* has the opposite sign.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from privet_experiments.experiment import Row
from privet_experiments.judge import Measure
from privet_experiments.sweep import all_of

OF_PATTERNS = ("pattern_accuracy", "pld", "psd")
OF_TREES = ("accuracy", "auc", "f1")


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
    """Table 5.6: Pearson's r over tables and rates; a tree's measures less those at the lowest rate."""
    for noise in ("uniform", "gaussian"):
        mine = [row for row in _of(rows, noise) if all(row[name] is not None for name in (*OF_PATTERNS, *OF_TREES))]
        tables = list(dict.fromkeys(row["table"] for row in mine))
        if len(mine) < 8 or len(tables) < 3:
            continue
        points = []
        for table in tables:
            here = sorted((row for row in mine if row["table"] == table), key=lambda row: float(row["setting"]))
            first = here[0]
            points += [[*(r[n] for n in OF_PATTERNS), *(r[n] - first[n] for n in OF_TREES)] for r in here]
        r = np.corrcoef(np.array(points).T)
        among = [float(r[i, j]) for i, j in combinations(range(3), 2)]
        yield Measure("together", at=noise, least=min(among), most=max(among), points=len(points))
        yield Measure("weak", at=noise, strongest=float(np.abs(r[:3, 3:]).max()))


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
