"""A tree as nested, foldable HTML: a list in a list, which a browser folds and a screen reader reads."""

from __future__ import annotations

from privet.markup import Html, join, tag
from privet.models.render import typeset
from privet.models.shown import ShownNode, ShownTree, as_shown
from privet.models.tree import Tree

MOST_NODES = 400  # that a person still reads; beyond, branches are summed up
MOST_OPEN = 40  # leaves that are all shown at once
OPEN_LEVELS = 2  # of a larger tree
MOST_LEVELS = 40  # deeper nesting is more than browsers take


def shown_levels(tree: ShownTree, most: int = MOST_NODES) -> int:
    """How many levels of tests can be shown so that there are no more nodes than that."""
    sizes = [0] * (tree.depth + 1)
    for _, depth in tree.order:
        sizes[depth] += 1
    shown, total = 0, sizes[0]
    for size in sizes[1 : MOST_LEVELS + 1]:
        total += size
        if total > most:
            break
        shown += 1
    return shown


def nested_html(tree: Tree | ShownTree, prefix: str = "node", most: int = MOST_NODES) -> Html:
    """The tree; of a large one only as many levels as have ``most`` nodes. Of more than ``MOST_OPEN`` leaves only the
    first branches are open.

    Behind the label of a leaf stands what is known of its records. Leaves that noise alone could have made are grey.
    ``prefix`` begins the ids of the nodes.

    >>> from privet.schema import Categorical, Schema
    >>> from privet.structure.splits import OneCategory
    >>> schema = Schema((Categorical("cough", ("no", "yes")),), Categorical("ill", ("no", "yes")))
    >>> tree = Tree.build(schema, [OneCategory(0, 1), None, None], [1, -1, -1], [0, 1, 0])
    >>> print(nested_html(tree)[:100])
    <details open="open" id="node-0"><summary>All records <span class="remark">2 leaves</span></summary>
    """
    shown = as_shown(tree)
    levels, below, root = shown_levels(shown, most), leaves_below(shown), shown.root
    if shown.is_leaf(root):
        return tag("p", "Always ", _leaf(shown.nodes[root]), id=f"{prefix}-{root}")
    if not levels:
        return tag("p", f"{below[root]:,} leaves, not shown", id=f"{prefix}-{root}")
    when: dict[int, object] = {root: "All records"}
    for node, depth in shown.order:
        if depth < levels:
            for branch in shown.branches.get(node, ()):
                words = typeset(shown.condition(node, branch), shown.asked(node))
                when[branch.child] = tag("span", words, class_="when")
    items: dict[int, Html] = {}
    for node, depth in reversed(shown.order):  # children before their parents
        if depth > levels:
            continue
        condition, text = when[node], shown.nodes[node]
        if shown.is_leaf(node):
            parts: tuple[object, ...] = (condition, " → ", _leaf(text))
        elif depth >= levels:
            parts = condition, " ", tag("span", f"{below[node]:,} leaves, not shown", class_="remark")
        else:
            summary = tag("summary", condition, " ", tag("span", _size(text, below[node]), class_="remark"))
            children = (items.pop(branch.child) for branch in shown.branches[node])
            unfolded = "open" if depth < OPEN_LEVELS or below[root] <= MOST_OPEN else None
            name = None if depth else f"{prefix}-{root}"
            parts = (tag("details", summary, tag("ul", *children), open=unfolded, id=name),)
            if not depth:
                return join(parts)
        grey = "faint" if shown.is_leaf(node) and shown.is_minor(text) else None
        items[node] = tag("li", *parts, id=f"{prefix}-{node}", class_=grey)
    raise AssertionError("the order of a tree begins with its root")


def leaves_below(shown: ShownTree) -> dict[int, int]:
    """How many leaves that are shown are below each node, a leaf counting itself."""
    found: dict[int, int] = {}
    for node, _ in reversed(shown.order):
        found[node] = sum(found[branch.child] for branch in shown.branches.get(node, ())) or 1
    return found


def _leaf(text: ShownNode) -> Html:
    label = tag("strong", text.label, class_=f"then c{text.code}")
    remark = leaf_remark(text)
    return join((label, *((" ", tag("span", remark, class_="remark")) if remark else ())))


def leaf_remark(text: ShownNode) -> str:
    """How many records a leaf has, with the interval, if that was released."""
    if text.counts is None:
        return ""
    total = text.counts.total
    return f"{total.words(',')} records" + (f" ({total.interval})" if total.interval else "")


def _size(text: ShownNode, leaves: int) -> str:
    records = "" if text.counts is None else f", {text.counts.total.words(',')} records"
    return f"{leaves:,} leaves{records}"
