"""Work under zCDP: what it buys, what it costs outside, what is written down, and wrong sums that must be caught."""

from __future__ import annotations

import json
import math
import shutil
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import privet
from privet import Certificate, Ledger, Unit, promise
from privet.datasets.clinic import clinic
from privet.errors import BudgetExceeded, EpsilonError, FitStopped, ParameterError, RecipeError, ReservationError
from privet.kinds import ChargeKind
from privet.privacy import concentrated
from privet.privacy.concentrated import Currency, choice_epsilon, epsilon_of, pure_epsilon, rho_of
from privet.privacy.dataset import PrivateDataset
from privet.privacy.ledger import Charge
from privet.privacy.losses import NOTHING, Loss
from privet.privacy.mechanisms import Reach, Selection
from privet.privacy.samplers.stopping import RandomStopping
from privet.testing import SeededNoise, ZeroNoise, use_noise

DELTA = Fraction(1, 10**6)
PRICE = Loss(Fraction(1), DELTA)
RHO = rho_of(Fraction(1), DELTA)
amounts = st.fractions(min_value=Fraction(1, 10**6), max_value=20, max_denominator=10**6)


def data_on(ledger: Ledger, n: int = 300) -> PrivateDataset:
    schema, table = clinic(n)
    return privet.protect(table, schema, ledger)


# ---- the conversion ----------------------------------------------------------------------------------------------


@given(amounts, st.sampled_from([Fraction(1, 10**k) for k in (2, 6, 12)]))
def test_a_budget_buys_no_more_rho_than_it_covers(epsilon: Fraction, delta: Fraction) -> None:
    rho = rho_of(epsilon, delta)
    assert epsilon_of(rho, delta) <= epsilon < epsilon_of(rho * Fraction(10001, 10000), delta)
    assert rho.denominator <= 10**40, "a number that can be read"


@pytest.mark.parametrize("order", [1.001, 1.5, 3.0, 20.0, 1000.0])
def test_no_order_gives_less(order: float) -> None:
    """The bound at any order is one; ours is at the best of them."""
    rho, delta = 0.02, 1e-6
    there = order * rho + math.log1p(-1 / order) - (math.log(delta) + math.log(order)) / (order - 1)
    assert float(epsilon_of(Fraction(1, 50), DELTA)) <= there


@pytest.mark.parametrize("bad", [(1, 0), (1, 1), (101, DELTA)])
def test_what_cannot_be_converted_is_refused(bad: tuple[Any, Any]) -> None:
    with pytest.raises(EpsilonError, match="zCDP"):
        rho_of(Fraction(bad[0]), Fraction(bad[1]))


# ---- what a rho buys ---------------------------------------------------------------------------------------------


@given(amounts)
def test_roots_are_rounded_to_the_safe_side(rho: Fraction) -> None:
    assert choice_epsilon(Loss(rho=rho)) ** 2 <= 8 * rho
    assert pure_epsilon(Loss(rho=rho)) ** 2 <= 2 * rho
    assert Fraction(concentrated.gaussian_scale(3, rho)) ** 2 >= Fraction(3) / (2 * rho)


def test_each_mechanism_has_its_own_rate() -> None:
    loss = Loss(rho=Fraction(1, 2))
    assert Selection().epsilon(loss) == 2
    assert Selection("permute-and-flip").epsilon(loss) == 1, "it has no bounded range"
    assert Reach(4, squares=4).noise(loss) == ("discrete Gaussian", 2.0)
    assert Reach(4).noise(loss) == ("discrete Gaussian", 4.0)
    assert Reach(4, squares=4).noise(Loss(Fraction(2))) == ("discrete Laplace", 2.0), "pure epsilon adds moves up"


@given(amounts, st.integers(1, 6))
def test_scale_and_price_are_inverse(amount: Fraction, steps: int) -> None:
    for currency in Currency:
        scale = currency.scale(amount, steps)
        assert float(currency.price(scale, steps)) == pytest.approx(float(amount), rel=1e-12)
        assert float(currency.scale(amount / 4, steps) / scale) == pytest.approx(4 ** (1 / currency.power))


@given(amounts, st.integers(1, 6))
def test_a_group_costs_the_square(rho: Fraction, rows: int) -> None:
    assert Loss(rho=rho) * rows == Loss(rho=rho * rows**2)
    assert (Loss(rho=rho) / rows) * rows == Loss(rho=rho)


# ---- the account -------------------------------------------------------------------------------------------------


