"""A cross-validation whose learners are declared by name: the shape of a figure.

A figure is a subclass: it names its learners and says what its source states. What a source varies besides epsilon
(trees, depth, records) is a learner or a table of its own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from privet.errors import ParameterError
from privet.evaluation.figure import Figure, Point, Series
from privet_experiments.experiment import Row, axis
from privet_experiments.folds import MEASURES, CrossValidation, Learner, standard_error, values
from privet_experiments.judge import Measure, judge
from privet_experiments.outcome import Outcome, Table
from privet_experiments.settling import LEAST_RUNS

PER_CENT = ("accuracy", "balanced_accuracy")


class Results:
    """What the folds of all rows say, by table, learner and epsilon. A reference is the same at every epsilon."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self._rows: dict[tuple[str, str, float | None], list[Row]] = {}
        self.refusals: dict[tuple[str, str], str] = {}
        for row in rows:
            self._rows.setdefault((row["table"], row["learner"], row["epsilon"]), []).append(row)
            if "note" in row:
                self.refusals[row["learner"], row["table"]] = row["note"]

    @property
    def learners(self) -> list[str]:
        """All that there are rows of, in their order."""
        return list(dict.fromkeys(learner for _, learner, _ in self._rows))

    def folds(self, table: str, learner: str, epsilon: float | None = None, measure: str = "accuracy") -> list[float]:
        """The value of every fold, in per cent for accuracies; none where the learner refused."""
        rows = self._rows.get((table, learner, epsilon)) or self._rows.get((table, learner, None), [])
        return [value * (100 if measure in PER_CENT else 1) for value in values(rows, measure)]

    def mean(self, table: str, learner: str, epsilon: float | None = None, measure: str = "accuracy") -> float | None:
        """The mean over folds; None where there is none."""
        found = self.folds(table, learner, epsilon, measure)
        return float(np.mean(found)) if found else None

    def pairs(
        self, table: str, first: str, second: str, epsilon: float | None = None, measure: str = "accuracy"
    ) -> list[tuple[float, float]]:
        """The values of two learners in the same folds, where both have one."""
        scale = 100 if measure in PER_CENT else 1
        one, other = (self._fold_by_fold(table, learner, epsilon, measure) for learner in (first, second))
        shared = (fold for fold in one if fold in other)
        return [(scale * one[fold], scale * other[fold]) for fold in shared]

    def _fold_by_fold(
        self, table: str, learner: str, epsilon: float | None, measure: str
    ) -> dict[tuple[int, int], float]:
        """By repeat and fold."""
        rows = self._rows.get((table, learner, epsilon)) or self._rows.get((table, learner, None), [])
        found = ((row["repeat"], fold, value) for row in rows for fold, value in enumerate(row.get(measure) or ()))
        return {(repeat, fold): value for repeat, fold, value in found if value is not None}

    def gap(
        self, table: str, first: str, second: str, epsilon: float | None = None, measure: str = "accuracy"
    ) -> float:
        """By how much the first learner is ahead; 0 where one of them has no number."""
        one, other = (self.mean(table, learner, epsilon, measure) for learner in (first, second))
        return 0.0 if one is None or other is None else one - other


