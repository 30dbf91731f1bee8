"""Renderings: readable, and safe with any name or value."""

from __future__ import annotations

import html
import re

import numpy as np
import pytest
from hypothesis import given
from tree_strategies import trees

from privet.errors import ParameterError
from privet.models.render import (
    MOST_OPEN,
    export_graphviz,
    export_mermaid,
    export_text,
    leaves_below,
    nested_html,
    shown_levels,
    typeset,
)
from privet.models.shown import ShownTree
from privet.models.tree import Tree
from privet.schema import Categorical, Numeric, Schema
from privet.structure.splits import Multiway, OneCategory, Threshold

SCHEMA = Schema(
    (Numeric("age", 0, 100, thresholds=(37.5,)), Categorical("job", ("clerk", "cook", "smith"))),
    Categorical("income", ("<=50K", ">50K")),
)


@pytest.fixture
def tree() -> Tree:
    tests = [Threshold(0, 0), Multiway(1), None, None, None, OneCategory(1, 2), None, None]
    counts = np.full((8, 2), np.nan)
    counts[3] = 30, 10
    return Tree.build(SCHEMA, tests, [1, 3, -1, -1, -1, 6, -1, -1], [0, 0, 1, 0, 1, 0, 1, 0], counts=counts)


def test_text(tree: Tree) -> None:
    assert export_text(tree) == (
        "|--- age <= 37.5\n"
        "|   |--- job = clerk\n"
        "|   |   |--- class: <=50K (support 40, confidence 0.75)\n"
        "|   |--- job = cook\n"
        "|   |   |--- class: >50K\n"
        "|   |--- job = smith\n"
        "|   |   |--- job = smith\n"
        "|   |   |   |--- class: >50K\n"
        "|   |   |--- job != smith\n"
        "|   |   |   |--- class: <=50K\n"
        "|--- age > 37.5\n"
        "|   |--- class: >50K\n"
    )


def test_text_cut_short(tree: Tree) -> None:
    assert export_text(tree, max_depth=1) == (
        "|--- age <= 37.5\n|   |--- truncated branch of depth 2\n|--- age > 37.5\n|   |--- class: >50K\n"
    )
    assert export_text(tree, max_depth=0) == "|--- truncated branch of depth 3\n"
    assert export_text(tree, max_depth=3) == export_text(tree)
    with pytest.raises(ParameterError, match="max_depth"):
        export_text(tree, max_depth=-1)


def test_graphviz(tree: Tree) -> None:
    dot = export_graphviz(tree)
    assert 'n0 [label="age <= 37.5"];' in dot
    assert 'n1 [label="job"];' in dot
    assert 'n0 -> n2 [label="no"];' in dot
    assert 'n1 -> n4 [label="job = cook"];' in dot
    assert 'n3 [label="<=50K (support 40, confidence 0.75)", style=' in dot


def test_mermaid(tree: Tree) -> None:
    chart = export_mermaid(tree)
    assert chart.startswith("flowchart TD\n")
    assert '    n0["age #60;= 37.5"]\n' in chart
    assert '    n2(["#62;50K"])\n' in chart
    assert '    n0 -->|"yes"| n1\n' in chart
    assert '    n1 -->|"job = cook"| n4\n' in chart


# A quoted string of DOT, and statements made of names, numbers and such strings: nothing else may appear.
QUOTED = r'"(?:[^"\\\n]|\\.)*"'
DOT_LINE = re.compile(rf" {{4}}n\d+( -> n\d+)? \[label=({QUOTED})(, style={QUOTED}, (fill|font)color={QUOTED})?\];")
MERMAID_LOOK = re.compile(r" {4}class(Def faint color:#\w+,stroke-dasharray:3| n\d+(,n\d+)* faint)")
MERMAID_LINE = re.compile(r' {4}n\d+(?:\["(.*)"\]|\(\["(.*)"\]\)| -->\|"(.*)"\| n\d+)')


