"""The tests a node can carry: what they do to codes, how they read, and which are candidates."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privet.errors import SchemaError
from privet.schema import Categorical, Numeric, Schema
from privet.structure.splits import Kind, Multiway, OneCategory, Test, Tests, Threshold, make_test
from privet.tables.encoding import encode_features

AGE, A2, SEX, JOB, ONE = range(5)
SCHEMA = Schema(
    (
        Numeric("age", 0, 120, thresholds=(30.5, 40.5), integer=True),
        Numeric("A2", 0, 10, thresholds=(37.5 / 10,), missing="?"),
        Categorical("sex", ("Female", "Male")),
        Categorical("job", ("clerk", "smith", "?")),
        Categorical("one", ("only",)),
    ),
    Categorical("class", ("no", "yes")),
)


class TestBranch:
    def test_threshold(self) -> None:
        children = Threshold(AGE, 1).branch(np.array([0, 1, 2, 1], np.uint8))
        assert children.tolist() == [0, 0, 1, 0]

    def test_missing_goes_right(self) -> None:
        codes = encode_features(SCHEMA, {"age": [0], "A2": [None], "sex": [0], "job": [0], "one": [0]})[A2]
        assert Threshold(A2, 0).branch(codes).tolist() == [1]
        assert Threshold(A2, SCHEMA.arities[A2] - 2).branch(codes).tolist() == [1]

    def test_one_category(self) -> None:
        children = OneCategory(JOB, 1).branch(np.array([0, 1, 2], np.uint16))
        assert children.tolist() == [1, 0, 1]

    def test_multiway(self) -> None:
        assert Multiway(JOB).branch(np.array([2, 0, 1], np.uint8)).tolist() == [2, 0, 1]

    @given(st.lists(st.integers(0, 2), max_size=30))
    def test_children_are_within_arity(self, codes: list[int]) -> None:
        column = np.array(codes, np.uint8)
        for test in (Threshold(AGE, 0), OneCategory(JOB, 2), Multiway(JOB)):
            children = test.branch(column)
            assert children.shape == column.shape
            assert (children < test.arity(SCHEMA)).all()


class TestDescribe:
    @pytest.mark.parametrize(
        ("test", "texts"),
        [
            (Threshold(AGE, 1), ["age <= 40.5", "age > 40.5"]),
            (Threshold(A2, 0), ["A2 <= 3.75", "A2 > 3.75 or is missing"]),
            (Threshold(A2, 1), ["A2 is present", "A2 is missing"]),
            (OneCategory(SEX, 1), ["sex = Male", "sex != Male"]),
            (Multiway(SEX), ["sex = Female", "sex = Male"]),
            (Threshold(JOB, 0), ["job = clerk", "job in {smith, ?}"]),
            (Threshold(JOB, 1), ["job in {clerk, smith}", "job = ?"]),
            (Multiway(AGE), ["age <= 30.5", "30.5 < age <= 40.5", "age > 40.5"]),
            (Multiway(A2), ["A2 <= 3.75", "A2 > 3.75", "A2 is missing"]),
        ],
    )
    def test_words(self, test: Test, texts: list[str]) -> None:
        assert [test.describe(SCHEMA, child) for child in range(test.arity(SCHEMA))] == texts

    def test_a_number_without_cuts(self) -> None:
        schema = Schema((Numeric("x", 0.5, 1.5, integer=True, missing="?"),), SCHEMA.label)
        assert [Multiway(0).describe(schema, child) for child in (0, 1)] == ["x is present", "x is missing"]
        assert [Threshold(0, 0).describe(schema, child) for child in (0, 1)] == ["x is present", "x is missing"]

    def test_rounding_noise_is_not_shown(self) -> None:
        schema = Schema((Numeric("x", 0, 1, thresholds=(0.1 + 0.2,)),), SCHEMA.label)
        assert Threshold(0, 0).describe(schema, 0) == "x <= 0.3"

    def test_wrong_type_of_attribute(self) -> None:
        with pytest.raises(SchemaError, match="'age' is numeric"):
            OneCategory(AGE, 0).describe(SCHEMA, 0)


class TestCandidates:
    def test_binary(self) -> None:
        assert list(Tests.binary(SCHEMA)) == [
            Threshold(AGE, 0),
            Threshold(AGE, 1),
            Threshold(A2, 0),
            Threshold(A2, 1),
            OneCategory(SEX, 0),
            OneCategory(JOB, 0),
            OneCategory(JOB, 1),
            OneCategory(JOB, 2),
        ]

    def test_multiway(self) -> None:
        tests = Tests.multiway(SCHEMA)
        assert list(tests) == [Multiway(AGE), Multiway(A2), Multiway(SEX), Multiway(JOB)]
        assert tests.arity.tolist() == [3, 3, 2, 3]

    def test_mixed(self) -> None:
        tests = Tests.mixed(SCHEMA)
        assert list(tests)[-2:] == [Multiway(SEX), Multiway(JOB)]
        assert tests.kind.tolist() == [Kind.THRESHOLD] * 4 + [Kind.MULTIWAY] * 2
        assert tests.arity.tolist() == [2, 2, 2, 2, 2, 3]

    def test_columns(self) -> None:
        tests = Tests.binary(SCHEMA)
        assert [c.dtype.name for c in (tests.attribute, tests.kind, tests.cut)] == ["int32", "int8", "int32"]
        for column in (tests.attribute, tests.kind, tests.cut, tests.arity):
            assert len(column) == len(tests)
            assert not column.flags.writeable
        assert tests.of_attribute(JOB).tolist() == [5, 6, 7]
        assert tests.of_attribute(ONE).tolist() == []
        assert tests[-1] == OneCategory(JOB, 2)
        with pytest.raises(IndexError):
            tests[len(tests)]

    def test_none_at_all(self) -> None:
        schema = Schema((SCHEMA.attributes[ONE],), SCHEMA.label)
        for tests in (Tests.binary(schema), Tests.multiway(schema), Tests.mixed(schema), Tests.of(schema, [])):
            assert len(tests) == 0
            assert list(tests) == []
            assert tests.kind.dtype == np.int8

    def test_no_two_binary_tests_make_the_same_split(self) -> None:
        tests = Tests.binary(SCHEMA)
        for a, arity in enumerate(SCHEMA.arities):
            every = np.arange(arity, dtype=np.uint8)
            parts = [test.branch(every) for test in tests if test.attribute == a]
            # A part and its mirror image are the same split.
            assert len({tuple((part ^ part[0]).tolist()) for part in parts}) == len(parts)
            assert all(part.any() and not part.all() for part in parts)

    def test_every_test_is_found_again(self) -> None:
        for tests in (Tests.binary(SCHEMA), Tests.multiway(SCHEMA), Tests.mixed(SCHEMA)):
            again = Tests.of(SCHEMA, tests)
            assert list(again) == list(tests)
            assert again.arity.tolist() == [test.arity(SCHEMA) for test in tests]


def test_kinds_are_stored_numbers() -> None:
    assert {kind.name: int(kind) for kind in Kind} == {"THRESHOLD": 0, "ONE_CATEGORY": 1, "MULTIWAY": 2}
    assert [make_test(kind, 3, 4) for kind in Kind] == [Threshold(3, 4), OneCategory(3, 4), Multiway(3)]
    with pytest.raises(ValueError, match="9"):
        make_test(9, 0, 0)


class TestFits:
    @pytest.mark.parametrize("make", [Tests.binary, Tests.multiway, Tests.mixed])
    def test_candidates_fit_their_schema(self, make: object) -> None:
        assert make(SCHEMA).fits(SCHEMA)  # type: ignore[operator]
        assert Tests.of(SCHEMA, []).fits(SCHEMA)

    @pytest.mark.parametrize(
        "test",
        [
            Threshold(AGE, 2),  # there are two cuts
            Threshold(AGE, -1),
            OneCategory(JOB, 3),
            OneCategory(JOB, -1),
            Threshold(ONE, 0),
            None,
        ],
    )
    def test_what_the_schema_lacks(self, test: Test | None) -> None:
        assert not Tests.of(SCHEMA, [OneCategory(SEX, 0), test]).fits(SCHEMA)

    def test_another_schema(self) -> None:
        smaller = Schema(SCHEMA.attributes[:3], SCHEMA.label)
        assert not Tests.multiway(SCHEMA).fits(smaller)
        assert Tests.multiway(smaller).fits(SCHEMA)
        wider = Schema((Numeric("age", 0, 120, thresholds=(1, 2, 3)), *SCHEMA.attributes[1:]), SCHEMA.label)
        assert not Tests.multiway(SCHEMA).fits(wider)  # it has a child more
        assert Tests.binary(SCHEMA).fits(wider)
