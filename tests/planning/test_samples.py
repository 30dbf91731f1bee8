"""The sample-size correction: textbook numbers without noise, and by hand with it."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privet.errors import ParameterError
from privet.planning.samples import correction_factor, one_share, two_shares

Z_ALPHA, Z_POWER = 1.959964, 0.841621  # from any table of the normal distribution: 97.5 % and 80 %


def test_without_noise_these_are_the_textbook_sizes() -> None:
    # ((1.959964 * 0.5 + 0.841621 * sqrt(0.24)) / 0.1)^2 = 193.85
    assert one_share(0.5, 0.6, epsilon=None) == 194
    # (1.959964 * sqrt(2 * 0.55 * 0.45) + 0.841621 * sqrt(0.25 + 0.24))^2 / 0.01 = 387.3: Fleiss without continuity
    assert two_shares(0.5, 0.6, epsilon=None) == 388
    # one-sided, 1.644854: ((1.644854 * 0.5 + 0.841621 * sqrt(0.24)) / 0.1)^2 = 152.5
    assert one_share(0.5, 0.6, epsilon=None, two_sided=False) == 153


def needed(n: int, epsilon: float) -> float:
    """The difference that n records can find, written out again."""
    noise = 2 / (epsilon * n) ** 2
    return Z_ALPHA * math.sqrt(0.25 / n + noise) + Z_POWER * math.sqrt(0.24 / n + noise)


@pytest.mark.parametrize("epsilon", [0.05, 0.1, 0.5, 2.0])
def test_the_smallest_sample_is_enough_and_one_less_is_not(epsilon: float) -> None:
    n = one_share(0.5, 0.6, epsilon=epsilon)
    assert needed(n, epsilon) <= 0.1 < needed(n - 1, epsilon)


def test_by_hand() -> None:
    # n = 505 at epsilon 0.1: noise 200/255025, so 1.959964 sqrt(0.0012793) + 0.841621 sqrt(0.0012595) = 0.09997.
    assert one_share(0.5, 0.6, epsilon=0.1) == 505
    # 1 + 8 / (0.01 * 0.25 * 194) = 17.4948, whose root is 4.18268; (1 + 4.18268) / 2
    assert correction_factor(194, 0.25, 0.1) == pytest.approx(2.59134, rel=1e-5)


@given(
    plain=st.integers(10, 10**6),
    variance=st.floats(0.01, 0.25),
    epsilon=st.floats(0.01, 10),
)
def test_the_factor_makes_up_for_the_noise(plain: int, variance: float, epsilon: float) -> None:
    n = plain * correction_factor(plain, variance, epsilon)
    assert variance / n + 2 / (epsilon * n) ** 2 == pytest.approx(variance / plain, rel=1e-9)


def test_the_factor_predicts_the_private_size() -> None:
    plain = one_share(0.5, 0.6, epsilon=None)
    for epsilon in (0.1, 0.5, 1.0):
        assert one_share(0.5, 0.6, epsilon=epsilon) == pytest.approx(
            plain * correction_factor(plain, 0.25, epsilon), rel=0.02
        )


def test_large_trials_hardly_pay() -> None:
    assert correction_factor(10**6, 0.25, 0.1) < 1.001
    sizes = [two_shares(0.5, 0.6, epsilon=e) for e in (0.01, 0.1, 1, 10)]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] <= 390


@pytest.mark.parametrize(
    ("params", "named"),
    [
        ({"p0": 0.5, "p1": 0.5}, "must differ"),
        ({"p0": -0.1, "p1": 0.5}, "a share"),
        ({"alpha": 0.0}, "alpha"),
        ({"power": 1.0}, "power"),
        ({"two_sided": "yes"}, "two_sided"),
        ({"epsilon": 1e-60}, "no sample is large enough"),
    ],
)
def test_wrong_parameters_are_named(params: dict[str, object], named: str) -> None:
    sound = {"p0": 0.5, "p1": 0.6, "epsilon": 1.0} | params
    with pytest.raises(ParameterError, match=named):
        one_share(**sound)  # type: ignore[arg-type]