@given(trees())
def test_every_name_is_escaped(tree: Tree) -> None:
    labels = [str(value) for value in tree.schema.label.values]
    head, node_defaults, *statements, tail, end = export_graphviz(tree).split("\n")
    assert (head, node_defaults, tail, end) == ("digraph Tree {", "    node [shape=box, style=rounded];", "}", "")
    assert len(statements) == 2 * len(tree) - 1
    for line in statements:
        assert DOT_LINE.fullmatch(line), line

    head, *statements, end = export_mermaid(tree).split("\n")
    assert (head, end) == ("flowchart TD", "")
    statements = [line for line in statements if not MERMAID_LOOK.fullmatch(line)]
    assert len(statements) == 2 * len(tree) - 1
    for line in statements:
        match = MERMAID_LINE.fullmatch(line)
        assert match, line
        text = next(group for group in match.groups() if group is not None)
        assert not set(re.sub(r"#\d+;", "", text)) & set("\"`#;&<>%|\\{}[]:'*_~")

    text = export_text(tree)
    assert text.count("\n") == len(tree) - 1 + tree.n_leaves  # a condition for each node but the root, and the classes
    assert all(any(label in line for label in labels) for line in text.split("\n") if "|--- class: " in line)


def test_escapes_read_back() -> None:
    nasty = 'say "hi" \\ & &lt; <b> `x` %%{init} #35; |'
    schema = Schema((Categorical("a", (nasty, "b")),), SCHEMA.label)
    tree = Tree.build(schema, [Multiway(0), None, None], [1, -1, -1], [0, 0, 1])
    [dot] = re.findall(rf"n0 -> n1 \[label=({QUOTED})\]", export_graphviz(tree))
    assert html.unescape(re.sub(r"\\(.)", r"\1", dot[1:-1])) == f"a = {nasty}"
    [chart] = re.findall(r'n0 -->\|"(.*)"\| n1', export_mermaid(tree))
    assert re.sub(r"#(\d+);", lambda m: chr(int(m[1])), chart) == f"a = {nasty}"


def test_a_line_break_in_a_name_breaks_no_line() -> None:
    schema = Schema((Categorical("a", ("x\n|--- class: y", "z")),), SCHEMA.label)
    tree = Tree.build(schema, [Multiway(0), None, None], [1, -1, -1], [0, 0, 1])
    assert export_text(tree).split("\n")[0] == "|--- a = x\\n|--- class: y"
    assert 'label="a = x\\\\n|--- class: y"' in export_graphviz(tree)


def test_a_graded_leaf_shows_what_the_tree_predicts_there() -> None:
    """Its own counts may be noise alone, and then contradict its label."""
    schema = Schema((Categorical("cough", ("no", "yes")),), Categorical("ill", ("no", "yes")))
    counts = np.array([[np.nan, np.nan], [73.0, -9.0], [4.0, 20.0]])
    tests, proba = [OneCategory(0, 1), None, None], np.array([[0.5, 0.5], [0.4, 0.6], [0.2, 0.8]])
    tree = Tree.build(schema, tests, [1, -1, -1], [0, 1, 1], proba=proba, counts=counts)
    said = export_text(tree)
    assert "cough = yes\n|   |--- class: yes (support 64, probability 0.60)\n" in said
    assert "cough != yes\n|   |--- class: yes (support 24, probability 0.80)\n" in said


@given(trees())
def test_every_condition_and_every_label_is_in_it(tree: Tree) -> None:
    shown = nested_html(tree, prefix="t")
    assert set(re.findall(r'id="t-(\d+)"', shown)) == {str(node) for node in range(len(tree))}
    for node, _ in tree.walk():
        test = tree.test(node)
        for branch, child in enumerate(tree.children(node)):
            assert test is not None
            name = tree.schema.names[test.attribute]
            condition = html.escape(typeset(test.describe(tree.schema, branch), name))
            assert f'id="t-{child}"' in shown
            assert f'<span class="when">{condition}</span>' in shown
    assert shown.count('class="then ') == tree.n_leaves


@given(trees())
def test_how_much_is_shown(tree: Tree) -> None:
    whole = ShownTree.whole(tree)
    assert leaves_below(whole)[0] == tree.n_leaves
    levels = [depth for _, depth in tree.walk()]
    for most in (1, 3, 10, 1000):
        shown = shown_levels(whole, most)
        assert sum(level <= shown for level in levels) <= max(most, 1)
        if shown < tree.depth:
            assert sum(level <= shown + 1 for level in levels) > most
    few = nested_html(tree, most=1)
    assert "not shown" in few or tree.n_leaves == 1
    assert tree.n_leaves > MOST_OPEN or "<details id" not in nested_html(tree)


@given(trees(counted=True))
def test_remarks_and_grey(tree: Tree) -> None:
    shown = ShownTree.whole(tree, 30.0)
    html_of = nested_html(shown)
    assert all(f"{leaf.counts.total.words(',')} records" in html_of for leaf in shown.leaves if leaf.counts)
    assert html_of.count('class="faint"') == (len(shown.minor) if len(tree) > 1 else 0)
