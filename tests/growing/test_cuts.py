"""Bought cuts lie where the records are, cost what they say, and no released number can make them fail."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import privet
from privet.audit import audit_learner, zoo
from privet.growing.cutting.cuts import (
    AGAIN,
    FINER,
    ROUNDS,
    Whereabouts,
    believed,
    cut_at,
    find,
    ladder,
    most_cost,
    rounded,
    worth_finding,
)
from privet.privacy.dataset import PrivateDataset
from privet.schema import Categorical, Numeric, Schema
from privet.testing import SeededNoise, ZeroNoise, use_noise

LABEL = Categorical("class", ("no", "yes"))
N = 4000


def values(kind: str, random: np.random.Generator) -> tuple[np.ndarray, float, float]:
    """Values and the bounds that were declared for them."""
    bell = random.normal(size=N)
    shapes: dict[str, tuple[np.ndarray, float, float]] = {
        "uniform": (100 * random.random(N), 0, 100),
        "bell": (50 + 10 * bell, 0, 100),
        "off centre": (82 + 4 * bell, 0, 100),
        "lognormal": (np.exp(3 + 1.2 * bell), 0, 1e6),
        "a million times too wide": (40 + 12 * bell, 0, 6e7),
        "around zero": (0.01 * bell, -1e4, 1e4),
        "narrow and far from both ends": (7e7 + 12 * bell, 0, 1e8),
    }
    return shapes[kind]


KINDS = [
    "uniform",
    "bell",
    "off centre",
    "lognormal",
    "a million times too wide",
    "around zero",
    "narrow and far from both ends",
]


def protected(columns: dict[str, Any], schema: Schema, ledger: privet.Ledger | None = None) -> PrivateDataset:
    table = columns | {"class": ["no", "yes"] * (len(next(iter(columns.values()))) // 2)}
    return privet.protect(table, schema, ledger or privet.Ledger(10))


# -- how they are written ---------------------------------------------------------------------------------------------

FINITE = st.floats(-1e300, 1e300).filter(lambda x: x == 0 or abs(x) > 1e-290)  # rounded ones are normal too


@given(st.sets(FINITE, min_size=3, max_size=12))
def test_rounding_keeps_order_and_moves_a_cut_by_little(points: set[float]) -> None:
    low, *inner, high = sorted(points)
    given_, told = np.array(inner), rounded(np.array(inner), low, high)
    room = np.diff([low, *inner, high])
    assert (np.abs(told - given_) <= 0.0501 * np.minimum(room[:-1], room[1:])).all()
    assert (np.diff([low, *told, high]) > 0).all()


def test_what_is_bought_has_few_digits() -> None:
    column = np.exp(3 + 1.2 * np.random.default_rng(3).normal(size=N))
    data = protected({"x": column}, Schema((Numeric("x", 0, 1e6),), LABEL))
    with use_noise(SeededNoise(5)):
        found, _ = find(data, [0], Fraction(1))
    told = [len(f"{cut:g}".replace(".", "").strip("0")) for cut in found[0].cuts(9)]
    assert len(told) >= 7
    assert max(told) <= 3


# -- where they lie ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("noise", "most"), [(ZeroNoise(), 0.15), (SeededNoise(5), 0.3)])
def test_cuts_leave_as_many_records_between_them_as_they_can(kind: str, noise: Any, most: float) -> None:
    """Nine cuts could leave a tenth between them; with noise of a 250th of the records three tenths are good."""
    column, low, high = values(kind, np.random.default_rng(7))
    data = protected({"x": column}, Schema((Numeric("x", low, high),), LABEL))
    with use_noise(noise):
        cuts = find(data, [0], Fraction(250, N))[0][0].cuts(9)
    between = np.diff(np.searchsorted(np.sort(column), [-math.inf, *cuts, math.inf]))
    assert between.max() <= most * N


def test_a_value_of_half_the_records_leaves_cuts_for_the_others() -> None:
    """It hides in an interval too wide to be a single value: a few cuts go there, and most to the others."""
    random = np.random.default_rng(3)
    column = np.where(random.random(N) < 0.5, 50.0, random.normal(50, 10, N))
    data = protected({"x": column}, Schema((Numeric("x", 0, 100),), LABEL))
    with use_noise(SeededNoise(5)):
        cuts = np.array(find(data, [0], Fraction(250, N))[0][0].cuts(9))
    assert 1 <= ((cuts > 46) & (cuts <= 50)).sum() <= 4
    assert (cuts < 46).sum() >= 2
    assert (cuts > 50).sum() >= 2


def test_a_single_value_does_not_eat_the_cuts() -> None:
    """Nine records of ten are 0: one cut tells them apart, and the others lie among the rest."""
    column = np.where(np.random.default_rng(3).random(N) < 0.9, 0.0, np.random.default_rng(4).lognormal(8, 1, N))
    data = protected({"gain": column}, Schema((Numeric("gain", 0, 100_000),), LABEL))
    with use_noise(ZeroNoise()):
        cuts = find(data, [0], Fraction(1))[0][0].cuts(9)
    rest = np.sort(column[column > 0])
    assert 0 < cuts[0] < rest[0]
    assert np.diff(np.searchsorted(rest, [*cuts, math.inf])).max() <= 0.16 * rest.size


def test_whole_numbers_are_cut_between_each_other() -> None:
    column = np.random.default_rng(3).poisson(6, N)
    data = protected({"visits": column}, Schema((Numeric("visits", 0, 10_000, integer=True),), LABEL))
    with use_noise(ZeroNoise()):
        cuts = find(data, [0], Fraction(1))[0][0].cuts(9)
    assert all(cut % 1 == 0.5 and 1 < cut < 12 for cut in cuts)


def test_nothing_is_said_where_noise_hides_all() -> None:
    data = protected({"x": [1.0, 2.0] * 5}, Schema((Numeric("x", 0, 10),), LABEL))
    with use_noise(SeededNoise(1)):
        assert find(data, [0], Fraction(1, 10))[0][0].cuts(5) == ()
    schema = data.schema
    assert cut_at(schema, {0: ()}) == schema


def test_missing_is_not_a_number() -> None:
    schema = Schema((Numeric("x", 0, 100, missing="?"),), LABEL)
    data = protected({"x": [30.0, 31.0, "?", "?", "?", "?"] * 200}, schema)
    with use_noise(ZeroNoise()):
        found = find(data, [0], Fraction(1))[0][0]
    assert found.records.sum() == pytest.approx(400)
    assert all(29.9 < cut < 31.1 for cut in found.cuts(5))


# -- what they cost ---------------------------------------------------------------------------------------------------


def test_a_ladder_is_one_charge_for_all_numbers() -> None:
    random, ledger = np.random.default_rng(0), privet.Ledger(1)
    schema = Schema((Numeric("a", 0, 100), Categorical("b", ("u", "v")), Numeric("c", 0, 100)), LABEL)
    data = protected(
        {"a": 100 * random.random(N), "b": ["u", "v"] * (N // 2), "c": 100 * random.random(N)}, schema, ledger
    )
    assert find(data, [0, 2], Fraction(1, 4))[1] == Fraction(1, 4)
    (charge,) = ledger.certificate().charges
    assert (charge.epsilon, charge.adds, charge.scale) == (Fraction(1, 4), Fraction(1, 4), 8)  # 2 numbers / (1/4)


def test_further_rounds_pay_for_the_crowded_numbers_alone() -> None:
    random, ledger = np.random.default_rng(0), privet.Ledger(10)
    schema = Schema((Numeric("a", 0, 100), Numeric("far", 0, 1e8)), LABEL)
    data = protected({"a": 100 * random.random(N), "far": 7e7 + random.random(N)}, schema, ledger)
    with use_noise(ZeroNoise()):
        cost = find(data, [0, 1], Fraction(1))[1]
    charges = ledger.certificate().charges
    assert len(charges) == ROUNDS
    assert [charge.epsilon for charge in charges] == [1, *(AGAIN / 2,) * (ROUNDS - 1)]
    assert {charge.scale for charge in charges[1:]} == {2 / AGAIN}
    assert cost == sum(charge.epsilon for charge in charges) == ledger.spent


def test_no_records_cost_more_than_the_most() -> None:
    """Every record at one place, which crowds in each round."""
    ledger = privet.Ledger(most_cost(Fraction(1)))
    data = protected({"x": [712_345_678.9] * N}, Schema((Numeric("x", 0, 1e9),), LABEL), ledger)
    with use_noise(ZeroNoise()):
        find(data, [0], Fraction(1))
    assert ledger.remaining == 0


def test_nothing_is_worth_finding_where_all_is_declared() -> None:
    age, grade = Numeric("age", 0, 120, thresholds=(18.0, 65.0)), Numeric("grade", 1, 6, integer=True)
    schema = Schema((age, grade, Categorical("sex", ("f", "m")), Numeric("dose", 0, 1)), LABEL)
    assert worth_finding(schema, 9) == (3,)
    assert worth_finding(schema, 4) == (1, 3)
    ledger = privet.Ledger(1)
    table = {"age": [1.0, 2.0], "grade": [1, 2], "sex": ["f", "m"], "dose": [0.1, 0.2]}
    assert find(protected(table, schema, ledger), (), Fraction(1)) == ({}, 0)
    assert ledger.spent == 0


# -- ladders ----------------------------------------------------------------------------------------------------------


def test_a_ladder_reaches_from_a_millionth_of_the_bounds_to_all_of_them() -> None:
    for low, high, near in ((0.0, 1e7, 0.0), (-1e7, 0.0, 0.0), (-3.0, 1e7, 0.0), (5.0, 1e7, 5.0), (-1e7, 1e7, 0.0)):
        rungs = np.array(ladder(Numeric("x", low, high)))
        away = np.sort(np.abs(rungs - near))
        away = away[(away > 0) & (away < 1e6)]
        assert away[0] < 1e-7 * (high - low)
        assert (away[1:] / away[:-1]).max() < 2.1  # never more than an octave without a rung


@settings(max_examples=50)
@given(
    st.floats(-1e300, 1e300),
    st.floats(1e-300, 1e300),
    st.booleans(),
    st.integers(1, 20),
    st.integers(0, 2**32 - 1),
    st.sampled_from([0.0, 1.0, 1e3, 1e9]),
)
def test_whatever_was_released_becomes_cuts(
    low: float, width: float, integer: bool, count: int, seed: int, size: float
) -> None:
    """No number that noise could make raises, and the cuts are ones that a schema accepts."""
    if not low < low + width or (integer and math.ceil(low) > math.floor(low + width)):
        return
    attribute = Numeric("x", low, low + width, integer=integer)
    random = np.random.default_rng(seed)
    rungs = ladder(attribute)
    if not rungs:
        assert worth_finding(Schema((attribute,), LABEL), 1) == ()
        return
    found = Whereabouts.of(attribute, rungs, np.rint(size * random.normal(size=len(rungs) + 1)), 1.0)
    for _ in range(3):
        cuts = found.cuts(count)
        if cuts:
            cut_at(Schema((attribute,), LABEL), {0: cuts})  # refuses what does not ascend inside the bounds
        assert len(cuts) <= count
        finer = found.finer()
        assert len(finer) <= FINER + 4
        if finer:
            found = found.refined(finer, np.rint(size * random.normal(size=len(finer) + 1)), 2.0)
            assert (found.records >= 0).all()


def test_what_may_be_noise_is_dropped_and_the_rest_adds_up() -> None:
    random = np.random.default_rng(5)
    noise = random.laplace(0, 1, 128)
    assert believed(noise, 1.0).sum() < 30  # of some 64 that are positive
    counts = noise + np.where(np.arange(128) // 16 == 3, 50.0, 0.0)
    kept = believed(counts, 1.0)
    assert kept[48:64].sum() == pytest.approx(counts[48:64].sum())
    assert kept.sum() < 1.05 * counts[48:64].sum()


# -- under audit ------------------------------------------------------------------------------------------------------


def whereabouts(data: PrivateDataset, epsilon: Fraction) -> Any:
    numbers = worth_finding(data.schema, 1)
    found, cost = find(data, numbers, epsilon / (1 + (ROUNDS - 1) * AGAIN))
    return cost, tuple((a, w.cuts(4), tuple(w.records.tolist())) for a, w in found.items())


TWO = Schema((Numeric("a", 0, 10), Numeric("b", -5, 5, missing="?")), LABEL)


def recuts(schema: Schema) -> bool:
    return True


@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
def test_whereabouts_keep_their_promise_and_all_of_it_is_found(neighbours: str) -> None:
    """The largest loss is the price itself, which a record pays in the bin of each number."""
    pairs = zoo(TWO, relation=neighbours, thresholds=(), of_a_class=(5,))
    found = audit_learner(whereabouts, pairs, 1, recuts=recuts, neighbours=neighbours, transcripts=3, complete=0)
    assert found.verdict == "holds"
    first_round = 1 / (1 + (ROUNDS - 1) * float(AGAIN))
    assert 0.9 * first_round <= found.lower_bound <= 1 + 1e-9


def test_cuts_read_off_the_data_are_caught() -> None:
    """A planted fault: quantiles of the records themselves, for nothing."""

    def unpaid(data: PrivateDataset, epsilon: Fraction) -> Any:
        column = data._engine._frozen.columns[worth_finding(data.schema, 1)[0]]  # type: ignore[attr-defined]
        known = column[~np.isnan(column)]
        return tuple(np.quantile(known, (0.25, 0.5, 0.75)).tolist()) if known.size else ()

    assert audit_learner(unpaid, zoo(TWO, thresholds=(), of_a_class=()), 1, recuts=recuts).lower_bound == math.inf


def test_a_ladder_that_pays_for_one_number_only_is_caught() -> None:
    """A planted fault: the noise of one number, for each of two, from one charge."""

    def too_little_noise(data: PrivateDataset, epsilon: Fraction) -> Any:
        fresh = [PrivateDataset(data._engine, privet.Ledger(epsilon)) for _ in range(2)]
        return tuple(tuple(find(d, [a], epsilon)[0][a].records.tolist()) for d, a in zip(fresh, (0, 1), strict=True))

    pairs = zoo(TWO, thresholds=(), of_a_class=())[:3]
    found = audit_learner(too_little_noise, pairs, 1, recuts=recuts, transcripts=3, complete=0)
    assert found.lower_bound == pytest.approx(2)
