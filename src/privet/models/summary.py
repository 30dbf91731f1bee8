"""A forest in a few lines: what its trees ask for, and the top of the first. All from released trees."""

from __future__ import annotations

from collections import Counter

from privet.bidi import isolated, padded, width_of
from privet.models.forest import Forest
from privet.models.render import export_text
from privet.models.shown import ShownTree, as_shown

MOST_LINES = 24  # of the first tree: what a screen holds
MOST = 20  # attributes listed


def summarise(forest: Forest, first: ShownTree | None = None) -> str:
    """How many trees ask for which attribute, the most asked for first, and how the first tree begins.

    ``first`` is a view of the first tree, by default of all that is in it.

    >>> from privet.schema import Categorical, Schema
    >>> from privet.structure.splits import OneCategory
    >>> from privet.models.tree import Tree
    >>> schema = Schema((Categorical("cough", ("no", "yes")),), Categorical("ill", ("no", "yes")))
    >>> tree = Tree.build(schema, [OneCategory(0, 1), None, None], [1, -1, -1], [0, 1, 0])
    >>> print(summarise(Forest(schema, (tree, tree))), end="")
    What the trees ask for:
      cough   2 of 2 trees, 2 tests, first in 2
    The first tree:
    |--- cough = yes
    |   |--- class: yes
    |--- cough != yes
    |   |--- class: no
    """
    names = tuple(map(isolated, forest.schema.names))
    asked: Counter[int] = Counter()
    trees: Counter[int] = Counter()
    roots: Counter[int] = Counter()
    for tree in forest:
        inner = [a for a in tree.attribute.tolist() if a >= 0]
        asked.update(inner)
        trees.update(set(inner))
        roots.update(inner[:1])  # node 0 is the root
    order = sorted(asked, key=lambda a: (-trees[a], -asked[a], a))
    width = max((width_of(names[a]) for a in order[:MOST]), default=0)
    lines = ["What the trees ask for:"] if order else ["No tree asks for anything: every one is a single leaf."]
    lines += [
        f"  {padded(names[a], width)}   {trees[a]} of {len(forest)} trees, {asked[a]} test{'s'[: asked[a] > 1]}, "
        f"first in {roots[a]}"
        for a in order[:MOST]
    ]
    if len(order) > MOST:
        lines.append(f"  and {len(order) - MOST} more")
    shown = as_shown(forest.trees[0]) if first is None else first
    depth, text = _top(shown)
    whole = depth >= shown.depth
    lines.append("The first tree:" if whole else f"The first tree, its first {depth} test{'s'[: depth > 1]}:")
    return "\n".join([*lines, *shown.notes]) + "\n" + text


def _top(tree: ShownTree) -> tuple[int, str]:
    """As much of a tree as a screen holds, a test at least, and how many tests deep that is."""
    for depth in range(min(tree.depth, MOST_LINES), 0, -1):  # a level more is a line more at least
        text = export_text(tree, depth)
        if text.count("\n") <= MOST_LINES:
            return depth, text
    return min(1, tree.depth), export_text(tree, min(1, tree.depth))
