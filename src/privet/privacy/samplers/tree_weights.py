"""Weights of all labelled trees over a region, summed exactly by recursion (compiled).

A region is a set of tests with a sign for each: bit i of ``signs`` says that its records meet the i-th test. Its counts
come from ``region_counts.py``, and which tests it leaves open from ``decisions.py``. A weight is kept as exp(-epsilon
misses + log). The misses of the best tree stay an integer, so nothing is lost however large the table.
Every sum runs in a fixed order on one thread, and the two children of a test are added or multiplied first. So a weight
depends on its region's counts alone, and not on which side of a test counts as met. Counts have 32 bits where all of
them fit, else 64. The integers are the same, and so is the table they are looked up in. Proof:
``docs/proofs/whole_tree.md``.

Loops are written out and arrays have one or two dimensions: numba compiles whole-array expressions for seconds.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from privet.privacy.samplers.decisions import by_attribute, decide, prior_unasked
from privet.privacy.samplers.region_counts import exclude, first_row, rank, region_counts, row_number
from privet.structure.compiled import kernel


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
def last_split(yes, here, closed, n_closed, also, n_also, never, prior, decay, scratch):
    """Misses of the best last test of a region, and the sum over tests of prior times the weight beside it.

    ``here[c]`` records of class c are in the region and ``yes[c * tests + t]`` of them meet test t. The weight of
    a test is that of its two leaves, relative to the best label of each, and looked up: the exponential of a whole
    number of misses. The tests that are not open, ``closed[:n_closed]`` and ``also[:n_also]``, miss ``never``, which is
    more than there can be and weighs 0.
    """
    n_classes, n_tests, lightest = here.size, prior.size, decay.size - 1
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
    for i in range(n_closed):
        misses[closed[i]] = never
    for i in range(n_also):
        misses[also[i]] = never
    best, total = never, 0.0
    for t in range(n_tests):
        best = min(best, misses[t])
    if n_classes == 2:
        for t in range(n_tests):  # unsigned, so that no index is checked for its sign
            weight = (1.0 + decay[np.uint32(first[t])]) * (1.0 + decay[np.uint32(second[t])]) / 4
            total += prior[t] * weight * decay[np.uint32(min(misses[t] - best, lightest))]
        return best, total
    for t in range(n_tests):
        near_yes, near_no = 0.0, 0.0
        for c in range(n_classes):
            count = yes[c * n_tests + t]
            near_yes += decay[min(first[t] - count, lightest)]
            near_no += decay[min(second[t] - here[c] + count, lightest)]
        weight = near_yes * near_no / n_classes**2
        total += prior[t] * weight * decay[np.uint32(min(misses[t] - best, lightest))]
    return best, total


@kernel(error_model="numpy")
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
    met_child,
    answers,
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
    empty = np.logaddexp(log_leaf_prior, log_split_prior)  # a region without records: all trees weigh their prior
    # What the regions of a prefix decide, and the prior of what they leave of the attributes they ask.
    closed, n_closed = np.empty((n_signs, forbidden.size + n_tests), np.int64), np.empty(n_signs, np.int64)
    also, asked = np.empty(n_tests, np.int64), np.empty(n_signs)
    starts = np.empty(n_signs, dtype=np.int64)
    tests, places, ends = np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size, np.int64)
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
        groups, last_attribute, unasked = by_attribute(prefix, answers, places, ends), -1, 0.0
        for mask in range(n_signs):
            for i in range(forbidden.size):
                closed[mask, i] = forbidden[i]
            n_closed[mask], asked[mask] = decide(
                prefix, mask, met_child, answers, prior, places, ends, groups, closed[mask, forbidden.size :]
            )
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
            place, attribute, again = rank(tests, choose), answers.attribute[s], False
            if attribute != last_attribute:
                last_attribute, unasked = attribute, prior_unasked(tests, answers)
            for i in range(size - 1):
                again |= answers.attribute[prefix[i]] == attribute
            if again:
                groups = by_attribute(tests, answers, places, ends)
            for signs in range(2 * n_signs):
                meets, records = signs >= n_signs, 0
                mask = signs - n_signs if meets else signs
                for c in range(n_classes):
                    count = part[mask, c * n_tests + s]
                    here[c] = count if meets else regions[mask, c] - count
                    records += here[c]
                if records == 0:  # also where the answers contradict each other
                    out[place, signs], out_log[place, signs] = 0, empty
                    continue
                leaf, log_leaf = leaf_weight(here, decay)
                if again:
                    n_also, left = decide(tests, signs, met_child, answers, prior, places, ends, groups, also)
                else:
                    k, n_also = 2 * s + (met_child[s] if meets else 1 - met_child[s]), 0
                    for q in range(answers.closed_at[k], answers.closed_at[k + 1]):
                        also[n_also] = answers.closed[q]
                        n_also += 1
                    left = asked[mask] + answers.alone[k]
                left += unasked
                if left == 0.0:  # a leaf for sure
                    out[place, signs], out_log[place, signs] = leaf, log_leaf
                    continue
                yes, n_first = part[mask] if meets else rest[mask], forbidden.size + n_closed[mask]
                best, total = last_split(yes, here, closed[mask], n_first, also, n_also, never, prior, decay, scratch)
                out[place, signs], out_log[place, signs] = add(
                    leaf, log_leaf_prior + log_leaf, np.int64(best), log_split_prior + np.log(total / left), epsilon
                )


@kernel(error_model="numpy")
def split_weights(tests, signs, deeper, deeper_log, choose, candidates, left, misses, logs):
    """Misses and log weights of the tests of a region, from one level deeper; -inf for tests that are not open."""
    at = 0  # tests on the path that are smaller than t
    for t in range(candidates.size):
        misses[t], logs[t] = 0, -np.inf
        if at < tests.size and tests[at] == t:
            at += 1
            continue
        if candidates[t] == 0.0:
            continue
        place = choose[t, at + 1]
        for i in range(tests.size):
            place += choose[tests[i], i + 1 if i < at else i + 2]
        no = (signs & ((1 << at) - 1)) | (signs >> at) << (at + 1)
        yes = no | 1 << at
        misses[t] = deeper[place, no] + deeper[place, yes]
        logs[t] = np.log(candidates[t] / left) + (deeper_log[place, no] + deeper_log[place, yes])


@kernel(error_model="numpy")
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
    met_child,
    answers,
    epsilon,
    log_leaf_prior,
    log_split_prior,
    out,
    out_log,
):
    """Weights of every region of ``sets[start:stop]`` from those one level deeper."""
    misses = np.empty(prior.size, dtype=np.int64)
    logs, candidates = np.empty(prior.size), prior.copy()
    closed = np.empty(prior.size, dtype=np.int64)
    places, ends = np.empty(sets.shape[1], np.int64), np.empty(sets.shape[1], np.int64)
    regions = np.empty((1 << sets.shape[1], class_counts.size), dtype=rows.dtype)
    for i in range(start, stop):
        tests = sets[i]
        region_counts(tests, rows, class_counts, choose, regions)
        groups, unasked = by_attribute(tests, answers, places, ends), prior_unasked(tests, answers)
        for signs in range(1 << tests.size):
            leaf, log_leaf = leaf_weight(regions[signs], decay)
            n_closed, left = decide(tests, signs, met_child, answers, prior, places, ends, groups, closed)
            left += unasked
            if left == 0.0 or n_closed < 0:  # a leaf for sure, or no record can ever be here
                out[i, signs], out_log[i, signs] = leaf, log_leaf
                continue
            for j in range(n_closed):
                candidates[closed[j]] = 0.0
            split_weights(tests, signs, deeper, deeper_log, choose, candidates, left, misses, logs)
            for j in range(n_closed):
                candidates[closed[j]] = prior[closed[j]]
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
            out[i, signs], out_log[i, signs] = add(
                leaf, log_leaf_prior + log_leaf, best, log_split_prior + (top + np.log(total)), epsilon
            )
