"""Figures 4 to 6 of Bai et al. with their own x axis: accuracy against the depth of a tree, at a fixed budget.

The abstract says that accuracy falls as a model becomes more complex, and the figures that deeper embeddings lose less.
Trees are as published, so NOT PRIVATE.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np

from privet.evaluation.cross_validation import Way
from privet.evaluation.figure import Figure, Point, Series
from privet.schema import Schema
from privet_experiments.experiment import axis
from privet_experiments.folds import Learner, standard_error, way_of
from privet_experiments.judge import Measure
from privet_experiments.papers.bai.depths import FIGURES, PER_LEVEL, PUBLISHED, THEIRS, WHOLE, check_tables, parameters
from privet_experiments.sweep import Results, Sweep


@dataclass(frozen=True)
class Complexity(Sweep):
    """Trees of some layers, drawn a level, two, three or all levels at a time."""

    title: ClassVar[str] = "BAI Figs. 4 to 6"
    section: ClassVar[str] = "bai.complexity"
    least_tables: ClassVar[int] = 1
    by_table: ClassVar[bool] = True
    layers: tuple[int, ...] = axis(
        (3, 6, 10), "Layers of a tree, its leaves counted; may be repeated.", option="--layers", least=2
    )
    steps: int = axis(0, "Cuts the Markov chains short; 0 is as long as the paper's.", least=0)

    def learners(self) -> list[Learner]:
        return [Learner(at(name, n), *THEIRS[name]) for name in PUBLISHED for n in self.layers]

    def check(self) -> None:
        check_tables(self.tables)
        super().check()

    def way(self, learner: Learner, table: str, schema: Schema, epsilon: float | None) -> Way:
        name, _, layers = learner.name.rpartition(", ")
        more = parameters(name, table, int(layers.partition(" ")[0]), len(schema.attributes), self.steps)
        return way_of(learner.recipe, schema, epsilon, self.seed, {**learner.params, **more})

    def measures(self, results: Results) -> Iterator[Measure]:
        if len(self.layers) < 2:
            return
        least, most = min(self.layers), max(self.layers)
        for table in self.tables:
            for epsilon in (epsilon for epsilon in self.epsilons if epsilon > 0.01):  # there noise is all
                shown = {"table": table, "figure": FIGURES[table], "epsilon": epsilon, "least": least, "most": most}
                means = {name: self._line(results, table, name, epsilon) for name in PUBLISHED}
                for name, line in means.items():
                    rises = [after - before for before, after in pairwise(line)]
                    yield Measure("falls", line=line, rises=rises, embedding=PUBLISHED[name], **shown)
                lost = {name: line[0] - line[-1] for name, line in means.items()}
                yield Measure("less", one=lost[PER_LEVEL], whole=lost[WHOLE], **shown)

    def notes(self) -> tuple[str, ...]:
        cut = f" Chains were cut after {self.steps} steps, shorter than the paper's." if self.steps else ""
        return (f"Layers count the leaves'. As published, so not private.{cut}",)

    def _line(self, results: Results, table: str, name: str, epsilon: float) -> list[float]:
        return [results.mean(table, at(name, n), epsilon) or 0.0 for n in sorted(self.layers)]

    def _figures(self, results: Results) -> Iterator[Figure]:
        for table in self.tables:
            for epsilon in self.epsilons:
                series = []
                for name in PUBLISHED:
                    found = {n: results.folds(table, at(name, n), epsilon) for n in sorted(self.layers)}
                    points = (Point(float(n), float(np.mean(one)), standard_error(one)) for n, one in found.items())
                    series.append(Series(name, tuple(points)))
                title = f"BAI Fig. {FIGURES[table]}: {table}, epsilon {epsilon:g}"
                yield Figure(title, "layers", "accuracy %", tuple(series))


def at(name: str, layers: int) -> str:
    """What trees of so many layers are called."""
    return f"{name}, {layers} layers"
