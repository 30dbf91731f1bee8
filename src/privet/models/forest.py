"""Several trees and a way to combine what they say."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, get_args

import numpy as np
import numpy.typing as npt

from privet.errors import ParameterError
from privet.markup import Html, tag
from privet.models import voting as hearing
from privet.models.tree import Floats, Tree
from privet.models.voting import Voting
from privet.schema import Schema
from privet.structure.routes import Routes


@dataclass(frozen=True, eq=False, repr=False)
class Forest:
    """Trees over one schema, and how they vote: see :mod:`privet.models.voting`.

    ``weight`` is how much a tree's evidence counts where they vote by ``evidence``. Trees that look at the same
    attributes repeat each other; a smaller weight makes up for that. At 0 the forest says what its roots say.

    >>> from privet.schema import Categorical, Schema
    >>> from privet.structure.splits import OneCategory
    >>> schema = Schema((Categorical("cough", ("no", "yes")),), Categorical("ill", ("no", "yes")))
    >>> unsure = Tree.build(schema, [None], [-1], [0], proba=np.array([[0.6, 0.4]]))
    >>> sure = Tree.build(schema, [OneCategory(0, 1), None, None], [1, -1, -1], [0, 1, 0])
    >>> coughs = np.array([[1]])
    >>> Forest(schema, (unsure, sure)).predict(coughs)  # one vote each
    array([0], dtype=int32)
    >>> Forest(schema, (unsure, sure), "proba").predict_proba(coughs).round(2)
    array([[0.3, 0.7]])
    """

    schema: Schema
    trees: tuple[Tree, ...]
    voting: Voting = "majority"
    weight: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "trees", tuple(self.trees))
        if not self.trees:
            raise ParameterError("trees is empty: a forest needs at least one tree")
        if self.voting not in get_args(Voting):
            raise ParameterError(f"voting must be one of {', '.join(get_args(Voting))}, not {self.voting!r}")
        if isinstance(self.weight, bool) or not isinstance(self.weight, int | float) or not 0 <= self.weight <= 1:
            raise ParameterError(f"weight must be from 0 to 1, not {self.weight!r}")
        object.__setattr__(self, "weight", float(self.weight))  # a file tells 1 from 1.0
        if any(tree.schema != self.schema for tree in self.trees):
            raise ParameterError("trees must all have the schema of the forest")

    def __len__(self) -> int:
        return len(self.trees)

    def __repr__(self) -> str:
        leaves = sum(tree.n_leaves for tree in self.trees)
        return f"<Forest of {len(self.trees)} trees, {leaves} leaves, for {self.schema.label.name!r}>"

    def _repr_html_(self) -> str:
        return self.html_with(Html(self.trees[0]._repr_html_()))

    def html_with(self, first: Html) -> Html:
        """What a notebook shows, with a view of the first tree."""
        opened = tag("details", tag("summary", "the first tree"), first)
        return tag("div", tag("p", repr(self).strip("<>")), opened)

    def __iter__(self) -> Iterator[Tree]:
        return iter(self.trees)

    def __getitem__(self, t: int) -> Tree:
        return self.trees[t]

    @property
    def n_nodes(self) -> int:
        return sum(len(tree) for tree in self.trees)

    @cached_property
    def routes(self) -> Routes:
        columns = ((tree.attribute, tree.kind, tree.cut, tree.first_child) for tree in self.trees)
        return Routes.end_to_end(self.schema, columns)

    @cached_property
    def votes(self) -> Floats:
        """(node, class) what each node of all trees says when a record ends there."""
        return hearing.votes(self.voting, self._nodes, self.weight)

    @property
    def prior(self) -> Floats:
        """(class,) what the roots say on average: the class shares of the whole table."""
        return np.asarray(self._nodes.prior[self.routes.roots].mean(axis=0))

    def apply(self, features: npt.NDArray[Any]) -> npt.NDArray[np.int32]:
        """(record, tree) the leaf of each record in each tree, numbered within the tree."""
        return self.routes.apply(features)

    def predict(self, features: npt.NDArray[Any]) -> npt.NDArray[np.int32]:
        """The class code of each record."""
        scores = self._scores(features)
        if self.voting == "surest":
            # Equally sure trees: the probabilities of all of them decide between their labels.
            tied = scores == scores.max(axis=1, keepdims=True)
            scores = np.where(tied, self._tally(features, self._nodes.proba, best=False), -1.0)
        return scores.argmax(axis=1).astype(np.int32)

    def predict_proba(self, features: npt.NDArray[Any]) -> Floats:
        """(record, class) each class's share of what the trees say; equal shares where none says anything."""
        return hearing.shares(self.voting, self._scores(features))

    def _scores(self, features: npt.NDArray[Any]) -> Floats:
        tally = self._tally(features, self.votes, best=self.voting == "surest")
        return hearing.scores(self.voting, tally, self.prior)

    @cached_property
    def _nodes(self) -> hearing.Opinions:
        columns = [[getattr(tree, name) for tree in self.trees] for name in ("label", "proba", "counts")]
        label, proba, counts = map(np.concatenate, columns)
        roots = np.repeat(self.routes.roots, [len(tree) for tree in self.trees])
        return hearing.Opinions(label, proba, counts, proba[roots])

    def _tally(self, features: npt.NDArray[Any], votes: Floats, *, best: bool) -> Floats:
        from privet.models import kernels

        self.routes.check(features)
        return kernels.tally(features, *self.routes.descent, votes, best)
