"""Sequential and parallel composition, against a brute-force oracle; analysts and scopes."""

from __future__ import annotations

import pickle
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ledger_tools import AMOUNTS, Spy

from privet import Ledger
from privet.errors import BudgetExceeded, ParameterError, PrivacyError
from privet.privacy.losses import UNLIMITED
from privet.privacy.mechanisms import noisy_counts
from privet.testing import use_noise

CELL = np.array([0])


# ---- one account --------------------------------------------------------------------------------------------------


def test_a_tenth_can_be_spent_ten_times_and_no_more() -> None:
    ledger, spy = Ledger(1), Spy()
    assert sum([0.1] * 10) != 1, "in floating point this would not come out even"
    with use_noise(spy):
        for i in range(10):
            assert ledger.remaining == 1 - Fraction(i, 10)
            noisy_counts(np.array([7]), ledger.charge(0.1, f"count {i}"))
        with pytest.raises(BudgetExceeded):
            noisy_counts(np.array([7]), ledger.charge(0.1, "count 10"))
    assert ledger.spent == 1
    assert ledger.remaining == 0
    assert len(spy.scales) == 10, "the eleventh drew noise"
    assert [charge.what for charge in ledger.certificate().charges] == [f"count {i}" for i in range(10)]


def test_a_refusal_says_requested_remaining_and_difference() -> None:
    ledger = Ledger(1)
    ledger.charge(0.75, "first")
    before = ledger.certificate()
    with pytest.raises(BudgetExceeded) as caught:
        ledger.charge(0.375, "second")
    error = caught.value
    assert (error.requested, error.remaining, error.what) == (Fraction(3, 8), Fraction(1, 4), "second")
    for part in ("'second'", "0.375", "0.25", "0.125 short", "nothing was charged", "epsilon 0.25 or less"):
        assert part in str(error)
    assert ledger.certificate() == before
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.remaining) == (str(error), error.remaining)


def test_a_spent_budget_sends_the_analyst_to_the_owner() -> None:
    ledger = Ledger(1)
    ledger.charge(1, "all of it")
    with pytest.raises(BudgetExceeded, match="ask the data owner"):
        ledger.charge(1e-9, "a crumb")


@given(st.lists(st.fractions(min_value=Fraction(1, 50), max_value=1, max_denominator=50), max_size=30))
def test_sequential_spending_is_a_sum(amounts: list[Fraction]) -> None:
    ledger, spent = Ledger(2), Fraction(0)
    for amount in amounts:
        if spent + amount <= 2:
            ledger.charge(amount, "query")
            spent += amount
        else:
            with pytest.raises(BudgetExceeded):
                ledger.charge(amount, "query")
        assert (ledger.spent, ledger.remaining) == (spent, 2 - spent)
    assert sum(charge.adds for charge in ledger.certificate().charges) == spent


@pytest.mark.parametrize(("neighbours", "scale"), [("add-remove", 2.0), ("replace-one", 4.0)])
def test_replace_one_draws_with_half_the_epsilon(neighbours: str, scale: float) -> None:
    ledger, spy = Ledger(1, neighbours=neighbours), Spy()
    with use_noise(spy):
        noisy_counts(np.array([7]), ledger.charge(0.5, "count"))
        part = ledger.reserve(0.5, "fit")._parallel(2)[1]
        noisy_counts(np.array([7]), part.charge(0.5, "count"))
    assert spy.scales == [scale, scale]
    assert ledger.spent == 1, "the ledger counts in its own relation"


# ---- the oracle ---------------------------------------------------------------------------------------------------


@dataclass
class Node:
    """An account in words of the definition: what was asked of its own records, and of parts of them."""

    ledger: Ledger
    limit: Fraction | None = None
    parent: Node | None = None
    own: Fraction = Fraction(0)
    scopes: list[Node] = field(default_factory=list)  # the same records
    groups: list[list[Node]] = field(default_factory=list)  # disjoint records

    def spent(self) -> Fraction:
        total = self.own + sum((scope.spent() for scope in self.scopes), Fraction(0))
        return total + sum((max(part.spent() for part in group) for group in self.groups), Fraction(0))

    def within_limits(self) -> bool:
        node: Node | None = self
        while node is not None:
            if node.limit is not None and node.spent() > node.limit:
                return False
            node = node.parent
        return True

    def could_charge(self, amount: Fraction) -> bool:
        self.own += amount
        fits = self.within_limits()
        self.own -= amount
        return fits


STEPS = st.lists(
    st.tuples(st.integers(0, 10**6), st.sampled_from(["charge"] * 6 + ["parallel"] * 2 + ["analyst"]), AMOUNTS),
    max_size=40,
)


