"""Records dealt by coins: as scikit-learn wants them, whatever the table is, and each by its own."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.model_selection import GridSearchCV, cross_val_score

import privet
from privet import CoinFold, Ledger, ParameterError, holdout
from privet.datasets.clinic import clinic
from privet.evaluation.splitting import number_of_records
from privet.testing import ReplayNoise, use_noise

SCHEMA, TABLE = clinic(600, seed=1)
FRAMES = {
    "pandas": (pd.DataFrame, np.asarray),
    "polars": (pl.DataFrame, pl.Series),
    "array": (lambda table: np.array([table[name] for name in SCHEMA.names], dtype=object).T, np.asarray),
}


@pytest.mark.parametrize("frame", FRAMES)
def test_cross_validation_works(frame: str) -> None:
    table, labels = FRAMES[frame]
    tree = privet.papers.DiffPID3Classifier(SCHEMA, epsilon=5, max_depth=1)
    scores = cross_val_score(tree, table(TABLE), labels(TABLE["class"]), cv=CoinFold(5), error_score="raise")
    assert scores.shape == (5,)
    assert ((scores > 0) & (scores <= 1)).all()


def test_it_is_a_cv_of_a_grid_search() -> None:
    tree = privet.papers.DiffPID3Classifier(SCHEMA, epsilon=5)
    search = GridSearchCV(tree, {"max_depth": [1, 2]}, cv=CoinFold(3), error_score="raise")
    assert search.fit(pd.DataFrame(TABLE), TABLE["class"]).n_splits_ == 3
    assert repr(CoinFold(3)) == "CoinFold(n_splits=3)"


def test_every_record_is_tested_once_and_trains_the_others() -> None:
    folds = list(CoinFold(4).split(np.zeros((50, 2))))
    assert sorted(np.concatenate([test for _, test in folds]).tolist()) == list(range(50))
    for train, test in folds:
        assert sorted([*train, *test]) == list(range(50))
    assert CoinFold(4).get_n_splits() == len(folds) == 4


def test_coins_are_tossed_each_time_and_fairly() -> None:
    """A fold of 10,000 records out of 5 has 2,000 with a standard deviation of 40: 5 of them, with 10 folds looked at,
    is a false alarm in 100,000 x 10 tosses; a coin 30 % off has 2,600."""
    first, second = (list(CoinFold(5).split(np.zeros(10_000))) for _ in range(2))
    assert all(abs(len(test) - 2000) < 5.5 * 40 for _, test in first + second)
    assert any(a.tolist() != b.tolist() for (_, a), (_, b) in zip(first, second, strict=True))


def test_a_record_goes_where_its_own_coin_says() -> None:
    def tested(thrown: list[int]) -> list[list[int]]:
        with use_noise(ReplayNoise(thrown)):
            return [test.tolist() for _, test in CoinFold(3).split(np.zeros(len(thrown)))]

    assert tested([0, 2, 1, 2]) == [[0], [2], [1, 3]]
    assert tested([1, 0, 2, 1, 2]) == [[1], [0, 3], [2, 4]]  # one more in front: the others stay with their coins


def test_a_record_more_changes_four_of_five_training_parts_by_itself() -> None:
    """Where scikit-learn's folds change by 12, 16 or 48 records: see tests/estimators/test_folds.py."""
    labels, record = np.random.default_rng(7).integers(0, 4, 14), 2
    coins = np.random.default_rng(8).integers(0, 5, 14).tolist()

    def histograms(labels: np.ndarray, thrown: list[int]) -> np.ndarray:
        with use_noise(ReplayNoise(thrown)):
            return np.array([np.bincount(labels[train], minlength=4) for train, _ in CoinFold(5).split(labels)])

    with_it = histograms(np.concatenate([[record], labels]), [3, *coins])
    assert np.abs(with_it - histograms(labels, coins)).sum() == 4


