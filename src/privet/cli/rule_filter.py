"""Which rules ``privet show`` lists: by label, by what they test, by support and confidence."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from privet.errors import ParameterError

if TYPE_CHECKING:
    from privet.models.rules import Rule
    from privet.models.shown import ShownRule
    from privet.schema import Schema


@dataclass(frozen=True)
class RuleFilter:
    """What a rule must have to be listed. An unknown support or confidence passes only without a limit."""

    label: str | None = None
    about: tuple[str, ...] = ()
    min_support: float | None = None
    min_confidence: float | None = None

    def check(self, schema: Schema) -> None:
        """Refuse a label or a column that the model does not know."""
        if self.label is not None:
            schema.refuse_number("--label")
            if self.label not in (classes := [str(one) for one in schema.classes]):
                raise ParameterError(
                    parameter="--label", problem=f"must be one of {', '.join(classes)}, not {self.label!r}"
                )
        if unknown := [name for name in self.about if name not in schema.names]:
            raise ParameterError(
                parameter="--about", problem=f"{unknown[0]!r} is no column; they are {', '.join(schema.names)}"
            )

    @property
    def given(self) -> bool:
        return self.label is not None or bool(self.about) or self.min_confidence is not None

    def keeps(self, rule: Rule, schema: Schema) -> bool:
        """Whether a rule of the model passes."""
        asked = [schema.names[attribute] for attribute in rule.attributes]
        sure = None if rule.below is not None else rule.confidence
        return self._passes(str(rule.label), asked, sure) and _reaches(rule.support, self.min_support)

    def shows(self, rule: ShownRule, schema: Schema) -> bool:
        """Whether a rule of a shown tree passes; its support is a matter of the tree (``is_minor``)."""
        leaf, label = rule.leaf, "" if self.label is None else str(schema.classes[rule.leaf.code])
        share = None if leaf.counts is None else leaf.counts.share(leaf.code)
        sure = None if leaf.hidden else share if leaf.probability is None else leaf.probability
        return self._passes(label, [name for name, _ in rule.premise], sure)

    def _passes(self, label: str, asked: Collection[str], confidence: Any) -> bool:
        right = self.label is None or label == self.label
        return right and set(self.about) <= set(asked) and _reaches(confidence, self.min_confidence)


def _reaches(value: float | None, least: float | None) -> bool:
    return least is None or (value is not None and value >= least)
