"""A loss is a pair of exact numbers; sums, maxima, groups of records; and a ledger that caps both."""

from __future__ import annotations

import json
import math
import pickle
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import privet
from privet import Certificate, Ledger
from privet.datasets.clinic import clinic
from privet.errors import BudgetExceeded, EpsilonError, ParameterError
from privet.kinds import ChargeKind
from privet.privacy.ledger import Charge
from privet.privacy.losses import NOTHING, Loss
from privet.testing import ZeroNoise, use_noise

amounts = st.fractions(min_value=0, max_value=8, max_denominator=1000)
deltas = st.fractions(min_value=0, max_value=Fraction(1, 10), max_denominator=10**6)
losses = st.builds(Loss, amounts, deltas)
SMALL = Fraction(1, 10**6)


# ---- arithmetic ---------------------------------------------------------------------------------------------------


def test_numbers_are_read_as_they_are_written() -> None:
    assert Loss(0.1, 1e-6) == Loss(Fraction(1, 10), SMALL)
    assert Loss(0.1) + Loss(0.2) == Loss(0.3)


@given(losses, losses, losses)
def test_sum_and_maximum(a: Loss, b: Loss, c: Loss) -> None:
    assert (a + b) + c == a + (b + c)
    assert a + b == b + a
    assert a <= (a | b) <= a + b
    assert (a | b) | c == a | (b | c)
    assert (a | b) + c == (a + c) | (b + c), "a question to all records adds to every part alike"
    assert (a + b) - b == a
    assert a - (a + b) == NOTHING
    assert (a | b) == Loss(max(a.epsilon, b.epsilon), max(a.delta, b.delta)), "by component, not the larger of the two"


@given(losses)
def test_text_brings_it_back(loss: Loss) -> None:
    assert Loss.read(str(loss)) == loss
    assert pickle.loads(pickle.dumps(loss)) == loss


@pytest.mark.parametrize("bad", [(-1,), (1, -1), ("1",), (1, "0"), (math.nan,), (1, math.inf), (True,), (None,)])
def test_anything_else_is_refused(bad: tuple[Any, ...]) -> None:
    with pytest.raises(EpsilonError, match=r"^(epsilon|delta) must"):
        Loss(*bad)


@pytest.mark.parametrize("bad", [NOTHING, Loss(0, 1), Loss(1, 1.5), 0, Loss(10**101)])
def test_what_cannot_be_charged(bad: object) -> None:
    ledger = Ledger(10**50, 0.5)
    with pytest.raises(ParameterError):
        ledger.charge(bad, "count")
    assert ledger.loss == NOTHING


# ---- several records of one person --------------------------------------------------------------------------------


def group_delta(loss: Loss, rows: int) -> Fraction:
    """delta (1 + e^eps + ...), from a Taylor series of 120 terms: too small by less than the test can see."""
    ratio = sum((loss.epsilon**k / math.factorial(k) for k in range(120)), Fraction(0))
    return loss.delta * sum((ratio**i for i in range(rows)), Fraction(0))


@given(amounts, st.fractions(min_value=0, max_value=Fraction(1, 10**9), max_denominator=10**12), st.integers(1, 3))
def test_the_group_factor_is_rounded_up_and_by_little(epsilon: Fraction, delta: Fraction, rows: int) -> None:
    loss = Loss(epsilon, delta)
    group, exact = loss * rows, group_delta(loss, rows)
    assert group.epsilon == rows * epsilon
    assert min(Fraction(1), exact) <= group.delta <= exact * (1 + Fraction(1, 10**40))


@given(losses, st.integers(1, 6))
def test_the_share_of_a_record_times_the_records_is_within_the_loss(loss: Loss, rows: int) -> None:
    share = loss / rows
    assert share * rows <= loss
    assert share.epsilon == loss.epsilon / rows
    assert group_delta(share, rows) <= loss.delta
    assert group_delta(share, rows) >= loss.delta * (1 - Fraction(1, 10**40)), "more was given away than rounding asks"


