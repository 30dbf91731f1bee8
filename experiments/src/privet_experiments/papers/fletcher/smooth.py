"""Figures 8.3, 8.4, 8.6 and 8.7: the forest of disjoint random trees over depths, trees, records and epsilons.

Labels as published are drawn with a smooth sensitivity that is none (not differentially private); the sound form, by
noisy counts, stands beside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from privet.evaluation.cross_validation import Way
from privet.evaluation.figure import Figure, Point, Series
from privet.recipes.papers.smooth_forest import depth_of
from privet.schema import Numeric, Schema
from privet_experiments.folds import CrossValidation, Learner, Load, way_of
from privet_experiments.judge import Measure
from privet_experiments.papers.fletcher.tables import load as load_table
from privet_experiments.sweep import Results, Sweep, declare

AS_PUBLISHED: dict[str, Any] = {"variant": "as-published"}
MOST_LEAVES = 2**14  # of trees with a child for every value, which have millions of leaves at their depth
HALF, THEOREM, FULL = "depth m/2", "depth by Theorem 8.2", "depth m"


class SmoothSweep(Sweep):
    """A sweep whose published forests have every leaf of their full depth, as far as that can be."""

    load: ClassVar[Load] = load_table

    def way(self, learner: Learner, table: str, schema: Schema, epsilon: float | None) -> Way:
        if learner.recipe != "smooth-forest" or learner.params.get("variant") != "as-published":
            return CrossValidation.way(self, learner, table, schema, epsilon)
        attributes = len(schema.attributes)
        numbers = sum(isinstance(attribute, Numeric) for attribute in schema.attributes)
        depth = {HALF: max(attributes // 2, 1), FULL: attributes}.get(
            learner.name, depth_of(numbers, attributes - numbers)
        )
        leaves = min(2**depth, 2**15) if numbers == attributes else MOST_LEAVES
        params = dict(learner.params) | {"max_depth": depth, "max_leaves": leaves}
        return way_of(learner.recipe, schema, epsilon, self.seed, params)


@dataclass(frozen=True)
class Depths(SmoothSweep):
    """Half of the attributes, the depth of Theorem 8.2, and as many levels as attributes."""

    invented: ClassVar[bool] = True
    title: ClassVar[str] = "TH Fig. 8.3"
    section: ClassVar[str] = "fletcher.fig83"
    known: ClassVar[Mapping[str, Learner]] = declare(
        dict.fromkeys((HALF, THEOREM, FULL), ("smooth-forest", AS_PUBLISHED))
    )

    def measures(self, results: Results) -> Iterator[Measure]:
        if not self.has(HALF, THEOREM, FULL):
            return
        epsilon = self.epsilons[0]
        gains = [results.gap(table, THEOREM, HALF, epsilon) for table in self.tables]
        yield Measure("theorem", least=min(gains), most=max(gains))
        deeper = [table for table in self.tables if results.gap(table, FULL, THEOREM, epsilon) > 0]
        yield Measure("full", better=len(deeper), told=f"better on {_some(deeper, self.tables)}")
        if not self.few_folds:  # a few folds say little of how folds vary
            spread = {t: [np.std(results.folds(t, name, epsilon)) for name in (THEOREM, HALF)] for t in self.tables}
            yield Measure("calmer", calmer=sum(a <= b for a, b in spread.values()), tables=len(spread))


def _some(found: Sequence[str], tables: Sequence[str]) -> str:
    return f"{len(found)} of {len(tables)}{': ' + ', '.join(found) if found else ''}"


def _sized(trees: int, sound: bool) -> str:
    return f"{trees} {'tree' if trees == 1 else 'trees'}{', sound' if sound else ''}"


SIZES = (1, 10, 30, 100, 300)


@dataclass(frozen=True)
class Sizes(SmoothSweep):
    """One to 300 trees on disjoint parts, as published and sound."""

    invented: ClassVar[bool] = True
    title: ClassVar[str] = "TH Fig. 8.4"
    section: ClassVar[str] = "fletcher.fig84"
    known: ClassVar[Mapping[str, Learner]] = declare(
        {
            _sized(trees, sound): ("smooth-forest", {"n_estimators": trees} | ({} if sound else AS_PUBLISHED))
            for sound in (False, True)
            for trees in SIZES
        }
    )

    def measures(self, results: Results) -> Iterator[Measure]:
        if not self.has(*(_sized(trees, False) for trees in SIZES)):
            return
        spots = {0.2: (30, 100), 1.0: (100, 300)}
        for epsilon in self.epsilons:
            means, spread = (
                {
                    n: float(np.mean([of(results.folds(t, _sized(n, False), epsilon)) for t in self.tables]))
                    for n in SIZES
                }
                for of, e in ((np.mean, epsilon), (np.std, epsilon))
            )
            few, many = spots.get(epsilon, (0, 0))
            best = max(means, key=means.__getitem__)
            yield Measure("spot", at=f"{epsilon:g}", epsilon=epsilon, few=few, many=many, best=best, means=means)
            if not self.few_folds:  # a few folds say little of how folds vary
                told = ", ".join(f"{trees}: ± {value:.1f}" for trees, value in spread.items())
                yield Measure("varies", epsilon=epsilon, told=told, spread=spread)
        if 0.2 in self.epsilons:
            good = [t for t in self.tables if (results.mean(t, _sized(100, False), 0.2) or 0) >= 85]
            yield Measure("good", good=len(good), tables=len(self.tables), told=_some(good, self.tables))


SMOOTH, SOUND, TWIN, FOREST = "smooth", "sound", "without noise", "random forest"


@dataclass(frozen=True)
class Records(SmoothSweep):
    """SynthF with more and more records."""

    invented: ClassVar[bool] = True
    title: ClassVar[str] = "TH Fig. 8.6"
    section: ClassVar[str] = "fletcher.fig86"
    known: ClassVar[Mapping[str, Learner]] = declare(
        {SMOOTH: ("smooth-forest", AS_PUBLISHED), SOUND: ("smooth-forest", {})}
    )

    def measures(self, results: Results) -> Iterator[Measure]:
        if not self.has(SMOOTH) or {0.1, 1.0} - set(self.epsilons):
            return
        sizes = {int(table.partition(": ")[2].split()[0]): table for table in self.tables}
        for epsilon in self.epsilons:
            if max(sizes) * epsilon >= 10_000:  # a hundred for each tree, or labels are coins throughout
                means = {n: results.mean(sizes[n], SMOOTH, epsilon) or 0.0 for n in sorted(sizes)}
                told = ", ".join(f"{n}: {value:.1f}" for n, value in means.items())
                yield Measure("rises", epsilon=epsilon, told=told, means=list(means.values()))
        if 30_000 in sizes:
            mean = results.mean(sizes[30_000], SMOOTH, 1.0) or 0.0
            yield Measure("enough", mean=mean)
            if 3_000_000 in sizes:
                yield Measure("comparable", mean=mean, other=results.mean(sizes[3_000_000], SMOOTH, 0.1) or 0.0)

    def _figures(self, results: Results) -> Iterator[Figure]:
        """Records go across."""
        for name in (learner.name for learner in self.learners()):
            series = []
            for epsilon in self.epsilons:
                found = [(float(t.partition(": ")[2].split()[0]), results.mean(t, name, epsilon)) for t in self.tables]
                points = tuple(Point(n, value) for n, value in found if value is not None)
                series.append(Series(f"epsilon {epsilon:g}", points, dashed=name == SMOOTH))
            yield Figure(f"{self.title}, {name}", "records", "accuracy %", tuple(series), logarithmic=True)


@dataclass(frozen=True)
class Budgets(SmoothSweep):
    """Adult over epsilon, with the same trees without noise and Breiman's forest."""

    title: ClassVar[str] = "TH Fig. 8.7"
    section: ClassVar[str] = "fletcher.fig87"
    least_tables: ClassVar[int] = 1
    known: ClassVar[Mapping[str, Learner]] = declare(
        {
            SMOOTH: ("smooth-forest", AS_PUBLISHED),
            SOUND: ("smooth-forest", {}),
            TWIN: ("random-trees", {"max_depth": None, "max_leaves": MOST_LEAVES}),
            FOREST: ("sklearn-forest", {"n_estimators": 20, "max_depth": None}),
        }
    )

    def measures(self, results: Results) -> Iterator[Measure]:
        if not self.has(SMOOTH, TWIN, FOREST) or len(self.epsilons) < 3:
            return
        low, high = min(self.epsilons), max(self.epsilons)
        for table in self.tables:
            gaps = [-results.gap(table, SMOOTH, TWIN, epsilon) for epsilon in (low, high)]
            yield Measure("close", table=table, gaps=gaps, low=low, high=high)
            best = max(results.mean(table, SMOOTH, e) or 0.0 for e in self.epsilons)
            yield Measure("above", table=table, best=best, forest=results.mean(table, FOREST) or 0.0)
