"""Claims: how one process knows that the holder of a reservation in another one still runs.

A locked file beside the journal. The system releases the lock when the process ends, in any way. The promise
does not rest on it: a charge on a reservation that was settled is refused by the journal itself.
"""

from __future__ import annotations

import os
import weakref
from contextlib import suppress
from pathlib import Path

from privet.errors import JournalError


class Claim:
    """A lock on a file of its own, made by ``take``. Take, look and drop while the journal is locked."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: int | None = None

    def take(self) -> None:
        import fcntl

        try:
            self._file = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600)
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self.close()
            raise JournalError(f"cannot lock {self.path}: {error.strerror}; nothing was reserved") from error
        _taken.add(self)

    def is_held(self) -> bool:
        """Whether a living process has it. A file that nobody locks was left by a crash, and is removed."""
        import fcntl

        try:
            file = os.open(self.path, os.O_RDWR)
        except FileNotFoundError:
            return False
        except OSError:  # of another user, say: then nobody here can tell
            return True
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self.path.unlink()
        except OSError:
            return True
        finally:
            os.close(file)
        return False

    def drop(self) -> None:
        """The work is done: remove the file and let go of the lock."""
        if self._file is not None:
            with suppress(OSError):
                self.path.unlink()
        self.close()

    def close(self) -> None:
        """Let go of the lock and leave the file, as the end of the process would."""
        if self._file is not None:
            file, self._file = self._file, None
            os.close(file)


_taken: weakref.WeakSet[Claim] = weakref.WeakSet()


def _close_in_fork() -> None:
    """A forked process may live longer than the holder, and must not look like it."""
    for claim in list(_taken):
        claim.close()


if hasattr(os, "register_at_fork"):  # where there are forks
    os.register_at_fork(after_in_child=_close_in_fork)