def test_pure_losses_and_single_records_are_exact() -> None:
    assert Loss(Fraction(1, 3)) * 7 == Loss(Fraction(7, 3))
    assert Loss(Fraction(1, 3)) / 7 == Loss(Fraction(1, 21))
    assert Loss(1, SMALL) * 1 == Loss(1, SMALL) / 1 == Loss(1, SMALL)


def test_a_factor_beyond_measure_stays_on_the_safe_side() -> None:
    assert Loss(1000, SMALL) * 3 == Loss(3000, 1)
    assert Loss(3000, SMALL) / 3 == Loss(1000, 0)


# ---- a ledger with delta ------------------------------------------------------------------------------------------


@pytest.fixture(params=["memory", "journal"])
def ledger(request: pytest.FixtureRequest, tmp_path: Path) -> Ledger:
    return Ledger(1, SMALL, journal=tmp_path / "journal" if request.param == "journal" else None)


def test_both_are_capped(ledger: Ledger) -> None:
    ledger.charge(Loss(0.25, SMALL / 2), "first")
    ledger.charge(0.25, "pure")
    assert ledger.loss == Loss(0.5, SMALL / 2)
    assert (ledger.spent, ledger.remaining) == (Fraction(1, 2), Fraction(1, 2))
    with pytest.raises(
        BudgetExceeded, match=r"asks for delta 1e-06 but the data set's budget has 5e-07 left"
    ) as caught:
        ledger.charge(Loss(0.25, SMALL), "too much delta")
    assert (caught.value.currency, caught.value.remaining) == ("delta", SMALL / 2)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
    with pytest.raises(BudgetExceeded, match=r"asks for epsilon 0\.75"):
        ledger.charge(Loss(0.75, SMALL), "too much of both")
    assert ledger.loss == Loss(0.5, SMALL / 2)
    assert repr(ledger) == "<Ledger the data set's budget: epsilon 0.5, 5e-07 spent, 0.5, 5e-07 left, add-remove>"


def test_a_pure_ledger_takes_no_delta() -> None:
    with pytest.raises(BudgetExceeded, match="delta"):
        Ledger(1).charge(Loss(0.5, 1e-12), "count")


def test_disjoint_parts_pay_the_maximum_of_each(ledger: Ledger) -> None:
    left, right = ledger._parallel(2)
    left.charge(Loss(0.5, SMALL / 4), "much epsilon")
    right.charge(Loss(0.25, SMALL), "much delta")
    assert ledger.loss == Loss(0.5, SMALL)
    assert left.left == Loss(0.5, SMALL * 3 / 4)
    left.charge(Loss(0.25, SMALL / 2), "paid in delta, not in epsilon")
    assert ledger.loss == Loss(0.75, SMALL)


def test_accounts_and_analysts_have_both(ledger: Ledger) -> None:
    ann = ledger.analyst("ann", Loss(0.5, SMALL / 2))
    with pytest.raises(BudgetExceeded):
        ann.charge(Loss(0.1, SMALL), "count")
    with pytest.raises(ParameterError, match="can be lowered"):
        ledger.analyst("ann", Loss(0.25, SMALL))
    fit = ledger.reserve(0.5, "fit")
    with pytest.raises(BudgetExceeded, match="delta"):
        fit.charge(Loss(0.25, SMALL / 10), "a fit that was promised to be pure")
    fit.end()
    ledger.lower_cap(0.75, delta=0)
    assert ledger.left == Loss(0.75)


def test_a_mechanism_under_replace_one_gets_the_share_of_a_step() -> None:
    loss = Loss(1, SMALL)
    receipt = Ledger(1, SMALL, neighbours="replace-one").charge(loss, "count")
    assert receipt.loss == loss / 2
    assert receipt.epsilon == Fraction(1, 2)
    assert receipt.loss * 2 <= loss
    assert receipt.loss.delta < SMALL / 2, "half the delta would be too much: e^epsilon stands before the second half"


