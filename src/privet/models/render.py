"""A tree as indented text, as Graphviz DOT, as a Mermaid flowchart, and as a folding HTML list."""

from __future__ import annotations

from collections.abc import Iterator

from privet.bidi import isolated
from privet.errors import ParameterError
from privet.markup import Html, join, tag
from privet.models.rules import DEEPEST
from privet.models.shown import ShownNode, ShownTree, as_shown
from privet.models.tree import Tree

INDENT = "|   "
BRANCH = "|--- "
FAINT = "#6b746c"  # a grey that is still readable on white
LOOKS = {
    "leaf": ', style="rounded,filled", fillcolor="#e8f0e8"',
    "faint": f', style="rounded,dashed", fontcolor="{FAINT}"',
}

MOST_NODES = 400  # in a list; deeper branches are summed up
MOST_OPEN = 40  # leaves: a smaller tree is fully open
OPEN_LEVELS = 2  # open levels of a larger tree
MOST_LEVELS = 40  # browsers do not take deeper nesting


def export_text(tree: Tree | ShownTree, max_depth: int | None = None) -> str:
    """Render a tree with one condition a line, in the form of scikit-learn's ``export_text``.

    A branch is cut after ``max_depth`` conditions (default 100); only its depth is printed.

    >>> from privet.schema import Categorical, Numeric, Schema
    >>> from privet.structure.splits import Threshold
    >>> schema = Schema((Numeric("age", 0, 100, bins=2),), Categorical("ill", ("no", "yes")))
    >>> print(export_text(Tree.build(schema, [Threshold(0, 0), None, None], [1, -1, -1], [0, 0, 1])), end="")
    |--- age <= 50
    |   |--- class: no
    |--- age > 50
    |   |--- class: yes
    """
    if max_depth is not None and max_depth < 0:
        raise ParameterError(f"max_depth must be 0 or more, or None for no limit, not {max_depth!r}")
    shown, most = as_shown(tree), DEEPEST if max_depth is None else max_depth
    below, kind = _heights(shown), "value" if shown.schema.predicts_number else "class"
    condition: dict[int, str] = {}
    lines = []
    for node, depth in shown.order:
        if depth > most:
            continue
        if depth > 0:
            lines.append(INDENT * (depth - 1) + BRANCH + condition.pop(node))
        if shown.is_leaf(node):
            view = shown.nodes[node]
            lines.append(INDENT * depth + BRANCH + f"{kind}: {view.label}{view.evidence}")
        elif depth == most:
            lines.append(INDENT * depth + BRANCH + f"truncated branch of depth {below[node]}")
        else:
            for branch in shown.branches[node]:
                condition[branch.child] = shown.condition(node, branch)
    return "\n".join(lines) + "\n"


def export_graphviz(tree: Tree | ShownTree) -> str:
    """Render a tree in DOT, for ``dot -Tsvg``. Names may hold any characters. Branches are cut at depth 100."""
    shown = as_shown(tree)
    lines = ["digraph Tree {", "    node [shape=box, style=rounded];"]
    lines += [f"    // {note}" for note in shown.notes]
    for node, text, look in _boxes(shown):
        lines.append(f'    n{node} [label="{_dot(text)}"{look and LOOKS[look]}];')
    lines.extend(f'    n{node} -> n{child} [label="{_dot(text)}"];' for node, child, text in _edges(shown))
    return "\n".join([*lines, "}"]) + "\n"


def export_mermaid(tree: Tree | ShownTree) -> str:
    """Render a tree as a Mermaid flowchart, which Markdown viewers draw; see :func:`export_graphviz`."""
    shown = as_shown(tree)
    lines = ["flowchart TD", *(f"    %% {note}" for note in shown.notes)]
    faint = []
    for node, text, look in _boxes(shown):
        opening, closing = ('(["', '"])') if look else ('["', '"]')
        lines.append(f"    n{node}{opening}{_mermaid(text)}{closing}")
        faint += [f"n{node}"] if look == "faint" else []
    lines.extend(f'    n{node} -->|"{_mermaid(text)}"| n{child}' for node, child, text in _edges(shown))
    if faint:
        lines += [f"    classDef faint color:{FAINT},stroke-dasharray:3", f"    class {','.join(faint)} faint"]
    return "\n".join(lines) + "\n"


