"""How a budget is spread over the levels of a tree, or over its blocks. Public: fixed before a record is read.

All three works that privet is built from leave this open. A schedule is a weight for the questions of each level, so it
is sound by construction: :meth:`privet.growing.greedy.grower.Plan.shares` and
:meth:`privet.growing.whole.blocks.Blocks.each` divide the same total by other weights, in exact fractions.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Literal, get_args

LevelSchedule = Literal["equal", "rising", "falling", "root"]
"""For recipes that ask no sizes, or need them all: the others would be "equal"."""
Schedule = Literal[LevelSchedule, "late", "known", "leaves"]
SCHEDULES: tuple[Schedule, ...] = get_args(Schedule)
RATIO = Fraction(5, 4)  # near the third root of 2, which is best for counts in trees of two children (Cormode 2012)
ROOT_WEIGHT = 2  # all records pay for the root's choice, and all levels below depend on it
FIRST_SIZE = 2  # Fletcher 2017, 3.3.8: the sizes of the root and of its children are asked in vain


def level_weight(schedule: Schedule, depth: int) -> Fraction:
    """The weight of the questions at a depth.

    >>> [str(level_weight("rising", depth)) for depth in range(3)]
    ['1', '5/4', '25/16']
    """
    if schedule == "root":
        return Fraction(1 if depth else ROOT_WEIGHT)
    return RATIO**depth if schedule == "rising" else RATIO**-depth if schedule == "falling" else Fraction(1)


def asks_size(schedule: Schedule, depth: int, full_depth: int) -> bool:
    """Whether nodes of a depth are asked their size first, in a tree of that many tests on a path.

    With "known" the root is not, whose size is that of its children together, nor a leaf of full depth, whose size is
    that of its classes.

    >>> [asks_size("known", depth, 3) for depth in range(4)]
    [False, True, True, False]
    """
    if schedule == "known":
        return 0 < depth < full_depth
    return schedule != "late" or depth >= FIRST_SIZE
