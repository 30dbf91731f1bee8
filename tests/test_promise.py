"""What the page says of a certificate is true, and never more than it promises."""

from __future__ import annotations

import math
import re
from fractions import Fraction

import pytest

from privet import promise
from privet.privacy.budget import INFINITY, Neighbours
from privet.privacy.certificate import Caveat, Certificate, Charge
from privet.privacy.losses import Loss


def certificate(epsilon: object = 1, relation: str = "add-remove", delta: object = 0) -> Certificate:
    return Certificate(Fraction(str(epsilon)), Neighbours.parse(relation), delta=Fraction(str(delta)))


@pytest.mark.parametrize("epsilon", [0.001, 0.1, 0.5, 0.7, 1, 2, 3, 4.4, 5, 10, 20, 50])
def test_the_factor_is_a_bound_and_a_tight_one(epsilon: float) -> None:
    said = re.search(r"more than ([\d.,e+]+) times as likely", promise.sentence(certificate(epsilon)))
    assert said is not None
    factor = float(said[1].replace(",", ""))
    assert math.exp(epsilon) <= factor <= 1.011 * math.exp(epsilon)


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 1, 3, 12])
@pytest.mark.parametrize("delta", [0, 0.01])
def test_the_bet_is_the_best_that_anyone_can_do(epsilon: float, delta: float) -> None:
    """Against what attains (epsilon, delta): with chance delta it tells all, else it is randomised response."""
    said = re.search(r"right at most ([\d.]+) times", promise.guess(certificate(epsilon, delta=delta)))
    assert said is not None
    best = 100 * (delta + (1 - delta) * math.exp(epsilon) / (1 + math.exp(epsilon)))
    assert best <= float(said[1]) + 1e-9
    assert float(said[1]) <= best + 0.2


def test_a_weak_promise_is_called_weak() -> None:
    assert "almost the same way" in promise.sentence(certificate(1))
    for epsilon in (2, 8):
        assert "almost the same way" not in promise.sentence(certificate(epsilon))
    assert "weak promise" not in promise.sentence(certificate(3))
    assert "weak promise" in promise.sentence(certificate(5))  # 149 times as likely


def test_what_is_compared() -> None:
    assert "had not been in the table" in promise.sentence(certificate())
    assert "had been different" in promise.sentence(certificate(relation="replace-one"))
    assert "add or remove" in promise.relation(certificate())[0]
    assert "replace one" in promise.relation(certificate(relation="replace-one"))[0]
    assert "except with a probability of 1e-06" in promise.sentence(certificate(delta="1e-6"))
    assert promise.amounts(certificate(delta="1e-6")) == "epsilon = 1, delta = 1e-06"


def test_the_promise_of_a_non_private_model_is_none() -> None:
    void = Certificate(INFINITY, Neighbours.ADD_REMOVE, caveats=(Caveat("it looked", voids=True),))
    assert "NOT differentially private" in promise.sentence(void)
    assert promise.amounts(void) == "epsilon = infinity"


def test_spending_adds_up() -> None:
    charges = (
        Charge("counts", Loss(Fraction(1, 4)), Loss(Fraction(1, 4)), "discrete Laplace", Fraction(4)),
        Charge("counts", Loss(Fraction(1, 4)), Loss(Fraction(1, 4)), "discrete Laplace", Fraction(4)),
        Charge("choice", Loss(Fraction(1, 2)), Loss(Fraction(1, 2)), "exponential", Fraction(2)),
        Charge("others", Loss(Fraction(1, 2)), Loss(Fraction(0)), "of another package"),
    )
    rows = promise.spending(Certificate(Fraction(1), Neighbours.ADD_REMOVE, charges))
    assert [(row.what, row.times, row.share) for row in rows] == [
        ("counts", 2, 0.5),
        ("choice", 1, 0.5),
        ("others", 1, 0),
    ]
    assert "within ±13" in rows[0].how
    assert rows[1].how == "chosen at random, better ones with higher probability"
    assert (rows[2].how, rows[2].adds) == ("of another package", "nothing: other records")