def test_a_journal_keeps_delta_and_what_was_drawn(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    ledger = Ledger(1, SMALL, journal=path)
    ledger.charge(Loss(0.5, SMALL / 2), "count", mechanism="Gaussian", scale=Fraction(9, 2))
    with use_noise(ZeroNoise()):
        schema, table = clinic(20)
        privet.protect(table, schema, ledger).noisy_count(0.25)
    again = Ledger(journal=path)
    assert again.loss == Loss(0.75, SMALL / 2)
    first, second = again.certificate().charges
    assert first == Charge("count", Loss(0.5, SMALL / 2), Loss(0.5, SMALL / 2), "Gaussian", Fraction(9, 2))
    assert (second.mechanism, second.scale) == ("discrete Laplace", Fraction(4))
    assert Ledger(1, journal=path).loss == Ledger(1, SMALL, journal=path).loss == again.loss
    for other in ((1, 0), (1, 0.5)):
        with pytest.raises(privet.JournalError, match="protects epsilon 1, 1/1000000"):
            Ledger(*other, journal=path)
    for end in range(1, 60):  # the two amounts stand first: torn behind them they are believed, torn before all counts
        whole = path.read_bytes()
        line = whole.splitlines(keepends=True)[1]
        torn = tmp_path / f"torn at {end}"
        torn.write_bytes(whole.splitlines(keepends=True)[0] + line[:end])
        known = b'"1/2, 1/2000000"' in line[:end]
        assert Ledger(journal=torn).loss == (Loss(0.5, SMALL / 2) if known else Loss(1, SMALL))


def test_every_question_says_how_it_drew() -> None:
    schema, table = clinic(50)
    ledger = Ledger(100, neighbours="replace-one")
    data = privet.protect(table, schema, ledger)
    with use_noise(ZeroNoise()):
        data.noisy_count(1)
        data.class_counts(2)
        data.noisy_sum("temperature", 1)
        data.noisy_average("temperature", 1)
        data.level().choose_labels_all(1)
    scales = [(charge.mechanism, charge.scale) for charge in ledger.certificate().charges]
    assert scales[:2] == [("discrete Laplace", 2), ("discrete Laplace", 1)]
    assert all(kind == "discrete Laplace" and scale is not None and scale > 2 for kind, scale in scales[2:4])
    assert scales[4] == ("permute-and-flip", 2)


# ---- certificates -------------------------------------------------------------------------------------------------


def test_a_certificate_prints_what_it_holds(ledger: Ledger) -> None:
    ledger.charge(Loss(0.25, SMALL / 2), "noisy count", mechanism="Gaussian", scale=Fraction(3))
    certificate = ledger.certificate()
    assert (certificate.epsilon, certificate.delta) == (Fraction(1, 4), SMALL / 2)
    assert certificate.definition == "(epsilon, delta)-differential privacy"
    said = str(certificate)
    assert "epsilon = 0.25 and delta = 5e-07" in said
    assert "pure" not in said
    assert "epsilon 0.25 and delta 5e-07, adds 0.25 and 5e-07" in said
    assert "the limit, (epsilon, delta) = (1, 1/1000000)" in said, "what was chosen on the way needs the limit"
    assert Certificate.from_dict(json.loads(certificate.to_json())) == certificate


def test_a_certificate_without_delta_is_pure_under_a_cap_with_one(ledger: Ledger) -> None:
    ledger.charge(0.25, "noisy count")
    certificate = ledger.certificate()
    assert certificate.definition == "epsilon-differential privacy"
    assert "(pure, delta = 0)" in str(certificate)
    assert certificate.caveats == ()


def test_a_certificate_of_an_older_model_file_still_reads() -> None:
    charge = {"what": "node sizes", "epsilon": "1/2", "adds": "1/2"}
    old = {
        "definition": "epsilon-differential privacy",
        "neighbours": "add-remove",
        "epsilon": "1/2",
        "delta": "0",
        "charges": [charge],
        "caveats": [],
    }
    certificate = Certificate.from_dict(old)
    assert certificate.charges == (Charge("node sizes", Loss(0.5), Loss(0.5), kind=ChargeKind.COUNT),)
    assert certificate.to_dict().items() >= (old | {"charges": [charge | {"kind": "count"}]}).items()
