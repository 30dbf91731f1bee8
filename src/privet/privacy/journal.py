"""The journal: an append-only file that records what was spent, across processes and power cuts.

One record a line (``records.py``), each with a link to the lines before it (``chain.py``). A record is on disk before
any noise is drawn, so after a crash the file may show a charge for something that was never released, never the
opposite. A torn record counts as spent. If its amount is lost too, the whole budget counts as spent until the owner
settles it; so it does if a link shows that something was deleted or changed.
"""

from __future__ import annotations

import os
import stat
import tempfile
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from privet.errors import JournalError
from privet.privacy.chain import Chain
from privet.privacy.claims import Claim
from privet.privacy.records import FORMAT, HEADER_START, Header, Record, read_record

_CHUNK = 65_536
_LONGEST_HEADER = 2**20  # bytes; a name of a data set has fewer
_holders: set[tuple[int, int, int, int]] = set()  # processes and threads that have locked a file, or wait for it


News = tuple[int, Record, str | None]
"""The number of a line, what it says, and what is wrong with its link to the lines before it."""


@dataclass(frozen=True, slots=True)
class Read:
    """How much of a journal was read: bytes, lines, and the chain over them. One value, so that all move at once."""

    offset: int = 0
    lines: int = 0
    chain: Chain = Chain()  # noqa: RUF009 - it cannot change

    def after(self, line: bytes, link: str | None, *, readable: bool = True) -> tuple[Read, str | None]:
        chain, fault = self.chain.follow(line, link, readable=readable)
        return Read(self.offset + len(line) + 1, self.lines + 1, chain), fault


def read_lines(read: Read, data: bytes) -> Iterator[tuple[Read, News]]:
    """The records in the bytes that follow what was read, and how much is read with each."""
    for line in data.removesuffix(b"\n").split(b"\n") if data else ():
        record = read_record(line)
        whole = record.entry is not None and (record.link is not None or line.endswith(b"}"))
        read, fault = read.after(line, record.link, readable=whole)
        yield read, (read.lines, record, fault)


class Journal:
    """A file of charges; create it with the header of the budget it protects, or open it without one."""

    def __init__(self, path: str | os.PathLike[str], new: Header | None) -> None:
        self.path = Path(path).absolute()
        self.created = False
        self._read = Read()
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

    @property
    def head(self) -> str:
        """The head of the chain after the last line that was read."""
        return self._read.chain.head

    def append(self, record: Record) -> None:
        """Put a record on disk; only when this returns may noise be drawn. Call it locked, after ``read_new``."""
        self._check_path()
        self._append_bytes(replace(record, link=self.head).line())
        self._check_path()  # if the file was moved, the next reader would not find the record

    def read_new(self) -> Iterator[News]:
        """Records that any process appended since the last call. Call it while locked."""
        self._check_path()
        rest = self._rest()
        if rest and not rest.endswith(b"\n"):
            self._append_bytes(b"\n")  # end a torn line, so that no later record continues it
        for after, news in read_lines(self._read, rest):
            yield news
            self._read = after  # after the yield: an interrupt may book a record twice, but never skip one

    def claim(self, number: int) -> Claim:
        """Show other processes that the process of this reservation still runs. Call it while locked."""
        real = Path(os.path.realpath(self.path))  # one place for all names that lead to the file
        return Claim(real.with_name(f".{real.name}.{number}.lock"))

    def _rest(self) -> bytes:
        """The bytes after those that were handed out. One call of the system reads 2 GB at most, or fewer."""
        parts, at, end = list[bytes](), self._read.offset, os.fstat(self._file).st_size
        while at < end and (more := os.pread(self._file, end - at, at)):
            parts.append(more)
            at += len(more)
        return b"".join(parts)

    def _create(self, new: Header) -> None:
        """Put a complete header in place in one step, so that no reader finds half of one."""
        try:
            with tempfile.NamedTemporaryFile(dir=self.path.parent, prefix=".", suffix=".privet.tmp") as beside:
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
            raise JournalError(f"{self.path} is a device or a pipe, which keeps nothing; name a file")
        self._owner = os.getpid()
        self._depth = 0

    def _check_path(self) -> None:
        """Refuse a file that was moved, replaced or cut: it would be a second budget beside the one others find."""
        if self._owner != os.getpid():
            raise JournalError(f"{self.path} is locked by the process that forked this one; open the ledger here")
        try:
            here, there = os.fstat(self._file), os.stat(self.path)
            same = os.path.samestat(self._opened, here) and os.path.samestat(here, there)
            same = same and here.st_size >= self._read.offset
        except OSError:
            same = False
        if not same:
            raise JournalError(
                f"{self.path} was renamed, replaced, deleted or cut short while in use; put it back and start again"
            )

    def _read_header(self, new: Header | None) -> Header:
        first = b""
        while b"\n" not in first and HEADER_START.startswith(first[: len(HEADER_START)]):
            more = os.pread(self._file, _CHUNK, len(first))
            first += more
            if len(first) > _LONGEST_HEADER:
                break
            if not more:
                return self._finish_header(first, new)
        line = first.split(b"\n", 1)[0]
        header = Header.read(line, self.path)
        self._read, _ = Read().after(line, None)
        return header

    def _finish_header(self, torn: bytes, new: Header | None) -> Header:
        """Write a header again that a crash cut off. Charges come after the header, so none is lost."""
        if new is None:
            raise JournalError(f"{self.path} holds no budget yet; give epsilon to create one")
        if not any(new.line(version).startswith(torn) for version in range(1, FORMAT + 1)):
            raise JournalError(f"{self.path} is not a privet journal of this budget; name another file")
        os.ftruncate(self._file, 0)
        self._append_bytes(new.line())
        self._sync_folder()
        self._read, _ = Read().after(new.line()[:-1], None)
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
