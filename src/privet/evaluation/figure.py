"""Figures as plain values, independent of how they are drawn."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Point:
    """A point of a figure: a number or a name on the x axis, a number on the y axis, and half its error bar."""

    x: float | str
    y: float
    error: float | None = None


@dataclass(frozen=True)
class Series:
    """A line of a figure, or one colour of its bars. Non-private series are dashed."""

    name: str
    points: tuple[Point, ...]
    dashed: bool = False


@dataclass(frozen=True)
class Figure:
    """A figure: lines where x values are numbers, groups of bars where they are names."""

    title: str
    across: str
    up: str
    series: tuple[Series, ...]
    logarithmic: bool = False
    """Whether the numbers across are spaced by their logarithms."""

    @property
    def bars(self) -> bool:
        return any(isinstance(point.x, str) for one in self.series for point in one.points)