@pytest.mark.parametrize("n_splits", [1, 0, True, 2.5, "5"])
def test_what_cannot_be_split_is_refused(n_splits: Any) -> None:
    with pytest.raises(ParameterError, match="n_splits"):
        CoinFold(n_splits)
    with pytest.raises(ParameterError, match="groups"):
        next(CoinFold(2).split(np.zeros(3), groups=[1, 1, 2]))
    with pytest.raises(ParameterError, match="protected"):
        next(CoinFold(2).split(privet.protect(TABLE, SCHEMA, Ledger(1))))


# ---- holdout ------------------------------------------------------------------------------------------------------

TABLES = {
    "dict": lambda n: {"i": list(range(n)), "j": np.arange(n)},
    "pandas": lambda n: pd.DataFrame({"i": range(n)}, index=range(n, 0, -1)),
    "polars": lambda n: pl.DataFrame({"i": range(n)}),
    "pyarrow": lambda n: pa.table({"i": list(range(n))}),
    "array": lambda n: np.arange(n)[:, None],
}


def first_column(table: Any) -> list[int]:
    if isinstance(table, np.ndarray):
        return table[:, 0].tolist()
    column = table["i"]
    return column.to_pylist() if isinstance(column, pa.ChunkedArray) else list(column)


@pytest.mark.parametrize("kind", TABLES)
def test_holdout_keeps_the_type_and_the_records(kind: str) -> None:
    table = TABLES[kind](200)
    parts = holdout(table, list(range(200)))
    assert [type(part) for part in parts] == [type(table)] * 2 + [list] * 2
    train, test, y_train, y_test = parts
    assert (first_column(train), first_column(test)) == (y_train, y_test)
    assert sorted(y_train + y_test) == list(range(200))


@pytest.mark.parametrize("kind", [*TABLES, "dict of series", "dict of arrow arrays", "dict of pandas arrays"])
def test_an_empty_table_is_split_like_any_other(kind: str) -> None:
    """Whether anything raises must not tell that there is no record."""
    columns = {
        "dict of series": lambda n: {"i": pl.Series(range(n), dtype=pl.Int64), "j": pd.Series(range(n), dtype="Int64")},
        "dict of arrow arrays": lambda n: {"i": pa.array(range(n), pa.int64()), "j": pa.chunked_array([[1] * n])},
        "dict of pandas arrays": lambda n: {"i": pd.array(range(n), dtype="Int64"), "j": pd.Index(range(n))},
    }  # fmt: skip
    make = TABLES.get(kind) or columns[kind]
    for n in (0, 1, 9):
        parts = holdout(make(n))
        assert [type(part) for part in parts] == [type(make(n))] * 2
        assert sum(number_of_records(part) for part in parts) == n


@pytest.mark.parametrize("series", [pd.Series, pl.Series, pa.array, np.array, lambda v: pd.Series(v, index=[0] * 50)])
def test_labels_of_any_kind(series: Any) -> None:
    _, _, *labels = holdout(np.zeros((50, 1)), series(list(range(50))))
    assert all(type(part) is type(series([1] * 50)) for part in labels)
    assert sorted(int(str(i)) for part in labels for i in part) == list(range(50))


def test_the_share_that_is_held_out() -> None:
    """8,000 records at a fifth: 1,600 with a standard deviation of 36; 5 are one in two million, 30 % off is 13."""
    _, test = holdout(np.zeros((8000, 1)), test=0.2)
    assert abs(len(test) - 1600) < 5.1 * math.sqrt(8000 * 0.2 * 0.8)


@pytest.mark.parametrize("test", [0, 1, -0.5, "half", float("nan"), True, 1 / 3 + 1e-13])
def test_a_share_that_is_none_is_refused(test: Any) -> None:
    with pytest.raises(ParameterError, match="test must be a chance"):
        holdout([[1]], test=test)


def test_a_value_that_is_not_a_table_is_refused() -> None:
    with pytest.raises(privet.TableError, match="cannot split a str"):
        holdout("table")
