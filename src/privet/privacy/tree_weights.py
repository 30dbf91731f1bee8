"""Weights of all labelled trees over a region, summed exactly by recursion (compiled).

A region is a set of tests with a sign for each: bit i of ``signs`` says that its records meet the i-th test. Sets are
ranked in colexicographic order. ``rows[r, c, t]`` counts the records of class c that meet test t and all tests of the
set with row number r, times the public weight of the class. A weight is kept as exp(-epsilon misses + log): the misses
of the best tree are an integer and stay one, so nothing is lost however large the table. Every sum runs in a fixed
order on one thread, and the two children of a test are added or multiplied first, so a weight is a deterministic
function of its region's counts, whichever side of a test counts as met. Proof: ``docs/proofs/whole_tree.md``.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange


@njit(cache=True, nogil=True)
def rank(tests, choose):
    """The place of a sorted set among all sets of its size."""
    place = 0
    for i in range(tests.size):
        place += choose[tests[i], i + 1]
    return place


@njit(cache=True, nogil=True)
def row_number(tests, choose):
    """The row of a sorted set: singles first, then the sets in order of their size."""
    size, n_tests = tests.size, choose.shape[0] - 1
    if size == 0:
        return 0
    row = 1
    for i in range(size - 1):
        row += choose[n_tests, i] * n_tests
    return row + rank(tests[: size - 1], choose) * n_tests + tests[size - 1]


@njit(cache=True, nogil=True)
def region_counts(tests, rows, class_counts, choose):
    """(signs, class) counts of the 2**size regions of a set."""
    size, n_classes = tests.size, class_counts.size
    counts = np.empty((1 << size, n_classes), dtype=np.int64)
    counts[0] = class_counts
    for mask in range(1, 1 << size):
        inside = subset(tests, mask)
        counts[mask] = rows[row_number(inside[: inside.size - 1], choose), :, inside[inside.size - 1]]
    for i in range(size):  # inclusion and exclusion: from "meets at least" to "meets exactly"
        for mask in range(1 << size):
            if not mask >> i & 1:
                counts[mask] -= counts[mask | 1 << i]
    return counts


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
        if best - counts[c] < decay.size:
            weight += decay[best - counts[c]]
    return total - best, np.log(weight / counts.size)


@njit(cache=True, nogil=True)
def add(misses_a, log_a, misses_b, log_b, epsilon):
    """The sum of two weights. Fewer misses may well weigh less: a tree can be very unlikely beforehand."""
    if misses_a > misses_b:
        misses_a, log_a, misses_b, log_b = misses_b, log_b, misses_a, log_a
    return misses_a, np.logaddexp(log_a, log_b - epsilon * (misses_b - misses_a))


@njit(cache=True, nogil=True)
def prior_left(tests, prior):
    """The prior of the tests that are not in a set. Added up: one minus the others would cancel."""
    left, at = 0.0, 0
    for t in range(prior.size):
        if at < tests.size and tests[at] == t:
            at += 1
        else:
            left += prior[t]
    return left


@njit(cache=True, nogil=True)
def last_split(tests, met, rows, class_counts, choose, decay, yes, misses, weights):
    """Misses and weights (signs, test) of the two leaves under a last test, for all regions of a set.

    ``met[c, t]`` counts the records that meet all of the set and t. Exponentials of integer misses are looked up in
    ``decay``, relative to the best label of each leaf. ``yes`` is scratch space; tests of the set itself weigh nothing.
    """
    size, n_tests, n_classes = tests.size, met.shape[1], class_counts.size
    n_signs = 1 << size
    for mask in range(n_signs - 1):
        yes[mask] = rows[row_number(subset(tests, mask), choose)]
    yes[n_signs - 1] = met
    for i in range(size):
        for mask in range(n_signs):
            if not mask >> i & 1:
                yes[mask] -= yes[mask | 1 << i]
    regions = region_counts(tests, rows, class_counts, choose)
    best_yes = np.empty(n_tests, dtype=np.int32)
    best_no = np.empty(n_tests, dtype=np.int32)
    near_yes = np.empty(n_tests)
    near_no = np.empty(n_tests)
    for mask in range(n_signs):
        best_yes[:] = 0
        best_no[:] = 0
        near_yes[:] = 0.0
        near_no[:] = 0.0
        for c in range(n_classes):
            here = np.int32(regions[mask, c])
            for t in range(n_tests):
                best_yes[t] = max(best_yes[t], yes[mask, c, t])
                best_no[t] = max(best_no[t], here - yes[mask, c, t])
        for c in range(n_classes):
            here = np.int32(regions[mask, c])
            for t in range(n_tests):
                behind = best_yes[t] - yes[mask, c, t]
                if behind < decay.size:
                    near_yes[t] += decay[behind]
                behind = best_no[t] - here + yes[mask, c, t]
                if behind < decay.size:
                    near_no[t] += decay[behind]
        total = regions[mask].sum()
        for t in range(n_tests):
            misses[mask, t] = total - best_yes[t] - best_no[t]
            weights[mask, t] = near_yes[t] * near_no[t] / n_classes**2
        for i in range(size):
            misses[mask, tests[i]] = total
            weights[mask, tests[i]] = 0.0
    return regions


@njit(parallel=True, cache=True, nogil=True)
def last_level(
    prefixes, met, rows, class_counts, choose, decay, prior, epsilon, log_leaf_prior, log_split_prior, out, out_log
):
    """Weights of every region with one split left, for the sets that extend ``prefixes`` by a larger test.

    ``met[p]`` are the pair counts of prefix p; ``out[rank, signs]`` receives misses, ``out_log`` what goes with them.
    """
    n_tests, n_classes, size = rows.shape[2], class_counts.size, prefixes.shape[1] + 1
    for p in prange(prefixes.shape[0]):
        yes = np.empty((1 << size, n_classes, n_tests), dtype=np.int32)
        misses = np.empty((1 << size, n_tests), dtype=np.int64)
        weights = np.empty((1 << size, n_tests))
        tests = np.empty(size, dtype=np.int64)
        tests[: size - 1] = prefixes[p]
        for s in range(prefixes[p, -1] + 1 if size > 1 else 0, n_tests):
            tests[size - 1] = s
            regions = last_split(tests, met[p, s], rows, class_counts, choose, decay, yes, misses, weights)
            place, left = rank(tests, choose), prior_left(tests, prior)
            for mask in range(1 << size):
                best = np.int64(2**62)
                for t in range(n_tests):
                    if prior[t] > 0.0 and weights[mask, t] > 0.0:
                        best = min(best, misses[mask, t])
                total = 0.0
                for t in range(n_tests):
                    behind = misses[mask, t] - best
                    if 0 <= behind < decay.size:
                        total += prior[t] * weights[mask, t] * decay[behind]
                leaf, log_leaf = leaf_weight(regions[mask], decay)
                out[place, mask], out_log[place, mask] = add(
                    leaf, log_leaf_prior + log_leaf, best, log_split_prior + np.log(total / left), epsilon
                )


@njit(cache=True, nogil=True)
def split_weights(tests, signs, deeper, deeper_log, choose, prior):
    """Misses and log weights of the tests of a region, from one level deeper; -inf for tests already on the path."""
    n_tests, size = choose.shape[0] - 1, tests.size
    misses = np.zeros(n_tests, dtype=np.int64)
    logs = np.full(n_tests, -np.inf)
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
    return misses, logs


@njit(parallel=True, cache=True, nogil=True)
def upper_level(
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
    """Weights of every region of ``sets`` from those one level deeper."""
    for i in prange(sets.shape[0]):
        tests = sets[i]
        regions = region_counts(tests, rows, class_counts, choose)
        for signs in range(1 << tests.size):
            misses, logs = split_weights(tests, signs, deeper, deeper_log, choose, prior)
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
