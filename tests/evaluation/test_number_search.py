"""A private search over regressors: it chooses by noisy errors, pays once, and is a regressor to scikit-learn."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone, is_classifier, is_regressor

import privet
from privet.engines.memory import MemoryEngine
from privet.errors import RecipeError
from privet.evaluation.private_search import Parts
from privet.evaluation.rounding import NoisyGrid, error_to_compare, rounded, sizes_of
from privet.privacy.ledger import Ledger
from privet.privacy.samplers.stopping import RandomStopping
from privet.recipes.ours.exact_regression import ExactRegression
from privet.schema import Numeric, Schema
from privet.tables.frozen import freeze
from privet.testing import SeededNoise, use_noise

SCHEMA = Schema((Numeric("age", 0, 100),), Numeric("wage", 0, 1000))


def table(n: int, seed: int = 0) -> dict[str, Any]:
    random = np.random.default_rng(seed)
    age = random.uniform(0, 100, n)
    return {"age": age, "wage": 20 + 40 * (age > 50) + random.normal(0, 3, n)}


def test_it_finds_the_setting_that_predicts() -> None:
    """A tree without a test is off by 20, one with a test by 2.4, at 2,000 records of a run's third."""
    search = privet.PrivateSearch(
        privet.ExactTreeRegressor(SCHEMA), {"max_depth": [0, 1]}, epsilon=6, mean_runs=20, ledger=Ledger(6)
    )
    with use_noise(SeededNoise(0)):
        search.fit(table(4000))
    assert search.best_params_ == {"max_depth": 1}
    assert -5 < search.best_score_ < 0
    assert search.ledger.spent == 6
    assert [charge.what for charge in search.certificate_.charges] == ["the best of 2 settings, by random stopping"]
    unseen = table(1000, seed=1)
    assert search.score({"age": unseen["age"]}, unseen["wage"]) > 0.9
    assert search.predict({"age": [20.0]})[0] < search.predict({"age": [80.0]})[0]
    assert (is_regressor(search), is_classifier(search)) == (True, False)
    assert not hasattr(search, "predict_proba")
    assert not hasattr(search, "classes_")
    assert not hasattr(clone(search), "best_score_")


def test_a_search_of_classifiers_is_still_a_classifier() -> None:
    search = privet.PrivateSearch(privet.ExactTreeClassifier(), {"max_depth": [1]})
    assert (is_regressor(search), is_classifier(search)) == (False, True)
    assert hasattr(search, "predict_proba")


def test_a_recipe_for_classes_is_refused_before_anything_is_charged() -> None:
    ledger = Ledger(3)
    grid = [{"max_depth": [1]}, {"recipe": "diffpc45"}]
    search = privet.PrivateSearch(privet.ExactTreeRegressor(SCHEMA), grid, epsilon=3, ledger=ledger)
    with pytest.raises(RecipeError, match="predicts classes, and the label 'wage' is a number"):
        search.fit(table(100))
    assert ledger.spent == 0


def test_a_run_spends_what_both_of_its_ledgers_hold() -> None:
    frozen = freeze(SCHEMA, table(400))
    parts = Parts(MemoryEngine(SCHEMA, frozen.codes(SCHEMA), frozen), freeze(SCHEMA, table(100, seed=1)))
    run = next(iter(RandomStopping(Ledger(3), Fraction(3), settings=1, mean_runs=1, what="search")))
    parts.run(ExactRegression(max_depth=1), run)
    assert run.scoring.spent == 1
    assert [charge.what for charge in run.scoring.certificate().charges] == ["noisy errors"]
    assert run.fitting.spent <= 1


def test_noise_that_hides_large_errors_does_not_win() -> None:
    """With 30 records at noise of scale 1, clips vary; the worse model must not look better because of one."""
    sizes, random, wins = sizes_of(Numeric("wage", 0, 100)), np.random.default_rng(0), 0
    with use_noise(SeededNoise(1)):
        for _ in range(200):
            found = []
            for off in (5.0, 15.0):
                errors = np.abs(random.normal(0, off, 60))
                counts = np.bincount(rounded(errors, sizes), minlength=sizes.size)
                found.append(error_to_compare(NoisyGrid(sizes, counts + random.laplace(0, 1, sizes.size), 1.0)))
            wins += found[0] < found[1]
    assert wins > 180
    assert error_to_compare(NoisyGrid(sizes, np.zeros(sizes.size), 1.0)) == 100
