"""Pictures of budgets as SVG: a bar of who has what, and what was spent over time below what was promised."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from itertools import pairwise

from privet.markup import Html, join, tag
from privet.privacy.losses import Loss
from privet.report.chart import apart
from privet.server.pages.budgets import Budget, Moment, Share
from privet.server.pages.texts import say

WIDE = 1000  # the width of a bar in its own units
WIDTH, HEIGHT = 830, 226
LEFT, RIGHT, TOP, BOTTOM = 46, 64, 16, 30  # margins: amounts, names of lines, days
MOST_POINTS = 200  # steps that a line of this width can show
MOST_MARKS = 40  # circles; more would be a thick line
APART = 14  # pixels between two names
DAY = 86_400


def bar(budget: Budget) -> Html:
    """What of the cap is granted to whom, how much of it is spent, and what is free."""
    whole, left = float(budget.cap.epsilon) or 1.0, 0.0
    parts = [tag("rect", class_="free", width=WIDE, height=10)]
    if before := float(budget.carried.epsilon):
        parts.append(tag("rect", class_="spent", width=_units(before, whole), height=10))
        left = before
    for one in budget.shares:
        parts.append(tag("g", *_share(one, left, whole), class_=f"c{one.colour}"))
        left += float(one.grant.limit.epsilon)
    label = say(
        "bar.label", granted=f"{budget.granted:brief}", cap=f"{budget.cap:brief}", spent=f"{budget.spent:brief}"
    )
    return _bar(parts, label)


def share_bar(one: Share) -> Html:
    """How much of a grant is spent."""
    whole = float(one.grant.limit.epsilon) or 1.0
    group = tag("g", *_share(one, 0.0, whole), class_=f"c{one.colour}")
    label = say("bar.share", spent=f"{one.grant.spent:brief}", limit=f"{one.grant.limit:brief}")
    return _bar([tag("rect", class_="free", width=WIDE, height=10), group], label)


def _share(one: Share, left: float, whole: float) -> list[Html]:
    amounts = (("granted", one.grant.limit), ("held", one.grant.taken), ("spent", one.grant.spent))
    size = {"x": _units(left, whole), "height": 10}
    return [tag("rect", class_=kind, width=_units(float(loss.epsilon), whole), **size) for kind, loss in amounts]


def _units(amount: float, whole: float) -> str:
    return f"{WIDE * amount / whole:.1f}"


def _bar(parts: Sequence[Html], label: Html) -> Html:
    how = {"viewBox": f"0 0 {WIDE} 10", "preserveAspectRatio": "none", "role": "img"}
    return tag("svg", join(parts), class_="budget", aria_label=label, **how)


def timeline(moments: Sequence[Moment], now: float | None = None) -> Html:
    """Cap, grants and spending over time, as steps up to now."""
    now = max(time.time() if now is None else now, moments[-1].at)
    start = moments[0].at
    span = max(now - start, 1.0)
    top = max(float(one.cap.epsilon) for one in moments) or 1.0
    shown = _thinned(moments)

    def across(at: float) -> float:
        return round(LEFT + (WIDTH - LEFT - RIGHT) * (at - start) / span, 1)

    def down(amount: float) -> float:
        return round(HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * amount / top, 1)

    def steps(of: Callable[[Moment], Loss]) -> str:
        path = f"M{LEFT} {down(float(of(shown[0]).epsilon))}"
        path += "".join(f"H{across(one.at)}V{down(float(of(one).epsilon))}" for one in shown[1:])
        return f"{path}H{across(now)}"

    spent, last, floor = steps(lambda one: one.spent), moments[-1], HEIGHT - BOTTOM
    shapes = [*_grid(top, down), *_days(start, now, across)]
    shapes.append(tag("path", class_="area", d=f"{spent}V{floor}H{LEFT}Z"))
    shapes.append(tag("path", class_="grant", d=steps(lambda one: one.granted)))
    shapes.append(tag("path", class_="line", d=spent))
    shapes.append(tag("path", class_="cap", d=steps(lambda one: one.cap)))
    if len(shown) <= MOST_MARKS:
        bought = [b for a, b in pairwise(shown) if a.spent != b.spent]
        shapes += [tag("circle", cx=across(b.at), cy=down(float(b.spent.epsilon)), r=3.2) for b in bought]
    names = (("cap", last.cap, "warn"), ("granted", last.granted, ""), ("spent", last.spent, "ink"))
    shapes += _names([(down(float(loss.epsilon)), say(f"line.{name}"), kind) for name, loss, kind in names])
    facts = {name: f"{loss:brief}" for name, loss, _ in names}
    label = say("timeline.label", day=f"{datetime.fromtimestamp(start, UTC):%Y-%m-%d}", **facts)
    return tag("svg", join(shapes), class_="time", viewBox=f"0 0 {WIDTH} {HEIGHT}", role="img", aria_label=label)


def _thinned(moments: Sequence[Moment]) -> list[Moment]:
    """At most so many, the last of each stretch, and both ends."""
    every = -(-len(moments) // MOST_POINTS)
    return [moments[0], *moments[every - 1 : -1 : every], moments[-1]] if every > 1 else list(moments)


def _grid(top: float, down: Callable[[float], float]) -> list[Html]:
    shapes = []
    for part in range(5):
        amount = top * part / 4
        y = down(amount)
        shapes.append(tag("line", class_="grid", x1=LEFT, x2=WIDTH - RIGHT, y1=y, y2=y))
        shapes.append(tag("text", f"{amount:.3g}", x=LEFT - 8, y=y + 4, text_anchor="end"))
    return shapes


def _days(start: float, now: float, across: Callable[[float], float]) -> list[Html]:
    """Both ends of the time; hours where it is short."""
    form = "%Y-%m-%d" if now - start > 2 * DAY else "%d %b %H:%M"
    ends = ((start, "start"), (now, "end"))
    text = [(across(at), f"{datetime.fromtimestamp(at, UTC):{form}}", anchor) for at, anchor in ends]
    return [tag("text", name, x=x, y=HEIGHT - 8, text_anchor=anchor) for x, name, anchor in text]


def _names(names: list[tuple[float, Html, str]]) -> list[Html]:
    """Names at the ends of lines."""
    names = sorted(names, key=lambda one: one[0])
    places = apart([height for height, *_ in names], HEIGHT - BOTTOM, APART)
    return [
        tag("text", name, x=WIDTH - RIGHT + 6, y=round(place + 4, 1), class_=kind or None)
        for place, (_, name, kind) in zip(places, names, strict=True)
    ]
