"""The power of sampled audits and their false alarms, counted: ``make slow``. Shorter forms are in test_run.py."""

from __future__ import annotations

import pytest
from planted import ONE_PAIR, planted

from privet.audit import sample


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "fits"), [("count", 8_000), ("choice", 100_000)])
def test_a_loss_of_one_and_a_half_is_caught_20_of_20_times(kind: str, fits: int) -> None:
    found = [
        sample(planted(kind, 1.5, seed), ONE_PAIR, 1, function=True, search=False, max_fits=fits) for seed in range(20)
    ]
    print(kind, sorted((one.fits, round(one.bound, 2)) for one in found))
    assert [one.verdict for one in found] == ["violated"] * 20
    assert all(one.bound <= 1.5 for one in found)


@pytest.mark.slow
def test_at_most_2_false_alarms_in_200_audits() -> None:
    """At alpha 1e-3 their number is at most binomial (200, 0.001): more than 2 with probability 1.1e-3."""
    found = [
        sample(planted("count", 1.0, 100 + seed), ONE_PAIR, 1, function=True, search=False, max_fits=8_000)
        for seed in range(200)
    ]
    print("false alarms:", sum(one.verdict == "violated" for one in found), "largest", max(one.bound for one in found))
    assert sum(one.verdict == "violated" for one in found) <= 2
    assert sum(one.bound for one in found) / 200 > 0.6  # they looked
