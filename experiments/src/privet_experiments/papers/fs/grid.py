"""Friedman & Schuster's larger trees over their whole grid (KDD 2010, 5.1.2): depths, values and noise.

The paper drew trees of depth 3, 5 and 10 with 2, 3 and 5 values an attribute and class, 10 trees of each kind, and
shows two of the combinations (Figs. 6 and 7). Of the others it says that with shallower trees or fewer values Max is
ahead while records are few, and falls behind the other scores once the depth, not the budget, limits a tree.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import ClassVar, Self

import numpy as np

from privet.datasets.fs import domain, random_tree, sample
from privet.evaluation.figure import Figure, Point, Series
from privet_experiments.experiment import Experiment, Found, Job, Row, axis
from privet_experiments.judge import Measure, judge
from privet_experiments.outcome import Outcome, Table
from privet_experiments.papers.fs.curves import GINI, INFOGAIN, MAX, SCORES
from privet_experiments.papers.fs.synthetic import TESTED, Figures, accuracy_of

BUDGET, BOUND = 1.0, 50_000  # epsilon, and on the number of records, for InfoGain
# Why Max may not fall behind: seen as a lead that shrinks and stays.
TOO_FEW = (
    "its lead shrinks with the records, but even the most are few for so deep a tree with so many values: its nodes "
    "have few of them, and each level has a small share of the budget"
)
Kind = tuple[int, int]
"""The depth of a tree, and how many values attributes and class have."""


@dataclass(frozen=True)
class FsGrid(Experiment):
    """Accuracy by three scores as published, on hidden trees of several depths and numbers of values, with several
    rates of noise. A job is a tree: some training sets of one size.
    """

    invented: ClassVar[bool] = True
    depths: tuple[int, ...] = axis((3, 5, 10), "A depth of hidden and learned trees; may be repeated.")
    arities: tuple[int, ...] = axis((2, 3, 5), "Values of attributes and class; may be repeated.", option="--values")
    noises: tuple[float, ...] = axis((0.0, 0.1, 0.2), "A rate of noise; may be repeated.", option="--noise")
    records: tuple[int, ...] = axis((1000, 5000, 50_000), "A size of training sets.", option="--records")
    trees: int = axis(10, "Hidden trees of each kind.", option="--trees")
    runs: int = axis(2, "Training sets for each tree and size.")
    seed: int = axis(0, "Seeds trees and training sets. Noise is never seeded.", least=0)

    @property
    def n_runs(self) -> int:
        return self.trees

    @property
    def by_repeats(self) -> bool:
        """Trees differ in how hard they are: a run is a tree."""
        return True

    def repeat_of(self, job: Job) -> int:
        return int(job["tree"])

    def first(self, repeats: int) -> Self:
        return replace(self, trees=repeats)

    def jobs(self) -> list[Job]:
        axes = product(self.depths, self.arities, self.noises, self.records, range(self.trees))
        return [dict(zip(("depth", "values", "noise", "records", "tree"), one, strict=True)) for one in axes]

    def run(self, job: Job) -> Found:
        depth, arity, noise = job["depth"], job["values"], job["noise"]
        figure = Figures("FS 5.1.2", BUDGET, depth, 0, noise, BOUND, SCORES)
        at = (self.seed, depth, arity, round(100 * noise), job["tree"])
        hidden = random_tree(domain(arity=arity, classes=arity), depth, np.random.default_rng(at))
        rng = np.random.default_rng((*at, job["records"]))
        found: dict[str, list[float]] = {score: [] for score in SCORES}
        for _ in range(self.runs):
            training, unseen = sample(hidden, job["records"], rng, p_noise=noise), sample(hidden, TESTED, rng)
            for score in SCORES:
                found[score].append(100 * accuracy_of(figure, score, training, unseen, self.seed))
        return found

    def conclude(self, rows: Sequence[Row]) -> Outcome:
        found = _Means(rows)
        cells = tuple(
            (f"{d}", f"{v}", f"{noise:g}", f"{n}", *(f"{found(score, (d, v), n, noise):.1f}" for score in SCORES))
            for d, v, noise, n in product(self.depths, self.arities, self.noises, self.records)
        )
        title = "FS 5.1.2: accuracy %, mean over trees and training sets"
        series = tuple(
            Series(f"depth {d}, {v} values", tuple(Point(float(n), found.ahead((d, v), n)) for n in self.records))
            for d, v in self._kinds()
        )
        across = "FS 5.1.2: how far Max is ahead of the better of Gini and InfoGain"
        return Outcome(
            (Table(title, ("depth", "values", "noise", "records", *SCORES), cells),),
            (Figure(across, "records", "points of accuracy", series, logarithmic=True),),
            judge("fs.grid", self._measures(found)),
        )

    def _kinds(self) -> list[Kind]:
        return list(product(self.depths, self.arities))

    def _measures(self, found: _Means) -> Iterator[Measure]:
        few, many = min(self.records), max(self.records)
        if few == many:
            return
        kinds = self._kinds()
        falls = [
            f"{score} at depth {d}, {v} values"
            for (d, v), score in product(kinds, SCORES)
            if found(score, (d, v), many) <= found(score, (d, v), few)
        ]
        yield Measure(
            "rises", falls=falls, told="; ".join(falls) or "none", count=len(kinds) * len(SCORES), few=few, many=many
        )
        for d, v in kinds:
            ends = {"first": found.ahead((d, v), few), "last": found.ahead((d, v), many)}
            at = "deepest" if (d, v) == (max(self.depths), max(self.arities)) and len(kinds) > 1 else "others"
            narrows = 0 < ends["last"] < ends["first"]
            reason = TOO_FEW if narrows else "no reason is known"
            yield Measure("pattern", at=at, depth=d, values=v, few=few, many=many, reason=reason, **ends)


class _Means:
    """Mean accuracies, over all rates of noise unless one is named."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self._found: dict[tuple[str, Kind, int, float | None], list[float]] = {}
        for row in rows:
            for score, noise in product(SCORES, (None, row["noise"])):
                at = score, (row["depth"], row["values"]), row["records"], noise
                self._found.setdefault(at, []).extend(row[score])

    def __call__(self, score: str, kind: Kind, records: int, noise: float | None = None) -> float:
        found = self._found[score, kind, records, noise]
        return sum(found) / len(found)

    def ahead(self, kind: Kind, records: int) -> float:
        """How far Max is ahead of the better of the others."""
        return self(MAX, kind, records) - max(self(score, kind, records) for score in (GINI, INFOGAIN))
