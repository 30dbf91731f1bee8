"""Friedman & Schuster's experiments on invented records (KDD 2010, Figs. 3 to 7), run again.

A hidden tree labels uniform records, some of them wrongly; methods learn from training sets of growing size, all of one
run from the same. The figures have no numbers in the text, so what the text says of them is judged, statement by
statement. Methods are as published, with the exact tree beside them. The paper does not say with how much noise in the
records Figs. 6 and 7 were drawn (it used 0, 0.1 and 0.2): here it is 0.1, as in Figs. 3 and 4. Fig. 5 does not say by
which score it splits: here by Max. A numeric split is drawn on a grid of 64 cells, of which 35 is no border.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from privet.datasets.fs import HiddenTree, Sample, domain, random_tree, sample
from privet.errors import ParameterError
from privet.experiments import weka_id3
from privet.experiments.cross_validation import Learner, way_of
from privet.experiments.evaluation import Records, Way, try_fold
from privet.experiments.experiment import Experiment, Found, Job, Row, axis
from privet.experiments.outcome import Figure, Outcome, Point, Series, Statement, Table
from privet.schema import Numeric, Schema
from privet.schema.frozen import Frozen

TESTED = 10_000  # records without noise, as in the paper
CELLS = 64  # of the grid for split points
POINT = 35.0  # where the paper splits its numeric attribute
CHUNK = 10  # runs in a job
INFOGAIN, GINI, MAX, SULQ, ID3, EXACT = "InfoGain", "Gini", "Max", "SuLQ", "ID3", "exact"
J48, J48_UNPRUNED, BINS = "C4.5", "C4.5 unpruned", "Max on ten bins"
SCORES = (INFOGAIN, GINI, MAX)


@dataclass(frozen=True)
class Figures:
    """What a figure fixes: how many attributes are binary and numeric, how deep the tree is, and what is compared."""

    source: str
    budget: float
    depth: int
    numeric: int
    noise: float
    bound: int
    """On the number of records, for InfoGain."""
    methods: tuple[str, ...]

    def learner(self, method: str) -> Learner:
        """How a method learns; ID3 has a way of its own."""
        if method in (J48, J48_UNPRUNED):
            whole = {"max_depth": None, "criterion": "infogain", "bins": CELLS}
            return Learner(method, "c45", {**whole, "prune": method == J48})
        if method == EXACT:
            return Learner(method, "exact", {"max_depth": min(self.depth, 4)})
        params: dict[str, Any] = {"variant": "as-published", "max_depth": self.depth}
        if method == SULQ:
            return Learner(method, "sulq", params)
        score = MAX if method == BINS else method
        params |= {"criterion": score.lower(), "max_records": self.bound if score == INFOGAIN else None}
        if self.numeric and method != BINS:
            return Learner(method, "diffpc45", {**params, "bins": CELLS})
        return Learner(method, "diffpid3", {**params, "bins": 10})


NOMINAL = (ID3, *SCORES, SULQ, EXACT)
MIXED = (J48, J48_UNPRUNED, *SCORES, EXACT)
FIGURES = {
    "3": Figures("FS Fig. 3", 0.1, 1, 0, 0.1, 5000, NOMINAL),
    "4": Figures("FS Fig. 4", 0.1, 1, 3, 0.1, 5000, MIXED),
    "5": Figures("FS Fig. 5", 0.2, 1, 3, 0.0, 5000, (MAX, BINS)),
    "6": Figures("FS Fig. 6", 1.0, 5, 0, 0.1, 50_000, NOMINAL),
    "7": Figures("FS Fig. 7", 1.0, 5, 3, 0.1, 50_000, MIXED),
}
SINGLE, LARGER = ("3", "4", "5"), ("6", "7")


@dataclass(frozen=True)
class FsSynthetic(Experiment):
    """Accuracy of the methods as published against the number of records, on trees that are drawn at random; what the
    paper says of each figure is judged. Some runs of one size are a job.
    """

    invented: ClassVar[bool] = True
    figures: tuple[str, ...] = axis(SINGLE, "A figure of the paper, 3 to 7; may be repeated.")
    records: tuple[int, ...] = axis((1000,), "A size of training sets; may be repeated.", option="--records")
    trees: int = axis(1, "Hidden trees; a single split is drawn anew in every run.", option="--trees")
    runs: int = axis(200, "Training sets for each tree and size.", least=2)
    seed: int = axis(0, "Seeds trees and training sets. Noise is never seeded.", least=0)

    def check(self) -> None:
        for name in self.figures:
            if name not in FIGURES:
                raise ParameterError(f"no figure here is called {name!r}; choose among {', '.join(FIGURES)}")

    def jobs(self) -> list[Job]:
        return [
            {"figure": figure, "records": n, "tree": tree, "start": start, "runs": min(CHUNK, self.runs - start)}
            for figure in self.figures
            for n in self.records
            for tree in range(self.trees)
            for start in range(0, self.runs, CHUNK)
        ]

    def run(self, job: Job) -> Found:
        figure = FIGURES[job["figure"]]
        at = (self.seed, int(job["figure"]), job["tree"])
        rng = np.random.default_rng((*at, job["records"], job["start"]))
        hidden = None if figure.depth == 1 else _tree(figure, np.random.default_rng(at))
        found: dict[str, list[float]] = {method: [] for method in figure.methods}
        for _ in range(job["runs"]):
            tree = hidden or _tree(figure, rng)
            training = sample(tree, job["records"], rng, p_noise=figure.noise)
            unseen = sample(tree, TESTED, rng)
            for method in figure.methods:
                found[method].append(100 * _accuracy(figure, method, training, unseen, self.seed))
        return {"accuracy": found}

    def conclude(self, rows: Sequence[Row]) -> Outcome:
        tables, pictures = [], []
        statements: list[Statement] = []
        for name in self.figures:
            found = Curves([row for row in rows if row["figure"] == name], FIGURES[name].methods, self.records)
            tables.append(found.table(f"{FIGURES[name].source}: accuracy % ± sd over runs"))
            pictures.append(found.figure(FIGURES[name]))
            statements += JUDGES[name](found, FIGURES[name].source)
        return Outcome(tuple(tables), tuple(pictures), tuple(statements), (self._note(),))

    def _note(self) -> str:
        again = f"{self.trees} trees and {self.runs} runs on each" if self.trees > 1 else f"{self.runs} runs"
        return f"Each size was drawn in {again}; differences of means are clear beyond two standard errors."


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

    def figure(self, what: Figures) -> Figure:
        series = tuple(
            Series(
                method,
                tuple(Point(float(n), self.mean(method, n), self.error(method, n)) for n in self.sizes),
                dashed=method in (ID3, J48, J48_UNPRUNED),
            )
            for method in self.methods
        )
        title = f"{what.source}: accuracy against records, B = {what.budget:g}"
        return Figure(title, "records", "accuracy %", series, logarithmic=True)


def _tree(figure: Figures, rng: np.random.Generator) -> HiddenTree:
    schema = domain(10 - figure.numeric, numeric=figure.numeric, bins=CELLS)
    if figure.depth == 1 and figure.numeric:
        return random_tree(schema, 1, rng, root=schema.names[-1], point=POINT)
    return random_tree(schema, figure.depth, rng)


def _accuracy(figure: Figures, method: str, training: Sample, unseen: Sample, seed: int) -> float:
    schema = _uncut(training.schema)
    if method == ID3:
        counts = weka_id3.count_records(training.features, training.labels, schema.n_classes)
        says = weka_id3.learn(counts, len(schema.attributes))
        number = (1 << np.arange(len(schema.attributes))) @ unseen.features.astype(np.int64)
        return float((says[number] == unseen.labels).mean())
    learner = figure.learner(method)
    way = way_of(learner.recipe, schema, None if learner.is_reference else figure.budget, seed, dict(learner.params))
    known, others = (_records(way, schema, one) for one in (training, unseen))
    return try_fold(way, known, others).accuracy


def _records(way: Way, schema: Schema, drawn: Sample) -> Records:
    columns = [drawn.values.get(a, column) for a, column in enumerate(drawn.features)]
    frozen = Frozen(schema, columns, drawn.labels)
    return Records(frozen.codes(way.schema), frozen)


def _uncut(schema: Schema) -> Schema:
    """The same facts, with numbers that each method cuts as it likes."""
    bare = tuple(Numeric(a.name, a.low, a.high) if isinstance(a, Numeric) else a for a in schema.attributes)
    return replace(schema, attributes=bare)


# ---- what the paper says -------------------------------------------------------------------------------------------

Judge = Callable[[Curves, str], Iterable[Statement]]
SINGLE_RISE = "accuracy is higher as more records are available"


def _said(source: str, says: str, published: str, holds: bool, ours: str, why: str) -> Statement:
    return Statement(source, says, published, ours, "reproduced" if holds else "differs", why)


def _rises(found: Curves, source: str, methods: Sequence[str]) -> Statement:
    first, last = found.sizes[0], found.sizes[-1]
    gains = {method: found.mean(method, last) - found.mean(method, first) for method in methods}
    ours = ", ".join(f"{method} {gain:+.1f}" for method, gain in gains.items())
    why = f"points from {first} to {last} records; each method must gain, unless it is above 99 % already"
    holds = all(gain > 0 or found.mean(method, first) > 99 for method, gain in gains.items())
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
        yield _said(source, says, "Max behind", holds, ours, f"{why}; clearly behind at {last}")
    spread = float(np.mean([found.sd(method, n) for method in SCORES for n in found.sizes]))
    says = "the spread is smaller than for a single split, around 5 points"
    yield _said(
        source, says, "± 5 % or less", spread <= 7.5, f"± {spread:.1f}", "mean sd over trees and runs; 7.5 at most"
    )


JUDGES: Mapping[str, Judge] = {"3": _fig3, "4": _fig4, "5": _fig5, "6": _larger, "7": _larger}

SIZES = (100, 200, 500, 1000, 1500, 2000, 3000, 4000, 5000)
LARGE_SIZES = (1000, 2000, 5000, 10_000, 20_000, 50_000)
SINGLE_FORMS = {
    "smoke": FsSynthetic(records=(500, 2000), runs=2),
    "quick": FsSynthetic(records=(500, 1000, 1500, 5000), runs=60),
    "full": FsSynthetic(records=SIZES),
}
LARGER_FORMS = {
    "smoke": FsSynthetic(LARGER, (1000, 3000), 1, 2),
    "quick": FsSynthetic(LARGER, (1000, 5000, 20_000), 5, 4),
    "full": FsSynthetic(LARGER, LARGE_SIZES, 10, 20),
}
