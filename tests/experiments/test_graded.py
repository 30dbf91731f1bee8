"""Ranking and graded probabilities from commands: the numbers are those of their definitions, and small runs work."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from privet.errors import ParameterError, RecipeError
from privet.experiments import graded, reliability, which_learner
from privet.experiments.graded import _mean, _score


def test_scores_are_those_of_their_definitions() -> None:
    proba = np.array([[0.9, 0.1], [0.4, 0.6], [0.3, 0.7], [0.8, 0.2]])
    found = _score(np.array([0, 1, 0, 1]), proba)
    assert found.accuracy == 0.5
    assert found.auc == 0.5
    assert found.log_loss == pytest.approx(-np.log([0.9, 0.6, 0.3, 0.2]).mean())
    assert _mean([1.0, 2.0, 3.0]) == (2.0, pytest.approx(1 / math.sqrt(3)))
    assert _mean([None]) == (None, None)


@pytest.fixture(scope="module")
def small(data_dir: Path) -> graded.GradedTable:
    return graded.run(
        ["vote"], ["additive", "exact"], [1.0, 8.0], deltas=(0.0,), folds=2, data_dir=data_dir, processes=1
    )


def test_a_table_has_a_cell_for_each_learner_and_epsilon(small: graded.GradedTable) -> None:
    assert [(cell.learner, cell.epsilon) for cell in small.cells] == [
        ("additive", 1.0),
        ("additive", 8.0),
        ("exact", 1.0),
        ("exact", 8.0),
        ("additive without noise", None),
        ("boosting", None),
    ]
    assert all(cell.auc is not None and 0.8 < cell.auc <= 1 for cell in small.cells)
    assert all(cell.accuracy > 0.8 for cell in small.cells)
    assert small.to_dict()["experiment"] == "graded"
    for measure in ("auc", "log_loss", "accuracy"):
        text = small.to_markdown(measure)
        assert text.splitlines()[0] == f"| {measure.replace('_', '-')} | vote |"
        assert "±" in text


def test_unknown_names_are_refused_before_any_work(data_dir: Path) -> None:
    with pytest.raises(RecipeError):
        graded.run(["vote"], ["shrub"], data_dir=data_dir)
    with pytest.raises(ParameterError, match="unknown reference"):
        graded.run(["vote"], references=["oracle"], data_dir=data_dir)


def test_groups_of_equal_size_compare_prediction_and_truth(data_dir: Path) -> None:
    found = reliability.run(["vote"], epsilon=8.0, folds=2, data_dir=data_dir)
    (curve,) = found.curves
    assert len(curve.predicted) == len(curve.observed) == 10
    assert list(curve.predicted) == sorted(curve.predicted)
    assert curve.observed[-1] > 0.9 > 0.1 > curve.observed[0]
    assert curve.error == pytest.approx(np.abs(np.subtract(curve.predicted, curve.observed)).mean())
    assert "| vote |" in found.to_markdown()


def test_learners_are_grouped_by_records_times_epsilon(data_dir: Path) -> None:
    found = which_learner.run(["vote"], ["additive"], [0.1, 1.0], data_dir=data_dir, processes=1)
    assert [place.records_times_epsilon for place in found.places] == pytest.approx([21.75, 217.5])
    text = found.to_markdown()
    assert "below 100, up to 20 attributes, two classes" in text
    assert "100 to 1000, up to 20 attributes, two classes" in text
