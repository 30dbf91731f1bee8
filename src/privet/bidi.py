"""Names and values from outside, so that they can stand in a line: isolated by direction, nothing in them invisible.

Text that runs from right to left, or a control character for directions, also turns what stands around it: with such a
name ``age <= 68.5`` can read as its contrary. So a name is put between two characters that isolate it (U+2068, U+2069;
``<bdi>`` in HTML), if it has such text, and what would turn or end a line is written visibly, as ``\\u202e``.
"""

from __future__ import annotations

import re
import unicodedata

ISOLATE, END = "\u2068", "\u2069"  # the first strong character inside says which way; the end
# What can stand in a name: marks (Arabic and Hebrew texts have them) and joiners (Persian and Indian ones).
_KEPT = "\u200c\u200d\u200e\u200f\u061c"
_MARKS = "\u200e\u200f\u061c"
_STRONG = ("R", "AL", "AN")  # Unicode's classes of text from right to left
_CONTROLS = ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")
_STYLE = re.compile(r"\x1b\[[0-9;]*m")  # colours, as rich writes them
_PLAIN = re.compile(r"[ -~\n]*")


def isolated(value: object, *, lines: bool = False, styled: bool = False) -> str:
    r"""A value, or a sentence that holds some, as text that turns nothing around it; ordinary text stays as it is.

    What is isolated already stays so: a sentence may be made of names that went through here. ``lines`` keeps line ends
    and tabs, ``styled`` also the colours of a terminal.

    >>> ascii(isolated("\u05d2\u05d9\u05dc") + " <= 5")
    "'\\u2068\\u05d2\\u05d9\\u05dc\\u2069 <= 5'"
    >>> isolated("age <= 5"), isolated("one\ntwo")
    ('age <= 5', 'one\\ntwo')
    """
    text = str(value)
    lines = lines or styled
    if text.isascii() and (text.isprintable() or (lines and _PLAIN.fullmatch(text))):
        return text
    kept = {match.start() for match in _STYLE.finditer(text)} if styled else set()
    closed = _pairs(text)
    written, turned, depth = [], False, 0
    for place, character in enumerate(text):
        if place in closed:
            depth += 1 if character == ISOLATE else -1
        elif not (_stands(character) or place in kept or (lines and character in "\n\t\r")):
            turned |= not depth and unicodedata.bidirectional(character) in _CONTROLS
            character = _visible(character)
        elif not depth and (character in _MARKS or unicodedata.bidirectional(character) in _STRONG):
            turned = True
        written.append(character)
    if not turned:
        return "".join(written)
    end = len(written)
    while lines and end and written[end - 1] in "\r\n":  # the isolate of a line does not reach into the next
        end -= 1
    return f"{ISOLATE}{''.join(written[:end])}{END}{''.join(written[end:])}"


def width_of(text: str) -> int:
    """How many characters of a text are seen, for columns."""
    return len(text) - text.count(ISOLATE) - text.count(END)


def padded(text: str, width: int) -> str:
    """The text with spaces behind it, as wide as a column."""
    return text + " " * max(width - width_of(text), 0)


def shortened(text: str, most: int) -> str:
    """The text, cut to so many characters that are seen; an isolate that was cut is ended."""
    if width_of(text) <= most:
        return text
    written: list[str] = []
    seen = depth = 0
    for character in text:
        if character in (ISOLATE, END):
            depth += 1 if character == ISOLATE else -1
        elif (seen := seen + 1) == most:
            break
        written.append(character)
    return f"{''.join(written)}…{END * depth}"


def bare(text: str) -> str:
    """The text without isolates, for what draws letters one by one."""
    return text.replace(ISOLATE, "").replace(END, "")


def _pairs(text: str) -> set[int]:
    """The places of isolates that are ended, and of their ends."""
    found: set[int] = set()
    if ISOLATE not in text:
        return found
    begun: list[int] = []
    for place, character in enumerate(text):
        if character == ISOLATE:
            begun.append(place)
        elif character == END and begun:
            found |= {begun.pop(), place}
        elif character == "\n":
            begun.clear()  # no isolate goes beyond its line
    return found


def _stands(character: str) -> bool:
    """Whether a character can stand in a line: it is no control, no end of a line and no half of a character."""
    return character in _KEPT or unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Zl", "Zp")


def _visible(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
