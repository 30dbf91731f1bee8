"""The rules of a tree, as values. Text is a rendering of a rule and is never parsed back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from privet.bidi import isolated
from privet.errors import ParameterError
from privet.models.counts import NodeCounts, ShownCounts, count_words, estimates
from privet.models.number_tree import NumberTree, about
from privet.models.tree import Tree
from privet.schema import Numeric, Schema
from privet.structure.splits import OneCategory, Test, Threshold


@dataclass(frozen=True, slots=True)
class Condition:
    """A test and its outcome: a record matches if it goes to ``child``."""

    test: Test
    child: int

    def matches(self, features: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
        """Which records match; ``features`` are codes (attributes, records)."""
        return np.asarray(self.test.branch(features[self.test.attribute]) == self.child)

    def describe(self, schema: Schema) -> str:
        return self.test.describe(schema, self.child)


@dataclass(frozen=True, slots=True)
class Rule:
    """If all conditions hold, predict ``label`` (a value of the schema's label, not a code).

    ``support`` is the number of matching records and ``confidence`` the share of them with the label, from released
    counts (:mod:`privet.models.counts`): never negative, and None where nothing was released (confidence also where
    support is 0). If noise alone could have made the support, it is below ``below``, where 0 stands for about 0.

    >>> from privet.schema import Categorical, Schema
    >>> schema = Schema((Numeric("age", 0, 100, bins=10),), Categorical("income", ("<=50K", ">50K")))
    >>> rule = Rule((Condition(Threshold(0, 4), 0), Condition(Threshold(0, 3), 0)), ">50K", 1234.0, 0.87)
    >>> rule.describe(schema)
    'IF age <= 40 THEN >50K (support 1234, confidence 0.87)'
    >>> rule.matches(np.array([[2, 3, 4, 5]])).tolist()
    [True, True, False, False]
    """

    conditions: tuple[Condition, ...]
    label: Any
    support: float | None = None
    confidence: float | None = None
    below: float | None = None
    deviation: float | None = None
    """About the standard deviation of the noise, if the label is a number."""

    @property
    def attributes(self) -> frozenset[int]:
        return frozenset(condition.test.attribute for condition in self.conditions)

    def matches(self, features: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
        """Which records meet all conditions; ``features`` are codes (attributes, records)."""
        met = np.ones(features.shape[1], dtype=np.bool_)
        for condition in self.conditions:
            met &= condition.matches(features)
        return met

    def simplified(self, schema: Schema) -> Rule:
        """The same rule with as few conditions as possible, by the first appearance of their attributes.

        Rules that admit the same codes get the same conditions: at most a lower and an upper bound for a number, ``=``
        one category or ``!=`` some. Contradictory conditions stay as they are.
        """
        order = dict.fromkeys(condition.test.attribute for condition in self.conditions)
        return replace(self, conditions=tuple(c for a in order for c in self._simplest(schema, a)))

    def _simplest(self, schema: Schema, attribute: int) -> Iterator[Condition]:
        mine = [condition for condition in self.conditions if condition.test.attribute == attribute]
        codes = np.arange(schema.arities[attribute])
        admitted = np.all([condition.test.branch(codes) == condition.child for condition in mine], axis=0)
        return simplest(schema, attribute, admitted) if admitted.any() else iter(mine)

    def premise(self, schema: Schema) -> tuple[str, ...]:
        """The simplified conditions in words."""
        return tuple(words_of(self.simplified(schema).conditions, schema))

    def describe(self, schema: Schema) -> str:
        """The rule as a sentence, with simplified conditions."""
        conditions = self.premise(schema)
        premise = f"IF {' AND '.join(conditions)} THEN" if conditions else "ALWAYS"
        known = evidence(self.support, self.confidence, self.below)
        return f"{premise} {self.outcome}" + (f" ({', '.join(known)})" if known else "")

    @property
    def outcome(self) -> str:
        """The prediction in words."""
        return isolated(self.label) if self.deviation is None else about(self.label, self.deviation)


def simplest(schema: Schema, attribute: int, admitted: npt.NDArray[np.bool_]) -> Iterator[Condition]:
    """The fewest conditions that admit exactly these codes of an attribute (at least one)."""
    codes = np.flatnonzero(admitted)
    if isinstance(schema.attributes[attribute], Numeric):
        # Every test on a number admits an interval of codes, and so does their conjunction.
        low, high = int(codes[0]), int(codes[-1])
        if low > 0:
            yield Condition(Threshold(attribute, low - 1), 1)
        if high < len(admitted) - 1:
            yield Condition(Threshold(attribute, high), 0)
    elif len(codes) == 1 and len(admitted) > 1:
        yield Condition(OneCategory(attribute, int(codes[0])), 0)
    else:
        yield from (Condition(OneCategory(attribute, int(code)), 1) for code in np.flatnonzero(~admitted))


MOST_CONDITIONS = 2_000_000  # of all rules of a tree: a path of n tests alone makes n * n / 2, which fills memory
DEEPEST = 100  # conditions that a reader can still follow


def rules_of(
    tree: Tree, *, inner: bool = False, deepest: int | None = None, scale: float | None = None
) -> tuple[Rule, ...]:
    """One rule for each leaf, from left to right.

    With ``inner``, also one for each inner node, before those below it: its prediction if the tree stopped there. The
    root's rule has no conditions. Each record matches exactly one leaf's rule. ``deepest`` leaves out rules with more
    conditions (before simplification). ``scale`` is the noise scale of the tree's counts
    (:func:`privet.models.counts.noise_scale`), None if unknown.
    """
    level = tree.routes.level
    if deepest is None and (conditions := int(level[tree.is_leaf].sum())) > MOST_CONDITIONS:
        raise ParameterError(
            f"the rules of this tree have {conditions:,} conditions, more than the {MOST_CONDITIONS:,} that can be "
            f"listed: it is {tree.depth:,} tests deep"
        )
    order = [node for node, _ in tree.walk()]
    shown = ShownCounts.of(order, tree.children, estimates(tree), scale)
    paths: dict[int, tuple[Condition, ...]] = {0: ()}
    rules = []
    for node, depth in tree.walk(deepest):
        path = paths.pop(node)
        test = tree.test(node)
        if test is not None and depth != deepest:
            for child, successor in enumerate(tree.children(node)):
                paths[successor] = (*path, Condition(test, child))
        if test is None or inner:
            rules.append(Rule(path, *_outcome(tree, node, shown[node])))
    return tuple(rules)


def _outcome(tree: Tree, node: int, counts: NodeCounts | None) -> tuple[Any, ...]:
    """The fields of a node's rule after its conditions."""
    support, below = (None, None) if counts is None else (counts.total.value, counts.total.below)
    if isinstance(tree, NumberTree):
        return float(tree.value[node]), support, None, below, float(tree.deviation[node])
    label = int(tree.label[node])
    return tree.schema.classes[label], support, None if counts is None else counts.share(label), below


def evidence(support: float | None, confidence: float | None, below: float | None = None) -> list[str]:
    """``['support 1234', 'confidence 0.87']``, as far as known; a support that noise hides has no confidence."""
    known = [] if support is None else [f"support {count_words(support, below)}"]
    return known + ([] if confidence is None or below is not None else [f"confidence {confidence:.2f}"])


def words_of(conditions: tuple[Condition, ...], schema: Schema) -> Iterator[str]:
    bounded = {c.test.attribute for c in conditions if isinstance(c.test, Threshold) and c.child == 0}
    for condition in conditions:
        test = condition.test
        if not isinstance(test, Threshold) or not test.takes_missing(schema, condition.child):
            yield condition.describe(schema)
        elif test.attribute in bounded:  # an upper bound on the same number already excludes a missing one
            yield test.describe(schema, condition.child, or_missing=False)
        else:
            yield f"({condition.describe(schema)})"
