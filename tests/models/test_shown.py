"""One view of a tree: smaller than the model, never contradicting it, and the same wherever it is shown."""

from __future__ import annotations

import re
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tree_strategies import all_records, leaves_by_hand, trees

from privet.errors import ParameterError
from privet.models.render import export_graphviz, export_mermaid, export_text, nested_html
from privet.models.rules import rules_of
from privet.models.shown import ShownTree
from privet.models.simplifying import reached
from privet.models.tree import Tree
from privet.schema import Categorical, Numeric, Schema
from privet.structure.splits import Multiway, OneCategory, Threshold

SCHEMA = Schema(
    (
        Numeric("age", 0, 100, thresholds=(30.0, 60.0), missing="?"),
        Categorical("job", ("clerk", "cook", "smith", "nurse")),
        Categorical("sex", ("f", "m")),
    ),
    Categorical("rich", ("no", "yes")),
)
limits = st.fixed_dictionaries(
    {"max_leaves": st.none() | st.integers(1, 6), "min_support": st.none() | st.integers(0, 90)}
)


def family(test: Any, counts: list[list[float]], labels: list[int], **options: Any) -> Tree:
    """A test and its leaves."""
    known = np.array([[np.nan] * 2, *counts])
    tests, leaves = [test, *[None] * len(labels)], [-1] * len(labels)
    return Tree.build(SCHEMA, tests, [1, *leaves], [0, *labels], counts=known, draws=[0, *map(abs, leaves)], **options)


def texts(tree: ShownTree) -> list[str]:
    return [str(rule) for rule in tree.rules]


# ---- what can be reached --------------------------------------------------------------------------------------------


@given(trees())
def test_what_records_reach_is_shown_and_nothing_else(tree: Tree) -> None:
    """Every record that the schema has is sent down by hand: its leaf, or a node above it, is shown."""
    met = set(leaves_by_hand(tree, all_records(tree.schema)).tolist())
    assert set(np.flatnonzero(reached(tree) & tree.is_leaf).tolist()) == met
    shown = ShownTree.of(tree)
    assert sum(leaf.leaves for leaf in shown.leaves) == len(met)
    assert len(set(shown.nodes)) == len(shown.order) == len(shown.nodes)
    if len(met) < tree.n_leaves and tree.n_leaves > 1:
        gone = re.search(r"^(\d+) branch(es)? that no record can take", "\n".join(shown.notes))
        decided = any(len(tree.children(n)) == 1 for n in range(len(tree)))
        assert gone or decided


def test_branches_that_contradict_each_other_are_hidden_in_one_line() -> None:
    tests = [OneCategory(1, 0), OneCategory(1, 1), None, None, None]
    counts = np.array([[np.nan] * 2, [np.nan] * 2, [9.0, 400], [300, 5], [500, 2]])
    tree = Tree.build(SCHEMA, tests, [1, 3, -1, -1, -1], [0, 0, 1, 0, 0], counts=counts, draws=[0, 0, 1, 1, 1])
    shown = ShownTree.of(tree, 5.0)
    assert str(shown) == (
        "1 branch that no record can take is not shown: the conditions on the way to it contradict each other.\n"
        "|--- job = clerk\n|   |--- class: no (support 502, confidence 1.00)\n"
        "|--- job != clerk\n|   |--- class: yes (support 409, confidence 0.98)\n"
    )
    assert "job = cook" in export_text(tree)  # the model has it


# ---- leaves that say the same ---------------------------------------------------------------------------------------


def test_leaves_that_do_not_differ_beyond_noise_are_one() -> None:
    alike = ShownTree.of(family(OneCategory(2, 0), [[90, 10], [60, 9]], [0, 0]), 5.0)
    assert texts(alike) == ["ALWAYS no (support 169, confidence 0.89)"]
    assert alike.notes == ("Leaves whose predictions do not differ beyond noise are shown as one: 1 stands for 2.",)
    other_label = ShownTree.of(family(OneCategory(2, 0), [[90, 10], [60, 9]], [0, 1]), 5.0)
    other_share = ShownTree.of(family(OneCategory(2, 0), [[9000, 1000], [6000, 2000]], [0, 0]), 5.0)
    no_noise = ShownTree.of(family(OneCategory(2, 0), [[90, 10], [60, 9]], [0, 0]))
    assert [len(shown.leaves) for shown in (other_label, other_share, no_noise)] == [2, 2, 2]


