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
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

from privet.errors import JournalError
from privet.privacy.budget import Neighbours
from privet.privacy.certificate import Charge

_FORMAT = 1
_AMOUNT = re.compile(rb'^\{"adds": "(\d+(?:/\d+)?)"')
_HEADER_START = b'{"privet-journal": '

Entry = tuple[Charge | None, str | None]
"""A charge (None if its amount is lost) and the analyst it was for."""


class Journal:
    """A file of charges; create it with the budget it protects, or open it without to take what it says."""

    def __init__(self, path: str | os.PathLike[str], cap: Fraction | None, neighbours: Neighbours | None) -> None:
        self.path = Path(path).absolute()
        self._offset = 0  # bytes of the file already handed out by read_new
        self._open()
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
        fcntl.flock(self._file, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(self._file, fcntl.LOCK_UN)

    def append(self, charge: Charge, analyst: str | None) -> None:
        """Put a charge on disk; only when this returns may noise be drawn. Call it while locked."""
        self._write(
            {"adds": str(charge.adds), "epsilon": str(charge.epsilon), "analyst": analyst, "what": charge.what}
        )

    def read_new(self) -> list[Entry]:
        """Entries appended by anybody since the last call. Call it while locked."""
        data = os.pread(self._file, os.fstat(self._file).st_size - self._offset, self._offset)
        self._offset += len(data)
        lines = data.split(b"\n")
        torn = lines.pop()
        entries = [_read_entry(line) for line in lines]
        if torn:
            entries.append(_read_entry(torn))
            self._append_bytes(b"\n")  # nobody may continue a torn line; the next reader finds it ended
            self._offset += 1
        return entries

    def close(self) -> None:
        os.close(self._file)

    def _open(self) -> None:
        try:
            self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        except OSError as error:
            raise JournalError(f"cannot open the journal {self.path}: {error.strerror}; check the folder") from error
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
            self._sync_folder()
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

    def _sync_folder(self) -> None:
        folder = os.open(self.path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _checked(line: bytes) -> dict[str, Any] | None:
    """The record in a line, or None if the line was not written whole."""
    body, comma, tail = line.rpartition(b', "crc": ')
    if not comma or not tail.endswith(b"}") or not tail[:-1].isdigit() or int(tail[:-1]) != zlib.crc32(body + b"}"):
        return None
    record = json.loads(body + b"}")
    return record if isinstance(record, dict) else None


def _read_entry(line: bytes) -> Entry:
    record = _checked(line)
    if record is not None and "adds" in record:
        charge = Charge(record["what"], Fraction(record["epsilon"]), Fraction(record["adds"]))
        return charge, record.get("analyst")
    amount = _AMOUNT.match(line)
    if amount is None:
        return None, None
    # Whose it was may be lost with the rest, so a torn record counts against the cap alone.
    adds = Fraction(amount.group(1).decode())
    return Charge("a charge whose record is torn", adds, adds), None
