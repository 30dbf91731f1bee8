"""Ranking and graded probabilities from commands: the numbers are those of their definitions, and small runs work."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from privet import Categorical, Schema
from privet.errors import ParameterError, RecipeError
from privet.evaluation.cross_validation import Fold
from privet.tables.frozen import freeze
from privet_experiments.folds import fold_by_fold, mean_of, standard_error, way_of
from privet_experiments.ours import graded, reliability, which_learner
from privet_experiments.references import SHARES
from privet_experiments.runner import run


def test_scores_are_those_of_their_definitions() -> None:
    proba = np.array([[0.9, 0.1], [0.4, 0.6], [0.3, 0.7], [0.8, 0.2]])
    nothing: Any = None
    found = Fold(nothing, nothing, np.array([0, 1, 0, 1]), proba.argmax(axis=1), 0.0, None, proba)
    assert found.accuracy == 0.5
    assert found.auc == 0.5
    assert found.log_loss == pytest.approx(-np.log([0.9, 0.6, 0.3, 0.2]).mean())
    assert mean_of([1.0, None, 3.0]) == 2.0
    assert mean_of([None]) is None
    assert standard_error([1.0, 2.0, 3.0]) == pytest.approx(1 / math.sqrt(3))


def test_boosting_has_an_answer_where_a_class_has_one_record() -> None:
    """scikit-learn's early stopping, which more than 10,000 records turn on, fails there."""
    schema = Schema((Categorical("x", (0, 1)),), Categorical("class", ("a", "b", "c")))
    x = np.arange(10_001) % 2
    labels = np.where(x == 1, "a", "b").astype(object)
    labels[0] = "c"
    frozen = freeze(schema, {"x": x, "class": labels})
    for fold in fold_by_fold(way_of("boosting", schema, None, 0, {}), frozen, folds=2):
        assert fold.proba.shape[1] == 3
        assert fold.accuracy > 0.999


@pytest.mark.usefixtures("tables", "small_draws")
def test_a_table_has_a_cell_for_each_learner_and_epsilon() -> None:
    grid = graded.GradedSweep(("vote",), (1.0, 8.0), 2, recipes=("additive", "exact"), deltas=(0.0,))
    found = run("additive", "full", grid, processes=1)
    assert [(row["learner"], row["epsilon"]) for row in found.rows] == [
        ("additive", 1.0),
        ("additive", 8.0),
        ("exact", 1.0),
        ("exact", 8.0),
        ("class shares", 1.0),
        ("class shares", 8.0),
        ("additive without noise", None),
        ("boosting", None),
    ]
    learners = [row for row in found.rows if row["learner"] != SHARES]
    shares = [row for row in found.rows if row["learner"] == SHARES]
    assert all(0.8 < np.mean(row["auc"]) <= 1 for row in learners)
    assert all(np.mean(row["accuracy"]) > 0.8 for row in learners)
    assert all(np.mean(row["auc"]) == 0.5 for row in shares)
    assert np.mean(shares[1]["log_loss"]) == pytest.approx(0.667, abs=0.01), "the entropy of 267 and 168 of 435"
    assert [table.title.split(" at ")[0] for table in found.outcome.tables] == ["AUC", "log-loss", "accuracy %"]
    assert all("±" in cell for table in found.outcome.tables for _, cell in table.rows)


@pytest.mark.usefixtures("tables", "small_draws")
def test_recipes_with_their_own_cuts_predict_with_these_cuts() -> None:
    grid = graded.GradedSweep(("banknote",), (2.0,), 2, recipes=("exact",), references=False)
    row = run("additive", "full", grid, processes=1).rows[0]
    assert (row["learner"], np.mean(row["accuracy"]) > 0.8) == ("exact", True)


@pytest.mark.usefixtures("tables")
def test_a_delta_is_for_recipes_that_have_one() -> None:
    grid = graded.GradedSweep(("vote",), (1.0,), recipes=("additive", "random-forest"), references=False)
    wanted = ["additive", "additive, delta 1e-06", "random-forest", "class shares"]
    assert [job["learner"] for job in grid.jobs()] == wanted
    assert grid.learners()[1].params == {"delta": 1e-6}


@pytest.mark.usefixtures("tables")
def test_unknown_names_are_refused_before_any_work() -> None:
    with pytest.raises(RecipeError):
        run("additive", "full", graded.GradedSweep(("vote",), recipes=("shrub",)))
    with pytest.raises(ParameterError, match="atlantis"):
        run("additive", "full", graded.GradedSweep(("atlantis",)))


@pytest.mark.usefixtures("tables")
def test_groups_of_equal_size_compare_prediction_and_truth() -> None:
    found = run("reliability", "full", reliability.Reliability(("vote",), epsilon=8.0, folds=2), processes=1)
    (curve,) = found.rows
    assert len(curve["predicted"]) == len(curve["observed"]) == 10
    assert curve["predicted"] == sorted(curve["predicted"])
    assert curve["observed"][-1] > 0.9 > 0.1 > curve["observed"][0]
    assert curve["error"] == pytest.approx(np.abs(np.subtract(curve["predicted"], curve["observed"])).mean(), abs=2e-6)
    assert found.outcome.tables[0].rows[0][0] == "vote"


@pytest.mark.usefixtures("tables", "small_draws")
def test_learners_are_grouped_by_records_times_epsilon() -> None:
    grid = which_learner.WhichLearner(("vote",), (0.1, 1.0), folds=2, who=("additive",))
    found = run("which-learner", "full", grid, processes=1)
    assert [row["records"] * row["epsilon"] for row in found.rows] == pytest.approx([21.75, 217.5])
    assert [row[0] for row in found.outcome.tables[0].rows] == [
        "below 100, up to 20 attributes, two classes",
        "100 to 1000, up to 20 attributes, two classes",
    ]
