"""An additive model: a record's score is a sum of released curves and tables, one for each attribute or pair."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Unpack

import numpy as np
import numpy.typing as npt

from privet.bidi import isolated
from privet.errors import ParameterError
from privet.models.formula import Formula, Summand, constant, linked
from privet.models.link import Link
from privet.models.released import Floats, Released
from privet.models.tree import read_only
from privet.schema import Schema
from privet.structure.routes import Routes

if TYPE_CHECKING:
    from privet.models.released import Limits, Section

Index = npt.NDArray[np.int32]
PLACES = 6  # decimals of a log-odds in ``arrays``: probabilities are right to a millionth, and pages a fifth smaller


@dataclass(frozen=True, eq=False)
class Part:
    """One summand: a number for each level of an attribute, of a pair, or (no attribute) for each leaf of a tree.

    ``levels`` maps the codes of each attribute to levels. ``table`` has a row for each combination of levels (the last
    attribute runs fastest) with the log-odds of the second class, or a number for each class where there are more.
    ``deviation`` is about the standard deviation of the noise in these numbers if records are spread evenly over the
    levels; ``widest`` is its upper bound, for levels with few or no records (None in files of older versions). Both
    follow from released numbers. ``knots`` are the knots of each attribute's curve; empty where every code has a number
    of its own.
    """

    attributes: tuple[int, ...]
    levels: tuple[Index, ...]
    table: Floats
    deviation: float
    knots: tuple[tuple[float, ...], ...] = ()
    widest: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "levels", tuple(read_only(column, np.int32) for column in self.levels))
        object.__setattr__(self, "table", read_only(self.table, np.float64))

    @property
    def sides(self) -> tuple[int, ...]:
        """The number of levels of each attribute."""
        return tuple(int(column.max()) + 1 for column in self.levels)

    @property
    def spread(self) -> float:
        """The mean distance of the numbers from their mean, which measures the importance."""
        return spread_of(self.table)

    def name(self, schema: Schema) -> str:
        """An attribute, a pair (``a x b``), or ``leaf`` for the leaves of a tree."""
        return " x ".join(isolated(schema.names[a]) for a in self.attributes) or "leaf"

    def times(self, factor: float) -> Part:
        """The same part, all of whose numbers count as much as a factor says."""
        widest = None if self.widest is None else self.widest * factor
        return replace(self, table=self.table * factor, deviation=self.deviation * factor, widest=widest)

    def to_dict(self) -> dict[str, Any]:
        return {
            "attributes": list(self.attributes),
            "levels": [column.tolist() for column in self.levels],
            "table": self.table.tolist(),
            "deviation": self.deviation,
            "widest": self.widest,
            "knots": [list(knots) for knots in self.knots],
        }

    def rows(self, features: npt.NDArray[Any]) -> npt.NDArray[np.intp]:
        """The row of the table for each record."""
        row = np.zeros(features.shape[1], dtype=np.intp)
        for a, column, side in zip(self.attributes, self.levels, self.sides, strict=True):
            row = row * side + column[features[a]]
        return row

    def fault(self, schema: Schema, routes: Routes | None) -> str | None:
        """Why the part does not fit the schema, as a clause after 'a part ...', or None."""
        columns = schema.n_scores
        if len(self.attributes) > 2 or len(set(self.attributes)) < len(self.attributes):
            return "must be of no attribute, of one or of two different ones"
        if len(self.levels) != len(self.attributes):
            return "needs levels for each of its attributes"
        for a, column in zip(self.attributes, self.levels, strict=True):
            if not 0 <= a < len(schema.attributes) or column.shape != (schema.arities[a],) or column.min() < 0:
                return f"has levels that do not fit attribute {a}"
        if len(self.levels) == 2 and any(len(np.unique(column)) <= column.max() for column in self.levels):
            return "has a level that no value has"
        if not self.attributes and routes is None:
            return "of leaves needs a tree"
        rows = int(np.prod(self.sides)) if self.attributes else len(routes.leaves) if routes else 0
        if self.table.shape != (rows, columns) or not np.isfinite(self.table).all():
            return f"must have {rows} rows of {columns} finite numbers"
        if self.knots and len(self.knots) != len(self.attributes):
            return "needs knots for each of its attributes, or none"
        if not 0 <= self.deviation < np.inf:
            return "must have a deviation of at least 0"
        if self.widest is not None and not 0 <= self.widest < np.inf:
            return "must have a widest deviation of at least 0"
        return None


@dataclass(frozen=True, eq=False, repr=False)
class Additive(Released):
    """Parts over one schema. A record's score is ``offset`` plus its row in the table of each part.

    Scores are log-odds where they were fitted without a ``margin``; with one, its link makes log-odds of them
    (:mod:`privet.models.link`).

    >>> from privet.schema import Categorical
    >>> schema = Schema((Categorical("cough", ("no", "yes")),), Categorical("ill", ("no", "yes")))
    >>> part = Part((0,), (np.array([0, 1]),), np.array([[-1.0], [1.0]]), 0.1)
    >>> Additive(schema, (part,), np.zeros(1)).predict_proba(np.array([[0, 1]])).round(2)
    array([[0.73, 0.27],
           [0.27, 0.73]])
    """

    title: ClassVar[str] = "additive model"

    schema: Schema
    parts: tuple[Part, ...]
    offset: Floats
    routes: Routes | None = None
    """The tree whose leaves index the part without attributes."""
    margin: float = 0.0
    """That of the loss that was fitted."""

    def __post_init__(self) -> None:
        Link(self.margin)  # refuses what is no margin
        object.__setattr__(self, "parts", tuple(self.parts))
        object.__setattr__(self, "offset", read_only(self.offset, np.float64))
        columns = self.schema.n_scores
        if self.offset.shape != (columns,) or not np.isfinite(self.offset).all():
            raise ParameterError(f"offset must be {columns} finite numbers")
        if self.routes is not None and (len(self.routes) != 1 or self.routes.schema != self.schema):
            raise ParameterError("routes must be one tree over the schema of the model")
        for part in self.parts:
            if fault := part.fault(self.schema, self.routes):
                raise ParameterError(f"a part {fault}")

    def __repr__(self) -> str:
        return f"<Additive model of {len(self.parts)} parts, for {self.schema.label.name!r}>"

    @property
    def link(self) -> Link:
        return Link(self.margin)

    @property
    def version(self) -> int:
        return 2 if self.margin else 1  # readers of version 1 know no margin and would take scores for log-odds

    @property
    def graded(self) -> bool:
        return True

    @property
    def size(self) -> dict[str, int]:
        return {"parts": len(self.parts), "numbers": sum(part.table.size for part in self.parts)}

    def importances(self) -> Floats:
        """(attribute,) share of the parts' spread; a pair or a tree splits its spread equally among its attributes."""
        found = np.zeros(len(self.schema.attributes))
        for part in self.parts:
            asked = part.attributes or self._tested()
            for a in asked:
                found[a] += part.spread / len(asked)
        return found / found.sum() if found.sum() > 0 else found

    def asked(self) -> tuple[int, ...]:
        return tuple(dict.fromkeys([*(a for part in self.parts for a in part.attributes), *self._tested()]))

    def sections(self, scale: float | None = None, *, raw: bool = False, **limits: Unpack[Limits]) -> Iterator[Section]:
        from privet.models.curves import ShownSum

        if raw or any(limit is not None for limit in limits.values()):
            raise ParameterError("max_leaves, min_support and raw are for trees; this model is a sum and has no leaves")
        return iter((ShownSum(self),))

    def arrays(self, most: int) -> dict[str, Any] | None:
        """The tables, and the tests of the tree, as lists; None if the tables hold more than ``most`` numbers."""
        if self.size["numbers"] > most:
            return None
        return {
            "offset": self.offset.tolist(),
            "margin": self.margin,
            **self._bounds(),
            "parts": [
                {
                    "attributes": list(part.attributes),
                    "what": part.name(self.schema),
                    # None where codes and levels are the same
                    "levels": [None if (c == np.arange(len(c))).all() else c.tolist() for c in part.levels],
                    "sides": list(part.sides),
                    "table": part.table.round(PLACES).tolist(),
                }
                for part in self.parts
            ],
            "trees": [] if self.routes is None else [self.routes.to_dict()],
            "leaf": [] if self.routes is None else (np.cumsum(self.routes.is_leaf) - 1).tolist(),
        }

    def _bounds(self) -> dict[str, Any]:
        """What a script needs to know of a number to predict."""
        if not self.schema.predicts_number:
            return {}
        return {"number": True, "bounds": [self.schema.number.low, self.schema.number.high]}

    def to_dict(self) -> dict[str, Any]:
        facts: dict[str, Any] = {"offset": self.offset.tolist(), "parts": [part.to_dict() for part in self.parts]}
        facts |= {"margin": self.margin} if self.margin else {}
        return {"additive": facts | ({} if self.routes is None else {"routes": self.routes.to_dict()})}

    def contributions(self, features: npt.NDArray[Any]) -> list[Floats]:
        """(record, column) the contribution of each part to each record's score, before the link."""
        self._check(features)
        return [part.table[self._leaves(features) if not part.attributes else part.rows(features)]
                for part in self.parts]  # fmt: skip

    def predict_scores(self, features: npt.NDArray[Any]) -> Floats:
        """(record, column) log-odds of the second class, or a number for each class."""
        return self.link.log_odds(self._sums(features))

    def predict_proba(self, features: npt.NDArray[Any]) -> Floats:
        if self.schema.predicts_number:
            raise ParameterError("this model predicts a number, which has no class probabilities; use predict")
        return linked("softmax", self._class_scores(features), self.link.taken)

    def _sums(self, features: npt.NDArray[Any]) -> Floats:
        total = np.tile(self.offset, (features.shape[1], 1))
        for added in self.contributions(features):
            total += added
        return total

    def predict(self, features: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The class code of each record, ties to the class listed first; or the number, inside the declared bounds."""
        if self.schema.predicts_number:
            return np.clip(self._sums(features)[:, 0], self.schema.number.low, self.schema.number.high)
        return self._class_scores(features).argmax(axis=1).astype(np.int32)

    def _class_scores(self, features: npt.NDArray[Any]) -> Floats:
        """(record, class) scores before the link, which keeps their order; with two classes that of the first is 0."""
        scores = self._sums(features)
        return np.pad(scores, ((0, 0), (self.schema.n_classes - scores.shape[1], 0)))

    def formula(self) -> Formula:
        """A number has one column. Two classes have a column each, as more classes do; the first is 0."""
        number = self.schema.number if self.schema.predicts_number else None
        wanted = 1 if number else self.schema.n_classes

        def columns(table: Floats) -> Floats:
            return np.pad(table, ((0, 0), (wanted - table.shape[1], 0)))

        parts = [
            Summand(columns(part.table), None if part.attributes else self.routes, part.attributes, part.levels)
            for part in self.parts
        ]
        everyone = constant(columns(self.offset[None]))
        if number:
            return Formula(self.schema, (everyone, *parts), link="number", bounds=(number.low, number.high))
        return Formula(self.schema, (everyone, *parts), link="softmax", taken=self.link.taken)

    def _tested(self) -> tuple[int, ...]:
        """The attribute of each test of the tree."""
        return () if self.routes is None else tuple(self.routes.tests.attribute[~self.routes.is_leaf].tolist())

    def _leaves(self, features: npt.NDArray[Any]) -> npt.NDArray[np.intp]:
        assert self.routes is not None
        number = np.cumsum(self.routes.is_leaf) - 1
        return number[self.routes.apply(features)[:, 0]]

    def _check(self, features: npt.NDArray[Any]) -> None:
        wanted = len(self.schema.attributes)
        if features.ndim != 2 or len(features) != wanted or not np.issubdtype(features.dtype, np.integer):
            raise ParameterError(
                f"features must be integer codes, {wanted} attributes x records, as privet.tables.encoding makes them"
            )
        for a in {a for part in self.parts for a in part.attributes} if features.shape[1] else ():
            if features[a].min() < 0 or features[a].max() >= self.schema.arities[a]:
                raise ParameterError(f"features hold codes of {self.schema.names[a]!r} that its values lack")


def spread_of(values: Floats) -> float:
    """The mean distance of rows from their own mean, over all columns."""
    return float(np.abs(values - values.mean(axis=0)).mean(axis=0).sum())
