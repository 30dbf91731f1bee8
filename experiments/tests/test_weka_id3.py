"""ID3 on counts of distinct records, against a slow and plain one on records."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from privet_experiments.papers.fs.weka_id3 import count_records, distinct_records, learn

ATTRIBUTES = 4
Record = tuple[int, ...]


def entropy(labels: list[int]) -> float:
    return -sum(n / len(labels) * math.log2(n / len(labels)) for n in Counter(labels).values())


def id3(rows: list[tuple[Record, int]], query: Record) -> int:
    """The class of one record, by growing only the path that it takes."""
    labels = [label for _, label in rows]
    gains = []
    for a in range(ATTRIBUTES):
        parts = [[label for record, label in rows if record[a] == value] for value in (0, 1)]
        gains.append(entropy(labels) - sum(len(part) / len(rows) * entropy(part) for part in parts if part))
    best = max(range(ATTRIBUTES), key=lambda a: round(gains[a], 9))
    if gains[best] <= 1e-6:
        return max((0, 1), key=lambda c: (labels.count(c), -c))
    return id3([row for row in rows if row[0][best] == query[best]], query)


@given(st.lists(st.tuples(st.tuples(*[st.integers(0, 1)] * ATTRIBUTES), st.integers(0, 1)), min_size=1, max_size=40))
def test_against_a_plain_id3(rows: list[tuple[Record, int]]) -> None:
    features = np.array([record for record, _ in rows], dtype=np.uint8).T
    labels = np.array([label for _, label in rows], dtype=np.uint8)
    counts = count_records(features, labels, 2)
    assert counts.sum() == len(rows)
    everything = distinct_records(ATTRIBUTES)
    says = learn(counts, ATTRIBUTES)
    for number, record in enumerate(everything.T.tolist()):
        expected = id3(rows, tuple(record))
        if says[number] != expected:
            # Gains that are equal on paper can differ in the last bit, and then either attribute is the first.
            assert tied(rows, tuple(record))


def tied(rows: list[tuple[Record, int]], query: Record) -> bool:
    """Whether two attributes tie for the best somewhere on the path of a record."""
    labels = [label for _, label in rows]
    gains = []
    for a in range(ATTRIBUTES):
        parts = [[label for record, label in rows if record[a] == value] for value in (0, 1)]
        gains.append(entropy(labels) - sum(len(part) / len(rows) * entropy(part) for part in parts if part))
    if max(gains) <= 1e-6:
        return False
    best = max(range(ATTRIBUTES), key=lambda a: round(gains[a], 9))
    if sum(abs(gain - max(gains)) < 1e-9 for gain in gains) > 1:
        return True
    return tied([row for row in rows if row[0][best] == query[best]], query)


def test_a_clean_split_is_found() -> None:
    everything = distinct_records(ATTRIBUTES)
    labels = everything[2]
    assert (learn(count_records(everything, labels, 2), ATTRIBUTES) == labels).all()


def test_no_record_no_opinion() -> None:
    assert (learn(np.zeros((2**ATTRIBUTES, 2), dtype=np.int64), ATTRIBUTES) == 0).all()
