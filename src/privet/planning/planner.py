"""Forecast what a budget buys, without data and before any of it is spent.

From public facts (the schema, a rough number of records), a guess at the strength of the signal and some candidate
epsilons, the planner simulates tables, fits each learner with its real noise and once with negligible noise, and
compares. NOTHING HERE IS PRIVATE, since there is nothing to protect: the records are simulated.

>>> from privet.datasets.clinic import clinic
>>> schema, _ = clinic(10)
>>> forecast = plan(schema, 2000, signal="strong", epsilons=[0.01, 1], recipes=["mohammed2015"], worlds=3)
>>> [(line.recipe, line.epsilon) for line in forecast.lines]
[('mohammed2015', 0.01), ('mohammed2015', 1.0)]
>>> [answer.count_within for answer in forecast.answers]
[300, 3]
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from privet.datasets.fs import Sample
from privet.engines.memory import MemoryEngine
from privet.errors import EpsilonError, ParameterError
from privet.estimators.registry import make_classifier
from privet.fitting import Request, fit
from privet.growing.whole.number_trees import number_labels
from privet.growing.whole.whole_tree import operations
from privet.kinds import NOISY_COUNTS
from privet.models.model import Model
from privet.planning.answers import (
    CONFIDENCE,
    class_counts_within,
    count_within,
    leaf_records,
    margin_for_a_draw,
    margin_for_noisy_counts,
)
from privet.planning.forecast import Answer, Forecast, ForecastLine
from privet.planning.strength import Strength, codes_for, draw_world, frozen_of, parse_strength
from privet.privacy.budget import epsilon as parse_epsilon
from privet.progress import Progress
from privet.recipes.ours.exact import ExactTree
from privet.recipes.ours.exact_regression import ExactRegression
from privet.recipes.parameters import check_number, check_whole
from privet.recipes.recipe import Recipe
from privet.schema import Schema
from privet.structure.splits import Tests

RECIPES = ("exact", "diffpc45", "random-forest")  # the recommended tree and forest, and the classic; all quick
FOR_NUMBERS = ("exact-regression", "additive-regression")  # the tree and the sum
EPSILONS = (0.1, 0.5, 1.0, 2.0)
WORLDS, SECONDS = 20, 20.0  # twenty tables vary enough to average over; the time is for a user at a terminal
LEAST_WORLDS = 3  # however slow: a mean of fewer means nothing
MOST_SIMULATED = 20_000  # records; Forecast.notes explains how more are simulated
LEAST_RECORDS, MOST_RECORDS = 10, 10**9
TEST_RECORDS = 5_000  # half a point of sampling error, shared by all epsilons of a world
MOST_EPSILON = 1000  # the largest to plan for; it already promises nothing
NO_NOISE = Fraction(10**6)  # noise of scale a millionth never changes a count
MOST_EXACT_DEPTH, MOST_OPERATIONS = 3, 10**8  # limits for an exact tree here: a fraction of a second, not six


@dataclass(frozen=True)
class Learner:
    """A recipe with the planner's parameters, and its prepared schema."""

    recipe: Recipe
    settings: dict[str, Any]
    schema: Schema

    @classmethod
    def of(cls, name: str, schema: Schema) -> Learner:
        settings = quick_settings(name, schema)
        recipe = make_classifier(name, **settings).recipe()
        recipe.refuse_label(schema)
        return cls(recipe, settings, recipe.prepare(schema))

    def fit(self, records: Sample, epsilon: Fraction, rng: np.random.Generator) -> Model:
        engine = MemoryEngine(self.schema, codes_for(records, self.schema), frozen_of(records))
        return fit(Request(self.recipe, engine, epsilon, random=rng, prepared=True))


def quick_settings(recipe: str, schema: Schema) -> dict[str, Any]:
    """The parameters that the planner changes: an exact tree is as deep as a short run allows.

    It buys no counts in its leaves, since the planner needs their labels alone; a tree of numbers buys their means.
    """
    if recipe not in (ExactTree.info.name, ExactRegression.info.name):
        return {}
    tests = len(Tests.binary(ExactTree(grid="near-zero").prepare(schema)))
    depth = 1
    while depth < MOST_EXACT_DEPTH and operations(tests, number_labels(schema), depth + 1) <= MOST_OPERATIONS:
        depth += 1
    return {"max_depth": depth} | ({} if recipe == ExactRegression.info.name else {"leaf_share": 0})


def recipes_for(schema: Schema) -> tuple[str, ...]:
    """The recipes that a plan compares if none is named."""
    return FOR_NUMBERS if schema.predicts_number else RECIPES


