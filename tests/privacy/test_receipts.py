"""A receipt is good for one release in each of its cells."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ledger_tools import Spy

from privet import Ledger
from privet.errors import ReceiptError
from privet.privacy.certificate import Charge
from privet.privacy.ledger import Receipt
from privet.privacy.losses import Loss
from privet.privacy.mechanisms import noisy_counts
from privet.testing import use_noise


def test_a_receipt_is_good_once() -> None:
    receipt = Ledger(1).charge(0.5, "count")
    assert receipt.redeem() == Fraction(1, 2)
    with pytest.raises(ReceiptError, match="'count' was redeemed already"):
        receipt.redeem()


@given(st.lists(st.lists(st.integers(-2, 6), max_size=4), max_size=8))
def test_a_receipt_is_good_once_in_each_cell(batches: list[list[int]]) -> None:
    receipt, spent = Ledger(1)._charge(Charge("counts", Loss(0.5), Loss(0.5)), 5), set[int]()
    for batch in batches:
        cells = np.array(batch, dtype=np.intp)
        good = len(set(batch)) == len(batch) and all(0 <= cell < 5 and cell not in spent for cell in batch)
        if good:
            assert receipt.redeem(cells) == Fraction(1, 2)
            spent |= set(batch)
        else:
            with pytest.raises(ReceiptError):
                receipt.redeem(cells)
    left = np.array(sorted(set(range(5)) - spent), dtype=np.intp)
    assert receipt.redeem(left) == Fraction(1, 2), "a refusal used up a cell"


@pytest.mark.parametrize("way", [copy.copy, copy.deepcopy, pickle.dumps], ids=["copy", "deepcopy", "pickle"])
def test_a_receipt_cannot_be_copied(way: Callable[[Receipt], object]) -> None:
    receipt = Ledger(1).charge(0.5, "count")
    with pytest.raises(ReceiptError, match="cannot be copied"):
        way(receipt)
    assert receipt.redeem() == Fraction(1, 2)


def test_a_mechanism_redeems_before_it_draws() -> None:
    receipt, spy = Ledger(1).charge(0.5, "count"), Spy()
    with use_noise(spy):
        noisy_counts(np.array([7]), receipt)
        with pytest.raises(ReceiptError):
            noisy_counts(np.array([7]), receipt)
    assert len(spy.scales) == 1
