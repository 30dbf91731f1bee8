"""The curves of an additive model as SVG: how much each value of an attribute raises or lowers the odds."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from privet.bidi import isolated, shortened
from privet.markup import Html, join, tag
from privet.models.curves import Curve
from privet.models.intervals import Z

Corner = tuple[str, str]

WIDTH, HEIGHT = 360, 170
LEFT, RIGHT, TOP, BOTTOM = 44, 8, 8, 24  # room for the axes
LINE = 22  # between two categories
LARGEST = 700.0  # log-odds that a double still holds as a factor
NAMES = 150  # room for the names of categories
MOST_CATEGORIES = 12  # in a picture: those furthest from nothing
FACTORS = (0.001, 0.01, 0.1, 1 / 3, 1, 3, 10, 100, 1000)


@dataclass(frozen=True, slots=True)
class Scale:
    """From log-odds to pixels; one for all curves of a model, so that they can be compared."""

    low: float
    high: float

    @classmethod
    def of(cls, curves: Sequence[Curve]) -> Scale:
        reach = max((float(np.abs(curve.values).max()) + Z * curve.deviation for curve in curves), default=1.0)
        return cls(-max(reach, 0.5), max(reach, 0.5))

    def part(self, value: float) -> float:
        return (value - self.low) / (self.high - self.low)

    def ticks(self) -> Iterator[tuple[float, str]]:
        """Round factors within reach, at most five."""
        inside = [factor for factor in FACTORS if self.low <= math.log(factor) <= self.high]
        if len(inside) > 5:
            inside = [factor for factor in inside if factor not in (1 / 3, 3)]
        yield from ((math.log(factor), factor_words(factor)) for factor in inside)


def factor_words(factor: float) -> str:
    """What is done to the odds.

    >>> factor_words(3), factor_words(1 / 3), factor_words(1)
    ('× 3', '÷ 3', '× 1')
    """
    return f"× {_short(factor)}" if factor >= 1 else f"÷ {_short(1 / factor)}"


def _short(number: float) -> str:
    return f"{number:.2g}" if number < 99.5 or number >= 1e9 else f"{number:,.0f}"


def odds_words(added: float) -> str:
    """The same from what is added to the log-odds, which may be more than a double holds as a factor."""
    return factor_words(math.exp(min(max(added, -LARGEST), LARGEST)))


def shape_picture(curve: Curve, high: float | None, scale: Scale) -> Html:
    """A curve; ``high`` is the upper bound of a number, None for categories."""
    if curve.starts is None or high is None:
        return _categories(curve, scale)
    return _number(curve, curve.starts, high, scale)


def _number(curve: Curve, starts: np.ndarray, high: float, scale: Scale) -> Html:
    known = ~np.isnan(starts)
    edges = np.append(starts[known], high)
    low, span = float(edges[0]), float(edges[-1] - edges[0])
    inner = WIDTH - LEFT - RIGHT

    def across(number: float) -> float:
        return LEFT + inner * (number - low) / span

    def down(value: float) -> float:
        return TOP + (HEIGHT - TOP - BOTTOM) * (1 - scale.part(value))

    grid = [
        join((
            tag("line", x1=LEFT, x2=WIDTH - RIGHT, y1=_at(down(tick)), y2=_at(down(tick)), class_=_grid(tick)),
            tag("text", words, x=LEFT - 6, y=_at(down(tick) + 4), text_anchor="end", class_="tick"),
        ))
        for tick, words in scale.ticks()
    ]  # fmt: skip
    ends = (
        tag("text", _plain(low), x=LEFT, y=HEIGHT - 6, class_="tick"),
        tag("text", _plain(high), x=WIDTH - RIGHT, y=HEIGHT - 6, text_anchor="end", class_="tick"),
    )
    lines = []
    for column, values in enumerate(curve.values[known].T):
        kind = _colour(curve, column)
        band = Z * curve.deviation
        upper = list(_steps(edges, values + band, across, down))
        lower = list(_steps(edges, values - band, across, down))
        lines.append(tag("path", d=f"{_path([*upper, *reversed(lower)])}Z", class_=f"band {kind}"))
        lines.append(tag("path", d=_path(list(_steps(edges, values, across, down))), class_=f"curve {kind}"))
    size = {"viewBox": f"0 0 {WIDTH} {HEIGHT}"}
    return tag("svg", *grid, *ends, *lines, role="img", aria_label=_title(curve), class_="shape", **size)


def _steps(edges: np.ndarray, values: np.ndarray, across: object, down: object) -> Iterator[Corner]:
    """The corners of a staircase. Equal steps are one."""
    assert callable(across)
    assert callable(down)
    last = None
    for i, value in enumerate(values):
        y = _at(down(float(value)))
        if y != last:
            if last is not None:
                yield _at(across(edges[i])), last
            yield _at(across(edges[i])), y
        last = y
    assert last is not None  # a number has one value at least
    yield _at(across(edges[-1])), last


def _path(corners: Sequence[Corner]) -> str:
    """Lines from corner to corner, each across or up and down."""
    x, y = corners[0]
    written = [f"M{x} {y}"]
    for next_x, next_y in corners[1:]:
        if next_x != x:
            written.append(f"H{next_x}")
        if next_y != y:
            written.append(f"V{next_y}")
        x, y = next_x, next_y
    return "".join(written)


def _categories(curve: Curve, scale: Scale) -> Html:
    order = np.argsort(-np.abs(curve.values).max(axis=1), kind="stable")[:MOST_CATEGORIES]
    rows = sorted(order.tolist())
    inner = WIDTH - NAMES - RIGHT
    height = TOP + LINE * len(rows) + BOTTOM

    def across(value: float) -> float:
        return NAMES + inner * scale.part(value)

    shapes = []
    for tick, words in scale.ticks():
        x = _at(across(tick))
        shapes.append(tag("line", x1=x, x2=x, y1=TOP, y2=height - BOTTOM, class_=_grid(tick)))
        shapes.append(tag("text", words, x=x, y=height - 6, text_anchor="middle", class_="tick"))
    for line, row in enumerate(rows):
        y = TOP + LINE * (line + 0.5)
        name = shortened(curve.names[row].removeprefix(f"{isolated(curve.attribute)} = "), 18)
        shapes.append(tag("text", name, x=NAMES - 8, y=y + 4, text_anchor="end"))
        for column, value in enumerate(curve.values[row]):
            reach, kind = Z * curve.deviation, _colour(curve, column)
            ends = {"x1": _at(across(value - reach)), "x2": _at(across(value + reach)), "y1": y, "y2": y}
            shapes.append(tag("line", class_=f"reach {kind}", **ends))
            shapes.append(tag("circle", cx=_at(across(value)), cy=y, r=4.5, class_=kind))
    size = {"viewBox": f"0 0 {WIDTH} {height}"}
    return tag("svg", *shapes, role="img", aria_label=_title(curve), class_="shape", **size)


def _grid(tick: float) -> str:
    """The line where nothing changes is the one that all others are read from."""
    return "grid middle" if tick == 0 else "grid"


def _colour(curve: Curve, column: int) -> str:
    """With two classes there is one curve, that of the second."""
    return "c1" if curve.values.shape[1] == 1 else f"c{column}"


def _title(curve: Curve) -> str:
    return f"How {isolated(curve.attribute)} changes the odds; the numbers follow"


def _plain(number: float) -> str:
    return f"{number:,.6g}" if abs(number) < 1e6 else f"{number:,.0f}"


def _at(pixels: float) -> str:
    """To half a pixel: then many steps of a curve are one, and a page is a third smaller."""
    return f"{round(2 * pixels) / 2:g}"
