"""Sequential and parallel composition against a brute-force oracle; receipts; one ledger is one ledger."""

from __future__ import annotations

import copy
import os
import pickle
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, clone

from privet import Categorical, Ledger, Numeric, Schema
from privet.errors import BudgetExceeded, ParameterError, PrivacyError, PrivetError, ReceiptError
from privet.privacy.counting import ROOT
from privet.privacy.frontier import Frontier
from privet.privacy.ledger import Receipt
from privet.privacy.losses import UNLIMITED, Loss
from privet.privacy.mechanisms import noisy_counts
from privet.structure.splits import Threshold
from privet.testing import ZeroNoise, use_noise

CELL = np.array([0])


class Spy(ZeroNoise):
    """No noise, and a list of the scales it was asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.scales: list[float] = []

    def laplace(self, values: Any, scale: float) -> Any:
        self.scales.append(scale)
        return super().laplace(values, scale)


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
    for said in ("'second'", "0.375", "0.25", "0.125 short", "nothing was charged", "epsilon <= 0.25"):
        assert said in str(error)
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
        part = ledger.account("fit", 0.5)._parallel(2)[1]
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


AMOUNTS = st.fractions(min_value=Fraction(1, 12), max_value=1, max_denominator=12)
STEPS = st.lists(
    st.tuples(
        st.integers(0, 10**6), st.sampled_from(["charge"] * 6 + ["parallel"] * 2 + ["account", "analyst"]), AMOUNTS
    ),
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
            if step == "analyst":
                node = nodes[0]
            if step == "account" and not node.could_charge(amount):
                with pytest.raises(BudgetExceeded):
                    node.ledger.account("scope", amount)
                continue
            if step == "account":
                child = node.ledger.account("scope", amount)
            else:
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
    right.account("a fit of its own", 1).charge(1, "all of it again")
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
    fit = ledger.account("fit", 0.5)
    assert ledger.spent == 0, "opening a scope costs nothing"
    fit.charge(0.25, "choice")
    assert fit.certificate().epsilon == ledger.certificate().epsilon == Fraction(1, 4)
    with pytest.raises(BudgetExceeded) as caught:
        fit.charge(0.5, "choice")
    assert caught.value.account == "fit"
    ledger.charge(0.75, "the rest")
    assert fit.remaining == 0, "the scope has room, what pays for it has not"
    with pytest.raises(BudgetExceeded):
        ledger.account("another fit", 0.1)


def test_nonprivate_charges_need_the_owners_consent(tmp_path: Path) -> None:
    with pytest.raises(PrivacyError, match="not differentially private"):
        Ledger(1).charge_nonprivate("exact counts", "no noise")
    ledger = Ledger(1).allow_nonprivate()
    ledger.account("fit", 1).charge_nonprivate("exact counts", "no noise")
    assert not ledger.certificate().private
    with pytest.raises(PrivacyError, match="journal"):
        Ledger(1, journal=tmp_path / "journal").allow_nonprivate()


# ---- receipts -----------------------------------------------------------------------------------------------------


def test_a_receipt_is_good_once() -> None:
    receipt = Ledger(1).charge(0.5, "count")
    assert receipt.redeem() == Fraction(1, 2)
    with pytest.raises(ReceiptError, match="'count' was redeemed already"):
        receipt.redeem()


@given(st.lists(st.lists(st.integers(-2, 6), max_size=4), max_size=8))
def test_a_receipt_is_good_once_in_each_cell(batches: list[list[int]]) -> None:
    receipt, spent = Ledger(1)._charge(Loss(0.5), "counts", 5, Loss(0.5)), set[int]()
    for batch in batches:
        cells = np.array(batch, dtype=np.intp)
        good = len(set(batch)) == len(batch) and all(0 <= cell < 5 and cell not in spent for cell in batch)
        if good:
            assert receipt.redeem(cells) == Fraction(1, 2)
            spent |= set(batch)
        else:
            with pytest.raises(ReceiptError):
                receipt.redeem(cells)
    left = np.array(sorted(set(range(5)) - spent), dtype=np.intp)
    assert receipt.redeem(left) == Fraction(1, 2), "a refusal used up a cell"


@pytest.mark.parametrize("way", [copy.copy, copy.deepcopy, pickle.dumps], ids=["copy", "deepcopy", "pickle"])
def test_a_receipt_cannot_be_copied(way: Callable[[Receipt], object]) -> None:
    receipt = Ledger(1).charge(0.5, "count")
    with pytest.raises(ReceiptError, match="cannot be copied"):
        way(receipt)
    assert receipt.redeem() == Fraction(1, 2)


def test_a_mechanism_redeems_before_it_draws() -> None:
    receipt, spy = Ledger(1).charge(0.5, "count"), Spy()
    with use_noise(spy):
        noisy_counts(np.array([7]), receipt)
        with pytest.raises(ReceiptError):
            noisy_counts(np.array([7]), receipt)
    assert len(spy.scales) == 1


# ---- one ledger is one ledger -------------------------------------------------------------------------------------


class Holder(BaseEstimator):
    def __init__(self, ledger: Ledger | None = None, also: Any = None) -> None:
        self.ledger = ledger
        self.also = also


@pytest.mark.parametrize("kind", ["root", "analyst", "account", "part"])
@pytest.mark.parametrize("journal", [False, True], ids=["memory", "journal"])
def test_no_copy_creates_budget(tmp_path: Path, kind: str, journal: bool) -> None:
    root = Ledger(1, journal=tmp_path / "journal" if journal else None)
    ledger = {
        "root": lambda: root,
        "analyst": lambda: root.analyst("ann", 1),
        "account": lambda: root.account("fit", 1),
        "part": lambda: root._parallel(2)[0],
    }[kind]()
    holder = Holder(ledger, also=[ledger, {"ledger": ledger}])
    copies = [
        copy.copy(ledger),
        copy.deepcopy(ledger),
        clone(ledger, safe=False),
        clone(holder).ledger,
        clone(holder).also[1]["ledger"],
        copy.deepcopy(holder).ledger,
        copy.copy(holder).ledger,
    ]
    assert all(other is ledger for other in copies)
    for other in copies[:4]:
        other.charge(Fraction(1, 4), "query")
    for other in copies:
        with pytest.raises(BudgetExceeded):
            other.charge(Fraction(1, 100), "query")
    assert root.spent == 1


@pytest.mark.parametrize("kind", [Ledger.analyst, Ledger.account, lambda ledger, *_: ledger._parallel(1)[0], None])
def test_a_ledger_in_memory_cannot_be_pickled(kind: Any) -> None:
    ledger = Ledger(1) if kind is None else kind(Ledger(1), "ann", 1)
    for thing in (ledger, Holder(ledger)):
        with pytest.raises(PrivacyError, match="journal=path"):
            pickle.dumps(thing)


def test_a_pickled_journal_ledger_spends_from_the_same_file(tmp_path: Path) -> None:
    ledger = Ledger(1, journal=tmp_path / "journal")
    analyst = ledger.analyst("ann", 0.5)
    for scope in (ledger.account("fit", 1), analyst.account("fit", 0.5), *ledger._parallel(1)):
        with pytest.raises(PrivacyError):
            pickle.dumps(scope)
    for text in (pickle.dumps(Holder(ledger)), pickle.dumps(Holder(analyst))):
        other = pickle.loads(text).ledger
        other.charge(Fraction(1, 4), "query")
    assert ledger.spent == Fraction(1, 2)
    assert analyst.spent == Fraction(1, 4)
    assert pickle.loads(pickle.dumps(analyst)) is analyst, "in one process one ledger stays one ledger"


def test_another_process_unpickles_the_same_budget(tmp_path: Path) -> None:
    import subprocess

    ledger = Ledger(1, journal=tmp_path / "journal")
    (tmp_path / "pickle").write_bytes(pickle.dumps(ledger.analyst("ann", 0.5)))
    script = (
        "import pickle, sys; analyst = pickle.load(open(sys.argv[1], 'rb')); analyst.charge(0.25, 'there');"
        "analyst = pickle.load(open(sys.argv[1], 'rb')); analyst.charge(0.25, 'there')"
    )
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path / "pickle")], env={**os.environ, **_PATH})
    assert done.returncode == 0
    assert ledger.analyst("ann", 0.5).spent == ledger.spent == Fraction(1, 2)


_PATH = {"PYTHONPATH": str(Path(sys.modules["privet"].__file__ or "").parents[1])}


def in_a_fork(work: Callable[[], object]) -> str:
    """The type of error that ``work`` raises in a forked process, or its result, as text."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            answer = str(work())
        except BaseException as error:
            answer = type(error).__name__
        os.write(writer, answer.encode())
        os._exit(0)
    os.close(writer)
    os.waitpid(child, 0)
    with os.fdopen(reader) as pipe:
        return pipe.read()


