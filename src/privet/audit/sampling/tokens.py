"""Tokens: whatever a fit releases, as named numbers that two fits can be compared by.

A token is a number (a count, a threshold, a prediction) or the presence of something (a text, a key, an error), which
is the number 1. A token that is absent has no value. What becomes a token depends on one release alone, never on the
others: so fits stay independent, and an event about tokens is an event about releases.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from privet.audit.sampling.flattening import DEPTH, add, add_text, short
from privet.audit.sampling.parts import answers, public_parts

Floats = npt.NDArray[np.float64]

RAISES = "raises"


class Tokens(NamedTuple):
    """The tokens of one fit. Fits with the same names share them."""

    names: tuple[str, ...]
    values: Floats


_names: dict[tuple[str, ...], tuple[str, ...]] = {}


def tokens_of(released: Any, probes: Any = None, returned: Any = None) -> Tokens:
    """The tokens of a release. A fitted object is also asked about the records in ``probes``.

    ``returned`` is what ``fit`` returned, if that is something else than the fitted object.

    >>> tokens_of({"count": 3, "label": "yes"}).names
    ("'count' is there", 'count', "'label' is there", "label is 'yes'")
    """
    found: dict[str, float] = {}
    for one in (released, returned):
        if probes is not None:
            for name, value in answers(one, probes):
                add(found, name, value, DEPTH - 1)
    for name, value in public_parts(released):
        add(found, name, value)
    if returned is not None:
        for name, value in public_parts(returned):
            add(found, f"fit(X, y).{name}".rstrip("."), value)
    return seal(found)


def seal(found: Mapping[str, float]) -> Tokens:
    names = tuple(found)
    return Tokens(_names.setdefault(names, names), np.fromiter(found.values(), dtype=np.float64, count=len(names)))


def raised(error: Exception) -> Tokens:
    """The tokens of a fit that fails: whether it does is released too."""
    found = {f"{RAISES} {type(error).__name__}": 1.0, f"{RAISES} {short(str(error))}": 1.0}
    add_text(found, RAISES, str(error))
    return seal(found)


def failed(fits: Sequence[Tokens]) -> bool:
    """Whether every one of the fits failed."""
    return bool(fits) and all(fit.names and fit.names[0].startswith(f"{RAISES} ") for fit in fits)


def failure(fit: Tokens) -> str:
    """The error of a fit that failed."""
    return fit.names[1]
