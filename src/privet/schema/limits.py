"""How large a file may become in memory, and how to raise a limit: a small file can ask for more than a machine has."""

from __future__ import annotations

import os
from pathlib import Path

from privet.errors import ParameterError

MOST_SCHEMA = 64 * 2**20  # bytes of a schema file; 65,000 values in each of 50 columns are less
MOST_YAML = 2 * 2**20  # bytes of a schema in YAML, of which a second reads about 200,000
MOST_MODEL = 4 * 2**30  # bytes of a model file: a hundred times the largest forest of the experiments
MOST_LINE = 16 * 2**20  # bytes of a line of a table; a longer one is a record that cannot be read
FREELY = 256 * 2**20  # bytes that any gzip file may become
RATIO = 200  # bytes for each compressed one beyond; tables have 3 to 50, gzip's most is 1,032
_PIECE = 2**22  # bytes read at a time: who asks for more than there is takes the memory for it
UNZIPPED = "PRIVET_MOST_UNZIPPED"  # the variable that sets another limit, in bytes


def read_bytes(path: Path, most: int) -> bytes | None:
    """The content of a file; None if it is longer than that, of which no more is read."""
    content = bytearray()
    with open(path, "rb") as file:
        while piece := file.read(_PIECE):
            content += piece
            if len(content) > most:
                return None
    return bytes(content)


def most_unzipped(compressed: int) -> int:
    """How many bytes may come out of so many compressed ones.

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
    """A value for a message, as Python writes it, at most ``SHOWN`` characters of it.

    >>> brief("ward"), brief(10**5000), brief(["x"] * 100)
    ("'ward'", 'a number of thousands of digits', "['x', 'x', 'x', 'x', 'x', 'x', 'x', 'x',...")
    """
    if isinstance(value, int) and value.bit_length() > _LONGEST:
        return "a number of thousands of digits"
    written = repr(value[:SHOWN] if isinstance(value, str | list | tuple) else value)
    return written if len(written) <= SHOWN else written[: SHOWN - 3] + "..."


SHOWN = 48  # characters of a wrong value that a message repeats
_LONGEST = 4_000  # bits of an integer that Python still writes at once
