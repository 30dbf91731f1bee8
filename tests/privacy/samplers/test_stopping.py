"""Random stopping: one charge, before the first run; shares that a run cannot pass; and the law of its length."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from typing import Any

import pytest

from privet.errors import BudgetExceeded, ParameterError, ReceiptError
from privet.privacy.ledger import Ledger
from privet.privacy.samplers.stopping import RandomStopping
from privet.testing import SeededNoise, use_noise


def stopping(ledger: Ledger, epsilon: Any = 1, settings: int = 3, mean_runs: int = 4) -> RandomStopping:
    return RandomStopping(ledger, epsilon, settings=settings, mean_runs=mean_runs, what="search")


@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
def test_one_charge_before_the_first_run_and_none_after(neighbours: str) -> None:
    ledger = Ledger(2, neighbours=neighbours)
    runs = stopping(ledger, Fraction(3, 2))
    assert ledger.spent == Fraction(3, 2)
    for run in runs:
        assert run.fitting.remaining == run.scoring.remaining == Fraction(1, 2) == runs.share
        assert run.fitting.neighbours == run.scoring.neighbours == ledger.neighbours
        run.fitting.charge(0.5, "fit")
        run.scoring.charge(0.5, "score")
        with pytest.raises(BudgetExceeded):
            run.fitting.charge(0.1, "more")
    assert [charge.what for charge in ledger.certificate().charges] == ["search"]
    assert ledger.spent == Fraction(3, 2)


def test_what_does_not_fit_is_refused_and_costs_nothing() -> None:
    ledger = Ledger(1)
    with pytest.raises(BudgetExceeded):
        stopping(ledger, 2)
    for wrong in ({"settings": 0}, {"mean_runs": 0}, {"mean_runs": 2.5}, {"settings": True}):
        with pytest.raises(ParameterError, match=next(iter(wrong))):
            stopping(ledger, **wrong)
    assert ledger.spent == 0


def test_a_second_way_through_is_refused() -> None:
    runs = stopping(Ledger(1))
    list(runs)
    with pytest.raises(ReceiptError):
        list(runs)


def test_noise_that_is_not_real_marks_the_certificate() -> None:
    ledger = Ledger(1)
    with use_noise(SeededNoise(0)):
        list(stopping(ledger))
    assert not ledger.certificate().private


def test_settings_are_drawn_evenly_and_the_length_is_geometric() -> None:
    """1,000 searches of mean 4 have 4,000 runs in all, with a standard deviation of 110; the bounds are 5 of them, a
    false alarm in less than a million, and a stop that is 30 % likelier (3,077) or rarer (5,714) is beyond them."""
    lengths = [0] * 1000
    settings: Counter[int] = Counter()
    for i in range(1000):
        for run in stopping(Ledger(1), settings=2):
            lengths[i] += 1
            settings[run.setting] += 1
    assert abs(sum(lengths) - 4000) < 5 * math.sqrt(1000 * 12)
    assert abs(settings[0] - sum(lengths) / 2) < 5 * math.sqrt(sum(lengths) / 4)
    assert abs(lengths.count(1) - 250) < 5 * math.sqrt(1000 * 3 / 16)
    assert min(lengths) == 1
