"""Rules as people write them, by names and values: ``IF age > 63.7 AND ward in (a, b) THEN ill``.

One rule a line, or JSON: ``[{"if": ["age > 63.7", "ward in (a, b)"], "then": "ill"}]``. The schema gets the cuts that
the rules name, so nothing is snapped.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from privet.errors import ParameterError
from privet.models.rules import Condition, Rule, simplest
from privet.rules.rulelist import RuleList
from privet.schema import Categorical, Numeric, Schema
from privet.structure.comparisons import LABEL, Comparison, Op, with_cuts
from privet.structure.grammar import parse_comparison, parse_rule

Written = tuple[tuple[Comparison, ...], Any]


def rules_by_value(schema: Schema, rules: Any) -> RuleList:
    """Rules from their text (a line each), or from a list of texts or of ``{"if": [...], "then": ...}``.

    >>> from privet.datasets.clinic import clinic
    >>> schema, _ = clinic(10)
    >>> print(rules_by_value(schema, "IF temperature > 38.7 AND cough = true THEN Sick"))
    IF temperature > 38.7 AND cough = True THEN Sick
    """
    written = [_written(one) for one in (rules.splitlines() if isinstance(rules, str) else rules) if one]
    if not written:
        raise ParameterError("there is no rule", parameter="rules", fix="write one a line: IF age > 63.7 THEN ill")
    finer = with_cuts(schema, [one for conditions, _ in written for one in conditions])
    return RuleList(finer, tuple(_rule(finer, *one) for one in written))


def read_rules(schema: Schema, text: str) -> RuleList:
    """Rules from the content of a file: lines, or a JSON list."""
    if not text.lstrip().startswith("["):
        return rules_by_value(schema, "\n".join(line for line in text.splitlines() if not line.startswith("#")))
    try:
        return rules_by_value(schema, json.loads(text))
    except (json.JSONDecodeError, RecursionError) as error:
        raise ParameterError(f"the rules are no JSON: {error}", parameter="patterns") from None


def _written(rule: Any) -> Written:
    if isinstance(rule, str):
        return parse_rule(rule)
    if not isinstance(rule, Mapping) or not {"if", "then"} <= rule.keys() or not isinstance(rule["if"], list):
        raise ParameterError("a rule must be a text, or an object with 'if' (a list) and 'then'", parameter="rules")
    return tuple(map(parse_comparison, rule["if"])), rule["then"]


def _rule(schema: Schema, conditions: tuple[Comparison, ...], label: Any) -> Rule:
    found: list[Condition] = []
    for one in conditions:
        kept = one.kept(schema)
        if kept.attribute == LABEL:
            raise ParameterError(f"{one} is about the label; write it after THEN", parameter="rules")
        codes = np.flatnonzero(kept.codes)
        numeric = isinstance(schema.attributes[kept.attribute], Numeric)
        if not codes.size or (numeric and codes.size != codes[-1] - codes[0] + 1):
            raise ParameterError(f"{one} is no single run of numbers", parameter="rules", fix="write a rule for each")
        found += simplest(schema, kept.attribute, kept.codes)
    if not isinstance(schema.label, Categorical):
        raise ParameterError("rules by value predict a class, and the label is a number", parameter="rules")
    code = int(np.flatnonzero(Comparison(schema.label.name, Op.IS, label).kept(schema).codes)[0])
    return Rule(tuple(found), schema.label.values[code])
