"""A thousand kills, and several processes on one journal.

The journal must never show less than what was released. Workers are forked from a nursery, a process of its own that
has imported what they need and runs no threads (a fork of pytest itself would copy whatever threads it has).
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from privet import Ledger
from privet.errors import BudgetExceeded
from privet.privacy.mechanisms import noisy_counts

KILLS = 1_000
KILLS_PER_JOURNAL = 20  # each worker takes over what the one before left behind
MOST_REPORTS = 4  # a worker lives for 0 to 4 reports, and then for up to two queries' time
EPSILON = Fraction(1, 1000)
CAP = 10**6  # never reached
EXACT = np.array([3, 1, 4], dtype=np.int64)


def honest(ledger: Ledger, report: Callable[[], None]) -> None:
    noisy_counts(EXACT, ledger.charge(EPSILON, "count"))
    report()


def in_parts(ledger: Ledger, report: Callable[[], None]) -> None:
    for part in ledger._parallel(2):  # the second part is free
        noisy_counts(EXACT, part.charge(EPSILON, "count"))
    report()


def charges_late(ledger: Ledger, report: Callable[[], None]) -> None:
    """The planted fault: what diffprivlib does. The release goes out before the charge is on disk."""
    noisy_counts(EXACT, Ledger(1).charge(EPSILON, "count"))
    report()
    ledger.charge(EPSILON, "count")


WORK = {work.__name__: work for work in (honest, in_parts, charges_late)}


def one_kill(path: Path, work: Callable[..., None], reports: int, delay: float) -> int:
    """Fork a worker that queries in a loop, kill it ``delay`` seconds after so many reports; count all it released."""
    reader, writer = os.pipe()
    worker = os.fork()
    if worker == 0:
        os.close(reader)
        try:
            ledger = Ledger(journal=path)
            os.write(writer, b"ready\n")
            while True:
                work(ledger, lambda: os.write(writer, b"."))
        except BaseException:
            traceback.print_exc()  # or nobody would know why the worker ended by itself
            sys.stderr.flush()
        finally:
            os._exit(1)
    os.close(writer)
    with os.fdopen(reader, "rb", buffering=0) as pipe:
        assert pipe.read(6) == b"ready\n"
        for _ in range(reports):
            assert pipe.read(1) == b"."
        until = time.perf_counter() + delay
        while time.perf_counter() < until:
            pass  # sleep() is too coarse to hit every moment
        os.kill(worker, signal.SIGKILL)
        released = b"".join(iter(lambda: pipe.read(65536), b""))
    _, status = os.waitpid(worker, 0)
    assert os.WIFSIGNALED(status), "the worker ended by itself"
    return reports + len(released)


def kill_many(folder: Path, work: Callable[..., None], kills: int, *, stop_when_caught: bool = False) -> dict[str, int]:
    """Kill workers on a series of journals; compare each journal with what went out so far, after every kill."""
    trial, start = Ledger(CAP, journal=folder / "trial"), time.perf_counter()
    for _ in range(10):
        work(trial, lambda: None)
    longest = 2 * (time.perf_counter() - start) / 10
    clock = random.Random(0)
    found = dict.fromkeys(("kills", "released", "too little", "between", "too much", "unreadable"), 0)
    unreadable = False
    for i in range(kills):
        if i % KILLS_PER_JOURNAL == 0 or unreadable:  # all of an unreadable one counts as spent: no worker could go on
            path, shown = folder / f"journal {i}", Fraction(0)
            Ledger(CAP, journal=path)
        released = one_kill(path, work, clock.randint(0, MOST_REPORTS), clock.uniform(0, longest))
        before, shown = shown, Ledger(journal=path).spent
        charged = (shown - before) / EPSILON
        found["kills"] += 1
        found["released"] += released
        found["too little"] += charged < released
        found["between"] += charged == released + 1  # killed after the charge, before the report
        # A kill inside a write that crosses a page may leave less than an amount: then all counts as spent.
        unreadable = any("cannot be read" in caveat.text for caveat in Ledger(journal=path).certificate().caveats)
        found["unreadable"] += unreadable
        found["too much"] += charged > released + 1 and not unreadable
        if found["too little"] and stop_when_caught:
            break
    return found


def spend_together(folder: Path, amounts: list[str], analysts: bool, inherited: bool) -> dict[str, Any]:
    """Several processes, each spending its own amount until it is refused; what they spent, one by one."""
    path = folder / "shared"
    ledger, pipes = Ledger(1, journal=path), []
    for i, amount in enumerate(amounts):
        reader, writer = os.pipe()
        if os.fork() == 0:
            try:
                mine = ledger if inherited else Ledger(journal=path)
                account = mine.analyst(f"analyst {i}", 1) if analysts else mine
                while True:
                    noisy_counts(EXACT, account.charge(Fraction(amount), f"count of {i}"))
                    os.write(writer, b".")
            except BudgetExceeded:
                os._exit(0)
            finally:
                os._exit(1)
        os.close(writer)
        pipes.append(reader)
    counts = []
    for reader in pipes:
        with os.fdopen(reader, "rb") as pipe:
            counts.append(len(pipe.read()))
    codes = [os.waitstatus_to_exitcode(os.wait()[1]) for _ in amounts]
    return {"counts": counts, "codes": codes, "spent": str(ledger.spent), "again": str(Ledger(journal=path).spent)}


TASKS: dict[str, Callable[..., object]] = {
    "kill": lambda folder, work, *rest, **options: kill_many(folder, WORK[work], *rest, **options),
    "spend": spend_together,
}


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """In memory where there is such a place: a kill does not wait for a disk, and the moments lie closer together."""
    if os.access("/dev/shm", os.W_OK):
        with tempfile.TemporaryDirectory(dir="/dev/shm") as name:
            yield Path(name)
    else:
        yield tmp_path


def nursery(folder: Path, task: str, *arguments: Any, **options: Any) -> Any:
    """Run a task in a fresh process, out of reach of pytest's threads."""
    source = Path(sys.modules["privet"].__file__ or "").parents[1]
    done = subprocess.run(
        [sys.executable, __file__, str(folder), json.dumps([task, arguments, options])],
        env={**os.environ, "PYTHONPATH": str(source)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("kills", [200, pytest.param(KILLS, marks=pytest.mark.slow)])
def test_kills_never_leave_less_than_was_released(folder: Path, kills: int) -> None:
    found = nursery(folder, "kill", "honest", kills)
    assert found["kills"] == kills
    assert found["too little"] == 0
    assert found["too much"] == 0
    assert found["unreadable"] <= 3  # seen once in some thousand kills on a busy machine, hardly ever on a quiet one
    # The kills must come at telling moments, or the test proves nothing. Measured: a third do; were it only a quarter,
    # this would fail with a chance below 1e-12 of 200, and were it 15 %, with one below 1e-20 of 1,000.
    assert found["released"] > kills
    assert found["between"] > kills // 20


def test_nor_do_kills_among_parts(folder: Path) -> None:
    found = nursery(folder, "kill", "in_parts", 60)
    assert found["too little"] == found["too much"] == 0
    assert found["released"] > 60


def test_a_charge_after_the_release_is_caught_by_the_same_check(folder: Path) -> None:
    # A kill lands in the gap between report and charge with a chance of at least 3 % (measured: 30 %); 1,000 of them
    # all miss it, and this test fails without a fault in the check, with a chance below 1e-13.
    found = nursery(folder, "kill", "charges_late", KILLS, stop_when_caught=True)
    assert found["too little"] > 0


@pytest.mark.parametrize(
    ("analysts", "inherited"),
    [(False, False), (True, True)],
    ids=["one account, opened anew", "an analyst each, inherited by fork"],
)
@pytest.mark.parametrize("processes", [2, 4])
def test_processes_together_spend_exactly_the_cap(
    folder: Path, processes: int, analysts: bool, inherited: bool
) -> None:
    found = nursery(folder, "spend", ["1/200"] * processes, analysts, inherited)
    assert found["codes"] == [0] * processes
    assert sum(found["counts"]) == 200
    assert found["spent"] == found["again"] == "1"


def test_processes_with_different_amounts_never_overspend(folder: Path) -> None:
    amounts = ["1/7", "1/110", "3/130", "1/17"]
    found = nursery(folder, "spend", amounts, False, False)
    spent = sum(count * Fraction(amount) for count, amount in zip(found["counts"], amounts, strict=True))
    assert spent == Fraction(found["spent"]) == Fraction(found["again"])
    assert 1 - min(map(Fraction, amounts)) < spent <= 1, "something was left that somebody could have spent"


if __name__ == "__main__":
    noisy_counts(EXACT, Ledger(1).charge(EPSILON, "count"))  # loads OpenDP once, before the forks
    name, arguments, options = json.loads(sys.argv[2])
    print(json.dumps(TASKS[name](Path(sys.argv[1]), *arguments, **options)))
