"""Private pattern retention for one charge, from the noisy class counts of the leaves of a public tree.

The leaves are those of a model's tree, or of a tree made for a list of rules (:mod:`privet.rules.common_tree`). Each
record is in exactly one of them, so all supports by class are one histogram, in which a record changes one count by 1.
Everything else is arithmetic on that histogram and on the published table. Proof: ``docs/proofs/publishing.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from privet.errors import ParameterError
from privet.models.model import Model
from privet.models.rules import rules_of
from privet.models.tree import Tree
from privet.privacy.dataset import PrivateDataset
from privet.rules.common_tree import CommonTree
from privet.rules.matching import count_matches
from privet.rules.retention import MIN_SUPPORT, RetentionReport, accuracy, chi_squared
from privet.rules.rulelist import RuleList, rule_list
from privet.tables.encoding import Codes, encode

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class PatternCounts:
    """Noisy counts of private records by pattern, from one charge. Any number of tables is compared with them for free.

    ``supports`` is (pattern, class) for all that match, ``first`` for those that match no earlier pattern. Counts may
    be negative.
    """

    rules: RuleList
    supports: Ints
    first: Ints
    records: int

    def report(self, anonymised: Any, *, min_support: float = MIN_SUPPORT) -> RetentionReport:
        """What a published table, which is counted exactly, retains of the patterns."""
        if isinstance(anonymised, PrivateDataset):
            raise ParameterError("anonymised must be a published table; a protected table is not one")
        rules, noisy, known = self.rules, self.supports, self.supports.clip(min=0)
        z = anonymised if isinstance(anonymised, Codes) else encode(rules.schema, anonymised)
        after = count_matches(rules.schema, rules.rules, z)
        records, support, left = max(self.records, 1), noisy.sum(axis=1), after.counts.sum(axis=1)
        counted = (support >= min_support) & (known.sum(axis=1) > 0)
        label = [chi_squared(known[i], after.counts[i]) if counted[i] else np.nan for i in range(len(rules))]
        relative = np.full(len(rules), np.nan)
        relative[support > 0] = np.abs(support - left)[support > 0] / support[support > 0]
        return RetentionReport(
            rules,
            min(max(accuracy(rules, self.first, records), 0.0), 1.0),
            accuracy(rules, after.first, after.records),
            support,
            left,
            {"PSD": np.abs(support - left) / records, "PLD": np.array(label), "RE": relative},
            min_support,
            (records, after.records),
            notes=("The private records were counted with noise, paid for by the ledger; the published ones exactly.",),
        )


def count_patterns(data: PrivateDataset, patterns: Any, epsilon: object) -> PatternCounts:
    """Count private records by pattern, once for all tables that are to be compared with them. Spends ``epsilon``.

    ``patterns`` are a released tree or a list of rules, which may overlap; they must be public already.
    """
    if not isinstance(data, PrivateDataset):
        raise ParameterError("data must be a protected table: privet.protect(table, schema, ledger) makes one")
    rules, tree = _patterns(patterns)
    with data.for_work(epsilon, "pattern supports", rules.schema) as work:
        leaves = work.level().descend(tree.routes).class_counts_all(epsilon, what="pattern supports")
    # From here on everything is arithmetic on released numbers.
    supports = tree.matched.T.astype(np.int64) @ leaves
    first = (tree.first[:, None] == np.arange(len(rules))).T.astype(np.int64) @ leaves
    return PatternCounts(rules, supports, first, int(leaves.sum()))


def private_supports(data: PrivateDataset, patterns: Any, epsilon: object) -> Ints:
    """(pattern, class) noisy numbers of private records that match each pattern. Spends ``epsilon`` once.

    The leaves of a tree are in the order of :func:`privet.models.rules.rules_of`. Counts may be negative.

    >>> import privet
    >>> from privet.datasets.clinic import clinic
    >>> from privet.recipes.papers.mohammed2015 import Mohammed2015
    >>> from privet.fitting import Request, fit
    >>> schema, table = clinic(1000)
    >>> data = privet.protect(table, schema, privet.Ledger(1))
    >>> tree = fit(Request(Mohammed2015(max_depth=1), data, 0.5))
    >>> 900 < int(private_supports(data, tree, 0.5).sum()) < 1100
    True
    >>> data.ledger.remaining
    Fraction(0, 1)
    """
    return count_patterns(data, patterns, epsilon).supports


def private_retention(
    data: PrivateDataset, anonymised: Any, patterns: Any, epsilon: object, *, min_support: float = MIN_SUPPORT
) -> RetentionReport:
    """Measure what a published table retains of private records, from noisy counts of them. Spends ``epsilon`` once.

    ``anonymised`` is a released table, which is counted exactly, and ``patterns`` a list of rules or the tree of a
    released model; both must be public already. Noise makes small patterns look changed: raise ``min_support`` well
    above 1/epsilon.
    """
    if isinstance(anonymised, PrivateDataset):
        raise ParameterError("anonymised must be a published table; a protected table is not one")
    rules, _ = _patterns(patterns)
    z = anonymised if isinstance(anonymised, Codes) else encode(rules.schema, anonymised)  # refuses before the charge
    return count_patterns(data, patterns, epsilon).report(z, min_support=min_support)


def _patterns(patterns: Any) -> tuple[RuleList, CommonTree]:
    """The patterns, and a public tree of whose leaves they are unions."""
    if not isinstance(patterns, RuleList):
        found = Model.of(patterns)
        if found is not None and len(found.trees.members) == 1:
            found.schema.refuse_number("private retention")
            return _of_tree(found.trees.members[0])
    rules = rule_list(patterns)
    rules.schema.refuse_number("private retention")
    return rules, CommonTree.of(rules)


def _of_tree(tree: Tree) -> tuple[RuleList, CommonTree]:
    """A tree's own leaves; contradictory ones, which no record reaches, are patterns too."""
    place = {leaf: number for number, leaf in enumerate(tree.routes.leaves.tolist())}
    order = [place[node] for node, _ in tree.walk() if tree.test(node) is None]
    matched = np.zeros((len(order), len(order)), dtype=np.bool_)
    matched[order, np.arange(len(order))] = True
    return RuleList(tree.schema, rules_of(tree)), CommonTree(tree.routes, matched)
