"""The planner's forecast against the truth: points that privacy costs, foreseen without data and measured on tables.

NOT PRIVATE, like every evaluation. The truth is cross-validation of the same learners with the same settings, at each
epsilon and at one so large that there is no noise. The forecast knows the schema, how many records a fold trains on and
how common the most common label is, to a tenth: what an owner knows of a table.

A strength *fits* a table if its learners without noise are about as good as the table's: the strength whose accuracy
without noise is nearest, on average over the learners. That is for judging the planner; an owner declares it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

from privet.datasets import real
from privet.estimators.registry import make_classifier
from privet.evaluation.cross_validation import evaluate
from privet.planning.forecast import in_points
from privet.planning.planner import NO_NOISE, RECIPES, plan, quick_settings
from privet.planning.strength import STRENGTHS
from privet.tables.encoding import encode
from privet_experiments.experiment import Experiment, Found, Job, axis
from privet_experiments.experiment import Row as RunRow
from privet_experiments.outcome import Outcome, Table

TABLES = ("vote", "banknote", "nursery", "mushroom", "magic", "adult-complete")
EPSILONS = (0.1, 1.0)
FOLDS = 5
WORLDS = 10
SMALL, REPEATS = 2_000, 4  # records; a small table's folds are dealt several times, for its noise is large
TOLERANCE = 3.0  # points


@dataclass(frozen=True)
class Row:
    """One learner on one table at one epsilon, losses in points."""

    table: str
    records: int  # that a fold trains on
    recipe: str
    epsilon: float
    without_noise: float  # accuracy on the table, as a fraction
    lost: float
    forecast: dict[str, float]  # by strength
    forecast_without_noise: dict[str, float]
    fits: str  # the strength

    @property
    def off(self) -> float:
        return self.forecast[self.fits] - self.lost

    @property
    def within(self) -> bool:
        return abs(self.off) <= TOLERANCE


@dataclass(frozen=True)
class Comparison:
    """All of them, and how many were foreseen."""

    rows: tuple[Row, ...]

    @property
    def verdict(self) -> str:
        good = sum(row.within for row in self.rows)
        return f"{good} of {len(self.rows)} forecasts are within {TOLERANCE:g} points"

    def verdict_at(self, epsilon: float) -> str:
        mine = [row for row in self.rows if row.epsilon == epsilon]
        told = [
            f"{recipe} {sum(row.within for row in mine if row.recipe == recipe)}"
            f"/{sum(row.recipe == recipe for row in mine)}"
            for recipe in dict.fromkeys(row.recipe for row in mine)
        ]
        return f"epsilon {epsilon:g}: {', '.join(told)}"

    def cells(self) -> list[tuple[str, ...]]:
        """A line of text for every row: what the tables of the command and of the docs show."""
        return [
            (
                row.table,
                row.recipe,
                f"{row.epsilon:g}",
                f"{100 * row.without_noise:.1f}",
                in_points(row.lost),
                *(in_points(row.forecast[name]) for name in STRENGTHS),
                row.fits,
                f"{row.off:+.1f}",
            )
            for row in self.rows
        ]


HEADINGS = ("table", "recipe", "epsilon", "without noise %", "points lost", *STRENGTHS, "fits", "off by")


@dataclass(frozen=True)
class Forecast(Experiment):
    """What `privet plan` foresees without data, and what privacy really costs: points of accuracy lost."""

    tables: tuple[str, ...] = axis(TABLES, "A table of PRIVET_DATA; may be repeated.")
    epsilons: tuple[float, ...] = axis(EPSILONS, "A budget; may be repeated.")
    recipes: tuple[str, ...] = axis(RECIPES, "A method; may be repeated.")
    folds: int = axis(FOLDS, "Stratified folds.", least=2)
    worlds: int = axis(WORLDS, "Invented tables a forecast.", least=3)

    def check(self) -> None:
        real.fetch(self.tables)

    def jobs(self) -> list[Job]:
        return [{"table": table} for table in self.tables]

    def run(self, job: Job) -> Found:
        found = _compare(job["table"], self.epsilons, self.recipes, self.folds, self.worlds)
        return {"losses": [asdict(row) for row in found]}

    def conclude(self, rows: Sequence[RunRow]) -> Outcome:
        found = Comparison(tuple(Row(**one) for row in rows for one in row["losses"]))
        notes = (f"{found.verdict}.", *(f"{found.verdict_at(epsilon)}." for epsilon in self.epsilons))
        title = f"Points lost, and as foreseen; {self.folds} folds, {self.worlds} invented tables"
        return Outcome((Table(title, HEADINGS, tuple(found.cells())),), notes=notes)


def _compare(
    table: str,
    epsilons: tuple[float, ...],
    recipes: tuple[str, ...],
    folds: int,
    worlds: int,
) -> list[Row]:
    schema, columns = real.load(table)
    labels = encode(schema, columns).labels
    assert labels is not None
    size = len(labels)
    largest = max(round(float(np.bincount(labels).max()) / size, 1), 1 / schema.n_classes)
    budgets = (*epsilons, NO_NOISE)
    learners = [make_classifier(r, epsilon=e, **quick_settings(r, schema)) for r in recipes for e in budgets]
    repeats = REPEATS if size < SMALL else 1
    scores = evaluate(schema, columns, learners, folds=folds, repeats=repeats, references=()).results
    measured = {(s.recipe, s.epsilon): s.mean for s in scores}
    plain = {recipe: measured[recipe, float(NO_NOISE)] for recipe in recipes}
    trained = size * (folds - 1) // folds
    forecasts = {
        name: plan(
            schema,
            trained,
            signal=name,
            epsilons=epsilons,
            recipes=recipes,
            largest_class=largest,
            worlds=worlds,
            seed=0,
        )
        for name in STRENGTHS
    }
    fits = min(STRENGTHS, key=lambda n: abs(np.mean([forecasts[n].of(r)[0].without_noise - plain[r] for r in recipes])))
    return [
        Row(
            table=table,
            records=trained,
            recipe=recipe,
            epsilon=epsilon,
            without_noise=plain[recipe],
            lost=100 * (plain[recipe] - measured[recipe, epsilon]),
            forecast={name: forecast.of(recipe)[place].lost for name, forecast in forecasts.items()},
            forecast_without_noise={
                name: forecast.of(recipe)[place].without_noise for name, forecast in forecasts.items()
            },
            fits=fits,
        )
        for recipe in recipes
        for place, epsilon in enumerate(sorted(epsilons))
    ]
