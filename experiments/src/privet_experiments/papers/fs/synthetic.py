"""Friedman & Schuster's experiments on invented records (KDD 2010, Figs. 3 to 7), run again.

A hidden tree labels uniform records, some of them wrongly; methods learn from training sets of growing size, all of one
run from the same. The figures have no numbers in the text, so what the text says of them is judged, statement by
statement. Methods are as published, with the exact tree beside them. The paper does not say with how much noise in the
records Figs. 6 and 7 were drawn (it used 0, 0.1 and 0.2): here it is 0.1, as in Figs. 3 and 4. Fig. 5 does not say by
which score it splits: here by Max. A numeric split is drawn on a grid of 64 cells, of which 35 is no border.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from privet.datasets.fs import HiddenTree, Sample, domain, random_tree, sample
from privet.errors import ParameterError
from privet.evaluation.cross_validation import Records, Way, try_fold
from privet.schema import Numeric, Schema
from privet.tables.frozen import Frozen
from privet_experiments.experiment import Experiment, Found, Job, Row, axis
from privet_experiments.folds import Learner, way_of
from privet_experiments.judge import judge
from privet_experiments.outcome import Outcome, Statement
from privet_experiments.papers.fs import weka_id3
from privet_experiments.papers.fs.curves import (
    BINS,
    EXACT,
    ID3,
    INFOGAIN,
    J48,
    J48_UNPRUNED,
    MAX,
    SCORES,
    SULQ,
    Curves,
    measures,
)  # fmt: skip

TESTED = 10_000  # records without noise, as in the paper
CELLS = 64  # of the grid for split points
POINT = 35.0  # where the paper splits its numeric attribute
CHUNK = 10  # runs in a job


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
            whole = {"max_depth": None, "criterion": "gainratio", "max_bins": CELLS}
            return Learner(method, "c45", {**whole, "prune": method == J48})
        if method == EXACT:
            return Learner(method, "exact", {"max_depth": min(self.depth, 4)})
        params: dict[str, Any] = {"variant": "as-published", "max_depth": self.depth}
        if method == SULQ:
            return Learner(method, "sulq", params)
        score = MAX if method == BINS else method
        params |= {"criterion": score.lower(), "max_records": self.bound if score == INFOGAIN else None}
        if self.numeric and method != BINS:
            return Learner(method, "diffpc45", {**params, "max_bins": CELLS})
        return Learner(method, "diffpid3", {**params, "max_bins": 10})


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

    def repeat_of(self, job: Job) -> int:
        return int(job["tree"] if self.trees > 1 else job["start"] // CHUNK)

    def first(self, repeats: int) -> Self:
        return replace(self, trees=repeats) if self.trees > 1 else replace(self, runs=min(self.runs, repeats * CHUNK))

    @property
    def n_runs(self) -> int:
        return self.trees if self.by_repeats else self.runs

    @property
    def by_repeats(self) -> bool:
        """Trees differ in how hard they are: where there are some, a run is a tree."""
        return self.trees > 1

    def runs_in(self, row: Row) -> int:
        return int(row["runs"])

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
                found[method].append(100 * accuracy_of(figure, method, training, unseen, self.seed))
        return {"accuracy": found}

    def conclude(self, rows: Sequence[Row]) -> Outcome:
        tables, pictures = [], []
        statements: list[Statement] = []
        for name in self.figures:
            found = Curves([row for row in rows if row["figure"] == name], FIGURES[name].methods, self.records)
            tables.append(found.table(f"{FIGURES[name].source}: accuracy % ± sd over runs"))
            title = f"{FIGURES[name].source}: accuracy against records, B = {FIGURES[name].budget:g}"
            pictures.append(found.figure(title))
            statements += judge("fs.figures", measures(name, found))
        return Outcome(tuple(tables), tuple(pictures), tuple(statements), (self._note(),))

    def _note(self) -> str:
        again = f"{self.trees} trees and {self.runs} runs on each" if self.trees > 1 else f"{self.runs} runs"
        return f"Each size was drawn in {again}; differences of means are clear beyond two standard errors."


def _tree(figure: Figures, rng: np.random.Generator) -> HiddenTree:
    schema = domain(10 - figure.numeric, numeric=figure.numeric, bins=CELLS)
    if figure.depth == 1 and figure.numeric:
        return random_tree(schema, 1, rng, root=schema.names[-1], point=POINT)
    return random_tree(schema, figure.depth, rng)


def accuracy_of(figure: Figures, method: str, training: Sample, unseen: Sample, seed: int) -> float:
    """What a method, having learned from some records, gets right of others."""
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
