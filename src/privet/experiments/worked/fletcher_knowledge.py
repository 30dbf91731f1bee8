"""Fletcher's chapters 4 and 5 on paper: rules as sets, the toy of Figure 5.2, and what printed tables say together."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from statistics import NormalDist

import numpy as np

from privet.experiments.outcome import Statement
from privet.experiments.worked.printed import claimed, printed, printed_row, rounds_to
from privet.measures import RuleList, performance, retention_report
from privet.measures.similarity import compare_rules, element_texts, jaccard, lower_bound
from privet.schema import Categorical, Numeric, Schema
from privet.structure.splits import Multiway, Test, Threshold
from privet.trees.leaf_counts import shares
from privet.trees.rules import Condition, Rule
from privet.trees.tree import Tree

# Table 4.3: |S|, |T|, the bound and the index, as printed.
RULE_SETS = {
    "WBC": (6, 8, "0.750", "0.077"),
    "Vehicle": (21, 24, "0.875", "0.184"),
    "Banknotes": (7, 7, "1.000", "0.750"),
    "RedWine": (21, 24, "0.875", "0.125"),
    "Spambase": (21, 23, "0.913", "0.100"),
    "PageBlocks": (14, 16, "0.889", "0.546"),
    "OptDigits": (26, 29, "0.897", "0.019"),
    "PenWritten": (21, 24, "0.875", "0.000"),
    "GammaTele": (18, 20, "0.900", "0.310"),
    "Shuttle": (6, 6, "1.000", "0.714"),
    "Credit": (12, 13, "0.920", "0.136"),
    "Yeast": (14, 16, "0.875", "0.364"),
    "Cardio": (7, 9, "0.778", "0.143"),
    "Adult": (17, 18, "0.944", "0.400"),
    "Bank": (17, 17, "1.000", "0.172"),
    "TicTacToe": (17, 19, "0.895", "0.161"),
    "Car": (6, 8, "0.750", "0.400"),
    "Nursery": (10, 11, "0.909", "0.615"),
    "Chess": (14, 17, "0.824", "0.476"),
}
# The rules of Table 4.1 (attributes of WBC in the file's order, and whether the label is malignant), and Table 4.2.
RULES = (((0, 1, 5), 0), ((1, 2), 0), ((0, 1, 2, 5, 8), 1), ((1, 2, 6), 1))
ENCODED = ("110001000a", "011000000a", "111001001b", "011000100b")
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


def rules_as_sets() -> Iterator[Statement]:
    """Section 4.3."""
    names = tuple(f"x{i}" for i in range(9))
    facts = Schema(tuple(Numeric(name, 1, 10, bins=9) for name in names), Categorical("class", ("a", "b")))
    rules = [Rule(tuple(Condition(Threshold(a, 4), 0) for a in asked), "ab"[label]) for asked, label in RULES]
    encoded = element_texts(RuleList(facts, tuple(rules)))
    yield claimed(
        "TH Table 4.2",
        "the four rules of Table 4.1 encoded",
        " ".join(ENCODED),
        " ".join(encoded),
        tuple(encoded) == ENCODED,
    )
    possible = 2 * (2**5 - 1)
    yield claimed("TH 4.3.4.1", "elements with five attributes and two classes", 62, possible, possible == 62)
    yield printed("TH 4.3.4.1", "lower bound with |S| + |T| = 100", "0.61", lower_bound(100, possible))
    s, t, u = frozenset("a"), frozenset("ab"), frozenset("b")
    least = jaccard(s, t) + jaccard(t, u)
    yield claimed(
        "TH 4.3.4.2",
        "J(S, U) >= J(S, T) + J(T, U), asked of {a}, {a, b}, {b}",
        f">= {least:g}",
        f"{jaccard(s, u):g}",
        jaccard(s, u) >= least,
        "1 - J is a metric, so what holds is J(S, U) >= J(S, T) + J(T, U) - 1",
    )
    twice = (Rule((Condition(Threshold(0, 2), 0),), "a"), Rule((Condition(Threshold(0, 6), 1),), "a"))
    size = len(compare_rules(RuleList(facts, twice), RuleList(facts, twice)).first)
    why = "x <= 3 and x > 7 with one label are two rules and one element, since values are left out"
    yield claimed("TH 4.3.3.2", "a list of rules and its set have equally many elements", 2, size, size == 2, why)


def rule_sets() -> Iterator[Statement]:
    """Table 4.3 against itself."""
    wrong = [f"{n}: {a}/{b} is {a / b:.3f}" for n, (a, b, bound, _) in RULE_SETS.items() if not rounds_to(a / b, bound)]
    right = len(RULE_SETS) - len(wrong)
    yield claimed(
        "TH Table 4.3", "the upper bounds are |S|/|T|", "19 of 19", f"{right} of 19", not wrong, "; ".join(wrong)
    )
    # An index of one pair of sets is k / (|S| + |T| - k).
    missed = [
        name
        for name, (a, b, _, index) in RULE_SETS.items()
        if not any(rounds_to(k / (a + b - k), index) for k in range(a + 1))
    ]
    yield claimed(
        "TH Table 4.3",
        "indices over five folds are means of five",
        "means of five folds",
        f"{19 - len(missed)} of 19 are the index of one pair of sets of the printed sizes",
        len(missed) > 2,
        f"all but {', '.join(missed)} are k / (|S| + |T| - k) for a whole k, so one fold is printed; with 16/18 sets "
        "PageBlocks has its bound 0.889 and 12/22 = 0.545",
    )


def toy() -> Iterator[Statement]:
    """The thought experiment of section 5.6."""
    x, z, w = (_table(text) for text in (X, Z, W))
    of_x, of_z = _tree(*TREE_X, x), _tree(*TREE_Z, z)
    report = retention_report(x, z, of_x, min_support=0)
    why = f"|{report.accuracy_original:.2f} - {report.accuracy_anonymised:.2f}| by eq. (5.3); 0.50 is the second"
    yield printed("TH Table 5.4", "pattern accuracy of z", "0.50", report.pattern_accuracy, why)
    yield printed("TH Table 5.4", "PSD of z", "0.08", report.psd)
    yield printed("TH Table 5.4", "PLD of z", "0.34", report.pld)
    for name, tree, texts in (("x", of_x, ("0.67", "0.67", "0.80")), ("z", of_z, ("0.67", "0.50", "0.67"))):
        found = performance(tree, w)
        ours = [found.accuracy or 0.0, found.auc or 0.0, _f_measure(tree, w)]
        why = "of three records of w the patterns of x get one right, so prediction accuracy does see the change"
        yield printed_row("TH Table 5.4", f"prediction accuracy, AUC and F-measure of {name} on w", texts, ours, why)
    # Pr(c0) of each pattern, and the records that it covers.
    tables = (
        ("5.2", of_x, (1, 2, 4, 5), ("0.66", "0.0", "1.0", "1.0"), (3, 1, 1, 1)),
        ("5.3", of_z, (4, 5, 2, 3), ("1.0", "1.0", "1.0", "0.34"), (1, 1, 1, 3)),
    )
    for number, tree, nodes, chances_said, supports in tables:
        counts = np.asarray(tree.counts)[list(nodes)]
        chances = [float(c0 / both) for c0, both in zip(counts[:, 0], counts.sum(axis=1), strict=True)]
        why = "the two classes of that pattern are swapped; 0.66 and 0.34 stand for 2/3 and 1/3"
        swapped = [text for text, chance in zip(chances_said, chances, strict=True) if abs(float(text) - chance) > 0.01]
        told = " ".join(f"{chance:.2f}" for chance in chances)
        says = "chance of c0 in each pattern"
        yield claimed(f"TH Table {number}", says, " ".join(chances_said), told, not swapped, why)
        told = " ".join(f"{n:g}" for n in counts.sum(axis=1))
        yield claimed(
            f"TH Table {number}",
            "support of each pattern",
            " ".join(map(str, supports)),
            told,
            all(math.isclose(a, b) for a, b in zip(supports, counts.sum(axis=1), strict=True)),
        )


def correlations() -> Iterator[Statement]:
    """How many points Table 5.6 is of, by its own p values."""
    pairs = np.array(CORRELATIONS.split(), dtype=float).reshape(-1, 2)

    def fits(points: int) -> int:
        def chance(r: float) -> float:  # by Fisher's transformation
            return 2 * NormalDist().cdf(-math.atanh(abs(r)) * math.sqrt(points - 3))

        least = [chance(min(abs(r) + 0.005, 0.999)) for r, _ in pairs]
        most = [chance(max(abs(r) - 0.005, 0.0)) for r, _ in pairs]
        return sum(low - 0.005 <= p <= high + 0.005 for low, high, (_, p) in zip(least, most, pairs, strict=True))

    found = {tables: fits(16 * tables) for tables in (8, 9)}
    yield claimed(
        "TH Table 5.6",
        "correlations over 16 levels of noise on the nine tables of two classes",
        "nine tables",
        f"p values of 9 x 16 points: {found[9]} of 30 right; of 8 x 16: {found[8]}",
        found[9] == 30,
        "Table 5.5 lists eight tables of two classes, and the p values are of eight",
    )


def _table(text: str) -> dict[str, list[str]]:
    rows = [(row[:2], row[2:4], row[4:]) for row in text.split()]
    return {name: [row[i] for row in rows] for i, name in enumerate(("A0", "A1", "C"))}


def _tree(tests: Sequence[Test | None], first_child: Sequence[int], table: dict[str, list[str]]) -> Tree:
    """A tree of given tests, with the counts of a table in every node."""
    codes = TOY.encode(table)
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
    codes = TOY.encode(table)
    assert codes.labels is not None
    said, true = tree.predict(codes.features) == 0, codes.labels == 0
    return float(2 * (said & true).sum() / (said.sum() + true.sum()))
