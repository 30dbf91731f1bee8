"""Friedman & Schuster (2010) on paper: the examples of their slides, sensitivities, budgets and signs."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from privet.datasets.clinic import SLIDE_PATIENTS
from privet.experiments.outcome import Statement
from privet.experiments.worked.printed import claimed, printed, printed_row, rounds_to
from privet.privacy.scores import Gini, InfoGain, Max, Score

SLIDES = "FS slides"
VOTES = {"pizza": 27, "salad": 23, "hamburger": 9, "pie": 0}
SHARES = {0.1: ("0.4", "0.33", "0.16", "0.11"), 1.0: ("0.88", "0.12", "0.0001", "0.000001")}
# Low end, high end, score, exp(score) x width and chance, as printed.
RANGES = (
    (0, 2, 3, "40.2", "0.063"),
    (2, 3, 4, "54.6", "0.085"),
    (3, 5, 5, "296.8", "0.467"),
    (5, 7, 4, "109.2", "0.172"),
    (7, 10, 3, "60.3", "0.095"),
    (10, 11, 4, "54.6", "0.086"),
    (11, 12, 3, "20.1", "0.032"),
)
ATTRIBUTES = ("blood pressure", "weight", "temperature", "cough")
MOST = 5000  # FS's bound on the number of records in the experiment of one split


def lunch() -> Iterator[Statement]:
    """A vote by the exponential mechanism; sensitivity 1."""
    for epsilon, texts in SHARES.items():
        weights = np.exp([epsilon * votes / 2 for votes in VOTES.values()])
        why = "rounded so that the four add up to 1"
        says = f"chances of {', '.join(VOTES)} at epsilon {epsilon:g}"
        yield printed_row(SLIDES, says, texts, (weights / weights.sum()).tolist(), why)


def split_point() -> Iterator[Statement]:
    """A cut of a number by ranges of equal score."""
    widths = np.array([high - low for low, high, *_ in RANGES])
    scores = np.array([score for _, _, score, *_ in RANGES])
    weights, halved = np.exp(scores) * widths, np.exp(scores / 2) * widths
    yield printed_row(SLIDES, "weights of seven ranges of cuts", [row[3] for row in RANGES], weights.tolist())
    why = "[10, 11) has the same weight, and its chance is printed 0.086"
    chances = (weights / weights.sum()).tolist()
    yield printed_row(SLIDES, "chances of seven ranges of cuts", [row[4] for row in RANGES], chances, why)
    yield claimed(
        "FS 4.3",
        "exp(eps q / 2S) over a range is exp(eps c) times its width: for the slide's best range",
        "0.467",
        f"{halved[2] / halved.sum():.3f}",
        False,
        "the right side dropped 1/(2S); as printed the choice loses S times epsilon, Gini 2 and InfoGain "
        f"{float(InfoGain(MOST).sensitivity):.1f} epsilon at N = {MOST}",
    )


def sensitivities() -> Iterator[Statement]:
    """What one record does to each score, over all nodes of two classes with at most 60 records, and in the limit."""
    claims: tuple[tuple[str, Score, float], ...] = (("Max", Max(), 1), ("Gini", Gini(), 2))
    for name, score, bound in claims:
        counts = np.array([(a, n - a) for n in range(61) for a in range(n + 1)])
        moved = score.node(counts + np.array([0, 1])) - score.node(counts)
        far = float(score.node(np.array([10**6, 1])) - score.node(np.array([10**6, 0])))
        most = max(float(np.abs(moved).max()), abs(far))
        told = f"at most {most:.6g}"
        yield claimed("FS 4.1, App. A", f"one record changes {name} by at most S", bound, told, most <= bound)
    gain = InfoGain(MOST)
    moved = gain.node(np.array([MOST, 1])) - gain.node(np.array([MOST, 0]))
    bound = math.log2(MOST + 1) + 1 / math.log(2)
    says = f"one record changes InfoGain by at most log(N + 1) + 1/ln 2, N = {MOST}"
    holds = abs(float(moved)) <= bound
    yield claimed("FS 4.1, App. A", says, f"{bound:.4f}", f"{abs(float(moved)):.4f}", holds)
    a = np.geomspace(1e-6, 1e9, 2000)
    most = float((a * np.log1p(1 / a) / math.log(2)).max())
    yield claimed("FS App. A", "a log((a + 1)/a) <= 1/ln 2 for a > 0", "1.4427", f"{most:.4f}", most <= 1 / math.log(2))


def gains() -> Iterator[Statement]:
    """The sign of equation (1), on the fourteen patients of the slides."""
    v = {}
    for number, name in enumerate(ATTRIBUTES):
        cells = sorted({(row[number], row[-1]) for row in SLIDE_PATIENTS}, key=str)
        size = {value: sum(row[number] == value for row in SLIDE_PATIENTS) for value, _ in cells}
        counts = [(sum((row[number], row[-1]) == cell for row in SLIDE_PATIENTS), size[cell[0]]) for cell in cells]
        v[name] = sum(n * math.log2(n / of) for n, of in counts)
    best, worst = max(v, key=v.__getitem__), min(v, key=v.__getitem__)  # as eq. (2), whose sign is right
    why = "eq. (1) lacks a minus on its right side and q_IG has one too many: its maximum is the worst attribute"
    yield claimed("FS 4.1", "maximising q_IG as printed picks the best attribute", best, worst, best == worst, why)


def budgets() -> Iterator[Statement]:
    """What a path costs."""
    each = 0.1 / (2 * (1 + 1)) / (2 * 10)
    yield printed("FS 5.1.1", "budget of a count of SuLQ-based ID3, B = 0.1, depth 1, ten attributes", "0.00125", each)
    deviation = math.sqrt(2) / each
    says = "the standard deviation of its noise is over 1000"
    yield claimed("FS 5.1.1", says, "over 1000", f"{deviation:.0f}", deviation > 1000)
    for depth, numbers in ((5, 0), (5, 6), (1, 3)):
        share = 1 / ((2 + numbers) * depth + 2)
        spent = depth * (2 + numbers) * share + 2 * share
        says = f"queries of a path add up to B: depth {depth}, {numbers} numbers"
        yield claimed("FS Alg. 2, 4.3", says, "B", f"{spent:.12g} B", rounds_to(spent, "1.000000"))