def play(root: Ledger, cap: Fraction, steps: list[tuple[int, str, Fraction]]) -> list[Node]:
    """Take the steps on accounts picked at random, and compare all books with the oracle's after each."""
    nodes = [Node(root, cap)]
    for pick, step, amount in steps:
        node = nodes[pick % len(nodes)]
        if step == "parallel":
            group = [Node(part, parent=node) for part in node.ledger._parallel(2 + pick % 2)]
            node.groups.append(group)
            nodes += group
        elif step == "charge":
            if node.could_charge(amount):
                node.ledger.charge(amount, "query")
                node.own += amount
            else:
                with pytest.raises(BudgetExceeded) as caught:
                    node.ledger.charge(amount, "query")
                assert caught.value.requested == amount
                assert caught.value.remaining == node.ledger.remaining < amount
        else:
            node = nodes[0]
            child = node.ledger.analyst(f"analyst {len(nodes)}", amount)
            node.scopes.append(Node(child, amount, node))
            nodes.append(node.scopes[-1])
        for known in nodes:
            assert known.ledger.spent == known.spent()
            remaining = known.ledger.remaining
            assert remaining == 0 or known.could_charge(remaining)
            assert not known.could_charge(remaining + Fraction(1, 10**6))
    return nodes


@given(STEPS)
@settings(max_examples=200)
def test_adaptive_parallel_spending_is_the_running_maximum(steps: list[tuple[int, str, Fraction]]) -> None:
    play(Ledger(2), Fraction(2), steps)


@given(STEPS)
@settings(max_examples=30)
def test_and_so_it_is_with_a_journal(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[int, str, Fraction]]
) -> None:
    path = tmp_path_factory.mktemp("ledger") / "journal"
    nodes = play(Ledger(2, journal=path), Fraction(2), steps)
    again = Ledger(journal=path)
    assert again.spent == nodes[0].spent()
    assert again.certificate() == nodes[0].ledger.certificate()
    for node in nodes[1:]:
        if node.parent is nodes[0] and node.ledger.name.startswith("analyst"):
            assert again.analyst(node.ledger.name, node.limit).spent == node.spent()


def test_the_oracle_can_disagree() -> None:
    class Sum(Ledger):
        """Charges parts as if they shared records."""

        def _parallel(self, count: int) -> tuple[Ledger, ...]:
            return tuple(self._child(f"part {i}", UNLIMITED) for i in range(count))

    with pytest.raises(AssertionError):
        play(
            Sum(2),
            Fraction(2),
            [(0, "parallel", Fraction(1)), (1, "charge", Fraction(1, 2)), (2, "charge", Fraction(1, 2))],
        )


def test_a_part_may_use_what_its_siblings_made_the_parent_pay() -> None:
    left, right = Ledger(1)._parallel(2)
    left.charge(1, "all of it")
    assert right.remaining == 1
    right.reserve(1, "a fit of its own").charge(1, "all of it again")
    assert left.remaining == right.remaining == 0


# ---- analysts and scopes ------------------------------------------------------------------------------------------


def test_analysts_share_the_cap() -> None:
    ledger = Ledger(1)
    ann, bob = ledger.analyst("ann", 0.7), ledger.analyst("bob", 0.7)
    ann.charge(0.7, "count")
    assert (bob.remaining, ledger.remaining) == (Fraction(3, 10), Fraction(3, 10))
    with pytest.raises(BudgetExceeded) as caught:
        bob.charge(0.4, "count")
    assert caught.value.account == ledger.name
    with pytest.raises(BudgetExceeded) as caught:
        ann.charge(0.1, "count")
    assert caught.value.account == "ann"
    assert bob.spent == 0
    assert ledger.analyst("ann", 0.7) is ann
    with pytest.raises(ParameterError, match=r"'ann' already has epsilon 7/10"):
        ledger.analyst("ann", 5)
    with pytest.raises(ParameterError, match="own ledger"):
        ann.analyst("carl", 1)
    with pytest.raises(ParameterError, match="name"):
        ledger.analyst(None, 1)  # type: ignore[arg-type]


def test_a_scope_has_its_own_certificate_and_no_budget_of_its_own() -> None:
    ledger = Ledger(1)
    fit = ledger.reserve(0.5, "fit")
    assert (fit.spent, ledger.spent) == (0, Fraction(1, 2)), "what is reserved counts as spent for others"
    fit.charge(0.25, "choice")
    assert fit.certificate().epsilon == Fraction(1, 4)
    with pytest.raises(BudgetExceeded) as caught:
        fit.charge(0.5, "choice")
    assert caught.value.account == "fit"
    ledger.charge(0.5, "the rest")
    assert fit.remaining == Fraction(1, 4), "nobody took what it had reserved"
    with pytest.raises(BudgetExceeded):
        ledger.reserve(0.1, "another fit")
    fit.end()
    assert ledger.remaining == Fraction(1, 4)


def test_nonprivate_charges_need_the_owners_consent(tmp_path: Path) -> None:
    with pytest.raises(PrivacyError, match="not differentially private"):
        Ledger(1).charge_nonprivate("exact counts", "no noise")
    ledger = Ledger(1).allow_nonprivate()
    ledger.reserve(1, "fit").charge_nonprivate("exact counts", "no noise")
    assert not ledger.certificate().private
    with pytest.raises(PrivacyError, match="journal"):
        Ledger(1, journal=tmp_path / "journal").allow_nonprivate()
