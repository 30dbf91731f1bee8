"""What interrupts a charge in its own thread, or forks it away, may look at the books and can never overspend."""

from __future__ import annotations

import fcntl
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import privet
from privet import Ledger
from privet.datasets.clinic import clinic
from privet.errors import JournalError, PrivacyError, ReceiptError
from privet.privacy.journal import Journal
from privet.privacy.losses import Loss
from privet.privacy.mechanisms import noisy_counts
from privet.privacy.records import Header, Note, Record
from privet.testing import ZeroNoise, use_noise


def is_free(path: Path) -> bool:
    """Whether another process could take the lock now."""
    file = os.open(path, os.O_RDWR)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    except OSError:
        return False
    finally:
        os.close(file)


@pytest.fixture
def on_alarm() -> Iterator[Callable[[Callable[[], object]], None]]:
    """Sets what happens when the timer fires; the handler that was there comes back."""
    before = signal.getsignal(signal.SIGALRM)
    yield lambda act: signal.signal(signal.SIGALRM, lambda *_: act()) and None
    signal.signal(signal.SIGALRM, before)


@pytest.fixture(params=["memory", "journal"])
def ledger(request: pytest.FixtureRequest, tmp_path: Path) -> Ledger:
    return Ledger(1, journal=tmp_path / "journal" if request.param == "journal" else None)


def test_the_lock_counts(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    journal = Journal(path, Header(Loss(1), privet.privacy.budget.Neighbours.ADD_REMOVE))
    with journal.locked():
        with journal.locked():
            assert not is_free(path)
        assert not is_free(path), "the inner one let go of the outer one's lock"
    assert is_free(path)


def test_printing_the_ledger_in_the_middle_of_a_charge_keeps_the_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, on_alarm: Any
) -> None:
    path, seen = tmp_path / "journal", list[object]()
    ledger, append = Ledger(1, journal=path), Journal.append

    def interrupted(self: Journal, *entry: Any) -> None:
        signal.raise_signal(signal.SIGALRM)  # between the check of the budget and the entry
        seen.append(is_free(path))
        append(self, *entry)

    on_alarm(lambda: seen.append(repr(ledger)))
    monkeypatch.setattr(Journal, "append", interrupted)
    ledger.charge(0.9, "mine")
    assert seen == ["<Ledger the data set's budget: epsilon 0 spent, 1 left, add-remove>", False]
    assert ledger.spent == Fraction(9, 10)


@pytest.mark.parametrize("act", ["charge", "caveat", "analyst", "lower"])
def test_a_handler_cannot_write_in_the_middle_of_a_charge(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch, on_alarm: Any, act: str
) -> None:
    acts: dict[str, Callable[[], object]] = {
        "charge": lambda: ledger.charge(0.9, "from the handler"),
        "caveat": lambda: ledger.add_caveat("from the handler"),
        "analyst": lambda: ledger.analyst("ann", 0.5),
        "lower": lambda: ledger.lower_cap(0.5),
    }
    check = Ledger._costs

    def interrupted(self: Ledger, *rest: Any) -> Any:
        costs = check(self, *rest)
        monkeypatch.undo()
        signal.raise_signal(signal.SIGALRM)  # the room was checked, and nothing is booked yet
        return costs

    on_alarm(acts[act])
    monkeypatch.setattr(Ledger, "_costs", interrupted)
    with pytest.raises(PrivacyError, match=r"a signal handler cannot charge .* set a flag"):
        ledger.charge(0.9, "mine")
    assert ledger.spent == 0
    ledger.charge(1, "the books are closed again")


def test_a_handler_that_opens_the_journal_again_does_not_wait_for_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, on_alarm: Any
) -> None:
    path, append = tmp_path / "journal", Journal.append
    ledger, other = Ledger(1, journal=path), Ledger(journal=path)

    def open_anew() -> None:
        for act in (lambda: Ledger(journal=path), lambda: other.charge(0.9, "from the handler")):
            with pytest.raises(JournalError, match=r"in the middle of a charge of this very thread.* set a flag"):
                act()

    def interrupted(self: Journal, *entry: Any) -> None:
        signal.raise_signal(signal.SIGALRM)
        append(self, *entry)

    on_alarm(open_anew)
    monkeypatch.setattr(Journal, "append", interrupted)
    ledger.charge(0.5, "mine")
    monkeypatch.undo()
    other.charge(0.5, "when the charge has returned")
    assert ledger.spent == Ledger(journal=path).spent == 1


