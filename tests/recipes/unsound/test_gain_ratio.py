"""Quinlan's golf table: its gains and gain ratios are in every textbook."""

from __future__ import annotations

import numpy as np
import pytest

from privet.recipes.unsound.gain_ratio import GainRatio
from privet.recipes.unsound.reference import C45Reference
from privet.schema import Categorical, Schema
from privet.structure.splits import Tests

GOLF = Schema(
    (
        Categorical("outlook", ("sunny", "overcast", "rain")),
        Categorical("temperature", ("hot", "mild", "cool")),
        Categorical("humidity", ("high", "normal")),
        Categorical("windy", ("no", "yes")),
    ),
    Categorical("play", ("yes", "no")),
)
# Records that play and that do not, value by value.
COUNTS = np.array([[[2, 3], [4, 0], [3, 2], [2, 2], [4, 2], [3, 1], [3, 4], [6, 1], [6, 2], [3, 3]]])


def ranked(**fits: bool) -> list[float]:
    tests = Tests.multiway(GOLF)
    allowed = np.array([[fits.get(name, True) for name in GOLF.names]])
    return [float(value) for value in GainRatio().rank(COUNTS, tests, GOLF, allowed)[0]]


def test_ratios_of_tests_with_average_gain() -> None:
    """Gains are 0.247, 0.029, 0.152 and 0.048: two are above the average."""
    outlook, temperature, humidity, windy = ranked()
    assert outlook == pytest.approx(0.156, abs=5e-4)
    assert humidity == pytest.approx(0.152, abs=5e-4)
    assert temperature == windy == -np.inf


def test_tests_that_may_not_enter_do_not_count_in_the_average() -> None:
    outlook, temperature, humidity, windy = ranked(outlook=False, humidity=False)
    assert windy == pytest.approx(0.049, abs=5e-4)
    assert outlook == temperature == humidity == -np.inf


def test_only_references_take_it() -> None:
    from privet.errors import PrivetError
    from privet.recipes.papers.diffpid3 import DiffPID3

    assert C45Reference(criterion="gainratio").criterion == "gainratio"
    with pytest.raises(PrivetError, match="gain ratio"):
        DiffPID3(criterion="gainratio")
