"""Joint counts of tests from counts over tuples of attributes: one pass of any engine, sums over its chunks.

A test is met on its first child: codes up to a cut, or one category. Two tests of one attribute are then met together
where one of them is met (the lower cut), or nowhere (two categories). So every set of tests needs at most one test per
attribute, and its count is in a table over these attributes. An attribute has a slot for each of its tests, and slot 0
for no test. The table of a tuple of attributes is made from the counts of their codes, along one attribute after
another. There is one for every set of at most ``depth`` attributes.

The cost is that of all tuples of ``depth`` attributes, whatever the number of tests on each. The cost of bitsets
(``joint_counts.py``) grows with the number of tests: they are better with many attributes or few records.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from privet.errors import ParameterError, Setting
from privet.privacy.counting import Engine, Ints, Partition, Tally
from privet.privacy.samplers.tree_space import regions
from privet.schema import Schema
from privet.structure.compiled import GRAIN, kernel, spread
from privet.structure.splits import Kind, Tests, child

Array = npt.NDArray[Any]

NARROW = 2**31 - 1  # records that 32 bits can count
MAX_COUNTS = 2**27  # of all tables together: half a gigabyte while 32 bits can count the records
MAX_TALLIED = 2**28  # counts that all tables are made from: four passes
# Nanoseconds: per record in a tuple, per count of a table; per record that meets a prefix, in a test.
TUPLE_TIME, COUNT_TIME, BIT_TIME = 1.7, 14.0, 0.5
PASS_COUNTS = 2**26  # asked for in one pass, as 64 bits: half a gigabyte; more tables take more passes


def table_counts(schema: Schema, tests: Tests, depth: int) -> int:
    """The number of counts in the tables, from public facts alone."""
    widths = _Layout(schema, tests, depth)
    return schema.n_classes * sum(regions(widths.widths.tolist(), widths.size))


def tally_counts(schema: Schema, tests: Tests, depth: int) -> int:
    """The number of code counts that the tables are made from: an attribute can have far more codes than tests."""
    shape = _Layout(schema, tests, depth)
    return schema.n_classes * regions(shape.arities.tolist(), shape.size)[-1]


def check_joint_tables(schema: Schema, tests: Tests, depth: int) -> None:
    """Refuse tables that are too large, from public facts alone, before anything is charged."""
    counts, tallied = table_counts(schema, tests, depth), tally_counts(schema, tests, depth)
    if counts > MAX_COUNTS or tallied > MAX_TALLIED:
        raise ParameterError(
            f"{depth} levels of tests at once need {counts:,} joint counts from {tallied:,} counts of values, and this "
            f"engine holds {MAX_COUNTS:,} and {MAX_TALLIED:,}",
            parameter="max_depth",
            fix=("lower ", Setting("max_depth"), " or ", Setting("max_bins"), ", or fit records in memory"),
        )


def tables_pay(schema: Schema, tests: Tests, depth: int, records: int) -> bool:
    """Whether tables are faster than bitsets for this many records. Both give the same counts."""
    counts, tallied = table_counts(schema, tests, depth), tally_counts(schema, tests, depth)
    if depth < 2 or counts > MAX_COUNTS or tallied > MAX_TALLIED:
        return False
    shape = _Layout(schema, tests, depth)
    tables = records * math.comb(shape.attributes.size, shape.size) * TUPLE_TIME + (counts + tallied) * COUNT_TIME / 2
    kept = records / 4 ** (depth - 2)  # the smaller side of a test has, say, a quarter of the records
    return tables < math.comb(len(tests), depth - 2) * len(tests) * kept * BIT_TIME


class _Layout:
    """The attributes that have tests, and the slots of each. Public."""

    def __init__(self, schema: Schema, tests: Tests, depth: int) -> None:
        self.attributes, of_test, many = np.unique(tests.attribute, return_inverse=True, return_counts=True)
        self.attribute = of_test.astype(np.int64)  # of every test, numbered among those that have any
        self.arities = np.asarray(schema.arities, dtype=np.int64)[self.attributes]
        self.widths = many.astype(np.int64) + 1
        self.size = min(max(depth, 1), self.attributes.size)
        self.order = np.argsort(self.attribute, kind="stable")  # tests by attribute
        self.first = np.concatenate([[0], np.cumsum(many)]).astype(np.int64)
        self.slot = np.empty(len(tests), dtype=np.int64)
        self.slot[self.order] = np.arange(len(tests)) - self.first[self.attribute[self.order]] + 1

    def sets(self, size: int) -> Ints:
        """All sets of this many attributes, in lexicographic order: neighbours share all but the last."""
        found = list(combinations(range(self.attributes.size), size))
        return np.array(found, dtype=np.int64).reshape(len(found), size)


class JointTables:
    """Counts of intersections of binary tests in one cell; see :class:`privet.privacy.counting.Joint`."""

    def __init__(
        self, engine: Engine, cells: Partition, tests: Tests, depth: int, *, pass_counts: int = PASS_COUNTS
    ) -> None:
        check_joint_tables(engine.schema, tests, depth)
        self._shape = shape = _Layout(engine.schema, tests, depth)
        self._n_classes = engine.schema.n_classes
        self._together = _met_together(tests, engine.schema)
        # Sets of attributes are ranked in colexicographic order, sizes one after another.
        most = shape.attributes.size
        self._choose = np.array([[math.comb(n, k) for k in range(shape.size + 2)] for n in range(most + 1)])
        self._first_rank = np.concatenate([[0], np.cumsum(self._choose[most, : shape.size + 1])]).astype(np.int64)
        sets = [shape.sets(size) for size in range(shape.size + 1)]
        self._starts = np.zeros(self._first_rank[-1] + 1, dtype=np.int64)
        for of_size in sets:
            self._starts[self._rank(of_size)] = self._n_classes * np.prod(shape.widths[of_size], axis=1)
        self._starts = np.concatenate([[0], np.cumsum(self._starts[:-1])]).astype(np.int64)
        self._tables = self._count(engine, cells, tests, sets[-1], pass_counts)
        for of_size in reversed(sets[:-1]):
            self._leave_out(of_size)
        self.met = np.zeros(len(tests), dtype=np.int64)
        self.class_counts = self._tables[: self._n_classes].astype(np.int64)
        self.singles = np.zeros((self._n_classes, len(tests)), dtype=np.int64)
        for a in range(most):
            table = self._table(np.array([a]))
            self.singles[:, shape.order[shape.first[a] : shape.first[a + 1]]] = table[1:].T

    def pairs(self, prefixes: Ints) -> Array:
        n_tests = len(self.met)
        counts = np.empty((len(prefixes), n_tests, self._n_classes, n_tests), dtype=self._tables.dtype)
        few = 1 + GRAIN // (n_tests * n_tests * self._n_classes + 1)
        shape = self._shape
        facts = shape.attribute, shape.slot, shape.order, shape.first, shape.widths, self._together
        ranks = self._choose, self._first_rank, self._starts
        spread(_read, len(prefixes), prefixes, *facts, *ranks, self._tables, counts, least=few)
        return counts

    def _rank(self, sets: Ints) -> Ints:
        places = np.arange(sets.shape[1])
        return np.asarray(self._first_rank[sets.shape[1]] + self._choose[sets, places + 1].sum(axis=1))

    def _table(self, attributes: Ints) -> Array:
        """(slot, slot, ..., class) counts."""
        start = self._starts[self._rank(attributes[None])[0]]
        shape = (*self._shape.widths[attributes].tolist(), self._n_classes)
        return self._tables[start : start + math.prod(shape)].reshape(shape)

    def _leave_out(self, sets: Ints) -> None:
        """The tables of smaller sets: slot 0 of one more attribute."""
        for attributes in sets:
            more = next(a for a in range(self._shape.attributes.size) if a not in attributes)
            at = int(np.searchsorted(attributes, more))
            self._table(attributes)[...] = np.take(self._table(np.insert(attributes, at, more)), 0, axis=at)

    def _count(self, engine: Engine, cells: Partition, tests: Tests, sets: Ints, pass_counts: int) -> Array:
        """The tables of the largest sets, from the counts of their codes."""
        shape = self._shape
        # The tests whose cut is code b of an attribute are cuts[at[b]:at[b + 1]].
        bins = np.concatenate([[0], np.cumsum(shape.arities)]).astype(np.int64)
        place = bins[shape.attribute] + tests.cut
        by_code = np.argsort(place, kind="stable")
        at = np.searchsorted(place[by_code], np.arange(bins[-1] + 1))
        facts = shape.arities, shape.widths, bins, at, shape.slot[by_code], tests.kind[by_code] == Kind.THRESHOLD
        tables = np.empty(0)
        for some in self._passes(sets, pass_counts):
            tally = Tally(cells, tuple(map(tuple, shape.attributes[some].tolist())))
            counted, offsets = engine.answer([tally])[0].reshape(-1), tally.offsets(engine.schema)
            if not tables.size:
                records = int(counted[: offsets[1] * self._n_classes].sum())
                tables = np.empty(self._starts[-1], dtype=np.int32 if records <= NARROW else np.int64)
            starts = self._starts[self._rank(some)]
            widest = int(np.prod(np.maximum(shape.arities, shape.widths)[some], axis=1).max()) * self._n_classes
            few = 1 + GRAIN // widest
            spread(
                _to_slots, len(some), some, counted, offsets, *facts, self._n_classes, widest, tables, starts, least=few
            )
        return tables

    def _passes(self, sets: Ints, pass_counts: int) -> Iterator[Ints]:
        sizes = np.cumsum(np.prod(self._shape.arities[sets], axis=1) * self._n_classes)
        start = 0
        while start < len(sets):
            before = sizes[start - 1] if start else 0
            stop = max(int(np.searchsorted(sizes, before + pass_counts, side="right")), start + 1)
            yield sets[start:stop]
            start = stop


def _met_together(tests: Tests, schema: Schema) -> Ints:
    """(test, test): the test of one attribute that is met where both are; -1 where they exclude each other."""
    together = np.full((len(tests), len(tests)), -1, dtype=np.int64)
    for a in np.unique(tests.attribute):
        mine = tests.of_attribute(int(a))
        codes = np.arange(schema.arities[a])
        met = np.array([child(codes, int(tests.kind[t]), int(tests.cut[t])) == 0 for t in mine])
        for i, s in enumerate(mine):
            inside = ~(met[i] & ~met).any(axis=1)  # the tests that are met wherever s is
            within = ~(met & ~met[i]).any(axis=1)
            together[s, mine] = np.where(inside, s, np.where(within, mine, -1))
    return together


@kernel
def _to_slots(
    start, stop, sets, counted, offsets, arities, widths, bins, at, slots, threshold, n_classes, widest, tables, starts
):
    """From counts of codes to counts of tests met, along one attribute after another."""
    here, there = np.empty(widest, dtype=np.int64), np.empty(widest, dtype=np.int64)
    for s in range(start, stop):
        size = sets.shape[1]
        total = n_classes
        for i in range(size):
            total *= arities[sets[s, i]]
        for i in range(total):
            here[i] = counted[offsets[s] * n_classes + i]
        outer, inner = 1, total
        for i in range(size):
            a = sets[s, i]
            arity, width = arities[a], widths[a]
            inner //= arity
            for o in range(outer):
                new = o * width * inner
                every = there[new : new + inner]  # slot 0 holds all codes up to the present one
                for j in range(inner):
                    every[j] = 0
                for code in range(arity):
                    old = (o * arity + code) * inner
                    counts = here[old : old + inner]
                    for j in range(inner):
                        every[j] += counts[j]
                    for t in range(at[bins[a] + code], at[bins[a] + code + 1]):
                        slot = there[new + slots[t] * inner : new + (slots[t] + 1) * inner]
                        source = every if threshold[t] else counts
                        for j in range(inner):
                            slot[j] = source[j]
            outer *= width
            here, there = there, here
        for i in range(outer * n_classes):
            tables[starts[s] + i] = here[i]


@kernel
def _read(
    start,
    stop,
    prefixes,
    attribute,
    slot,
    order,
    first,
    widths,
    together,
    choose,
    first_rank,
    starts,
    tables,
    counts,
):
    """The rows of all tests beyond the last of a prefix."""
    n_tests, n_classes, size = counts.shape[1], counts.shape[2], prefixes.shape[1]
    asked = np.empty(size + 1, dtype=np.int64)  # attributes, in order
    test = np.empty(size + 1, dtype=np.int64)  # the one that is met where all of an attribute's are
    below = np.empty(size + 2, dtype=np.int64)  # entries of a table below one slot of the attribute before
    offset = np.empty(size + 2, dtype=np.int64)  # of the slots from an attribute on
    rank = np.empty(size + 2, dtype=np.int64)  # of the attributes from one on, if another comes before them
    for p in range(start, stop):
        for s in range(prefixes[p, size - 1] + 1 if size else 0, n_tests):
            n, nobody = 0, False
            for q in range(size + 1):
                t = prefixes[p, q] if q < size else s
                a, i = attribute[t], n
                while i > 0 and asked[i - 1] >= a:
                    i -= 1
                if i < n and asked[i] == a:
                    test[i] = together[test[i], t]
                    if test[i] < 0:
                        nobody = True
                        break
                    continue
                for j in range(n, i, -1):
                    asked[j], test[j] = asked[j - 1], test[j - 1]
                asked[i], test[i] = a, t
                n += 1
            if nobody:
                for c in range(n_classes):
                    for t in range(n_tests):
                        counts[p, s, c, t] = 0
                continue
            below[n], offset[n], rank[n] = n_classes, 0, 0
            for i in range(n - 1, -1, -1):
                below[i] = below[i + 1] * widths[asked[i]]
                offset[i] = offset[i + 1] + slot[test[i]] * below[i + 1]
                rank[i] = rank[i + 1] + choose[asked[i], i + 2]
            i, before = 0, 0  # attributes smaller than a, and their rank
            for a in range(widths.size):
                if i < n and asked[i] == a:
                    own = before + choose[a, i + 1]
                    after = 0
                    for j in range(i + 1, n):
                        after += choose[asked[j], j + 1]
                    step = below[i + 1]
                    base = starts[first_rank[n] + own + after] + offset[0] - slot[test[i]] * step
                    for k in range(first[a], first[a + 1]):
                        t = order[k]
                        both = together[test[i], t]
                        for c in range(n_classes):
                            counts[p, s, c, t] = tables[base + slot[both] * step + c] if both >= 0 else 0
                    i, before = i + 1, own
                    continue
                step = below[i]
                place = first_rank[n + 1] + before + choose[a, i + 1] + rank[i]
                base = starts[place] + (offset[0] - offset[i]) * widths[a] + offset[i]
                for c in range(n_classes):
                    at = base + c
                    for k in range(first[a], first[a + 1]):  # in order of slots, from 1
                        at += step
                        counts[p, s, c, order[k]] = tables[at]
