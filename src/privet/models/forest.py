"""Several trees and a way to combine their votes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, get_args

import numpy as np
import numpy.typing as npt

from privet.bidi import isolated, padded, width_of
from privet.errors import ParameterError
from privet.markup import Html, tag
from privet.models import voting as schemes
from privet.models.formula import Formula, constant, leaf_values
from privet.models.released import Released
from privet.models.tree import Floats, Tree
from privet.models.voting import Voting
from privet.schema import Schema
from privet.structure.routes import Routes

if TYPE_CHECKING:
    from privet.models.released import Section

MOST_LINES = 24  # lines of the first tree in an overview: one screen
MOST_ASKED = 20  # attributes listed there


@dataclass(frozen=True, eq=False, repr=False)
class Forest(Released):
    """Trees over one schema that vote by a scheme of :mod:`privet.models.voting`.

    ``weight`` scales each tree's evidence where they vote by ``evidence``: trees that test the same attributes repeat
    each other, and a smaller weight corrects for that. At 0 the forest predicts the class shares of its roots.

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

    title: ClassVar[str] = "forest"

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
        object.__setattr__(self, "weight", float(self.weight))  # JSON distinguishes 1 from 1.0
        if any(tree.schema != self.schema for tree in self.trees):
            raise ParameterError("trees must all have the schema of the forest")

    def __len__(self) -> int:
        return len(self.trees)

    def __repr__(self) -> str:
        leaves = sum(tree.n_leaves for tree in self.trees)
        return f"<Forest of {len(self.trees)} trees, {leaves} leaves, for {self.schema.label.name!r}>"

    def html(self, scale: float | None = None) -> Html:
        """For a notebook: the size, and the first tree."""
        opened = tag("details", tag("summary", "the first tree"), self.trees[0].html(scale))
        return tag("div", tag("p", repr(self).strip("<>")), opened)

    def overview(self, sections: Iterator[Section]) -> str:
        """List how many trees test which attribute, the most tested first, and begin the first section.

        >>> from privet.schema import Categorical, Schema
        >>> from privet.structure.splits import OneCategory
        >>> schema = Schema((Categorical("cough", ("no", "yes")),), Categorical("ill", ("no", "yes")))
        >>> tree = Tree.build(schema, [OneCategory(0, 1), None, None], [1, -1, -1], [0, 1, 0])
        >>> forest = Forest(schema, (tree, tree))
        >>> print(forest.overview(forest.sections()), end="")
        What the trees test:
          cough   2 of 2 trees, 2 tests, first in 2
        The first tree:
        |--- cough = yes
        |   |--- class: yes
        |--- cough != yes
        |   |--- class: no
        """
        if len(self.trees) == 1:
            return super().overview(sections)
        lines = [*self._asked_lines(), next(sections).beginning("The first tree", MOST_LINES)]
        return "\n".join(lines)

    def _asked_lines(self) -> Iterator[str]:
        names = tuple(map(isolated, self.schema.names))
        asked: Counter[int] = Counter()
        trees: Counter[int] = Counter()
        roots: Counter[int] = Counter()
        for tree in self.trees:
            inner = [a for a in tree.attribute.tolist() if a >= 0]
            asked.update(inner)
            trees.update(set(inner))
            roots.update(inner[:1])  # node 0 is the root
        order = sorted(asked, key=lambda a: (-trees[a], -asked[a], a))
        width = max((width_of(names[a]) for a in order[:MOST_ASKED]), default=0)
        yield "What the trees test:" if order else "No tree has a test: each is a single leaf."
        for a in order[:MOST_ASKED]:
            tests = f"{trees[a]} of {len(self)} trees, {asked[a]} test{'s'[: asked[a] > 1]}"
            yield f"  {padded(names[a], width)}   {tests}, first in {roots[a]}"
        if len(order) > MOST_ASKED:
            yield f"  and {len(order) - MOST_ASKED} more"

    def __iter__(self) -> Iterator[Tree]:
        return iter(self.trees)

    def __getitem__(self, t: int) -> Tree:
        return self.trees[t]

    @property
    def combined(self) -> str:
        return schemes.WORDS[self.voting]

    @property
    def members(self) -> tuple[Tree, ...]:
        return self.trees

    @cached_property
    def routes(self) -> Routes:
        columns = ((tree.attribute, tree.kind, tree.cut, tree.first_child) for tree in self.trees)
        return Routes.end_to_end(self.schema, columns)

    @cached_property
    def votes(self) -> Floats:
        """(node, class) the vote of each node of all trees for a record that ends there."""
        return schemes.votes(self.voting, self._nodes, self.weight)

    @property
    def prior(self) -> Floats:
        """(class,) the mean of the roots' probabilities: the class shares of the whole table."""
        return np.asarray(self._nodes.prior[self.routes.roots].mean(axis=0))

    def apply(self, features: npt.NDArray[Any]) -> npt.NDArray[np.int32]:
        """(record, tree) the leaf of each record in each tree, numbered within the tree."""
        return self.routes.apply(features)

    def predict(self, features: npt.NDArray[Any]) -> npt.NDArray[np.int32]:
        scores = self.predict_scores(features)
        if self.voting == "surest":
            # Among equally sure trees, the sum of all probabilities decides.
            tied = scores == scores.max(axis=1, keepdims=True)
            scores = np.where(tied, self._tally(features, self._nodes.proba, best=False), -1.0)
        return scores.argmax(axis=1).astype(np.int32)

    def predict_proba(self, features: npt.NDArray[Any]) -> Floats:
        """(record, class) the share of each class in the votes; equal shares if there are none."""
        return schemes.shares(self.voting, self.predict_scores(features))

    def predict_scores(self, features: npt.NDArray[Any]) -> Floats:
        """(record, class) the combined votes, before they become shares."""
        tally = self._tally(features, self.votes, best=self.voting == "surest")
        return schemes.scores(self.voting, tally, self.prior)

    def formula(self) -> Formula:
        routes = [tree.routes for tree in self.trees]
        starts = self.routes.roots[1:]
        summands = [leaf_values(*pair) for pair in zip(routes, np.split(self.votes, starts), strict=True)]
        if self.voting == "evidence":
            summands.append(constant(np.log(np.maximum(self.prior, schemes.LEAST))))
        surest = self.voting == "surest"
        return Formula(
            self.schema,
            tuple(summands),
            "max" if surest else "sum",
            schemes.LINKS[self.voting],
            ties=tuple(tree.proba[tree.is_leaf] for tree in self.trees) if surest else None,
        )

    def arrays(self, most: int) -> dict[str, Any] | None:
        """As for a tree, plus the log prior (``evidence``) and the probabilities that break ties (``surest``)."""
        if (found := super().arrays(most)) is None:
            return None
        evidence, surest = self.voting == "evidence", self.voting == "surest"
        is_leaf = np.concatenate([tree.is_leaf for tree in self.trees])
        return found | {
            "scores": np.where(is_leaf[:, None], self.votes, 0.0).tolist(),
            "voting": self.voting,
            "prior": np.log(np.maximum(self.prior, schemes.LEAST)).tolist() if evidence else None,
            "ties": self._nodes.proba.tolist() if surest else None,
        }

    def to_dict(self) -> dict[str, Any]:
        return super().to_dict() | {"voting": self.voting, "weight": self.weight}

    @cached_property
    def _nodes(self) -> schemes.Opinions:
        columns = [[getattr(tree, name) for tree in self.trees] for name in ("label", "proba", "counts")]
        label, proba, counts = map(np.concatenate, columns)
        roots = np.repeat(self.routes.roots, [len(tree) for tree in self.trees])
        return schemes.Opinions(label, proba, counts, proba[roots])

    def _tally(self, features: npt.NDArray[Any], votes: Floats, *, best: bool) -> Floats:
        from privet.models import kernels

        self.routes.check(features)
        return kernels.tally(features, *self.routes.descent, votes, best)
