"""Flattening: any value as named numbers.

A number is a token by itself. The presence of something (a text, a key, a shape) is the number 1. A text has its
numbers as tokens too, since a message that counts records is never the same twice.
"""

from __future__ import annotations

import math
import re
import zlib
from collections.abc import Iterator, Mapping
from decimal import Decimal
from fractions import Fraction
from itertools import islice
from typing import Any

import numpy as np

from privet.audit.sampling.parts import nested_parts

MOST = 600  # tokens of a release: enough for all numbers of ten small trees
ENTRIES = 60  # entries of one array, list or text; half of the tokens that are left, if that is more
DEPTH = 6  # levels of nesting
LETTERS = 60  # of a text; a checksum stands for the rest
SEARCHED = 5_000  # letters of a text in which numbers are looked for
NUMBER = re.compile(r"(?<![\w.])[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")


def add(found: dict[str, float], path: str, value: Any, depth: int = 0) -> None:
    """Put the tokens of a value into ``found``.

    >>> found = {}
    >>> add(found, "released", [2.5, "12 records"])
    >>> sorted(found)[:3]
    ['len(released)', 'number 0 in released[1]', "released has '12 records'"]
    """
    if len(found) >= MOST or depth > DEPTH:
        return
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool | int | float | Fraction | Decimal):
        _add_number(found, path, value)
    elif isinstance(value, str):
        add_text(found, path, value)
    elif value is None or isinstance(value, bytes):
        found[f"{path} is {short(repr(value))}".strip()] = 1.0
    elif isinstance(value, np.ndarray):
        _add_array(found, path, value, depth)
    elif isinstance(value, Mapping):
        for key, part in islice(value.items(), _entries(found)):
            found[f"{path} {short(repr(key))} is there".strip()] = 1.0
            add(found, f"{path}.{key}".lstrip("."), part, depth + 1)
    elif isinstance(value, list | tuple | set | frozenset | Iterator):
        _add_list(found, path, value, depth)
    elif hasattr(value, "to_numpy"):  # a data frame or a column
        add(found, f"{path}.columns".lstrip("."), [str(c) for c in getattr(value, "columns", ())], depth + 1)
        add(found, path, value.to_numpy(), depth + 1)
    elif not callable(value):
        for name, part in nested_parts(value):
            add(found, f"{path}.{name}".lstrip("."), part, depth + 1)


def add_text(found: dict[str, float], path: str, text: str) -> None:
    """A text; one with numbers as its form without them, and as those numbers."""
    start = text[:SEARCHED]
    numbers = NUMBER.findall(start)[: _entries(found)]
    if numbers:
        found[f"{path} is like {short(NUMBER.sub('#', start) + text[SEARCHED:])}".strip()] = 1.0
    else:
        found[f"{path} is {short(text)}".strip()] = 1.0
    for i, number in enumerate(numbers):
        _add_number(found, f"number {i} in {path or 'value'}", float(number))
    if len(text) > LETTERS:
        found[f"len({path or 'value'})"] = float(len(text))


def short(text: str) -> str:
    """A text in quotes, with a checksum in place of what is too long."""
    if len(text) <= LETTERS:
        return repr(text) if not text.startswith(("'", '"')) else text
    return f"{text[:LETTERS]!r}... ({zlib.crc32(text.encode(errors='backslashreplace')):08x})"


def _entries(found: Mapping[str, float]) -> int:
    """How many entries the next array may have. That depends on this release alone."""
    return max(ENTRIES, (MOST - len(found)) // 2)


def _add_list(found: dict[str, float], path: str, value: Any, depth: int) -> None:
    if isinstance(value, Iterator):
        value = list(islice(value, MOST))
    entries = sorted(value, key=repr) if isinstance(value, set | frozenset) else value
    found[f"len({path or 'value'})"] = float(len(entries))
    for i, part in enumerate(entries[: _entries(found)]):
        add(found, f"{path}[{i}]", part, depth + 1)
        if isinstance(part, str):
            found[f"{path} has {short(part)}".strip()] = 1.0


def _add_array(found: dict[str, float], path: str, array: Any, depth: int) -> None:
    found[f"{path}.shape is {array.shape}".lstrip(".")] = 1.0
    flat = np.asarray(array).ravel()  # of a masked array, all that it holds
    if array.dtype.kind in "biuf":
        for i, number in enumerate(flat[: _entries(found)].tolist()):
            _add_number(found, f"{path}[{i}]", number)
        finite = flat[np.isfinite(flat)] if array.dtype.kind == "f" else flat
        if finite.size > 1:
            for name, total in (("sum", finite.sum()), ("min", finite.min()), ("max", finite.max())):
                found[f"{name}({path or 'value'})"] = float(total)
        return
    for i, part in enumerate(flat[: _entries(found)].tolist()):
        add(found, f"{path}[{i}]", part, depth + 1)
        if isinstance(part, str):
            found[f"{path} has {short(part)}".strip()] = 1.0


def _add_number(found: dict[str, float], path: str, value: Any) -> None:
    try:
        number = float(value)
    except OverflowError:
        number = math.inf if value > 0 else -math.inf
    except ValueError:  # a signalling NaN of a decimal
        number = math.nan
    if math.isfinite(number):
        found[path or "value"] = number
    else:
        found[f"{path} is {number}".strip()] = 1.0
