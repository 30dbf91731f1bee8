"""Several trees and a way to count their votes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from privet.errors import ParameterError
from privet.schema import Schema
from privet.splits import Kind
from privet.trees.structure import check_features
from privet.trees.tree import LEAF, Floats, Tree

Voting = Literal["majority", "proba", "confidence"]


class Flat(NamedTuple):
    """All trees end to end, so that one compiled pass serves them all.

    Nodes are numbered across trees. A leaf carries a threshold that no code passes and is its own first child.
    """

    roots: npt.NDArray[np.int32]
    depths: npt.NDArray[np.int32]
    attribute: npt.NDArray[np.int32]
    kind: npt.NDArray[np.int8]
    cut: npt.NDArray[np.int32]
    first_child: npt.NDArray[np.int32]

    @classmethod
    def of(cls, trees: Sequence[Tree]) -> Flat:
        sizes = [len(tree) for tree in trees]
        roots = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int32)
        columns = {
            name: np.concatenate([getattr(tree, name) for tree in trees])
            for name in ("attribute", "kind", "cut", "first_child")
        }
        columns["first_child"] += np.repeat(roots, sizes)
        leaves = np.flatnonzero(columns["attribute"] == LEAF)
        columns["first_child"][leaves] = leaves
        for name, value in (("attribute", 0), ("kind", Kind.THRESHOLD), ("cut", np.iinfo(np.int32).max)):
            columns[name][leaves] = value
        depths = np.array([tree.depth for tree in trees], dtype=np.int32)
        return cls(roots, depths, **columns)


@dataclass(frozen=True, eq=False)
class Forest:
    """Trees over one schema, and how they vote.

    ``majority``: each tree has one vote, for its label. ``proba``: the mean of the trees' probabilities.
    ``confidence``: each tree votes for its label with the probability it gives to it. Ties go to the class listed
    first in the schema, so a prediction never depends on chance.

    >>> from privet.schema import Categorical, Schema
    >>> from privet.splits import OneCategory
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

    def __post_init__(self) -> None:
        object.__setattr__(self, "trees", tuple(self.trees))
        if not self.trees:
            raise ParameterError("trees is empty: a forest needs at least one tree")
        if self.voting not in get_args(Voting):
            raise ParameterError(f"voting must be one of {', '.join(get_args(Voting))}, not {self.voting!r}")
        if any(tree.schema != self.schema for tree in self.trees):
            raise ParameterError("trees must all have the schema of the forest")

    def __len__(self) -> int:
        return len(self.trees)

    def __iter__(self) -> Iterator[Tree]:
        return iter(self.trees)

    def __getitem__(self, t: int) -> Tree:
        return self.trees[t]

    @property
    def n_nodes(self) -> int:
        return sum(len(tree) for tree in self.trees)

    @cached_property
    def flat(self) -> Flat:
        return Flat.of(self.trees)

    @cached_property
    def votes(self) -> Floats:
        """(node, class) what each node of the flat forest says when a record ends there."""
        proba = np.concatenate([tree.proba for tree in self.trees])
        if self.voting == "proba":
            return proba
        label = np.concatenate([tree.label for tree in self.trees])
        ballots = np.eye(self.schema.n_classes)[label]
        return ballots if self.voting == "majority" else ballots * proba

    def apply(self, features: npt.NDArray[Any]) -> npt.NDArray[np.int32]:
        """(record, tree) the leaf of each record in each tree, numbered within the tree."""
        from privet.trees import kernels

        check_features(self.schema, features, self.trees)
        return kernels.apply_all(features, *self.flat)

    def predict(self, features: npt.NDArray[Any]) -> npt.NDArray[np.int32]:
        """The class code of each record."""
        return self._tally(features).argmax(axis=1).astype(np.int32)

    def predict_proba(self, features: npt.NDArray[Any]) -> Floats:
        """(record, class) each class's share of the votes; equal shares where no tree is confident of anything."""
        tally = self._tally(features)
        total = tally.sum(axis=1, keepdims=True)
        return np.divide(tally, total, out=np.full_like(tally, 1 / self.schema.n_classes), where=total > 0)

    def _tally(self, features: npt.NDArray[Any]) -> Floats:
        from privet.trees import kernels

        check_features(self.schema, features, self.trees)
        return kernels.add_votes(features, *self.flat, self.votes)