def test_a_handler_that_gives_up_lets_the_charge_go_on(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch, on_alarm: Any
) -> None:
    def give_up() -> None:
        with pytest.raises(PrivacyError):
            ledger.charge(0.9, "from the handler")

    book = Ledger._book
    on_alarm(give_up)
    monkeypatch.setattr(Ledger, "_book", lambda self, entry: (signal.raise_signal(signal.SIGALRM), book(self, entry)))
    ledger.charge(0.9, "mine")
    monkeypatch.undo()
    assert ledger.spent == Fraction(9, 10)


def test_a_handler_that_looks_while_news_are_read_skips_and_doubles_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, on_alarm: Any
) -> None:
    path = tmp_path / "journal"
    ours, theirs = Ledger(1, journal=path), Ledger(journal=path)
    for _ in range(5):
        theirs.charge(0.125, "theirs")
    book = Ledger._book
    on_alarm(lambda: ours.spent)
    monkeypatch.setattr(Ledger, "_book", lambda self, entry: (book(self, entry), signal.raise_signal(signal.SIGALRM)))
    assert ours.spent == Fraction(5, 8)
    monkeypatch.undo()
    assert ours.spent == Ledger(journal=path).spent == Fraction(5, 8)


def test_a_handler_cannot_ask_a_level_in_the_middle_of_a_question(
    monkeypatch: pytest.MonkeyPatch, on_alarm: Any
) -> None:
    # It would move the peak, and the interrupted question would find itself paid for.
    schema, table = clinic(50)
    ledger = Ledger(1)
    level = privet.protect(table, schema, ledger).level()
    charge = Ledger._charge

    def interrupted(self: Ledger, *rest: Any) -> Any:
        monkeypatch.undo()
        signal.raise_signal(signal.SIGALRM)
        return charge(self, *rest)

    on_alarm(lambda: level.count_all(0.5))
    monkeypatch.setattr(Ledger, "_charge", interrupted)
    with use_noise(ZeroNoise()):
        with pytest.raises(PrivacyError, match="in the middle of a question"):
            level.count_all(0.5)
        assert ledger.spent == 0
        assert level.count_all(0.5).tolist() == [50]
    assert ledger.spent == Fraction(1, 2)


# ---- forks and threads --------------------------------------------------------------------------------------------


def test_a_receipt_is_not_good_in_a_forked_process() -> None:
    receipt = Ledger(1).charge(0.5, "count")
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            receipt.redeem()
            os.write(writer, b"released")
        except ReceiptError as error:
            os.write(writer, str(error).encode())
        finally:
            os._exit(0)
    os.close(writer)
    os.waitpid(child, 0)
    with os.fdopen(reader) as pipe:
        assert "belongs to another process" in pipe.read()
    assert receipt.redeem() == Fraction(1, 2)


def test_a_fork_in_the_middle_of_a_charge_does_not_append(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal", Header(Loss(1), privet.privacy.budget.Neighbours.ADD_REMOVE))
    journal._owner = -1  # as the child sees it
    with pytest.raises(JournalError, match="the process that forked this one"):
        journal.append(Record(Note("dataset", "clinic")))


def test_threads_redeem_a_receipt_once() -> None:
    for _ in range(20):
        receipt, released, start = Ledger(1).charge(0.5, "count"), list[int](), threading.Barrier(4)

        def ask(receipt: Any = receipt, released: list[int] = released, start: threading.Barrier = start) -> None:
            start.wait()
            with suppress(ReceiptError):
                released.extend(noisy_counts(np.array([7]), receipt).tolist())

        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(released) == 1
