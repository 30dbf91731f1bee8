"""Stopping rules see released numbers and public facts, and nothing else."""

from __future__ import annotations

import warnings

import numpy as np

from privet.growing.greedy.stopping import LevelFacts, SmallOrPure, TooNoisy


def level(released: object, arity: object, epsilon: float = 0.1, n_classes: int = 2) -> LevelFacts:
    numbers = None if released is None else np.asarray(released, dtype=np.int64)
    return LevelFacts(numbers, np.asarray(arity, dtype=np.intp), n_classes, 1 / epsilon)


def test_too_noisy_known_answer() -> None:
    """FS Algorithm 1: stop if N / (t |C|) < sqrt(2) / eps. At eps 0.1 the bound is 14.14, so N = 56.57 for t = 2."""
    assert TooNoisy().stops(level([56, 57, -3, 0], [2, 2, 2, 2])).tolist() == [True, False, True, True]
    # Twice the children or twice the classes need twice the records; half the epsilon as well.
    assert TooNoisy().stops(level([113, 114], [4, 4])).tolist() == [True, False]
    assert TooNoisy().stops(level([113, 114], [2, 2], n_classes=4)).tolist() == [True, False]
    assert TooNoisy().stops(level([113, 114], [2, 2], epsilon=0.05)).tolist() == [True, False]


def test_too_noisy_reads_sizes_off_class_counts() -> None:
    assert TooNoisy().stops(level([[50, 6], [50, 7]], [2, 2])).tolist() == [True, False]


def test_too_noisy_where_nothing_was_asked_or_no_test_is_left() -> None:
    assert TooNoisy().stops(level(None, [2, 2])).tolist() == [False, False]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        TooNoisy().stops(level([0, 5], [0, 0]))  # a division by zero would speak of the sizes


def test_too_noisy_below_a_least_size_too() -> None:
    assert TooNoisy(100).stops(level([99, 100], [2, 2])).tolist() == [True, False]


def test_small_or_pure() -> None:
    counts = [[5, 0], [0, 0], [3, 1], [2, -1], [9, 9]]
    assert SmallOrPure().stops(level(counts, [2] * 5)).tolist() == [True, True, False, True, False]
    assert SmallOrPure(min_size=5).stops(level(counts, [2] * 5)).tolist() == [True, True, True, True, False]
    assert SmallOrPure(5).stops(level([1, 1], [2, 2])).tolist() == [False, False]
