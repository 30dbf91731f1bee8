"""The tables of an additive model, for two attributes together, as SVG: a field whose colours say what they add."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from privet.bidi import isolated, shortened
from privet.markup import Html, join, tag
from privet.models.additive import Part
from privet.schema import Categorical, Schema

WIDTH, NAMES, TOP, BOTTOM = 360, 104, 6, 40
ROW = 16
STRENGTHS = 20  # of a colour: more cannot be told apart
MOST_TICKS = 6  # names along an axis


def level_names(schema: Schema, part: Part, place: int) -> tuple[str, ...]:
    """What each level of an attribute stands for, in few words: where it begins, or its categories."""
    return tuple(_level_names(schema, part, place))


def _level_names(schema: Schema, part: Part, place: int) -> Iterator[str]:
    attribute, levels = schema.attributes[part.attributes[place]], part.levels[place]
    for level in range(part.sides[place]):
        codes = np.flatnonzero(levels == level)
        if isinstance(attribute, Categorical):
            yield ", ".join(isolated(attribute.values[code]) for code in codes)
        elif codes[0] > len(attribute.cuts):
            yield "missing"
        else:
            yield f"from {([attribute.low, *attribute.cuts])[codes[0]]:.4g}"


def pair_picture(names: tuple[Sequence[str], Sequence[str]], titles: tuple[str, str], values: np.ndarray) -> Html:
    """A field of (first, second) log-odds, in the colour of the class that they make likelier; stronger is more."""
    rows, columns = values.shape
    side = (WIDTH - NAMES) / columns
    reach = float(np.abs(values).max()) or 1.0
    height = TOP + ROW * rows + BOTTOM
    cells = [
        tag(
            "path",
            d="".join(_field(i, j, side) for i, j in those),
            class_=f"field {kind}",
            opacity=f"{strength / STRENGTHS:g}",
        )
        for (kind, strength), those in _alike(values / reach).items()
    ]
    every = math.ceil(rows / (2 * MOST_TICKS)), math.ceil(columns / MOST_TICKS)
    left = [
        tag("text", shortened(isolated(name), 13), x=NAMES - 6, y=TOP + ROW * i + 12, text_anchor="end", class_="tick")
        for i, name in enumerate(names[0])
        if i % every[0] == 0
    ]
    below = [
        tag(
            "text",
            shortened(isolated(name.removeprefix("from ")), 7),
            x=f"{NAMES + side * j:.1f}",
            y=height - BOTTOM + 14,
            class_="tick",
        )
        for j, name in enumerate(names[1])
        if j % every[1] == 0 and j < columns - 1
    ]
    title = tag("text", titles[1], x=WIDTH, y=height - 6, text_anchor="end", class_="tick")
    label = f"What {isolated(titles[0])} and {isolated(titles[1])} add together; the numbers follow"
    shapes = join((*cells, *left, *below, title))
    return tag("svg", shapes, role="img", aria_label=label, class_="shape", viewBox=f"0 0 {WIDTH} {height}")


def _field(row: int, column: int, side: float) -> str:
    left = f"{NAMES + side * column:.1f}"
    return f"M{left} {TOP + ROW * row}h{side + 0.3:.1f}v{ROW + 0.3}H{left}z"


def _alike(shares: np.ndarray) -> dict[tuple[str, int], list[tuple[int, int]]]:
    """The fields that have the same colour, of those that have one."""
    found: dict[tuple[str, int], list[tuple[int, int]]] = {}
    for place, share in np.ndenumerate(shares):
        if strength := round(STRENGTHS * abs(float(share))):
            found.setdefault(("c1" if share > 0 else "c0", strength), []).append((place[0], place[1]))
    return found
