"""Parts: what of an object is public, by name, and what a fitted object answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

MEMBERS = 60  # of an ensemble that are asked one by one
ANSWERS = ("predict_proba", "predict", "decision_function")


def public_parts(released: Any) -> list[tuple[str, Any]]:
    """All public attributes of what was released, those with a trailing underscore first: fits set them.

    Attributes without one count as well. A learner's own settings are the same in all fits and tell nothing.
    """
    if is_plain(released):
        return [("", released)]
    found = _attributes(released)
    for name in _properties(type(released)):
        try:
            found[name] = getattr(released, name)
        except Exception:
            continue  # an attribute that cannot be read is not released
    found = found or _readable(released)
    return sorted(found.items(), key=lambda part: (not part[0].endswith("_"), part[0]))


def nested_parts(value: Any) -> list[tuple[str, Any]]:
    """The public attributes of a part of a release: only fitted ones if there are any, since tokens are limited."""
    found = _attributes(value)
    fitted = {name: part for name, part in found.items() if name.endswith("_")}
    return sorted((fitted or found or _readable(value)).items())


def is_plain(value: Any) -> bool:
    """Whether a value is released as it is, and not by its attributes."""
    known = bool | int | float | str | bytes | Fraction | Decimal | np.generic | np.ndarray | list | tuple | set
    return value is None or isinstance(value, known | frozenset | Mapping | Iterator) or hasattr(value, "to_numpy")


def answers(released: Any, probes: Any) -> Iterator[tuple[str, Any]]:
    """What a fitted object, and each member of an ensemble, says about the probes."""
    for name in ANSWERS:
        if callable(getattr(released, name, None)):
            yield f"{name}(probes)", _ask(released, name, probes)
    members = getattr(released, "estimators_", None)
    if isinstance(members, list | tuple | np.ndarray):
        for i, member in enumerate(np.ravel(np.asarray(members, dtype=object))[:MEMBERS]):
            if callable(getattr(member, "predict", None)):
                yield f"estimators_[{i}].predict(probes)", _ask(member, "predict", probes)


def _ask(fitted: Any, method: str, probes: Any) -> Any:
    try:
        return np.asarray(getattr(fitted, method)(probes))
    except Exception as error:
        return f"raises {type(error).__name__}"


def _attributes(value: Any) -> dict[str, Any]:
    found = {}
    if is_dataclass(value) and not isinstance(value, type):
        found = {field.name: getattr(value, field.name, None) for field in fields(value)}
    return {name: part for name, part in (found | getattr(value, "__dict__", {})).items() if name[:1] != "_"}


def _properties(kind: type) -> tuple[str, ...]:
    """Properties with a trailing underscore. Scikit-learn's own are derived from attributes, and some are slow."""
    return tuple(
        name
        for base in kind.__mro__
        if not base.__module__.startswith("sklearn.")
        for name, part in vars(base).items()
        if isinstance(part, property) and name.endswith("_") and not name.startswith("_")
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
