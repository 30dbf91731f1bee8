"""Reservations: the whole price is taken before the work, and what was not needed is given back."""

from __future__ import annotations

import gc
import json
import os
import threading
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ledger_tools import AMOUNTS, in_a_fork

from privet import Ledger
from privet.errors import BudgetExceeded, JournalError, ParameterError, ReservationError
from privet.privacy.examining import examine
from privet.privacy.journal import Journal
from privet.privacy.losses import Loss
from privet.privacy.reservations import Reservation

HASH = "0123456789abcdef" * 4


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal"


@pytest.fixture(params=["memory", "journal"])
def ledger(request: pytest.FixtureRequest, path: Path) -> Ledger:
    return Ledger(2, journal=path if request.param == "journal" else None)


def records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def crash(path: Path, *charges: object, reserved: object = 1) -> None:
    """What a process leaves behind that dies in the middle of its work."""

    def work() -> None:
        fit = Ledger(journal=path).reserve(reserved, "fit of exact")
        for amount in charges:
            fit.charge(amount, "count")
        os._exit(0)

    in_a_fork(work)


# ---- while it works -------------------------------------------------------------------------------------------------


def test_the_whole_price_is_taken_first_and_the_rest_given_back(ledger: Ledger, path: Path) -> None:
    with ledger.reserve(Fraction(3, 2), "fit of exact") as fit:
        assert (ledger.spent, ledger.remaining, fit.spent) == (Fraction(3, 2), Fraction(1, 2), 0)
        fit.charge(0.25, "count")
        assert (ledger.remaining, fit.remaining) == (Fraction(1, 2), Fraction(5, 4))
        with pytest.raises(BudgetExceeded):
            ledger.charge(0.75, "somebody else's")
        assert "held by reservation 1 (fit of exact)" in str(ledger.certificate())
        assert ledger.certificate().epsilon == Fraction(3, 2)
        assert fit.certificate().epsilon == Fraction(1, 4)
    assert (ledger.spent, ledger.remaining) == (Fraction(1, 4), Fraction(7, 4))
    assert ledger.certificate() == fit.certificate()
    if path.exists():
        assert Ledger(journal=path).spent == Fraction(1, 4)
        assert os.listdir(path.parent) == ["journal"], "no lock file is left"


def test_what_the_journal_says_of_it(path: Path) -> None:
    ledger = Ledger(2, journal=path)
    with ledger.analyst("ann", 1).reserve(Loss(1), "fit of exact") as fit:
        fit.charge(0.25, "count")
        fit.charge(0.25, "count")
        fit.end(HASH)
    _, _, taken, *charges, ended = records(path)
    assert next(iter(taken)) == "adds", "a torn reservation counts as spent"
    assert (taken["adds"], taken["reserves"], taken["work"], taken["analyst"]) == ("1", 1, "fit of exact", "ann")
    assert len(taken["time"]) == len("2026-11-17T19:26Z")
    assert [(charge["reservation"], charge["adds"]) for charge in charges] == [(1, "1/4")] * 2
    assert (ended["reservation"], ended["ended"], ended["output"]) == (1, True, HASH)
    assert all("time" not in record for record in (*charges, ended)), "they would tell how long the work took"
    assert ledger.analyst("ann").remaining == Ledger(journal=path).analyst("ann").remaining == Fraction(1, 2)


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_an_error_or_an_interrupt_ends_the_reservation(ledger: Ledger, error: type[BaseException]) -> None:
    with pytest.raises(error):  # noqa: PT012, SIM117 - what happens inside the block is what is tested
        with ledger.reserve(1, "fit") as fit:
            fit.charge(0.25, "count")
            raise error
    assert (ledger.remaining, ledger.reservations) == (Fraction(7, 4), {})


def test_charges_never_exceed_it_and_none_come_after(ledger: Ledger) -> None:
    fit = ledger.reserve(0.5, "fit")
    fit.charge(0.3, "count")
    with pytest.raises(BudgetExceeded, match=r"epsilon 0\.3 that this work charged before stays charged") as refused:
        fit.charge(0.3, "count")
    assert refused.value.charged == Fraction(3, 10)
    part = fit._parallel(2)[0]
    fit.end()
    fit.end()
    for account in (fit, part):
        with pytest.raises(ReservationError, match="has ended; reserve again"):
            account.charge(0.1, "count")
        with pytest.raises(ReservationError, match="has ended"):
            account.reserve(0.1, "more work")
    assert fit.remaining == 0
    with pytest.raises(BudgetExceeded, match="nothing was charged or released"):
        ledger.reserve(3, "fit")
    with pytest.raises(ParameterError, match="SHA-256"):
        fit.end("no hash")
    with pytest.raises(ParameterError, match="work must say"):
        ledger.reserve(1, "")


