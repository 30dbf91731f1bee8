"""A hash chain over records: a change, a removal, an insertion or another order changes every head after it.

The head of nothing is ``START``; a record moves the head to the hash of the old head and the record's bytes. Each
record carries the head before it, its *link*. So a link covers all that was before, also bytes that cannot be read and
records from a time without links. A person who can write the records can also make a new chain: only a head that was
kept elsewhere shows that. Pure functions of bytes, for the lines of a journal and for rows of a database.

>>> head = extend(extend(START, b"first"), b"second")
>>> head == extend(extend(START, b"second"), b"first")
False
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

START = "0" * 64
NO_LINK = "it carries no link to the records before it"
BROKEN = "it does not follow from the lines before it: something there was deleted, changed or inserted"
_HASH = re.compile(r"[0-9a-f]{64}")


def extend(head: str, record: bytes) -> str:
    """The head after one more record."""
    return hashlib.sha256(bytes.fromhex(head) + record).hexdigest()


def is_hash(text: object) -> bool:
    """Whether it is a SHA-256 in hexadecimal."""
    return isinstance(text, str) and _HASH.fullmatch(text) is not None


@dataclass(frozen=True, slots=True)
class Chain:
    """How far a chain was followed.

    ``head`` is computed from every byte that is there; the next record carries it. ``claimed`` is the head that the
    records themselves state. The two differ after a break, so that one break is reported once.

    >>> _, fault = Chain().follow(b"first", START)
    >>> fault is None
    True
    """

    head: str = START
    claimed: str = START
    begun: bool = False  # whether a record with a link was seen; before that, records without one are older

    def follow(self, record: bytes, link: str | None, *, readable: bool = True) -> tuple[Chain, str | None]:
        """The chain after a record, and what is wrong with its link. What cannot be read has none."""
        fault = None
        if link is not None:
            fault = None if link in (self.head, self.claimed) else BROKEN
        elif self.begun and readable:
            fault = NO_LINK
        head, before = extend(self.head, record), self.claimed if link is None else link
        claimed = head if before == self.head else extend(before, record)
        return Chain(head, claimed, self.begun or link is not None), fault
