"""Lists of rules from privet's or scikit-learn's trees and forests: filtered, described, written by value."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from privet.errors import ModelFileError, ParameterError, SchemaError
from privet.models.model import Model
from privet.models.rules import Condition, Rule
from privet.rules.foreign import foreign_rules, is_foreign
from privet.rules.wording import admitted, conditions_of, label_of, parts_of
from privet.schema import Schema
from privet.schema.limits import brief
from privet.structure.grammar import RULE_FACTS, parse_condition, quoted
from privet.structure.splits import Kind, Tests, check_test, make_test

FORMAT = "privet-rules"
_KINDS = {Kind.THRESHOLD: "threshold", Kind.ONE_CATEGORY: "category", Kind.MULTIWAY: "multiway"}


@dataclass(frozen=True)
class RuleList:
    """Rules and the schema of their codes. A rule without a label is a set of conditions.

    >>> from privet.datasets.clinic import clinic
    >>> from privet.estimators.references import SklearnTreeReference
    >>> schema, table = clinic(1000)
    >>> rules = rule_list(SklearnTreeReference(schema, 2).fit(table))
    >>> print(rules.filtered(min_support=100, min_confidence=0.9))  # doctest: +ELLIPSIS
    IF ...
    """

    schema: Schema
    rules: tuple[Rule, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "rules", tuple(self.rules))
        for rule in self.rules:
            for condition in rule.conditions:
                check_test(condition.test, self.schema)
                if not 0 <= condition.child < condition.test.arity(self.schema):
                    raise ParameterError(f"a condition asks for child {condition.child}, which its test does not have")

    def __len__(self) -> int:
        return len(self.rules)

    def __iter__(self) -> Iterator[Rule]:
        return iter(self.rules)

    def __getitem__(self, number: int) -> Rule:
        return self.rules[number]

    def __str__(self) -> str:
        return "\n".join(rule.describe(self.schema) for rule in self.rules)

    def normalised(self) -> RuleList:
        """The same rules with the conditions on each attribute merged, without duplicates."""
        return replace(self, rules=tuple(dict.fromkeys(rule.simplified(self.schema) for rule in self.rules)))

    def filtered(self, *, min_support: float = 0, min_confidence: float = 0) -> RuleList:
        """The rules with enough support and confidence; an unknown value passes only a limit of 0."""
        kept = [
            rule
            for rule in self.rules
            if _reaches(rule.support, min_support) and _reaches(rule.confidence, min_confidence)
        ]
        return replace(self, rules=tuple(kept))

    def without_labels(self) -> RuleList:
        """The conditions alone."""
        return replace(self, rules=tuple(replace(rule, label=None, confidence=None) for rule in self.rules))

    def to_dict(self) -> dict[str, Any]:
        rules = [self._written(rule) for rule in self.rules]
        return {"format": FORMAT, "version": 2, "schema": self.schema.to_dict(), "rules": rules}

    def to_json(self) -> str:
        """The rules by value, and their schema. ``from_json`` gives the same list.

        ``"if"`` has the conditions as people write them, merged by attribute. ``"path"`` is there only where a tree
        asks for more, and has its tests one by one.
        """
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=1)

    def to_text(self) -> str:
        """The rules by value, one a line, as :func:`privet.rules.by_value.read_rules` reads them with their schema.

        Conditions on one attribute are merged, as :meth:`normalised` does.
        """
        from privet.rules.by_value import read_rules

        text = "".join(f"{_line(self.schema, rule)}\n" for rule in self.rules)
        if self.rules and not self._says(read_rules(self.schema, text)):
            raise ParameterError("a value of these rules cannot stand in a line of text", fix="use to_json")
        return text

    def _says(self, others: RuleList) -> bool:
        """Whether others predict the same for the same records."""
        mine, theirs = ([_said(rules.schema, rule) for rule in rules] for rules in (self, others))
        return self.schema == others.schema and mine == theirs

    @classmethod
    def from_json(cls, text: str) -> RuleList:
        try:
            content = json.loads(text)
            if not isinstance(content, dict) or content.get("format") != FORMAT:
                raise ModelFileError(f"these are not rules of privet's: they lack the mark 'format': {FORMAT!r}")
            schema = Schema.from_dict(content["schema"])
            rules = tuple(_rule(schema, rule) for rule in content["rules"])
            return cls(schema, rules)
        except ModelFileError:
            raise
        except (SchemaError, ParameterError) as error:
            raise ModelFileError(f"the rules are damaged: {error}") from error
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
            raise ModelFileError(f"the rules are damaged: {brief(error)}") from error

    def _written(self, rule: Rule) -> dict[str, Any]:
        parts = list(parts_of(self.schema, rule))
        known = {key: getattr(rule, key) for key in RULE_FACTS}
        facts = {
            "if": [part if isinstance(part, str) else self._condition(part) for part in parts],
            "then": rule.label,
            **{key: value for key, value in known.items() if value is not None},
        }
        same = _conditions(self.schema, facts["if"]) == rule.conditions
        return facts if same else facts | {"path": [self._condition(condition) for condition in rule.conditions]}

    def _condition(self, condition: Condition) -> dict[str, Any]:
        test, name = condition.test, self.schema.names[condition.test.attribute]
        number = int(Tests.of(self.schema, [test]).cut[0])
        return {"attribute": name, "test": _KINDS[test.kind], "number": number, "child": condition.child}


def rule_list(model: Any, *, names: Sequence[str] | None = None, inner: bool = False) -> RuleList:
    """The rules of a model: one for each leaf of each tree.

    Parameters
    ----------
    model : a privet tree, forest, model or fitted classifier; a fitted scikit-learn tree or forest of trees
        Rules of scikit-learn's get a schema made of their own thresholds, without missing values.
    names : the columns of a scikit-learn model that was fitted without names
    inner : also make a rule for each inner node (privet's trees only)
    """
    if isinstance(model, RuleList):
        return model
    if is_foreign(model):
        if inner:
            raise ParameterError("inner is for privet's own trees; scikit-learn's give the rules of their leaves")
        schema, rules = foreign_rules(model, names)
        return RuleList(schema, rules)
    if names is not None:
        raise ParameterError("names is for scikit-learn models; privet's know their attributes")
    found = Model.of(model)
    if found is None or not found.trees.members:
        raise ParameterError(
            f"cannot take rules from {type(model).__name__}; give a tree, a forest, a model that was read with "
            "privet.load_model, or a fitted tree or forest of scikit-learn's"
        )
    return RuleList(found.schema, found.rules(inner=inner))


def _reaches(value: float | None, least: float) -> bool:
    return least <= 0 if value is None else value >= least


def checked_facts(facts: Mapping[str, Any]) -> dict[str, float]:
    """What a written rule says about itself."""
    known = {key: facts[key] for key in RULE_FACTS if facts.get(key) is not None}
    for key, value in known.items():
        if not (type(value) in (int, float) and 0 <= value < math.inf):
            raise ParameterError(f"the {key} of a rule must be a number of at least 0")
    return known


def _rule(schema: Schema, facts: Mapping[str, Any]) -> Rule:
    conditions = _conditions(schema, facts["if"])
    if "path" in facts:
        path = _conditions(schema, facts["path"])
        RuleList(schema, (Rule(path, None), Rule(conditions, None)))  # refuses tests that the schema does not have
        if admitted(schema, path) != admitted(schema, conditions):
            raise ParameterError("the 'path' of a rule contradicts its 'if'", fix="delete 'path' after a change")
        conditions = path
    return Rule(conditions, label_of(schema, facts["then"]), **checked_facts(facts))


def _conditions(schema: Schema, written: Sequence[Any]) -> tuple[Condition, ...]:
    """Texts are merged by attribute; tests by number stay as they are."""
    texts = conditions_of(schema, [parse_condition(one) for one in written if isinstance(one, str)])
    kinds = {name: kind for kind, name in _KINDS.items()}
    tests = tuple(
        Condition(make_test(kinds[c["test"]], schema.index(c["attribute"]), int(c["number"])), int(c["child"]))
        for c in written
        if not isinstance(c, str)
    )
    return texts + tests


def _said(schema: Schema, rule: Rule) -> tuple[Any, Rule]:
    return admitted(schema, rule.conditions), replace(rule, conditions=())


def _line(schema: Schema, rule: Rule) -> str:
    parts = list(parts_of(schema, rule))
    if rule.label is None or not all(isinstance(part, str) for part in parts):
        raise ParameterError("a rule without a label, or with a very long list, is no line of text", fix="use to_json")
    premise = f"IF {' AND '.join(map(str, parts))} THEN" if parts else "ALWAYS"
    known = [(key, getattr(rule, key)) for key in RULE_FACTS]
    facts = ", ".join(f"{key} {float(value)!r}" for key, value in known if value is not None)
    return f"{premise} {quoted(str(rule.label))}" + (f" ({facts})" if facts else "")
