"""Accuracy against epsilon as SVG: a line for each method, and limits that do not depend on epsilon."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from privet.markup import Html, join, tag
from privet.scoring.intervals import Estimate

WIDTH, HEIGHT = 760, 380
LEFT, RIGHT, TOP, BOTTOM = 52, 170, 14, 44  # room for the axes, and at the right for names
APART = 15  # pixels between two names
ASIDE = 1.03  # by how much neighbouring methods stand apart, so that bars do not hide one another


@dataclass(frozen=True, slots=True)
class Series:
    """A method: what it reached at each epsilon, as a value with its reach."""

    name: str
    points: tuple[tuple[float, Estimate], ...]


def accuracy_chart(series: Sequence[Series], limits: Sequence[tuple[str, float]], title: str) -> Html:
    """The chart; accuracies between 0 and 1."""
    epsilons = sorted({epsilon for one in series for epsilon, _ in one.points})
    known = [value for one in series for _, e in one.points for value in (e.low, e.high) if not math.isnan(value)]
    low, high = _bounds([*known, *(value for _, value in limits)])
    start, end = math.log(epsilons[0] / 1.4), math.log(epsilons[-1] * 1.4)

    def across(epsilon: float) -> float:
        return round(LEFT + (WIDTH - LEFT - RIGHT) * (math.log(epsilon) - start) / (end - start), 1)

    def down(value: float) -> float:
        return round(TOP + (HEIGHT - TOP - BOTTOM) * (1 - (value - low) / (high - low)), 1)

    shapes: list[Html] = []
    for tick in _ticks(low, high):
        shapes.append(tag("line", x1=LEFT, x2=WIDTH - RIGHT, y1=down(tick), y2=down(tick), class_="grid"))
        shapes.append(_text(f"{100 * tick:g} %", LEFT - 8, down(tick) + 4, "end"))
    shapes += [_text(f"{epsilon:g}", across(epsilon), HEIGHT - BOTTOM + 18, "middle") for epsilon in epsilons]
    shapes.append(_text("epsilon (less is more private)", (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, "middle"))
    names: list[tuple[float, str, str]] = []
    for name, value in limits:
        shapes.append(tag("line", x1=LEFT, x2=WIDTH - RIGHT, y1=down(value), y2=down(value), class_="limit"))
        names.append((down(value), name, "tick"))
    for number, one in enumerate(series):
        kind, aside = f"c{number % 8}", ASIDE ** (number - (len(series) - 1) / 2)
        places = [(across(epsilon * aside), e) for epsilon, e in one.points if not math.isnan(e.value)]
        if not places:
            continue
        line = " ".join(f"{x},{down(e.value)}" for x, e in places)
        shapes.append(tag("polyline", points=line, class_=f"curve {kind}"))
        for x, e in places:
            shapes.append(tag("line", x1=x, x2=x, y1=down(e.low), y2=down(e.high), class_=f"reach {kind}"))
            shapes.append(tag("circle", cx=x, cy=down(e.value), r=4, class_=kind))
        names.append((down(places[-1][1].value), one.name, kind))
    size = {"viewBox": f"0 0 {WIDTH} {HEIGHT}"}
    return tag("svg", join(shapes), join(_names(names)), role="img", aria_label=title, class_="shape chart", **size)


def _names(names: Sequence[tuple[float, str, str]]) -> list[Html]:
    """The names at the right, where their lines end, moved apart where they would overlap."""
    written, last = [], -math.inf
    for height, name, kind in sorted(names):
        last = max(height, last + APART)
        mark = "" if kind == "tick" else tag("circle", cx=WIDTH - RIGHT + 10, cy=last, r=4, class_=kind)
        x = WIDTH - RIGHT + (18 if mark else 6)
        written.append(join((mark, tag("text", name, x=x, y=last + 4, class_="tick" if not mark else None))))
    return written


def _text(words: str, x: float, y: float, anchor: str) -> Html:
    return tag("text", words, x=x, y=y, text_anchor=anchor, class_="tick")


def _bounds(values: Sequence[float]) -> tuple[float, float]:
    """A little more than what there is, on whole percents."""
    low, high = min(values, default=0.0), max(values, default=1.0)
    room = max(0.05 * (high - low), 0.01)
    return max(math.floor(100 * (low - room)) / 100, 0.0), min(math.ceil(100 * (high + room)) / 100, 1.0)


def _ticks(low: float, high: float) -> list[float]:
    """Round numbers, some four to eight of them."""
    step = next(step for step in (0.005, 0.01, 0.02, 0.05, 0.1, 0.2) if (high - low) / step <= 8)
    first = math.ceil(low / step - 1e-9)
    return [round(step * i, 6) for i in range(first, math.floor(high / step + 1e-9) + 1)]