def test_a_fork_does_not_copy_the_budget_of_a_ledger_in_memory() -> None:
    ledger = Ledger(1)
    scopes = [ledger, ledger.analyst("ann", 1), ledger.account("fit", 1), *ledger._parallel(1)]
    for scope in scopes:
        assert in_a_fork(partial(scope.charge, 0.5, "count")) == "PrivacyError"
        assert in_a_fork(partial(scope._parallel(1)[0].charge, 0.5, "count")) == "PrivacyError"
    assert in_a_fork(lambda: Ledger(1).charge(0.5, "count").epsilon) == "1/2"
    ledger.charge(1, "count")


def test_a_fork_shares_a_journal_but_not_the_books_of_parts(tmp_path: Path) -> None:
    ledger = Ledger(1, journal=tmp_path / "journal")
    left, right = ledger._parallel(2)
    left.charge(0.5, "count")
    # Both processes remember that the parent paid 0.5 for the group; each would let the other part have it free.
    assert in_a_fork(lambda: right.charge(0.5, "count")) == "PrivacyError"
    assert in_a_fork(lambda: right.account("fit", 0.5).charge(0.5, "count")) == "PrivacyError"
    assert in_a_fork(lambda: ledger._parallel(2)[0].charge(0.25, "count").epsilon) == "1/4"
    assert in_a_fork(lambda: ledger.analyst("ann", 1).charge(0.25, "count").epsilon) == "1/4"
    assert ledger.spent == 1