def plan(
    schema: Schema,
    records: int,
    *,
    signal: Strength | str = "medium",
    epsilons: Sequence[object] = EPSILONS,
    recipes: Sequence[str] | None = None,
    largest_class: float | None = None,
    worlds: int = WORLDS,
    seconds: float | None = None,
    confidence: float = CONFIDENCE,
    seed: int | None = None,
    progress: Progress | None = None,
) -> Forecast:
    """Forecast the accuracy of learners and the error of answers at some epsilons. Reads no record, spends no budget.

    Where the label is a number, R2 takes the place of accuracy.

    Parameters
    ----------
    schema : Schema
        The public facts about the table.
    records : int
        The rough number of records. A guess: if the number is itself secret, do not count them for this.
    signal : str or Strength
        ``"weak"``, ``"medium"`` or ``"strong"``; see :mod:`privet.planning.strength`.
    epsilons : sequence of numbers
        The budgets to compare, each spent on one fit, or on one answer.
    recipes : sequence of str
        The learners; those of :func:`recipes_for` by default.
    largest_class : float, optional
        The rough share of the most common label, if that is not secret. A learner that sees only noise falls back on
        it, so it matters where records are few and epsilon is small.
    worlds : int
        The number of simulated tables; the forecast is their average.
    seconds : float, optional
        Stop simulating tables after that time, but not before three.
    confidence : float
        The probability of an answer's error bound and of the right label in a leaf.
    seed : int, optional
        Seeds the simulated tables. Noise is never seeded.
    progress : callable, optional
        Called with (steps done, steps at most).
    """
    recipes = recipes_for(schema) if recipes is None else recipes
    size = check_whole(records, "records", LEAST_RECORDS, MOST_RECORDS)
    check_whole(worlds, "worlds", LEAST_WORLDS, 10_000)
    check_number(confidence, "confidence", 0.5, 1 - 1e-9)
    if largest_class is not None and schema.predicts_number:
        raise ParameterError(parameter="largest_class", problem="is for labels that are classes", fix="leave it out")
    if largest_class is not None:
        check_number(largest_class, "largest_class", 1 / schema.n_classes, 0.999)
    if seconds is not None:
        check_number(seconds, "seconds", 0, 1e6)
    strength = parse_strength(signal)
    budgets = sorted({parse_epsilon(one) for one in epsilons})
    if not budgets or not recipes:
        raise ParameterError("name at least one epsilon and one recipe, such as epsilons=[1], recipes=['exact']")
    if budgets[-1] > MOST_EPSILON:
        raise EpsilonError(
            parameter="epsilon",
            problem=f"must be at most {MOST_EPSILON}, beyond which there is no noise, not {budgets[-1]}",
        )
    learners = [Learner.of(name, schema) for name in dict.fromkeys(recipes)]
    rng = np.random.default_rng(seed)
    simulated = min(size, MOST_SIMULATED)
    scale = Fraction(size, simulated)  # the effect of noise depends on epsilon times the number of records
    steps = worlds * len(learners) * (len(budgets) + 1)
    # By the learner's number and epsilon; None stands for no noise.
    right: dict[tuple[int, Fraction | None], list[float]] = {}
    charges: dict[tuple[int, Fraction | None], dict[str, Any]] = {}
    start, done, drawn = time.monotonic(), 0, 0
    while drawn < worlds:
        if seconds is not None and drawn >= LEAST_WORLDS and time.monotonic() - start > seconds:
            break
        world = draw_world(schema, strength, rng, largest_class)
        known, unseen = world.sample(simulated, rng), world.sample(TEST_RECORDS, rng)
        for number, learner in enumerate(learners):
            for budget in (*budgets, None):
                model = learner.fit(known, NO_NOISE if budget is None else budget * scale, rng)
                features = codes_for(unseen, model.schema).features
                right.setdefault((number, budget), []).append(_score(schema, unseen, model.trees.predict(features)))
                charges[number, budget] = model.certificate["charges"][-1]
                done += 1
                if progress is not None:
                    progress(done, steps)
        drawn += 1
    lines = [
        _forecast(
            learner,
            budget,
            np.array(right[number, budget]),
            np.array(right[number, None]),
            None
            if schema.predicts_number
            else _leaf_need(charges[number, budget], scale, schema, strength, confidence),
        )
        for number, learner in enumerate(learners)
        for budget in budgets
    ]
    answers = [
        Answer(
            float(b),
            count_within(b, confidence),
            None if schema.predicts_number else class_counts_within(b, schema.n_classes, confidence),
        )
        for b in budgets
    ]
    return Forecast(
        schema.name,
        size,
        simulated,
        strength,
        largest_class,
        drawn,
        float(confidence),
        tuple(lines),
        tuple(answers),
        "R2" if schema.predicts_number else "accuracy",
    )


def _score(schema: Schema, unseen: Sample, predicted: Any) -> float:
    """Accuracy, or R2 of a number."""
    if not schema.predicts_number:
        return float((predicted == unseen.labels).mean())
    left = float(((unseen.labels - predicted) ** 2).mean())
    return 1 - left / float(unseen.labels.var() or 1.0)  # invented labels of a whole number may all be the same


def _forecast(learner: Learner, budget: Fraction, noisy: Any, plain: Any, need: int | None) -> ForecastLine:
    lost = 100 * (plain - noisy)
    return ForecastLine(
        recipe=learner.recipe.info.name,
        settings=", ".join(f"{name}={value}" for name, value in learner.settings.items()),
        epsilon=float(budget),
        score=float(noisy.mean()),
        without_noise=float(plain.mean()),
        error=float(lost.std(ddof=1) / np.sqrt(len(lost))),
        leaf_records=need,
    )


def _leaf_need(charge: dict[str, Any], scale: Fraction, schema: Schema, signal: Strength, confidence: float) -> int:
    """The records that a leaf needs, by the last charge of a fit, which buys its counts or the draw of its label."""
    each = Fraction(charge["epsilon"]) / scale
    margin_for = margin_for_noisy_counts if charge["kind"] in NOISY_COUNTS else margin_for_a_draw
    return leaf_records(margin_for(each, schema.n_classes, confidence), signal.margin)
