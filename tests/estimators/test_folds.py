"""What cross-validation gives away: the figures of the guide, through scikit-learn and real fits.

Each fold's model is one leaf of class counts with discrete Laplace noise for epsilon, whose loss is epsilon times the
L1 distance of the exact counts, and is attained. So the loss of five released models is the sum of five distances.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.impute import SimpleImputer
from sklearn.model_selection import KFold, StratifiedKFold, cross_validate
from sklearn.pipeline import make_pipeline

from privet import Categorical, Ledger, Numeric, Schema
from privet.papers import Mohammed2015Classifier
from privet.testing import ZeroNoise, use_noise

NAMES = np.array(list("abcd"))
SCHEMA = Schema((Categorical("x", ("u", "v")),), Categorical("y", tuple(NAMES.tolist())))
GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "tuning.md"


def cross_validated(labels: np.ndarray, cv: Any) -> tuple[np.ndarray, Ledger]:
    """(fold, class) the counts that noise is added to, and the ledger of all five fits."""
    ledger = Ledger(5)
    table = pd.DataFrame({"x": ["u"] * len(labels)})
    leaf = Mohammed2015Classifier(schema=SCHEMA, epsilon=1, max_depth=0, ledger=ledger)
    with use_noise(ZeroNoise()):
        found = cross_validate(leaf, table, NAMES[labels], cv=cv, return_estimator=True, error_score="raise")
    return np.array([model.tree_.counts[0] for model in found["estimator"]]), ledger


@pytest.mark.filterwarnings("ignore:The least populated class")
@pytest.mark.parametrize(
    ("cv", "n", "seed", "loss"),
    [
        (KFold(5), 14, 7, 12),
        (StratifiedKFold(5), 59, 39, 16),
        (StratifiedKFold(5, shuffle=True, random_state=0), 59, 39, 16),
        (KFold(5, shuffle=True, random_state=0), 59, 1143, 48),
    ],
    ids=["by position", "stratified", "stratified, shuffled", "shuffled"],
)
def test_five_folds_lose_more_than_five_times_epsilon(cv: Any, n: int, seed: int, loss: int) -> None:
    random = np.random.default_rng(seed)
    labels, record = random.integers(0, 4, n), random.integers(0, 4)
    without, ledger = cross_validated(labels, cv)
    with_one, _ = cross_validated(np.concatenate([[record], labels]), cv)
    assert np.abs(with_one - without).sum() == loss
    assert ledger.spent == 5, "what the ledger sees: five fits, each with its table"


def test_the_guide_says_what_is_attained() -> None:
    said = GUIDE.read_text()
    for row in ("| `KFold(5)` | 12 |", "`StratifiedKFold(5)`, shuffled or not | 16 |", "| 48, and more"):
        assert row in said
    assert "Five folds do not cost five times epsilon" in said
    assert "costs five times" not in said


def test_an_imputer_changes_other_rows_and_the_certificate_says_that_it_does_not_cover_it() -> None:
    schema = Schema((Numeric("x", 0, 1000, thresholds=(400,)),), Categorical("y", ("a", "b")))
    rows, labels = np.array([[0.0]] + [[np.nan]] * 9), ["a"] * 10

    def exact_counts(rows: np.ndarray, labels: list[str]) -> np.ndarray:
        learner = Mohammed2015Classifier(schema=schema, epsilon=1, max_depth=1)
        with use_noise(ZeroNoise()):
            return np.asarray(make_pipeline(SimpleImputer(), learner).fit(rows, labels)[-1].tree_.counts)

    # One record more: nine others go from the lowest value to the upper half.
    moved = np.abs(exact_counts(np.append(rows, [[1000.0]], 0), [*labels, "a"])[1:] - exact_counts(rows, labels)[1:])
    assert moved.sum() == 9 + 9 + 1
    real = make_pipeline(SimpleImputer(), Mohammed2015Classifier(schema=schema, epsilon=1, max_depth=1))
    certificate = real.fit(rows, labels)[-1].certificate_
    assert certificate.epsilon == Fraction(1)
    assert "imputing" in str(certificate)
