"""Bai et al. (2017) on paper: the size of the space, the example of a draw, and budgets."""

from __future__ import annotations

import math
from collections.abc import Iterator

from privet.experiments.outcome import Statement
from privet.experiments.worked.printed import claimed

SIZES = {2: "16", 3: "3600", 4: "138297600", 5: "1.12813601e+17"}
DEPTH = 20  # layers of the trees whose chains they trace


def spaces() -> Iterator[Statement]:
    """How many trees there are with 16 binary attributes, none twice on a path."""
    size = 1
    for layers, text in SIZES.items():
        level = layers - 2
        size *= (16 - level) ** (2**level)
        told = f"{size}" if "e" not in text else f"{size:.8e}"
        yield claimed("BAI 1", f"subtrees of {layers} layers, 16 binary attributes", text, told, told == text)


def draws() -> Iterator[Statement]:
    """The example of section 3.4."""
    ends, weights = 0.0, (0.3, 0.5, 0.4)
    chosen = 0
    for number, weight in enumerate(weights, 1):
        ends += weight / sum(weights)
        if ends > 0.73 and not chosen:
            chosen = number
    says = "weights 0.3, 0.5, 0.4 and the number 0.73 pick a subtree"
    yield claimed("BAI 3.4", says, "the third", f"number {chosen}", chosen == 3)


def budgets() -> Iterator[Statement]:
    """Equal shares: one a block of d steps, and one for the labels."""
    by_algorithm = math.ceil(DEPTH / (DEPTH - 1)) + 1
    yield claimed(
        "BAI 3.5",
        "the whole tree, d + 1 = D, has epsilon / 2",
        "1/2",
        f"1/{by_algorithm} by Alg. 1, line 1",
        by_algorithm == 2,
        "D counts layers and d steps: with ceil((D - 1)/d) + 1 it is 1/2, and that is what privet does",
    )
    layers, step, arity = 7, 2, 2  # three blocks below one another, each with four leaves
    right = sum(arity ** (step * block) for block in range((layers - 1) // step))
    as_printed = (1 - arity ** (layers / step)) / (1 - arity)
    yield claimed(
        "BAI 3.6",
        f"calls of a search, at most (1 - K^(D/d)) / (1 - K): D = {layers}, d = {step}, K = {arity}",
        f"{as_printed:.2f}",
        right,
        abs(right - as_printed) < 0.5,
        "a block of d levels has K^d leaves, not K: (1 - K^(D - 1)) / (1 - K^d); our copy prints the exponent d/2",
    )
