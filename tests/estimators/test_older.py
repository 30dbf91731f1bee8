"""Files that the code before the redesign of the rooms has written: a tree, a forest, and the journal they spent."""

from __future__ import annotations

import shutil
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import privet
from privet.errors import BudgetExceeded

OLDER = Path(__file__).parent / "older"
PEOPLE = {"age": [30, 80], "smoker": ["no", "yes"]}
SAID = {
    "tree.json": [[0.8914785850318084, 0.10852141496819157], [0.010577915376676988, 0.989422084623323]],
    "forest.json": [[0.8847644761425651, 0.1152355238574349], [0.10840489476938715, 0.8915951052306129]],
}


@pytest.mark.parametrize("name", SAID)
def test_an_older_model_says_what_it_said(name: str, tmp_path: Path) -> None:
    loaded: Any = privet.load_model(OLDER / name)
    np.testing.assert_allclose(loaded.predict_proba(PEOPLE), SAID[name], rtol=1e-12)
    assert loaded.certificate_.private
    assert loaded.certificate_.epsilon == (1 if name == "tree.json" else Fraction(1, 2))
    loaded.save(tmp_path / name)
    again: Any = privet.load_model(tmp_path / name)
    np.testing.assert_array_equal(again.predict_proba(PEOPLE), loaded.predict_proba(PEOPLE))


def test_an_older_forest_keeps_the_weight_it_had() -> None:
    loaded: Any = privet.load_model(OLDER / "forest.json")
    assert (len(loaded.model_.trees), loaded.model_.trees.weight) == (2, 0.5)


def test_an_older_journal_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "spent.journal"
    shutil.copy(OLDER / "spent.journal", path)
    ledger = privet.Ledger(3, journal=path)
    assert (ledger.spent, ledger.remaining) == (Fraction(7, 4), Fraction(5, 4))
    charges = ledger.certificate().charges
    assert [charge.what for charge in charges][-2:] == ["leaf class counts of tree 2", "class counts"]
    assert sum(charge.adds for charge in charges) == Fraction(7, 4)
    ledger.charge(1, "a question of today")
    del ledger
    assert privet.Ledger(3, journal=path).remaining == Fraction(1, 4)
    with pytest.raises(BudgetExceeded):
        privet.Ledger(3, journal=path).charge(1, "one too many")
