"""Fletcher's chapters 4 and 5 on paper: rules as sets, the toy of Figure 5.2, and what printed tables say together."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from statistics import NormalDist

import numpy as np

from privet.models.leaf_counts import shares
from privet.models.rules import Condition, Rule
from privet.models.tree import Tree
from privet.rules import RuleList, performance, retention_report
from privet.rules.similarity import compare_rules, element_texts, jaccard, lower_bound
from privet.schema import Categorical, Numeric, Schema
from privet.structure.splits import Multiway, Test, Threshold
from privet.tables.encoding import encode
from privet_experiments.judge import Measure, published, rounds_to

# The rules of Table 4.1 (attributes of WBC in the file's order, and whether the label is malignant).
RULES = (((0, 1, 5), 0), ((1, 2), 0), ((0, 1, 2, 5, 8), 1), ((1, 2, 6), 1))
# Table 5.6: a correlation and its p value, for uniform and for Gaussian noise.
CORRELATIONS = """
-0.77 0.00  -0.83 0.00  0.36 0.00  0.34 0.00  0.26 0.00  0.58 0.00  -0.32 0.00  -0.23 0.01  -0.09 0.33  -0.21 0.02
-0.35 0.00  -0.28 0.00  0.77 0.00  0.47 0.00  0.91 0.00  -0.86 0.00  -0.77 0.00  0.19 0.04  0.20 0.02  0.21 0.02
0.44 0.00  -0.04 0.67  -0.08 0.35  -0.09 0.34  -0.13 0.14  -0.27 0.00  -0.26 0.00  0.72 0.00  0.50 0.00  0.93 0.00
"""
TOY = Schema((Categorical("A0", ("a0", "a1", "a2")), Categorical("A1", ("b0", "b1"))), Categorical("C", ("c0", "c1")))
X, Z = "a0b0c0 a0b0c1 a0b0c0 a1b1c1 a2b0c0 a2b1c1", "a0b0c0 a0b1c1 a1b0c0 a2b1c1 a2b0c0 a2b0c1"
W = "a0b1c0 a1b1c0 a2b0c1"
# Trees with the patterns of Tables 5.2 and 5.3, level by level: their tests, and where the children of each begin.
TREE_X: tuple[list[Test | None], list[int]] = (
    [Multiway(0), None, None, Multiway(1), None, None],
    [1, -1, -1, 4, -1, -1],
)
TREE_Z: tuple[list[Test | None], list[int]] = (
    [Multiway(0), Multiway(1), None, None, None, None],
    [1, 4, -1, -1, -1, -1],
)


def rules_as_sets() -> Iterator[Measure]:
    """Section 4.3."""
    names = tuple(f"x{i}" for i in range(9))
    facts = Schema(tuple(Numeric(name, 1, 10, bins=9) for name in names), Categorical("class", ("a", "b")))
    rules = [Rule(tuple(Condition(Threshold(a, 4), 0) for a in asked), "ab"[label]) for asked, label in RULES]
    yield Measure("encoded", encoded=list(element_texts(RuleList(facts, tuple(rules)))))
    possible = 2 * (2**5 - 1)
    yield Measure("elements", possible=possible)
    yield Measure("bound", value=lower_bound(100, possible))
    s, t, u = frozenset("a"), frozenset("ab"), frozenset("b")
    yield Measure("triangle", least=jaccard(s, t) + jaccard(t, u), index=jaccard(s, u))
    twice = (Rule((Condition(Threshold(0, 2), 0),), "a"), Rule((Condition(Threshold(0, 6), 1),), "a"))
    yield Measure("twice", size=len(compare_rules(RuleList(facts, twice), RuleList(facts, twice)).first))


def rule_sets() -> Iterator[Measure]:
    """Table 4.3 against itself."""
    printed = published("fletcher.table43", "index").values()
    wrong = [f"{name}: {a}/{b} is {a / b:.3f}" for _, a, b, _, bound, name in printed if not rounds_to(a / b, bound)]
    yield Measure("uppers", right=len(printed) - len(wrong), wrong=wrong)
    # An index of one pair of sets is k / (|S| + |T| - k).
    missed = [
        name
        for index, a, b, *_, name in printed
        if not any(rounds_to(k / (a + b - k), f"{index:.3f}") for k in range(a + 1))
    ]
    yield Measure("folds", single=len(printed) - len(missed), missed=missed)


def toy() -> Iterator[Measure]:
    """The thought experiment of section 5.6."""
    x, z, w = (_table(text) for text in (X, Z, W))
    of_x, of_z = _tree(*TREE_X, x), _tree(*TREE_Z, z)
    report = retention_report(x, z, of_x, min_support=0)
    accuracies = {"original": report.accuracy_original, "anonymised": report.accuracy_anonymised}
    yield Measure("pattern", value=report.pattern_accuracy, **accuracies)
    yield Measure("psd", value=report.psd)
    yield Measure("pld", value=report.pld)
    for name, tree in (("x", of_x), ("z", of_z)):
        found = performance(tree, w)
        yield Measure("prediction", at=name, value=[found.accuracy or 0.0, found.auc or 0.0, _f_measure(tree, w)])
    for number, tree, nodes in (("5.2", of_x, [1, 2, 4, 5]), ("5.3", of_z, [4, 5, 2, 3])):
        counts = np.asarray(tree.counts)[nodes]
        yield Measure("chance", at=number, chances=(counts[:, 0] / counts.sum(axis=1)).tolist())
        yield Measure("support", at=number, supports=counts.sum(axis=1).tolist())


def correlations() -> Iterator[Measure]:
    """How many points Table 5.6 is of, by its own p values."""
    pairs = np.array(CORRELATIONS.split(), dtype=float).reshape(-1, 2)

    def fits(points: int) -> int:
        def chance(r: float) -> float:  # by Fisher's transformation
            return 2 * NormalDist().cdf(-math.atanh(abs(r)) * math.sqrt(points - 3))

        least = [chance(min(abs(r) + 0.005, 0.999)) for r, _ in pairs]
        most = [chance(max(abs(r) - 0.005, 0.0)) for r, _ in pairs]
        both = zip(least, most, pairs, strict=True)
        return int(sum(low - 0.005 <= p <= high + 0.005 for low, high, (_, p) in both))

    yield Measure("points", nine=fits(9 * 16), eight=fits(8 * 16))


def _table(text: str) -> dict[str, list[str]]:
    rows = [(row[:2], row[2:4], row[4:]) for row in text.split()]
    return {name: [row[i] for row in rows] for i, name in enumerate(("A0", "A1", "C"))}


def _tree(tests: Sequence[Test | None], first_child: Sequence[int], table: dict[str, list[str]]) -> Tree:
    """A tree of given tests, with the counts of a table in every node."""
    codes = encode(TOY, table)
    assert codes.labels is not None
    counts = np.zeros((len(tests), 2))
    for record, label in zip(codes.features.T, codes.labels, strict=True):
        node = 0
        counts[node, label] += 1
        while (test := tests[node]) is not None:
            node = first_child[node] + int(record[test.attribute])
            counts[node, label] += 1
    return Tree.build(TOY, list(tests), list(first_child), counts.argmax(axis=1), proba=shares(counts), counts=counts)


def _f_measure(tree: Tree, table: dict[str, list[str]]) -> float:
    """With c0 as the positive class, as the thesis's 0.67 for z has it."""
    codes = encode(TOY, table)
    assert codes.labels is not None
    said, true = tree.predict(codes.features) == 0, codes.labels == 0
    return float(2 * (said & true).sum() / (said.sum() + true.sum()))
