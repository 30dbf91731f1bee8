"""Retry work in a database, on a cluster or on a disk, and raise errors that show no record."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from privet.errors import EngineError, PrivetError

T = TypeVar("T")

SOURCE_FAILED = (
    "the source failed while its records were read, and nothing was charged. Its own message is left out, as it can "
    "quote a record; look into the log of the database, and try again"
)
TRIES = 3  # queries only read, so they can be repeated


def attempt(work: Callable[[], T], failure: str, *, tries: int = TRIES, of: type[Exception] = Exception) -> T:
    """Return what ``work`` returns. If it fails ``tries`` times, raise ``EngineError`` with the text ``failure``.

    The original error can quote a record. It is dropped, and not even kept as the error's context.

    >>> attempt(lambda: int("a private cell"), "the database failed")
    Traceback (most recent call last):
    privet.errors.EngineError: the database failed
    """
    for _ in range(tries):
        try:
            return work()
        except PrivetError:
            raise
        except of:
            pass
    raise EngineError(failure)
