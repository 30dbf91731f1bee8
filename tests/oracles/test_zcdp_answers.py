"""Conversions and compositions under zCDP against dp-accounting; ``zcdp_answers.py`` made the known answers."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest

from privet.privacy.concentrated import epsilon_of, gaussian_scale, rho_of
from privet.privacy.losses import NOTHING, Loss

KNOWN = json.loads(Path(__file__).with_name("zcdp_answers.json").read_text())


@pytest.mark.parametrize(("rho", "delta", "epsilon"), KNOWN["conversions"])
def test_the_conversion_is_theirs(rho: float, delta: float, epsilon: float) -> None:
    ours = epsilon_of(Fraction(str(rho)), Fraction(str(delta)))
    assert float(ours) == pytest.approx(epsilon, rel=1e-6), "they try twenty thousand orders, we look for the best"
    assert float(ours) <= epsilon * (1 + 1e-9)
    back = rho_of(Fraction(str(epsilon)), Fraction(str(delta)))
    assert float(back) == pytest.approx(rho, rel=1e-4)
    assert epsilon_of(back, Fraction(str(delta))) <= Fraction(str(epsilon)), "rounded to the safe side"


@pytest.mark.parametrize(("count", "sigma", "delta", "by_orders", "tight"), KNOWN["compositions"])
def test_many_gaussians_add_up_as_theirs(
    count: int, sigma: float, delta: float, by_orders: float, tight: float
) -> None:
    each = Loss(rho=Fraction(1) / (2 * Fraction(sigma) ** 2))
    assert gaussian_scale(1, each.rho) == sigma
    total = sum([each] * count, NOTHING)
    assert total.rho == count * each.rho
    ours = float(epsilon_of(total.rho, Fraction(str(delta))))
    assert ours == pytest.approx(by_orders, rel=1e-6)
    assert tight < ours < 1.1 * tight, "what the sum of privacy losses itself has, which zCDP bounds"