def test_work_inside_work_is_paid_already(ledger: Ledger, path: Path) -> None:
    with ledger.reserve(1, "private evaluation") as whole:
        before = path.read_bytes() if path.exists() else b""
        with whole.reserve(0.75, "fit") as fit:
            assert (whole.remaining, ledger.remaining) == (Fraction(1, 4), 1)
            with pytest.raises(BudgetExceeded, match=r"private evaluation has 0\.25 left"):
                whole.reserve(0.5, "another fit")
            assert not path.exists() or path.read_bytes() == before
            fit.charge(0.5, "count")
        assert (whole.remaining, fit.number, whole.number) == (Fraction(1, 2), None, 1)
        inner = whole.reserve(0.5, "score")
    with pytest.raises(ReservationError, match="private evaluation"):
        inner.charge(0.1, "count")
    inner.end()
    assert ledger.remaining == Fraction(3, 2)


def test_a_part_keeps_the_credit_that_it_was_promised(ledger: Ledger) -> None:
    """The first part's fit was paid for; the second's is free, also if somebody asks the second part meanwhile."""
    left, right = ledger._parallel(2)
    with left.reserve(1, "fit") as fit:
        fit.charge(1, "count")
    with right.reserve(1, "fit") as fit:
        assert ledger.spent == 1
        right.charge(0.5, "a question beside the fit")
        assert ledger.spent == Fraction(3, 2), "the credit is the fit's"
        fit.charge(1, "count")
    assert ledger.spent == Fraction(3, 2)
    with left.reserve(1, "fit") as fit:
        assert ledger.spent == 2, "half of it is paid for already"
        with pytest.raises(BudgetExceeded):
            right.reserve(0.5, "fit")
        fit.charge(0.5, "count")
    assert ledger.spent == Fraction(3, 2)


STEPS = st.lists(
    st.tuples(
        st.integers(0, 10**6), st.sampled_from(["charge"] * 5 + ["parallel", "reserve", "reserve", "end"]), AMOUNTS
    ),
    max_size=40,
)


@given(STEPS)
@settings(max_examples=200, deadline=None)
def test_books_with_reservations_cover_what_was_released(steps: list[tuple[int, str, Fraction]]) -> None:
    """Whatever the order: accounts above pay at least the largest part, the cap holds, and what is held is there."""
    root = Ledger(2)
    accounts, children, own = [root], {root: list[list[Ledger]]()}, {root: Fraction(0)}

    def truth(account: Ledger) -> Fraction:
        return own[account] + sum((max(map(truth, group)) for group in children[account]), Fraction(0))

    for pick, step, amount in steps:
        account = accounts[pick % len(accounts)]
        if step == "end":
            if isinstance(account, Reservation):
                account.end()
        elif step == "charge":
            room = account.remaining
            try:
                account.charge(amount, "query")
            except (BudgetExceeded, ReservationError):
                assert amount > room, "what remaining says can be spent"
            else:
                own[account] += amount
                assert amount <= room
        else:
            try:
                new = list(account._parallel(2)) if step == "parallel" else [account.reserve(amount, "work")]
            except (BudgetExceeded, ReservationError):
                continue
            children[account].append(new)
            for one in new:
                accounts.append(one)
                children[one], own[one] = [], Fraction(0)
        for one in accounts:
            assert one._spent.epsilon >= truth(one)
            assert one.spent <= one._limit.epsilon
    for one in reversed(accounts):
        if isinstance(one, Reservation):
            one.end()
    assert root.spent == root._spent.epsilon <= 2
    assert root.reservations == {}


