"""The forecast against the truth, small: what is compared with what."""

from __future__ import annotations

from dataclasses import replace

import pytest

from privet.errors import ParameterError
from privet.planning.strength import STRENGTHS
from privet_experiments.ours import forecast
from privet_experiments.runner import run


@pytest.mark.usefixtures("tables")
def test_a_table() -> None:
    grid = forecast.Forecast(("vote",), (0.01, 10.0), ("mohammed2015",), 2, 3)
    found = run("forecast", "full", grid, processes=1)
    small, large = (forecast.Row(**row) for row in found.rows[0]["losses"])
    assert [(row.table, row.recipe, row.epsilon) for row in (small, large)] == [
        ("vote", "mohammed2015", 0.01),
        ("vote", "mohammed2015", 10.0),
    ]
    assert small.records == 217  # half of 435
    assert small.without_noise > 0.9
    # Eight fits that guess lose some 40 points, with a deviation of 5 at most; 10 is six of them away.
    assert small.lost > 10
    assert abs(large.lost) < 10
    assert set(small.forecast) == set(STRENGTHS)
    assert small.fits == large.fits
    nearest = min(STRENGTHS, key=lambda name: abs(small.forecast_without_noise[name] - small.without_noise))
    assert small.fits == nearest
    assert [row[:3] for row in found.outcome.tables[0].rows] == [
        ("vote", "mohammed2015", "0.01"),
        ("vote", "mohammed2015", "10"),
    ]


def test_verdicts() -> None:
    row = forecast.Row("t", 100, "exact", 0.1, 0.9, 5.0, {"weak": 0.0, "strong": 7.9}, {}, "strong")
    assert row.off == pytest.approx(2.9)
    assert row.within
    apart = replace(row, fits="weak")
    assert not apart.within
    both = forecast.Comparison((row, apart))
    assert both.verdict == "1 of 2 forecasts are within 3 points"
    assert both.verdict_at(0.1) == "epsilon 0.1: exact 1/2"


@pytest.mark.usefixtures("tables")
def test_a_missing_table() -> None:
    with pytest.raises(ParameterError, match="atlantis"):
        run("forecast", "full", forecast.Forecast(("atlantis",)))
