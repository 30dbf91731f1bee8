"""Limits on the memory that a file may take, and how to raise them: a small file can expand beyond any machine."""

from __future__ import annotations

import os
from pathlib import Path

from privet.errors import ParameterError

MOST_SCHEMA = 64 * 2**20  # bytes of a schema file; 65,000 values in each of 50 columns are less
MOST_YAML = 2 * 2**20  # bytes of a schema in YAML, which is read at about 200,000 a second
MOST_MODEL = 4 * 2**30  # bytes of a model file: a hundred times the largest forest of the experiments
MOST_LINE = 16 * 2**20  # bytes of a line of a table; a longer one is an unreadable record
FREELY = 256 * 2**20  # bytes to which any gzip file may expand
RATIO = 200  # further bytes for each compressed one; tables have 3 to 50, gzip's most is 1,032
_PIECE = 2**22  # bytes read at a time: a read allocates what it asks for, however short the file
UNZIPPED = "PRIVET_MOST_UNZIPPED"  # the environment variable for another limit, in bytes


def read_bytes(path: Path, most: int) -> bytes | None:
    """Read a file; None if it is longer than ``most``, beyond which no more than a piece is read."""
    content = bytearray()
    with open(path, "rb") as file:
        while piece := file.read(_PIECE):
            content += piece
            if len(content) > most:
                return None
    return bytes(content)


def most_unzipped(compressed: int) -> int:
    """The number of bytes to which so many compressed ones may expand.

    >>> most_unzipped(0) // 2**20
    256
    """
    given = os.environ.get(UNZIPPED)
    if given is None:
        return FREELY + RATIO * compressed
    if not given.isdecimal() or len(given) > 20:  # digits: more bytes than any disk holds
        raise ParameterError(f"{UNZIPPED} must be a whole number of bytes, such as 10000000000")
    return int(given)


def has_surrogates(text: str) -> bool:
    """Whether a text holds half of a character (a lone surrogate), which no file and no page can hold.

    >>> has_surrogates("ward"), has_surrogates("ward \\ud800")
    (False, True)
    """
    return not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text)


def brief(value: object) -> str:
    """The repr of a value for a message, cut to ``SHOWN`` characters.

    >>> brief("ward"), brief(10**5000), brief(["x"] * 100)
    ("'ward'", 'a number of thousands of digits', "['x', 'x', 'x', 'x', 'x', 'x', 'x', 'x',...")
    """
    if isinstance(value, int) and value.bit_length() > _LONGEST:
        return "a number of thousands of digits"
    written = repr(value[:SHOWN] if isinstance(value, str | list | tuple) else value)
    return written if len(written) <= SHOWN else written[: SHOWN - 3] + "..."


SHOWN = 48  # characters of a wrong value in a message
_LONGEST = 4_000  # bits of an integer that Python formats quickly