def test_some_children_of_many_are_one() -> None:
    tree = family(Multiway(1), [[90, 10], [5, 70], [60, 9], [-8, 3]], [0, 1, 0, 0])
    shown = ShownTree.of(tree, 5.0)
    assert texts(shown) == [
        "IF job != cook THEN no (support 164, confidence 0.87)",
        "IF job = cook THEN yes (support 75, confidence 0.93)",
    ]
    assert export_text(shown).startswith("|--- job != cook\n")
    assert shown.shown_as == {3: 1, 4: 1}
    assert len(rules_of(tree)) == 4  # what `compare` measures


def test_bins_are_one_only_side_by_side_and_never_with_missing() -> None:
    apart = ShownTree.of(family(Multiway(0), [[90, 10], [5, 70], [60, 9], [50, 9]], [0, 1, 0, 0]), 5.0)
    assert len(apart.leaves) == 4
    beside = ShownTree.of(family(Multiway(0), [[5, 70], [90, 10], [60, 9], [50, 9]], [1, 0, 0, 0]), 5.0)
    assert export_text(beside).split("\n")[2] == "|--- age > 30"
    assert texts(beside)[0] == "IF age > 30 AND age is present THEN no (support 169, confidence 0.89)"


@given(trees(), limits)
def test_a_leaf_that_is_not_mixed_shows_what_the_model_predicts(tree: Tree, given_limits: dict[str, Any]) -> None:
    if given_limits["min_support"] is not None and np.isnan(tree.counts[tree.is_leaf]).any():
        with pytest.raises(ParameterError, match="min_support needs counts"):
            ShownTree.of(tree, **given_limits)
        return
    shown = ShownTree.of(tree, 3.0, **given_limits)
    assert given_limits["max_leaves"] is None or len(shown.leaves) <= given_limits["max_leaves"]
    records = all_records(tree.schema)
    labels = tree.label[leaves_by_hand(tree, records)]
    met = np.zeros(records.shape[1], dtype=int)
    for node, admitted in walk_of(shown):
        inside = np.ones(records.shape[1], dtype=bool)
        for attribute, codes in admitted.items():
            inside &= codes[records[attribute]]
        met += inside
        leaf = shown.nodes[node]
        if not leaf.label.startswith("mostly "):
            assert set(labels[inside].tolist()) <= {leaf.code}
    assert (met == 1).all()  # each record has one leaf


def walk_of(shown: ShownTree) -> Any:
    from privet.models.simplifying import walk_admitted

    return ((node, admitted) for node, admitted in walk_admitted(shown._fan, shown.root) if shown.is_leaf(node))


# ---- limits ---------------------------------------------------------------------------------------------------------


def three_levels() -> Tree:
    tests = [OneCategory(2, 0), Threshold(0, 0), Threshold(0, 1), None, None, None, None]
    counts = np.array([[np.nan] * 2] * 3 + [[900.0, 100], [20, 700], [400, 11], [2, 70]])
    labels, draws = [0, 0, 0, 0, 1, 0, 1], [0, 0, 0, 1, 1, 1, 1]
    return Tree.build(SCHEMA, tests, [1, 3, 5, -1, -1, -1, -1], labels, counts=counts, draws=draws)


def test_the_smallest_branches_are_folded_first() -> None:
    shown = ShownTree.of(three_levels(), 5.0, max_leaves=3)
    assert "class: mostly no (2 leaves, support 483, confidence 0.83)" in export_text(shown)
    assert shown.notes == ("Small branches are folded: 3 of 4 leaves are left.",)
    assert len(ShownTree.of(three_levels(), 5.0, min_support=500).leaves) == 3
    assert len(ShownTree.of(three_levels(), 5.0, min_support=80).leaves) == 4
    assert ShownTree.of(three_levels(), 5.0, min_support=80).why_minor == "fewer than 80 records (min_support)"


