"""Work shared out among processes.

Keep the pieces small: progress shows after each, and an interrupt waits for those that are being worked on."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from multiprocessing import get_context
from typing import Any, TypeVar

from privet.structure.compiled import limit_threads

Result = TypeVar("Result")


def share_out(
    work: Callable[..., Result],
    jobs: Sequence[tuple[Any, ...]],
    processes: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Iterator[Result]:
    """``work(*job)`` for every job, in whatever order they finish. One process works in place."""
    count = min(processes or os.cpu_count() or 1, len(jobs))
    if count <= 1:
        for done, job in enumerate(jobs, 1):
            yield work(*job)
            if progress is not None:
                progress(done, len(jobs))
        return
    # Spawned, not forked: compiled kernels and their threads do not survive a fork.
    pool = ProcessPoolExecutor(count, get_context("spawn"), _settle_in)
    try:
        with _interrupts_held():  # workers start here and inherit it: Ctrl-C is the parent's business
            futures = [pool.submit(work, *job) for job in jobs]
        for done, future in enumerate(as_completed(futures), 1):
            yield future.result()
            if progress is not None:
                progress(done, len(jobs))
    finally:
        # Not `with pool`, whose own shutdown would take the cancelling back.
        pool.shutdown(cancel_futures=True)


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Keep SIGINT waiting until the end of the block, where the platform can."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _settle_in() -> None:
    """In a worker: count with one thread, for the other cores have work too."""
    limit_threads(1)
