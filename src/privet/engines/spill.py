"""Temporary storage of record arrays: in memory while they are few, then in an unnamed file.

The file is never linked into a folder, so only this process can open it, and it is gone when the process ends in any
way, even when killed. It lies where temporary files do (``TMPDIR``), with mode 0600, and it is not encrypted.
"""

from __future__ import annotations

import os
import tempfile
import threading
from typing import IO, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from privet.engines.attempts import attempt

Array = npt.NDArray[Any]

DISK_FAILED = (
    "the disk that keeps the records' codes aside is full, or failed; free some room, or set TMPDIR to a larger disk"
)
ROOM = 2**25  # bytes kept in memory


class Spilled(NamedTuple):
    """The position of an array in the file."""

    start: int
    dtype: np.dtype[Any]
    shape: tuple[int, ...]


Kept = Array | Spilled


class Spill:
    """Arrays by handle. Stored arrays do not change."""

    def __init__(self, room: int = ROOM) -> None:
        self._room = room
        self._file: IO[bytes] | None = None
        self._end = 0
        self._lock = threading.Lock()

    def put(self, array: Array) -> Kept:
        """Keep an array."""
        array = np.ascontiguousarray(array)
        array.setflags(write=False)  # read-only arrays share one compiled version
        with self._lock:
            if array.nbytes <= self._room:
                self._room -= array.nbytes
                return array
            start = self._end
            attempt(lambda: self._write(array), DISK_FAILED, tries=1, of=OSError)
        return Spilled(start, array.dtype, array.shape)

    def get(self, kept: Kept) -> Array:
        return attempt(lambda: self._read(kept), DISK_FAILED, of=OSError) if isinstance(kept, Spilled) else kept

    def _write(self, array: Array) -> None:
        if self._file is None:
            self._file = tempfile.TemporaryFile(buffering=0, prefix="privet-")  # noqa: SIM115 - it lives as long as this
        left = memoryview(array.tobytes())
        while left:
            written = os.pwrite(self._file.fileno(), left, self._end)
            self._end, left = self._end + written, left[written:]

    def _read(self, kept: Spilled) -> Array:
        assert self._file is not None
        found = np.empty(kept.shape, kept.dtype)
        left, at = memoryview(found.reshape(-1).view(np.uint8)), kept.start  # type: ignore[arg-type]
        while left:
            read = os.preadv(self._file.fileno(), [left], at)
            if not read:
                raise OSError("the file is shorter than what was written to it")
            at, left = at + read, left[read:]
        found.setflags(write=False)
        return found