@pytest.mark.parametrize("wrong", [{"max_leaves": 0}, {"max_leaves": 2.5}, {"min_support": -1}, {"min_support": "x"}])
def test_limits_are_checked(wrong: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        ShownTree.of(three_levels(), **wrong)


# ---- rules ----------------------------------------------------------------------------------------------------------


def test_rules_with_the_most_records_come_first_and_noise_last() -> None:
    tree = family(Multiway(1), [[-9, -12], [70, 40], [-8, 3], [900, 9]], [1, 0, 0, 0])
    shown = ShownTree.of(tree, 5.0)
    assert texts(shown) == [
        "IF job in {smith, nurse} THEN no (support 904, confidence 0.99)",
        "IF job = cook THEN no (support 110, confidence 0.64)",
        "IF job = clerk THEN yes (support about 0)",
    ]
    assert [leaf.node for leaf in shown.minor] == [1]
    assert shown.why_minor == "about 0 records, which noise alone could have made"


def test_raw_is_what_was_released() -> None:
    tree = family(OneCategory(2, 0), [[25, -63], [60.5, 9]], [0, 0])
    assert texts(ShownTree.whole(tree, raw=True)) == [
        "IF sex = m THEN no (released: no 60.5, yes 9)",
        "IF sex = f THEN no (released: no 25, yes -63)",
    ]


# ---- everywhere the same --------------------------------------------------------------------------------------------


@given(trees(counted=True), limits)
def test_all_ways_to_show_it_have_the_same_numbers(tree: Tree, given_limits: dict[str, Any]) -> None:
    """Also in the pages and pictures of tests/report/test_agreement.py."""
    shown = ShownTree.of(tree, 3.0, **given_limits)
    expected = sorted(leaf.counts.total.words() for leaf in shown.leaves if leaf.counts is not None)
    support = r"\(?support (\d+|fewer than \d+|about 0)[,)]"
    for text in (export_text(shown), "\n".join(texts(shown)), export_graphviz(shown), export_mermaid(shown)):
        assert sorted(re.findall(support, text)) == expected
    words = r'class="remark">([\d,]+|fewer than [\d,]+|about 0) records'
    assert sorted(found.replace(",", "") for found in re.findall(words, nested_html(shown))) == expected
    values = {leaf.node: leaf for leaf in shown.leaves}
    leaves = [node for node, _ in tree.walk() if tree.is_leaf[node]]
    if not any("no record can take" in note for note in shown.notes):
        for node, rule in zip(leaves, rules_of(tree, scale=3.0), strict=True):
            leaf = values.get(node)
            if leaf is not None and leaf.leaves == 1 and leaf.counts is not None:
                assert (rule.support, rule.below) == (leaf.support, leaf.counts.total.below)


@given(trees(), st.sampled_from([None, 3.0]))
def test_no_number_is_negative_and_children_fit_into_their_parent(tree: Tree, scale: float | None) -> None:
    shown = ShownTree.of(tree, scale)
    for node, branches in shown.branches.items():
        above, below = shown.nodes[node].counts, [shown.nodes[branch.child].counts for branch in branches]
        for counts in (above, *below):
            for count in () if counts is None else (counts.total, *counts.classes):
                assert 0 <= count.low <= count.value <= count.high
        if above is not None and None not in below:
            assert above.total.value == pytest.approx(sum(counts.total.value for counts in below if counts))
            for counts in below:
                assert counts is not None
                if counts.total.known and above.total.known:
                    assert counts.total.high <= above.total.high + 1e-9
                    assert counts.total.low <= above.total.low + 1e-9


def test_a_very_deep_tree_is_simplified_in_linear_time() -> None:
    def deep(depth: int) -> Tree:
        schema = Schema(tuple(Numeric(f"x{a}", 0, 100, bins=202) for a in range(5)), Categorical("rich", ("no", "yes")))
        tests: list[Any] = [Threshold(0, 200)]
        first_child = [1]
        for level in range(1, depth):
            tests += [Threshold(level % 5, 200 - level // 5), None]
            first_child += [2 * level + 1, -1]
        tests += [None, None]
        first_child += [-1, -1]
        labels = [level % 2 for level in range(len(tests))]
        return Tree.build(schema, tests, first_child, labels, counts=np.ones((len(tests), 2)), draws=[1] * len(tests))

    def calls(depth: int) -> int:
        tree, count = deep(depth), 0

        def seen(*_: Any) -> None:
            nonlocal count
            count += 1

        sys.setprofile(seen)
        try:
            assert len(ShownTree.of(tree, 3.0).rules) > 0
        finally:
            sys.setprofile(None)
        return count

    assert calls(1000) < 7 * calls(200)  # five times as deep; by squares it would be 25 times
