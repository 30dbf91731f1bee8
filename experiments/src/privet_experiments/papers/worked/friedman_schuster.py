"""Friedman & Schuster (2010) on paper: the examples of their slides, sensitivities, budgets and signs."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from privet.datasets.clinic import SLIDE_PATIENTS
from privet.privacy.scores import Gini, InfoGain, Max
from privet_experiments.judge import Measure

VOTES = (27, 23, 9, 0)  # for pizza, salad, hamburger, pie
RANGES = ((0, 2, 3), (2, 3, 4), (3, 5, 5), (5, 7, 4), (7, 10, 3), (10, 11, 4), (11, 12, 3))  # from, to, score
ATTRIBUTES = ("blood pressure", "weight", "temperature", "cough")
MOST = 5000  # FS's bound on the number of records in the experiment of one split


def lunch() -> Iterator[Measure]:
    """A vote by the exponential mechanism; sensitivity 1."""
    for epsilon in (0.1, 1.0):
        weights = np.exp([epsilon * votes / 2 for votes in VOTES])
        yield Measure("lunch", at=f"{epsilon:g}", value=(weights / weights.sum()).tolist())


def split_point() -> Iterator[Measure]:
    """A cut of a number by ranges of equal score."""
    widths = np.array([high - low for low, high, _ in RANGES])
    scores = np.array([score for *_, score in RANGES])
    weights, halved = np.exp(scores) * widths, np.exp(scores / 2) * widths
    yield Measure("weights", value=weights.tolist())
    yield Measure("chances", value=(weights / weights.sum()).tolist())
    chance, infogain = float(halved[2] / halved.sum()), float(InfoGain(MOST).sensitivity)
    yield Measure("halved", chance=chance, rounded=f"{chance:.3f}", infogain=infogain, most=MOST)


def sensitivities() -> Iterator[Measure]:
    """What one record does to each score, over all nodes of two classes with at most 60 records, and in the limit."""
    for name, score in (("Max", Max()), ("Gini", Gini())):
        counts = np.array([(a, n - a) for n in range(61) for a in range(n + 1)])
        moved = score.node(counts + np.array([0, 1])) - score.node(counts)
        far = float(score.node(np.array([10**6, 1])) - score.node(np.array([10**6, 0])))
        yield Measure("sensitivity", at=name, moved=max(float(np.abs(moved).max()), abs(far)))
    gain = InfoGain(MOST)
    change = abs(float(gain.node(np.array([MOST, 1])) - gain.node(np.array([MOST, 0]))))
    yield Measure("infogain", moved=change, bound=math.log2(MOST + 1) + 1 / math.log(2))
    a = np.geomspace(1e-6, 1e9, 2000)
    yield Measure("logarithm", most=float((a * np.log1p(1 / a) / math.log(2)).max()), bound=1 / math.log(2))


def gains() -> Iterator[Measure]:
    """The sign of equation (1), on the fourteen patients of the slides."""
    v = {}
    for number, name in enumerate(ATTRIBUTES):
        cells = sorted({(row[number], row[-1]) for row in SLIDE_PATIENTS}, key=str)
        size = {value: sum(row[number] == value for row in SLIDE_PATIENTS) for value, _ in cells}
        counts = [(sum((row[number], row[-1]) == cell for row in SLIDE_PATIENTS), size[cell[0]]) for cell in cells]
        v[name] = sum(n * math.log2(n / of) for n, of in counts)
    # The best as eq. (2) has it, whose sign is right.
    yield Measure("sign", best=max(v, key=v.__getitem__), picked=min(v, key=v.__getitem__))


def budgets() -> Iterator[Measure]:
    """What a path costs."""
    each = 0.1 / (2 * (1 + 1)) / (2 * 10)
    yield Measure("count", value=each)
    yield Measure("deviation", deviation=math.sqrt(2) / each)
    for depth, numbers in ((5, 0), (5, 6), (1, 3)):
        share = 1 / ((2 + numbers) * depth + 2)
        yield Measure("path", depth=depth, numbers=numbers, spent=depth * (2 + numbers) * share + 2 * share)
