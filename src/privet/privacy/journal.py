"""The journal: an append-only file that remembers what was spent, across processes and power cuts.

One JSON record a line, each with a checksum. A record is on disk before any noise is drawn, so after a crash the file
may show a charge for something that was never released, never the opposite. A torn record counts as spent: the amount
stands first in the line and is believed even when the rest is missing; if not even that survived, all of the budget
counts as spent until the owner settles it.
"""

from __future__ import annotations

import json
import os
import re
import weakref
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

from privet.errors import JournalError
from privet.privacy.budget import Neighbours
from privet.privacy.certificate import Caveat, Charge

_FORMAT = 1
_AMOUNT = re.compile(rb'^\{"adds": "(\d{1,999}(?:/[1-9]\d{0,999})?)"')
_HEADER_START = b'{"privet-journal": '

Entry = tuple[Charge | Caveat | None, str | None]
"""A charge or caveat (None if it cannot be read) and the analyst it was for."""


class Journal:
    """A file of charges; create it with the budget it protects, or open it without to take what it says."""

    def __init__(self, path: str | os.PathLike[str], cap: Fraction | None, neighbours: Neighbours | None) -> None:
        self.path = Path(path).absolute()
        self._offset = 0  # bytes of the file that read_new has handed out and seen booked
        self._open(os.O_CREAT if cap is not None else 0)
        with self.locked():
            self.cap, self.neighbours = self._header(cap, neighbours)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the file against every other process."""
        try:
            import fcntl
        except ImportError:
            raise JournalError("a journal needs POSIX file locks, which this platform lacks") from None
        if self._owner != os.getpid():
            self._open()  # after a fork both processes would otherwise share one lock
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX)
            yield
        finally:
            fcntl.flock(self._file, fcntl.LOCK_UN)

    def append(self, entry: Charge | Caveat, analyst: str | None) -> None:
        """Put an entry on disk; only when this returns may noise be drawn. Call it while locked."""
        if isinstance(entry, Caveat):
            self._write({"adds": "0", "analyst": analyst, "caveat": entry.text, "voids": entry.voids})
            return
        self._write({"adds": str(entry.adds), "epsilon": str(entry.epsilon), "analyst": analyst, "what": entry.what})

    def read_new(self) -> Iterator[Entry]:
        """Entries appended by anybody since the last call. Call it while locked."""
        status = os.fstat(self._file)
        if status.st_nlink == 0 or status.st_size < self._offset:
            raise JournalError(f"{self.path} was deleted or cut short while in use; put it back and start anew")
        lines = os.pread(self._file, status.st_size - self._offset, self._offset).split(b"\n")
        if lines[-1]:
            self._append_bytes(b"\n")  # nobody may continue a torn line; the next reader finds it ended
            lines.append(b"")
        for line in lines[:-1]:
            yield _read_entry(line)
            self._offset += len(line) + 1  # only now: an interrupt may book an entry twice, never skip it

    def _open(self, create: int = 0) -> None:
        try:
            self._file = os.open(self.path, os.O_RDWR | os.O_APPEND | create, 0o600)
        except OSError as error:
            raise JournalError(f"cannot open the journal {self.path}: {error.strerror}; check the folder") from error
        weakref.finalize(self, os.close, self._file)
        self._owner = os.getpid()

    def _header(self, cap: Fraction | None, neighbours: Neighbours | None) -> tuple[Fraction, Neighbours]:
        first = os.pread(self._file, 4096, 0)
        if b"\n" not in first and first.startswith(_HEADER_START[: len(first)]):
            # Nothing can have been charged before the header was on disk, so a torn header may be written anew.
            if cap is None:
                raise JournalError(f"{self.path} holds no budget yet; give epsilon to create one")
            os.ftruncate(self._file, 0)
            relation = neighbours or Neighbours.ADD_REMOVE
            self._write({"privet-journal": _FORMAT, "epsilon": str(cap), "neighbours": relation.value})
            folder = os.open(self.path.parent, os.O_RDONLY)
            os.fsync(folder)  # the file's name, too, must survive a power cut
            os.close(folder)
            self._offset = os.fstat(self._file).st_size
            return cap, relation
        line = first.split(b"\n", 1)[0]
        record = _checked(line)
        if record is None or "privet-journal" not in record:
            raise JournalError(f"{self.path} is not a privet journal; name another file")
        if record["privet-journal"] != _FORMAT:
            raise JournalError(f"{self.path} was written by a newer privet; upgrade to use it")
        self._offset = len(line) + 1
        written_cap, relation = Fraction(record["epsilon"]), Neighbours.parse(record["neighbours"])
        if cap is not None and cap != written_cap:
            raise JournalError(
                f"{self.path} protects epsilon {written_cap}, not {cap}: a journal's budget never changes. "
                "Leave epsilon out to use what the journal says"
            )
        if neighbours is not None and neighbours != relation:
            raise JournalError(f"{self.path} counts in {relation.value} neighbours; leave neighbours out to follow it")
        return written_cap, relation

    def _write(self, record: dict[str, Any]) -> None:
        line = json.dumps(record)
        checksum = zlib.crc32(line.encode())
        self._append_bytes(f'{line[:-1]}, "crc": {checksum}}}\n'.encode())

    def _append_bytes(self, data: bytes) -> None:
        try:
            written = os.write(self._file, data)
            os.fsync(self._file)
        except OSError as error:
            raise JournalError(f"cannot write the journal {self.path}: {error.strerror}; nothing released") from error
        if written != len(data):
            raise JournalError(f"the journal {self.path} took only part of a record (disk full?); nothing released")


def _checked(line: bytes) -> dict[str, Any] | None:
    """The record in a line, or None if the line was not written whole."""
    body, comma, tail = line.rpartition(b', "crc": ')
    if not comma or tail != b"%d}" % zlib.crc32(body + b"}"):
        return None
    record = json.loads(body + b"}")
    return record if isinstance(record, dict) else None


def _read_entry(line: bytes) -> Entry:
    record = _checked(line)
    if record is not None and "caveat" in record:
        return Caveat(record["caveat"], record["voids"]), record["analyst"]
    if record is not None and "adds" in record:
        return Charge(record["what"], Fraction(record["epsilon"]), Fraction(record["adds"])), record["analyst"]
    amount = _AMOUNT.match(line)
    if amount is None or line.endswith(b"}"):
        return None, None  # nothing is left of the record, or somebody changed it
    # Whose it was may be lost with the rest, so a torn record counts against the cap alone.
    adds = Fraction(amount.group(1).decode())
    return Charge("a charge whose record is torn", adds, adds), None
