"""Sums of public values by class, and pairs of sets in balance: sensitivity, refusals, and what the ledger says."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import privet
from privet.errors import ParameterError
from privet.privacy.label_questions import choose_label_set, noisy_label_sums
from privet.privacy.scores import Balance
from privet.schema import Categorical, Numeric, Schema
from privet.testing import use_noise
from privet.testing.noise import ZeroNoise

SCHEMA = Schema((Categorical("x", (0, 1)),), Numeric("y", 0, 4, True, thresholds=(0.5, 1.5, 2.5, 3.5)))
TABLE = {"x": [0, 1] * 5, "y": [0, 1, 1, 2, 2, 2, 3, 3, 4, 4]}


def level(epsilon=10):
    ledger = privet.Ledger(epsilon)
    return privet.protect(TABLE, SCHEMA, ledger).level(), ledger


@given(st.lists(st.integers(0, 4)), st.integers(0, 4), st.integers(1, 9), st.integers(1, 9))
def test_one_record_raises_every_balance_by_at_most_the_larger_multiple(labels, more, first, second):
    score, sets = Balance(first, second), np.random.default_rng(0).integers(0, 2, (2, 30, 5))
    before = np.bincount(np.array(labels, dtype=int), minlength=5)
    after = before + np.eye(5, dtype=int)[more]
    change = score.node((sets @ after).T) - score.node((sets @ before).T)
    assert change.min() >= 0
    assert change.max() <= score.sensitivity


def test_sums_cost_what_their_largest_value_needs():
    cells, ledger = level()
    with use_noise(ZeroNoise()):
        found = noisy_label_sums(cells, Fraction(1, 2), np.array([[-5, 0, 1, 2, 3]]))
    assert found.tolist() == [-5 * 1 + 1 * 3 + 2 * 2 + 3 * 2]
    (charge,) = ledger.certificate().charges
    assert (charge.loss.epsilon, charge.scale) == (Fraction(1, 2), 10)


def test_the_set_in_balance_is_chosen_at_a_large_epsilon():
    cells, _ = level(1000)
    up_to = np.tri(5, dtype=bool)
    assert choose_label_set(cells, 1000, (up_to, up_to.T), Balance(1, 1)) == 2  # the median


@pytest.mark.parametrize(
    "values",
    [np.zeros((1, 4), dtype=np.int64), np.zeros((1, 5)), np.full((1, 5), 2**21)],
    ids=["width", "float", "large"],
)
def test_wrong_values_are_refused_before_a_charge(values):
    cells, ledger = level()
    with pytest.raises(ParameterError, match="values"):
        noisy_label_sums(cells, 1, values)
    assert ledger.spent == 0


def test_wrong_sets_are_refused_before_a_charge():
    cells, ledger = level()
    with pytest.raises(ParameterError, match="sets"):
        choose_label_set(cells, 1, (np.ones((2, 4), bool), np.ones((2, 4), bool)), Balance(1, 1))
    with pytest.raises(ParameterError, match="whole numbers"):
        Balance(0, 1)
    assert ledger.spent == 0
