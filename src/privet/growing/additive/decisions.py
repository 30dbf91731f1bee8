"""What an additive model is made of, decided by the ratio of noise to evidence in a cell: released and public numbers.

Each decision changes what is fitted gradually, or where it hardly matters: ``benchmarks/additive_shapes.py`` compares
the model with its own parts on tables of many shapes, and ``tests/growing/test_additive.py`` tests where rules switch.
"""

from __future__ import annotations

import math
from fractions import Fraction

from privet.growing.prelude import ClassEstimate
from privet.privacy.noise import Law

CLEAR = 0.02  # below: the margin shrinks, since noise hides less than the margin's own distortion would
EVEN = 0.6  # where a tree before curves gets half of what is left, if as many records are outside the largest class
MANY = 10  # curves: the sum of as many tells more than two classes apart, though each of them is mostly noise
CLASSES = 8  # with more, there are so few records of each that a tree is of use for longer
MOST_TREE_SHARE = Fraction(9, 10)  # of what is left: curves follow every tree, and their ridge knows their noise
TREE_RECORDS = 600.0  # times epsilon: with as many, more would not make a better tree of two classes
CHOSEN = 0.25  # what curves are chosen for, where that at least halves their noise


def margin(estimate: ClassEstimate, noise_ratio: float) -> float:
    """The margin of the loss: residuals are capped at a quarter for two classes, and at less for more.

    A record at the boundary then leaves four fifths of the cap unexplained, where the plain log-loss has one half.

    >>> import numpy as np
    >>> even = [ClassEstimate(np.full(k, 100.0), 1.0, Fraction(0)) for k in (2, 10)]
    >>> [round(math.exp(-margin(estimate, noise_ratio=0.3)), 3) for estimate in even]
    [0.25, 0.05]
    """
    kinds = max(2.0, 1 / float((estimate.shares**2).sum()))
    return math.log(2 * kinds) * min(noise_ratio / CLEAR, 1.0)


def tree_share(estimate: ClassEstimate, noise_ratio: float, curves: int) -> Fraction:
    """The share of a tree before curves: near 1 where curves would be mostly noise, near 0 elsewhere.

    A tree is drawn by the number of records that it classifies right. So it says less of two unequal classes. It has
    too few leaves to tell many classes apart, which the sum of many curves does: noise averages out in it. But with
    more than ``CLASSES`` each has few records, and noise counts for more. Both parts keep what they need for longer
    than they are of use: a wrong share costs little.

    >>> import numpy as np
    >>> counts = {"mushrooms": (3900.0, 4200.0), "incomes": (34_000.0, 11_200.0), "sales": (40_000.0, 5300.0)}
    >>> estimates = {name: ClassEstimate(np.array(both), 1.0, Fraction(0)) for name, both in counts.items()}
    >>> [round(float(tree_share(estimate, noise_ratio=0.6, curves=10)), 2) for estimate in estimates.values()]
    [0.46, 0.06, 0.0]
    """
    noise = noise_ratio * max(len(estimate.shares) / CLASSES, 1.0)
    odds = (_worth(estimate, curves) * noise / EVEN) ** 2
    return min(Fraction(odds / (1 + odds)).limit_denominator(100), MOST_TREE_SHARE)


def tree_records(estimate: ClassEstimate, curves: int) -> float:
    """How many records, times epsilon, a tree can use: more classes need more, where a tree is of use to them.

    >>> import numpy as np
    >>> estimates = [ClassEstimate(np.full(k, 100.0), 1.0, Fraction(0)) for k in (2, 10)]
    >>> [round(tree_records(estimate, curves)) for estimate in estimates for curves in (10, 64)]
    [600, 600, 1342, 600]
    """
    return TREE_RECORDS * max(_worth(estimate, curves) * math.sqrt(len(estimate.shares) / 2), 1.0)


def _worth(estimate: ClassEstimate, curves: int) -> float:
    """How much a tree says beside curves, from 0 to 1."""
    if len(estimate.shares) == 2:
        return min(2 * (1 - float(estimate.shares.max())), 1.0) ** 2
    return min(math.sqrt(MANY / curves), 1.0)


def curves_kept(attributes: int, noise_ratio: float, law: Law, scores: int = 1) -> int:
    """How many attributes get a curve. Noise grows with their number, and hides all of them where they are many.

    Gaussian noise grows with the root of it only. Then many noisy curves together still say much. With a score for
    each class, noise counts in full only from ten curves on: the sum of ten averages it out.

    >>> [curves_kept(40, noise_ratio, "laplace") for noise_ratio in (0.1, 0.3, 0.5, 1.2, 20)]
    [40, 40, 20, 9, 1]
    >>> [curves_kept(40, noise_ratio, "laplace", scores=10) for noise_ratio in (0.05, 0.1, 0.3, 1.2, 20)]
    [40, 20, 10, 9, 1]
    >>> [curves_kept(40, noise_ratio, "gaussian") for noise_ratio in (0.5, 1.0, 1.2)]
    [40, 10, 9]
    """
    few = attributes * CHOSEN / noise_ratio
    if law == "laplace" and scores > 1:  # the evidence of one class: of k, it has 2 / k of all
        few = max(2 / scores * few, min(few, MANY))
    few = math.ceil(few)
    return few if (2 if law == "laplace" else 4) * few <= attributes else attributes
