"""Certificates from files. Whatever a file holds, the result is a sound certificate or one clear sentence.

A model file can be written by anyone. So types and ranges are checked here, once, and relied on everywhere else:
what shows, predicts or scores a model asks nothing again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from privet.errors import ParameterError
from privet.kinds import ChargeKind, kind_of_old
from privet.privacy.budget import INFINITY, Neighbours, Total, check_digits, read_fraction
from privet.privacy.certificate import Caveat, Certificate, Charge
from privet.privacy.losses import Loss
from privet.schema import Unit

_MOST = Fraction(10**120)  # above any epsilon, sum of epsilons and noise scale that a ledger writes, and a double's
_ZERO = Fraction(0)
_TEXTS = ("what", "kind", "mechanism")


def decode(data: object) -> Certificate:
    """The certificate that ``Certificate.to_dict`` wrote; raises :class:`ParameterError` for all else."""
    facts = _object(data, "the certificate")
    epsilon = _total(_of(facts, "epsilon", "the certificate"))
    delta = _number(_of(facts, "delta", "the certificate"), "delta", most=Fraction(1))
    charges = tuple(_charge(one) for one in _list(facts, "charges"))
    caveats = tuple(_caveat(one) for one in _list(facts, "caveats"))
    for key in ("definition", "covers", "covers_not"):  # written for readers of the file; the text is made anew
        if key in facts:
            _text(facts[key], key)
    if any(caveat.voids for caveat in caveats) and epsilon != INFINITY:
        raise ParameterError("a caveat voids the promise, but epsilon is not infinity")
    rho = _number(facts.get("rho", "0"), "rho")
    for name, total, parts in (
        ("epsilon", epsilon, (charge.adds for charge in charges)),
        ("delta", delta, (charge.added.delta for charge in charges)),
        ("rho", rho, (charge.added.rho for charge in charges)),
    ):
        if _sum(parts, name) > total:
            raise ParameterError(f"its charges add up to more than its {name}")
    neighbours = Neighbours.parse(_text(_of(facts, "neighbours", "the certificate"), "neighbours"))
    return Certificate(epsilon, neighbours, charges, caveats, delta, _unit(facts), rho)


def _sum(parts: Iterable[Fraction], name: str) -> Fraction:
    """All of them; a ledger keeps the digits of such a sum bounded, and without that it could take hours."""
    total = _ZERO
    for part in parts:
        if part:
            total += part
            check_digits(total, f"the sum of what charges add to {name}")
    return total


def _total(text: object) -> Total:
    return INFINITY if text == "infinity" else _number(text, "epsilon")


def _charge(data: object) -> Charge:
    facts = _object(data, "a charge")
    numbers = {key: _number(value, key) for key, value in facts.items() if key not in _TEXTS}
    if unknown := numbers.keys() - {"epsilon", "adds", "delta", "adds_delta", "rho", "adds_rho", "scale"}:
        raise ParameterError(f"a charge has no entry {sorted(unknown)[0]!r}")
    rest, more = (tuple(numbers.get(f"{of}{name}", _ZERO) for name in ("delta", "rho")) for of in ("", "adds_"))
    loss, added = Loss(_of(numbers, "epsilon", "a charge"), *rest), Loss(_of(numbers, "adds", "a charge"), *more)
    if not added <= loss or loss.delta > 1:
        raise ParameterError("a charge adds more than each record paid, or has a delta above 1")
    if (scale := numbers.get("scale")) is not None and not scale >= 1 / _MOST:
        raise ParameterError("the scale of a charge's noise must be above 0")
    mechanism = facts.get("mechanism")
    named = None if mechanism is None else _text(mechanism, "mechanism")
    what, kind = _text(_of(facts, "what", "a charge"), "what"), facts.get("kind")
    known = kind_of_old(what, named) if kind is None else ChargeKind.parse(_text(kind, "kind"))
    return Charge(what, loss, added, named, scale, known)


def _caveat(data: object) -> Caveat:
    facts = _object(data, "a caveat")
    if not isinstance(facts.get("voids"), bool):
        raise ParameterError("a caveat must say whether it voids the promise: true or false")
    return Caveat(_text(_of(facts, "text", "a caveat"), "text"), facts["voids"])


def _unit(facts: Mapping[str, Any]) -> Unit | None:
    if "unit" not in facts:
        return None
    unit = _object(facts["unit"], "the unit")
    return Unit(_of(unit, "name", "the unit"), _of(unit, "max_rows", "the unit"))  # which checks both


def _number(text: object, name: str, most: Fraction = _MOST) -> Fraction:
    number = read_fraction(text, name)
    if not 0 <= number <= most:
        raise ParameterError(f"{name} must be from 0 to {float(most):g}")
    return number


def _object(data: object, what: str) -> Mapping[str, Any]:
    if not isinstance(data, Mapping):
        raise ParameterError(f"{what} must be an object")
    return data


def _list(facts: Mapping[str, Any], key: str) -> list[Any]:
    found = facts.get(key)
    if not isinstance(found, list | tuple):
        raise ParameterError(f"{key} must be a list")
    return list(found)


def _of(facts: Mapping[str, Any], key: str, what: str) -> Any:
    if key not in facts:
        raise ParameterError(f"{what} lacks {key!r}")
    return facts[key]


def _text(value: object, name: str) -> str:
    if not isinstance(value, str):
        raise ParameterError(f"{name} must be text, not {type(value).__name__}")
    return value
