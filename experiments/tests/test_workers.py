"""Work shared out among processes comes back whole."""

from __future__ import annotations

import math
import time

import pytest

from privet_experiments.workers import share_out


@pytest.mark.parametrize("processes", [1, 2])
def test_every_job_is_done_once(processes: int) -> None:
    told: list[tuple[int, int]] = []
    jobs = [(n, 2) for n in range(7)]
    done = list(share_out(math.comb, jobs, processes, lambda *at: told.append(at)))
    assert sorted(done) == sorted(math.comb(*job) for job in jobs)
    assert told == [(i, 7) for i in range(1, 8)]


@pytest.mark.parametrize("processes", [1, 2])
def test_a_failure_comes_back(processes: int) -> None:
    with pytest.raises(ValueError):
        list(share_out(math.sqrt, [(4,), (-1,), (9,)], processes))


def test_nothing_to_do() -> None:
    assert list(share_out(math.sqrt, [])) == []


def test_a_closed_reader_does_not_wait_for_the_rest() -> None:
    """What Ctrl-C does. All jobs together would take at least 30 s; a few and the start of two processes do not."""
    start = time.monotonic()
    answers = share_out(time.sleep, [(0.2,)] * 300, 2)
    next(answers)
    answers.close()  # type: ignore[attr-defined]
    assert time.monotonic() - start < 25
