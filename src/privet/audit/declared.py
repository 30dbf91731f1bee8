"""Public inputs of a fit's mechanisms, compared between two neighbouring tables.

A draw shows its scores, counts and scale, and the audit weighs them. It does not show the other inputs of a mechanism:
the plan of a perturbed fit (terms, offset, class weights, background, shape), the tree before it, the candidates of a
choice, the rate of a sample. The kernel declares these (``privet.privacy.noise.declare``). Here each becomes a short
text that is equal only if all of it is, to the last bit. Noise cannot explain a difference.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from enum import Enum
from fractions import Fraction
from typing import Any

import numpy as np

from privet.privacy.counting import Shards
from privet.privacy.fits.calibration import Calibration
from privet.privacy.noise import _declared

PLAIN = (str, bytes, int, float, complex, bool, Fraction, np.generic, Enum)


class NotComparable(TypeError):
    """A value whose equality cannot be decided. The audit stops: it would miss differences."""


@contextmanager
def declared(notice: Callable[[Hashable], None]) -> Iterator[None]:
    """The declarations of mechanisms."""
    token = _declared.set(_Texts(notice))
    try:
        yield
    finally:
        _declared.reset(token)


class _Texts(list[tuple[object, ...]]):
    """Turns each declaration into text at once, since its parts may change later."""

    def __init__(self, notice: Callable[[Hashable], None]) -> None:
        super().__init__()
        self._notice = notice
        self.fit: Calibration | None = None  # of the declared fit, until it is released

    def append(self, facts: tuple[object, ...], /) -> None:
        self._notice(("public", str(facts[0]), digest(facts)))
        self.fit = next((fact for fact in facts if isinstance(fact, Calibration)), self.fit)


def is_fit(size: int, scale: float) -> bool:
    """Whether a vector of this size and scale is the release of a declared fit, once. True if no audit runs.

    The law of such a release is audited separately, so its draws are not weighed. Other vectors must not pass for one.
    """
    listener = _declared.get()
    if not isinstance(listener, _Texts):
        return True
    fit, listener.fit = listener.fit, None
    return fit is not None and (size, scale) == (fit.shape.released, fit.release_scale)


def digest(value: object) -> str:
    """A hash of a value, including all nested fields, to the last bit of its numbers.

    >>> digest(np.array([0.1, 0.2])) == digest(np.array([0.1, 0.2]))
    True
    >>> digest(np.array([0.1, 0.2])) == digest(np.array([0.1, 0.2 + 2**-54]))
    False
    """
    found = hashlib.sha256()
    for part in _bytes(value):
        found.update(len(part).to_bytes(8, "little") + part)
    return found.hexdigest()


def _bytes(value: Any) -> Iterator[bytes]:
    yield type(value).__name__.encode()
    if isinstance(value, Shards):
        return  # an engine's number of a throw; the throws themselves are compared as coins
    if isinstance(value, np.ndarray) and value.dtype != object:
        yield f"{value.dtype.str} {value.shape}".encode()
        yield value.tobytes()
    elif isinstance(value, PLAIN):
        yield repr(value).encode(errors="surrogatepass")
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from _bytes(getattr(value, field.name))
    elif isinstance(value, Mapping):
        for pair in value.items():
            yield from _bytes(pair)
    elif isinstance(value, tuple | list | np.ndarray):
        yield str(len(value)).encode()
        for part in value:
            yield from _bytes(part)
    elif value is not None:
        raise NotComparable(
            f"cannot compare what a mechanism takes for public: {type(value).__name__} is neither a dataclass, an "
            "array nor a plain value"
        )
