"""Match many rules against many records: conditions are bitsets over the records, in words of 64.

A condition of a simplified rule is one of few elementary tests, or its complement. Each test becomes a bitset once, and
a rule is the AND of some: a thousand rules on a million records are a hundred million words.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from privet.models.rules import Condition, Rule
from privet.schema import Schema
from privet.structure.splits import Multiway, Test
from privet.tables.encoding import Codes

Words = npt.NDArray[np.uint64]
Ints = npt.NDArray[np.int64]

BLOCK = 2**18  # records packed together: some 10 MB for a few hundred tests


@dataclass(frozen=True, eq=False)
class Matches:
    """Counts of matching records; ``counts`` is (rule, class).

    ``first`` counts a record only for the first rule that it matches, as in a decision list.
    """

    counts: Ints
    first: Ints
    records: int


@dataclass(frozen=True, eq=False)
class Matched:
    """The records of a table that match one rule: the argument of a user-defined measure.

    ``total`` is the number of records in the whole table, ``class_counts`` the matching ones by label.
    """

    rule: Rule
    codes: Codes
    class_counts: Ints
    total: int

    @property
    def support(self) -> int:
        return int(self.class_counts.sum())

    @cached_property
    def which(self) -> npt.NDArray[np.bool_]:
        """(record,) whether it matches."""
        return self.rule.matches(self.codes.features)

    @cached_property
    def features(self) -> npt.NDArray[Any]:
        """(attribute, record) codes of the matching records."""
        return np.asarray(self.codes.features[:, self.which])

    @cached_property
    def labels(self) -> npt.NDArray[Any]:
        """(record,) label codes of the matching records."""
        assert self.codes.labels is not None
        return np.asarray(self.codes.labels[self.which])


def count_matches(schema: Schema, rules: Sequence[Rule], codes: Codes) -> Matches:
    """Count the records of each class that match each rule. NOT PRIVATE: exact counts."""
    assert codes.labels is not None
    simple = [rule.simplified(schema).conditions for rule in rules]
    tests = list(dict.fromkeys(_plain(c)[0] for conditions in simple for c in conditions))
    place = {test: number for number, test in enumerate(tests)}
    plans = [[(place[test], flip) for test, flip in map(_plain, conditions)] for conditions in simple]
    counts = np.zeros((2, len(rules), schema.n_classes), dtype=np.int64)
    records = codes.labels.size
    for start in range(0, records, BLOCK):
        features, labels = codes.features[:, start : start + BLOCK], codes.labels[start : start + BLOCK]
        bits = np.array([_pack(test.branch(features[test.attribute]) == child) for test, child in tests], np.uint64)
        classes = np.array([_pack(labels == code) for code in range(schema.n_classes)])
        everyone = np.bitwise_or.reduce(classes, axis=0)
        free = everyone.copy()
        for number, met in enumerate(_met(plans, bits, everyone)):
            counts[0, number] += np.bitwise_count(met & classes).sum(axis=1, dtype=np.int64)
            counts[1, number] += np.bitwise_count(met & free & classes).sum(axis=1, dtype=np.int64)
            free &= ~met
    return Matches(counts[0], counts[1], int(records))


def _met(plans: list[list[tuple[int, bool]]], bits: Words, everyone: Words) -> Iterator[Words]:
    for plan in plans:
        met = everyone.copy()
        for number, flip in plan:
            met &= ~bits[number] if flip else bits[number]
        yield met


def _plain(condition: Condition) -> tuple[tuple[Test, int], bool]:
    """A test with its expected child, and whether the complement must hold."""
    opposite = condition.child == 1 and not isinstance(condition.test, Multiway)
    return (condition.test, 0 if opposite else condition.child), opposite


def _pack(met: npt.NDArray[np.bool_]) -> Words:
    padded = np.zeros(-(-met.size // 64) * 8, dtype=np.uint8)
    packed = np.packbits(met)
    padded[: packed.size] = packed
    return padded.view(np.uint64)
