"""Which results no other beats, and F-beta against scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics

import privet
from privet.datasets.clinic import clinic
from privet.errors import ParameterError
from privet.evaluation.cross_validation import evaluate
from privet.evaluation.metrics import check_positive, f_beta
from privet.evaluation.outcome import efficient

POINT = st.tuples(st.integers(0, 3), st.integers(1, 3), st.none() | st.integers(1, 3))


@given(st.lists(POINT, max_size=8))
def test_the_unbeaten_are_those_that_nothing_dominates(points: list[tuple[int, int, int | None]]) -> None:
    found = efficient(points)
    for mine, best in zip(points, found, strict=True):
        beaten = any(
            other[0] >= mine[0]
            and other[1] <= mine[1]
            and (mine[2] is None or (other[2] is not None and other[2] <= mine[2]))
            and other != mine
            for other in points
        )
        assert best != beaten
    assert any(found) or not points


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=30), st.floats(0.1, 10))
def test_f_beta_is_scikit_learns(pairs: list[tuple[int, int]], beta: float) -> None:
    truth, predicted = np.array(pairs).T
    found = f_beta(truth, predicted, 1, beta)
    wanted = metrics.fbeta_score(truth == 1, predicted == 1, beta=beta, zero_division=np.nan)
    assert found == pytest.approx(wanted) if found is not None else np.isnan(wanted)


def test_an_evaluation_measures_the_positive_class_and_fewer_records() -> None:
    schema, table = clinic(400)
    tree = privet.papers.DiffPID3Classifier(schema, epsilon=4, max_depth=2)
    found = evaluate(
        schema, table, [tree], folds=2, references=["majority"], positive="Sick", beta=2, records=[20, 100]
    )
    assert [score.records for score in found.results] == [None, 20, 100]
    assert [score.records for score in found.references] == [None]
    assert found.f_beta == "F2 of Sick"
    assert all(score.f_beta_mean is not None for score in found.results)
    assert found.to_dict()["results"][0].keys() >= {"efficient", "records", "f_beta_mean"}
    assert any(found.efficient)


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"positive": "maybe"}, "positive must be one of Healthy, Sick"),
        ({"positive": "Sick", "beta": 0}, "beta must be a number above 0"),
        ({"records": [0]}, "records must be a whole number of at least 1"),
        ({"records": [51]}, "name at most the 50 that 2 folds leave to fit to"),
    ],
)
def test_refusals(more: dict[str, object], says: str) -> None:
    schema, table = clinic(100)
    with pytest.raises(ParameterError, match=says):
        evaluate(schema, table, [], folds=2, **more)  # type: ignore[arg-type]


def test_a_class_is_found_by_its_text() -> None:
    assert check_positive((False, True), "True", 1) == 1
