"""Calls of compiled code that Ctrl-C cannot break.

Python runs a signal's handler in the main thread at the next step of any Python code. Two parts of numba take Python
steps in the middle of machine code without checking for errors: loading a compiled function, and wrapping an array that
it returns. A KeyboardInterrupt raised there is lost, or crashes the interpreter. So a kernel here writes into given
arrays and returns only numbers. It is loaded in a thread that gets no signals.

Numba compiles a kernel at its first call on a machine, and caches it on disk. A message at a terminal says so, once.
``privet.recipes.compiling.compile_all`` compiles all kernels beforehand.

Long loops are cut into chunks for several threads (a kernel releases the interpreter's lock while it runs). An
interrupt is noticed between two chunks, and raised only when all threads have stopped.
"""

from __future__ import annotations

import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

Kernel = Callable[..., Any]

CHUNKS = 16  # for each thread: cheap, and enough for threads to end together and for Ctrl-C to be noticed

GRAIN = 2**17  # simple operations, a tenth of a millisecond; another thread pays only for more

PATIENCE = 0.5  # seconds; compiling takes longer, and reading a compiled kernel from disk does not
COMPILING = "privet: compiling for this machine. Only a first fit waits for this, some seconds."

_kernels: list[Kernel] = []
_loaded: set[tuple[Any, ...]] = set()
_announced: list[str] = []
_here = threading.local()


def kernel(function: Kernel | None = None, **options: Any) -> Any:
    """A decorator for functions that :func:`call` and :func:`spread` run: compile with numba, and register.

    Functions that only kernels call have numba's own decorator. ``options`` are numba's.
    """
    if function is None:
        return partial(kernel, **options)
    from numba import njit

    made = njit(cache=True, nogil=True, **options)(function)
    _kernels.append(made)
    return made


def not_called() -> list[str]:
    """The registered kernels that this process has not called yet, as ``module.function``."""
    called = {key[0] for key in _loaded}
    return [f"{one.__module__}.{one.__name__}" for one in _kernels if one not in called]


def thread_count() -> int:
    """The number of threads for :func:`spread`: the processors that numba may use (``NUMBA_NUM_THREADS``)."""
    from numba import config

    return int(getattr(_here, "most", None) or config.NUMBA_NUM_THREADS)


def limit_threads(most: int | None) -> None:
    """Use at most so many threads from now on, for work started by this thread; None removes the limit."""
    _here.most = most


@contextmanager
def threads(most: int) -> Iterator[None]:
    """Use at most so many threads inside the block.

    >>> with threads(1):
    ...     thread_count()
    1
    """
    before = getattr(_here, "most", None)
    limit_threads(most)
    try:
        yield
    finally:
        limit_threads(before)


def call(kernel: Kernel, *arguments: Any) -> Any:
    """``kernel(*arguments)``. It may return a number or nothing, but no array."""
    key = _types(kernel, arguments)
    if key not in _loaded:
        result = _elsewhere(kernel, arguments)
        _loaded.add(key)
        return result
    return kernel(*arguments)


def spread(kernel: Kernel, count: int, *arguments: Any, least: int = 1) -> None:
    """``kernel(start, stop, *arguments)`` over all of ``range(count)``, in chunks, on :func:`thread_count` threads.

    Chunks run in any order, so a kernel writes only what belongs to its own range. Only the last chunk may be smaller
    than ``least``.
    """
    if thread_count() == 1 or count <= least:
        call(kernel, 0, count, *arguments)
        return
    share(lambda start, stop: call(kernel, start, stop, *arguments), count, least)


def share(work: Callable[[int, int], None], count: int, least: int = 1) -> None:
    """``work(start, stop)`` over all of ``range(count)``, as in :func:`spread`.

    Work is Python that calls kernels by :func:`call`. A loop inside it stays on its thread.
    """
    workers = min(thread_count(), -(-count // least))
    size = max(least, count // (CHUNKS * workers)) if workers > 1 else max(count, 1)
    left = deque((start, min(start + size, count)) for start in range(0, count, size))
    failures: list[BaseException] = []

    def take_part() -> None:
        while (chunk := _next(left)) is not None:
            work(*chunk)

    def help_out() -> None:
        limit_threads(1)
        try:
            take_part()
        except BaseException as failure:
            left.clear()
            failures.append(failure)

    helpers = [threading.Thread(target=help_out) for _ in range(min(workers, len(left)) - 1)]
    try:
        for helper in helpers:
            helper.start()
        with threads(1):
            take_part()
    finally:
        _wait_for(helpers, left)  # on success there is nothing left to drop
    if failures:
        raise failures[0]


def _next(left: deque[tuple[int, int]]) -> tuple[int, int] | None:
    try:
        return left.popleft()
    except IndexError:  # another thread was quicker
        return None


def _elsewhere(kernel: Kernel, arguments: tuple[Any, ...]) -> Any:
    """The same call in a thread of its own, where Python raises no KeyboardInterrupt."""
    results: list[Any] = []
    failures: list[BaseException] = []

    def work() -> None:
        try:
            results.append(kernel(*arguments))
        except BaseException as failure:
            failures.append(failure)

    helper, compiled_before = threading.Thread(target=work), _compiled(kernel)
    try:
        helper.start()
        helper.join(PATIENCE)
        if helper.is_alive() and _compiled(kernel) > compiled_before:
            _tell()
    finally:
        _wait_for([helper])
    if failures:
        raise failures[0]
    return results[0]


def _compiled(kernel: Kernel) -> int:
    """How many versions of a kernel this process did not find on disk, including the one being compiled."""
    return sum(kernel.stats.cache_misses.values()) if hasattr(kernel, "stats") else 0


def _tell() -> None:
    """Print the message, at a terminal or in an interactive session only."""
    watched = sys.stderr is not None and (sys.stderr.isatty() or hasattr(sys, "ps1"))
    if watched and not _announced:
        _announced.append(COMPILING)
        print(COMPILING, file=sys.stderr, flush=True)


def _wait_for(helpers: list[threading.Thread], left: deque[tuple[int, int]] | None = None) -> None:
    """Drop the remaining work and wait until all threads have ended, however often Ctrl-C is pressed.

    The arrays they write to live that long.
    """
    interrupt: KeyboardInterrupt | None = None
    waiting = True
    while waiting:
        try:
            if left is not None:
                left.clear()
            for helper in helpers:
                if helper.is_alive():  # a thread that an interrupt kept from starting cannot be joined
                    helper.join()
            waiting = False
        except KeyboardInterrupt as pressed:
            interrupt = pressed
    if interrupt is not None:
        raise interrupt


def _types(kernel: Kernel, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """The argument types for which numba compiles one version."""
    return kernel, *(
        (value.dtype, value.ndim, value.flags.c_contiguous, value.flags.f_contiguous, value.flags.writeable)
        if hasattr(value, "dtype") and hasattr(value, "flags") and hasattr(value, "ndim")
        else type(value)
        for value in arguments
    )
