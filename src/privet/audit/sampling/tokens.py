"""Tokens: whatever a fit releases, as named numbers that two fits can be compared by.

A token is a number (a count, a threshold, a prediction) or the presence of something (a text, a key, an error), which
is the number 1. A token that is absent has no value. What becomes a token depends on one release alone, never on the
others: so fits stay independent, and an event about tokens is an event about releases.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

MOST = 600  # tokens of a release: enough for all numbers of ten small trees
ENTRIES = 60  # entries of one array or list; its length, sum and extremes are tokens anyway
DEPTH = 6  # levels of nesting
LETTERS = 60  # of a text; a checksum stands for the rest
RAISES = "raises "
ANSWERS = ("predict_proba", "predict", "decision_function")


class Tokens(NamedTuple):
    """The tokens of one fit. Fits with the same names share them."""

    names: tuple[str, ...]
    values: Floats


_names: dict[tuple[str, ...], tuple[str, ...]] = {}


def tokens_of(released: Any, probes: Any = None) -> Tokens:
    """The tokens of a release. A fitted object is also asked about the records in ``probes``.

    >>> tokens_of({"count": 3, "label": "yes"}).names
    ("'count' is there", 'count', "'label' is there", "label is 'yes'")
    """
    found: dict[str, float] = {}
    if probes is not None:
        for name, value in _answers(released, probes):
            _add(found, name, value, DEPTH - 1)
    for name, value in _parts(released):
        _add(found, name, value, 0)
    return seal(found)


def seal(found: Mapping[str, float]) -> Tokens:
    names = tuple(found)
    return Tokens(_names.setdefault(names, names), np.fromiter(found.values(), dtype=np.float64, count=len(names)))


def raised(error: Exception) -> Tokens:
    """The tokens of a fit that fails: whether it does is released too."""
    return seal({f"{RAISES}{type(error).__name__}": 1.0, f"{RAISES}{_text(str(error))}": 1.0})


def failed(fits: Sequence[Tokens]) -> bool:
    """Whether every one of the fits failed."""
    return bool(fits) and all(fit.names[0].startswith(RAISES) for fit in fits if fit.names)


def _parts(released: Any) -> Iterator[tuple[str, Any]]:
    """The public parts of a release by name: for a fitted object its attributes with a trailing underscore."""
    if isinstance(released, Mapping) or is_plain(released):
        yield "", released
        return
    if is_dataclass(released) and not isinstance(released, type):
        yield from ((f.name, getattr(released, f.name)) for f in fields(released) if not f.name.startswith("_"))
        return
    public = {k: v for k, v in sorted(getattr(released, "__dict__", {}).items()) if not k.startswith("_")}
    fitted = {k: v for k, v in public.items() if k.endswith("_")}
    yield from (fitted or public or _readable(released)).items()


def is_plain(value: Any) -> bool:
    return value is None or isinstance(
        value, bool | int | float | str | bytes | Fraction | np.generic | np.ndarray | list | tuple | set | frozenset
    )


def _readable(value: Any) -> dict[str, Any]:
    """Numbers and arrays of a compiled object, such as scikit-learn's trees, which have no ``__dict__``."""
    found = {}
    for name in dir(value):
        if not name.startswith("_"):
            try:
                part = getattr(value, name)
            except Exception:
                continue  # an attribute that cannot be read is not released
            if is_plain(part):
                found[name] = part
    return found


def _answers(released: Any, probes: Any) -> Iterator[tuple[str, Any]]:
    """What a fitted object, and each member of an ensemble, says about the probes."""
    for name in ANSWERS:
        if callable(getattr(released, name, None)):
            yield f"{name}(probes)", _ask(released, name, probes)
    members = getattr(released, "estimators_", None)
    if isinstance(members, list | tuple | np.ndarray):
        for i, member in enumerate(np.ravel(np.asarray(members, dtype=object))[:ENTRIES]):
            if callable(getattr(member, "predict", None)):
                yield f"estimators_[{i}].predict(probes)", _ask(member, "predict", probes)


def _ask(fitted: Any, method: str, probes: Any) -> Any:
    try:
        return np.asarray(getattr(fitted, method)(probes))
    except Exception as error:
        return f"raises {type(error).__name__}"


def _add(found: dict[str, float], path: str, value: Any, depth: int) -> None:
    if len(found) >= MOST or depth > DEPTH:
        return
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool | int | float | Fraction):
        _add_number(found, path, value)
    elif isinstance(value, str):
        found[f"{path} is {_text(value)}".strip()] = 1.0
    elif value is None or isinstance(value, bytes):
        found[f"{path} is {_text(repr(value))}".strip()] = 1.0
    elif isinstance(value, np.ndarray):
        _add_array(found, path, value, depth)
    elif isinstance(value, Mapping):
        for key, part in list(value.items())[:ENTRIES]:
            found[f"{path} {_text(repr(key))} is there".strip()] = 1.0
            _add(found, f"{path}.{key}".lstrip("."), part, depth + 1)
    elif isinstance(value, list | tuple | set | frozenset):
        entries = sorted(value, key=repr) if isinstance(value, set | frozenset) else value
        found[f"len({path})"] = float(len(entries))
        for i, part in enumerate(entries[:ENTRIES]):
            _add(found, f"{path}[{i}]", part, depth + 1)
    elif hasattr(value, "to_numpy"):  # a data frame or a column
        _add(found, f"{path}.columns", [str(c) for c in getattr(value, "columns", ())], depth + 1)
        _add(found, path, value.to_numpy(), depth + 1)
    elif not callable(value):
        for name, part in _parts(value):
            _add(found, f"{path}.{name}", part, depth + 1)


def _add_array(found: dict[str, float], path: str, array: Any, depth: int) -> None:
    found[f"{path}.shape is {array.shape}".lstrip(".")] = 1.0
    flat = np.asarray(array).ravel()  # of a masked array, all that it holds
    if array.dtype.kind in "biuf":
        for i, number in enumerate(flat[:ENTRIES].tolist()):
            _add_number(found, f"{path}[{i}]", number)
        finite = flat[np.isfinite(flat)] if array.dtype.kind == "f" else flat
        if finite.size > 1:
            for name, total in (("sum", finite.sum()), ("min", finite.min()), ("max", finite.max())):
                found[f"{name}({path})"] = float(total)
    else:
        for i, part in enumerate(flat[:ENTRIES].tolist()):
            _add(found, f"{path}[{i}]", part, depth + 1)
            if isinstance(part, str):
                found[f"{path} has {_text(part)}"] = 1.0


def _add_number(found: dict[str, float], path: str, value: Any) -> None:
    try:
        number = float(value)
    except OverflowError:
        number = math.inf if value > 0 else -math.inf
    if math.isfinite(number):
        found[path or "value"] = number
    else:
        found[f"{path} is {number}".strip()] = 1.0


def _text(text: str) -> str:
    if len(text) <= LETTERS:
        return repr(text) if not text.startswith(("'", '"')) else text
    return f"{text[:LETTERS]!r}... ({zlib.crc32(text.encode(errors='backslashreplace')):08x})"