def test_the_whole_price_is_paid_at_once_and_nothing_comes_back() -> None:
    ledger = Ledger(2, DELTA)
    with ledger.reserve(PRICE, "work") as work:
        inside = work._concentrate(PRICE, "work under zCDP")
        assert (ledger.loss, work.left) == (PRICE, NOTHING)
        inside.charge(RHO / 2, "a count")
        assert inside.left == Loss(rho=RHO / 2)
        assert ledger.loss == PRICE
    assert ledger.loss == PRICE, "half of rho was not needed, and is not given back"
    with pytest.raises(ReservationError, match="has ended"):
        inside.charge(RHO / 4, "late")


def test_rho_cannot_be_overspent_and_epsilon_is_converted() -> None:
    inside = Ledger(1, DELTA)._concentrate(PRICE, "work")
    with pytest.raises(BudgetExceeded, match="asks for rho"):
        inside.charge(RHO * 2, "too much")
    receipt = inside.charge(Loss(Fraction(1, 10)), "a pure mechanism")
    assert inside.loss == Loss(rho=Fraction(1, 200)), "epsilon^2 / 2"
    assert float(receipt.redeem()) == pytest.approx(0.1)
    with pytest.raises(EpsilonError, match="no delta"):
        inside.charge(Loss(Fraction(1, 10), DELTA / 2), "a Gaussian of its own")
    with pytest.raises(BudgetExceeded, match="asks for rho"):
        Ledger(1, DELTA / 10**3).charge(Loss(rho=RHO), "outside rho is no currency")


def test_disjoint_parts_cost_the_largest() -> None:
    inside = Ledger(1, DELTA)._concentrate(PRICE, "work")
    parts = inside._parallel(3)
    for i, part in enumerate(parts):
        part.charge(RHO * (i + 1) / 4, "count")
    assert inside.loss == Loss(rho=RHO * 3 / 4)
    with inside.reserve(RHO / 8, "inner work") as work:
        work.charge(RHO / 16, "count")
        assert inside.left == Loss(rho=RHO / 8)
    assert inside.left == Loss(rho=RHO * 3 / 16)


@pytest.mark.parametrize(
    ("relation", "unit", "steps"), [("add-remove", 1, 1), ("replace-one", 1, 2), ("replace-one", 3, 6)]
)
def test_a_receipt_is_for_one_row(relation: str, unit: int, steps: int) -> None:
    ledger = Ledger(1, DELTA, neighbours=relation)
    if unit > 1:
        ledger.bind("", {"x": "y"}, Unit("person", unit))
    inside = ledger._concentrate(PRICE, "work")
    receipt = inside.charge(RHO, "count")
    assert receipt.loss == Loss(rho=RHO / steps**2)
    _, sigma = Reach().noise(receipt.redeem_loss())
    assert sigma == pytest.approx(steps / math.sqrt(2 * RHO)), "steps rows move a count by as many"


def test_random_stopping_inside_spends_epsilon() -> None:
    inside = Ledger(1, DELTA)._concentrate(PRICE, "work")
    runs = list(RandomStopping(inside, Fraction(1, 10), settings=1, mean_runs=1, what="search"))
    assert runs[0].fitting.remaining == Fraction(1, 30)
    assert inside.loss == Loss(rho=Fraction(1, 200))


# ---- what is written down ----------------------------------------------------------------------------------------


def fit_greedy(ledger: Ledger, **how: Any) -> Any:
    schema, table = clinic(400)
    with use_noise(SeededNoise(0)):
        return privet.make_classifier(
            "greedy-forest", schema=schema, epsilon=1, delta=1e-6, ledger=ledger, max_depth=2, n_estimators=2, **how
        ).fit(table, table["class"])


