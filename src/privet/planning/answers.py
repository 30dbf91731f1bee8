"""The error of an answer, and the records that a leaf needs: formulas of the noise, no data.

A count gets discrete Laplace noise X with probability proportional to a^|x|, a = e^-epsilon. So

    P(|X| > k) = 2 a^(k+1) / (1 + a),

and the difference D of two such variables, which decides between the noisy counts of two classes, has

    P(D = d) = ((1-a)/(1+a))^2 a^|d| (|d| + (1+a^2)/(1-a^2)).

These are for add-remove neighbours; for replace-one, use half of epsilon.

>>> count_within(0.1), count_within(1), class_counts_within(0.1, classes=2)
(30, 3, 37)
"""

from __future__ import annotations

import math
from collections.abc import Callable

from privet.privacy.budget import epsilon as parse_epsilon
from privet.recipes.parameters import check_number, check_whole

CONFIDENCE = 0.95  # the default probability of every bound here
MOST_CLASSES = 65_000


def count_within(epsilon: object, confidence: float = CONFIDENCE) -> int:
    """The smallest k such that a noisy count is within k of the truth with this probability.

    >>> count_within(0.5), count_within(0.5, confidence=0.5)
    (6, 1)
    """
    return class_counts_within(epsilon, 1, confidence)


def class_counts_within(epsilon: object, classes: int, confidence: float = CONFIDENCE) -> int:
    """The same for the counts of all classes together: classes are disjoint, so each count gets all of epsilon."""
    check_number(confidence, "confidence", 0, 1 - 1e-12)
    each = confidence ** (1 / check_whole(classes, "classes", 1, MOST_CLASSES))
    e = float(parse_epsilon(epsilon))
    most = (1 - each) * (1 + math.exp(-e)) / 2
    # a^(k+1) <= most; subtracting 1e-9 keeps a k that fits exactly.
    return max(0, math.ceil(-math.log(most) / e - 1 - 1e-9))


def margin_for_noisy_counts(epsilon: object, classes: int = 2, confidence: float = CONFIDENCE) -> int:
    """The lead over every other class with which a class has the largest *noisy count* with this probability.

    Exact for two classes, where a tie counts as wrong; for more, a union bound.

    >>> margin_for_noisy_counts(1), margin_for_noisy_counts(0.1)
    (4, 34)
    """
    e = float(parse_epsilon(epsilon))
    allowed = _allowed(classes, confidence)
    return _first(lambda margin: _tail_of_difference(e, margin) <= allowed)


def margin_for_a_draw(epsilon: object, classes: int = 2, confidence: float = CONFIDENCE) -> int:
    """The same where the label is drawn with weights e^(epsilon count), as in the exact tree and label choices.

    >>> margin_for_a_draw(1), margin_for_a_draw(0.1)
    (3, 30)
    """
    check_number(confidence, "confidence", 0, 1 - 1e-12)
    others = check_whole(classes, "classes", 2, MOST_CLASSES) - 1
    odds = others * confidence / (1 - confidence)
    return max(1, math.ceil(math.log(max(odds, 1.0)) / float(parse_epsilon(epsilon)) - 1e-9))


def leaf_records(margin: int, ahead: float) -> int:
    """The records that a leaf needs for a margin if its largest class leads by the share ``ahead``.

    >>> leaf_records(34, ahead=0.7)
    49
    """
    check_number(ahead, "ahead", 1e-9, 1)
    return math.ceil(check_whole(margin, "margin", 0, 2**62) / ahead - 1e-9)


def _allowed(classes: int, confidence: float) -> float:
    check_number(confidence, "confidence", 0, 1 - 1e-12)
    return (1 - confidence) / (check_whole(classes, "classes", 2, MOST_CLASSES) - 1)


def _tail_of_difference(epsilon: float, margin: int) -> float:
    """P(D >= margin) for margins from 0 on, by the geometric sums of the module's formula."""
    a, b = math.exp(-epsilon), -math.expm1(-epsilon)  # b = 1 - a, exact where epsilon is small
    offset = (1 + a * a) / (b * (1 + a))
    return (b / (1 + a)) ** 2 * a**margin * ((margin + offset) / b + a / b**2)


def _first(enough: Callable[[int], bool]) -> int:
    """The smallest whole number from 1 on that is enough; ``enough`` must be monotone."""
    high = 1
    while not enough(high):
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
