"""Public rules, on released numbers, for the depth of a tree, its number of cuts and its shares of epsilon.

All of them use the *strength*: the number of records, released or declared, times epsilon. Only this product matters: a
quarter of the records at four times the epsilon is as good. The rules were tuned once, for all tables, on some of them:
figures of those (``docs/recipes/exact.md`` names them) are slightly optimistic.
"""

from __future__ import annotations

import math
from fractions import Fraction

from privet.growing.whole.whole_tree import MAX_OPERATIONS, affordable_depth, operations
from privet.privacy.concentrated import Currency

COUNT_SHARE = Fraction(1, 50)  # of epsilon, for the number of records: then the strength is off by some 50
A_LEAF = 85.0  # strength that a leaf of two classes needs, times sqrt 2; with more classes it needs more
MOST_LEVELS = 10  # of all blocks: a thousand leaves
NEXT_LEVELS = 3  # of a block after the first, at most: it is drawn in many cells
NEXT_OPERATIONS = MAX_OPERATIONS // 3  # of such a block, in all cells together
LEAST_LEVELS = 3  # of a block after the first: fewer are not worth a share of epsilon
DEEP = 4  # levels of a first draw: beyond, further blocks make up for a level less, but not up to here
LEAF_SHARE, LEAST_LEAF_SHARE = Fraction(1, 20), Fraction(1, 50)  # of what is left, for class counts in the leaves
WORTH_COUNTS = 1000.0  # strength below which such counts say less, and the tree needs its epsilon more
WORTH_CUTS = 100.0  # strength for each number, from which on buying cuts beats the public grid
GOOD_CUTS = 120.0  # records in scales of noise that place a number's cuts about as well as exact counts would
LEAST_CUTS_SHARE, MOST_CUTS_SHARE = Fraction(3, 100), Fraction(1, 4)
FEW_CUTS, CUTS, MANY_CUTS = 3, 9, 12  # for each number: where numbers are many, usually, and where records are
LEAST_BINS = 3  # for each number, where every bin is a child
MUCH = 30_000.0  # strength, from which on more cuts tell more


def block_levels(strength: float, n_tests: int, n_classes: int, in_one_draw: int) -> tuple[int, ...]:
    """The levels of each draw: one as deep as possible, and further ones if there are enough records.

    >>> block_levels(2_000, n_tests=80, n_classes=2, in_one_draw=4)
    (4,)
    >>> block_levels(20_000, n_tests=80, n_classes=2, in_one_draw=4)
    (4, 3)
    >>> block_levels(20_000, n_tests=80, n_classes=18, in_one_draw=3)
    (3, 3, 2)
    >>> block_levels(2_000, n_tests=16, n_classes=4, in_one_draw=16)  # so few tests that all could be asked at once
    (10,)
    """
    worth = int(math.log2(max(strength * math.sqrt(n_classes) / A_LEAF, 1.0)))
    most = min(worth, MOST_LEVELS, n_tests)
    costly = operations(n_tests, n_classes, in_one_draw) > NEXT_OPERATIONS
    if costly and in_one_draw > DEEP and most - in_one_draw + 1 >= LEAST_LEVELS:
        in_one_draw -= 1
    levels = [min(in_one_draw, MOST_LEVELS)]
    while most - sum(levels) >= LEAST_LEVELS:
        cells, depth = 2 ** sum(levels), min(most - sum(levels), NEXT_LEVELS, in_one_draw)
        while depth > 1 and cells * operations(n_tests, n_classes, depth) > NEXT_OPERATIONS:
            depth -= 1
        levels.append(depth)
    return tuple(levels)


def leaf_share(strength: float) -> Fraction:
    """The share of epsilon that buys class counts in the leaves of a labelled tree.

    >>> [str(leaf_share(strength)) for strength in (100, 500, 20_000)]
    ['1/50', '1/40', '1/20']
    """
    share = Fraction(round(1000 * float(LEAF_SHARE) * strength / WORTH_COUNTS), 1000)
    return min(max(share, LEAST_LEAF_SHARE), LEAF_SHARE)


def cuts_worth(strength: float, numbers: int, other_tests: int, n_classes: int) -> int:
    """How many cuts each of some numbers gets: fewer if there are many numbers, so that one draw affords some levels.

    >>> [cuts_worth(5_000, numbers, other_tests=0, n_classes=10) for numbers in (8, 16, 64)]
    [9, 5, 5]
    """
    wished = MANY_CUTS if strength >= MUCH else CUTS
    for depth, least in ((4, 5), (3, FEW_CUTS)):
        for count in range(wished, least - 1, -1):
            if affordable_depth(other_tests + numbers * count, n_classes) >= depth:
                return count
    return FEW_CUTS


def bins_worth(strength: float, n_classes: int, levels: int, most: int) -> int:
    """How many bins each number gets if every bin is a child: few enough that leaves below some levels are worth it.

    >>> [bins_worth(strength, n_classes=2, levels=3, most=10) for strength in (2_000, 20_000, 200_000)]
    [3, 6, 10]
    """
    leaves = max(strength * math.sqrt(n_classes) / A_LEAF, 1.0)
    return min(max(int(leaves ** (1 / max(levels, 1))), LEAST_BINS), most)


def cuts_share(
    strength: float, numbers: int, part: Fraction = Fraction(1), currency: Currency = Currency.EPSILON
) -> Fraction:
    """The share of epsilon for buying where the numbers lie; 0 if the result would be too noisy.

    A learner that needs its epsilon more pays a ``part`` of what the exact tree does, and requires more records.

    >>> [str(cuts_share(strength, 10)) for strength in (900, 4_000, 20_000, 10**6)]
    ['0', '1/4', '3/50', '3/100']
    """
    each = part * Fraction(strength) / Fraction(max(numbers, 1) ** (1 / currency.power))
    if not numbers or each < WORTH_CUTS:
        return Fraction(0)
    good = Fraction(round(100 * (GOOD_CUTS * float(part**2 / each)) ** currency.power), 100)
    return min(max(good, LEAST_CUTS_SHARE), part * MOST_CUTS_SHARE)
