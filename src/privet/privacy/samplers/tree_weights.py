"""Weights of all labelled trees over a region, summed exactly by recursion (compiled).

A region is a set of tests with a sign for each: bit i of ``signs`` says that its records meet the i-th test. Sets are
ranked in colexicographic order. ``rows[r]`` has a count for each class and test, tests fastest: the records of class c
that meet test t and all tests of the set with row number r, times the public weight of the class. A weight is kept as
exp(-epsilon misses + log). The misses of the best tree stay an integer, so nothing is lost however large the table.
Every sum runs in a fixed order on one thread, and the two children of a test are added or multiplied first. So a weight
depends on its region's counts alone, and not on which side of a test counts as met. Counts have 32 bits where all of
them fit, else 64. The integers are the same, and so is the table they are looked up in. Proof:
``docs/proofs/whole_tree.md``.

Loops are written out and arrays have one or two dimensions: numba compiles whole-array expressions for seconds.
"""

from __future__ import annotations

import numpy as np
from numba import njit


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


@njit(cache=True, nogil=True, error_model="numpy")
def row_number(tests, mask, choose):
    """The row of some sorted tests: those in ``mask``."""
    if mask == 0:
        return 0
    last = 0
    while mask >> (last + 1):
        last += 1
    return first_row(tests, mask ^ (1 << last), choose) + tests[last]


@njit(cache=True, nogil=True, error_model="numpy")
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


@njit(cache=True, nogil=True, error_model="numpy")
def leaf_weight(counts, decay):
    """Misses of the best label, and log of the mean over labels of the weights beside it."""
    total, best, weight = 0, 0, 0.0
    for c in range(counts.size):
        total += counts[c]
        best = max(best, counts[c])
    for c in range(counts.size):
        weight += decay[min(best - counts[c], decay.size - 1)]
    return total - best, np.log(weight / counts.size)


@njit(cache=True, nogil=True, error_model="numpy")
def add(misses_a, log_a, misses_b, log_b, epsilon):
    """The sum of two weights. The one with fewer misses may be the smaller one, if its prior is very small."""
    if misses_a > misses_b:
        misses_a, log_a, misses_b, log_b = misses_b, log_b, misses_a, log_a
    return misses_a, np.logaddexp(log_a, log_b - epsilon * (misses_b - misses_a))


@njit(cache=True, nogil=True, error_model="numpy")
def prior_left(tests, prior):
    """The prior of the tests that are not in a set. It is added up, since one minus the others would lose digits."""
    left, at = 0.0, 0
    for t in range(prior.size):
        if at < tests.size and tests[at] == t:
            at += 1
        else:
            left += prior[t]
    return left


@njit(cache=True, nogil=True, error_model="numpy")
def last_split(yes, here, tests, forbidden, never, candidates, decay, scratch):
    """Misses of the best last test of a region, and the sum over tests of prior times the weight beside it.

    ``here[c]`` records of class c are in the region and ``yes[c * tests + t]`` of them meet test t. The weight of
    a test is that of its two leaves, relative to the best label of each, and looked up: the exponential of a whole
    number of misses. Tests on the path and forbidden ones have no prior among the ``candidates``, and ``never`` is more
    misses than there can be.
    """
    n_classes, n_tests, lightest = here.size, candidates.size, decay.size - 1
    # Misses, and on either side how far labels are apart, or the best label.
    misses, first, second = scratch[0], scratch[1], scratch[2]
    if n_classes == 2:  # the better of two labels weighs 1: less than half the work of the general case
        ones, twos, one, two = yes[:n_tests], yes[n_tests:], here[0], here[1]
        for t in range(n_tests):
            yes_one, yes_two = ones[t], twos[t]
            no_one, no_two = one - yes_one, two - yes_two
            misses[t] = min(yes_one, yes_two) + min(no_one, no_two)
            first[t] = min(abs(yes_one - yes_two), lightest)
            second[t] = min(abs(no_one - no_two), lightest)
    else:
        total_here = 0
        for t in range(n_tests):
            first[t] = second[t] = 0
        for c in range(n_classes):
            total_here += here[c]
            for t in range(n_tests):
                count = yes[c * n_tests + t]
                first[t] = max(first[t], count)
                second[t] = max(second[t], here[c] - count)
        for t in range(n_tests):
            misses[t] = total_here - first[t] - second[t]
    for i in range(tests.size):
        misses[tests[i]] = never
    for i in range(forbidden.size):
        misses[forbidden[i]] = never
    best, total = never, 0.0
    for t in range(n_tests):
        best = min(best, misses[t])
    if n_classes == 2:
        for t in range(n_tests):  # unsigned, so that no index is checked for its sign
            weight = (1.0 + decay[np.uint32(first[t])]) * (1.0 + decay[np.uint32(second[t])]) / 4
            total += candidates[t] * weight * decay[np.uint32(min(misses[t] - best, lightest))]
        return best, total
    for t in range(n_tests):
        near_yes, near_no = 0.0, 0.0
        for c in range(n_classes):
            count = yes[c * n_tests + t]
            near_yes += decay[min(first[t] - count, lightest)]
            near_no += decay[min(second[t] - here[c] + count, lightest)]
        weight = near_yes * near_no / n_classes**2
        total += candidates[t] * weight * decay[np.uint32(min(misses[t] - best, lightest))]
    return best, total