# ---- the frontier's books -----------------------------------------------------------------------------------------

SCHEMA = Schema((Numeric("x", 0, 1, bins=2),), Categorical("y", ("a", "b")))
SPLIT = Threshold(0, 0)


class NoRecords:
    """An engine over an empty table: these tests are about the books."""

    schema = SCHEMA
    caveats = ()

    def answer(self, questions: Sequence[Any]) -> list[Any]:
        shapes = [(question.cells.size, int(question.offsets(SCHEMA)[-1]), 2) for question in questions]
        return [np.zeros(shape, dtype=np.int64) for shape in shapes]


def frontier(ledger: Ledger) -> Frontier:
    return Frontier(NoRecords(), ROOT, ledger)  # type: ignore[arg-type]


def path_total(path: tuple[int, ...], charges: dict[tuple[int, ...], Fraction]) -> Fraction:
    return sum((charges.get(path[:length], Fraction(0)) for length in range(len(path) + 1)), Fraction(0))


@given(st.data())
@settings(max_examples=150)
def test_a_frontier_pays_for_its_most_expensive_path(data: st.DataObject) -> None:
    ledger, spy = Ledger(3), Spy()
    before = data.draw(st.sampled_from([Fraction(0), Fraction(1, 7)]), label="spent before")
    if before:
        ledger.charge(before, "before")
    now = frontier(ledger)
    paths: list[tuple[int, ...]] = [()]  # the cells of the frontier, as the turns taken from the root
    levels: list[tuple[Frontier, list[tuple[int, ...]], set[int]]] = [(now, list(paths), set())]
    charges: dict[tuple[int, ...], Fraction] = {}
    with use_noise(spy):
        for _ in range(data.draw(st.integers(1, 12), label="steps")):
            if data.draw(st.booleans(), label="split") and 0 < now.size < 16:
                tests = [SPLIT if data.draw(st.booleans()) else None for _ in paths]
                levels[-1][2].update(i for i, test in enumerate(tests) if test is not None)
                paths = [(*path, side) for path, test in zip(paths, tests, strict=True) if test for side in (0, 1)]
                now = now.split(tests)
                levels.append((now, list(paths), set()))
                continue
            # Cells that were not split may still be asked, at any level.
            where, cells, gone = data.draw(st.sampled_from(levels), label="level")
            open_cells = [i for i in range(len(cells)) if i not in gone]
            chosen = data.draw(st.lists(st.sampled_from(open_cells), unique=True)) if open_cells else []
            amount = data.draw(AMOUNTS, label="epsilon")
            trial = dict(charges)
            for cell in chosen:
                trial[cells[cell]] = trial.get(cells[cell], Fraction(0)) + amount
            total = before + max([Fraction(0), *(path_total(path, trial) for path in trial)])
            drawn = len(spy.scales)
            if total <= 3:
                where.count_all(amount, np.array(chosen, dtype=np.intp))
                charges = trial
                assert ledger.spent == total
            else:
                with pytest.raises(BudgetExceeded):
                    where.count_all(amount, np.array(chosen, dtype=np.intp))
                assert len(spy.scales) == drawn
    assert ledger.spent == before + max([Fraction(0), *(path_total(path, charges) for path in charges)])


