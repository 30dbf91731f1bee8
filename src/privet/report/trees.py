"""The page of trees: pictures, folding lists, and rules with their counts."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from privet.models.released import Released
from privet.models.render import nested_html, shown_levels, typeset
from privet.models.shown import ShownRule, ShownTree
from privet.report.picture import SHRINKS, Layout, tree_picture

TREES_SHOWN = 3  # of a forest: enough to see what its trees are like
IN_FULL = (400, 200)  # nodes in the list, and rules, of a single tree
IN_PART = (80, 20)  # the same for a tree of a forest
WHOLE_PICTURE = 64  # nodes of a tree that a picture shows in full
IN_PICTURE = (40, 20)  # of a larger one: as many of its first levels as fit a screen
RULES_OPEN = 40  # a longer table is folded at first


def tree_context(sections: Iterator[ShownTree], released: Released) -> dict[str, Any]:
    """The context of the template for trees."""
    members, shown = len(released.members), list(islice(sections, TREES_SHOWN))
    return {
        "forest": bool(released.combined),
        "all_trees": members,
        "trees": [_view(tree, number, alone=members == 1) for number, tree in enumerate(shown)],
        "shown_as": [{str(node): other for node, other in tree.shown_as.items()} for tree in shown],
        "voting": released.combined,
    }


def _view(tree: ShownTree, number: int, *, alone: bool) -> dict[str, Any]:
    nodes, most = IN_FULL if alone else IN_PART
    drawn, name = _drawn(tree), f"tree {number + 1}"
    rows = [_row(place, rule) for place, rule in enumerate(tree.rules[:most], 1)]
    major = sum(not tree.is_minor(rule.leaf) for rule in tree.rules)
    more = len(tree.rules) - len(rows)
    return {
        "name": name,
        "nested": nested_html(tree, f"t{number}", nodes),
        "picture": tree_picture(
            tree, f"Picture of {name}: {size_words(len(tree.leaves), tree.depth)}", f"p{number}", drawn
        ),
        "notes": tree.notes,
        "tables": _tables(rows[:major], rows[major:], tree.why_minor, more=more, alone=alone),
        "more_rules": more,
        "counted": tree.counted,
        "graded": any(leaf.probability is not None for leaf in tree.leaves),
        "intervals": any(leaf.counts.total.known for leaf in tree.leaves if leaf.counts is not None),
        "whole": shown_levels(tree, drawn) == tree.depth,  # whether the picture shows all of it
        "greyed": len(tree.minor),
        "why": tree.why_minor,
    }


def _tables(rows: list[Any], minor: list[Any], why: str, *, more: int, alone: bool) -> list[dict[str, Any]]:
    """The tables of rules, each with the text of its fold, empty if it is open.

    The minor rules are those that noise alone could have made, or that are below a limit.
    """
    folded = not alone or len(rows) > RULES_OPEN
    first = f"{'The first' if more else 'All'} {len(rows)} rules" if folded else ""
    others = f"{len(minor)} more {'rule' if len(minor) == 1 else 'rules'}: {why}" if rows or folded else ""
    tables = ({"rows": rows, "fold": first, "faint": False}, {"rows": minor, "fold": others, "faint": True})
    return [table for table in tables if table["rows"]]


def size_words(leaves: int, asked: int) -> str:
    return f"{leaves:,} {'leaf' if leaves == 1 else 'leaves'}, at most {asked} question{'' if asked == 1 else 's'}"


def _drawn(tree: ShownTree) -> int:
    """The number of nodes that the picture may show."""
    if len(tree.order) <= WHOLE_PICTURE:
        return WHOLE_PICTURE
    return next((most for most in IN_PICTURE if Layout.of(tree, most).width <= SHRINKS), IN_PICTURE[-1])


def _row(number: int, rule: ShownRule) -> dict[str, Any]:
    """A row of the table of rules; counts are (words, interval) of all records and of each class."""
    leaf = rule.leaf
    counts: list[tuple[str, str]] = []
    if leaf.counts is not None:
        counts = [(leaf.counts.total.words(","), leaf.counts.total.interval)]
        if len(leaf.counts.classes) > 1:
            counts += [(count.short, count.interval) for count in leaf.counts.classes]
    return {
        "number": number,
        "premise": [typeset(words, name) for name, words in rule.premise],
        "label": leaf.label,
        "code": leaf.code,
        "counts": counts,
        "share": "" if leaf.probability is None else f"{100 * leaf.probability:.0f} %",
    }
