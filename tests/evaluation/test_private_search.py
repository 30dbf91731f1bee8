"""The private search as scikit-learn sees it: contract, charge, certificate, refusals."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import privet
from privet import BudgetExceeded, Ledger, ParameterError, PrivateSearch, RecipeError, private_score
from privet.datasets.clinic import clinic
from privet.evaluation import private_search as module
from privet.evaluation.private_search import noisy_share
from privet.testing import ZeroNoise, use_noise

SCHEMA, TABLE = clinic(1500, seed=4)
GRID = {"max_depth": [1, 2]}


def searching(param_grid: Any = None, epsilon: Any = 3, **more: Any) -> PrivateSearch:
    tree = privet.papers.DiffPID3Classifier(SCHEMA, **more.pop("tree", {}))
    return PrivateSearch(
        tree, GRID if param_grid is None else param_grid, epsilon, mean_runs=more.pop("mean_runs", 3), **more
    )


@pytest.fixture(scope="module")
def found() -> PrivateSearch:
    return searching().fit(TABLE)


# ---- the contract -------------------------------------------------------------------------------------------------


def test_what_is_there_after_a_fit(found: PrivateSearch) -> None:
    assert found.best_params_ in ({"max_depth": 1}, {"max_depth": 2})
    assert found.best_estimator_.max_depth == found.best_params_["max_depth"]
    assert found.best_estimator_.epsilon == 1
    assert 0 <= found.best_score_ <= 1
    assert (found.predict(TABLE) == found.best_estimator_.predict(TABLE)).all()
    assert found.predict_proba(TABLE).shape == (1500, 2)
    assert found.score(TABLE, TABLE["class"]) > 0.5
    assert list(found.classes_) == list(found.best_estimator_.classes_)
    assert not any("run" in name and name.endswith("_") for name in vars(found))


def test_clone_and_params() -> None:
    unfitted = searching(ledger=Ledger(5))
    copy = clone(unfitted)
    assert copy.get_params()["epsilon"] == 3
    assert copy.ledger is unfitted.ledger, "a clone cannot mint budget"
    assert copy.set_params(estimator__max_depth=4).estimator.max_depth == 4
    with pytest.raises(NotFittedError):
        copy.predict(TABLE)


def test_the_estimator_is_left_as_it_was() -> None:
    unfitted = searching()
    before = unfitted.estimator.get_params()
    unfitted.fit(TABLE)
    assert unfitted.estimator.get_params() == before
    assert not hasattr(unfitted.estimator, "model_")


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_with_labels_apart(frame: Any) -> None:
    features = frame({name: TABLE[name] for name in SCHEMA.names})
    fitted = searching().fit(features, list(TABLE["class"]))
    assert list(fitted.feature_names_in_) == list(SCHEMA.names)
    assert fitted.predict(features).shape == (1500,)


def test_settings_of_several_recipes() -> None:
    settings = [{"max_depth": [1, 2]}, {"recipe": "exact", "max_depth": 1}, {"recipe": "diffpid3"}]
    kinds = {type(classifier).__name__ for _, classifier in searching(settings)._candidates()}
    assert kinds == {"DiffPID3Classifier", "ExactTreeClassifier"}
    fitted = searching([{"recipe": "exact", "max_depth": [1]}]).fit(TABLE)
    assert fitted.best_params_ == {"recipe": "exact", "max_depth": 1}
    assert fitted.best_estimator_.schema is SCHEMA


def test_without_noise_the_better_setting_wins() -> None:
    """Coins still fall, from a seed. With 40 runs on average both settings are tried."""
    with use_noise(ZeroNoise()):
        fitted = searching([{"max_depth": [0, 3]}], mean_runs=40).fit(TABLE)
    assert fitted.best_params_ == {"max_depth": 3}


def test_saved_and_scored(found: PrivateSearch, tmp_path: Path) -> None:
    found.save(tmp_path / "best.json")
    again = privet.load_model(tmp_path / "best.json")
    assert (again.predict(TABLE) == found.predict(TABLE)).all()
    assert again.certificate_ == found.certificate_
    assert private_score(found, TABLE, None, 1, held_out=False).certificate.epsilon == 1


# ---- what it costs ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
def test_one_charge_and_a_certificate_that_covers_the_choice(neighbours: str) -> None:
    ledger = Ledger(2, neighbours=neighbours)
    fitted = searching(epsilon=Fraction(3, 2), ledger=ledger, tree={"neighbours": neighbours}).fit(TABLE)
    assert ledger.spent == Fraction(3, 2)
    for certificate in (ledger.certificate(), fitted.certificate_, fitted.best_estimator_.certificate_):
        assert certificate.epsilon == Fraction(3, 2)
        assert [charge.what for charge in certificate.charges] == ["the best of 2 settings, by random stopping"]
        assert certificate.neighbours.value == neighbours
    with pytest.raises(BudgetExceeded):
        clone(fitted).fit(TABLE)
    assert ledger.spent == Fraction(3, 2)


def test_the_estimators_ledger_pays() -> None:
    ledger = Ledger(5)
    searching(tree={"ledger": ledger}).fit(TABLE)
    assert ledger.spent == 3


def test_conditions_of_all_settings_are_conditions_of_the_search() -> None:
    settings = [{"criterion": "infogain", "max_records": 5000, "max_depth": 1}, {"max_depth": 1}]
    for _ in range(3):
        assert "at most 5000 records" in str(searching(settings, mean_runs=1).fit(TABLE).certificate_)


def test_no_run_is_seeded(monkeypatch: Any) -> None:
    """A seeded sequence of public choices would tell which run was the best."""
    seen: list[Any] = []
    honest = np.random.default_rng
    monkeypatch.setattr(np.random, "default_rng", lambda *seed: seen.append(seed) or honest(*seed))
    searching({"max_depth": [1]}, tree={"random_state": 0}, mean_runs=1).fit(TABLE)
    _, *rehearsals, run = seen  # the first is of the estimator's own request, which no run is given
    assert set(rehearsals) == {(0,)}, "nobody is in them"
    assert run == ()


def test_a_charge_comes_before_the_first_run(monkeypatch: Any) -> None:
    ledger = Ledger(3)

    def stopped(*_: Any) -> Any:
        assert ledger.spent == 3
        raise KeyboardInterrupt

    monkeypatch.setattr(module.Parts, "run", stopped)
    with pytest.raises(KeyboardInterrupt):
        searching(ledger=ledger).fit(TABLE)
    assert ledger.spent == 3, "what was charged stays charged"


# ---- what it refuses ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "error", "match"),
    [
        ({"param_grid": {"epsilon": [1, 2]}}, ParameterError, "epsilon is the same for all"),
        ({"param_grid": {"random_state": [1]}}, ParameterError, "random_state"),
        ({"param_grid": {"n_jobs": [1]}}, ParameterError, "n_jobs"),
        ({"param_grid": {"recipe": ["additive"], "delta": [1e-6]}}, ParameterError, "delta is not 0 for additive"),
        ({"param_grid": {"depth": [1]}}, RecipeError, "no parameter 'depth'"),
        ({"param_grid": {"recipe": ["oak"]}}, RecipeError, "unknown recipe 'oak'"),
        ({"param_grid": {"max_depth": [-1]}}, ParameterError, "max_depth"),
        ({"param_grid": "max_depth"}, ParameterError, "dict of lists"),
        ({"param_grid": []}, ParameterError, "dict of lists"),
        ({"param_grid": {"recipe": ["rana2016"], "variant": ["as-published"]}}, ParameterError, "is not private"),
        ({"epsilon": -1}, privet.EpsilonError, "greater than 0"),
        ({"test": 1}, ParameterError, "test must be"),
        ({"mean_runs": 0}, ParameterError, "mean_runs"),
        ({"tree": {"expected_records": 100}}, ParameterError, "expected_records"),
        ({"tree": {"neighbours": "replace-one"}}, ParameterError, "counts in add-remove"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_refusals_come_before_the_charge(change: dict[str, Any], error: type[Exception], match: str) -> None:
    ledger = Ledger(3)
    with pytest.raises(error, match=match):
        searching(**({"ledger": ledger} | change)).fit(TABLE)
    assert ledger.spent == 0


def test_a_protected_data_set_and_a_file_are_searched(tmp_path: Path) -> None:
    pd.DataFrame(TABLE).to_csv(tmp_path / "table.csv", index=False)
    assert searching().fit(tmp_path / "table.csv").certificate_.epsilon == 3
    for source in (TABLE, tmp_path / "table.csv"):
        data = privet.protect(source, SCHEMA, Ledger(3))
        found = searching([{"max_depth": [1]}, {"recipe": "diffpc45", "max_bins": [3]}]).fit(data)
        assert found.certificate_.epsilon == data.ledger.spent == 3


def test_other_tables_and_estimators_are_refused() -> None:
    with pytest.raises(ParameterError, match="leave ledger out"):
        searching(ledger=Ledger(3)).fit(privet.protect(TABLE, SCHEMA, Ledger(3)))
    with pytest.raises(ParameterError, match="privet classifier"):
        PrivateSearch(object(), GRID).fit(TABLE)
    with pytest.raises(privet.TableError, match="lacks"):
        searching().fit({"age": [1]})


def test_no_content_of_a_row_raises() -> None:
    empty = {name: [] for name in TABLE}
    odd = {name: ["?", None, "nonsense"] for name in TABLE}
    for table in (empty, odd):
        assert searching().fit(table).best_score_ >= 0


@pytest.mark.parametrize(("hits", "misses", "share"), [(3, 1, 0.75), (-2, 1, 0), (5, -1, 1), (-3, 4, 0), (0, 0, 0)])
def test_noisy_shares_stay_between_0_and_1(hits: int, misses: int, share: float) -> None:
    assert noisy_share(hits, misses) == share