# ---- side by side ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shared", [True, False], ids=["one ledger", "a ledger each"])
def test_of_ten_threads_exactly_six_have_room(ledger: Ledger, path: Path, shared: bool) -> None:
    together, outcomes, said = threading.Barrier(10), list[str](), list[str]()

    def work() -> None:
        mine = ledger if shared or not path.exists() else Ledger(journal=path)
        together.wait()
        try:
            with mine.reserve(0.3, "fit") as fit:
                for _ in range(3):
                    fit.charge(0.1, "count")
            outcomes.append("done")
        except BudgetExceeded as refusal:
            said.append(str(refusal))
            outcomes.append("refused")

    threads = [threading.Thread(target=work) for _ in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["done"] * 6 + ["refused"] * 4
    assert all("nothing was charged or released" in refusal for refusal in said)
    assert ledger.spent == Fraction(9, 5)


def test_without_reservations_the_same_threads_spoil_each_other() -> None:
    """The planted fault: check for room, then spend. All ten begin, and some are refused with charges behind them."""
    ledger = Ledger(2)
    begun = [i for i in range(10) if ledger.remaining >= Fraction(3, 10)]
    finished = set(begun)
    for _ in range(3):
        for i in begun:
            try:
                ledger.charge(0.1, "count")
            except BudgetExceeded:
                finished.discard(i)
    assert len(finished) < 6
    assert ledger.spent > Fraction(9, 5)


# ---- after a crash --------------------------------------------------------------------------------------------------


def test_after_a_crash_all_of_it_counts_until_it_is_settled(path: Path) -> None:
    Ledger(2, journal=path)
    crash(path, 0.25, 0.25, reserved=1)
    ledger = Ledger(journal=path)
    assert (ledger.spent, list(ledger.reservations), ledger.is_running(1)) == (1, [1], False)
    for wrong, says in ((0.4, "is not in between"), (1.5, "is not in between"), (-1, "negative")):
        with pytest.raises(ParameterError, match=says):
            ledger.settle_reservation(1, wrong)
    with pytest.raises(ParameterError, match=r"not ended \(1\), not 2"):
        ledger.settle_reservation(2, 1)
    ledger.settle_reservation(1, 0.6)
    for known in (ledger, Ledger(journal=path)):
        assert (known.spent, known.reservations) == (Fraction(3, 5), {})
        assert "reservation 1 (fit of exact) was not ended; its cost is what the owner stated" in str(
            known.certificate()
        )
        assert sum(charge.adds for charge in known.certificate().charges) == known.certificate().epsilon
    with pytest.raises(ParameterError, match="there are none"):
        ledger.settle_reservation(1, 1)
    assert os.listdir(path.parent) == ["journal"], "the lock file of the crash is gone"
    assert examine(path).unread == ()


def test_an_analysts_reservation_is_settled_for_the_analyst(path: Path) -> None:
    Ledger(2, journal=path).analyst("ann", 1)
    in_a_fork(lambda: (Ledger(journal=path).analyst("ann").reserve(1, "fit").charge(0.25, "count"), os._exit(0)))
    ledger = Ledger(journal=path)
    assert ledger.analyst("ann").remaining == 0
    ledger.settle_reservation(1, 0.25)
    assert ledger.analyst("ann").remaining == Fraction(3, 4)


def test_it_is_not_settled_while_its_holder_lives(ledger: Ledger, path: Path) -> None:
    fit = ledger.reserve(1, "fit")
    owner = Ledger(journal=path) if path.exists() else ledger
    with pytest.raises(ReservationError, match="still at work"):
        owner.settle_reservation(1, 0)
    if path.exists():
        assert in_a_fork(lambda: Ledger(journal=path).settle_reservation(1, 0)) == "ReservationError"
        link = path.with_name("another name")
        link.symlink_to(path)
        with pytest.raises(ReservationError):
            Ledger(journal=link).settle_reservation(1, 0)
    del fit
    gc.collect()
    owner.settle_reservation(1, 0)
    assert owner.remaining == 2


def test_a_fork_neither_holds_nor_ends_it(path: Path) -> None:
    ledger = Ledger(2, journal=path)
    reader, writer = os.pipe()
    holder = os.fork()
    if holder == 0:
        try:
            fit = Ledger(journal=path).reserve(1, "fit")
            if os.fork() == 0:
                os.read(reader, 1)  # lives on when its parent is dead, and unwinds its blocks then
                fit.end()
                os._exit(0)
        finally:
            os._exit(0)
    os.waitpid(holder, 0)
    assert not ledger.is_running(1), "the child of the holder is not the holder"
    os.write(writer, b".")
    assert list(ledger.reservations) == [1], "nor may it give anything back"
    ledger.settle_reservation(1, 0)
    os.close(reader)
    os.close(writer)


def test_a_charge_after_the_settlement_is_refused_by_the_journal(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The lock is a courtesy: if it fails, nothing is spent twice."""
    ledger = Ledger(2, journal=path)
    fit = ledger.reserve(1, "fit")
    fit.charge(0.25, "count")
    monkeypatch.setattr("privet.privacy.claims.Claim.is_held", lambda self: False)
    Ledger(journal=path).settle_reservation(1, 0.25)
    with pytest.raises(ReservationError, match="has ended"):
        fit.charge(0.25, "count")
    fit.end()
    assert ledger.remaining == Fraction(7, 4)
    assert examine(path).unread == ()


@pytest.mark.parametrize("torn", [b'{"reservation": 1, "adds": "1/', b'{"reserv', b"????\n"])
def test_a_line_that_may_hide_a_charge_leaves_nothing_to_guess(path: Path, torn: bytes) -> None:
    Ledger(3, journal=path)
    crash(path, 0.25, reserved=1)
    with path.open("ab") as file:
        file.write(torn)
    ledger = Ledger(journal=path)
    with pytest.raises(ParameterError, match="may hold a charge of reservation 1"):
        ledger.settle_reservation(1, 0.5)
    ledger.settle_reservation(1, 1)
    covered = torn.startswith(b'{"reservation')
    assert ledger.spent == (1 if covered else 3), "what a reservation covers costs nothing more"


def test_every_cut_of_a_reservations_records_counts_in_full(path: Path, tmp_path: Path) -> None:
    """A power cut may leave any prefix: never less than was reserved while it is open, never more after its record."""
    ledger = Ledger(2, journal=path)
    ends = [len(path.read_bytes())]
    with ledger.reserve(1, "fit") as fit:
        ends.append(len(path.read_bytes()))
        fit.charge(0.25, "count")
        ends.append(len(path.read_bytes()))
    whole = path.read_bytes()
    amount = whole.index(b'"adds": "1"') + len(b'"adds": "1"')
    for end in range(ends[0] + 1, len(whole) + 1):
        cut = tmp_path / f"cut at {end}"
        cut.write_bytes(whole[:end])
        spent = Ledger(journal=cut).spent
        started = end - max(ends[i] for i in range(3) if ends[i] < end)  # bytes of the last line
        if end < amount or (end > ends[1] and started < len(b'{"reservation": ')):
            assert spent == 2, "not even the kind of the line is known"
        else:
            assert spent == (Fraction(1, 4) if end >= len(whole) - 1 else 1)


# ---- trouble --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("when", ["reserve", "end"])
def test_a_full_disk(path: Path, monkeypatch: pytest.MonkeyPatch, when: str) -> None:
    ledger, write = Ledger(2, journal=path), Journal._append_bytes

    def full(self: Journal, data: bytes) -> None:
        raise JournalError("cannot write the journal: No space left on device")

    act: Callable[[], object] = lambda: ledger.reserve(1, "fit")  # noqa: E731
    if when == "end":
        fit = ledger.reserve(1, "fit")
        act = fit.end
    monkeypatch.setattr(Journal, "_append_bytes", full)
    with pytest.raises(JournalError, match="No space left" if when == "reserve" else "counts as spent until the owner"):
        act()
    monkeypatch.setattr(Journal, "_append_bytes", write)
    assert ledger.spent == (0 if when == "reserve" else 1)
    if when == "end":
        fit.end()  # the disk has room again
    assert ledger.spent == 0
    assert os.listdir(path.parent) == ["journal"]


def test_a_new_journal_with_work_in_it_is_not_discarded(path: Path) -> None:
    ours = Ledger(2, journal=path)
    theirs = Ledger(journal=path).reserve(1, "fit")
    ours.discard_unused()
    theirs.charge(0.5, "count")
    theirs.end()
    assert Ledger(journal=path).spent == Fraction(1, 2)


def test_lock_files_of_crashes_go_with_the_next_reservation(path: Path) -> None:
    Ledger(9, journal=path)
    for _ in range(3):
        crash(path)
    assert sorted(os.listdir(path.parent)) == [".journal.3.lock", "journal"]
    with Ledger(journal=path).reserve(1, "fit"):
        assert sorted(os.listdir(path.parent)) == [".journal.4.lock", "journal"]
    assert os.listdir(path.parent) == ["journal"]
