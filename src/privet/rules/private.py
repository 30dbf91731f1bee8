"""Private pattern retention for one charge, from the noisy class counts of a tree's leaves.

The patterns must be the leaves of one tree. Each record matches exactly one of them, so all supports by class are one
histogram, in which a record changes one count by 1. Everything else is arithmetic on that histogram and on the
published table. Proof: ``docs/proofs/publishing.md``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from privet.errors import ParameterError
from privet.models.model import Model
from privet.models.rules import rules_of
from privet.models.tree import Tree
from privet.privacy.dataset import PrivateDataset
from privet.rules.matching import count_matches
from privet.rules.retention import MIN_SUPPORT, RetentionReport, accuracy, chi_squared
from privet.rules.rulelist import RuleList
from privet.tables.encoding import Codes, encode


def private_supports(data: PrivateDataset, patterns: Any, epsilon: object) -> npt.NDArray[np.int64]:
    """(leaf, class) noisy numbers of private records that match each leaf of a released tree. Spends ``epsilon``.

    Leaves are in the order of :func:`privet.models.rules.rules_of`. Counts may be negative.

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
    if not isinstance(data, PrivateDataset):
        raise ParameterError("data must be a protected data set: privet.protect(table, schema, ledger) makes one")
    tree = _tree(patterns)
    with data.for_work(epsilon, "pattern supports", tree.schema) as work:
        counts = work.level().descend(tree.routes).class_counts_all(epsilon, what="pattern supports")
    place = {leaf: number for number, leaf in enumerate(tree.routes.leaves.tolist())}
    return counts[[place[node] for node, _ in tree.walk() if tree.test(node) is None]]


def private_retention(
    data: PrivateDataset, anonymised: Any, patterns: Any, epsilon: object, *, min_support: float = MIN_SUPPORT
) -> RetentionReport:
    """Measure what a published table retains of private records, from noisy counts of them. Spends ``epsilon`` once.

    ``anonymised`` is a released table, which is counted exactly, and ``patterns`` the tree of a released model; both
    must be public already. Noise makes small patterns look changed: raise ``min_support`` well above 1/epsilon.
    """
    tree = _tree(patterns)
    if isinstance(anonymised, PrivateDataset):
        raise ParameterError("anonymised must be a published table; a protected data set is not one")
    rules = RuleList(tree.schema, rules_of(tree))
    z = anonymised if isinstance(anonymised, Codes) else encode(tree.schema, anonymised)
    after = count_matches(tree.schema, rules.rules, z)
    noisy = private_supports(data, tree, epsilon)
    known = noisy.clip(min=0)
    records, support, left = max(int(noisy.sum()), 1), noisy.sum(axis=1), after.counts.sum(axis=1)
    counted = (support >= min_support) & (known.sum(axis=1) > 0)
    label = [chi_squared(known[i], after.counts[i]) if counted[i] else np.nan for i in range(len(rules))]
    relative = np.full(len(rules), np.nan)
    relative[support > 0] = np.abs(support - left)[support > 0] / support[support > 0]
    by_pattern = {"PSD": np.abs(support - left) / records, "PLD": np.array(label), "RE": relative}
    before = min(max(accuracy(rules, noisy, records), 0.0), 1.0)
    return RetentionReport(
        rules,
        before,
        accuracy(rules, after.first, after.records),
        support,
        left,
        by_pattern,
        min_support,
        (records, after.records),
        notes=("The private records were counted with noise, paid for by the ledger; the published ones exactly.",),
    )


def _tree(patterns: Any) -> Tree:
    found = Model.of(patterns)
    if found is None or len(found.trees.members) != 1:
        raise ParameterError(
            "patterns must be one tree: its leaves share the records out, so that one noisy histogram has all of them. "
            "Rules of several trees overlap; ask for each tree by itself, and pay for each"
        )
    return found.trees.members[0]
