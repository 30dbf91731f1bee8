"""What Friedman & Schuster's figures on invented records show, and what their text says of it, judged.

The figures have no numbers in the text: orders, crossings and spreads are what can be asked again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from privet.experiments.experiment import Row
from privet.experiments.outcome import Figure, Point, Series, Statement, Table, judged

INFOGAIN, GINI, MAX, SULQ, ID3, EXACT = "InfoGain", "Gini", "Max", "SuLQ", "ID3", "exact"
J48, J48_UNPRUNED, BINS = "C4.5", "C4.5 unpruned", "Max on ten bins"
SCORES = (INFOGAIN, GINI, MAX)


class Curves:
    """Accuracy of each method by the number of records."""

    def __init__(self, rows: Sequence[Row], methods: Sequence[str], sizes: Sequence[int]) -> None:
        self.methods, self.sizes = tuple(methods), tuple(sorted(sizes))
        self._found: dict[tuple[str, int], list[float]] = {}
        self._by_tree: dict[tuple[str, int, int], list[float]] = {}
        for row in rows:
            for method, values in row["accuracy"].items():
                self._found.setdefault((method, row["records"]), []).extend(values)
                self._by_tree.setdefault((method, row["records"], row["tree"]), []).extend(values)

    def mean(self, method: str, size: int) -> float:
        return float(np.mean(self._found[method, size]))

    def sd(self, method: str, size: int) -> float:
        """Over the runs on one tree, on average over the trees: trees differ in how hard they are."""
        trees = [np.var(values) for (m, n, _), values in self._by_tree.items() if (m, n) == (method, size)]
        return float(np.mean(trees)) ** 0.5

    def error(self, method: str, size: int) -> float:
        return float(np.std(self._found[method, size]) / len(self._found[method, size]) ** 0.5)

    def gap(self, first: str, second: str, size: int) -> float:
        return self.mean(first, size) - self.mean(second, size)

    def doubt(self, first: str, second: str, size: int) -> float:
        """Two standard errors of a gap; both methods learned from the same training sets."""
        apart = np.subtract(self._found[first, size], self._found[second, size])
        return 2.0 * float(apart.std() / apart.size**0.5)

    def table(self, title: str) -> Table:
        rows = tuple(
            (f"{n}", *(f"{self.mean(method, n):.1f} ± {self.sd(method, n):.1f}" for method in self.methods))
            for n in self.sizes
        )
        return Table(title, ("records", *self.methods), rows)

    def figure(self, title: str) -> Figure:
        series = tuple(
            Series(
                method,
                tuple(Point(float(n), self.mean(method, n), self.error(method, n)) for n in self.sizes),
                dashed=method in (ID3, J48, J48_UNPRUNED),
            )
            for method in self.methods
        )
        return Figure(title, "records", "accuracy %", series, logarithmic=True)


# ---- what the paper says -------------------------------------------------------------------------------------------

Judge = Callable[[Curves, str], Iterable[Statement]]
SINGLE_RISE = "accuracy is higher as more records are available"


def _said(source: str, says: str, published: str, holds: bool, ours: str, why: str) -> Statement:
    return Statement(source, says, published, ours, judged(holds), why)


def _rises(found: Curves, source: str, methods: Sequence[str]) -> Statement:
    first, last = found.sizes[0], found.sizes[-1]
    gains = {method: found.mean(method, last) - found.mean(method, first) for method in methods}
    ours = ", ".join(f"{method} {gain:+.1f}" for method, gain in gains.items())
    why = f"points from {first} to {last} records; each method must gain, or end above 99 %"
    holds = all(gain > 0 or found.mean(method, last) > 99 for method, gain in gains.items())
    return _said(source, SINGLE_RISE, "all rise", holds, ours, why)


def _order(found: Curves, source: str) -> Statement:
    """Max before Gini before InfoGain, as far as the noise of the runs lets see."""
    apart = []
    for n in found.sizes:
        for better, worse in ((MAX, GINI), (GINI, INFOGAIN)):
            if found.gap(better, worse, n) < -found.doubt(better, worse, n):
                apart.append(f"{worse} ahead of {better} at {n}")
    ours = "; ".join(apart) or "Max, Gini, InfoGain at every size"
    says = "the score that noise disturbs least does best"
    return _said(source, says, "Max, then Gini, then InfoGain", not apart, ours, "no pair may be clearly reversed")


def _fig3(found: Curves, source: str) -> Iterable[Statement]:
    first, last = found.sizes[0], found.sizes[-1]
    if first < last:
        yield _rises(found, source, SCORES)
    yield _order(found, source)
    if first < last:
        for method in (MAX, GINI):
            ours = f"sd {found.sd(method, first):.1f} at {first}, {found.sd(method, last):.1f} at {last}"
            holds = found.sd(method, last) < max(0.9 * found.sd(method, first), 1.0)
            says = f"the spread of {method} shrinks as records grow"
            yield _said(source, says, "it decreases", holds, ours, "standard deviation over runs, in points")
    near = min((n for n in found.sizes if n >= 1500), default=None)
    if near is not None:
        ours = f"{found.mean(MAX, near):.1f} % at {near}"
        says = "Max is excellent from 1500 records on"
        yield _said(source, says, "excellent", found.mean(MAX, near) >= 98, ours, "at least 98 %, our reading")
    ours = f"{found.mean(ID3, first):.1f} % at {first}"
    says = "ID3 without privacy is not perfect on small samples: it learns their noise"
    yield _said(source, says, "below 100 %", found.mean(ID3, first) < 99, ours, "below 99 %")


def _fig4(found: Curves, source: str) -> Iterable[Statement]:
    yield _order(found, source)
    if found.sizes[0] < found.sizes[-1]:
        yield _rises(found, source, SCORES)


def _fig5(found: Curves, source: str) -> Iterable[Statement]:
    gaps = {n: found.gap(BINS, MAX, n) for n in found.sizes}
    ours = ", ".join(f"{gap:+.1f} at {n}" for n, gap in gaps.items())
    ahead = max(gaps, key=lambda n: gaps[n])
    says = "for small training sets bins are better than a bought split point"
    holds = gaps[ahead] > found.doubt(BINS, MAX, ahead)
    yield _said(source, says, "bins ahead", holds, ours, "points that bins are ahead; clearly so at some size")
    last = found.sizes[-1]
    says = "for large training sets the bought split point is better than bins"
    holds = -gaps[last] > found.doubt(BINS, MAX, last)
    yield _said(source, says, "split point ahead", holds, ours, f"clearly so at {last}, the largest")


def _larger(found: Curves, source: str) -> Iterable[Statement]:
    first, last = found.sizes[0], found.sizes[-1]
    others = (INFOGAIN, GINI)
    gap = {n: found.mean(MAX, n) - max(found.mean(method, n) for method in others) for n in found.sizes}
    ours = ", ".join(f"{value:+.1f} at {n}" for n, value in gap.items())
    why = "points that Max is ahead of the better of InfoGain and Gini"
    best = max(others, key=lambda method: found.mean(method, first))
    holds = gap[first] > -found.doubt(MAX, best, first)
    yield _said(source, "with few records what spends the budget well is superior", "Max ahead", holds, ours, why)
    if first < last:
        best = max(others, key=lambda method: found.mean(method, last))
        holds = gap[last] < -found.doubt(MAX, best, last)
        says = "with many records the depth limits Max, and the others pass it"
        late = "" if holds else ", where the depth does not limit it yet beyond the noise of the runs"
        yield _said(source, says, "Max behind", holds, ours, f"{why}; clearly behind at {last}{late}")
    spread = float(np.mean([found.sd(method, n) for method in SCORES for n in found.sizes]))
    says = "the spread is smaller than for a single split, around 5 points"
    yield _said(
        source, says, "± 5 % or less", spread <= 7.5, f"± {spread:.1f}", "mean sd over trees and runs; 7.5 at most"
    )


JUDGES: Mapping[str, Judge] = {"3": _fig3, "4": _fig4, "5": _fig5, "6": _larger, "7": _larger}
