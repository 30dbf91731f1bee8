"""Declarations of recipe parameters, as field metadata: accepted values and help.

A recipe checks its values by these declarations. The command line's help, the docstrings of classifiers and the tables
in ``docs/recipes`` come from them. A recipe's ``check`` handles only combinations of parameters.

>>> from dataclasses import dataclass
>>> @dataclass(frozen=True)
... class Stump:
...     max_bins: int = whole(10, low=2, high=65_000, help="Into how many bins numbers are cut.")
>>> check_declared(Stump(max_bins=1))
Traceback (most recent call last):
privet.errors.ParameterError: max_bins must be a whole number from 2 to 65000, not 1
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from fractions import Fraction
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from privet.errors import ParameterError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

KEY = "privet"  # of a field's metadata
LARGE = 2**20  # a larger bound only keeps numbers computable; help does not show it


@dataclass(frozen=True)
class Declared:
    """A parameter's accepted values, as text and as a check, and its help."""

    takes: str
    help: str
    check: Callable[[object, str], object]


def declared(
    default: Any, takes: str, help: str, check: Callable[[object, str], object] | None = None, **options: Any
) -> Any:
    """A field. A default that is None or a word, such as "auto", is always accepted."""
    word = default is None or isinstance(default, str)

    def checked(value: object, name: str) -> None:
        if check is not None and not (word and (value is default or (isinstance(value, str) and value == default))):
            check(value, name)

    return field(default=default, metadata={KEY: Declared(takes, help, checked)}, **options)


def whole(default: Any, *, low: int, high: int, help: str) -> Any:
    """A whole number between bounds."""
    limits = f"int from {low} to {high}" if high <= LARGE else f"int from {low}"
    return declared(default, _or_default(limits, default), help, partial(check_whole, low=low, high=high))


def number(default: Any, *, low: float, high: float, help: str, below: bool = False) -> Any:
    """A finite number between bounds; with ``below`` it must be less than the upper one."""
    limits = f"float from {low:g}" + ("" if high == inf else f" {'to below' if below else 'to'} {high:g}")
    return declared(default, _or_default(limits, default), help, partial(check_number, low=low, high=high, below=below))


def choice(default: str, choices: Any, help: str) -> Any:
    """One of a few words, given as a tuple or as a ``Literal``."""
    words = choices if isinstance(choices, tuple) else get_args(choices)
    return declared(default, one_of(words), help, partial(check_choice, choices=words))


def flag(default: bool, help: str) -> Any:
    return declared(default, "bool", help, check_flag)


def weights(of: str, *, low: float, high: float, help: str) -> Any:
    """A dict of weights, or None for none."""
    limits = f"dict of {of} to a number from {low:g}{'' if high == inf else f' to {high:g}'}, optional"
    return declared(None, limits, help, partial(check_weights, of=of, low=low, high=high))


def check_declared(recipe: DataclassInstance) -> None:
    """Raise ``ParameterError`` for a value that its declaration does not allow."""
    for one in fields(recipe):
        if KEY in one.metadata:
            one.metadata[KEY].check(getattr(recipe, one.name), one.name)


def one_of(words: tuple[str, ...]) -> str:
    """Words listed as in a sentence.

    >>> one_of(("even", "bought", "near-zero"))
    '"even", "bought" or "near-zero"'
    """
    *most, last = (f'"{word}"' for word in words)
    return f"{', '.join(most)} or {last}" if most else last


def _or_default(limits: str, default: Any) -> str:
    if default is None:
        return f"{limits}, optional"
    return f'{limits} or "{default}"' if isinstance(default, str) else limits


# ---- checks of one value ------------------------------------------------------------------------------------------


def check_whole(value: object, name: str, low: int, high: int) -> int:
    """Return the value as an int; raise ``ParameterError`` unless it is a whole number between bounds."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or not low <= value <= high:
        raise ParameterError(parameter=name, problem=f"must be a whole number from {low} to {high}, not {value!r}")
    return int(value)


def check_number(value: Any, name: str, low: float, high: float, *, below: bool = False) -> None:
    """Raise ``ParameterError`` unless the value is a finite number between bounds."""
    if not _is_number(value) or not low <= value <= high or (below and value == high) or value == inf:
        limits = f"of at least {low:g}" if high == inf else f"from {low:g} to {'below ' if below else ''}{high:g}"
        raise ParameterError(parameter=name, problem=f"must be a number {limits}, not {value!r}")


def check_choice(value: object, name: str, choices: tuple[str, ...]) -> None:
    """Raise ``ParameterError`` unless the value is one of a few words."""
    if value not in choices:
        raise ParameterError(parameter=name, problem=f"must be one of {', '.join(map(repr, choices))}, not {value!r}")


def check_flag(value: object, name: str) -> None:
    """Raise ``ParameterError`` unless the value is True or False."""
    if not isinstance(value, bool | np.bool_):
        raise ParameterError(parameter=name, problem=f"must be True or False, not {value!r}")


def check_weights(value: object, name: str, of: str, low: float, high: float) -> None:
    """Raise ``ParameterError`` unless the value is a dict of numbers between bounds."""
    if not isinstance(value, Mapping):
        raise ParameterError(parameter=name, problem=f"must be a dict of {of} to weight, not {value!r}")
    for key, weight in value.items():
        check_number(weight, f"{name}[{key!r}]", low, high)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | Fraction | np.number) and not isinstance(value, bool)


def exact_share(value: object) -> Fraction:
    """A share as it is written: 0.05 is one twentieth, so that budgets stay readable rationals."""
    return Fraction(str(value))
