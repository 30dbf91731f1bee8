"""Tests that a path leaves open: every child can still be reached. Public logic, without records.

A path leaves a set of codes of an attribute possible: those that give the answers on the path. A test is open where
each of its children has one of these codes. That is exact for cuts (narrower and wider ones are closed), for categories
(others are closed, and also the last one that is left) and for both on one attribute.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from privet.schema import Schema
from privet.structure.splits import Kind, Tests, child

Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]

WORD = 64  # atoms in a word of a bitset


def open_tests(schema: Schema, possible: Bools, tests: Tests) -> Bools:
    """(cell, test): whether every child of the test can be reached; ``possible`` has the (cell, bin)s that can be.

    >>> from privet.schema import Categorical, Numeric
    >>> schema = Schema(
    ...     (Numeric("age", 0, 4, bins=4), Categorical("town", ("a", "b", "c"))), Categorical("ill", (0, 1))
    ... )
    >>> open_tests(schema, np.array([[1, 1, 0, 0, 0, 1, 1]], dtype=bool), Tests.binary(schema)).astype(int).tolist()
    [[1, 0, 0, 0, 1, 1]]
    """
    first, last = schema.offsets[tests.attribute], schema.offsets[tests.attribute + 1]
    # Possible bins before each bin, over all attributes in a row. The difference of two is the number between them.
    before = np.zeros((len(possible), schema.total_bins + 1), dtype=np.int64)
    np.cumsum(possible, axis=1, out=before[:, 1:])
    total = before[:, last] - before[:, first]
    up_to = before[:, first + tests.cut + 1] - before[:, first]
    one = possible[:, first + tests.cut] & (total > 1)
    kinds = [tests.kind == Kind.THRESHOLD, tests.kind == Kind.ONE_CATEGORY]
    return np.asarray(np.select(kinds, [(up_to > 0) & (up_to < total), one], default=total == last - first))


class Answers(NamedTuple):
    """What answers of binary tests decide, for compiled code. Read-only, from public facts alone.

    Codes of an attribute that answer all of its tests alike are one atom, a bit of a few words. Answer 2 t + c is child
    c of test t. ``tests_of[first[a] : first[a + 1]]`` are the tests of an attribute (numbered among those that have
    tests), ``closed[closed_at[k] : closed_at[k + 1]]`` those that answer k decides if it is the only one on the
    attribute, and ``alone[k]`` is the prior of the others. ``unasked[a]`` is that of an attribute without an answer.
    """

    attribute: Ints  # of each test
    tests_of: Ints
    first: Ints
    second: Words  # (test, word): the atoms that go to the second child
    every: Words  # (attribute, word)
    closed_at: Ints
    closed: Ints
    alone: Floats
    unasked: Floats

    @classmethod
    def of(cls, schema: Schema, tests: Tests, possible: Bools, prior: Floats) -> Answers:
        """For these ``possible`` bins, which leave every test open."""
        numbers, attribute = np.unique(tests.attribute, return_inverse=True)
        tests_of = np.argsort(attribute, kind="stable")
        first = np.searchsorted(attribute[tests_of], np.arange(len(numbers) + 1))
        sides = [_sides(tests, tests.of_attribute(a), possible[schema.offsets[a] : schema.offsets[a + 1]])
                 for a in numbers]  # fmt: skip
        words = max((-(-side.shape[1] // WORD) for side in sides), default=1)
        second, every = np.zeros((len(tests), words), np.uint64), np.zeros((len(numbers), words), np.uint64)
        decided, alone = list[npt.NDArray[np.intp]](), np.zeros(2 * len(tests))
        for a, side in enumerate(sides):
            mine = tests_of[first[a] : first[a + 1]]
            second[mine], every[a] = _packed(side, words), _packed(np.ones_like(side[:1]), words)[0]
            for c, here in enumerate((~side, side)):
                # How many atoms of an answer go to the second child of each test of the attribute. Doubles are exact
                # for counts, and their products are far faster than those of integers.
                many = here.astype(float) @ side.T.astype(float)
                stays = (many > 0) & (many < here.sum(axis=1)[:, None])
                alone[2 * mine + c] = np.where(stays, prior[mine], 0.0).sum(axis=1)
                answer, test = np.nonzero(~stays)
                decided.append(np.array([2 * mine[answer] + c, mine[test]]))
        answer, closed = np.concatenate([np.empty((2, 0), dtype=np.intp), *decided], axis=1)
        order = np.argsort(answer, kind="stable")
        closed_at = np.searchsorted(answer[order], np.arange(2 * len(tests) + 1))
        unasked = [prior[tests_of[first[a] : first[a + 1]]].sum() for a in range(len(numbers))]
        columns = attribute, tests_of, first, second, every, closed_at, closed[order]
        ints = (column if column.dtype == np.uint64 else column.astype(np.int64) for column in columns)
        return cls(*map(_read_only, (*ints, alone, np.array(unasked))))


def _sides(tests: Tests, mine: npt.NDArray[np.intp], possible: Bools) -> Bools:
    """(test, atom): whether the codes of an atom go to the second child."""
    codes = np.flatnonzero(possible)
    side = np.array([child(codes, int(tests.kind[t]), int(tests.cut[t])) for t in mine], dtype=bool)
    return np.unique(side.reshape(len(mine), codes.size), axis=1)


def _packed(bits: Bools, words: int) -> Words:
    wide = np.zeros((len(bits), words * WORD), dtype=np.uint64)
    wide[:, : bits.shape[1]] = bits
    powers = np.uint64(1) << np.arange(WORD, dtype=np.uint64)
    return np.asarray((wide.reshape(len(bits), words, WORD) * powers).sum(axis=2, dtype=np.uint64))


def _read_only(column: npt.NDArray[Any]) -> npt.NDArray[Any]:
    column.setflags(write=False)
    return column
