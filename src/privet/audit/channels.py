"""The side channels of a fit: warnings, log records, printed text, progress, and declared public facts.

The person who runs a fit sees these, so they are released like the model. What mechanisms declare as public is not
shown, but must not depend on a record either. A channel is a context manager that takes a function and calls it with
every event. To watch another channel, add it to :data:`CHANNELS`. The user sees none of these events.

Not watched: timing, memory, files, what compiled code writes past Python's own streams, and threads that were there
before the fit, such as those of a server or of a connection to Spark.
"""

from __future__ import annotations

import gc
import io
import logging
import sys
import threading
import warnings
from collections.abc import Callable, Hashable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any

from privet.audit.declared import declared

Listener = Callable[[Hashable], None]
Channel = Callable[[Listener], AbstractContextManager[None]]

COMPILER = "numba"  # logs what it compiles: types only, never values, and only the first time
STREAMS = ("stdout", "stderr", "__stdout__", "__stderr__")
PLAIN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime"}  # attributes of every log record


@contextmanager
def listening() -> Iterator[list[Hashable]]:
    """Collect all events inside the block, in order.

    >>> import logging, warnings
    >>> with listening() as released:
    ...     logging.getLogger("somewhere").debug("hello")
    ...     warnings.warn("mind the gap")
    >>> [event[:3] for event in released]
    [('log', 'somewhere', 'DEBUG'), ('warning', 'UserWarning', 'mind the gap')]
    """
    released: list[Hashable] = []
    with ExitStack() as stack:
        if gc.isenabled():  # a collection may warn about what was left open before, which is no event of this fit
            gc.disable()
            stack.callback(gc.enable)
        for channel in CHANNELS:
            stack.enter_context(channel(released.append))
        yield released


def _older_threads() -> frozenset[int | None]:
    """The threads that are there before a fit begins, less this one: they are not part of the fit."""
    return frozenset(thread.ident for thread in threading.enumerate()) - {threading.get_ident()}


@contextmanager
def warned(notice: Listener) -> Iterator[None]:
    """All Python warnings, every time, including those that filters would hide."""
    others = _older_threads()
    with warnings.catch_warnings():
        warnings.simplefilter("always")

        def show(
            message: Any, category: type[Warning], filename: str, lineno: int, file: Any = None, line: Any = None
        ) -> None:
            if category.__module__.partition(".")[0] != COMPILER and threading.get_ident() not in others:
                notice(("warning", category.__name__, str(message), lineno))

        warnings.showwarning = show
        yield


@contextmanager
def logged(notice: Listener) -> Iterator[None]:
    """Log records of every level and logger, including loggers that do not propagate or are disabled."""
    enabled, handle, others = logging.Logger.isEnabledFor, logging.Logger.handle, _older_threads()

    def is_other(logger: logging.Logger) -> bool:
        return logger.name.partition(".")[0] == COMPILER or threading.get_ident() in others

    def always(self: logging.Logger, level: int) -> bool:
        return enabled(self, level) if is_other(self) else True

    def take(self: logging.Logger, record: logging.LogRecord) -> None:
        if is_other(self):
            handle(self, record)
            return
        error = record.exc_info[1] if record.exc_info else None
        extra = sorted((name, repr(value)) for name, value in vars(record).items() if name not in PLAIN)
        notice(("log", record.name, record.levelname, record.getMessage(), error and described(error), tuple(extra)))

    logging.Logger.isEnabledFor, logging.Logger.handle = always, take  # type: ignore[method-assign]
    try:
        yield
    finally:
        logging.Logger.isEnabledFor, logging.Logger.handle = enabled, handle  # type: ignore[method-assign]


@contextmanager
def printed(notice: Listener) -> Iterator[None]:
    """Text written to Python's standard streams."""
    before = {name: getattr(sys, name) for name in STREAMS}
    for name, stream in before.items():
        setattr(sys, name, _Tape(name.strip("_"), notice, stream))
    try:
        yield
    finally:
        for name, stream in before.items():
            setattr(sys, name, stream)


class _Tape(io.TextIOBase):
    """A stream that reports its text. Older threads still write to the real stream."""

    def __init__(self, name: str, notice: Listener, stream: Any) -> None:
        self.buffer = _Bytes(self)
        self._name, self._notice, self._stream = name, notice, stream
        self._others = _older_threads()

    def write(self, text: str) -> int:
        if threading.get_ident() in self._others:
            return int(self._stream.write(text))
        self._notice((self._name, text))
        return len(text)

    def writable(self) -> bool:
        return True


class _Bytes(io.RawIOBase):
    def __init__(self, tape: _Tape) -> None:
        self._tape = tape

    def write(self, data: Any) -> int:
        self._tape.write(bytes(data).decode(errors="backslashreplace"))
        return len(data)

    def writable(self) -> bool:
        return True


_listeners: list[tuple[int, Listener]] = []


@contextmanager
def reported(notice: Listener) -> Iterator[None]:
    """Calls of :func:`progress`."""
    _listeners.append((threading.get_ident(), notice))
    try:
        yield
    finally:
        _listeners.pop()


def progress(done: int, total: int) -> None:
    """The progress callback for an audited fit.

    Calls from other threads are ignored: such a thread reports by the clock, and timing is not audited.
    """
    if _listeners and _listeners[-1][0] == threading.get_ident():
        _listeners[-1][1](("progress", f"{done} of {total}"))  # text: noise cannot explain other numbers


CHANNELS: tuple[Channel, ...] = (warned, logged, printed, reported, declared)


def described(error: BaseException) -> Hashable:
    """What a traceback shows of an error, with its causes and notes, but without the lines of code."""
    behind = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    notes = tuple(map(str, getattr(error, "__notes__", ())))
    return type(error).__name__, str(error), *notes, *((described(behind),) if behind is not None else ())
