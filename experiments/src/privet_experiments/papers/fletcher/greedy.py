"""Figures 6.1 to 6.6: the greedy forest DPDF against Friedman & Schuster's tree and Breiman's forest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np

from privet.estimators.faces import classifier_from
from privet.evaluation.cross_validation import Way, private_way
from privet.growing.greedy.choosing import Chooser
from privet.recipes.papers.greedy_forest import GreedyForest
from privet.recipes.unsound.choices import LocalGini
from privet.schema import Schema
from privet_experiments.folds import CrossValidation, Learner
from privet_experiments.judge import Measure
from privet_experiments.sweep import Results, Sweep, declare

ONE, FOUR, FS, FOREST = "DPDF, 1 tree", "DPDF, 4 trees", "FS, Gini", "random forest"
AS_READ = "FS, as the thesis reads it"
CLOSE = 0.5  # points that count as the same


@dataclass(frozen=True)
class ThesisFS(GreedyForest):
    """FS's tree as the thesis reads it: its sensitivity is 0.5 whatever the size of a node. NOT private."""

    def chooser(self) -> Chooser:
        return LocalGini(sensitivity=0.5)


@dataclass(frozen=True)
class Greedy(Sweep):
    """DPDF with one and with four trees, as published and sound, FS's tree and Breiman's forest, on categories."""

    title: ClassVar[str] = "TH Figs. 6.1 to 6.6"
    section: ClassVar[str] = "fletcher.fig61"
    known: ClassVar[Mapping[str, Learner]] = declare(
        {
            ONE: ("greedy-forest", {"n_estimators": 1, "variant": "as-published"}),
            FOUR: ("greedy-forest", {"n_estimators": 4, "variant": "as-published"}),
            "DPDF, 1 tree, sound": ("greedy-forest", {"n_estimators": 1}),
            "DPDF, 4 trees, sound": ("greedy-forest", {"n_estimators": 4}),
            AS_READ: ("greedy-forest", {"n_estimators": 1, "variant": "as-published"}),
            FS: ("diffpid3", {"criterion": "gini", "max_depth": 4, "variant": "as-published"}),
            FOREST: ("sklearn-forest", {"n_estimators": 10, "max_depth": None}),  # scikit-learn's default of then
        }
    )

    def way(self, learner: Learner, table: str, schema: Schema, epsilon: float | None) -> Way:
        if learner.name != AS_READ or epsilon is None:
            return CrossValidation.way(self, learner, table, schema, epsilon)
        kind = classifier_from(ThesisFS, module=__name__)
        return private_way(kind(epsilon=epsilon, **learner.params), schema, self.seed)

    def measures(self, results: Results) -> Iterator[Measure]:
        if not self.has(ONE, FOUR, AS_READ, FS, FOREST):
            return
        yield from self._against(results, AS_READ, "FS as the thesis reads it")
        yield from self._against(results, FS, "FS by its own score")
        if "nursery" in self.tables:
            yield Measure("short", short=min(-results.gap("nursery", ONE, FOREST, beta) for beta in self.epsilons))
        apart = [results.gap(t, ONE, FOUR, beta) for t in self.tables for beta in self.epsilons]
        one, four = sum(gap > CLOSE for gap in apart), sum(gap < -CLOSE for gap in apart)
        yield Measure("one", one=one, four=four, places=len(apart))
        rises = [
            self._mean(results, t, name, high) - self._mean(results, t, name, low) >= -CLOSE
            for t in self.tables
            for name in (ONE, FOUR, FS)
            for low, high in pairwise(self.epsilons)
        ]
        if rises:
            yield Measure("rises", rises=sum(rises), steps=len(rises))
        if "connect-4" in self.tables:
            gaps = {n: [-results.gap("connect-4", FOREST, n, b) for b in self.epsilons] for n in (ONE, FOUR, FS)}
            yield Measure("connect", least=min(map(min, gaps.values())), most=max(*gaps[ONE], *gaps[FOUR]))
        if not self.few_folds:  # a few folds say little of how folds vary
            yield Measure("spread", spread=self.spread(results, ONE, FOUR))

    def _against(self, results: Results, fs: str, at: str) -> Iterator[Measure]:
        ours, theirs, forest = (self._over(results, *names) for names in ((ONE, FOUR), (fs,), (FOREST,)))
        halved = [t for t in self.tables if (forest[t] - ours[t]) <= (forest[t] - theirs[t]) / 2]
        shown = ", ".join(halved) or "none"
        yield Measure("halves", at=at, count=len(halved), tables=len(self.tables), halved=shown)
        if "nursery" in self.tables:
            yield Measure("nursery", at=at, most=max(results.gap("nursery", ONE, fs, beta) for beta in self.epsilons))
        for table, figure in (("tic-tac-toe", "6.2"), ("connect-4", "6.3")):
            if table in self.tables:
                gains = [results.gap(table, FOUR, fs, beta) for beta in self.epsilons]
                yield Measure("always", at=at, figure=figure, table=table, least=min(gains), most=max(gains))

    def notes(self) -> tuple[str, ...]:
        return (
            "All six tables of the thesis. DPDF as published is not differentially private (its sensitivity is local, "
            "of a noisy size); the sound form stands beside it. FS is DiffPID3 with five levels and the Gini score; as "
            "the thesis reads it, it is DPDF's tree with the sensitivity 0.5.",
        )

    def _mean(self, results: Results, table: str, learner: str, epsilon: float) -> float:
        return results.mean(table, learner, epsilon) or 0.0

    def _over(self, results: Results, *learners: str) -> dict[str, float]:
        """The best of some learners on each table, its mean over all budgets."""
        return {
            table: max(
                float(np.mean([self._mean(results, table, name, b) for b in self.epsilons])) for name in learners
            )
            for table in self.tables
        }
