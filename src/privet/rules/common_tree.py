"""One public tree in which each leaf matches a known set of rules, so that one noisy histogram counts all rules.

Rules overlap; leaves do not. The tree tests the conditions of one rule after the other, as far as the results so far
leave them open. A rule is then the union of some leaves, and a record is in exactly one leaf.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from privet.errors import ParameterError
from privet.models.rules import Condition
from privet.rules.rulelist import RuleList
from privet.structure.routes import Routes
from privet.structure.splits import Test

Bools = NDArray[np.bool_]
Region = Mapping[int, Bools]  # the codes that are left, by attribute; all where an attribute is missing

MOST_LEAVES = 2_000  # a support is a sum of noisy leaves: with more, noise would be all there is


@dataclass(frozen=True)
class CommonTree:
    """``matched`` is (leaf, rule), with leaves in the order of ``routes.leaves``."""

    routes: Routes
    matched: Bools

    @property
    def first(self) -> NDArray[np.intp]:
        """The first rule that each leaf matches, as in a decision list; -1 if none."""
        return np.where(self.matched.any(axis=1), self.matched.argmax(axis=1), -1)

    @classmethod
    def of(cls, rules: RuleList) -> CommonTree:
        """The tree of a list of rules, from the rules and their schema alone.

        >>> from privet.schema import Categorical, Numeric, Schema
        >>> from privet.rules.by_value import rules_by_value
        >>> schema = Schema((Numeric("age", 0, 99), Categorical("sex", ("f", "m"))), Categorical("ill", ("no", "yes")))
        >>> tree = CommonTree.of(rules_by_value(schema, ["IF age > 50 THEN yes", "IF sex = f THEN no"]))
        >>> tree.matched.astype(int).tolist(), tree.first.tolist()
        ([[0, 1], [0, 0], [1, 1], [1, 0]], [1, -1, 0, 0])
        """
        schema = rules.schema
        plans = [rule.simplified(schema).conditions for rule in rules]
        codes = [np.arange(arity) for arity in schema.arities]
        every = [np.ones(arity, dtype=np.bool_) for arity in schema.arities]
        waiting: deque[Region] = deque([{}])
        tests: list[Test | None] = []
        matched: list[list[bool]] = []
        while waiting:
            region = waiting.popleft()
            met = [_state(region, plan, codes, every) for plan in plans]
            test = next((state for state in met if not isinstance(state, bool)), None)
            tests.append(test)
            if test is None:
                matched.append([bool(state) for state in met])
                if len(matched) + len(waiting) > MOST_LEAVES:
                    raise ParameterError(
                        f"these rules overlap in more than {MOST_LEAVES:,} ways, and each would get noise of its own",
                        parameter="patterns",
                        fix="ask about fewer rules at once, or about one tree",
                    )
                continue
            a = test.attribute
            goes = test.branch(codes[a])
            here = region.get(a, every[a])
            waiting.extend({**region, a: here & (goes == child)} for child in range(test.arity(schema)))
        return cls(Routes.in_level_order(schema, tests), np.array(matched, dtype=np.bool_).reshape(-1, len(plans)))


def _state(
    region: Region, plan: tuple[Condition, ...], codes: list[NDArray[np.intp]], every: list[Bools]
) -> bool | Test:
    """Whether all records of a region meet a rule, or none does; else a test that tells more."""
    open_test: Test | None = None
    for condition in plan:
        a = condition.test.attribute
        here = region.get(a, every[a])
        meets = (condition.test.branch(codes[a]) == condition.child) & here
        if not meets.any():
            return False
        if open_test is None and not (meets == here).all():
            open_test = condition.test
    return True if open_test is None else open_test
