"""What a tree and a forest have in common: all that follows from their trees one by one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
import numpy.typing as npt

from privet.errors import ParameterError
from privet.schema import Schema

if TYPE_CHECKING:
    from privet.models.released import Limits, Section
    from privet.models.rules import Rule
    from privet.models.tree import Tree

Floats = npt.NDArray[np.float64]
TESTS = ("attribute", "kind", "cut", "first_child")  # the columns of a tree's structure


class TreeModel:
    """The part of :class:`~privet.models.released.Released` that is the same for one tree and for several."""

    if TYPE_CHECKING:

        @property
        def schema(self) -> Schema: ...

        @property
        def voting(self) -> str | None: ...

        @property
        def weight(self) -> float | None: ...

        @property
        def votes(self) -> Floats:
            """(node, class) what each node of all trees says when a record ends there."""

    @property
    def members(self) -> tuple[Tree, ...]:
        raise NotImplementedError

    @property
    def size(self) -> dict[str, int]:
        trees = self.members
        leaves, depth = sum(tree.n_leaves for tree in trees), max(tree.depth for tree in trees)
        return {"trees": len(trees), "leaves": leaves, "depth": depth}

    @property
    def graded(self) -> bool:
        """Whether its probabilities can be other than 0 and 1; seen from the model, never from what it is asked."""
        leaves = (tree.proba[tree.is_leaf] for tree in self.members)
        return len(self.members) > 1 or any(bool(((proba > 0) & (proba < 1)).any()) for proba in leaves)

    def rules(self, *, inner: bool = False, deepest: int | None = None, scale: float | None = None) -> tuple[Rule, ...]:
        """The rules of all trees, see :func:`privet.models.rules.rules_of`."""
        from privet.models.rules import rules_of

        listed = (rules_of(tree, inner=inner, deepest=deepest, scale=scale) for tree in self.members)
        return tuple(rule for rules in listed for rule in rules)

    def importances(self) -> Floats:
        """(attribute,) its share of all the impurity (Gini) that the tests take away; a forest's is the mean.

        A node weighs as much as its released counts, clipped at 0 and added up from the leaves. Where leaves released
        no counts nobody knows how many records take a branch: then all branches of a test weigh the same, and a leaf is
        as sure as its probabilities say. All are 0 if no test takes anything away.
        """
        return np.mean([_importances(tree) for tree in self.members], axis=0)

    def asked(self) -> tuple[int, ...]:
        """The attributes that its tests ask for, in the order in which a reader meets them."""
        met = (int(tree.attribute[node]) for tree in self.members for node, _ in tree.walk())
        return tuple(dict.fromkeys(attribute for attribute in met if attribute >= 0))

    def sections(self, scale: float | None = None, *, raw: bool = False, **limits: Unpack[Limits]) -> Iterator[Section]:
        """Its trees as they are shown, or as they are with ``raw``."""
        from privet.models.shown import ShownTree

        if raw and any(limit is not None for limit in limits.values()):
            raise ParameterError("raw shows all of the model; leave max_leaves and min_support out")
        if raw:
            return (ShownTree.whole(tree, scale, raw=True) for tree in self.members)
        return (ShownTree.of(tree, scale, **limits) for tree in self.members)

    def overview(self, sections: Iterator[Section]) -> str:
        """All trees as text."""
        return "\n".join(map(str, sections))

    def arrays(self, most: int) -> dict[str, Any] | None:
        """The tests and what the leaves say, as lists; None if that is more than ``most`` numbers."""
        trees = self.members
        if sum(len(tree) for tree in trees) * self.schema.n_classes > most:
            return None
        is_leaf = np.concatenate([tree.is_leaf for tree in trees])
        return {
            "trees": [{name: getattr(tree, name).tolist() for name in (*TESTS, "label")} for tree in trees],
            "says": np.where(is_leaf[:, None], self.votes, 0.0).tolist(),
            "voting": self.voting,
        }

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON data, which :mod:`privet.models.codec` reads."""
        return {"voting": self.voting, "weight": self.weight, "trees": [_columns(tree) for tree in self.members]}

    def fault(self) -> str | None:
        """What is wrong with its first faulty tree, as a clause, or None."""
        from privet.models.validation import tree_fault

        return next((f"the tree {fault}" for tree in self.members if (fault := tree_fault(tree))), None)


def _columns(tree: Tree) -> dict[str, Any]:
    """A tree as lists; None for what was not released."""
    facts: dict[str, Any] = {name: getattr(tree, name).tolist() for name in (*TESTS, "label", "proba")}
    facts["counts"] = [
        None if np.isnan(row).all() else [None if np.isnan(count) else count for count in row.tolist()]
        for row in tree.counts
    ]
    return facts | ({"draws": tree.draws.tolist()} if tree.draws.any() else {})


def _importances(tree: Tree) -> Floats:
    from privet.models.counts import MOST
    from privet.models.leaf_counts import add_up, chances

    routes, found = tree.routes, np.zeros(len(tree.schema.attributes))
    counted = not np.isnan(tree.counts[tree.is_leaf]).any()
    leaves = tree.counts.clip(0, MOST) if counted else chances(routes)[:, None] * tree.proba
    mass = add_up(routes, leaves)
    total = mass.sum(axis=1)
    squares = np.divide((mass**2).sum(axis=1), total, out=np.zeros(len(tree)), where=total > 0)
    impurity = total - squares
    below = np.zeros(len(tree))
    children = routes.parent >= 0
    np.add.at(below, routes.parent[children], impurity[children])
    inner = ~tree.is_leaf
    np.add.at(found, tree.attribute[inner], np.maximum(impurity - below, 0.0)[inner])
    return found / found.sum() if found.sum() > 0 else found