def test_two_frontiers_of_the_same_records_add_up() -> None:
    ledger = Ledger(1)
    with use_noise(Spy()):
        frontier(ledger).count_all(0.5)
        frontier(ledger).count_all(0.5)
    assert ledger.spent == 1


def test_a_refused_level_leaves_the_frontier_as_it_was() -> None:
    ledger, spy = Ledger(1), Spy()
    with use_noise(spy):
        now = frontier(ledger).split([SPLIT])
        now.count_all(0.75, np.array([0]))
        with pytest.raises(BudgetExceeded) as caught:
            now.count_all(0.5)
        assert caught.value.remaining == Fraction(1, 4)
        with pytest.raises(ParameterError, match="twice"):
            now.count_all(0.1, np.array([1, 1]))
        assert (ledger.spent, len(spy.scales)) == (Fraction(3, 4), 1)
        now.count_all(1, np.array([1]))
    assert ledger.spent == 1


def test_a_cell_that_was_split_cannot_be_asked_any_more() -> None:
    # Its records are in its children now: the children's peak would hide what it spends from the ledger.
    ledger = Ledger(1)
    with use_noise(Spy()):
        root = frontier(ledger)
        children = root.split([SPLIT])
        children.count_all(0.5)
        with pytest.raises(PrivetError):
            root.count_all(0.5)
    assert ledger.spent == Fraction(1, 2)


def test_a_cell_cannot_be_split_twice() -> None:
    # The children of the two splits would overlap, and each pay only the maximum.
    ledger = Ledger(1)
    with use_noise(Spy()):
        root = frontier(ledger)
        root.split([SPLIT]).count_all(0.5)
        with pytest.raises(PrivetError):
            root.split([SPLIT]).count_all(0.5)
    assert ledger.spent == Fraction(1, 2)


@pytest.mark.parametrize("way", [copy.copy, copy.deepcopy, pickle.dumps], ids=["copy", "deepcopy", "pickle"])
def test_a_frontier_cannot_be_copied(way: Callable[[Frontier], object]) -> None:
    with pytest.raises(PrivacyError):
        way(frontier(Ledger(1)))


def test_a_fork_does_not_copy_the_books_of_a_frontier(tmp_path: Path) -> None:
    ledger = Ledger(1, journal=tmp_path / "journal")
    with use_noise(Spy()):
        children = frontier(ledger).split([SPLIT])
        children.count_all(0.5, np.array([0]))
        assert in_a_fork(lambda: children.count_all(0.5, np.array([1]))) == "PrivacyError"
        assert in_a_fork(lambda: frontier(ledger).count_all(0.25).tolist()) == "[0]"
    assert ledger.spent == Fraction(3, 4)
