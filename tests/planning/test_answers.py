"""Quantiles of the noise: against sums over the distribution written out, which share no formula with the code."""

from __future__ import annotations

import math

import numpy as np
import pytest

from privet.errors import ParameterError
from privet.planning import answers
from privet.privacy.noise import OpenDPNoise

EPSILONS = (0.05, 0.3, 1.0, 2.5)


def distribution(epsilon: float) -> np.ndarray:
    """Discrete Laplace on -K..K, with K so large that nothing is left."""
    far = math.ceil(60 / epsilon)
    weights = np.exp(-epsilon * np.abs(np.arange(-far, far + 1)))
    return weights / weights.sum()


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("classes", [1, 2, 7])
def test_errors_of_counts(epsilon: float, classes: int) -> None:
    chances = distribution(epsilon)
    middle = len(chances) // 2
    within = [chances[middle - k : middle + k + 1].sum() ** classes for k in range(middle)]
    assert answers.class_counts_within(epsilon, classes) == next(k for k, share in enumerate(within) if share >= 0.95)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_margin_between_noisy_counts(epsilon: float) -> None:
    difference = np.convolve(distribution(epsilon), distribution(epsilon))
    middle = len(difference) // 2
    tails = np.cumsum(difference[::-1])[::-1]  # P(D >= d)
    first = next(m for m in range(1, middle) if tails[middle + m] <= 0.05)
    assert answers.margin_for_noisy_counts(epsilon) == first
    by_half = next(m for m in range(1, middle) if tails[middle + m] <= 0.05 / 2)
    assert answers.margin_for_noisy_counts(epsilon, classes=3) == by_half


def test_the_margin_of_a_draw() -> None:
    for epsilon in EPSILONS:
        for classes in (2, 5):
            margin = answers.margin_for_a_draw(epsilon, classes)
            right = [1 / (1 + (classes - 1) * math.exp(-epsilon * m)) for m in (margin, margin - 1)]
            assert right[0] >= 0.95 > right[1]


def share_within(scale: float, k: int) -> float:
    drawn = OpenDPNoise().laplace(np.zeros(20_000, dtype=np.int64), scale)
    return float((np.abs(drawn) <= k).mean())


def test_the_real_noise_is_within() -> None:
    """20,000 draws of the library's own sampler: 95.27 % are within 30 at epsilon 0.1.

    The share has a standard deviation of 0.15 points; five of them are passed once in 1.7 million runs. A scale 30 %
    off gives 98.7 or 90.4 %, which the same threshold rejects.
    """
    k = answers.count_within(0.1)
    assert k == 30
    expected = 1 - 2 * math.exp(-3.1) / (1 + math.exp(-0.1))
    assert abs(share_within(10.0, k) - expected) < 5 * 0.0015
    assert abs(share_within(7.0, k) - expected) > 5 * 0.0015
    assert abs(share_within(13.0, k) - expected) > 5 * 0.0015


def test_leaves() -> None:
    assert answers.leaf_records(30, 1.0) == 30
    assert answers.leaf_records(30, 0.4) == 75


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: answers.count_within(1, confidence=1), "confidence"),
        (lambda: answers.class_counts_within(1, 0), "classes"),
        (lambda: answers.margin_for_noisy_counts(1, 1), "classes"),
        (lambda: answers.leaf_records(1, 0), "ahead"),
        (lambda: answers.count_within(-1), "epsilon"),
    ],
)
def test_wrong_parameters_are_named(call: object, named: str) -> None:
    with pytest.raises((ParameterError, ValueError), match=named):
        call()  # type: ignore[operator]
