"""An additive model for people: a curve for each attribute, tables of pairs, and the reasons for one record's score.

All of it follows from released numbers and the schema.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from privet.bidi import isolated, padded, width_of
from privet.markup import Html, tag
from privet.models.additive import Additive, Part, spread_of
from privet.models.number_tree import number_words
from privet.schema import Categorical, Schema
from privet.structure.routes import Routes
from privet.structure.splits import Multiway

Floats = npt.NDArray[np.float64]

BAR = "▁▂▃▄▅▆▇█"
WIDTH = 40  # characters of a curve in text


@dataclass(frozen=True, eq=False)
class Curve:
    """The contribution of one attribute: a row of ``values`` for each of ``names``.

    ``names`` are conditions, on ``categories`` or intervals of numbers; for a number, ``starts`` has the start of each
    interval, NaN for missing values. ``values`` are what a level adds to the log-odds of the second class, or to a
    number for each class, of a record that has the shares of everyone without it. Before the link
    (:mod:`privet.models.link`) a curve of a number is straight between ``knots``.

    ``deviation`` is the standard deviation of the noise for a level with its share of the records, and ``widest`` its
    upper bound for rare levels (see ``docs/proofs/perturbed_program.md``; None in files of older versions). Which
    levels are rare was not released.
    """

    attribute: str
    names: tuple[str, ...]
    starts: Floats | None
    values: Floats
    deviation: float
    knots: tuple[float, ...] = ()
    widest: float | None = None
    categories: tuple[str, ...] = ()

    @property
    def importance(self) -> float:
        return spread_of(self.values)


@dataclass(frozen=True, eq=False)
class PairTable:
    """What two attributes add beyond their own curves: ``values[i, j]`` for levels i and j."""

    attributes: tuple[str, str]
    names: tuple[tuple[str, ...], tuple[str, ...]]
    values: Floats
    deviation: float

    @property
    def importance(self) -> float:
        return spread_of(self.values.reshape(-1, self.values.shape[-1]))


@dataclass(frozen=True)
class Reason:
    """The contribution of one part to a record's score, and the value that the part saw."""

    what: str
    saw: str
    added: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class ShownSum:
    """An additive model for display, as text, in a notebook, and as the source of pages and pictures."""

    model: Additive

    @property
    def schema(self) -> Schema:
        return self.model.schema

    @property
    def curves(self) -> tuple[Curve, ...]:
        """The curves, the most important first."""
        return tuple(sorted(curves_of(self.model), key=lambda curve: -curve.importance))

    def __str__(self) -> str:
        return describe(self.model)

    def html(self) -> Html:
        return tag("pre", str(self))

    def beginning(self, title: str, lines: int) -> str:
        """All of it: there is one line for each part."""
        return f"{title}:\n{self}"


def curves_of(model: Additive) -> tuple[Curve, ...]:
    """The curve of each attribute that has one, in schema order."""
    found = [_curve(model, part) for part in model.parts if len(part.attributes) == 1]
    return tuple(sorted(found, key=lambda curve: model.schema.names.index(curve.attribute)))


def pairs_of(model: Additive) -> tuple[PairTable, ...]:
    tables = []
    for part in model.parts:
        if len(part.attributes) == 2:
            first, second = part.attributes
            names = tuple(tuple(_level_names(model.schema, part, i)) for i in range(2))
            shaped = model.link.effects(model.offset, part.table).reshape(*part.sides, -1)
            chosen = (model.schema.names[first], model.schema.names[second])
            tables.append(PairTable(chosen, (names[0], names[1]), shaped, _deviation(model, part)))
    return tuple(tables)


def reasons_of(model: Additive, features: npt.NDArray[Any]) -> list[Reason]:
    """The reasons for one record's score (codes, (attributes, 1)): the offset and the contribution of each part."""
    counted = "all labels" if model.schema.predicts_number else "class counts"
    everyone = Reason("everyone", counted, tuple(model.link.log_odds(model.offset[None])[0].tolist()))
    reasons = [everyone]
    shared = model.link.shared(model.offset, [rows[0] for rows in model.contributions(features)])
    for part, added in zip(model.parts, shared, strict=True):
        saw = " and ".join(_code_name(model.schema, a, int(features[a, 0])) for a in part.attributes)
        if not part.attributes and model.routes is not None:
            saw = _path(model.routes, int(model.routes.apply(features)[0, 0]))
        reasons.append(Reason(part.name(model.schema), saw, tuple(added.tolist())))
    return reasons