@njit(cache=True, nogil=True, error_model="numpy")
def last_level(
    start,
    stop,
    prefixes,
    met,
    rows,
    class_counts,
    choose,
    decay,
    prior,
    forbidden,
    never,
    epsilon,
    log_leaf_prior,
    log_split_prior,
    out,
    out_log,
):
    """Weights of every region with one split left, for sets that extend ``prefixes[start:stop]`` by a larger test.

    ``met[p * tests + s]`` is the row of prefix p and test s; ``out[rank, signs]`` receives misses, ``out_log`` what
    goes with them.
    """
    n_tests, n_classes, size = prior.size, class_counts.size, prefixes.shape[1] + 1
    n_signs, wide = 1 << (size - 1), rows.shape[1]
    regions = np.empty((n_signs, n_classes), dtype=rows.dtype)
    inside = np.empty((n_signs, wide), dtype=rows.dtype)
    part = np.empty((n_signs, wide), dtype=rows.dtype)
    rest = np.empty((n_signs, wide), dtype=rows.dtype)
    here = np.empty(n_classes, dtype=rows.dtype)
    scratch = np.empty((3, n_tests), dtype=rows.dtype)
    candidates = prior.copy()
    empty = np.logaddexp(log_leaf_prior, log_split_prior)  # a region without records: all trees weigh their prior
    starts = np.empty(n_signs, dtype=np.int64)
    tests = np.empty(size, dtype=np.int64)
    for p in range(start, stop):
        prefix = prefixes[p]
        for i in range(size - 1):
            tests[i] = prefix[i]
        # All sets share the counts of the prefix's own regions: of all records, and of those that meet a test.
        region_counts(prefix, rows, class_counts, choose, regions)
        for mask in range(n_signs):
            starts[mask] = first_row(prefix, mask, choose)
            row = row_number(prefix, mask, choose)
            for i in range(wide):
                inside[mask, i] = rows[row, i]
        exclude(inside)
        for s in range(prefix[size - 2] + 1 if size > 1 else 0, n_tests):
            tests[size - 1] = s
            for mask in range(n_signs):
                row, copy = met[p * n_tests + s] if mask == n_signs - 1 else rows[starts[mask] + s], part[mask]
                for i in range(wide):
                    copy[i] = row[i]
            exclude(part)
            for mask in range(n_signs):
                whole, yes, no = inside[mask], part[mask], rest[mask]
                for i in range(wide):
                    no[i] = whole[i] - yes[i]
            place, left = rank(tests, choose), prior_left(tests, prior)
            for i in range(size):
                candidates[tests[i]] = 0.0
            for signs in range(2 * n_signs):
                meets, records = signs >= n_signs, 0
                mask = signs - n_signs if meets else signs
                for c in range(n_classes):
                    count = part[mask, c * n_tests + s]
                    here[c] = count if meets else regions[mask, c] - count
                    records += here[c]
                if records == 0:
                    out[place, signs], out_log[place, signs] = 0, empty
                    continue
                best, total = last_split(
                    part[mask] if meets else rest[mask], here, tests, forbidden, never, candidates, decay, scratch
                )
                leaf, log_leaf = leaf_weight(here, decay)
                out[place, signs], out_log[place, signs] = add(
                    leaf, log_leaf_prior + log_leaf, np.int64(best), log_split_prior + np.log(total / left), epsilon
                )
            for i in range(size):
                candidates[tests[i]] = prior[tests[i]]


@njit(cache=True, nogil=True, error_model="numpy")
def split_weights(tests, signs, deeper, deeper_log, choose, prior, misses, logs):
    """Misses and log weights of the tests of a region, from one level deeper; -inf for tests already on the path."""
    left = prior_left(tests, prior)
    at = 0  # tests on the path that are smaller than t
    for t in range(prior.size):
        misses[t], logs[t] = 0, -np.inf
        if at < tests.size and tests[at] == t:
            at += 1
            continue
        if prior[t] == 0.0:
            continue
        place = choose[t, at + 1]
        for i in range(tests.size):
            place += choose[tests[i], i + 1 if i < at else i + 2]
        no = (signs & ((1 << at) - 1)) | (signs >> at) << (at + 1)
        yes = no | 1 << at
        misses[t] = deeper[place, no] + deeper[place, yes]
        logs[t] = np.log(prior[t] / left) + (deeper_log[place, no] + deeper_log[place, yes])


@njit(cache=True, nogil=True, error_model="numpy")
def upper_level(
    start,
    stop,
    sets,
    deeper,
    deeper_log,
    rows,
    class_counts,
    choose,
    decay,
    prior,
    epsilon,
    log_leaf_prior,
    log_split_prior,
    out,
    out_log,
):
    """Weights of every region of ``sets[start:stop]`` from those one level deeper."""
    misses = np.empty(prior.size, dtype=np.int64)
    logs = np.empty(prior.size)
    regions = np.empty((1 << sets.shape[1], class_counts.size), dtype=rows.dtype)
    for i in range(start, stop):
        tests = sets[i]
        region_counts(tests, rows, class_counts, choose, regions)
        for signs in range(1 << tests.size):
            split_weights(tests, signs, deeper, deeper_log, choose, prior, misses, logs)
            best, top, total = np.int64(2**62), -np.inf, 0.0
            for t in range(misses.size):
                if logs[t] > -np.inf:
                    best = min(best, misses[t])
            for t in range(misses.size):
                if logs[t] > -np.inf:
                    logs[t] -= epsilon * (misses[t] - best)
                    top = max(top, logs[t])
            for t in range(misses.size):
                total += np.exp(logs[t] - top)
            leaf, log_leaf = leaf_weight(regions[signs], decay)
            out[i, signs], out_log[i, signs] = add(
                leaf, log_leaf_prior + log_leaf, best, log_split_prior + (top + np.log(total)), epsilon
            )
