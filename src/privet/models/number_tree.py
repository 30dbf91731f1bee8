"""A tree whose leaves predict a number, each with the size of its noise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from privet.errors import ParameterError
from privet.models.formula import Formula, leaf_values
from privet.models.intervals import Z
from privet.models.leaf_counts import add_up, chances
from privet.models.released import TESTS, Floats
from privet.models.tree import Tree, read_only
from privet.schema import Schema
from privet.structure.routes import Routes
from privet.structure.splits import Test

LARGE = 1e5  # from here on whole numbers are written with commas


@dataclass(frozen=True, eq=False, repr=False)
class NumberTree(Tree):
    """A tree that predicts ``value[i]`` at node ``i``; ``deviation[i]`` is about the standard deviation of its noise.

    ``counts`` has one column, the number of records, NaN where it was not released. An inner node has the mean of its
    leaves, weighted by their records.

    >>> from privet.schema import Categorical, Numeric
    >>> from privet.structure.splits import OneCategory
    >>> schema = Schema((Categorical("sex", ("f", "m")),), Numeric("wage", 0, 80))
    >>> tree = NumberTree.of(
    ...     schema,
    ...     [OneCategory(0, 0), None, None],
    ...     np.array([[np.nan], [30.0], [10.0]]),
    ...     np.array([0, 20.0, 40.0]),
    ...     np.array([0, 1.0, 2.0]),
    ... )
    >>> tree.predict(np.array([[0, 1]])), tree.value[0]
    (array([20., 40.]), np.float64(25.0))
    """

    title: ClassVar[str] = "regression tree"

    value: Floats = None  # type: ignore[assignment]  # required, though the fields before it have defaults
    deviation: Floats = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("value", "deviation"):
            column = read_only(getattr(self, name), np.float64)
            if column.shape != (len(self),) or not np.isfinite(column).all():
                raise ParameterError(f"tree column {name} must have a finite number for each node")
            object.__setattr__(self, name, column)
        if (self.deviation < 0).any():
            raise ParameterError("tree column deviation must be at least 0")

    @classmethod
    def of(
        cls, schema: Schema, tests: Sequence[Test | None], counts: Floats, value: Floats, deviation: Floats
    ) -> NumberTree:
        """A tree in level order from the values of its leaves."""
        routes = Routes.in_level_order(schema, tests)
        records = _records(routes, counts)
        total = np.maximum(add_up(routes, records), np.finfo(float).tiny)
        value = np.asarray(add_up(routes, records * value[:, None]) / total)[:, 0]
        deviation = np.sqrt(add_up(routes, (records * deviation[:, None]) ** 2))[:, 0] / total[:, 0]
        table, nothing = routes.tests, np.zeros(len(tests), dtype=np.int32)
        first = np.where(routes.is_leaf, -1, routes.first_child)
        draws = np.asarray(~np.isnan(counts[:, 0]), dtype=np.int32)
        ones = np.ones((len(tests), 1))
        structure = (table.attribute, table.kind, table.cut, first)
        return cls(schema, *structure, nothing, ones, counts, draws, value, deviation)

    @property
    def columns(self) -> int:
        return 1

    @property
    def outcome(self) -> Floats:
        return self.value[:, None]

    @property
    def graded(self) -> bool:
        return False

    def predict(self, features: npt.NDArray[Any]) -> Any:
        """The number of each record."""
        return self.value[self.apply(features)]

    def predict_proba(self, features: npt.NDArray[Any]) -> Floats:
        raise ParameterError("this model predicts a number, which has no class probabilities; use predict")

    def predict_scores(self, features: npt.NDArray[Any]) -> Floats:
        return self.value[self.apply(features)][:, None]

    def formula(self) -> Formula:
        return Formula(self.schema, (leaf_values(self.routes, self.outcome),), link="number")

    def importances(self) -> Floats:
        """(attribute,) share of the squared deviation from the mean that the tests on each attribute remove."""
        routes, found = self.routes, np.zeros(len(self.schema.attributes))
        records = add_up(routes, _records(routes, self.counts))[:, 0]
        children = np.flatnonzero(routes.parent >= 0)
        above = routes.parent[children]
        removed = records[children] * (self.value[children] - self.value[above]) ** 2
        np.add.at(found, self.attribute[above], removed)
        return found / found.sum() if found.sum() > 0 else found

    def arrays(self, most: int) -> dict[str, Any] | None:
        if len(self) > most:
            return None
        tree = {name: getattr(self, name).tolist() for name in (*TESTS, "label")}
        scores = [[value, Z * deviation] for value, deviation in zip(self.value, self.deviation, strict=True)]
        return {"trees": [tree], "scores": scores, "voting": None, "number": True}

    def to_dict(self) -> dict[str, Any]:
        facts = super().to_dict()
        facts["trees"][0] |= {"value": self.value.tolist(), "deviation": self.deviation.tolist()}
        return facts


def _records(routes: Routes, counts: Floats) -> Floats:
    """(node, 1) records of the leaves, one at least; where none were released, every branch has the same.

    A leaf without records would lose its value in the mean of itself.
    """
    leaves = counts[routes.leaves]
    if np.isnan(leaves).any() or not (leaves > 0).any():
        return chances(routes)[:, None]
    return np.where(np.isnan(counts), 0.0, np.maximum(counts, 1.0))


def about(value: float, deviation: float) -> str:
    """A number with its noise, in words; as many digits as the noise leaves.

    >>> about(41.234, 1.53), about(206_855.8, 6_122.0), about(2.0, 0.0)
    ('about 41.2 ± 3', 'about 207,000 ± 12,000', '2')
    """
    margin = Z * deviation
    if margin <= 0:
        return number_words(value, 6)
    digits = 1 - math.floor(math.log10(margin))
    return f"about {number_words(round(value, digits))} ± {number_words(float(f'{margin:.2g}'))}"


def number_words(value: float, digits: int = 12) -> str:
    """A number as people write it: thousands with commas where it is large.

    >>> number_words(207000.0), number_words(41.2), number_words(-0.0)
    ('207,000', '41.2', '0')
    """
    plain = f"{value + 0.0:.{digits}g}"
    return f"{value:,.0f}" if abs(value) >= LARGE or (abs(value) >= 1e4 and float(value).is_integer()) else plain