def test_a_journal_keeps_price_and_rho(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    fit_greedy(Ledger(3, 2e-6, journal=path))
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    price = next(line for line in lines if line.get("kind") == "zcdp")
    parts = [line for line in lines if line.get("loss", "").startswith("0, 0, ")]
    assert (price["adds"], price["mechanism"]) == ("1, 1/1000000", "zCDP")
    assert len(parts) > 5
    assert all(line["adds"] == "0" for line in parts)
    again = Ledger(journal=path)
    assert again.loss == PRICE
    assert again.left == Loss(Fraction(2), DELTA)
    assert [charge.loss.rho > 0 for charge in again.certificate().charges].count(True) == len(parts)


def test_a_journal_from_before_rho_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    shutil.copy(Path(__file__).with_name("journals") / "format-3.journal", path)
    old = Ledger(journal=path)
    assert old.loss == Loss(Fraction(1, 2), DELTA)
    assert old.analysts["ann"].left == Loss(Fraction(3, 4), DELTA)
    old._concentrate(PRICE, "work").charge(RHO / 2, "count")
    assert Ledger(journal=path).loss == Loss(Fraction(3, 2), 2 * DELTA)


@pytest.mark.parametrize("cut", range(0, 400, 29))
def test_a_torn_journal_never_loses_a_charge(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "journal"
    ledger = Ledger(3, 2e-6, journal=path)
    with ledger.reserve(PRICE, "work") as work:
        work._concentrate(PRICE, "work under zCDP").charge(RHO, "count")
        whole = path.read_bytes()
    path.with_suffix(".torn").write_bytes(whole[: len(whole) - cut])
    torn = Ledger(journal=path.with_suffix(".torn"))
    begun = b'"reserves"' in whole[: len(whole) - cut]
    assert torn.loss >= PRICE or not begun


def test_a_certificate_says_what_rho_went_for() -> None:
    model = fit_greedy(Ledger(1, 1e-6).allow_nonprivate())
    kept = model.certificate_
    assert (kept.delta, kept.rho) == (DELTA, RHO)
    assert kept.charges[0] == Charge("greedy-forest under zCDP", PRICE, PRICE, "zCDP", kind=ChargeKind.CONCENTRATED)
    assert sum((charge.added for charge in kept.charges[1:]), NOTHING) <= Loss(rho=RHO)
    assert Certificate.from_dict(json.loads(kept.to_json())) == kept
    assert "rho" in str(kept)
    assert "discrete Gaussian" in kept.to_json()
    more = kept.to_dict() | {"rho": "1/1000"}
    with pytest.raises(ValueError, match="add up to more than its rho"):
        Certificate.from_dict(more)


def test_old_certificates_have_no_rho() -> None:
    ledger = Ledger(1)
    ledger.charge(0.5, "count")
    assert "rho" not in ledger.certificate().to_json()


def test_work_under_zcdp_keeps_the_conditions_of_its_records() -> None:
    ledger = Ledger(1, DELTA)
    ledger.add_caveat("records were chosen by hand")
    assert any("by hand" in c.text for c in ledger._concentrate(PRICE, "work").certificate().caveats)
    with use_noise(ZeroNoise()):
        inside = data_on(Ledger(1, DELTA)).concentrated(PRICE, "work")
        inside.noisy_count(RHO)
    assert inside.certificate().epsilon == math.inf


def test_published_forms_add_up_epsilon() -> None:
    with pytest.raises(RecipeError, match=r"delta is for variant 'sound'"):
        privet.make_classifier("diffpid3", delta=1e-6, variant="as-published").recipe()


def test_counts_have_the_noise_that_was_paid_for() -> None:
    """False alarms: the mean square of 4000 draws is 30 % off with a chance below 1e-6 (chi-squared)."""
    inside = data_on(Ledger(1, DELTA), 40).concentrated(PRICE, "work")
    drawn = np.array([inside.noisy_count(RHO / 5000) for _ in range(4000)], dtype=float)
    sigma = 1 / math.sqrt(2 * RHO / 5000)
    off = ((drawn - 40) ** 2).mean() / sigma**2
    assert 0.87 < off < 1.13, "and a scale that is 15 % off gives 0.76 or 1.3"


def test_a_fit_with_too_few_records_says_that_all_is_charged() -> None:
    ledger = Ledger(1, DELTA)
    schema, table = clinic(200)
    wanted = privet.make_classifier("greedy-forest", schema=schema, epsilon=1, delta=1e-6, ledger=ledger)
    with pytest.raises(FitStopped, match="All of epsilon 1 was charged"):
        wanted.set_params(expected_records=50_000).fit(table, table["class"])
    assert ledger.loss == PRICE
    with pytest.raises(ParameterError, match="tenth of rho: from 568 on it works"):
        wanted.set_params(expected_records=500).fit(table, table["class"])


def test_an_account_says_what_it_counts_in() -> None:
    inside = Ledger(1, DELTA)._concentrate(PRICE, "work")
    assert "rho 0 spent, 0.0243559 left" in repr(inside)
    assert promise.spending(inside.certificate()) == ()
    inside.charge(RHO / 2, "count")
    (spent,) = promise.spending(inside.certificate())
    assert (spent.what, spent.share, spent.adds) == ("count", 0.5, "rho 0.0122")
