"""The journal: an append-only file that remembers what was spent, across processes and power cuts.

One JSON record a line, each with a checksum. A record is on disk before any noise is drawn, so after a crash the file
may show a charge for something that was never released, never the opposite. A torn record counts as spent. The amount
stands first in the line, and is believed even when the rest is missing. If the amount is lost too, the whole budget
counts as spent until the owner settles it.
"""

from __future__ import annotations

import json
import os
import re
import stat
import tempfile
import threading
import weakref
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from privet.errors import JournalError
from privet.privacy.budget import Neighbours
from privet.privacy.certificate import Caveat, Charge
from privet.privacy.losses import Loss

_FORMAT = 2
_NUMBER = rb"\d{1,4300}(?:/[1-9]\d{0,4299})?"  # Python reads no longer ones
_AMOUNT = re.compile(rb'^\{"adds": "(%s(?:, %s)?)"' % (_NUMBER, _NUMBER))
_MOST = 10**100  # no budget is larger, see budget.epsilon
_HEADER_START = b'{"privet-journal": '
_CHUNK = 65_536
_holders: set[tuple[int, int, int, int]] = set()  # processes and threads that have locked a file, or wait for it


@dataclass(frozen=True, slots=True)
class Note:
    """An entry that costs nothing.

    ``limit`` lowers or sets an analyst's limit (without an analyst: the cap). ``dataset`` names what is protected,
    ``unit`` whom, and ``schema`` holds what was declared about it. ``settled`` is the owner's word on a line that
    cannot be read.
    """

    kind: str
    value: Any


TORN = "a charge whose record is torn"
KINDS = ("limit", "dataset", "unit", "schema", "settled")
Entry = Charge | Caveat | Note
News = tuple[int, Entry | None, str | None]
"""The number of a line, its entry (None if it cannot be read), and the analyst it was for."""


@dataclass(frozen=True, slots=True)
class Header:
    """What a budget begins with. Later records cannot change it, except that one may lower the cap."""

    cap: Loss
    neighbours: Neighbours
    dataset: str | None = None

    def line(self, version: int = _FORMAT) -> bytes:
        new = {"delta": str(self.cap.delta), "dataset": self.dataset} if version == _FORMAT else {}
        always = {"epsilon": str(self.cap.epsilon), "neighbours": self.neighbours.value}
        return _signed({"privet-journal": version, **always, **new})


