"""What a page shows of trees: pictures, lists that fold, rules with their counts, and what they look at."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from privet.markup import Html
from privet.privacy.certificate import Certificate
from privet.report.counts import NodeCounts, leaves_of, node_counts, noise_scale
from privet.report.layout import Layout
from privet.report.picture import SHRINKS, tree_picture
from privet.schema import Schema
from privet.scoring.intervals import Estimate
from privet.trees.forest import Forest
from privet.trees.nested import nested_html, shown_levels
from privet.trees.render import typeset
from privet.trees.rules import Rule, rules_of
from privet.trees.tree import Tree
from privet.trees.voting import Voting

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


def tree_section(trees: Forest | Tree, certificate: Certificate) -> dict[str, Any]:
    """What the template of trees needs."""
    members = trees.trees if isinstance(trees, Forest) else (trees,)
    scale, alone = noise_scale(certificate), len(members) == 1
    return {
        "forest": isinstance(trees, Forest),
        "all_trees": len(members),
        "trees": [_view(tree, number, scale, alone=alone) for number, tree in enumerate(members[:TREES_SHOWN])],
        "voting": VOTING[trees.voting] if isinstance(trees, Forest) else "",
    }


def size_of(members: tuple[Tree, ...]) -> str:
    leaves = sum(tree.n_leaves for tree in members)
    trees = "" if len(members) == 1 else f"{len(members)} trees, "
    asked = max(tree.depth for tree in members)
    return (
        f"{trees}{leaves:,} {'leaf' if leaves == 1 else 'leaves'}, at most {asked} question{'' if asked == 1 else 's'}"
    )


def looks_at(shares: np.ndarray, schema: Schema) -> list[tuple[str, float, str]]:
    """The attributes that decide most, with their share as a number and in words."""
    order = np.argsort(-shares, kind="stable")[:MOST_LOOKED_AT]
    told = (f"{100 * share:.0f} %" if share >= 0.005 else "below 1 %" for share in shares[order])
    return [(schema.names[a], float(shares[a]), words) for a, words in zip(order, told, strict=True) if shares[a]]


@dataclass(frozen=True)
class Leaf:
    """A row of the table of rules."""

    number: int
    node: int
    premise: tuple[str, ...]
    label: str
    code: int
    counts: tuple[tuple[str, str], ...]
    """The records in it and those of each class: the count, and its interval or nothing."""
    share: str
    faint: bool


@dataclass(frozen=True)
class TreeView:
    """What a page shows of a tree."""

    number: int
    name: str
    nested: Html
    picture: Html
    leaves: tuple[Leaf, ...]
    more_leaves: int
    counted: bool
    graded: bool
    reach: bool
    """Whether its counts have intervals."""
    whole: bool
    """Whether the picture shows all of it."""
    folded: bool
    greyed: int


def _view(tree: Tree, number: int, scale: float | None, *, alone: bool) -> TreeView:
    nodes, rules = IN_FULL if alone else IN_PART
    found = {node: node_counts(tree, node, scale) for node in leaves_of(tree)}
    hidden = {node for node, counts in found.items() if counts is not None and counts.hidden}
    drawn = _drawn(tree)
    name = f"tree {number + 1}"
    leaves = tuple(islice(_leaves(tree, found, hidden), rules))
    return TreeView(
        number,
        name,
        nested_html(tree, lambda node: _remark(found[node]), hidden.__contains__, f"t{number}", nodes),
        tree_picture(tree, hidden.__contains__, f"Picture of {name}: {size_of((tree,))}", f"p{number}", drawn),
        leaves,
        len(found) - len(leaves),
        any(counts is not None for counts in found.values()),
        not np.isin(tree.proba[tree.is_leaf], (0.0, 1.0)).all(),
        any(counts is not None and counts.known for counts in found.values()),
        shown_levels(tree, drawn) == tree.depth,
        not alone or len(leaves) > RULES_OPEN,
        len(hidden),
    )


def _drawn(tree: Tree) -> int:
    """How many nodes the picture may show."""
    if len(tree) <= WHOLE_PICTURE:
        return WHOLE_PICTURE
    return next((most for most in IN_PICTURE if Layout.of(tree, most).width <= SHRINKS), IN_PICTURE[-1])


def _leaves(tree: Tree, found: Mapping[int, NodeCounts | None], hidden: set[int]) -> Iterator[Leaf]:
    for number, (node, rule) in enumerate(zip(found, rules_of(tree), strict=True), 1):
        counts, code = found[node], int(tree.label[node])
        told = () if counts is None else (counts.total, *counts.classes)
        written = tuple((_number(one.value), _interval(one) if counts and counts.known else "") for one in told)
        share = f"{100 * tree.proba[node, code]:.0f} %"
        yield Leaf(number, node, _premise(rule, tree.schema), str(rule.label), code, written, share, node in hidden)


def _premise(rule: Rule, schema: Schema) -> tuple[str, ...]:
    conditions = rule.simplified(schema).conditions
    names = (schema.names[condition.test.attribute] for condition in conditions)
    return tuple(map(typeset, rule.premise(schema), names))


def _number(count: float) -> str:
    return f"{count:,.0f}"


def _interval(estimate: Estimate) -> str:
    return f"{_number(estimate.low)} to {_number(estimate.high)}"


def _remark(counts: NodeCounts | None) -> str:
    if counts is None:
        return ""
    return f"{_number(counts.total.value)} records" + (f" ({_interval(counts.total)})" if counts.known else "")
