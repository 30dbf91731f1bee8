"""What a page shows of trees: pictures, lists that fold, rules with their counts, and what they look at."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from privet.markup import Html
from privet.models.codec import trees_of
from privet.models.forest import Forest
from privet.models.model import Model
from privet.models.render import nested_html, shown_levels, typeset
from privet.models.shown import ShownRule, ShownTree, shown_trees
from privet.models.tree import Tree
from privet.models.voting import Voting
from privet.report.layout import Layout
from privet.report.picture import SHRINKS, tree_picture
from privet.schema import Schema

TREES_SHOWN = 3  # of a forest: enough to see what its trees are like
IN_FULL = (400, 200)  # nodes in the list and rules of a single tree that a page still shows
IN_PART = (80, 20)  # the same for a tree of a forest
WHOLE_PICTURE = 64  # nodes of a tree that a picture shows whole without becoming a wall
IN_PICTURE = (40, 20)  # of a larger one: as many of its first levels as fit a screen
RULES_OPEN = 40  # a longer table is folded at first
MOST_LOOKED_AT = 12  # attributes that are listed by how much they decide
VOTING: dict[Voting, str] = {
    "majority": "each tree has one vote",
    "proba": "the probabilities of all trees are averaged",
    "confidence": "each tree has one vote, which counts as much as the tree is sure",
    "counts": "the counts of all leaves that a case ends in are added up",
    "surest": "the tree that is surest decides",
    "evidence": "each tree says by how much it changes the odds, and these changes are multiplied",
}


def tree_section(model: Model, *, max_leaves: int | None = None, min_support: float | None = None) -> dict[str, Any]:
    """What the template of trees needs."""
    trees = model.trees
    members = trees_of(trees)
    shown = list(islice(shown_trees(model, max_leaves=max_leaves, min_support=min_support), TREES_SHOWN))
    return {
        "forest": isinstance(trees, Forest),
        "all_trees": len(members),
        "trees": [_view(tree, number, alone=len(members) == 1) for number, tree in enumerate(shown)],
        "shown_as": [{str(node): other for node, other in tree.shown_as.items()} for tree in shown],
        "voting": VOTING[trees.voting] if isinstance(trees, Forest) else "",
    }


def size_of(members: tuple[Tree, ...]) -> str:
    trees = "" if len(members) == 1 else f"{len(members)} trees, "
    return trees + _size(sum(tree.n_leaves for tree in members), max(tree.depth for tree in members))


def _size(leaves: int, asked: int) -> str:
    return f"{leaves:,} {'leaf' if leaves == 1 else 'leaves'}, at most {asked} question{'' if asked == 1 else 's'}"


def looks_at(shares: np.ndarray, schema: Schema) -> list[tuple[str, float, str]]:
    """The attributes that decide most, with their share as a number and in words."""
    order = np.argsort(-shares, kind="stable")[:MOST_LOOKED_AT]
    text = (f"{100 * share:.0f} %" if share >= 0.005 else "below 1 %" for share in shares[order])
    return [(schema.names[a], float(shares[a]), words) for a, words in zip(order, text, strict=True) if shares[a]]


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
        tree_picture(tree, f"Picture of {name}: {_shown_size(tree)}", f"p{number}", drawn),
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


def _shown_size(tree: ShownTree) -> str:
    return _size(len(tree.leaves), tree.depth)
