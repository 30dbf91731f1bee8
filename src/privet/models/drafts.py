"""Files that appear whole or not at all: written beside their place, flushed to disk, and renamed.

A draft is locked while its command lives. A killed command leaves it behind unlocked, and the next draft in that folder
removes it.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import stat
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from os import PathLike
from pathlib import Path
from types import TracebackType

from privet.errors import ParameterError

JOURNAL_MARK = b'{"privet-journal"'  # the first bytes of a journal, which must never be overwritten
ATTEMPTS = 100  # alternative names beside a taken one
OURS = re.compile(r"\.(draft-)?[\w.-]+\.privet\.tmp", re.ASCII)  # names with "draft" are locked while in use
OLD = 24 * 3600  # seconds after which a file is a leftover where locks do not work: no command writes that long


class Draft:
    """A file in the making, in its final folder. It is removed after the block unless it was published.

    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> with Draft(f"{folder.name}/notes.txt") as draft:
    ...     draft.save("whole or not at all", replace=False).name
    'notes.txt'
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        self.asked = Path(path)
        self.path = Path(os.path.realpath(path))  # a link stays a link: its target is written
        self._beside = self.path.with_name(f".draft-{secrets.token_hex(8)}.privet.tmp")
        self._file: int | None = None

    def __enter__(self) -> Draft:
        try:
            self.open()
        except BaseException:
            self.discard()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.discard()

    def open(self) -> None:
        """Create the file beside its place. Always call ``discard`` afterwards, also after an interrupt."""
        if (fault := _fault(self.path)) is not None:
            raise fault
        remove_leftovers(self.path.parent)
        for _ in range(ATTEMPTS):
            # os.open, so that the umask applies.
            self._file = os.open(self._beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
            _lock(self._file)
            if os.path.lexists(self._beside):
                return
            os.close(self._file)  # another command removed it as a leftover before it was locked
            self._file = None
        raise OSError(errno.EBUSY, os.strerror(errno.EBUSY), str(self.path))

    def discard(self) -> None:
        """Remove the draft; a file that was published stays."""
        with suppress(OSError, ValueError):
            self._beside.unlink()
        if self._file is not None:
            file, self._file = self._file, None
            os.close(file)

    def reserve(self, size: int) -> None:
        """Allocate ``size`` bytes now, so that the disk cannot be full later."""
        if size and hasattr(os, "posix_fallocate"):
            try:
                os.posix_fallocate(self._open_file(), 0, size)
            except OSError as error:
                if error.errno not in (errno.EINVAL, errno.EOPNOTSUPP):  # a file system that cannot allocate ahead
                    raise

    def write(self, content: str | bytes) -> None:
        """Write the whole content and flush it to disk; it is not visible yet."""
        file, left = self._open_file(), memoryview(content.encode() if isinstance(content, str) else content)
        os.lseek(file, 0, os.SEEK_SET)
        size = len(left)
        while left:
            left = left[os.write(file, left) :]
        os.ftruncate(file, size)  # release what was reserved and not needed
        os.fsync(file)

    def publish(self, *, replace: bool) -> Path:
        """Move the file to its place. Returns the path as it was asked for, or that of a file beside it.

        Without ``replace``, a file that has appeared there keeps its name and the new one gets another beside it: a
        paid-for result is not thrown away. A directory and a journal always keep their names.
        """
        place = self.path
        if replace and _fault(place) is None:
            os.replace(self._beside, place)
        else:
            place = self._link()
        with suppress(OSError):  # some file systems cannot sync a folder; the file itself is on disk
            folder = os.open(place.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
        return self.asked if place == self.path else place

    def save(self, content: str | bytes, *, replace: bool) -> Path:
        """Write the whole content and publish it."""
        self.write(content)
        return self.publish(replace=replace)

    def _link(self) -> Path:
        for number in range(ATTEMPTS):
            place = self.path if number == 0 else self.path.with_name(f"{self.path.stem}.{number}{self.path.suffix}")
            try:
                os.link(self._beside, place)
            except FileExistsError:
                continue
            except OSError:  # a file system without hard links
                if os.path.lexists(place):
                    continue
                os.replace(self._beside, place)
                return place
            os.unlink(self._beside)
            return place
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(self.path))

    def _open_file(self) -> int:
        if self._file is None:
            raise ValueError("a draft is written inside its with block")
        return self._file


@contextmanager
def drafted(output: Path, what: str, *, room: int = 0) -> Iterator[Draft]:
    """Open a draft before the work, so that an output that cannot be written fails before anything is spent.

    ``room`` bytes are allocated at once. If the block does not publish the draft, it is removed and the old file stays.
    """
    with ExitStack() as stack:
        try:
            draft = Draft(output)
            stack.callback(draft.discard)
            draft.open()
            draft.reserve(room)
        except (OSError, ValueError) as error:  # ValueError: a null byte in the path
            raise ParameterError(f"cannot write {what} {str(output)!r}: {why(error)}; nothing was charged") from error
        yield draft


def why(error: Exception) -> str:
    """The reason given by a file-system error."""
    if isinstance(error, FileNotFoundError) and error.filename is not None:
        return f"there is no directory {os.path.dirname(error.filename)!r}"
    return getattr(error, "strerror", None) or str(error)


def remove_leftovers(folder: Path) -> None:
    """Remove the files of killed commands from a folder: files with our names that no command holds.

    For locked kinds the lock decides. Others, and all files where locking does not work, must be old.
    """
    with suppress(OSError):  # a folder that cannot be listed; a file that is gone or another user's
        for entry in os.scandir(folder):
            if (name := OURS.fullmatch(entry.name)) is None or not entry.is_file(follow_symlinks=False):
                continue
            with suppress(OSError):
                file = os.open(entry.path, os.O_WRONLY)
                try:
                    locked = _lock(file, wait=False)
                    tells = name[1] is not None and locked is not None
                    if (locked or locked is None) and (tells or time.time() - os.fstat(file).st_mtime > OLD):
                        os.unlink(entry.path)
                finally:
                    os.close(file)


def _lock(file: int, *, wait: bool = True) -> bool | None:
    """Lock a file until it is closed. False if another process holds it; None if files cannot be locked here."""
    try:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    except (ImportError, OSError):
        return None
    return True


def is_journal(path: str | PathLike[str]) -> bool:
    """Whether a file is a budget journal, by its first bytes."""
    try:
        if not os.path.isfile(path):  # opening a pipe would block
            return False
        with open(path, "rb") as file:
            return file.read(len(JOURNAL_MARK)) == JOURNAL_MARK
    except (OSError, ValueError):
        return False


def _fault(path: Path) -> OSError | None:
    """Why a path may not be replaced (it is a directory, a device or a journal), or None."""
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(mode):
        return IsADirectoryError(errno.EISDIR, "it is a directory", str(path))
    if not stat.S_ISREG(mode):
        return OSError(errno.EINVAL, "it is a device or a pipe, not a file", str(path))
    if is_journal(path):
        return OSError(errno.EPERM, "it is a privet journal, the record of what was spent", str(path))
    return None