class Journal:
    """A file of charges; create it with the header of the budget it protects, or open it without one."""

    def __init__(self, path: str | os.PathLike[str], new: Header | None) -> None:
        self.path = Path(path).absolute()
        self.created = False
        self._offset = 0  # bytes of the file that read_new has handed out and seen booked
        self._line = 1  # the number of lines in them
        self._depth = 0
        if new is not None and not os.path.exists(self.path):
            self._create(new)
        self._open(os.O_CREAT if new else 0)
        self._opened = os.fstat(self._file)
        with self.locked():
            self.header = self._read_header(new)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Lock the file against every other process. A thread may enter again; only its outermost exit unlocks.

        A second ``Journal`` of the same file would wait for its own thread, for ever. It is refused.
        """
        try:
            import fcntl
        except ImportError:
            raise JournalError("a journal needs POSIX file locks, which this platform lacks") from None
        if self._owner != os.getpid():
            self._open()  # after a fork both processes would otherwise share one lock
        holder = (os.getpid(), threading.get_ident(), self._opened.st_dev, self._opened.st_ino)
        if self._depth == 0 and holder in _holders:
            raise JournalError(
                f"{self.path} is open in the middle of a charge of this very thread, which waits for what is done here "
                "(a signal handler, a finaliser?); let it set a flag, and open the ledger when the charge has returned"
            )
        self._depth += 1
        try:
            _holders.add(holder)
            # Lock at every depth: a signal handler may run between the line above and this one. Twice is harmless.
            fcntl.flock(self._file, fcntl.LOCK_EX)
            yield
        finally:
            self._depth -= 1
            if self._depth == 0:
                fcntl.flock(self._file, fcntl.LOCK_UN)
                _holders.discard(holder)

    def append(self, entry: Entry, analyst: str | None = None) -> None:
        """Put an entry on disk; only when this returns may noise be drawn. Call it while locked."""
        self._check_path()
        self._append_bytes(_signed(_to_record(entry, analyst)))
        self._check_path()  # if the file was moved, the next reader would not find the entry

    def read_new(self) -> Iterator[News]:
        """Entries that any process appended since the last call. Call it while locked."""
        self._check_path()
        lines = self._rest().split(b"\n")
        if lines[-1]:
            self._append_bytes(b"\n")  # end a torn line, so that no later entry continues it
            lines.append(b"")
        for line in lines[:-1]:
            yield self._line + 1, *read_entry(line)
            self._offset += len(line) + 1  # after the yield: an interrupt may book an entry twice, but never skip one
            self._line += 1

    def _rest(self) -> bytes:
        """The bytes after those that were handed out. One call of the system reads 2 GB at most, or fewer."""
        parts, at, end = list[bytes](), self._offset, os.fstat(self._file).st_size
        while at < end and (more := os.pread(self._file, end - at, at)):
            parts.append(more)
            at += len(more)
        return b"".join(parts)

    def _create(self, new: Header) -> None:
        """Put a complete header in place in one step, so that no reader finds half of one."""
        try:
            with tempfile.NamedTemporaryFile(dir=self.path.parent, prefix=f".{self.path.name}.") as beside:
                self._file = beside.fileno()
                self._append_bytes(new.line())
                with suppress(OSError):  # the file exists by now, or links are not supported and _open makes it
                    os.link(beside.name, self.path)
                    self.created = True
        except OSError as error:
            raise JournalError(f"cannot open the journal {self.path}: {error.strerror}; check the folder") from error
        self._sync_folder()

    def _open(self, create: int = 0) -> None:
        try:
            self._file = os.open(self.path, os.O_RDWR | os.O_APPEND | create, 0o600)
        except OSError as error:
            raise JournalError(f"cannot open the journal {self.path}: {error.strerror}; check the folder") from error
        weakref.finalize(self, os.close, self._file)
        if not stat.S_ISREG(os.fstat(self._file).st_mode):
            raise JournalError(f"{self.path} is a device or a pipe, which remembers nothing; name a file")
        self._owner = os.getpid()
        self._depth = 0

    def _check_path(self) -> None:
        """Refuse a file that was moved, replaced or cut: it would be a second budget beside the one others find."""
        if self._owner != os.getpid():
            raise JournalError(f"{self.path} is locked by the process that forked this one; open the ledger here")
        try:
            here, there = os.fstat(self._file), os.stat(self.path)
            same = os.path.samestat(self._opened, here) and os.path.samestat(here, there)
            same = same and here.st_size >= self._offset
        except OSError:
            same = False
        if not same:
            raise JournalError(
                f"{self.path} was renamed, replaced, deleted or cut short while in use; put it back and start anew"
            )

    def _read_header(self, new: Header | None) -> Header:
        first = b""
        while b"\n" not in first and _HEADER_START.startswith(first[: len(_HEADER_START)]):
            more = os.pread(self._file, _CHUNK, len(first))
            first += more
            if not more:
                return self._finish_header(first, new)
        line = first.split(b"\n", 1)[0]
        record = checked(line)
        if record is None or "privet-journal" not in record:
            raise JournalError(f"{self.path} is not a privet journal; name another file")
        if record["privet-journal"] not in (1, _FORMAT):
            raise JournalError(f"{self.path} was written by a newer privet; upgrade to use it")
        self._offset = len(line) + 1
        cap = Loss(Fraction(record["epsilon"]), Fraction(record.get("delta", 0)))
        return Header(cap, Neighbours.parse(record["neighbours"]), record.get("dataset"))

    def _finish_header(self, torn: bytes, new: Header | None) -> Header:
        """Write a header again that a crash cut off. Charges come after the header, so none is lost."""
        if new is None:
            raise JournalError(f"{self.path} holds no budget yet; give epsilon to create one")
        if not any(whole.startswith(torn) for whole in (new.line(), new.line(1))):
            raise JournalError(f"{self.path} is not a privet journal of this budget; name another file")
        os.ftruncate(self._file, 0)
        self._append_bytes(new.line())
        self._sync_folder()
        self._offset = len(new.line())
        return new

    def _sync_folder(self) -> None:
        folder = os.open(self.path.parent, os.O_RDONLY)
        os.fsync(folder)  # the file's name, too, must survive a power cut
        os.close(folder)

    def _append_bytes(self, data: bytes) -> None:
        try:
            written = os.write(self._file, data)
            os.fsync(self._file)
        except OSError as error:
            raise JournalError(f"cannot write the journal {self.path}: {error.strerror}; nothing released") from error
        if written != len(data):
            raise JournalError(f"the journal {self.path} took only part of a record (disk full?); nothing released")


def _signed(record: dict[str, Any]) -> bytes:
    line = json.dumps(record)
    return f'{line[:-1]}, "crc": {zlib.crc32(line.encode())}}}\n'.encode()


def checked(line: bytes) -> dict[str, Any] | None:
    """The record in a line, or None if the line was not written whole."""
    body, comma, tail = line.rpartition(b', "crc": ')
    if not comma or tail != b"%d}" % zlib.crc32(body + b"}"):
        return None
    record = json.loads(body + b"}")
    return record if isinstance(record, dict) else None


def _to_record(entry: Entry, analyst: str | None) -> dict[str, Any]:
    """What an entry adds to the total stands first, see ``read_entry``."""
    if isinstance(entry, Charge):
        amounts = {"adds": str(entry.added), "loss": str(entry.loss), "analyst": analyst, "what": entry.what}
        return amounts | {"mechanism": entry.mechanism, "scale": None if entry.scale is None else str(entry.scale)}
    if isinstance(entry, Caveat):
        return {"adds": "0", "analyst": analyst, "caveat": entry.text, "voids": entry.voids}
    return {"adds": "0", "analyst": analyst, entry.kind: entry.value}


def _from_record(record: dict[str, Any]) -> Entry:
    if "what" in record:
        loss, scale = record["loss" if "loss" in record else "epsilon"], record.get("scale")
        exact = None if scale is None else Fraction(scale)
        return Charge(record["what"], Loss.read(loss), Loss.read(record["adds"]), record.get("mechanism"), exact)
    if "caveat" in record:
        return Caveat(record["caveat"], record["voids"])
    kind = next(kind for kind in KINDS if kind in record)
    return Note(kind, record[kind])


def read_entry(line: bytes) -> tuple[Entry | None, str | None]:
    """The entry in a line and the analyst it was for; (None, None) if the line cannot be read."""
    try:
        record = checked(line)
        if record is not None:
            return _from_record(record), record.get("analyst")
    except (ValueError, TypeError, LookupError, StopIteration):
        return None, None
    amount = _AMOUNT.match(line)
    if amount is None or line.endswith(b"}"):
        return None, None  # nothing is left of the record, or somebody changed it
    # The analyst's name may be lost with the rest, so a torn record counts against the cap alone.
    adds = Loss.read(amount.group(1).decode())
    return (None if adds.epsilon > _MOST else Charge(TORN, adds, adds)), None
