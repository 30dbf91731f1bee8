"""What a level pays: for its most expensive path, and for no cell twice."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ledger_tools import AMOUNTS, Spy, in_a_fork

from privet import Categorical, Ledger, Numeric, Schema
from privet.errors import BudgetExceeded, ParameterError, PrivacyError, PrivetError
from privet.privacy.counting import ROOT
from privet.privacy.level import Level
from privet.structure.splits import Threshold
from privet.testing import use_noise

SCHEMA = Schema((Numeric("x", 0, 1, bins=2),), Categorical("y", ("a", "b")))
SPLIT = Threshold(0, 0)


class NoRecords:
    """An engine over an empty table: these tests are about the books."""

    schema = SCHEMA
    unit = None
    caveats = ()

    def answer(self, questions: Sequence[Any]) -> list[Any]:
        shapes = [(question.cells.size, int(question.offsets(SCHEMA)[-1]), 2) for question in questions]
        return [np.zeros(shape, dtype=np.int64) for shape in shapes]


def level(ledger: Ledger) -> Level:
    return Level(NoRecords(), ROOT, ledger)  # type: ignore[arg-type]


def path_total(path: tuple[int, ...], charges: dict[tuple[int, ...], Fraction]) -> Fraction:
    return sum((charges.get(path[:length], Fraction(0)) for length in range(len(path) + 1)), Fraction(0))


@given(st.data())
@settings(max_examples=150)
def test_a_level_pays_for_its_most_expensive_path(data: st.DataObject) -> None:
    ledger, spy = Ledger(3), Spy()
    before = data.draw(st.sampled_from([Fraction(0), Fraction(1, 7)]), label="spent before")
    if before:
        ledger.charge(before, "before")
    now = level(ledger)
    paths: list[tuple[int, ...]] = [()]  # the cells of the level, as the turns taken from the root
    levels: list[tuple[Level, list[tuple[int, ...]], set[int]]] = [(now, list(paths), set())]
    charges: dict[tuple[int, ...], Fraction] = {}
    with use_noise(spy):
        for _ in range(data.draw(st.integers(1, 12), label="steps")):
            if data.draw(st.booleans(), label="split") and 0 < now.size < 16:
                tests = [SPLIT if data.draw(st.booleans()) else None for _ in paths]
                levels[-1][2].update(i for i, test in enumerate(tests) if test is not None)
                paths = [(*path, side) for path, test in zip(paths, tests, strict=True) if test for side in (0, 1)]
                now = now.split(tests)
                levels.append((now, list(paths), set()))
                continue
            # Cells that were not split may still be asked, at any level.
            where, cells, gone = data.draw(st.sampled_from(levels), label="level")
            open_cells = [i for i in range(len(cells)) if i not in gone]
            chosen = data.draw(st.lists(st.sampled_from(open_cells), unique=True)) if open_cells else []
            amount = data.draw(AMOUNTS, label="epsilon")
            trial = dict(charges)
            for cell in chosen:
                trial[cells[cell]] = trial.get(cells[cell], Fraction(0)) + amount
            total = before + max([Fraction(0), *(path_total(path, trial) for path in trial)])
            drawn = len(spy.scales)
            if total <= 3:
                where.count_all(amount, np.array(chosen, dtype=np.intp))
                charges = trial
                assert ledger.spent == total
            else:
                with pytest.raises(BudgetExceeded):
                    where.count_all(amount, np.array(chosen, dtype=np.intp))
                assert len(spy.scales) == drawn
    assert ledger.spent == before + max([Fraction(0), *(path_total(path, charges) for path in charges)])


def test_two_levels_of_the_same_records_add_up() -> None:
    ledger = Ledger(1)
    with use_noise(Spy()):
        level(ledger).count_all(0.5)
        level(ledger).count_all(0.5)
    assert ledger.spent == 1


def test_a_refused_level_leaves_the_level_as_it_was() -> None:
    ledger, spy = Ledger(1), Spy()
    with use_noise(spy):
        now = level(ledger).split([SPLIT])
        now.count_all(0.75, np.array([0]))
        with pytest.raises(BudgetExceeded) as caught:
            now.count_all(0.5)
        assert caught.value.remaining == Fraction(1, 4)
        with pytest.raises(ParameterError, match="twice"):
            now.count_all(0.1, np.array([1, 1]))
        assert (ledger.spent, len(spy.scales)) == (Fraction(3, 4), 1)
        now.count_all(1, np.array([1]))
    assert ledger.spent == 1


def test_a_cell_answers_nothing_after_it_was_split() -> None:
    # Its records are in its children now: the children's peak would hide what it spends from the ledger.
    ledger = Ledger(1)
    with use_noise(Spy()):
        root = level(ledger)
        children = root.split([SPLIT])
        children.count_all(0.5)
        with pytest.raises(PrivetError):
            root.count_all(0.5)
    assert ledger.spent == Fraction(1, 2)


def test_a_cell_cannot_be_split_twice() -> None:
    # The children of the two splits would overlap, and each pay only the maximum.
    ledger = Ledger(1)
    with use_noise(Spy()):
        root = level(ledger)
        root.split([SPLIT]).count_all(0.5)
        with pytest.raises(PrivetError):
            root.split([SPLIT]).count_all(0.5)
    assert ledger.spent == Fraction(1, 2)


@pytest.mark.parametrize("way", [copy.copy, copy.deepcopy, pickle.dumps], ids=["copy", "deepcopy", "pickle"])
def test_a_level_cannot_be_copied(way: Callable[[Level], object]) -> None:
    with pytest.raises(PrivacyError):
        way(level(Ledger(1)))


def test_a_fork_does_not_copy_the_books_of_a_level(tmp_path: Path) -> None:
    ledger = Ledger(1, journal=tmp_path / "journal")
    with use_noise(Spy()):
        children = level(ledger).split([SPLIT])
        children.count_all(0.5, np.array([0]))
        assert in_a_fork(lambda: children.count_all(0.5, np.array([1]))) == "PrivacyError"
        assert in_a_fork(lambda: level(ledger).count_all(0.25).tolist()) == "[0]"
    assert ledger.spent == Fraction(3, 4)