def typeset(words: str, name: str) -> str:
    """Replace ``<=`` and ``!=`` after an attribute's name by typographic signs, for pages and pictures.

    >>> typeset("age <= 50", "age"), typeset("12 < age <= 50", "age"), typeset("ward != <= 3", "ward")
    ('age ≤ 50', '12 < age ≤ 50', 'ward ≠ <= 3')
    """
    name = isolated(name)
    before, _, after = words.partition(name)
    for plain, sign in ((" <= ", " ≤ "), (" != ", " ≠ ")):
        if after.startswith(plain):
            return f"{before}{name}{sign}{after.removeprefix(plain)}"
    return words


def _boxes(shown: ShownTree) -> Iterator[tuple[int, str, str]]:
    """(node, text, look) of each box; the look is "leaf", "faint" (noise alone could have made it) or empty."""
    below = _heights(shown)
    for node, depth in shown.order:
        view = shown.nodes[node]
        if depth > DEEPEST:
            continue
        if shown.is_leaf(node):
            yield node, view.label + view.evidence, "faint" if shown.is_minor(view) else "leaf"
        elif depth == DEEPEST:
            yield node, f"truncated branch of depth {below[node]}", ""
        else:
            yield node, shown.question(node), ""


def _edges(shown: ShownTree) -> Iterator[tuple[int, int, str]]:
    for node, depth in shown.order:
        if depth < DEEPEST:
            yield from ((node, b.child, shown.answer(node, b)) for b in shown.branches.get(node, ()))


def _heights(shown: ShownTree) -> dict[int, int]:
    """The number of tests on the longest path below each node."""
    heights: dict[int, int] = {}
    for node, _ in reversed(shown.order):  # parents before children, reversed
        heights[node] = max((heights[branch.child] + 1 for branch in shown.branches.get(node, ())), default=0)
    return heights


def _dot(text: str) -> str:
    # In DOT's quoted strings a backslash starts an escape and an ampersand an HTML entity.
    return text.replace("\\", "\\\\").replace("&", "&amp;").replace('"', '\\"')


def _mermaid(text: str) -> str:
    # Mermaid's decimal entity codes for every character that Mermaid, HTML or Markdown could interpret.
    return "".join(c if c.isalnum() or c in " .,()=+-" else f"#{ord(c)};" for c in text)


def shown_levels(tree: ShownTree, most: int = MOST_NODES) -> int:
    """The number of levels of tests that can be shown with at most ``most`` nodes."""
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
    """Render a tree as nested lists, which a browser folds and a screen reader reads.

    A large tree shows as many levels as have ``most`` nodes; with more than ``MOST_OPEN`` leaves only the first
    branches are open. A leaf shows its label and its count; leaves that noise alone could have made are grey.
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
        condition, view = when[node], shown.nodes[node]
        if shown.is_leaf(node):
            parts: tuple[object, ...] = (condition, " → ", _leaf(view))
        elif depth >= levels:
            parts = condition, " ", tag("span", f"{below[node]:,} leaves, not shown", class_="remark")
        else:
            summary = tag("summary", condition, " ", tag("span", _size(view, below[node]), class_="remark"))
            children = (items.pop(branch.child) for branch in shown.branches[node])
            unfolded = "open" if depth < OPEN_LEVELS or below[root] <= MOST_OPEN else None
            name = None if depth else f"{prefix}-{root}"
            parts = (tag("details", summary, tag("ul", *children), open=unfolded, id=name),)
            if not depth:
                return join(parts)
        grey = "faint" if shown.is_leaf(node) and shown.is_minor(view) else None
        items[node] = tag("li", *parts, id=f"{prefix}-{node}", class_=grey)
    raise AssertionError("the order of a tree begins with its root")


def leaves_below(shown: ShownTree) -> dict[int, int]:
    """The number of shown leaves below each node; 1 for a leaf."""
    found: dict[int, int] = {}
    for node, _ in reversed(shown.order):
        found[node] = sum(found[branch.child] for branch in shown.branches.get(node, ())) or 1
    return found


def _leaf(view: ShownNode) -> Html:
    label = tag("strong", view.label, class_=f"then c{view.code}")
    remark = leaf_remark(view)
    return join((label, *((" ", tag("span", remark, class_="remark")) if remark else ())))


def leaf_remark(view: ShownNode) -> str:
    """The number of records of a leaf, with its interval; empty if it was not released."""
    if view.counts is None:
        return ""
    total = view.counts.total
    return f"{total.words(',')} records" + (f" ({total.interval})" if total.interval else "")


def _size(view: ShownNode, leaves: int) -> str:
    records = "" if view.counts is None else f", {view.counts.total.words(',')} records"
    return f"{leaves:,} leaves{records}"
