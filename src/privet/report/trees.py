"""What a page shows of trees: pictures, lists that fold, and rules with their counts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from privet.markup import Html
from privet.models.released import Released
from privet.models.render import nested_html, shown_levels, typeset
from privet.models.shown import ShownRule, ShownTree
from privet.report.picture import SHRINKS, Layout, tree_picture

TREES_SHOWN = 3  # of a forest: enough to see what its trees are like
IN_FULL = (400, 200)  # nodes in the list and rules of a single tree that a page still shows
IN_PART = (80, 20)  # the same for a tree of a forest
WHOLE_PICTURE = 64  # nodes of a tree that a picture shows whole without becoming a wall
IN_PICTURE = (40, 20)  # of a larger one: as many of its first levels as fit a screen
RULES_OPEN = 40  # a longer table is folded at first


def tree_context(sections: Iterator[ShownTree], released: Released) -> dict[str, Any]:
    """What the template of trees needs."""
    members, shown = len(released.members), list(islice(sections, TREES_SHOWN))
    return {
        "forest": bool(released.combined),
        "all_trees": members,
        "trees": [_view(tree, number, alone=members == 1) for number, tree in enumerate(shown)],
        "shown_as": [{str(node): other for node, other in tree.shown_as.items()} for tree in shown],
        "voting": released.combined,
    }


@dataclass(frozen=True)
class Row:
    """A row of the table of rules."""

    number: int
    premise: tuple[str, ...]
    label: str
    code: int
    counts: tuple[tuple[str, str], ...]
    """The records in it and those of each class: the count, and its interval or nothing."""
    share: str


@dataclass(frozen=True)
class TreeView:
    """What a page shows of a tree."""

    number: int
    name: str
    nested: Html
    picture: Html
    notes: tuple[str, ...]
    rows: tuple[Row, ...]
    minor: tuple[Row, ...]
    """Rules that are folded away: noise alone could have made their counts, or they are below a limit."""
    why: str
    more_rules: int
    counted: bool
    graded: bool
    reach: bool
    """Whether its counts have intervals."""
    whole: bool
    """Whether the picture shows all of it."""
    folded: bool
    greyed: int

    @property
    def tables(self) -> list[tuple[tuple[Row, ...], str]]:
        """The tables of rules, each with what to click at to see it, or nothing if it is open."""
        many = f"{'The first' if self.more_rules else 'All'} {len(self.rows)} rules"
        more = f"{len(self.minor)} more {'rule' if len(self.minor) == 1 else 'rules'}: {self.why}"
        both = (self.rows, many if self.folded else ""), (self.minor, more if self.rows or self.folded else "")
        return [table for table in both if table[0]]


def _view(tree: ShownTree, number: int, *, alone: bool) -> TreeView:
    nodes, most = IN_FULL if alone else IN_PART
    drawn, name = _drawn(tree), f"tree {number + 1}"
    rows = [_row(place, rule) for place, rule in enumerate(tree.rules[:most], 1)]
    major = sum(not tree.is_minor(rule.leaf) for rule in tree.rules)
    counted = [text.counts for text in tree.leaves if text.counts is not None]
    return TreeView(
        number,
        name,
        nested_html(tree, f"t{number}", nodes),
        tree_picture(tree, f"Picture of {name}: {size_words(len(tree.leaves), tree.depth)}", f"p{number}", drawn),
        tree.notes,
        tuple(rows[:major]),
        tuple(rows[major:]),
        tree.why_minor,
        len(tree.rules) - len(rows),
        tree.counted,
        any(text.probability is not None for text in tree.leaves),
        any(counts.total.known for counts in counted),
        shown_levels(tree, drawn) == tree.depth,
        not alone or len(rows[:major]) > RULES_OPEN,
        len(tree.minor),
    )


def size_words(leaves: int, asked: int) -> str:
    """How large a tree is."""
    return f"{leaves:,} {'leaf' if leaves == 1 else 'leaves'}, at most {asked} question{'' if asked == 1 else 's'}"


def _drawn(tree: ShownTree) -> int:
    """How many nodes the picture may show."""
    if len(tree.order) <= WHOLE_PICTURE:
        return WHOLE_PICTURE
    return next((most for most in IN_PICTURE if Layout.of(tree, most).width <= SHRINKS), IN_PICTURE[-1])


def _row(number: int, rule: ShownRule) -> Row:
    leaf = rule.leaf
    written: tuple[tuple[str, str], ...] = ()
    if leaf.counts is not None:
        written = ((leaf.counts.total.words(","), leaf.counts.total.interval),)
        written += tuple((count.short, count.interval) for count in leaf.counts.classes)
    premise = tuple(typeset(words, name) for name, words in rule.premise)
    share = "" if leaf.probability is None else f"{100 * leaf.probability:.0f} %"
    return Row(number, premise, leaf.label, leaf.code, written, share)
