"""Compiled loops on several threads: every item once, and interrupts that wait for the threads."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from numba import njit

import privet
from privet.structure import compiled


@njit(nogil=True)
def count_up(start, stop, seen):
    for i in range(start, stop):
        seen[i] += 1


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize(("count", "least"), [(0, 1), (1, 1), (2, 1), (7, 3), (1000, 1), (1001, 10), (10, 100)])
def test_every_item_once(threads: int, count: int, least: int) -> None:
    seen = np.zeros(count, dtype=np.int64)
    with compiled.threads(threads):
        compiled.spread(count_up, count, seen, least=least)
    assert (seen == 1).all()


def test_limits_are_of_a_thread_and_end_with_the_block() -> None:
    before = compiled.thread_count()
    with compiled.threads(3):
        assert compiled.thread_count() == 3
        told: list[int] = []
        other = threading.Thread(target=lambda: told.append(compiled.thread_count()))
        other.start()
        other.join()
        assert told == [before]
    assert compiled.thread_count() == before


def test_a_failure_of_a_helper_is_raised_when_all_have_ended() -> None:
    at_work = []

    def kernel(start: int, stop: int) -> None:
        at_work.append(threading.current_thread())
        if threading.current_thread() is not threading.main_thread() and start > 0:
            raise MemoryError("no room")
        time.sleep(0.001)

    with compiled.threads(4), pytest.raises(MemoryError, match="no room"):
        compiled.spread(kernel, 1000)
    assert not any(thread.is_alive() for thread in at_work if thread is not threading.main_thread())


def test_a_loop_inside_a_loop_stays_on_its_thread() -> None:
    seen, counts = np.zeros(64, dtype=np.int64), []

    def work(start: int, stop: int) -> None:
        counts.append(compiled.thread_count())
        compiled.spread(count_up, stop - start, seen[start:stop])

    with compiled.threads(3):
        compiled.share(work, 64)
        assert compiled.thread_count() == 3
    assert (seen == 1).all()
    assert set(counts) == {1}


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("error", [IndexError, ValueError, KeyboardInterrupt])
def test_what_work_raises_is_raised(threads: int, error: type[BaseException]) -> None:
    """An IndexError too, which also says that no chunk is left."""

    def work(start: int, stop: int) -> None:
        if start <= 500 < stop:
            raise error

    with compiled.threads(threads), pytest.raises(error):
        compiled.share(work, 1000)


class Slow:
    """A kernel that takes its time, because it is compiled (a version was not found on disk) or because it works."""

    def __init__(self, compiles: bool) -> None:
        self.compiles, self.stats = compiles, SimpleNamespace(cache_misses={})

    def __call__(self) -> None:
        if self.compiles:
            self.stats.cache_misses["a signature"] = 1
        time.sleep(0.1)


@pytest.mark.parametrize(("compiles", "terminal"), [(True, True), (True, False), (False, True)])
def test_compiling_is_announced_once_at_a_terminal(
    compiles: bool, terminal: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(compiled, "PATIENCE", 0.01)
    monkeypatch.setattr(compiled, "_announced", [])
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    for _ in range(2):
        compiled.call(Slow(compiles))
    out, err = capsys.readouterr()
    assert (out, err) == ("", compiled.COMPILING + "\n" if compiles and terminal else "")


SCRIPT = """
import math, os, signal, sys, threading, time
import numpy as np
from numba import njit
from privet.structure import compiled

@njit(nogil=True)
def work(start, stop, rounds, seen):
    for i in range(start, stop):
        x = float(i)
        for _ in range(rounds):  # a sine after another: nothing that a compiler could make short
            x = math.sin(x + 1.0)
        seen[i] = 1 + int(x > 2.0)

def press():
    time.sleep(0.1)
    for _ in range(int(sys.argv[1])):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.01)

seen = np.zeros(64, dtype=np.int64)
compiled.spread(work, 64, 10, seen)  # loaded
seen[:] = 0
hand = threading.Thread(target=press)
try:
    with compiled.threads(2):
        hand.start()
        compiled.spread(work, 64, 6_000_000, seen)  # some seconds
except KeyboardInterrupt:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    after = seen.copy()
hand.join()
time.sleep(0.3)
assert threading.active_count() == 1
assert 0 < np.count_nonzero(after) < 64, "it was not interrupted"
assert np.array_equal(seen, after), "somebody wrote on"
"""


@pytest.mark.parametrize("presses", [1, 5])
def test_an_interrupt_is_raised_after_all_threads_have_stopped(presses: int) -> None:
    """In a process of its own: Ctrl-C would end the tests. A chunk takes far longer than five presses."""
    source = Path(privet.__file__).parents[1]
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(presses)],
        env={**os.environ, "PYTHONPATH": str(source)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
