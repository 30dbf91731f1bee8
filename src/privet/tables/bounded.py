"""Table files with bounded line lengths and a bounded unzipped size."""

from __future__ import annotations

import gzip
import io
from pathlib import Path
from typing import Any

from privet.errors import TableError
from privet.schema.limits import MOST_LINE, UNZIPPED, most_unzipped

CUT = b"\xff"  # not UTF-8: replaces the rest of a line that is too long, so that the line cannot be read
_PIECE = 2**20  # bytes read at a time


class BoundedLines(io.RawIOBase):
    """A file's bytes, with lines of more than ``MOST_LINE`` bytes cut and marked.

    Such a line is one record that cannot be read, like every damaged line, and takes no more memory. Zipped files are
    unzipped, and refused as soon as they become larger than such a file can honestly be.
    """

    def __init__(self, path: Path, *, zipped: bool) -> None:
        self._raw = io.FileIO(path)
        self._path = path
        self._zip = gzip.GzipFile(fileobj=self._raw) if zipped else None
        self._pieces: Any = self._zip or self._raw
        self._line = 0  # bytes of the line that is being read
        self._came = 0
        self._ready = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._ready:
            piece = self._pieces.read(_PIECE)
            if not piece:
                return 0
            self._check_size(len(piece))
            self._ready = memoryview(self._bounded(piece))
        count = min(len(buffer), len(self._ready))
        buffer[:count] = self._ready[:count]
        self._ready = self._ready[count:]
        return count

    def close(self) -> None:
        self._raw.close()
        super().close()

    def _check_size(self, more: int) -> None:
        self._came += more
        if self._zip is None:
            return
        most = most_unzipped(self._raw.tell())
        if self._came > most:
            raise TableError(
                f"{str(self._path)!r} unzips to more than {most:,} bytes, which may be an attack; if you trust the "
                f"file, set {UNZIPPED} to the bytes that it may have"
            )

    def _bounded(self, piece: bytes) -> bytes:
        """The piece; the rest of a line beyond the limit is replaced by the mark."""
        first = piece.find(b"\n")
        end = len(piece) if first < 0 else first
        if self._line + end <= MOST_LINE:  # no line within a piece is too long
            self._line = len(piece) - 1 - piece.rfind(b"\n") if first >= 0 else self._line + end
            return piece
        kept = max(MOST_LINE - self._line, 0)
        marked = b"" if self._line > MOST_LINE else piece[:kept] + CUT
        rest = piece[end:]
        self._line = len(rest) - 1 - rest.rfind(b"\n") if first >= 0 else MOST_LINE + 1
        return marked + rest
