"""Standard output and error: what no terminal should be sent is written visibly, and a full disk is one sentence."""

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
    """A stream as it is, but for text that could move the cursor or turn a line around: that is written as ``\\u202e``.

    Commands isolate names by themselves; this catches what one of them forgot.
    """

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    @classmethod
    def of(cls, stream: Any) -> Any:
        """The stream guarded, if there is one. A label that a terminal cannot show may have been paid for."""
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
        return None if stream is None else cls(stream)

    def write(self, text: str) -> int:
        if not isinstance(text, str):  # as every text stream does; who has bytes then looks for ``buffer``
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        self._stream.write("".join(isolated(line, styled=True) for line in text.splitlines(keepends=True)))
        return len(text)

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def exactly(stream: Any) -> Any:
    """A stream for data that must arrive as they are, unless a person reads them there."""
    return stream._stream if isinstance(stream, Screen) and not stream.isatty() else stream


def hush(error: OSError) -> int:
    """The exit code for an output that cannot be written, with a sentence unless its reader went away on purpose."""
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
            os.dup2(nowhere, number)  # so that Python does not try again, and complain, when it ends
            os.close(nowhere)
    return MISTAKE
