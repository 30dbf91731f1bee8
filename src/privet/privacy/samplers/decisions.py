"""The tests that a region of a binary space decides, and the prior of the open ones (compiled).

A region is a sorted set of tests and a sign for each, as in ``tree_weights.py``; ``met[t]`` is the child of test t that
a sign of 1 stands for. ``answers`` are the public :class:`privet.structure.open_tests.Answers`. Which side of a test
counts as met depends on the records. So both functions look at the child that a region lies in, never at the sign: what
is open, and in which order its prior is added up, is the same whichever side counts. Proof:
``docs/proofs/whole_tree.md``.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from privet.structure.compiled import kernel


@njit(cache=True, nogil=True, error_model="numpy")
def prior_unasked(tests, answers):
    """The prior of all tests of the attributes that a set does not ask."""
    unasked = 0.0
    for a in range(answers.unasked.size):
        asked = False
        for i in range(tests.size):
            asked |= answers.attribute[tests[i]] == a
        if not asked:
            unasked += answers.unasked[a]
    return unasked


@njit(cache=True, nogil=True, error_model="numpy")
def atoms_left(word, places, start, stop, tests, signs, met, answers):
    """The atoms in one word of an attribute that give all the answers at ``places[start:stop]`` of a region."""
    here = answers.every[answers.attribute[tests[places[start]]], word]
    for i in range(start, stop):
        t = tests[places[i]]
        second = answers.second[t, word]
        here &= second if met[t] == (signs >> places[i] & 1) else ~second
    return here


@njit(cache=True, nogil=True, error_model="numpy")
def by_attribute(tests, answers, places, ends):
    """How many attributes a set asks. ``places`` gets the places of their tests, ``ends`` where those of each end."""
    n, groups = 0, 0
    for i in range(tests.size):
        a, seen = answers.attribute[tests[i]], False
        for j in range(i):
            seen |= answers.attribute[tests[j]] == a
        for j in range(i, 0 if seen else tests.size):
            if answers.attribute[tests[j]] == a:
                places[n] = j
                n += 1
        if not seen:
            ends[groups] = n
            groups += 1
    return groups


@njit(cache=True, nogil=True, error_model="numpy")
def decide(tests, signs, met, answers, prior, places, ends, groups, closed):
    """Write the tests that a region decides to ``closed``: how many, and the prior of the open ones that it could.

    That is the prior of the attributes it asks; ``prior_unasked`` has the others. Both are sums, since one minus the
    prior of what is decided would lose digits. The number is -1 where answers contradict each other.
    """
    n, start, asked = 0, 0, 0.0
    for g in range(groups):
        stop = ends[g]
        t = tests[places[start]]
        if stop == start + 1:
            k = 2 * t + (met[t] if signs >> places[start] & 1 else 1 - met[t])
            for q in range(answers.closed_at[k], answers.closed_at[k + 1]):
                closed[n] = answers.closed[q]
                n += 1
            asked += answers.alone[k]
            start = stop
            continue
        a, nobody = answers.attribute[t], True
        first = atoms_left(0, places, start, stop, tests, signs, met, answers)
        for q in range(answers.first[a], answers.first[a + 1]):
            t = answers.tests_of[q]
            yes, no = first & answers.second[t, 0], first & ~answers.second[t, 0]
            for w in range(1, answers.every.shape[1]):
                here = atoms_left(w, places, start, stop, tests, signs, met, answers)
                yes |= here & answers.second[t, w]
                no |= here & ~answers.second[t, w]
            nobody &= yes == 0 and no == 0
            if yes and no:
                asked += prior[t]
            else:
                closed[n] = t
                n += 1
        if nobody:
            return -1, 0.0
        start = stop
    return n, asked


@kernel(error_model="numpy")
def open_prior(tests, signs, met, answers, prior, candidates):
    """The prior of the tests that a region leaves open, in ``candidates`` 0 for the others; and its sum."""
    places, ends = np.empty(tests.size, dtype=np.int64), np.empty(tests.size, dtype=np.int64)
    closed = np.empty(prior.size, dtype=np.int64)
    n, asked = decide(
        tests, signs, met, answers, prior, places, ends, by_attribute(tests, answers, places, ends), closed
    )
    for t in range(prior.size):
        candidates[t] = prior[t]
    for i in range(n):
        candidates[closed[i]] = 0.0
    return 0.0 if n < 0 else prior_unasked(tests, answers) + asked
