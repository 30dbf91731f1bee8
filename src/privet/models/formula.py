"""How a released model predicts, as a sum of tables: the description that every export writes down.

A summand looks up one row of a table of numbers, by the leaf of a record in a tree or by the levels of its codes. The
rows of all summands are added up (or the largest number of each column is taken), a link turns the scores into
probabilities, and the largest is the label. Each kind of model says in ``formula()`` what its summands are; exports
read nothing else of a model.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from privet.schema import Schema
from privet.structure.routes import Routes

Floats = npt.NDArray[np.float64]
Index = npt.NDArray[np.int32]
Combine = Literal["sum", "max"]
Link = Literal["identity", "shares", "softmax", "number"]
"""``identity``: scores are probabilities. ``shares``: scores from 0 on, divided by their sum; equal if that is 0.
``softmax``: exponentials of the scores, divided by their sum; if something is ``taken``, such a share q then becomes
q (1 - taken q), and all are divided by their sum again. ``number``: the score is a number to predict, and there are no
probabilities."""


@dataclass(frozen=True, eq=False)
class Summand:
    """A table of numbers and how a record finds its row.

    With ``routes`` (one tree) it is the number of its leaf, from left to right in the order of nodes. Otherwise it
    follows from the levels of the attributes' codes, the last attribute running fastest; without attributes there is
    one row for all records.
    """

    table: Floats  # (row, column)
    routes: Routes | None = None
    attributes: tuple[int, ...] = ()
    levels: tuple[Index, ...] = ()

    @property
    def constant(self) -> bool:
        """Whether all records find the same row."""
        return len(self.table) == 1

    @cached_property
    def sides(self) -> tuple[int, ...]:
        """The number of levels of each attribute."""
        return tuple(int(column.max()) + 1 for column in self.levels)

    @cached_property
    def asked(self) -> frozenset[int]:
        """The attributes that decide on the row."""
        tested = () if self.routes is None else self.routes.tests.attribute[~self.routes.is_leaf].tolist()
        return frozenset((*self.attributes, *tested))

    @cached_property
    def leaf_row(self) -> npt.NDArray[np.intp]:
        """(node,) the row of each leaf of the tree."""
        assert self.routes is not None
        return np.cumsum(self.routes.is_leaf) - 1

    def rows(self, features: npt.NDArray[Any]) -> npt.NDArray[np.intp]:
        """The row of each record; ``features`` are codes (attributes, records)."""
        if self.routes is not None:
            return self.leaf_row[self.routes.apply(features)[:, 0]]
        row = np.zeros(features.shape[1], dtype=np.intp)
        for a, column, side in zip(self.attributes, self.levels, self.sides, strict=True):
            row = row * side + column[features[a]]
        return row


@dataclass(frozen=True, eq=False)
class Formula:
    """Summands in the order in which they are added up, and what becomes of their sum.

    The order matters: sums of doubles are then the same everywhere, and so are ties. The label is the class of the
    largest score. It is ``labels[row]`` where each row of the only summand has a label of its own. With ``ties``, which
    are more tables with the rows of the summands, their sum decides between the classes with the largest score.
    Otherwise ties go to the class listed first.

    >>> from privet.datasets.clinic import clinic
    >>> import privet
    >>> schema, table = clinic(500)
    >>> formula = (
    ...     privet.PrivateForestClassifier(schema=schema, epsilon=1, n_estimators=3).fit(table).model_.trees.formula()
    ... )
    >>> len(formula.summands), formula.combine, formula.link
    (4, 'sum', 'softmax')
    """

    schema: Schema
    summands: tuple[Summand, ...]
    combine: Combine = "sum"
    link: Link = "identity"
    labels: Index | None = None
    ties: tuple[Floats, ...] | None = None
    taken: float = 0.0
    """By the link of a margin (:mod:`privet.models.link`)."""
    bounds: tuple[float, float] | None = None
    """Of a number to predict: what lies outside is moved to the nearer end."""

    @property
    def columns(self) -> int:
        return self.summands[0].table.shape[1]

    @property
    def asked(self) -> tuple[int, ...]:
        """The attributes that can change a prediction, in the schema's order."""
        return tuple(sorted(frozenset().union(*(summand.asked for summand in self.summands))))

    @property
    def classes(self) -> list[str]:
        """The classes as text, in the order of the columns; none if a number is predicted."""
        return [] if self.link == "number" else [str(value) for value in self.schema.classes]

    def predict(self, features: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], Floats]:
        """Class codes and (record, class) probabilities: the meaning of the formula, without compiled code.

        Where a number is predicted, the numbers, and no columns of probabilities.
        """
        rows = [summand.rows(features) for summand in self.summands]
        tables = [summand.table for summand in self.summands]
        scores = _combined([table[row] for table, row in zip(tables, rows, strict=True)], self.combine)
        if self.link == "number":
            return scores[:, 0] if self.bounds is None else np.clip(scores[:, 0], *self.bounds), scores[:, :0]
        proba = linked(self.link, scores, self.taken)
        if self.labels is not None:
            return self.labels[rows[0]], proba
        if self.ties is not None:
            second = _combined([table[row] for table, row in zip(self.ties, rows, strict=True)], "sum")
            scores = np.where(scores == scores.max(axis=1, keepdims=True), second, -1.0)
        return scores.argmax(axis=1).astype(np.int32), proba


def linked(link: Link, scores: Floats, taken: float = 0.0) -> Floats:
    """(record, class) the probabilities of scores."""
    if link == "identity":
        return scores
    if link == "softmax":
        weights = np.exp(scores - scores.max(axis=1, keepdims=True))
        if taken:
            weights *= weights.sum(axis=1, keepdims=True) - taken * weights
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))
    weights = np.maximum(scores, 0.0)
    total = weights.sum(axis=1, keepdims=True)
    return np.divide(weights, total, out=np.full_like(weights, 1 / weights.shape[1]), where=total > 0)


def _combined(added: list[Floats], combine: Combine) -> Floats:
    total = np.zeros_like(added[0])
    for summand in added:
        total = total + summand if combine == "sum" else np.maximum(total, summand)
    return total


def leaf_values(routes: Routes, values: Floats) -> Summand:
    """The summand of a tree, from the values of its nodes."""
    return Summand(values[routes.is_leaf], routes)


def constant(values: Floats) -> Summand:
    """A summand that is the same for all records."""
    return Summand(values.reshape(1, -1))
