"""The conditions of a rule by value, and back: ``age > 63.7 or is missing``, ``ward in (a, b)``.

The words are those of :mod:`privet.structure.grammar`. Conditions on one attribute are merged, so that a rule reads as
a person would write it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.errors import ParameterError, PrivetError
from privet.models.rules import Condition, Rule, simplest
from privet.schema import Categorical, Numeric, Schema
from privet.structure.comparisons import LABEL, MOST_VALUES, Comparison, Op
from privet.structure.grammar import Meant, parse_condition, quoted

Codes = NDArray[np.bool_]


def conditions_of(schema: Schema, meant: Iterable[Meant]) -> tuple[Condition, ...]:
    """The fewest conditions that say the same. A cut that the schema does not have is refused."""
    found: list[Condition] = []
    for one in meant:
        attribute, codes = _codes(schema, one)
        found += simplest(schema, attribute, codes)
    return Rule(tuple(found), None).simplified(schema).conditions


def label_of(schema: Schema, value: Any) -> Any:
    """The class, or the number, that a rule predicts; None stays None."""
    if value is None:
        return None
    if not isinstance(schema.label, Categorical):
        try:
            return float(value)
        except (TypeError, ValueError):
            raise ParameterError(f"the label {schema.label.name!r} is a number", parameter="rules") from None
    code = int(np.flatnonzero(Comparison(schema.label.name, Op.IS, value).kept(schema).codes)[0])
    return schema.label.values[code]


def parts_of(schema: Schema, rule: Rule) -> Iterator[str | Condition]:
    """The conditions of a rule by value; one that no text can say (a list of too many values) stays as it is."""
    for attribute in dict.fromkeys(condition.test.attribute for condition in rule.conditions):
        mine = [condition for condition in rule.conditions if condition.test.attribute == attribute]
        possible = np.all([_admitted(schema, one) for one in mine], axis=0).any()
        # A contradiction has no merged form: each of its conditions is written by itself.
        for group in [mine] if possible else [[one] for one in mine]:
            codes = np.all([_admitted(schema, one) for one in group], axis=0)
            texts = list(_texts(schema, attribute, codes))
            yield from texts if _readable(schema, attribute, texts, codes) else group


def admitted(schema: Schema, conditions: Iterable[Condition]) -> dict[int, tuple[bool, ...]]:
    """The codes that conditions admit, by attribute; attributes of which they admit all are left out."""
    found: dict[int, Codes] = {}
    for one in conditions:
        here = _admitted(schema, one)
        found[one.test.attribute] = found.get(one.test.attribute, here) & here
    return {attribute: tuple(codes.tolist()) for attribute, codes in found.items() if not codes.all()}


def _texts(schema: Schema, attribute: int, codes: Codes) -> Iterator[str]:
    fact = schema.attributes[attribute]
    name, places = quoted(fact.name), np.flatnonzero(codes).tolist()
    if codes.all():
        return
    if isinstance(fact, Categorical):
        values = [quoted(str(fact.values[code])) for code in places]
        yield f"{name} = {values[0]}" if len(values) == 1 else f"{name} in ({', '.join(values)})"
        return
    low, high, last = places[0], places[-1], len(fact.cuts)  # the last code of a number that is present
    if low > last:
        yield f"{name} is missing"
        return
    if low > 0:
        yield f"{name} > {float(fact.cuts[low - 1])!r}" + (" or is missing" if high > last else "")
    if high < last:
        yield f"{name} <= {float(fact.cuts[high])!r}"
    elif low == 0:
        yield f"{name} <= {float(fact.high)!r}"  # any number, and not a missing one


def _readable(schema: Schema, attribute: int, texts: list[str], codes: Codes) -> bool:
    """Whether the texts mean exactly these codes."""
    try:
        read = [_codes(schema, parse_condition(text)) for text in texts if text.count(",") < MOST_VALUES]
    except PrivetError:
        return False
    met = np.all([found for _, found in read] or [np.ones_like(codes)], axis=0)
    return len(read) == len(texts) and {a for a, _ in read} <= {attribute} and bool((met == codes).all())


def _admitted(schema: Schema, condition: Condition) -> Codes:
    codes = np.arange(schema.arities[condition.test.attribute])
    return np.asarray(condition.test.branch(codes) == condition.child)


def _codes(schema: Schema, meant: Meant) -> tuple[int, Codes]:
    kept = [one.kept(schema) for one in meant]
    attribute, text = kept[0].attribute, " or ".join(map(str, meant))
    if attribute == LABEL:
        raise ParameterError(f"{text} is about the label; write it after THEN", parameter="rules")
    for one in kept:
        if one.note:
            raise ParameterError(
                one.note, parameter="rules", fix="use a cut of the schema, or read the rules with rules_by_value"
            )
    codes = np.any([one.codes for one in kept], axis=0)
    places = np.flatnonzero(codes)
    numeric = isinstance(schema.attributes[attribute], Numeric)
    if not places.size or (numeric and places.size != places[-1] - places[0] + 1):
        raise ParameterError(f"{text} is no single run of numbers", parameter="rules", fix="write a rule for each")
    return attribute, codes
