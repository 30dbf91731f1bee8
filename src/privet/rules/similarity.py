"""The similarity of two rule lists: the Jaccard index of the attributes that they test (Fletcher 2017, chapter 4).

A rule becomes the set of attributes that it tests, with its label. Values are left out, since thresholds of 45 and 44
mean the same. The index compares rules, never records, so on released models it is free.

The thesis gives the triangle inequality as J(S,U) >= J(S,T) + J(T,U), which already S = T = U contradicts. Since 1 - J
is a metric, J(S,U) >= J(S,T) + J(T,U) - 1 holds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import comb
from string import ascii_lowercase
from typing import Any

from privet.errors import ParameterError
from privet.rules.rulelist import RuleList, rule_list

Element = tuple[frozenset[str], Any]
"""The attribute names of a rule, and its label as text; None for a rule without one."""


@dataclass(frozen=True)
class Similarity:
    """The Jaccard index of two sets of encoded rules, and its bounds by their sizes."""

    first: frozenset[Element]
    second: frozenset[Element]
    possible: int
    """The number of possible elements: labels times attribute sets up to the size of the longest."""

    @property
    def shared(self) -> frozenset[Element]:
        return self.first & self.second

    @property
    def index(self) -> float:
        return jaccard(self.first, self.second)

    @property
    def upper(self) -> float:
        return upper_bound(len(self.first), len(self.second))

    @property
    def lower(self) -> float:
        return lower_bound(len(self.first) + len(self.second), self.possible)

    def to_dict(self) -> dict[str, Any]:
        def plain(elements: frozenset[Element]) -> list[dict[str, Any]]:
            rows = [{"attributes": sorted(names), "label": label} for names, label in elements]
            return sorted(rows, key=lambda row: (len(row["attributes"]), row["attributes"], str(row["label"])))

        return {
            "jaccard": self.index,
            "lower_bound": self.lower,
            "upper_bound": self.upper,
            "first": len(self.first),
            "second": len(self.second),
            "shared": plain(self.shared),
            "only_first": plain(self.first - self.second),
            "only_second": plain(self.second - self.first),
        }


def compare_rules(
    first: Any, second: Any, *, labels: bool = True, attribute_of: Mapping[str, str] | None = None
) -> Similarity:
    """Compare two rule lists, or two models that have rules.

    Parameters
    ----------
    labels : whether a rule's label is part of it; if not, only its attributes count
    attribute_of : the attribute of each column, for models that see an attribute as several columns

    >>> from privet.datasets.clinic import clinic
    >>> from privet.estimators.references import SklearnTreeReference
    >>> schema, table = clinic(1000)
    >>> gini, gain = (SklearnTreeReference(schema, 2, criterion=c).fit(table) for c in ("gini", "entropy"))
    >>> found = compare_rules(gini, gain)
    >>> found.lower <= found.index <= found.upper <= 1
    True
    """
    lists = [rule_list(first), rule_list(second)]
    renamed = attribute_of or {}
    sets = [encode(rules, labels=labels, attribute_of=renamed) for rules in lists]
    names = [{renamed.get(name, name) for name in rules.schema.names} for rules in lists]
    if names[0] != names[1]:
        differ = ", ".join(sorted(names[0] ^ names[1])[:5])
        raise ParameterError(f"only rules about the same attributes can be compared; these differ in {differ}")
    values = {str(value) for rules in lists for value in rules.schema.classes}
    every = sets[0] | sets[1]
    longest = max((len(attributes) for attributes, _ in every), default=0)
    shortest = min((len(attributes) for attributes, _ in every), default=1)
    possible = possible_elements(len(names[0]), longest, len(values) if labels else 1, shortest == 0)
    return Similarity(sets[0], sets[1], possible)


def encode(
    rules: RuleList, *, labels: bool = True, attribute_of: Mapping[str, str] | None = None
) -> frozenset[Element]:
    """The set of elements of a rule list."""
    renamed, names = attribute_of or {}, rules.schema.names
    return frozenset(
        (frozenset(renamed.get(names[a], names[a]) for a in rule.attributes), _label(rule.label, labels))
        for rule in rules
    )


def element_texts(rules: RuleList) -> list[str]:
    """Each rule as in Table 4.2 of the thesis: a 1 for each attribute that it tests, and a letter for its label."""
    width, labels = len(rules.schema.names), [str(value) for value in rules.schema.classes]
    texts = []
    for rule in rules:
        letter = "" if rule.label is None else _letter(labels.index(str(rule.label)))
        texts.append("".join("01"[a in rule.attributes] for a in range(width)) + letter)
    return texts


def jaccard(first: frozenset[Any] | set[Any], second: frozenset[Any] | set[Any]) -> float:
    """The size of the intersection over that of the union; 1 for two empty sets."""
    either = len(first | second)
    return len(first & second) / either if either else 1.0


def upper_bound(first: int, second: int) -> float:
    """The largest index for sets of these sizes: the smaller inside the larger."""
    return min(first, second) / max(first, second) if max(first, second) else 1.0


def lower_bound(together: int, possible: int) -> float:
    """The smallest index: more elements than there can be different ones must coincide.

    >>> round(lower_bound(100, possible_elements(5, 5, 2)), 2)
    0.61
    """
    return max((together - possible) / possible, 0.0) if possible else 0.0


def possible_elements(attributes: int, longest: int, labels: int, unconditional: bool = False) -> int:
    """The number of elements for rules of 1 (with ``unconditional``, of 0) to ``longest`` attributes."""
    return labels * sum(comb(attributes, size) for size in range(0 if unconditional else 1, longest + 1))


def _label(label: Any, wanted: bool) -> str | None:
    # As text: a model file keeps labels as declared, scikit-learn as NumPy has them.
    return str(label) if wanted and label is not None else None


def _letter(number: int) -> str:
    return ascii_lowercase[number] if number < len(ascii_lowercase) else f"({number})"
