"""Joint counts of tests against counting by hand in numpy."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privet import Categorical, Numeric, Schema
from privet.engines.joint_counts import JointCounts
from privet.engines.memory import MemoryEngine
from privet.privacy.counting import ROOT, Joint, only, refine
from privet.structure import compiled
from privet.structure.splits import OneCategory, Tests, Threshold
from privet.tables.encoding import Codes, encode
from privet.testing import schemas, tables


def children(features: np.ndarray, tests: Tests) -> np.ndarray:
    """(test, record): the child of every record."""
    return np.array([test.branch(features[test.attribute]) for test in tests]).reshape(len(tests), features.shape[1])


def check(features: np.ndarray, labels: np.ndarray, cells: np.ndarray, tests: Tests, n_classes: int) -> JointCounts:
    """Everything that bitsets say."""
    joint = JointCounts(features, labels, cells, tests, n_classes)
    # The first child counts as met unless more than half of the records are in it.
    first = ((children(features, tests) == 0) & (cells == 0)).sum(axis=1)
    assert joint.met.tolist() == (2 * first > (cells == 0).sum()).astype(int).tolist()
    check_counts(joint, features, labels, cells, tests, n_classes)
    return joint


def check_counts(
    joint: Joint, features: np.ndarray, labels: np.ndarray, cells: np.ndarray, tests: Tests, n_classes: int
) -> None:
    """Every set of tests that a joint count may be asked for, whatever child counts as met."""
    n_tests, inside = len(tests), cells == 0
    child, of_class = children(features, tests), labels[None] == np.arange(n_classes)[:, None]
    assert joint.class_counts.tolist() == (of_class & inside).sum(axis=1).tolist()
    met = (child == joint.met[:, None]) & inside
    assert joint.singles.tolist() == [[int((met[t] & c).sum()) for t in range(n_tests)] for c in of_class]
    for size in range(3):
        sets = list(combinations(range(n_tests), size))
        if not sets:
            continue
        prefixes = np.array(sets, dtype=np.int64).reshape(len(sets), size)
        pairs = joint.pairs(prefixes)
        assert pairs.shape == (len(prefixes), n_tests, n_classes, n_tests)
        for p, prefix in enumerate(prefixes.tolist()):
            there = met[prefix].all(axis=0) & inside
            last = max(prefix, default=-1)
            for s in range(last + 1, n_tests):  # a set is asked for with its largest tests outside the prefix
                for t in range(n_tests):
                    expected = (met[s] & met[t] & there & of_class).sum(axis=1)
                    assert pairs[p, s, :, t].tolist() == expected.tolist(), (prefix, s, t)


@given(st.data())
@settings(max_examples=60)
def test_against_counting_by_hand(data: st.DataObject) -> None:
    schema = data.draw(schemas())
    codes = encode(schema, data.draw(tables(schema, 20)))
    assert codes.labels is not None
    n = codes.labels.size
    cells = np.array(data.draw(st.lists(st.sampled_from([0, 0, 0, -1, 1]), min_size=n, max_size=n)), dtype=np.int32)
    check(codes.features, codes.labels, cells, Tests.binary(schema), schema.n_classes)


def wide(n_attributes: int, n_classes: int, arity: int = 2) -> Schema:
    values = tuple(range(arity))
    return Schema(
        tuple(Categorical(f"x{a}", values) for a in range(n_attributes)), Categorical("class", tuple(range(n_classes)))
    )


@pytest.mark.parametrize("n_classes", [2, 3, 7, 40])
@pytest.mark.parametrize("n", [0, 1, 63, 64, 65, 127, 128, 129, 1000])
def test_words_and_their_padding(n: int, n_classes: int) -> None:
    """Every class begins a new word; what pads the last one must not be counted."""
    rng = np.random.default_rng(n)
    schema = wide(4, n_classes)
    # Mostly ones, so that the second side is counted in some tests, and bits that stay 0 would show.
    features = (rng.random((4, n)) < [[0.5], [0.9], [0.1], [1.0]]).astype(np.uint8)
    labels = np.minimum(rng.integers(0, n_classes, n), rng.integers(0, n_classes, n)).astype(np.uint8)
    check(features, labels, np.zeros(n, dtype=np.int32), Tests.binary(schema), n_classes)


def test_exactly_a_word_of_one_class() -> None:
    schema = wide(2, 3)
    features = np.zeros((2, 64), dtype=np.uint8)
    joint = check(features, np.full(64, 1), np.zeros(64, dtype=np.int32), Tests.binary(schema), 3)
    assert joint.class_counts.tolist() == [0, 64, 0]
    # The test is "0 against the rest": all are in its first child, so the second is counted.
    assert joint.met.tolist() == [1, 1]
    assert not joint.singles.any()


def test_which_side_is_counted() -> None:
    """At half and half the first child; beyond it the other."""
    schema = wide(1, 2)
    tests = Tests.of(schema, [OneCategory(0, 0)])
    for ones, met in [(2, 0), (1, 1), (3, 0)]:
        features = np.array([[1] * ones + [0] * (4 - ones)], dtype=np.uint8)
        joint = check(features, np.zeros(4, dtype=np.uint8), np.zeros(4, dtype=np.int32), tests, 2)
        assert joint.met.tolist() == [met]


def test_codes_of_two_bytes() -> None:
    rng = np.random.default_rng(0)
    schema = Schema(
        (Numeric("x", 0, 1, bins=400, missing="?"), Categorical("y", tuple(range(300)))), Categorical("class", (0, 1))
    )
    features = np.array([rng.integers(0, arity, 500) for arity in schema.arities], dtype=np.uint16)
    tests = Tests.of(
        schema,
        [
            Threshold(0, 5),
            Threshold(0, 255),
            Threshold(0, 256),
            Threshold(0, 399),
            OneCategory(1, 1),
            OneCategory(1, 257),
        ],
    )
    features[0, :5] = 400  # missing
    labels = rng.integers(0, 2, 500).astype(np.uint8)
    joint = check(features, labels, np.zeros(500, dtype=np.int32), tests, 2)
    assert joint.singles.any(axis=0).all()


def test_the_number_of_threads_does_not_matter() -> None:
    rng = np.random.default_rng(1)
    schema = wide(12, 3, arity=3)
    features, labels = rng.integers(0, 3, (12, 3000), dtype=np.uint8), rng.integers(0, 3, 3000).astype(np.uint8)
    tests = Tests.binary(schema)
    prefixes = np.array(list(combinations(range(len(tests)), 2)), dtype=np.int64)
    found = []
    for most in (1, 4):
        with compiled.threads(most):
            joint = JointCounts(features, labels, np.zeros(3000, dtype=np.int32), tests, 3)
            found.append((joint.met.tobytes(), joint.singles.tobytes(), joint.pairs(prefixes).tobytes()))
    assert found[0] == found[-1]


def test_an_engine_counts_the_cell_it_is_asked_about() -> None:
    rng = np.random.default_rng(2)
    schema = wide(5, 2, arity=3)
    features, labels = rng.integers(0, 3, (5, 200), dtype=np.uint8), rng.integers(0, 2, 200).astype(np.uint8)
    engine = MemoryEngine(schema, Codes(features, labels))
    cells = refine(ROOT, engine.schema, [OneCategory(0, 2)])
    tests = Tests.binary(schema)
    for cell in (0, 1):
        joint = engine.joint(only(cells, cell), tests, 3)
        inside = (features[0] != 2).astype(int) == cell
        assert joint.class_counts.tolist() == np.bincount(labels[inside], minlength=2).tolist()
