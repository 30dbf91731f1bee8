"""What the text says of Figures 5.4 and 5.5 and of Table 5.6, judged by the rows of ``fletcher-retention``.

Measures here are distances, 0 where nothing was lost, so a correlation that the thesis prints with its pattern
*accuracy* has the opposite sign.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise

import numpy as np

from privet.experiments.experiment import Row
from privet.experiments.outcome import Statement
from privet.experiments.worked.printed import claimed

OF_PATTERNS = ("pattern_accuracy", "pld", "psd")
OF_TREES = ("accuracy", "auc", "f1")
NOISES = {"uniform": (0.58, 0.83, 0.36), "gaussian": (0.44, 0.86, 0.27)}
"""Noise -> the least and largest |r| among pattern measures, the largest |r| of theirs with a tree's; Table 5.6."""
BANKNOTE = "banknote"


def trends(rows: Sequence[Row]) -> Iterator[Statement]:
    """Figure 5.4."""
    for measure, told in (("psd", "PSD"), ("pld", "PLD"), ("pattern_accuracy", "pattern accuracy error")):
        found = {}
        for table in dict.fromkeys(row["table"] for row in rows):
            mine = sorted((row["setting"], row[measure]) for row in _of(rows, "uniform") if row["table"] == table)
            if len(mine) > 1:
                found[table] = mine[-1][1] - mine[0][1]
        if not found:
            return
        flat = [table for table, rise in found.items() if rise <= 0]
        says = f"{told} rises with uniform noise, on every table"
        ours = f"{len(found) - len(flat)} of {len(found)}{'; not ' + ', '.join(flat) if flat else ''}"
        why = "on wilt 95 % have one label, and every pattern says it: no noise on other attributes moves its accuracy"
        yield claimed("TH Fig. 5.4", says, "every table", ours, not flat, why)


def correlations(rows: Sequence[Row]) -> Iterator[Statement]:
    """Table 5.6: Pearson's r over tables and rates; a tree's measures less those at the lowest rate."""
    for noise, (least, most, weak) in NOISES.items():
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
        between = [float(r[i, j]) for i in range(3) for j in range(3, 6)]
        told = f"{min(among):.2f} to {max(among):.2f} over {len(points)} points"
        says = f"{noise} noise: the three pattern measures go together"
        why = "our points are of fewer tables and rates than the thesis's"
        yield claimed("TH Table 5.6", says, f"{least} to {most}", told, min(among) > 0.3, why, rule="all above 0.3")
        strongest = max(np.abs(between))
        says = f"{noise} noise: a tree's accuracy, AUC and F1 have weak correlations with pattern measures"
        told = f"at most {strongest:.2f}"
        yield claimed("TH Table 5.6", says, f"at most {weak}", told, strongest <= 0.5, why, rule="none above 0.5")


def budgets(rows: Sequence[Row]) -> Iterator[Statement]:
    """Figure 5.5: DPCube on banknote."""
    mine = sorted(
        (row for row in _of(rows, "dpcube") if row["table"] == BANKNOTE), key=lambda row: float(row["setting"])
    )
    if len(mine) < 4 or mine[0]["setting"] > 0.02:
        return
    low, high = mine[0], mine[-1]
    worse = [low[name] > high[name] for name in OF_PATTERNS] + [low["accuracy"] < high["accuracy"]]
    says = "banknote: all four measures are worse at the smallest budget than at the largest"
    yield claimed("TH Fig. 5.5", says, "4 of 4", f"{sum(worse)} of 4", all(worse))
    labels = [row["pld"] for row in mine]
    told = ", ".join(f"{row['setting']:g}: {row['pld']:.3f}" for row in mine)
    says = "banknote: PLD rises steadily as the budget falls"
    holds = all(a >= b - 0.01 for a, b in pairwise(labels))
    yield claimed("TH 5.8.4", says, "rises", told, holds)
    middle = [100 * row["accuracy"] for row in mine[1:]]
    told = f"{min(middle):.1f} to {max(middle):.1f} %, and {100 * low['accuracy']:.1f} at {low['setting']:g}"
    says = "banknote: a tree's accuracy changes little between the budgets above 0.02 and falls there"
    holds = max(middle) - min(middle) <= 6 and 100 * low["accuracy"] < min(middle) - 5
    yield claimed("TH 5.8.4", says, "flat, then falls", told, holds, rule="within six points, then five below")
    supports = [row["psd"] for row in mine]
    told = ", ".join(f"{row['setting']:g}: {row['psd']:.4f}" for row in mine)
    says = "banknote: PSD stays the same until the budget is 0.02"
    why = "DPCube here cuts by noisy counts and grows coarser little by little; the thesis does not say its settings"
    holds = max(supports[1:]) - min(supports[1:]) <= 0.2 * supports[0] and supports[0] > 1.5 * max(supports[1:])
    yield claimed("TH 5.8.4", says, "same until 0.02", told, holds, why)


def _of(rows: Sequence[Row], method: str) -> list[Row]:
    return [row for row in rows if row["method"] == method]
