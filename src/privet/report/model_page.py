"""The page of a model: the promise, the tree, a case to follow, the rules and the certificate, in one file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from typing import Any

import numpy as np

from privet.errors import ParameterError, RecipeError
from privet.markup import Html
from privet.privacy.certificate import Certificate
from privet.privacy.wording import COVERS, covers_not
from privet.recipes.registry import recipe_class
from privet.report import words
from privet.report.case import follow_data, form_fields
from privet.report.counts import NodeCounts, leaves_of, node_counts, noise_scale
from privet.report.picture import tree_picture
from privet.report.rendering import data_block, render
from privet.schema.fingerprint import digest
from privet.scoring.intervals import Estimate
from privet.trees.additive import Additive
from privet.trees.codec import Model
from privet.trees.forest import Forest
from privet.trees.importance import importances
from privet.trees.nested import nested_html
from privet.trees.rules import rules_of
from privet.trees.tree import Tree
from privet.trees.voting import Voting

TREES_SHOWN = 3  # of a forest: enough to see what its trees are like
IN_FULL = (400, 200)  # nodes and rules of a single tree that a page still shows
IN_PART = (80, 20)  # the same for a tree of a forest
MOST_LOOKED_AT = 12  # attributes that are listed by how much they decide
VOTING: dict[Voting, str] = {
    "majority": "each tree has one vote",
    "proba": "the probabilities of all trees are averaged",
    "confidence": "each tree has one vote, which counts as much as the tree is sure",
    "counts": "the counts of all leaves that a case ends in are added up",
    "surest": "the tree that is surest decides",
    "evidence": "each tree says by how much it changes the odds, and these changes are multiplied",
}


def model_page(model: Model) -> str:
    """The page as HTML. Everything in it was released with the model; no table is read.

    >>> import privet
    >>> from privet.datasets.clinic import clinic
    >>> schema, table = clinic(2000)
    >>> tree = privet.ExactTreeClassifier(schema=schema, epsilon=1, max_depth=2).fit(table, table["class"])
    >>> page = model_page(tree.model_)
    >>> "epsilon = 1" in page, "http://" in page
    (True, False)
    """
    if isinstance(model.trees, Additive):
        raise ParameterError("a page is for trees and forests; `privet show` prints the curves of an additive model")
    certificate = Certificate.from_dict(model.certificate)
    members = model.trees.trees if isinstance(model.trees, Forest) else (model.trees,)
    data = follow_data(model.trees)
    scale = noise_scale(certificate)
    return render(
        "model.html",
        title=_title(model),
        forest=isinstance(model.trees, Forest),
        size=_size(members),
        promise=words.promise(certificate),
        private=certificate.private,
        headline=words.headline(certificate),
        guess=words.guess(certificate) if certificate.private else "",
        relation=words.relation(certificate),
        definition=certificate.definition,
        spending=words.spending(certificate),
        conditions=list(words.conditions(certificate)),
        covers=COVERS,
        covers_not=covers_not(certificate),
        do_not_conclude=words.DO_NOT_CONCLUDE,
        looks_at=_looks_at(model),
        trees=[
            _view(tree, number, scale, alone=len(members) == 1) for number, tree in enumerate(members[:TREES_SHOWN])
        ],
        all_trees=len(members),
        voting=VOTING[model.trees.voting] if isinstance(model.trees, Forest) else "",
        labels=[str(value) for value in model.schema.label.values],
        label=model.schema.label.name,
        fields=form_fields(model.trees) if data is not None else [],
        data=data_block(data) if data is not None else None,
        facts=list(_facts(model)),
        settings=[(name, _written(value)) for name, value in model.params.items()],
        notes=model.notes,
    )


# ---- one tree -----------------------------------------------------------------------------------------------------


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
    greyed: int


def _view(tree: Tree, number: int, scale: float | None, *, alone: bool) -> TreeView:
    nodes, rules = IN_FULL if alone else IN_PART
    found = {node: node_counts(tree, node, scale) for node in leaves_of(tree)}
    hidden = {node for node, counts in found.items() if counts is not None and counts.hidden}
    name = f"tree {number + 1}"
    leaves = tuple(islice(_leaves(tree, found, hidden), rules))
    return TreeView(
        number,
        name,
        nested_html(tree, lambda node: _remark(found[node]), hidden.__contains__, f"t{number}", nodes),
        tree_picture(tree, hidden.__contains__, f"Picture of {name}: {_size((tree,))}", f"p{number}", nodes),
        leaves,
        len(found) - len(leaves),
        any(counts is not None for counts in found.values()),
        not np.isin(tree.proba[tree.is_leaf], (0.0, 1.0)).all(),
        any(counts is not None and counts.known for counts in found.values()),
        len(hidden),
    )


def _leaves(tree: Tree, found: Mapping[int, NodeCounts | None], hidden: set[int]) -> Iterator[Leaf]:
    for number, (node, rule) in enumerate(zip(found, rules_of(tree), strict=True), 1):
        counts, code = found[node], int(tree.label[node])
        told = () if counts is None else (counts.total, *counts.classes)
        written = tuple((_number(one.value), _interval(one) if counts and counts.known else "") for one in told)
        share = f"{100 * tree.proba[node, code]:.0f} %"
        yield Leaf(number, node, rule.premise(tree.schema), str(rule.label), code, written, share, node in hidden)


def _number(count: float) -> str:
    return f"{count:,.0f}"


def _interval(estimate: Estimate) -> str:
    return f"{_number(estimate.low)} to {_number(estimate.high)}"


def _remark(counts: NodeCounts | None) -> str:
    if counts is None:
        return ""
    return f"{_number(counts.total.value)} records" + (f" ({_interval(counts.total)})" if counts.known else "")


# ---- what it is ---------------------------------------------------------------------------------------------------


def _title(model: Model) -> str:
    kind = "forest" if isinstance(model.trees, Forest) else "decision tree"
    of = model.schema.title or model.schema.name
    return f"{of}: a {kind} for “{model.schema.label.name}”" if of else f"A {kind} for “{model.schema.label.name}”"


def _looks_at(model: Model) -> list[tuple[str, float, str]]:
    """The attributes that decide most, with their share as a number and in words."""
    shares = importances(model.trees)
    order = np.argsort(-shares, kind="stable")[:MOST_LOOKED_AT]
    told = (f"{100 * share:.0f} %" if share >= 0.005 else "below 1 %" for share in shares[order])
    return [(model.schema.names[a], float(shares[a]), words) for a, words in zip(order, told, strict=True) if shares[a]]


def _size(members: tuple[Tree, ...]) -> str:
    leaves = sum(tree.n_leaves for tree in members)
    trees = "" if len(members) == 1 else f"{len(members)} trees, "
    asked = max(tree.depth for tree in members)
    return (
        f"{trees}{leaves:,} {'leaf' if leaves == 1 else 'leaves'}, at most {asked} question{'' if asked == 1 else 's'}"
    )


def _facts(model: Model) -> Iterator[tuple[str, str]]:
    made = dict(model.made)
    if date := made.pop("date", ""):
        yield "made", date.replace("T", " ").replace("Z", " UTC")
    yield "recipe", _recipe(model.recipe)
    yield "schema", f"{model.schema.name or 'without a name'}, fingerprint {digest(model.schema)}"
    if made:
        yield "versions", ", ".join(f"{name} {version}" for name, version in sorted(made.items()))


def _recipe(name: str) -> str:
    try:
        info = recipe_class(name).info
    except RecipeError:  # a reference that is not private, or a recipe of a package that is not here
        return name
    return f"{name}: {info.title} ({info.citation})"


def _written(value: Any) -> str:
    """A parameter as a person writes it."""
    if isinstance(value, Fraction | str):
        return str(value)
    return json.dumps(value, default=str)
