"""The confidence bound: known answers, and that it is wrong as rarely as it says, also if one stops early."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from privet.audit.sampling.bounds import (
    check_claim,
    group_claim,
    loss_bound,
    lower_limit,
    provable,
    share_of,
    upper_limit,
)
from privet.errors import ParameterError


# From the tables of Clopper and Pearson (1934), 95 % two-sided, and closed forms.
@pytest.mark.parametrize(
    ("hits", "tries", "low", "high"),
    [(0, 10, 0.0, 0.3085), (1, 10, 0.0025, 0.4450), (5, 10, 0.1871, 0.8129), (10, 10, 0.6915, 1.0)],
)
def test_known_limits(hits: int, tries: int, low: float, high: float) -> None:
    assert float(lower_limit(hits, tries, 0.025)) == pytest.approx(low, abs=5e-5)
    assert float(upper_limit(hits, tries, 0.025)) == pytest.approx(high, abs=5e-5)


@given(st.integers(1, 200), st.data(), st.sampled_from([1e-6, 1e-3, 0.05]))
def test_limits_are_where_the_binomial_tail_is_alpha(tries: int, data: st.DataObject, alpha: float) -> None:
    hits = data.draw(st.integers(1, tries))
    low = float(lower_limit(hits, tries, alpha))
    assert binom.sf(hits - 1, tries, low) == pytest.approx(alpha, rel=1e-6)


@pytest.mark.parametrize("p", [0.02, 0.3, 0.8])
def test_coverage_is_exact(p: float) -> None:
    """Summed over all counts, not sampled: a limit is above the truth with probability alpha at most."""
    hits = np.arange(301)
    for alpha in (0.05, 1e-3):
        wrong = binom.pmf(hits, 300, p)[lower_limit(hits, 300, alpha) > p].sum()
        assert wrong <= alpha
        assert wrong > alpha / 20  # not idle


@pytest.mark.parametrize(("p", "q", "delta"), [(0.73, 0.27, 0.0), (0.5, 0.18, 0.0), (0.3, 0.1, 0.03)])
def test_the_bound_on_the_loss_covers(p: float, q: float, delta: float) -> None:
    truth, alpha, n = math.log((p - delta) / q), 0.05, 150
    hits = np.arange(n + 1)
    bounds = loss_bound(hits[:, None], n, hits[None, :], n, alpha, delta)
    chance = binom.pmf(hits, n, p)[:, None] * binom.pmf(hits, n, q)[None, :]
    assert chance[bounds > truth].sum() <= alpha
    sharp = loss_bound(hits[:, None], n, hits[None, :], n, 0.9, delta)
    assert chance[sharp > truth].sum() > 0.05, "a bound at 0.9 must be wrong more often: the check can fail"


def test_known_bound() -> None:
    low, high = 0.005 ** (1 / 100), 1 - 0.005 ** (1 / 100)
    assert float(loss_bound(100, 100, 0, 100, 0.01)) == pytest.approx(math.log(low / high))
    assert provable(100, 0.01) == pytest.approx(math.log(low / high))
    assert float(loss_bound(5, 100, 5, 100, 0.01)) == 0.0


def test_looks_share_alpha() -> None:
    shares = [share_of(1e-3, look) for look in range(1, 10_000)]
    assert math.fsum(shares) < 1e-3
    assert math.fsum(shares) == pytest.approx(1e-3, rel=1e-3)


def stops_early(random: np.random.Generator, spend: bool) -> bool:
    """An audit that looks 12 times at a true loss and stops at the first bound above it."""
    p, q, n = 0.6, 0.6 / math.e, 60
    for look in range(1, 13):
        alpha = share_of(0.2, look) if spend else 0.2
        if float(loss_bound(random.binomial(n, p), n, random.binomial(n, q), n, alpha)) > 1:
            return True
    return False


def test_stopping_early_is_valid_because_alpha_is_spent() -> None:
    """False alarm of this test: 800 audits, each wrong with probability 0.2 at most; 233 or more have
    probability below 1e-6 (1 - binom.cdf(232, 800, 0.2) is 4e-10). Without spending it fails by far."""
    random = np.random.default_rng(5)
    assert sum(stops_early(random, True) for _ in range(800)) <= 232
    assert sum(stops_early(random, False) for _ in range(800)) > 232


def test_group_privacy() -> None:
    assert group_claim(1.0, 0.0, 3) == (3.0, 0.0)
    epsilon, delta = group_claim(1.0, 1e-6, 2)
    assert (epsilon, delta) == (2.0, pytest.approx(1e-6 * (1 + math.e)))
    assert group_claim(1.0, 1e-6, 1) == (1.0, 1e-6)


@pytest.mark.parametrize(
    ("numbers", "named"),
    [
        ((0, 0, 0.1, 1), "claimed"),
        (("much", 0, 0.1, 1), "claimed"),
        ((1, 1, 0.1, 1), "delta"),
        ((1, 0, 0, 1), "alpha"),
        ((1, 0, 0.1, -1), "seconds"),
    ],
)
def test_mistakes(numbers: tuple[object, ...], named: str) -> None:
    with pytest.raises(ParameterError) as caught:
        check_claim(*numbers)
    assert caught.value.parameter == named
