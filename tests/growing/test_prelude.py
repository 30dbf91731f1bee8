"""The prelude of a fit: numbers of records, declared, expected or bought, and what they cost."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction
from typing import Any

import pytest

import privet
from privet import fitting
from privet.audit import Pair, audit_learner, zoo
from privet.datasets.clinic import clinic
from privet.errors import FitStopped, ParameterError
from privet.growing.prelude import MOST, STOP_BELOW, Prelude, Records, begin, count_price
from privet.privacy.budget import Neighbours
from privet.privacy.counting import class_counts
from privet.privacy.dataset import PrivateDataset
from privet.recipes.ours.exact import ExactTree
from privet.recipes.papers.jagannathan2012 import Jagannathan2012
from privet.recipes.papers.sulq import SuLQ
from privet.recipes.recipe import Recipe
from privet.testing import ZeroNoise, use_noise

RELATIONS = list(Neighbours)


def protected(records: int, epsilon: object = 1, neighbours: Neighbours = Neighbours.ADD_REMOVE) -> PrivateDataset:
    schema, table = clinic(records)
    return privet.protect(table, schema, privet.Ledger(epsilon, neighbours=neighbours))


def test_nothing_is_bought_by_default() -> None:
    data = protected(10)
    prelude = begin(data, Fraction(1))
    assert (prelude.left, prelude.records) == (1, None)
    assert data.ledger.spent == 0
    assert data.certificate().caveats == ()


@pytest.mark.parametrize("neighbours", RELATIONS)
@pytest.mark.parametrize("expected", [5600, 30_000, 10**6])
def test_the_price_buys_what_is_promised(expected: int, neighbours: Neighbours) -> None:
    """Discrete Laplace noise X of scale s has P(X <= -t) = e^(-t/s) / (1 + e^(-1/s)), and as much above t.

    Half of what is expected, or more, stops the fit where X < -expected/4; no record at all fails to stop it where
    X >= expected/4.
    """
    price = count_price(Fraction(1), expected, neighbours.steps)
    assert price <= MOST
    scale = neighbours.steps / price  # a receipt is worth half under replace-one
    chance = math.exp(-float(STOP_BELOW * expected / scale)) / (1 + math.exp(-1 / float(scale)))
    assert 1e-8 < chance < 1e-6


@pytest.mark.parametrize("neighbours", RELATIONS)
def test_it_is_charged_first_and_by_itself(neighbours: Neighbours) -> None:
    data = protected(6000, neighbours=neighbours)
    prelude = begin(data, Fraction(1), 5600)
    (charge,) = data.certificate().charges
    assert charge.what == "number of usable records"
    assert charge.epsilon == data.ledger.spent == Fraction(neighbours.steps, 100) == 1 - prelude.left
    assert prelude.counted.noise == 100  # its scale
    assert "about 5600 usable records" in data.certificate().caveats[0].text
    assert data.certificate().private


@pytest.mark.parametrize(("records", "stops"), [(0, True), (1399, True), (1400, False), (2800, False), (9000, False)])
def test_the_rule(records: int, stops: bool) -> None:
    """Without noise, so that the rule itself is seen."""
    data = protected(records)
    with use_noise(ZeroNoise()):
        if not stops:
            prelude = begin(data, Fraction(1), 5600)
            assert (prelude.left, prelude.records) == (Fraction(99, 100), Records(records, noise=100.0))
            return
        with pytest.raises(FitStopped, match="privet schema check") as caught:
            begin(data, Fraction(1), 5600)
    stopped = caught.value
    assert (stopped.counted, stopped.expected, stopped.price) == (records, 5600, Fraction(1, 100))
    assert data.ledger.spent == Fraction(1, 100)
    assert str(pickle.loads(pickle.dumps(stopped))) == str(stopped)


def test_too_few_records_are_refused_before_any_charge() -> None:
    data = protected(10)
    with pytest.raises(ParameterError, match="from 1120 on it works"):
        begin(data, Fraction(1, 2), 1119)
    assert data.ledger.spent == 0
    assert count_price(Fraction(1, 2), 1120, 1) == Fraction(1, 20)
    for wrong in (0, -1, 1.5, "many", True):
        with pytest.raises(ParameterError, match="expected_records must be a whole number"):
            begin(data, Fraction(1), wrong)  # type: ignore[arg-type]


EXPECTED = 20  # the fit stops below 5 records, which some of the zoo's tables have and others not


def around_the_rule(neighbours: Neighbours = Neighbours.ADD_REMOVE) -> list[Pair]:
    few = zoo(relation=neighbours.value, thresholds=(5,))
    return [pair for pair in few if len(pair.table) in (0, 4, 5)]


def fit(data: PrivateDataset, epsilon: Fraction) -> Any:
    """Counts first; what is released where it stops is the noisy count."""
    try:
        prelude = begin(data, epsilon, EXPECTED)
    except FitStopped as stopped:
        return "stopped", stopped.counted
    return int(data.level().choose_labels_all(prelude.left)[0])


@pytest.mark.parametrize("neighbours", RELATIONS)
def test_stopping_keeps_the_promise(neighbours: Neighbours) -> None:
    """Both ends of a fit are compared, whole output distributions of tiny tables."""
    claimed = 28 * neighbours.steps  # so that so few can be expected
    found = audit_learner(fit, around_the_rule(neighbours), claimed, neighbours=neighbours.value)
    assert found.verdict == "holds"
    assert found.leaks == 0
    if neighbours is Neighbours.ADD_REMOVE:
        assert found.lower_bound > 0.9 * float(
            count_price(Fraction(claimed), EXPECTED, Neighbours.parse(neighbours).steps)
        )


def test_a_rule_on_the_exact_count_is_caught() -> None:
    def leaky(data: PrivateDataset, epsilon: Fraction) -> Any:
        data.noisy_count(epsilon / 100)
        few = class_counts(data._engine, data._cells).sum() < STOP_BELOW * EXPECTED
        return "stopped" if few else data.noisy_count(epsilon / 2)

    assert audit_learner(leaky, around_the_rule(), 28).lower_bound == math.inf


def test_a_recipe_after_the_count_keeps_the_promise() -> None:
    def learner(data: PrivateDataset, epsilon: Fraction) -> Any:
        try:
            prelude = begin(data, epsilon, EXPECTED)
        except FitStopped as stopped:
            return "stopped", stopped.counted
        return SuLQ(max_depth=1).grow_model(prelude, random=None)  # type: ignore[arg-type]  # it draws no lots

    found = audit_learner(learner, around_the_rule(), 28)
    assert found.verdict == "holds"


def test_the_number_of_records_is_declared_or_bought() -> None:
    data = protected(50)
    with use_noise(ZeroNoise()):
        declared = Prelude(data, Fraction(1)).count(1234, Fraction(1, 20))
        assert (declared.records, declared.left) == (Records(1234), 1)
        assert data.ledger.spent == 0
        bought = Prelude(data, Fraction(1)).count(None, Fraction(1, 20))
        assert (bought.records, bought.left) == (Records(50, noise=20.0), Fraction(19, 20))
        assert data.ledger.spent == Fraction(1, 20)
        assert bought.count(None, Fraction(1, 20)) is bought  # once
        none = Prelude(protected(0), Fraction(1)).count(None, Fraction(1, 2))
    assert none.records == Records(1, noise=2.0)
    assert (bought.counted.surely, declared.counted.surely, none.counted.surely) == (30, 1234, 1)


@pytest.mark.parametrize(
    "recipe", [ExactTree(), SuLQ(), Jagannathan2012(n_estimators=2)], ids=["tree", "gridded", "forest"]
)
def test_the_number_of_records_is_bought_once(recipe: Recipe) -> None:
    data = protected(6000)
    model = fitting.fit(fitting.Request(recipe, data, 1, expected_records=5600))
    bought = [charge["what"] for charge in model.certificate["charges"]]
    assert bought.count("number of usable records") == 1
    assert "noisy count" not in bought
    assert not any("(declared)" in note for note in model.notes)
