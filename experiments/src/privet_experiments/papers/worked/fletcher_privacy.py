"""Fletcher's chapters 2, 3, 6, 7 and 8 on paper: budgets, sensitivities, noise, depths, and figures' own numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator
from statistics import NormalDist

import numpy as np

from privet.recipes.papers.rana2016 import number_of_trees
from privet.recipes.papers.smooth_forest import depth_of
from privet.recipes.unsound.margin_labels import smooth_sensitivity
from privet_experiments.judge import Measure, published

BUDGETS = (0.1, 0.25, 0.5, 1.0, 2.0)
QUERIES = {"FS": 2 * 5, "DPDF, 1 tree": 2 * 5 - 1, "DPDF, 4 trees": 4 * (2 * 5 - 1)}  # on a path of five levels


def noise() -> Iterator[Measure]:
    """Chapters 2 and 3."""
    places = (0, 4)
    laplace, normal = [math.exp(-x) / 2 for x in places], [NormalDist().pdf(x) for x in places]
    yield Measure("curves", laplace=laplace, normal=normal)
    yield Measure("deviations", value=100 * (NormalDist().cdf(3) - NormalDist().cdf(-3)))
    yield Measure("distortion", cost=2 * (50 + 100 + 150), alone=False)  # by the text's own rule D and E move as well
    yield Measure("loss", value=[2 / 5, 4 / 9])


def greedy() -> Iterator[Measure]:
    """Chapter 6, and what it says of Friedman & Schuster."""
    for name, queries in QUERIES.items():
        yield Measure("query", at=name, value=[budget / queries for budget in BUDGETS])
    yield Measure("shares", theirs=2 * (5 + 1))
    bounds = [1 - (n / (n + 1)) ** 2 - (1 / (n + 1)) ** 2 for n in (1, 100)]
    yield Measure("theorem", value=bounds)
    # One of a hundred records that stands alone in its class leaves.
    yield Measure("removing", bound=bounds[1], gone=2 * (100 - 1) / 100**2)
    yield Measure("gini", sensitivity=2)
    yield Measure("levels", asked=2 * 5 + 1)  # with `d <= delta` six levels of counts and five of choices
    yield Measure("guessing", value=100 / 18)


def signal() -> Iterator[Measure]:
    """Chapter 7."""
    classes, each = 2, 0.5
    deviation, threshold = (factor * math.sqrt(2) / each for factor in (math.sqrt(classes), classes))
    yield Measure("noise", deviation=deviation, threshold=threshold)


def smooth() -> Iterator[Measure]:
    """Chapter 8, and its printed tables against each other."""
    for margin, texts in published("worked.fletcher", "smooth").items():
        ours = [float(smooth_sensitivity(np.array([int(margin)]), epsilon)[0]) for epsilon in (0.01, 0.1, 1.0)]
        yield Measure("smooth", at=margin, value=ours[: len(texts)])
    yield Measure("tiny", tiny=[f"{math.exp(-exponent):.2e}" for exponent in (50, 100, 500)])
    yield Measure("sharper", folds=[math.exp(10), math.exp(1)])
    # Of two labels the smaller has the chance 1 / (1 + exp(epsilon / 2S)).
    yield Measure("private", ratio=float(np.logaddexp(0, math.exp(5) / 2) - np.logaddexp(0, math.exp(4) / 2)))
    left, right = (1 / (2 * math.exp(-50 / 100)), 1 / 100 / (2 * math.exp(-50 / 100)))
    yield Measure("disjoint", left=left, right=right)
    yield Measure("rarest", records=1 / 0.05**5)
    yield Measure("common", others=2**5 - 1)
    depths, empty = published("fletcher.tables", "depth"), published("fletcher.leaves", "empty")
    wrong = [name for name, (numbers, discrete, depth) in depths.items() if _theorem_depth(numbers, discrete) != depth]
    read = sum(depth_of(numbers, discrete) == depth for numbers, discrete, depth in depths.values())
    yield Measure("depths", right=len(depths) - len(wrong), wrong=wrong, read=read)
    yield Measure("eight", tables=sum(not name.startswith("Synth") for name in empty))
    yield Measure("empty", over=sum(one > 85 for one, _ in empty.values()), tables=len(empty))


def figures() -> Iterator[Measure]:
    """What the text says of Figures 8.5 and 8.11, by the numbers printed in them."""
    gains = [ours - rgv for ours, rgv, _ in published("fletcher.fig88", "rgv").values()]
    won, lost = [g for g in gains if g > 0.5], [-g for g in gains if g < -0.5]
    yield Measure("wins", tally=[len(won), len(lost), len(gains) - len(won) - len(lost)])
    yield Measure("margins", told=f"{min(won):.1f} to {max(won):.1f}, {min(lost):.1f} to {max(lost):.1f}")
    rows = list(published("fletcher.leaves", "flipped").values())
    yield Measure("flipped", least=min(map(min, rows)), most=max(map(max, rows)))
    yield Measure("rising", rising=all(row == sorted(row) for row in rows))


def closed() -> Iterator[Measure]:
    """Numbers that depend on what the thesis does not say."""
    yield Measure("trees", trees=number_of_trees(10, 0.5, 1.0))
    yield Measure("wilcoxon")
    yield Measure("quartiles")


def _theorem_depth(numbers: int, discrete: int) -> int:
    """The least d with s((s - 1)/s)^d < s/2, plus half of the discrete attributes."""
    depth = 0
    while numbers and numbers * ((numbers - 1) / numbers) ** depth >= numbers / 2:
        depth += 1
    return depth + discrete // 2
