"""Weights of all labelled trees over a region, summed exactly by recursion (compiled).

A region is a set of tests with a sign for each: bit i of ``signs`` says that its records meet the i-th test. Sets are
ranked in colexicographic order. ``rows[r, c, t]`` counts the records of class c that meet test t and all tests of the
set with row number r, times the public weight of the class. A weight is kept as exp(-epsilon misses + log). The misses
of the best tree stay an integer, so nothing is lost however large the table. Every sum runs in a fixed order on one
thread, and the two children of a test are added or multiplied first. So a weight depends on its region's counts alone,
and not on which side of a test counts as met. Counts have 32 bits where all of them fit, else 64. The integers are the
same, and so is the table they are looked up in. Proof: ``docs/proofs/whole_tree.md``.
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def rank(tests, choose):
    """The place of a sorted set among all sets of its size."""
    place = 0
    for i in range(tests.size):
        place += choose[tests[i], i + 1]
    return place


@njit(cache=True, nogil=True)
def first_row(tests, choose):
    """Where the rows of a sorted set with one larger test t begin, in order of t; singles are first, then pairs."""
    row, n_tests = 1, choose.shape[0] - 1
    for i in range(tests.size):
        row += choose[n_tests, i] * n_tests
    return row + rank(tests, choose) * n_tests


@njit(cache=True, nogil=True)
def row_number(tests, choose):
    """The row of a sorted set."""
    return first_row(tests[:-1], choose) + tests[-1] if tests.size else 0


@njit(cache=True, nogil=True)
def exclude(counts):
    """Inclusion and exclusion along the first axis: from "meets at least" to "meets exactly"."""
    flat, bit = counts.reshape(counts.shape[0], -1), 1
    while bit < flat.shape[0]:
        for mask in range(flat.shape[0]):
            if not mask & bit:
                at_least, also = flat[mask], flat[mask | bit]
                for i in range(also.size):
                    at_least[i] -= also[i]
        bit <<= 1


@njit(cache=True, nogil=True)
def region_counts(tests, rows, class_counts, choose):
    """(signs, class) counts of the 2**size regions of a set."""
    size, n_classes = tests.size, class_counts.size
    counts = np.empty((1 << size, n_classes), dtype=np.int64)
    counts[0] = class_counts
    for mask in range(1, 1 << size):
        inside = subset(tests, mask)
        counts[mask] = rows[row_number(inside[: inside.size - 1], choose), :, inside[inside.size - 1]]
    exclude(counts)
    return counts


@njit(cache=True, nogil=True)
def joint_counts(tests, met, rows, choose, counts):
    """(signs, class, test): records of every region of a set that meet one more test; ``met`` meet all of the set."""
    for mask in range(counts.shape[0] - 1):
        counts[mask] = rows[row_number(subset(tests, mask), choose)]
    counts[-1] = met
    exclude(counts)


@njit(cache=True, nogil=True)
def subset(tests, mask):
    inside = np.empty(tests.size, dtype=np.int64)
    n = 0
    for i in range(tests.size):
        if mask >> i & 1:
            inside[n] = tests[i]
            n += 1
    return inside[:n]


@njit(cache=True, nogil=True)
def leaf_weight(counts, decay):
    """Misses of the best label, and log of the mean over labels of the weights beside it."""
    total, best, weight = 0, 0, 0.0
    for c in range(counts.size):
        total += counts[c]
        best = max(best, counts[c])
    for c in range(counts.size):
        weight += decay[min(best - counts[c], decay.size - 1)]
    return total - best, np.log(weight / counts.size)


@njit(cache=True, nogil=True)
def add(misses_a, log_a, misses_b, log_b, epsilon):
    """The sum of two weights. The one with fewer misses may be the smaller one, if its prior is very small."""
    if misses_a > misses_b:
        misses_a, log_a, misses_b, log_b = misses_b, log_b, misses_a, log_a
    return misses_a, np.logaddexp(log_a, log_b - epsilon * (misses_b - misses_a))


@njit(cache=True, nogil=True)
def prior_left(tests, prior):
    """The prior of the tests that are not in a set. It is added up, since one minus the others would lose digits."""
    left, at = 0.0, 0
    for t in range(prior.size):
        if at < tests.size and tests[at] == t:
            at += 1
        else:
            left += prior[t]
    return left


@njit(cache=True, nogil=True)
def last_split(yes, here, decay, misses, weights):
    """Misses and weights, test by test, of the two leaves under a last test of one region.

    ``here[c]`` records of class c are in the region and ``yes[c, t]`` of them meet test t. Weights are relative to the
    best label of each leaf, and looked up: the exponential of a whole number of misses.
    """
    n_classes, n_tests = yes.shape
    lightest = yes.dtype.type(decay.size - 1)
    if n_classes == 2:  # the better of two labels weighs 1: less than half the work of the general case
        first, second = yes.dtype.type(here[0]), yes.dtype.type(here[1])
        yes_first, yes_second = yes[0], yes[1]
        apart_yes = np.empty(n_tests, dtype=yes.dtype)
        apart_no = np.empty(n_tests, dtype=yes.dtype)
        for t in range(n_tests):
            no_first, no_second = first - yes_first[t], second - yes_second[t]
            misses[t] = min(yes_first[t], yes_second[t]) + min(no_first, no_second)
            apart_yes[t] = min(abs(yes_first[t] - yes_second[t]), lightest)
            apart_no[t] = min(abs(no_first - no_second), lightest)
        for t in range(n_tests):  # unsigned, so that no index is checked for its sign
            weights[t] = (1.0 + decay[np.uint32(apart_yes[t])]) * (1.0 + decay[np.uint32(apart_no[t])]) / 4
        return
    best_yes = np.zeros(n_tests, dtype=yes.dtype)
    best_no = np.zeros(n_tests, dtype=yes.dtype)
    near_yes = np.zeros(n_tests)
    near_no = np.zeros(n_tests)
    for c in range(n_classes):
        count = yes.dtype.type(here[c])
        for t in range(n_tests):
            best_yes[t] = max(best_yes[t], yes[c, t])
            best_no[t] = max(best_no[t], count - yes[c, t])
    for c in range(n_classes):
        count = yes.dtype.type(here[c])
        for t in range(n_tests):
            near_yes[t] += decay[min(best_yes[t] - yes[c, t], lightest)]
            near_no[t] += decay[min(best_no[t] - count + yes[c, t], lightest)]
    total = yes.dtype.type(here.sum())
    for t in range(n_tests):
        misses[t] = total - best_yes[t] - best_no[t]
        weights[t] = near_yes[t] * near_no[t] / n_classes**2


@njit(cache=True, nogil=True)
def add_up(misses, weights, tests, forbidden, prior, decay):
    """Misses of the best test of a region, and the prior sum of the weights beside it.

    Tests on the region's path and forbidden tests are no candidates, so their entries are overwritten.
    """
    never = misses.dtype.type(np.iinfo(misses.dtype).max)  # more misses than there can be
    for t in tests:
        misses[t], weights[t] = never, 0.0
    for t in forbidden:
        misses[t], weights[t] = never, 0.0
    best, total, lightest = never, 0.0, misses.dtype.type(decay.size - 1)
    for t in range(misses.size):
        best = min(best, misses[t])
    for t in range(misses.size):
        total += prior[t] * weights[t] * decay[np.uint32(min(misses[t] - best, lightest))]
    return best, total


@njit(cache=True, nogil=True)
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
    epsilon,
    log_leaf_prior,
    log_split_prior,
    out,
    out_log,
):
    """Weights of every region with one split left, for sets that extend ``prefixes[start:stop]`` by a larger test.

    ``met[p]`` are the pair counts of prefix p; ``out[rank, signs]`` receives misses, ``out_log`` what goes with them.
    """
    n_tests, n_classes, size = rows.shape[2], class_counts.size, prefixes.shape[1] + 1
    forbidden = np.flatnonzero(prior == 0.0)
    for p in range(start, stop):
        prefix = prefixes[p]
        n_signs = 1 << prefix.size
        # All sets share the counts of the prefix's own regions: of all records, and of those that meet a test.
        regions = region_counts(prefix, rows, class_counts, choose)
        inside = np.empty((n_signs, n_classes, n_tests), dtype=rows.dtype)
        joint_counts(prefix, rows[row_number(prefix, choose)], rows, choose, inside)
        starts = np.array([first_row(subset(prefix, mask), choose) for mask in range(n_signs)])
        here = np.empty((2 * n_signs, n_classes), dtype=np.int64)
        yes = np.empty((2 * n_signs, n_classes, n_tests), dtype=rows.dtype)
        misses = np.empty(n_tests, dtype=rows.dtype)
        weights = np.empty(n_tests)
        tests = np.empty(size, dtype=np.int64)
        tests[:-1] = prefix
        for s in range(prefix[-1] + 1 if prefix.size else 0, n_tests):
            tests[-1] = s
            for mask in range(n_signs - 1):
                yes[n_signs + mask] = rows[starts[mask] + s]
            yes[-1] = met[p, s]
            exclude(yes[n_signs:])
            for mask in range(n_signs):
                for c in range(n_classes):
                    here[n_signs + mask, c] = yes[n_signs + mask, c, s]
                    here[mask, c] = regions[mask, c] - here[n_signs + mask, c]
                    whole, part, rest = inside[mask, c], yes[n_signs + mask, c], yes[mask, c]
                    for t in range(n_tests):
                        rest[t] = whole[t] - part[t]
            place, left = rank(tests, choose), prior_left(tests, prior)
            for signs in range(2 * n_signs):
                last_split(yes[signs], here[signs], decay, misses, weights)
                best, total = add_up(misses, weights, tests, forbidden, prior, decay)
                leaf, log_leaf = leaf_weight(here[signs], decay)
                out[place, signs], out_log[place, signs] = add(
                    leaf, log_leaf_prior + log_leaf, best, log_split_prior + np.log(total / left), epsilon
                )


@njit(cache=True, nogil=True)
def split_weights(tests, signs, deeper, deeper_log, choose, prior, misses, logs):
    """Misses and log weights of the tests of a region, from one level deeper; -inf for tests already on the path."""
    n_tests, size = choose.shape[0] - 1, tests.size
    misses[:], logs[:] = 0, -np.inf
    larger = np.empty(size + 1, dtype=np.int64)
    left = prior_left(tests, prior)
    for t in range(n_tests):
        at = 0
        while at < size and tests[at] < t:
            at += 1
        if prior[t] == 0.0 or (at < size and tests[at] == t):
            continue
        larger[:at] = tests[:at]
        larger[at] = t
        larger[at + 1 :] = tests[at:]
        place = rank(larger, choose)
        no = (signs & ((1 << at) - 1)) | (signs >> at) << (at + 1)
        yes = no | 1 << at
        misses[t] = deeper[place, no] + deeper[place, yes]
        logs[t] = np.log(prior[t] / left) + (deeper_log[place, no] + deeper_log[place, yes])


@njit(cache=True, nogil=True)
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
    misses = np.empty(choose.shape[0] - 1, dtype=np.int64)
    logs = np.empty(choose.shape[0] - 1)
    for i in range(start, stop):
        tests = sets[i]
        regions = region_counts(tests, rows, class_counts, choose)
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
