"""What Friedman & Schuster's figures on invented records show, and what their text is judged by."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import numpy as np

from privet.evaluation.figure import Figure, Point, Series
from privet_experiments.experiment import Row
from privet_experiments.judge import Measure
from privet_experiments.outcome import Table

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


# ---- what the paper speaks of ---------------------------------------------------------------------------------------


def _rises(found: Curves) -> Iterator[Measure]:
    first, last = found.sizes[0], found.sizes[-1]
    if first < last:
        gains = {method: found.mean(method, last) - found.mean(method, first) for method in SCORES}
        yield Measure("rises", first=first, last=last, gains=gains, ends=[found.mean(m, last) for m in SCORES])


def _order(found: Curves) -> Measure:
    """Max before Gini before InfoGain, as far as the noise of the runs lets see."""
    apart = [
        f"{worse} ahead of {better} at {n}"
        for n in found.sizes
        for better, worse in ((MAX, GINI), (GINI, INFOGAIN))
        if found.gap(better, worse, n) < -found.doubt(better, worse, n)
    ]
    return Measure("order", reversed=apart, told="; ".join(apart) or "Max, Gini, InfoGain at every size")


def _fig3(found: Curves) -> Iterator[Measure]:
    first, last = found.sizes[0], found.sizes[-1]
    yield from _rises(found)
    yield _order(found)
    for method in (MAX, GINI) if first < last else ():
        before, after = found.sd(method, first), found.sd(method, last)
        yield Measure("spread", method=method, before=before, after=after, first=first, last=last)
    near = min((n for n in found.sizes if n >= 1500), default=None)
    if near is not None:
        yield Measure("excellent", mean=found.mean(MAX, near), records=near)
    yield Measure("noise", mean=found.mean(ID3, first), records=first)


def _fig4(found: Curves) -> Iterator[Measure]:
    yield _order(found)
    yield from _rises(found)


def _fig5(found: Curves) -> Iterator[Measure]:
    gaps = {n: found.gap(BINS, MAX, n) for n in found.sizes}
    told = ", ".join(f"{gap:+.1f} at {n}" for n, gap in gaps.items())
    best, last = max(gaps, key=lambda n: gaps[n]), found.sizes[-1]
    yield Measure("bins", told=told, ahead=gaps[best], doubt=found.doubt(BINS, MAX, best))
    yield Measure("points", told=told, last=last, ahead=-gaps[last], doubt=found.doubt(BINS, MAX, last))


def _larger(found: Curves) -> Iterator[Measure]:
    best = {n: max((found.mean(method, n), method) for method in (GINI, INFOGAIN))[1] for n in found.sizes}
    gaps = {n: found.gap(MAX, best[n], n) for n in found.sizes}
    told = ", ".join(f"{gap:+.1f} at {n}" for n, gap in gaps.items())
    for name, n in dict(zip(("few", "many"), sorted({found.sizes[0], found.sizes[-1]}), strict=False)).items():
        yield Measure(name, told=told, last=n, ahead=gaps[n], doubt=found.doubt(MAX, best[n], n))
    yield Measure("calm", spread=float(np.mean([found.sd(method, n) for method in SCORES for n in found.sizes])))


MEASURES: Mapping[str, Callable[[Curves], Iterable[Measure]]] = {
    "3": _fig3, "4": _fig4, "5": _fig5, "6": _larger, "7": _larger,
}  # fmt: skip


def measures(figure: str, found: Curves) -> Iterator[Measure]:
    """What is judged of a figure."""
    for one in MEASURES[figure](found):
        yield Measure(one.name, figure=figure, **one.values)
