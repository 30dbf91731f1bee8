"""A tree as text: indented, in Graphviz' DOT, as a Mermaid flowchart."""

from __future__ import annotations

from collections.abc import Iterator

from privet.errors import ParameterError
from privet.structure.splits import Multiway
from privet.trees.rules import evidence, released
from privet.trees.tree import Tree

INDENT = "|   "
BRANCH = "|--- "


def export_text(tree: Tree, max_depth: int | None = None) -> str:
    """The tree with one condition a line, in the form of scikit-learn's ``export_text``.

    After ``max_depth`` conditions a branch is cut and only its depth is told.

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
    below = _heights(tree)
    condition: dict[int, str] = {}
    lines = []
    for node, depth in tree.walk():
        if max_depth is not None and depth > max_depth:
            continue
        if depth > 0:
            lines.append(INDENT * (depth - 1) + BRANCH + condition.pop(node))
        test = tree.test(node)
        if test is None:
            lines.append(INDENT * depth + BRANCH + f"class: {_one_line(_label(tree, node))}{_evidence(tree, node)}")
        elif depth == max_depth:
            lines.append(INDENT * depth + BRANCH + f"truncated branch of depth {below[node]}")
        else:
            for branch, child in enumerate(tree.children(node)):
                condition[child] = _one_line(test.describe(tree.schema, branch))
    return "\n".join(lines) + "\n"


def export_graphviz(tree: Tree) -> str:
    """The tree in DOT, for ``dot -Tsvg``. Names and values may hold any characters."""
    lines = ["digraph Tree {", "    node [shape=box, style=rounded];"]
    for node, text, is_leaf in _boxes(tree):
        filled = ', style="rounded,filled", fillcolor="#e8f0e8"' if is_leaf else ""
        lines.append(f'    n{node} [label="{_dot(text)}"{filled}];')
    lines.extend(f'    n{node} -> n{child} [label="{_dot(text)}"];' for node, child, text in _edges(tree))
    return "\n".join([*lines, "}"]) + "\n"


def export_mermaid(tree: Tree) -> str:
    """The tree as a Mermaid flowchart, which Markdown viewers draw. Names and values may hold any characters."""
    lines = ["flowchart TD"]
    for node, text, is_leaf in _boxes(tree):
        opening, closing = ('(["', '"])') if is_leaf else ('["', '"]')
        lines.append(f"    n{node}{opening}{_mermaid(text)}{closing}")
    lines.extend(f'    n{node} -->|"{_mermaid(text)}"| n{child}' for node, child, text in _edges(tree))
    return "\n".join(lines) + "\n"


def question(tree: Tree, node: int) -> str:
    """What an inner node asks: whether its first condition holds, or for the value of an attribute."""
    test = tree.test(node)
    assert test is not None
    return tree.schema.names[test.attribute] if isinstance(test, Multiway) else test.describe(tree.schema, 0)


def typeset(words: str, name: str) -> str:
    """A condition on the attribute of that name with the signs of print, for pages and pictures.

    >>> typeset("age <= 50", "age"), typeset("12 < age <= 50", "age"), typeset("ward != <= 3", "ward")
    ('age ≤ 50', '12 < age ≤ 50', 'ward ≠ <= 3')
    """
    before, _, after = words.partition(name)
    for plain, sign in ((" <= ", " ≤ "), (" != ", " ≠ ")):
        if after.startswith(plain):
            return f"{before}{name}{sign}{after.removeprefix(plain)}"
    return words


def leaf_evidence(tree: Tree, node: int) -> str:
    """What a leaf released, in words; empty if nothing."""
    return _evidence(tree, node).strip(" ()")


def _boxes(tree: Tree) -> Iterator[tuple[int, str, bool]]:
    """(node, text, whether a leaf)."""
    for node, _ in tree.walk():
        test = tree.test(node)
        if test is None:
            yield node, _label(tree, node) + _evidence(tree, node), True
        else:
            yield node, question(tree, node), False


def _edges(tree: Tree) -> Iterator[tuple[int, int, str]]:
    for node, _ in tree.walk():
        test = tree.test(node)
        for branch, child in enumerate(tree.children(node)):
            if isinstance(test, Multiway):
                yield node, child, test.describe(tree.schema, branch)
            else:
                yield node, child, "no" if branch else "yes"


def _label(tree: Tree, node: int) -> str:
    return str(tree.schema.label.values[tree.label[node]])


def _evidence(tree: Tree, node: int) -> str:
    """What a leaf released. What the tree says there is more than its own counts where those above it are heard too."""
    support, confidence = released(tree, node)
    said = float(tree.proba[node, tree.label[node]])
    if support is None or not 0 < said < 1:
        return evidence(support, confidence)
    return f" (support {support:.0f}, probability {said:.2f})"


def _heights(tree: Tree) -> dict[int, int]:
    """The number of tests on the longest path down from each node."""
    heights: dict[int, int] = {}
    for node, _ in reversed(list(tree.walk())):  # parents before children, reversed
        heights[node] = max((heights[child] + 1 for child in tree.children(node)), default=0)
    return heights


def _one_line(text: str) -> str:
    """Text that cannot break a line, whatever a category is called; ordinary text is left as it is."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "backslashreplace").decode() for c in text)


def _dot(text: str) -> str:
    # In DOT's quoted strings a backslash starts an escape and an ampersand an HTML entity.
    return _one_line(text).replace("\\", "\\\\").replace("&", "&amp;").replace('"', '\\"')


def _mermaid(text: str) -> str:
    # Mermaid's decimal entity codes, for everything that could mean something to it, HTML or Markdown.
    return "".join(c if c.isalnum() or c in " .,()=+-" else f"#{ord(c)};" for c in _one_line(text))
