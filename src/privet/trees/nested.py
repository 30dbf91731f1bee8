"""A tree as nested, foldable HTML: a list in a list, which a browser folds and a screen reader reads."""

from __future__ import annotations

from collections.abc import Callable

from privet.markup import Html, join, tag
from privet.trees.render import leaf_evidence, typeset
from privet.trees.tree import Tree

MOST_NODES = 400  # that a person still reads; beyond, branches are summed up
MOST_OPEN = 40  # leaves that are all shown at once
OPEN_LEVELS = 2  # of a larger tree
MOST_LEVELS = 40  # deeper nesting is more than browsers take


def shown_levels(tree: Tree, most: int = MOST_NODES) -> int:
    """How many levels of tests can be shown so that there are no more nodes than that."""
    sizes = [0] * (tree.depth + 1)
    for _, depth in tree.walk():
        sizes[depth] += 1
    shown, total = 0, sizes[0]
    for size in sizes[1 : MOST_LEVELS + 1]:
        total += size
        if total > most:
            break
        shown += 1
    return shown


def nested_html(
    tree: Tree,
    remark: Callable[[int], object] | None = None,
    faint: Callable[[int], bool] | None = None,
    prefix: str = "node",
    most: int = MOST_NODES,
) -> Html:
    """The tree; of a large one only as many levels as have ``most`` nodes. Of more than ``MOST_OPEN`` leaves only the
    first branches are open.

    ``remark`` says what stands behind the label of a leaf (by default what it released), ``faint`` which leaves are
    to be greyed, and ``prefix`` begins the ids of the nodes.

    >>> from privet.schema import Categorical, Schema
    >>> from privet.structure.splits import OneCategory
    >>> schema = Schema((Categorical("cough", ("no", "yes")),), Categorical("ill", ("no", "yes")))
    >>> tree = Tree.build(schema, [OneCategory(0, 1), None, None], [1, -1, -1], [0, 1, 0])
    >>> print(nested_html(tree)[:100])
    <details open="open" id="node-0"><summary>All records <span class="remark">2 leaves</span></summary>
    """
    below, levels = leaves_below(tree), shown_levels(tree, most)
    remark = remark or (lambda node: leaf_evidence(tree, node))

    def leaf(node: int) -> Html:
        said = tag("strong", tree.schema.label.values[tree.label[node]], class_=f"then c{tree.label[node]}")
        told = remark(node)
        return join((said, *((" ", tag("span", told, class_="remark")) if told else ())))

    def item(node: int, when: str, depth: int) -> Html:
        name, condition = f"{prefix}-{node}", tag("span", when, class_="when")
        if tree.is_leaf[node]:
            grey = "faint" if faint is not None and faint(node) else None
            return tag("li", condition, " → ", leaf(node), id=name, class_=grey)
        if depth >= levels:
            return tag(
                "li", condition, " ", tag("span", f"{below[node]:,} leaves, not shown", class_="remark"), id=name
            )
        return tag("li", branch(node, condition, depth), id=name)

    def branch(node: int, condition: object, depth: int) -> Html:
        test = tree.test(node)
        assert test is not None
        name = tree.schema.names[test.attribute]
        children = (
            item(child, typeset(test.describe(tree.schema, number), name), depth + 1)
            for number, child in enumerate(tree.children(node))
        )
        summary = tag("summary", condition, " ", tag("span", f"{below[node]:,} leaves", class_="remark"))
        unfolded = "open" if depth < OPEN_LEVELS or below[0] <= MOST_OPEN else None
        return tag("details", summary, tag("ul", *children), open=unfolded, id=None if depth else f"{prefix}-0")

    if tree.is_leaf[0]:
        return tag("p", "Always ", leaf(0), id=f"{prefix}-0")
    if not levels:
        return tag("p", f"{below[0]:,} leaves, not shown", id=f"{prefix}-0")
    return branch(0, "All records", 0)


def leaves_below(tree: Tree) -> dict[int, int]:
    """How many leaves are below each node, a leaf counting itself."""
    found: dict[int, int] = {}
    for node, _ in reversed(list(tree.walk())):
        found[node] = sum(found[child] for child in tree.children(node)) or 1
    return found
