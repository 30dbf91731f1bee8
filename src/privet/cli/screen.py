"""Guarded standard streams: control characters are written visibly, and a full disk gives one sentence."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import sys
from typing import Any

from privet.bidi import isolated

MISTAKE = 1


class Screen:
    """A stream that escapes text which could move the cursor or reverse a line, such as ``\\u202e``.

    Commands isolate names themselves; this is a second check.
    """

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    @classmethod
    def of(cls, stream: Any) -> Any:
        """Guard a stream, if there is one. It escapes what it cannot encode: the output may have been paid for."""
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
        return None if stream is None else cls(stream)

    def write(self, text: str) -> int:
        if not isinstance(text, str):  # like every text stream; callers with bytes then use ``buffer``
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        self._stream.write("".join(isolated(line, styled=True) for line in text.splitlines(keepends=True)))
        return len(text)

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def exactly(stream: Any) -> Any:
    """The raw stream for data that must arrive unchanged, unless it is a terminal."""
    return stream._stream if isinstance(stream, Screen) and not stream.isatty() else stream


def hush(error: OSError) -> int:
    """The exit code for an output that cannot be written, with a message unless its reader closed the pipe."""
    if error.errno != errno.EPIPE:
        why = f"privet: cannot write the output: {error.strerror}; what was written is not complete"
        with contextlib.suppress(OSError):
            print(why, file=sys.stderr)
    for stream, number in ((sys.stdout, 1), (sys.stderr, 2)):
        try:
            if stream is not None:
                stream.flush()
        except OSError:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, number)  # so that Python does not try again, and complain, at exit
            os.close(nowhere)
    return MISTAKE
