"""Fletcher's chapters 2, 3, 6, 7 and 8 on paper: budgets, sensitivities, noise, depths, and figures' own numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator
from statistics import NormalDist

import numpy as np

from privet.experiments.outcome import Statement
from privet.experiments.thesis.published import CONTEST, DEPTHS, EMPTY_LEAVES, FLIPPED, SENSITIVITIES
from privet.experiments.worked.printed import claimed, printed, printed_row
from privet.published.margin_labels import smooth_sensitivity
from privet.recipes.rana2016 import number_of_trees
from privet.recipes.smooth_forest import depth_of

BUDGETS = (0.1, 0.25, 0.5, 1.0, 2.0)
# Table 6.1: epsilon of a query at five levels, and of how many queries it is a share.
SHARES = {
    "FS": (("0.010", "0.025", "0.050", "0.100", "0.200"), 2 * 5),
    "DPDF, 1 tree": (("0.011", "0.028", "0.056", "0.111", "0.222"), 2 * 5 - 1),
    "DPDF, 4 trees": (("0.003", "0.007", "0.014", "0.028", "0.056"), 4 * (2 * 5 - 1)),
}


def noise() -> Iterator[Statement]:
    """Chapters 2 and 3."""
    laplace, normal = (lambda x: math.exp(-abs(x)) / 2), NormalDist().pdf
    holds = laplace(0) > normal(0) and laplace(4) > normal(4)
    told = f"{laplace(0):.3f} against {normal(0):.3f} at 0, {laplace(4):.4f} against {normal(4):.4f} at 4"
    yield claimed(
        "TH Fig. 2.5", "Laplace's curve is higher at 0 than the normal, and in its tails", "higher", told, holds
    )
    inside = NormalDist().cdf(3) - NormalDist().cdf(-3)
    yield printed("TH 3.3.2", "three standard deviations hold so many per cent of a normal", "99.7", 100 * inside)
    yield claimed(
        "TH 3.2",
        "generalising F, G, H (50, 100, 150 records) to A costs 600 units of minimal distortion",
        600,
        "600 and twice the records of D and E",
        False,
        "F, G and H alone cost 2 (50 + 100 + 150) = 600, but by the text's own rule no two levels coexist, so D and E "
        "below B move as well; to C it is 300, as printed",
    )
    yield printed_row(
        "TH 3.2", "loss of F in {F, G, H} of five, and of 3-7 in [1, 10]", ("0.40", "0.44"), (2 / 5, 4 / 9)
    )


def greedy() -> Iterator[Statement]:
    """Chapter 6, and what it says of Friedman & Schuster."""
    for name, (texts, queries) in SHARES.items():
        ours = [budget / queries for budget in BUDGETS]
        yield printed_row("TH Table 6.1", f"epsilon of a query of {name}, five levels", texts, ours)
    theirs = 2 * (5 + 1)
    yield claimed(
        "TH 3.3.2, 6.3",
        "FS give a query B / 2d, with numbers B / ((2 + n) d)",
        "1/10 at d = 5",
        f"1/{theirs} by FS, Alg. 2",
        theirs == 2 * 5,
        "FS write B / (2(d+1)) and B / ((2 + n) d + 2): the leaves' two queries are left out here, and in Table 6.1",
    )
    yield printed_row(
        "TH Theorem 6.1", "bound for 1 and for 100 records", ("0.5", "0.0196"), (_theorem(1), _theorem(100))
    )
    gone = 2 * (100 - 1) / 100**2  # one of a hundred records that stands alone in its class leaves
    yield claimed(
        "TH Theorem 6.1",
        "removing one of 100 records changes the normalised Gini index by no more",
        f"{_theorem(100):.5f}",
        f"{gone:.5f}",
        gone <= _theorem(100),
        "the proof covers adding; and the size that is put in is noisy, so the bound is none",
    )
    yield claimed(
        "TH 6.3",
        "FS use the sensitivity 0.5 of the Gini index",
        0.5,
        2,
        False,
        "FS score with the index times the number of records, whose sensitivity is 2 and does not shrink with size",
    )
    asked = 2 * 5 + 1  # with `d <= delta` six levels of counts and five of choices
    yield claimed(
        "TH Alg. 6.1",
        "queries on a path of a tree of five levels, line 16 as printed",
        2 * 5 - 1,
        asked,
        asked == 2 * 5 - 1,
        f"d <= delta should be d < delta; as printed it spends {asked}/9 of the budget",
    )
    why = "cut off, not rounded: 100/18 = 5.56"
    yield printed("TH Fig. 6.5", "per cent right by guessing among 18 classes", "5.55", 100 / 18, why)


def signal() -> Iterator[Statement]:
    """Chapter 7."""
    classes, each = 2, 0.5
    by_averaging = math.sqrt(classes) * math.sqrt(2) / each
    threshold = classes * math.sqrt(2) / each
    yield claimed(
        "TH eq. (7.3)",
        f"the noise in the sum of {classes} counts has the deviation |C| sqrt(2) / epsilon, epsilon {each:g}",
        f"{threshold:.3f}",
        f"{by_averaging:.3f}",
        math.isclose(threshold, by_averaging),
        "by the text's own eq. (7.2) it is sqrt(|C|) sqrt(2) / epsilon: thresholds are larger than they need be",
    )


def smooth() -> Iterator[Statement]:
    """Chapter 8, and its printed tables against each other."""
    for margin, texts in SENSITIVITIES.items():
        ours = [float(smooth_sensitivity(np.array([margin]), epsilon)[0]) for epsilon in (0.01, 0.1, 1.0)]
        mine = [(text, value) for text, value in zip(texts, ours, strict=True) if text]
        why = "cut off, not rounded"
        says = f"exp(-j epsilon), j = {margin}, epsilon 0.01, 0.1, 1"
        yield printed_row("TH Table 8.2", says, [text for text, _ in mine], [value for _, value in mine], why)
    tiny = [f"{math.exp(-exponent):.2e}" for exponent in (50, 100, 500)]
    said = ["1.93e-22", "3.72e-44", "7.12e-218"]
    yield claimed("TH Table 8.2", "exp(-50), exp(-100), exp(-500)", " ".join(said), " ".join(tiny), tiny == said)
    folds = (f"{math.exp(10):.0f}", f"{math.exp(1):.1f}")
    holds = round(math.exp(10), -4) == 20_000 and round(math.exp(1)) == 3
    says = "a margin of 10 sharpens the choice 20,000-fold at epsilon 1 and three-fold at 0.1"
    yield claimed("TH 8.4.1", says, "20,000 and 3", " and ".join(folds), holds, rule="to one digit")
    # Of two labels the smaller has the chance 1 / (1 + exp(epsilon / 2S)).
    ratio = float(np.logaddexp(0, math.exp(5) / 2) - np.logaddexp(0, math.exp(4) / 2))
    yield claimed(
        "TH Theorem 8.1",
        "labels drawn so are epsilon-private: log-ratio between margins 4 and 5 at epsilon 1",
        "at most 1",
        f"{ratio:.1f}",
        ratio <= 1,
        "smooth sensitivity is for added noise, and exp(-j epsilon) is no smooth bound; the ratio grows without bound. "
        "The sound form labels by noisy counts",
    )
    left, right = (1 / (2 * math.exp(-50 / 100)), 1 / 100 / (2 * math.exp(-50 / 100)))
    yield claimed(
        "TH eq. (8.8)",
        "disjoint parts sharpen more than shares of epsilon: j = 50, 100 trees",
        ">",
        f"exponents {left:.3f} and {right:.4f}",
        left > right,
    )
    yield claimed(
        "TH Example 8.1",
        "records until the rarest of 3^5 leaves has one",
        "3200000",
        f"{1 / 0.05**5:.0f}",
        round(1 / 0.05**5) == 3_200_000,
    )
    why = "each of five tests falls on the first or the second value: 2^5 - 1, where m = 10"
    yield claimed(
        "TH Example 8.1",
        "other leaves with only the two common values",
        math.comb(5, 2) - 1,
        2**5 - 1,
        math.comb(5, 2) - 1 == 2**5 - 1,
        why,
    )
    wrong = [name for name, (numbers, discrete, depth) in DEPTHS.items() if _theorem_depth(numbers, discrete) != depth]
    yield claimed(
        "TH Theorem 8.2",
        "depths of Table 8.4 are the theorem's",
        f"{len(DEPTHS)} of {len(DEPTHS)}",
        f"{len(DEPTHS) - len(wrong)} of {len(DEPTHS)}",
        not wrong,
        f"one more wherever there are numbers ({', '.join(wrong)}); with that reading all agree, and privet follows it"
        if all(depth_of(s, r) == depth for s, r, depth in DEPTHS.values())
        else "",
    )
    real = len([name for name in EMPTY_LEAVES if not name.startswith("Synth")])
    yield claimed(
        "TH Table 8.3", "it has eight real tables", 8, real, real == 8, "its caption says eight; seven are listed"
    )
    over = sum(float(one) > 85 for one, _ in EMPTY_LEAVES.values())
    yield claimed(
        "TH 8.4.2.1",
        "over 85 % of the leaves are usually empty",
        "usually",
        f"in {over} of {len(EMPTY_LEAVES)} rows of Table 8.3 with one tree",
        over > len(EMPTY_LEAVES) / 2,
        "not by its own table, and a footnote says 70 to 99.9 %",
    )


def figures() -> Iterator[Statement]:
    """What the text says of Figures 8.1, 8.5 and 8.11, by the numbers printed in them."""
    gains = {name: ours - rana for name, (ours, rana) in CONTEST.items()}
    won, lost = [g for g in gains.values() if g > 0.5], [-g for g in gains.values() if g < -0.5]
    told = f"{len(won)}, {len(lost)}, {len(gains) - len(won) - len(lost)}"
    yield claimed("TH 8.5.2", "Fig. 8.11: wins, losses and ties against RGV", "5, 4, 1", told, told == "5, 4, 1")
    told = f"{min(won):.1f} to {max(won):.1f}, {min(lost):.1f} to {max(lost):.1f}"
    said = "1.5 to 13.0, 1.2 to 6.2"
    yield claimed("TH 8.5.2", "Fig. 8.11: by how many points each wins", said, told, told == said)
    shares = [share for row in FLIPPED.values() for share in row]
    told = f"{min(shares):g} to {max(shares):g}"
    holds = min(shares) > 2.5 and max(shares) < 20
    yield claimed("TH 8.4.4", "Fig. 8.5: around 5 to 20 % of labels are flipped", "5 to 20", told, holds)
    rising = all(list(row) == sorted(row) for row in FLIPPED.values())
    yield claimed(
        "TH 8.4.4", "Fig. 8.5: more trees flip more labels, in its own numbers", "all rows", "all rows", rising
    )


def closed() -> Iterator[Statement]:
    """Numbers that depend on what the thesis does not say."""
    trees = number_of_trees(10, 0.5, 1.0)
    cases = (
        ("TH 8.5.2", "RGV has 110 to 1385 trees by eq. (3.18)", "110 to 1385", f"{trees} with n' = 10, p = 1/2",
         "the least support n' is not said"),
        ("TH 8.5.2", "the weakest of Wilcoxon's p values, against FS on GammaTele", "0.000057", "-",
         "it is of the thesis's own runs, and how many is not said"),
        ("TH Table 9.1", "accuracies of all algorithms in four classes, Very Low to High", "quartiles", "-",
         "quartiles of numbers that other authors printed, which are not given"),
    )  # fmt: skip
    for source, says, published, ours, why in cases:
        yield Statement(source, says, published, ours, "not recomputable", why)


def _theorem(n: int) -> float:
    return 1 - (n / (n + 1)) ** 2 - (1 / (n + 1)) ** 2


def _theorem_depth(numbers: int, discrete: int) -> int:
    """The least d with s((s - 1)/s)^d < s/2, plus half of the discrete attributes."""
    depth = 0
    while numbers and numbers * ((numbers - 1) / numbers) ** depth >= numbers / 2:
        depth += 1
    return depth + discrete // 2
