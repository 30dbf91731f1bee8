"""The SVG chart behind all figures: lines over numbers, or groups of bars, each with a name and error bars."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import pairwise, product

from privet.evaluation.figure import Figure, Point
from privet.markup import Html, join, tag
from privet.models.intervals import Estimate
from privet.report.curves import tick_text

WIDTH, HEIGHT = 760, 380
LEFT, RIGHT, TOP, BOTTOM = 58, 170, 14, 44  # margins for the axes, and at the right for names
APART = 15  # pixels between two names
ASIDE = 2.5  # pixels between neighbouring methods, so that error bars do not hide one another
COLOURS = 8  # colours in the style sheet
MOST_LABELS = 9  # along the axis, before they overlap
LETTER = 7  # pixels, of a name
SLANT = 35  # degrees, of names that would overlap
# For a chart outside a page, without its style sheet; the colours are safe for colour-blind people.
INK = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b58900", "#56b4e9", "#555555", "#8c2d04")
STYLE = "svg{font:13px sans-serif;background:#fff}.tick{fill:#555}.grid{stroke:#ddd}.limit{stroke:#777;"
STYLE += "stroke-dasharray:5 4}.curve{fill:none;stroke-width:2}.dashed{stroke-dasharray:6 4}.reach{opacity:.6}"
STYLE += "".join(f".c{i}{{fill:{c}}}.curve.c{i},.reach.c{i}{{stroke:{c};fill:none}}" for i, c in enumerate(INK))


@dataclass(frozen=True, slots=True)
class Series:
    """A method: its value, with an interval, at each epsilon."""

    name: str
    points: tuple[tuple[float, Estimate], ...]
    dashed: bool = False


@dataclass(frozen=True, slots=True)
class Limit:
    """A level without an epsilon: a non-private learner, or the floor (a constant prediction)."""

    name: str
    value: float
    floor: bool = False


def accuracy_chart(series: Sequence[Series], limits: Sequence[Limit], title: str) -> Html:
    """Accuracy or R2 against epsilon, with levels that need no epsilon. Less than nothing is drawn as nothing."""
    series = [replace(one, points=tuple((e, at.within(0.0, 1.0)) for e, at in one.points)) for one in series]
    scaled = [Series(one.name, tuple((e, _percent(at)) for e, at in one.points), one.dashed) for one in series]
    levels = [replace(limit, value=100 * max(limit.value, 0.0)) for limit in limits]
    low, high = _bounds([*_known(scaled), *(limit.value for limit in levels)])
    axes = _Axes.of_numbers(scaled, max(low, 0.0), min(high, 100.0), logarithmic=True)
    return _draw(axes, scaled, levels, title, "epsilon (less is more private)", " %")


def figure_chart(figure: Figure) -> Html:
    names = list(dict.fromkeys(str(p.x) for one in figure.series for p in one.points)) if figure.bars else []

    def place(p: Point) -> tuple[float, Estimate]:
        off = p.error or 0.0
        return float(names.index(str(p.x)) if figure.bars else p.x), Estimate(p.y, p.y - off, p.y + off)

    series = [Series(one.name, tuple(map(place, one.points)), one.dashed) for one in figure.series]
    known = _known(series)
    low, high = _bounds([*known, *([0.0] if figure.bars and min(known, default=0) < max(known, default=0) / 2 else [])])
    title = f"{figure.title}; {figure.up} against {figure.across}"
    if figure.bars:
        return _draw_bars(_Axes.of_names(names, low, high), series, names, title, figure.across)
    axes = _Axes.of_numbers(series, low, high, logarithmic=figure.logarithmic)
    return _draw(axes, series, [], title, figure.across, "")


def step_chart(points: Sequence[tuple[float, float]], level: float, title: str) -> Html:
    """An amount over time (seconds since 1970, UTC) that only grows, beside the level that it may reach."""
    start, end = points[0][0], points[-1][0]
    width = WIDTH - LEFT - RIGHT

    def across(time: float) -> float:
        return LEFT + width * (time - start) / ((end - start) or 1.0)

    days = [f"{datetime.fromtimestamp(time, UTC):%Y-%m-%d}" for time in (start, end)]
    labels = [(across(end), days[1])] if days[0] == days[1] else [(across(start), days[0]), (across(end), days[1])]
    axes = _Axes(across, 0.0, 1.05 * max(level, points[-1][1]), tuple(labels))
    top = axes.down(level)
    line = " ".join(f"{across(time):.1f},{axes.down(amount)}" for time, amount in points)
    shapes = [
        *axes.shapes("day of the work", ""),
        tag("line", x1=LEFT, x2=WIDTH - RIGHT, y1=top, y2=top, class_="limit"),
        tag("polyline", points=line, class_="curve c0"),
    ]
    return _picture(shapes, [(top, "allowed", "tick"), (axes.down(points[-1][1]), "spent", "c0")], title)


def standalone(chart: Html) -> str:
    """A chart as an SVG file of its own."""
    head, _, rest = chart.partition(">")
    return f'{head} xmlns="http://www.w3.org/2000/svg"><style>{STYLE}</style>{rest}\n'


@dataclass(frozen=True, slots=True)
class _Axes:
    """The mapping from values to pixels, and the labels of the axes."""

    across: Callable[[float], float]
    low: float
    high: float
    labels: tuple[tuple[float, str], ...]

    @classmethod
    def of_numbers(cls, series: Sequence[Series], low: float, high: float, *, logarithmic: bool) -> _Axes:
        numbers = sorted({x for one in series for x, _ in one.points}) or [1.0]
        place = math.log if logarithmic else float
        start, end = place(numbers[0]), place(numbers[-1])
        room = 0.06 * (end - start) or (0.35 if logarithmic else max(abs(start), 1.0) / 2)

        def across(x: float) -> float:
            return LEFT + (WIDTH - LEFT - RIGHT) * (place(x) - start + room) / (end - start + 2 * room)

        every = math.ceil(len(numbers) / MOST_LABELS)
        return cls(across, low, high, tuple((across(x), f"{x:g}") for x in numbers[::every]))

    @classmethod
    def of_names(cls, names: Sequence[str], low: float, high: float) -> _Axes:
        step = (WIDTH - LEFT - RIGHT) / max(len(names), 1)

        def across(x: float) -> float:
            return LEFT + step * (x + 0.5)

        return cls(across, low, high, tuple((across(i), name) for i, name in enumerate(names)))

    @property
    def below(self) -> float:
        """What slanted labels need below the chart; 0 where labels are level."""
        width = max((LETTER * len(label) for _, label in self.labels), default=0)
        step = min((after[0] - before[0] for before, after in pairwise(self.labels)), default=math.inf)
        return round(width * math.sin(math.radians(SLANT))) if width > step else 0.0

    def down(self, value: float) -> float:
        return round(TOP + (HEIGHT - TOP - BOTTOM) * (1 - (value - self.low) / (self.high - self.low)), 1)

    def shapes(self, across: str, unit: str) -> list[Html]:
        shapes: list[Html] = []
        for tick in _ticks(self.low, self.high):
            y = self.down(tick)
            shapes.append(tag("line", x1=LEFT, x2=WIDTH - RIGHT, y1=y, y2=y, class_="grid"))
            shapes.append(tick_text(f"{tick:g}{unit}", LEFT - 8, y + 4, "end"))
        y = HEIGHT - BOTTOM + 18
        for x, label in self.labels:
            turn = f"rotate({-SLANT} {x:.1f} {y})" if self.below else None
            shapes.append(tick_text(label, round(x, 1), y, "end" if turn else "middle", turn))
        return [*shapes, tick_text(across, (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8 + self.below, "middle")]


def _draw(
    axes: _Axes,
    series: Sequence[Series],
    limits: Sequence[Limit],
    title: str,
    across: str,
    unit: str,
) -> Html:
    shapes, names = axes.shapes(across, unit), []
    for limit in limits:
        y = axes.down(limit.value)
        kind = "limit floor" if limit.floor else "limit"
        shapes.append(tag("line", x1=LEFT, x2=WIDTH - RIGHT, y1=y, y2=y, class_=kind))
        names.append((y, limit.name, "tick"))
    for number, one in enumerate(series):
        kind, aside = f"c{number % COLOURS}", ASIDE * (number - (len(series) - 1) / 2)
        places = [(round(axes.across(x) + aside, 1), e) for x, e in one.points if not math.isnan(e.value)]
        if not places:
            continue
        line = " ".join(f"{x},{axes.down(e.value)}" for x, e in places)
        shapes.append(tag("polyline", points=line, class_=f"curve {kind}{' dashed' if one.dashed else ''}"))
        for x, e in places:
            shapes.append(_reach(axes, x, e, kind))
            shapes.append(tag("circle", cx=x, cy=axes.down(e.value), r=4, class_=kind))
        names.append((axes.down(places[-1][1].value), one.name, kind))
    return _picture(shapes, names, title, axes.below)


def _draw_bars(axes: _Axes, series: Sequence[Series], groups: Sequence[str], title: str, across: str) -> Html:
    shapes, names = axes.shapes(across, ""), []
    width = 0.8 * (WIDTH - LEFT - RIGHT) / max(len(groups), 1) / max(len(series), 1)
    for number, one in enumerate(series):
        kind = f"c{number % COLOURS}"
        for x, e in one.points:
            left = round(axes.across(x) + (number - len(series) / 2) * width, 1)
            top, floor = axes.down(e.value), axes.down(max(axes.low, 0.0))
            size = {"width": round(0.9 * width, 1), "height": round(abs(floor - top), 1)}
            shapes.append(tag("rect", x=left, y=min(top, floor), class_=kind, **size))
            shapes.append(_reach(axes, round(left + 0.45 * width, 1), e, "tick"))
        names.append((TOP + 8.0 + APART * number, one.name, kind))
    return _picture(shapes, names, title, axes.below)


def _reach(axes: _Axes, x: float, e: Estimate, kind: str) -> Html:
    return tag("line", x1=x, x2=x, y1=axes.down(e.low), y2=axes.down(e.high), class_=f"reach {kind}")


def _picture(shapes: Sequence[Html], names: Sequence[tuple[float, str, str]], title: str, below: float = 0) -> Html:
    longest = max((LETTER * len(name) + 24 for _, name, _ in names), default=0)
    size = {"viewBox": f"0 0 {WIDTH + max(longest - RIGHT, 0)} {HEIGHT + below:g}"}
    return tag("svg", join(shapes), join(_names(names)), role="img", aria_label=title, class_="shape chart", **size)


def _names(names: Sequence[tuple[float, str, str]]) -> list[Html]:
    """The names at the right, at the ends of their lines, moved apart where they would overlap or leave the chart."""
    ordered = sorted(names)
    written = []
    for height, (_, name, kind) in zip(apart([one[0] for one in ordered], HEIGHT - 12, APART), ordered, strict=True):
        mark = "" if kind == "tick" else tag("circle", cx=WIDTH - RIGHT + 10, cy=round(height, 1), r=4, class_=kind)
        x = WIDTH - RIGHT + (18 if mark else 6)
        text = tag("text", name, x=x, y=round(height + 4, 1), class_="tick" if not mark else None)
        written.append(join((mark, text)))
    return written


def apart(heights: Sequence[float], lowest: float, step: float) -> list[float]:
    """Sorted heights, moved apart from the top down, the last at ``lowest`` at most.

    >>> apart([10, 12, 95], lowest=90, step=14)
    [10, 24, 90]
    """
    moved: list[float] = []
    for place, height in enumerate(heights):
        free = max(height, moved[-1] + step) if moved else height
        moved.append(min(free, lowest - step * (len(heights) - 1 - place)))
    return moved


def _percent(e: Estimate) -> Estimate:
    return Estimate(100 * e.value, 100 * e.low, 100 * e.high)


def _known(series: Sequence[Series]) -> list[float]:
    return [value for one in series for _, e in one.points for value in (e.low, e.high) if not math.isnan(value)]


def _bounds(values: Sequence[float]) -> tuple[float, float]:
    """The range of the values, with a margin."""
    low, high = min(values, default=0.0), max(values, default=1.0)
    room = max(0.05 * (high - low), 0.01 * max(abs(low), abs(high)), 1e-6)
    return low - (room if low else 0.0), high + room


def _ticks(low: float, high: float) -> list[float]:
    """Four to eight round numbers."""
    scales = (m * 10.0**e for e, m in product(range(-9, 12), (1, 2, 5)))
    step = next(step for step in scales if (high - low) / step <= 8)
    first = math.ceil(low / step - 1e-9)
    return [round(step * i, 9) for i in range(first, math.floor(high / step + 1e-9) + 1)]
