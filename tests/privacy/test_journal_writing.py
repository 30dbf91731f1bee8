"""Trouble while a journal is read or written: on disk before noise is drawn, or nothing is released."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from privet import Ledger
from privet.errors import BudgetExceeded, JournalError, PrivetError
from privet.privacy import journal as journal_module
from privet.privacy.mechanisms import noisy_counts
from privet.testing import ZeroNoise, use_noise


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal"


class Disk:
    """`os`, with a write that fails or stops half-way when told to."""

    def __init__(self) -> None:
        self.fault: str | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(os, name)

    def write(self, file: int, data: bytes) -> int:
        if self.fault == "full":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return os.write(file, data[: len(data) // 2] if self.fault == "short" and len(data) > 1 else data)

    def fsync(self, file: int) -> None:
        if self.fault == "fsync":
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        os.fsync(file)


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    disk = Disk()
    monkeypatch.setattr(journal_module, "os", disk)
    return disk


class Spy(ZeroNoise):
    def __init__(self) -> None:
        super().__init__()
        self.calls = 0

    def laplace(self, values: Any, scale: float) -> Any:
        self.calls += 1
        return super().laplace(values, scale)


@pytest.mark.parametrize(
    ("fault", "says", "spent"),
    [
        ("full", "No space left", 0),
        ("short", "only part of a record", Fraction(1, 4)),
        ("fsync", "Input/output", Fraction(1, 4)),
    ],
)
def test_a_charge_that_does_not_reach_the_disk_releases_nothing(
    path: Path, disk: Disk, fault: str, says: str, spent: Fraction
) -> None:
    ledger, spy = Ledger(1, journal=path), Spy()
    with use_noise(spy):
        disk.fault = fault
        with pytest.raises(JournalError, match=f"{says}.*nothing released"):
            noisy_counts(np.array([7]), ledger.charge(0.25, "count"))
        disk.fault = None
        assert spy.calls == 0
        assert ledger.spent == Ledger(journal=path).spent == spent, "what may be on disk counts"
        noisy_counts(np.array([7]), ledger.charge(0.5, "count"))
    assert Ledger(journal=path).spent == spent + Fraction(1, 2)


@pytest.mark.parametrize("fault", ["full", "short", "fsync"])
def test_a_part_does_not_profit_from_a_charge_that_failed(path: Path, disk: Disk, fault: str) -> None:
    # Were the part booked before the journal, its sibling would ride on a maximum that nobody paid.
    ledger = Ledger(1, journal=path)
    left, right = ledger.reserve(1, "fit")._parallel(2)
    disk.fault = fault
    with pytest.raises(JournalError):
        left.charge(0.25, "count")
    disk.fault = None
    right.charge(0.25, "count")
    assert left.spent == 0
    assert right.spent == Fraction(1, 4)
    assert Ledger(journal=path).spent >= Fraction(1, 4)


@pytest.mark.parametrize("at", range(6))
def test_an_interrupt_while_reading_skips_nothing(path: Path, monkeypatch: pytest.MonkeyPatch, at: int) -> None:
    ours, theirs = Ledger(1, journal=path), Ledger(journal=path)
    for _ in range(3):
        theirs.analyst("ann", 1).charge(0.125, "count")
    real, calls = Ledger._book, 0

    def interrupted(self: Ledger, entry: Any) -> None:
        nonlocal calls
        calls += 1
        if calls == at + 1:
            raise KeyboardInterrupt
        real(self, entry)

    monkeypatch.setattr(Ledger, "_book", interrupted)
    with pytest.raises(KeyboardInterrupt):
        ours.charge(0.125, "count")
    monkeypatch.undo()
    assert ours.spent >= Fraction(3, 8)
    assert ours.analyst("ann", 1).spent >= Fraction(3, 8)
    with pytest.raises(BudgetExceeded):
        ours.charge(0.75, "more than is left")


def test_the_record_is_on_disk_when_noise_is_drawn(path: Path) -> None:
    seen: list[tuple[int, Fraction]] = []

    class Reader(ZeroNoise):
        def laplace(self, values: Any, scale: float) -> Any:
            records = [json.loads(line) for line in path.read_text().splitlines()]
            charges = [record for record in records if "what" in record]
            seen.append((len(charges), sum((Fraction(record["adds"]) for record in charges), Fraction(0))))
            return super().laplace(values, scale)

    ledger = Ledger(1, journal=path)
    with use_noise(Reader()):
        for i in range(1, 5):
            noisy_counts(np.array([7]), ledger.charge(0.125, "count"))
            assert seen[-1] == (i, i * Fraction(1, 8))


def test_the_record_is_synced_before_the_receipt_exists(
    path: Path, disk: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    order: list[str] = []

    def noted(name: str) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            order.append(name)
            return getattr(os, name)(*arguments)

        return call

    for name in ("write", "fsync"):
        monkeypatch.setattr(disk, name, noted(name))
    ledger = Ledger(1, journal=path)
    assert order == ["write", "fsync", "fsync"], "the header, then the folder that names the file"
    order.clear()
    receipt = ledger.charge(0.5, "count")
    assert order == ["write", "fsync"]
    assert receipt.epsilon == Fraction(1, 2)


def test_journals_are_closed_when_unreferenced(path: Path) -> None:
    open_files = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else None
    if open_files is None:
        pytest.skip("no /proc on this platform")
    for _ in range(20):
        Ledger(1, journal=path)
        with pytest.raises(PrivetError):
            Ledger(2, journal=path)
    assert len(os.listdir("/proc/self/fd")) <= open_files + 1
