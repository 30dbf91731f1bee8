"""Forecasts for the page of a question: how good a model gets against epsilon, on invented records.

A forecast depends on public facts alone, so it is simulated once for a table and a recipe, and remembered.
"""

from __future__ import annotations

import json
import math
from collections import OrderedDict
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from privet.markup import Html, tag
from privet.server.keys import Person
from privet.server.pricing import Table
from privet.server.problems import Problem
from privet.server.service import Service

EPSILONS = ("0.05", "0.1", "0.25", "0.5", "1", "2", "4")  # where people choose from
KEPT = 500  # forecasts in memory
SECONDS = 10  # of simulated tables, but for three of them
SIGNALS = ("weak", "medium", "strong")
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 276, 158, 34, 14, 10, 28


@dataclass(frozen=True)
class ForecastCurve:
    """Accuracy, or R2, by epsilon; what the learner reaches without noise; and the spread of the forecast in points."""

    recipe: str
    measure: str
    points: tuple[tuple[float, float], ...]
    ceiling: float
    error: float
    records: int

    @classmethod
    def of(cls, found: dict[str, Any]) -> ForecastCurve:
        lines, name = found["forecasts"], found["measure"].lower()
        points = tuple((float(one["epsilon"]), float(one[name])) for one in lines)
        spread = max(float(one["error"]) for one in lines)
        return cls(lines[0]["recipe"], found["measure"], points, lines[0]["without_noise"], spread, found["records"])

    def at(self, epsilon: float) -> float:
        """The score at an epsilon, straight between those that were simulated, on a logarithmic axis."""
        known = [(math.log(e), score) for e, score in self.points]
        place = min(max(math.log(epsilon), known[0][0]), known[-1][0])
        for (x0, y0), (x1, y1) in pairwise(known):
            if place <= x1:
                return y0 + (y1 - y0) * (place - x0) / (x1 - x0)
        return known[-1][1]

    def needed(self, score: float) -> float | None:
        """The least epsilon that reaches a score, to two digits; None if none of them does."""
        if self.points[0][1] >= score:
            return self.points[0][0]
        for (e0, s0), (e1, s1) in pairwise(self.points):
            if s0 < score <= s1:
                share = (score - s0) / (s1 - s0)
                found = math.exp(math.log(e0) + share * (math.log(e1) - math.log(e0)))
                step = 10.0 ** (math.floor(math.log10(found)) - 1)
                return float(f"{math.ceil(found / step - 1e-9) * step:.2g}")
        return None

    def picture(self, epsilon: float | None, label: str) -> Html:
        """The curve, the level without noise, and a mark at the chosen epsilon."""
        scores = [100 * max(score, 0.0) for _, score in self.points] + [100 * self.ceiling]
        low, high = 5 * math.floor(min(scores) / 5 - 0.4), 5 * math.ceil(max(scores) / 5 + 0.2)
        first, last = math.log(self.points[0][0]), math.log(self.points[-1][0])

        def across(e: float) -> float:
            place = min(max(math.log(e), first), last)
            return round(LEFT + (WIDTH - LEFT - RIGHT) * (place - first) / (last - first), 1)

        def down(percent: float) -> float:
            return round(TOP + (HEIGHT - TOP - BOTTOM) * (1 - (max(percent, 0.0) - low) / (high - low)), 1)

        shapes = []
        for tick in range(low, high + 1, 5 * max(1, round((high - low) / 20))):
            shapes.append(tag("line", class_="grid", x1=LEFT, x2=WIDTH - RIGHT, y1=down(tick), y2=down(tick)))
            shapes.append(tag("text", tick, x=LEFT - 6, y=down(tick) + 4, text_anchor="end"))
        top = down(100 * self.ceiling)
        shapes.append(tag("line", class_="grant", x1=LEFT, x2=WIDTH - RIGHT, y1=top, y2=top))
        places = [(across(e), down(100 * score)) for e, score in self.points]
        shapes.append(tag("polyline", class_="line", points=" ".join(f"{x},{y}" for x, y in places)))
        for (e, _), (x, y) in zip(self.points, places, strict=True):
            shapes.append(tag("circle", cx=x, cy=y, r=3))
            shapes.append(tag("text", f"{e:g}", x=x, y=HEIGHT - 5, text_anchor="middle"))
        if epsilon is not None:
            x, y = across(epsilon), down(100 * self.at(epsilon))
            shapes.append(tag("line", class_="here", x1=x, x2=x, y1=y, y2=HEIGHT - BOTTOM))
            shapes.append(tag("circle", class_="pick", cx=x, cy=y, r=5))
        size = {"viewBox": f"0 0 {WIDTH} {HEIGHT}", "role": "img", "aria_label": label}
        return tag("svg", *shapes, class_="time small-chart", **size)


class Forecasts:
    """Forecasts by the public facts that they depend on."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, ForecastCurve] = OrderedDict()

    def known(self, table: Table, recipe: str, records: int, signal: str) -> ForecastCurve | None:
        return self._known.get(_key(table, recipe, records, signal))

    def make(
        self, here: Service, person: Person, table: Table, recipe: str, records: int, signal: str
    ) -> ForecastCurve:
        """Simulate it, unless it is known. Free, and taken from the key's seconds of this hour."""
        found = self.known(table, recipe, records, signal)
        if found is None:
            ask = {"ask": "fit", "recipe": recipe, "epsilon": EPSILONS[0]}
            facts = {"job": "forecast", "ask": ask, "schema": table.schema, "records": records, "epsilons": EPSILONS}
            request = facts | {"signal": signal, "seconds": SECONDS}
            found = ForecastCurve.of(here.pricing.free("forecast", request, person.key))
            self._known[_key(table, recipe, records, signal)] = found
            while len(self._known) > KEPT:
                self._known.popitem(last=False)
        return found


FORECASTS = Forecasts()


def read_records(text: str, table: Table) -> int:
    """How many records to simulate: as many as were typed, or as there may be."""
    plain = text.replace(",", "").replace(" ", "")
    if plain and (not plain.isdecimal() or not 10 <= int(plain[:12]) <= 10**9):
        raise Problem("invalid", "the number of records must be a whole number from 10 to 1,000,000,000")
    return int(plain[:12]) if plain else max(10, table.most_records)


def _key(table: Table, recipe: str, records: int, signal: str) -> str:
    return json.dumps([table.schema, recipe, records, signal], sort_keys=True)
