"""Evaluations of regressors: folds, references, private scores and the page."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import mean_absolute_error, r2_score, root_mean_squared_error
from sklearn.tree import DecisionTreeRegressor
from typer.testing import CliRunner

import privet
from privet.cli.app import app
from privet.errors import ParameterError
from privet.estimators.number_references import boosted, mean_leaf, regression_tree
from privet.evaluation.cross_validation import Evaluation, evaluate, references_for
from privet.evaluation.private_evaluation import evaluate_privately
from privet.report.evaluation_page import evaluation_page, private_evaluation_page
from privet.schema import Categorical, Numeric, Schema
from privet.tables.encoding import encode

SCHEMA = Schema(
    (Numeric("age", 0, 100, bins=20), Categorical("ward", ("a", "b", "c"))), Numeric("wage", 0, 100), name="wages"
)


def table(n: int = 1500, seed: int = 0) -> dict[str, Any]:
    random = np.random.default_rng(seed)
    age, ward = random.uniform(0, 100, n), random.integers(0, 3, n)
    return {
        "age": age,
        "ward": np.array(["a", "b", "c"])[ward],
        "wage": 20 + 30 * (age > 40) + 5 * (ward == 1) + random.normal(0, 3, n),
    }


TABLE = table()


@pytest.fixture(scope="module")
def result() -> Evaluation:
    learners = [privet.AdditiveRegressor(epsilon=5), privet.ExactTreeRegressor(epsilon=5, max_depth=1)]
    return evaluate(SCHEMA, TABLE, learners, folds=3)


def test_regressors_score_between_the_mean_and_boosting(result: Evaluation) -> None:
    mean, tree, boosting = result.references
    assert (mean.recipe, tree.recipe, boosting.recipe) == references_for(SCHEMA) == ("mean", *NAMES)
    assert -0.05 < mean.mean <= 0
    assert 0.9 < tree.mean <= 1
    assert 0.9 < boosting.mean <= 1
    for score in result.results:
        assert score.measure == "R2"
        assert score.private
        assert mean.mean < score.mean < boosting.mean + 0.05
        assert score.others["MAE"] < score.others["RMSE"]
    told = json.loads(json.dumps(result.to_dict()))
    assert {"r2_mean", "r2_std", "mae_mean", "rmse_mean", "fit_seconds_mean"} <= told["results"][0].keys()


NAMES = ("sklearn-tree", "sklearn-boosting")


def test_measures_are_scikit_learns() -> None:
    from privet.evaluation.metrics import mean_error, r2, root_mean_square

    random = np.random.default_rng(0)
    y, predicted = random.normal(0, 1, 50), random.normal(0, 1, 50)
    assert r2(y, predicted) == pytest.approx(r2_score(y, predicted))
    assert mean_error(y, predicted) == pytest.approx(mean_absolute_error(y, predicted))
    assert root_mean_square(y, predicted) == pytest.approx(root_mean_squared_error(y, predicted))
    assert r2(np.ones(3), np.ones(3)) is None


def test_the_tree_is_scikit_learns() -> None:
    features = encode(SCHEMA, TABLE).features
    tree = regression_tree(SCHEMA, features, TABLE["wage"], 3)
    theirs = DecisionTreeRegressor(max_depth=3, random_state=0)
    columns = np.column_stack([features[0], *(features[1] == v for v in range(3))]).astype(np.float32)
    assert tree.predict(features) == pytest.approx(theirs.fit(columns, TABLE["wage"]).predict(columns))


def test_references_without_records_predict_the_middle() -> None:
    nothing = np.zeros((2, 0), dtype=np.uint8), np.zeros(0)
    features = encode(SCHEMA, TABLE).features[:, :2]
    for learn in (mean_leaf, regression_tree, boosted):
        assert learn(SCHEMA, *nothing, 3).predict(features).tolist() == [50, 50]


def test_a_reference_of_classes_is_none_of_numbers() -> None:
    with pytest.raises(ParameterError, match="unknown reference 'c45'; choose one of mean, sklearn-tree"):
        evaluate(SCHEMA, TABLE, [], references=["c45"])


def test_the_page_says_what_was_measured(result: Evaluation) -> None:
    page = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", evaluation_page(result, SCHEMA)))
    assert "wages: R2 against epsilon" in page
    assert "always says the mean." in page
    assert "3 folds" in page
    for score in (*result.results, *result.references):
        assert f"{score.mean:.3f} ± {score.std:.3f} {score.others['MAE']:.3f}" in page


def test_a_private_evaluation_is_charged_and_shown() -> None:
    ledger = privet.Ledger(3)
    learners = [privet.AdditiveRegressor(SCHEMA, epsilon=1), privet.ExactTreeRegressor(SCHEMA, epsilon=1, max_depth=1)]
    results, certificate = evaluate_privately(learners, table(6000), 0.5, ledger)
    assert 2 < certificate.epsilon == ledger.spent <= 3
    assert [result.score.held_out for result in results] == [True, True]
    page = private_evaluation_page(results, certificate, SCHEMA)
    for result in results:
        assert all(text in page for text in result.score.written.values())


def test_commands(tmp_path: Any) -> None:
    pd.DataFrame(TABLE).to_csv(tmp_path / "table.csv", index=False)
    SCHEMA.to_json(tmp_path / "schema.json")
    asked = ["evaluate", str(tmp_path / "table.csv"), "--schema", str(tmp_path / "schema.json"), "--epsilon", "1"]
    shown = CliRunner().invoke(app, [*asked, "--folds", "2", "--markdown"])
    assert shown.exit_code == 0, shown.output
    assert "| recipe | variant | epsilon | R2 | MAE | RMSE | fit s |" in shown.stdout
    assert "exact-regression" in shown.stdout
    assert "sklearn-boosting" in shown.stdout
    more = ["--recipe", "additive-regression", "--private", "--epsilon-scores", "1"]
    private = CliRunner().invoke(app, [*asked, *more, "--report", str(tmp_path / "page.html")])
    assert private.exit_code == 0, private.output
    assert "RMSE" in private.stdout
    assert "R2 against epsilon" in (tmp_path / "page.html").read_text()