@dataclass(frozen=True)
class Sweep(CrossValidation):
    """The grid. Subclasses have ``known`` learners and override :meth:`measures`."""

    known: ClassVar[Mapping[str, Learner]] = {}
    title: ClassVar[str] = ""
    section: ClassVar[str] = ""
    """Where the statements of the source are; nothing is judged without."""
    shown: ClassVar[tuple[str, ...]] = ("accuracy",)
    """Which measures become tables; the first is drawn."""
    least_tables: ClassVar[int] = 3
    """How many tables must be in the grid for the source to be judged by it."""

    who: tuple[str, ...] = axis(
        (), "A learner of this experiment; may be repeated. All by default.", option="--learner"
    )

    @property
    def kept(self) -> tuple[str, ...]:
        return tuple(name for name in MEASURES if name in self.shown)

    def learners(self) -> list[Learner]:
        return [self.known[name] for name in self.who or self.known]

    def check(self) -> None:
        for name in self.who:
            if name not in self.known:
                raise ParameterError(f"no learner here is called {name!r}; choose among {', '.join(self.known)}")
        super().check()

    def has(self, *learners: str) -> bool:
        """Whether all of these are in the grid."""
        return set(learners) <= {learner.name for learner in self.learners()}

    @property
    def few_folds(self) -> bool:
        """Whether the folds are too few to say how folds vary."""
        return (self.n_runs or 0) < LEAST_RUNS

    def spread(self, results: Results, *learners: str) -> float:
        """The standard deviation of accuracy over folds, on average over tables, learners and epsilons."""
        folds = (results.folds(t, who, e) for t in self.tables for who in learners for e in self.epsilons)
        return float(np.mean([np.std(one) for one in folds]))

    def conclude(self, rows: Sequence[Row]) -> Outcome:
        results = Results(rows)
        tables = tuple(table for measure in self.shown for table in self._tables(results, measure))
        refused = tuple(f"{who} on {table}: {why}" for (who, table), why in results.refusals.items())
        enough = self.section and len(self.tables) >= self.least_tables
        judged = judge(self.section, self.measures(results)) if enough else ()
        return Outcome(tables, tuple(self._figures(results)), judged, self.notes() + refused)

    def measures(self, results: Results) -> Iterable[Measure]:
        """What the statements of the source are judged by. Only what the tables and learners at hand can decide."""
        return ()

    def notes(self) -> tuple[str, ...]:
        """What a reader must know beside the numbers."""
        return ()

    def drawn(self, results: Results) -> list[tuple[str, bool]]:
        """Whose lines a figure has, and which of them are dashed."""
        return [(learner.name, learner.is_reference) for learner in self.learners()]

    def _tables(self, results: Results, measure: str) -> Iterator[Table]:
        for epsilon in self.epsilons:
            rows = [
                (
                    who.name,
                    *(measure_text(results.mean(table, who.name, epsilon, measure), measure) for table in self.tables),
                )
                for who in self.learners()
            ]
            title = f"{self.title}: {told_measure(measure)} at epsilon {epsilon:g}"
            yield Table(title, ("learner", *self.tables), tuple(rows))

    def _figures(self, results: Results) -> Iterator[Figure]:
        """Lines over epsilon, one picture a table; bars over the tables where there is one epsilon only."""
        told = told_measure(self.shown[0])
        if len(self.epsilons) == 1:
            places: list[tuple[float | str, str, float]] = [(table, table, self.epsilons[0]) for table in self.tables]
            yield Figure(f"{self.title}, epsilon {self.epsilons[0]:g}", "table", told, self._series(results, places))
            return
        for table in self.tables:
            series = self._series(results, [(epsilon, table, epsilon) for epsilon in self.epsilons])
            yield Figure(f"{self.title}: {table}", "epsilon", told, series, logarithmic=True)

    def _series(self, results: Results, places: Sequence[tuple[float | str, str, float]]) -> tuple[Series, ...]:
        series = []
        for name, dashed in self.drawn(results):
            found = [(x, results.folds(table, name, e, self.shown[0])) for x, table, e in places]
            points = tuple(Point(x, float(np.mean(folds)), standard_error(folds)) for x, folds in found if folds)
            if points:
                series.append(Series(name, points, dashed=dashed))
        return tuple(series)


def all_but(missing: Sequence[str]) -> str:
    """On which tables something holds, by those where it does not."""
    return f"all but {', '.join(missing)}" if missing else "all"


def all_of(tables: Collection[str], missing: Sequence[str]) -> str:
    """The same with numbers."""
    return f"{len(tables) - len(missing)} of {len(tables)}{'; not ' + ', '.join(missing) if missing else ''}"


def declare(declared: Mapping[str, tuple[str, Mapping[str, Any]]]) -> dict[str, Learner]:
    """Learners by name, from (recipe or reference, parameters)."""
    return {name: Learner(name, recipe, params) for name, (recipe, params) in declared.items()}


def told_measure(measure: str) -> str:
    """What a measure is called in a heading."""
    return f"{measure.replace('_', ' ')}{' %' if measure in PER_CENT else ''}"


def measure_text(value: float | None, measure: str) -> str:
    """A value as tables have it."""
    return "-" if value is None else f"{value:.1f}" if measure in PER_CENT else f"{value:.3f}"
