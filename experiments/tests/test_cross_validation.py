"""Learners on tables over folds: every fold is kept, what cannot be is told, and the table of accuracies adds up."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from privet.datasets import real
from privet.errors import ParameterError
from privet.estimators.references import REFERENCES
from privet.evaluation.cross_validation import evaluate
from privet_experiments.folds import Learner, mean, standard_error, values
from privet_experiments.ours.accuracy import Accuracy
from privet_experiments.runner import run

GRID = Accuracy(("vote", "nursery"), (1.0, 10.0), 2, recipes=("mohammed2015", "rana2016"))


pytestmark = pytest.mark.usefixtures("tables")


def test_accuracy_of_recipes() -> None:
    found = run("accuracy", "full", GRID, processes=1)
    assert len(found.rows) == 2 * (2 * 2 + 1)
    vote = values(found.rows, "accuracy", table="vote", learner="mohammed2015", epsilon=10.0)
    assert len(vote) == 2
    assert 0.75 < np.mean(vote) <= 1  # a constant has 0.614
    private = {(row["learner"], row["private"]) for row in found.rows}
    assert private == {("mohammed2015", True), ("rana2016", False), ("majority", False)}
    refused = next(row for row in found.rows if (row["table"], row["learner"]) == ("nursery", "rana2016"))
    assert "two classes" in refused["note"] or "binary" in refused["note"].lower()
    accuracies, means, *others = found.outcome.tables
    assert (len(others), accuracies.title) == (3, "accuracy % at epsilon 1 / 10")
    mohammed, rana, majority = accuracies.rows
    assert mohammed[:2] == ("mohammed2015", "yes")
    assert rana[:2] == ("rana2016", "no (as-published)")
    assert rana[3] == "- / -"
    assert majority == ("majority", "no (not private)", "61.4", "33.3")
    mohammed, rana, majority = means.rows
    assert rana[2:] == ("- / -",) * 4  # a mean over some of the tables compares with nothing
    assert majority[2:4] == ("47.4", "35.0")
    losses = [mean(found.rows, "log_loss", table=t, learner="mohammed2015", epsilon=10.0) for t in GRID.tables]
    assert mohammed[5].endswith(f" / {np.mean(losses):.3f}")  # type: ignore[arg-type]
    assert [figure.title.partition(":")[0] for figure in found.outcome.figures] == ["vote", "nursery"]


class WithoutNoise(Accuracy):
    def learners(self) -> list[Learner]:
        return [Learner(name, name) for name in ("majority", *REFERENCES)]


def test_folds_are_those_of_an_evaluation() -> None:
    """What has no noise comes out the same, to the six digits that are kept."""
    rows = run("accuracy", "full", WithoutNoise(("vote",), (1.0,), 3, 2), processes=1).rows
    schema, table = real.load("vote")
    for score in evaluate(schema, table, [], folds=3, repeats=2).references:
        mine = values(rows, "accuracy", learner=score.recipe)
        assert len(mine) == 6
        assert np.mean(mine) == pytest.approx(score.accuracy_mean, abs=1e-6)
        assert np.std(mine) == pytest.approx(score.accuracy_std, abs=1e-6)
    assert standard_error([1.0, 3.0]) == 1.0


def test_what_would_stop_the_work_is_said_before_it() -> None:
    for grid, message in (
        (replace(GRID, recipes=("oak",)), "unknown recipe 'oak'"),
        (replace(GRID, tables=("atlantis",)), "no table called 'atlantis' in PRIVET_DATA; there are"),
        (replace(GRID, folds=1), "folds must be at least 2"),
    ):
        with pytest.raises(ParameterError, match=message):
            run("accuracy", "full", grid, processes=1)


def test_the_learners_are_written_down_with_the_grid() -> None:
    told = replace(GRID, recipes=("exact",)).to_dict()
    assert told["learners"] == [
        {"name": "exact", "recipe": "exact", "params": {}},
        {"name": "majority", "recipe": "majority", "params": {}},
    ]
