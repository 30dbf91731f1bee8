"""Make names and values from outside safe to print in a line: isolate their direction, show invisible characters.

Text that runs from right to left, or a control character for directions, also turns the text around it: with such a
name ``age <= 68.5`` can read as its opposite. So such a name is put between two isolating characters (U+2068, U+2069;
``<bdi>`` in HTML), and characters that would turn or end a line are written visibly, as ``\\u202e``.
"""

from __future__ import annotations

import re
import unicodedata

ISOLATE, END = "\u2068", "\u2069"  # the first strong character inside says which way; the end
# Allowed in a name: marks (Arabic and Hebrew texts have them) and joiners (Persian and Indian ones).
_KEPT = "\u200c\u200d\u200e\u200f\u061c"
_MARKS = "\u200e\u200f\u061c"
_STRONG = ("R", "AL", "AN")  # Unicode's classes of text from right to left
_CONTROLS = ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")
_STYLE = re.compile(r"\x1b\[[0-9;]*m")  # colours, as rich writes them
_PLAIN = re.compile(r"[ -~\n]*")


def isolated(value: object, *, lines: bool = False, styled: bool = False) -> str:
    r"""A value, or a sentence that contains values, isolated from its surroundings; ordinary text is unchanged.

    Isolated parts stay isolated: a sentence may contain names that went through here. ``lines`` keeps line ends and
    tabs, ``styled`` also the colours of a terminal.

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
    """The number of visible characters of a text, for columns."""
    return len(text) - text.count(ISOLATE) - text.count(END)


def padded(text: str, width: int) -> str:
    """The text, padded with spaces to a column's width."""
    return text + " " * max(width - width_of(text), 0)


def shortened(text: str, most: int) -> str:
    """The text, cut to this many visible characters; an isolate that was cut is ended."""
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
    """The text without isolates, for code that draws letters one by one."""
    return text.replace(ISOLATE, "").replace(END, "")


def _pairs(text: str) -> set[int]:
    """The positions of isolates that are ended, and of their ends."""
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
    """Whether a character can be printed in a line: no control, no line end, no half of a surrogate pair."""
    return character in _KEPT or unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Zl", "Zp")


def _visible(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
