"""One ledger is one ledger: copies, pickles and forks make no budget."""

from __future__ import annotations

import copy
import os
import pickle
import sys
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from ledger_tools import in_a_fork
from sklearn.base import BaseEstimator, clone

from privet import Ledger
from privet.errors import BudgetExceeded, PrivacyError
from privet.privacy.reservations import Reservation


class Holder(BaseEstimator):
    def __init__(self, ledger: Ledger | None = None, also: Any = None) -> None:
        self.ledger = ledger
        self.also = also


@pytest.mark.parametrize("kind", ["root", "analyst", "account", "part"])
@pytest.mark.parametrize("journal", [False, True], ids=["memory", "journal"])
def test_no_copy_creates_budget(tmp_path: Path, kind: str, journal: bool) -> None:
    root = Ledger(1, journal=tmp_path / "journal" if journal else None)
    ledger = {
        "root": lambda: root,
        "analyst": lambda: root.analyst("ann", 1),
        "account": lambda: root.reserve(1, "fit"),
        "part": lambda: root._parallel(2)[0],
    }[kind]()
    holder = Holder(ledger, also=[ledger, {"ledger": ledger}])
    copies = [
        copy.copy(ledger),
        copy.deepcopy(ledger),
        clone(ledger, safe=False),
        clone(holder).ledger,
        clone(holder).also[1]["ledger"],
        copy.deepcopy(holder).ledger,
        copy.copy(holder).ledger,
    ]
    assert all(other is ledger for other in copies)
    for other in copies[:4]:
        other.charge(Fraction(1, 4), "query")
    for other in copies:
        with pytest.raises(BudgetExceeded):
            other.charge(Fraction(1, 100), "query")
    assert root.spent == 1


@pytest.mark.parametrize(
    "kind",
    [Ledger.analyst, lambda ledger, *_: ledger.reserve(1, "fit"), lambda ledger, *_: ledger._parallel(1)[0], None],
)
def test_a_ledger_in_memory_cannot_be_pickled(kind: Any) -> None:
    ledger = Ledger(1) if kind is None else kind(Ledger(1), "ann", 1)
    for thing in (ledger, Holder(ledger)):
        with pytest.raises(PrivacyError, match="journal=path"):
            pickle.dumps(thing)


def test_a_pickled_journal_ledger_spends_from_the_same_file(tmp_path: Path) -> None:
    ledger = Ledger(1, journal=tmp_path / "journal")
    analyst = ledger.analyst("ann", 0.5)
    for scope in (ledger.reserve(0.5, "fit"), analyst.reserve(0.5, "fit"), *ledger._parallel(1)):
        with pytest.raises(PrivacyError):
            pickle.dumps(scope)
        if isinstance(scope, Reservation):
            scope.end()
    for text in (pickle.dumps(Holder(ledger)), pickle.dumps(Holder(analyst))):
        other = pickle.loads(text).ledger
        other.charge(Fraction(1, 4), "query")
    assert ledger.spent == Fraction(1, 2)
    assert analyst.spent == Fraction(1, 4)
    assert pickle.loads(pickle.dumps(analyst)) is analyst, "in one process one ledger stays one ledger"


def test_another_process_unpickles_the_same_budget(tmp_path: Path) -> None:
    import subprocess

    ledger = Ledger(1, journal=tmp_path / "journal")
    (tmp_path / "pickle").write_bytes(pickle.dumps(ledger.analyst("ann", 0.5)))
    script = (
        "import pickle, sys; analyst = pickle.load(open(sys.argv[1], 'rb')); analyst.charge(0.25, 'there');"
        "analyst = pickle.load(open(sys.argv[1], 'rb')); analyst.charge(0.25, 'there')"
    )
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path / "pickle")], env={**os.environ, **_PATH})
    assert done.returncode == 0
    assert ledger.analyst("ann", 0.5).spent == ledger.spent == Fraction(1, 2)


_PATH = {"PYTHONPATH": str(Path(sys.modules["privet"].__file__ or "").parents[1])}


def test_a_fork_does_not_copy_the_budget_of_a_ledger_in_memory() -> None:
    ledger = Ledger(1)
    fit = ledger.reserve(1, "fit")
    scopes = [ledger, ledger.analyst("ann", 1), fit, *ledger._parallel(1)]
    for scope in scopes:
        assert in_a_fork(partial(scope.charge, 0.5, "count")) == "PrivacyError"
        assert in_a_fork(partial(scope._parallel(1)[0].charge, 0.5, "count")) == "PrivacyError"
    assert in_a_fork(lambda: Ledger(1).charge(0.5, "count").epsilon) == "1/2"
    fit.end()
    ledger.charge(1, "count")


def test_a_fork_shares_a_journal_but_not_the_books_of_parts(tmp_path: Path) -> None:
    ledger = Ledger(1, journal=tmp_path / "journal")
    left, right = ledger._parallel(2)
    left.charge(0.5, "count")
    # Both processes remember that the parent paid 0.5 for the group; each would let the other part have it free.
    assert in_a_fork(lambda: right.charge(0.5, "count")) == "PrivacyError"
    assert in_a_fork(lambda: right.reserve(0.5, "fit").charge(0.5, "count")) == "PrivacyError"
    assert in_a_fork(lambda: ledger._parallel(2)[0].charge(0.25, "count").epsilon) == "1/4"
    assert in_a_fork(lambda: ledger.analyst("ann", 1).charge(0.25, "count").epsilon) == "1/4"
    assert ledger.spent == 1
