"""Bai et al. (2017) on paper: the size of the space, the example of a draw, and budgets."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import accumulate

from privet_experiments.judge import Measure

DEPTH = 20  # layers of the trees whose chains they trace


def spaces() -> Iterator[Measure]:
    """How many trees there are with 16 binary attributes, none twice on a path."""
    size = 1
    for level in range(4):
        size *= (16 - level) ** (2**level)
        yield Measure("spaces", at=str(level + 2), size=str(size) if size < 10**12 else f"{size:.8e}")


def draws() -> Iterator[Measure]:
    """The example of section 3.4."""
    weights = (0.3, 0.5, 0.4)
    ends = accumulate(weight / sum(weights) for weight in weights)
    yield Measure("draw", chosen=next(number for number, end in enumerate(ends, 1) if end > 0.73))


def budgets() -> Iterator[Measure]:
    """Equal shares: one a block of d steps, and one for the labels."""
    yield Measure("share", shares=math.ceil(DEPTH / (DEPTH - 1)) + 1)
    layers, step, arity = 7, 2, 2  # three blocks below one another, each with four leaves
    right = sum(arity ** (step * block) for block in range((layers - 1) // step))
    yield Measure("calls", right=right, bound=(1 - arity ** (layers / step)) / (1 - arity))
