"""A figure as plain values: what is drawn, before anybody decides how."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Point:
    """A place in a figure: a number or a name across, a number up, and half the height of its error bar."""

    x: float | str
    y: float
    error: float | None = None


@dataclass(frozen=True)
class Series:
    """A line of a figure, or one colour of its bars. Dashed is for what is not private."""

    name: str
    points: tuple[Point, ...]
    dashed: bool = False


@dataclass(frozen=True)
class Figure:
    """A picture: lines where the points lie at numbers, groups of bars where they have names."""

    title: str
    across: str
    up: str
    series: tuple[Series, ...]
    logarithmic: bool = False
    """Whether the numbers across are spaced by their logarithms."""

    @property
    def bars(self) -> bool:
        return any(isinstance(point.x, str) for one in self.series for point in one.points)
