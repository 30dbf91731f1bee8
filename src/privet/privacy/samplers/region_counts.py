"""Class counts of regions, from joint counts of sets of tests (compiled).

A region is a set of tests with a sign for each: bit i of ``signs`` says that its records meet the i-th test. Sets are
ranked in colexicographic order. ``rows[r]`` has a count for each class and test, tests fastest: the records of class c
that meet test t and all tests of the set with row number r, times the public weight of the class.
"""

from __future__ import annotations

from numba import njit

from privet.structure.compiled import kernel


@njit(cache=True, nogil=True, error_model="numpy")
def rank(tests, choose):
    """The place of a sorted set among all sets of its size."""
    place = 0
    for i in range(tests.size):
        place += choose[tests[i], i + 1]
    return place


@njit(cache=True, nogil=True, error_model="numpy")
def first_row(tests, mask, choose):
    """Where the rows of some sorted tests (those in ``mask``) and a larger one begin; singles are first, then pairs."""
    n_tests = choose.shape[0] - 1
    row, place, size = 1, 0, 0
    for i in range(tests.size):
        if mask >> i & 1:
            row += choose[n_tests, size] * n_tests
            place += choose[tests[i], size + 1]
            size += 1
    return row + place * n_tests


@kernel(error_model="numpy")
def row_number(tests, mask, choose):
    """The row of some sorted tests: those in ``mask``."""
    if mask == 0:
        return 0
    last = 0
    while mask >> (last + 1):
        last += 1
    return first_row(tests, mask ^ (1 << last), choose) + tests[last]


@kernel(error_model="numpy")
def exclude(counts):
    """Inclusion and exclusion along the first axis: from "meets at least" to "meets exactly"."""
    bit = 1
    while bit < counts.shape[0]:
        for mask in range(counts.shape[0]):
            if not mask & bit:
                at_least, also = counts[mask], counts[mask | bit]
                for i in range(also.size):
                    at_least[i] -= also[i]
        bit <<= 1


@njit(cache=True, nogil=True, error_model="numpy")
def region_counts(tests, rows, class_counts, choose, counts):
    """(signs, class) counts of the 2**size regions of a set."""
    n_tests = choose.shape[0] - 1
    for mask in range(1 << tests.size):
        last = tests.size - 1
        while mask and not mask >> last & 1:
            last -= 1
        row = row_number(tests, mask ^ (1 << last), choose) if mask else 0
        for c in range(class_counts.size):
            counts[mask, c] = rows[row, c * n_tests + tests[last]] if mask else class_counts[c]
    exclude(counts)
