"""A private evaluation: all of it is charged, or nothing is."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

import privet
from privet import Categorical, ParameterError, PrivetError, Schema
from privet.datasets.clinic import clinic
from privet.evaluation.private_evaluation import evaluate_privately

SCHEMA, TABLE = clinic(400, seed=1)


def tree(**params: Any) -> privet.papers.DiffPID3Classifier:
    return privet.papers.DiffPID3Classifier(**{"schema": SCHEMA, "epsilon": 1, "max_depth": 1} | params)


def test_fits_and_scores_are_charged() -> None:
    ledger = privet.Ledger(5)
    results, certificate = evaluate_privately([tree(), tree(epsilon=0.5)], TABLE, 0.25, ledger)
    assert [float(result.epsilon) for result in results] == [1, 0.5]
    assert all(result.score.held_out for result in results)
    assert 1.5 < certificate.epsilon == ledger.spent <= 2


def test_a_protected_data_set_is_evaluated_on_its_own_ledger(tmp_path: Any) -> None:
    pd.DataFrame(TABLE).to_csv(tmp_path / "table.csv", index=False)
    for source in (TABLE, tmp_path / "table.csv"):  # counted in memory, and in chunks
        data = privet.protect(source, SCHEMA, privet.Ledger(2))
        (result,), certificate = evaluate_privately([privet.papers.DiffPC45Classifier(max_bins=3)], data, 1)
        assert result.score.held_out
        assert certificate.epsilon == data.ledger.spent <= 2
    with pytest.raises(ParameterError, match="ledger is missing"):
        evaluate_privately([tree()], TABLE, 1)


@pytest.mark.parametrize(
    "last",
    [
        tree(schema=None),
        tree(schema=Schema((Categorical("not there", ("a", "b")),), SCHEMA.label)),
        tree(max_depth=-1),
        privet.ExactTreeClassifier(SCHEMA, epsilon=1e-12, max_depth=2),
        tree(ledger=privet.Ledger(1)),
    ],
    ids=["no schema", "another schema", "a bad parameter", "too small an epsilon", "a ledger of its own"],
)
def test_what_stops_the_last_classifier_costs_nothing(last: Any) -> None:
    ledger = privet.Ledger(5)
    with pytest.raises(PrivetError):
        evaluate_privately([tree(), last], TABLE, 0.5, ledger)
    assert ledger.spent == 0


def test_the_callers_estimators_stay_as_they_are() -> None:
    mine = tree()
    before = mine.get_params()
    evaluate_privately([mine], TABLE, 1, privet.Ledger(2, neighbours="replace-one"))
    assert mine.get_params() == before
    assert not hasattr(mine, "model_")
    with pytest.raises(ParameterError, match="at least one"):
        evaluate_privately([], TABLE, 1, privet.Ledger(2))


def test_progress_is_called_or_refused() -> None:
    told: list[tuple[int, int]] = []
    evaluate_privately([tree(), tree()], TABLE, 1, privet.Ledger(9), progress=lambda *step: told.append(step))
    assert told == [(1, 2), (2, 2)]
    ledger = privet.Ledger(9)
    with pytest.raises(ParameterError, match="progress must be a function"):
        evaluate_privately([tree()], TABLE, 1, ledger, progress=3)  # type: ignore[arg-type]
    assert ledger.spent == 0
