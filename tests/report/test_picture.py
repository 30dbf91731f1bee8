"""Where nodes stand: nothing overlaps, children stand right of their parents, and large trees are cut."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tree_strategies import trees

from privet.models.shown import ShownTree
from privet.models.tree import Tree
from privet.report.picture import BOX, Layout, places


@given(trees(max_depth=4), st.integers(1, 60))
def test_every_node_is_there_once_or_summed_up(tree: Tree, most: int) -> None:
    found = places(ShownTree.whole(tree), most)
    assert len({place.node for place in found}) == len(found) <= max(most, 1)
    leaves = sum(place.cut_off or bool(tree.is_leaf[place.node]) for place in found)
    assert leaves == tree.n_leaves
    for place in found:
        if place.parent is not None:
            above = found[place.parent]
            assert place.node in tree.children(above.node)
            assert place.level == above.level + 1


@given(trees(max_depth=4))
def test_no_two_boxes_overlap(tree: Tree) -> None:
    layout = Layout.of(ShownTree.whole(tree))
    frames: list[Any] = []
    for box in layout.boxes:
        left, top = layout.left(box), box.middle - BOX / 2
        frames.append((left, top, left + box.width, top + BOX))
        assert left >= 0
        assert left + box.width <= layout.width
        assert top >= 0
        assert top + BOX <= layout.height
        corners = layout.branch(box)
        if corners is not None:
            xs = [x for x, _ in corners]
            assert xs == sorted(xs)  # a branch never runs back
    for i, (a, b, c, d) in enumerate(frames):
        assert not any(a < z and x < c and b < t and y < d for x, y, z, t in frames[i + 1 :])
