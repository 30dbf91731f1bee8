"""A tree as nested lists says what the tree says, and large ones are cut."""

from __future__ import annotations

import html
import re

from hypothesis import given
from tree_strategies import trees

from privet.models.render import MOST_OPEN, leaves_below, nested_html, shown_levels, typeset
from privet.models.shown import ShownTree
from privet.models.tree import Tree


@given(trees())
def test_every_condition_and_every_label_stands_in_it(tree: Tree) -> None:
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
