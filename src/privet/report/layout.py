"""Where the nodes of a tree stand in a picture: the root at the left, every leaf on a line of its own."""

from __future__ import annotations

from dataclasses import dataclass

from privet.structure.splits import Multiway
from privet.trees.nested import MOST_NODES, leaves_below, shown_levels
from privet.trees.tree import Tree


@dataclass(frozen=True, slots=True)
class Place:
    """A node, how deep it is (from 0) and on which line (from 0, between those of its children)."""

    node: int
    level: int
    line: float
    parent: int | None
    """Its place in the list of places, not its node."""
    asks: str
    """What the branch to it says: yes or no, or the value; empty for the root."""
    cut_off: int
    """How many leaves lie below it that are not shown; 0 for a node that is shown in full."""


def places(tree: Tree, most: int = MOST_NODES) -> tuple[Place, ...]:
    """The places of the nodes that are shown, parents first."""
    levels, below = shown_levels(tree, most), leaves_below(tree)
    order = [(node, depth) for node, depth in tree.walk() if depth <= levels]
    lines: dict[int, float] = {}
    ends = [node for node, depth in order if tree.is_leaf[node] or depth == levels]
    for line, node in enumerate(ends):
        lines[node] = float(line)
    for node, depth in reversed(order):
        children = tree.children(node)
        if children and depth < levels:
            lines[node] = (lines[children[0]] + lines[children[-1]]) / 2
    found: list[Place] = []
    where: dict[int, int] = {}
    above = {child: (node, branch) for node, _ in order for branch, child in enumerate(tree.children(node))}
    for node, depth in order:
        cut_off = below[node] if depth == levels and not tree.is_leaf[node] else 0
        parent, asks = None, ""
        if node in above:
            parent, asks = where[above[node][0]], branch_words(tree, *above[node])
        where[node] = len(found)
        found.append(Place(node, depth, lines[node], parent, asks, cut_off))
    return tuple(found)


def branch_words(tree: Tree, node: int, branch: int) -> str:
    """The answer that leads to a child."""
    test = tree.test(node)
    assert test is not None
    if not isinstance(test, Multiway):
        return "no" if branch else "yes"
    name = tree.schema.names[test.attribute]
    told = test.describe(tree.schema, branch).replace(f" < {name} <= ", " to ", 1)
    return told.removeprefix(f"{name} = ").removeprefix(f"{name} ")
