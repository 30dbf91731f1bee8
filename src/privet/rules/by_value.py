"""Rules as people write them, by names and values: ``IF age > 63.7 AND ward in (a, b) THEN ill``.

One rule a line, or JSON: ``[{"if": ["age > 63.7", "ward in (a, b)"], "then": "ill"}]``. The schema gets the cuts that
the rules name, so nothing is snapped. :meth:`RuleList.to_text` writes what is read here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from privet.errors import ParameterError
from privet.models.rules import Rule
from privet.rules.rulelist import RuleList, checked_facts
from privet.rules.wording import conditions_of, label_of
from privet.schema import Schema
from privet.structure.comparisons import with_cuts
from privet.structure.grammar import RULE_FACTS, RuleText, parse_condition, parse_rule


def rules_by_value(schema: Schema, rules: Any) -> RuleList:
    """Rules from their text (a line each), or from a list of texts or of ``{"if": [...], "then": ...}``.

    >>> from privet.datasets.clinic import clinic
    >>> schema, _ = clinic(10)
    >>> print(rules_by_value(schema, "IF temperature > 38.7 AND cough = true THEN Sick"))
    IF temperature > 38.7 AND cough = True THEN Sick
    """
    lines = [line for line in rules.splitlines() if line.strip()] if isinstance(rules, str) else rules
    written = [_written(one) for one in lines]
    if not written:
        raise ParameterError("there is no rule", parameter="rules", fix="write one a line: IF age > 63.7 THEN ill")
    finer = with_cuts(schema, [one for rule in written for meant in rule.conditions for one in meant])
    found = (
        Rule(conditions_of(finer, one.conditions), label_of(finer, one.label), **checked_facts(one.facts))
        for one in written
    )
    return RuleList(finer, tuple(found))


def read_rules(schema: Schema, text: str) -> RuleList:
    """Rules from the content of a file: lines, or a JSON list."""
    if not text.lstrip().startswith("["):
        return rules_by_value(schema, "\n".join(line for line in text.splitlines() if not line.startswith("#")))
    try:
        return rules_by_value(schema, json.loads(text))
    except (json.JSONDecodeError, RecursionError) as error:
        raise ParameterError(f"the rules are no JSON: {error}", parameter="patterns") from None


def _written(rule: Any) -> RuleText:
    if isinstance(rule, str):
        return parse_rule(rule)
    if not isinstance(rule, Mapping) or not {"if", "then"} <= rule.keys() or not isinstance(rule["if"], list):
        raise ParameterError("a rule must be a text, or an object with 'if' (a list) and 'then'", parameter="rules")
    facts = {key: rule[key] for key in RULE_FACTS if rule.get(key) is not None}
    return RuleText(tuple(map(parse_condition, rule["if"])), rule["then"], facts)