def leaves_of(model: Additive) -> list[tuple[str, Floats]]:
    """The conditions and the contribution of each leaf of the small tree, if there is one."""
    if model.routes is None:
        return []
    leaves = np.flatnonzero(model.routes.is_leaf).tolist()
    parts = [part for part in model.parts if not part.attributes]
    tables = [model.link.effects(model.offset, part.table) for part in parts]
    return [(_path(model.routes, node), row) for table in tables for node, row in zip(leaves, table, strict=True)]


def describe(model: Additive) -> str:
    """The model as text: a line for each part, the most important first, with a sketch of its curve."""
    what = _unit(model.schema)
    base = model.link.log_odds(model.offset[None])[0]
    what += "; alone" if model.margin else ""  # effects of several parts add up before the link
    lines = [f"score = {_numbers(base)} for everyone, plus:  ({what})"]
    order = sorted(model.parts, key=lambda part: -part.spread)
    names = [part.name(model.schema) for part in order]
    wide = max(map(width_of, names), default=0)
    for name, part in zip(names, order, strict=True):
        table = model.link.effects(model.offset, part.table)
        low, high = table.min(), table.max()
        drawn = _picture(table[:, -1]) if len(part.attributes) < 2 else f"{part.sides[0]} x {part.sides[1]} table"
        noise = f"{_deviation(model, part):.2f}" + (
            f", up to {part.widest:.2f} where rare" if part.widest is not None else ""
        )
        if model.schema.predicts_number:
            noise = ", up to ".join(number_words(one, 3) for one in (part.deviation, part.widest or part.deviation))
        ends = f"{low:+.2f} to {high:+.2f}" if not model.schema.predicts_number else f"{low:+.4g} to {high:+.4g}"
        lines.append(f"{padded(name, wide)}  {ends} (noise {noise})  {drawn}")
    lines += [f"leaf {path}: {_numbers(row)}" for path, row in leaves_of(model)]
    return "\n".join(lines) + "\n"


def _unit(schema: Schema) -> str:
    """What scores are."""
    if schema.predicts_number:
        return f"in units of {isolated(schema.label.name)}"
    return f"log-odds of {isolated(schema.classes[1])}" if schema.n_classes == 2 else "a number for each class"


def _deviation(model: Additive, part: Part) -> float:
    """The noise of a part, in log-odds: what the link makes of it at the offset."""
    return part.deviation * float(model.link.slope(model.offset[None]).max())


def _curve(model: Additive, part: Part) -> Curve:
    (a,), schema = part.attributes, model.schema
    attribute = schema.attributes[a]
    names = tuple(_code_name(schema, a, code) for code in range(schema.arities[a]))
    starts = None
    if not isinstance(attribute, Categorical):
        starts = np.concatenate([[attribute.low], attribute.cuts])
        starts = np.append(starts, np.nan) if attribute.missing is not None else starts
    categories = tuple(map(isolated, attribute.values)) if isinstance(attribute, Categorical) else ()
    knots = part.knots[0] if part.knots else ()
    values = model.link.effects(model.offset, part.table)[part.levels[0]]
    return Curve(attribute.name, names, starts, values, _deviation(model, part), knots, part.widest, categories)


def _code_name(schema: Schema, a: int, code: int) -> str:
    return Multiway(a).describe(schema, code)


def _level_names(schema: Schema, part: Part, place: int) -> Iterator[str]:
    a, levels = part.attributes[place], part.levels[place]
    for level in range(part.sides[place]):
        codes = np.flatnonzero(levels == level)
        first, last = _code_name(schema, a, int(codes[0])), _code_name(schema, a, int(codes[-1]))
        yield first if len(codes) == 1 else f"{first} ... {last}"


def _path(routes: Routes, node: int) -> str:
    text: list[str] = []
    while (above := int(routes.parent[node])) >= 0:
        text.append(routes.tests[above].describe(routes.schema, node - int(routes.first_child[above])))
        node = above
    return " and ".join(reversed(text)) or "everyone"


def _numbers(row: Floats) -> str:
    return " ".join(f"{number:+.2f}" if abs(number) < 1000 else f"{number:+,.0f}" for number in row)


def _picture(values: Floats) -> str:
    """A line of bars; values are averaged where there are more than fit."""
    if len(values) > WIDTH:
        edges = np.linspace(0, len(values), WIDTH + 1).astype(int)
        values = np.array([values[start:stop].mean() for start, stop in pairwise(edges)])
    low, high = values.min(), values.max()
    place = np.zeros(len(values)) if high == low else (values - low) / (high - low) * (len(BAR) - 1)
    return "".join(BAR[round(p)] for p in place)
