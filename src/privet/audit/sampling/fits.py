"""Fits: call what is audited many times, here or in other processes, and keep what it released as tokens."""

from __future__ import annotations

import pickle
import signal
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Any

from privet.audit.sampling.flattening import add_text
from privet.audit.sampling.pairs import Table
from privet.audit.sampling.tokens import Tokens, raised, seal, tokens_of
from privet.errors import ParameterError
from privet.structure.compiled import limit_threads

CHUNK = 0.5  # seconds of fits between two looks at the clock
MOST = 500  # fits of a chunk


@dataclass(frozen=True)
class Fitter:
    """One fit of what is audited: ``make()`` and then ``fit(X, y)``, or with ``function`` simply ``make(X, y)``."""

    make: Callable[..., Any]
    function: bool = False

    def __call__(self, table: Table, probes: Any = None) -> Tokens:
        """The tokens of one fit, with its warnings and errors: those are released like the model."""
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            try:
                if self.function:
                    found = tokens_of(self.make(*table), probes)
                else:
                    model = self.make()
                    returned = model.fit(*table)
                    found = tokens_of(model, probes, None if returned is model else returned)
            except Exception as error:
                found = raised(error)
        if not seen:
            return found
        tokens = dict(zip(found.names, found.values.tolist(), strict=True))
        for one in seen:
            add_text(tokens, f"warns {one.category.__name__}", str(one.message))
        return seal(tokens)


def fit_many(fitter: Fitter, table: Table, probes: Any, count: int) -> tuple[list[Tokens], float]:
    """The tokens of ``count`` fits, and the processor time they took."""
    start = time.process_time()
    fits = [fitter(table, probes) for _ in range(count)]
    return fits, time.process_time() - start


class Crew:
    """The processes that fit: this one, or several workers. A context manager."""

    def __init__(self, fitter: Fitter, processes: int = 1) -> None:
        if isinstance(processes, bool) or not isinstance(processes, int) or processes < 1:
            raise ParameterError(parameter="processes", problem="must be a whole number from 1 on")
        if not callable(fitter.make):
            what = "a function of (X, y)" if fitter.function else "a function without arguments that makes an object"
            raise ParameterError(parameter="make", problem="must be callable", fix=f"give {what}")
        self.fitter, self.processes = fitter, processes
        self.cpu = 0.0
        self._pool: ProcessPoolExecutor | None = None
        self._each = 0.0  # seconds of a fit, as measured
        self._chunks = 0

    def __enter__(self) -> Crew:
        if self.processes > 1:
            try:
                pickle.dumps(self.fitter)
            except Exception as error:
                fix = "define it at the top of a module, or set processes to 1"
                problem = f"cannot be sent to other processes ({type(error).__name__})"
                raise ParameterError(parameter="make", problem=problem, fix=fix) from None
            # Spawned, not forked: compiled kernels and their threads do not survive a fork.
            self._pool = ProcessPoolExecutor(self.processes, get_context("spawn"), _settle_in)
        return self

    def __exit__(self, *error: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def fits(self, table: Table, probes: Any, count: int) -> Iterator[list[Tokens]]:
        """``count`` fits of a table, in chunks of about half a second. Closing the iterator drops what is under way."""
        left = count
        if self._pool is None:
            while left:
                some = min(left, self._chunk())
                started = time.perf_counter()
                fits, cpu = fit_many(self.fitter, table, probes, some)
                self._note(time.perf_counter() - started, some, cpu)
                left -= some
                yield fits
            return
        waiting: dict[Future[Any], tuple[int, float]] = {}
        try:
            while left or waiting:
                while left and len(waiting) < 2 * self.processes:
                    some = min(left, self._chunk())
                    with _interrupts_held():  # workers start here and inherit it: Ctrl-C is the parent's business
                        future = self._pool.submit(fit_many, self.fitter, table, probes, some)
                    waiting[future] = some, time.perf_counter()
                    left -= some
                for future in wait(waiting, return_when=FIRST_COMPLETED).done:
                    some, _ = waiting.pop(future)
                    fits, cpu = future.result()
                    self._note(cpu, some, cpu)
                    yield fits
        finally:
            for future in waiting:
                future.cancel()

    @property
    def seconds_each(self) -> float:
        """Seconds of a fit, all processes working."""
        return self._each / self.processes

    def _chunk(self) -> int:
        return max(1, min(MOST, int(CHUNK / self._each))) if self._each else 1

    def _note(self, seconds: float, fits: int, cpu: float) -> None:
        self.cpu += cpu
        each = seconds / fits
        # The first fit loads and compiles, and says little about others.
        self._each = each if self._chunks < 2 else 0.5 * self._each + 0.5 * each
        self._chunks += 1


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
    """In a worker: one thread, for the other cores have work too."""
    limit_threads(1)
