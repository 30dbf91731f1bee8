"""The protocol of released models, so that no caller has to ask which kind a model is.

A new kind of model is a file: a subclass of :class:`Released`, and its decoder in ``KINDS`` of ``models/codec.py``. Its
sections are trees (:class:`~privet.models.shown.ShownTree`) or curves (:class:`~privet.models.curves.ShownSum`), which
text, pages and pictures can draw.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeAlias, TypedDict, Unpack, runtime_checkable

import numpy as np
import numpy.typing as npt

from privet.errors import ParameterError
from privet.markup import Html
from privet.schema import Schema

if TYPE_CHECKING:
    from privet.models.curves import ShownSum
    from privet.models.formula import Formula
    from privet.models.rules import Rule
    from privet.models.shown import ShownTree
    from privet.models.tree import Tree

    Section: TypeAlias = ShownTree | ShownSum

Floats = npt.NDArray[np.float64]
TESTS = ("attribute", "kind", "cut", "first_child")  # the columns of a tree's structure


class Limits(TypedDict, total=False):
    """Limits on how much of a tree is shown."""

    max_leaves: int | None
    """The most leaves; the branches with the fewest records are folded into one."""
    min_support: float | None
    """The fewest records: a branch whose leaves all have fewer is not opened."""


@runtime_checkable
class Released(Protocol):
    """A released model: a tree, a forest, an additive model. It holds released numbers and public facts only.

    The defaults work on ``members``; a kind that is not made of trees has none and overrides them.
    """

    schema: Schema
    title: ClassVar[str]
    """The name of the kind: ``decision tree``, ``forest``, ``additive model``."""

    def predict(self, features: npt.NDArray[Any]) -> npt.NDArray[np.int32]:
        """The class code of each record; ``features`` are codes (attributes, records)."""

    def predict_proba(self, features: npt.NDArray[Any]) -> Floats:
        """(record, class) probabilities."""

    def predict_scores(self, features: npt.NDArray[Any]) -> Floats:
        """(record, column) the scores behind a prediction."""

    def formula(self) -> Formula:
        """How the model predicts, as a sum of tables, for exports (:mod:`privet.models.export`)."""

    @property
    def version(self) -> int:
        """The version of its file: the oldest whose readers understand it."""
        return 1

    @property
    def members(self) -> tuple[Tree, ...]:
        """The trees."""
        return ()

    @property
    def combined(self) -> str:
        """How the trees are combined, in words; empty if there is nothing to combine."""
        return ""

    @property
    def size(self) -> dict[str, int]:
        """The size, by unit."""
        leaves, depth = sum(tree.n_leaves for tree in self.members), max(tree.depth for tree in self.members)
        return {"trees": len(self.members), "leaves": leaves, "depth": depth}

    @property
    def graded(self) -> bool:
        """Whether probabilities other than 0 and 1 can occur; this depends on the model only, not on records."""
        leaves = (tree.proba[tree.is_leaf] for tree in self.members)
        return len(self.members) > 1 or any(bool(((proba > 0) & (proba < 1)).any()) for proba in leaves)

    def rules(self, *, inner: bool = False, deepest: int | None = None, scale: float | None = None) -> tuple[Rule, ...]:
        """The rules of the trees; see :func:`privet.models.rules.rules_of`."""
        from privet.models.rules import rules_of

        listed = (rules_of(tree, inner=inner, deepest=deepest, scale=scale) for tree in self.members)
        return tuple(rule for rules in listed for rule in rules)

    def importances(self) -> Floats:
        """(attribute,) importance; the sum is at most 1.

        For a tree, an attribute's share of the Gini impurity that the tests remove; for a forest, the mean. A node
        weighs as much as its released counts, clipped at 0 and summed from the leaves. If leaves released no counts,
        all branches of a test weigh the same and the leaves' probabilities are used. All are 0 if no test removes
        impurity.
        """
        return np.mean([_importances(tree) for tree in self.members], axis=0)

    def asked(self) -> tuple[int, ...]:
        """The attributes that are tested, in reading order."""
        met = (int(tree.attribute[node]) for tree in self.members for node, _ in tree.walk())
        return tuple(dict.fromkeys(attribute for attribute in met if attribute >= 0))

    def sections(self, scale: float | None = None, *, raw: bool = False, **limits: Unpack[Limits]) -> Iterator[Section]:
        """The sections of a page or of ``privet show``; ``scale`` is the noise scale of the counts.

        ``raw`` shows exactly what was released.
        """
        from privet.models.shown import ShownTree

        if raw and any(limit is not None for limit in limits.values()):
            raise ParameterError("raw shows all of the model; leave max_leaves and min_support out")
        if raw:
            return (ShownTree.whole(tree, scale, raw=True) for tree in self.members)
        return (ShownTree.of(tree, scale, **limits) for tree in self.members)

    def overview(self, sections: Iterator[Section]) -> str:
        """The whole model as text that fits a screen, from its sections."""
        return "\n".join(map(str, sections))

    def html(self, scale: float | None = None) -> Html:
        """HTML for a notebook; ``scale`` is the noise scale of the counts."""
        return next(self.sections(scale)).html()

    def _repr_html_(self) -> str:
        return self.html()

    def arrays(self, most: int) -> dict[str, Any] | None:
        """Plain lists from which a script predicts the same; None if they hold more than ``most`` numbers."""
        if sum(map(len, self.members)) * self.schema.n_classes > most:
            return None
        trees = [{name: getattr(tree, name).tolist() for name in (*TESTS, "label")} for tree in self.members]
        scores = [np.where(tree.is_leaf[:, None], tree.proba, 0.0) for tree in self.members]
        return {"trees": trees, "scores": np.concatenate(scores).tolist(), "voting": None}

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON data, as :mod:`privet.models.codec` decodes it."""
        return {"voting": None, "weight": None, "trees": [_columns(tree) for tree in self.members]}

    def fault(self) -> str | None:
        """What is wrong with the model, as a clause, or None."""
        from privet.models.validation import tree_fault

        return next((f"the tree {fault}" for tree in self.members if (fault := tree_fault(tree))), None)


def _columns(tree: Tree) -> dict[str, Any]:
    """A tree as lists, with None for what was not released."""
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
