"""What a region decides, against a walk over every code; the same bits whichever side of a test counts as met."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from privet.privacy.samplers import decisions
from privet.schema import Categorical, Numeric, Schema
from privet.structure.compiled import call
from privet.structure.open_tests import Answers, open_tests
from privet.structure.splits import OneCategory, Test, Tests, Threshold
from privet.testing import schemas


def codes_left(schema: Schema, path: list[tuple[Test, int]], attribute: int) -> list[int]:
    mine = [(test, child) for test, child in path if test.attribute == attribute]
    codes = range(schema.arities[attribute])
    return [c for c in codes if all(int(test.branch(np.array([c]))[0]) == child for test, child in mine)]


def is_open(schema: Schema, path: list[tuple[Test, int]], test: Test) -> bool:
    left = codes_left(schema, path, test.attribute)
    return {int(test.branch(np.array([c]))[0]) for c in left} == {0, 1}


def decided(answers: Answers, tests: list[int], children: list[int], met: np.ndarray, prior: np.ndarray) -> np.ndarray:
    """The prior of the open tests, and behind it their sum."""
    signs = sum((child == met[t]) << i for i, (t, child) in enumerate(zip(tests, children, strict=True)))
    found = np.empty(prior.size + 1)
    found[-1] = call(decisions.open_prior, np.array(tests, dtype=np.int64), signs, met, answers, prior, found[:-1])
    return found


@given(st.data())
@settings(max_examples=100)
def test_open_is_what_a_walk_over_all_codes_finds(data: st.DataObject) -> None:
    schema = data.draw(schemas(max_attributes=3))
    above, tests = Tests.binary(schema), Tests.binary(schema)
    if not len(tests):
        return
    # A path of an earlier block, which leaves some codes.
    path: list[tuple[Test, int]] = []
    for _ in range(data.draw(st.integers(0, 2))):
        free = [test for test in above if is_open(schema, path, test)]
        if free:
            path.append((data.draw(st.sampled_from(free)), data.draw(st.integers(0, 1))))
    possible = np.concatenate(
        [np.isin(np.arange(arity), codes_left(schema, path, a)) for a, arity in enumerate(schema.arities)]
    )
    rows = open_tests(schema, possible[None], tests)[0]
    assert rows.tolist() == [is_open(schema, path, test) for test in tests]
    tests = tests.take(np.flatnonzero(rows))
    if not len(tests):
        return
    prior = np.array(
        data.draw(st.lists(st.sampled_from([0.0, 0.1, 1 / 3, 0.7]), min_size=len(tests), max_size=len(tests)))
    )
    answers = Answers.of(schema, tests, possible, prior)
    asked = sorted(data.draw(st.sets(st.integers(0, len(tests) - 1), max_size=4)))
    children = [data.draw(st.integers(0, 1)) for _ in asked]
    here = path + [(tests[t], child) for t, child in zip(asked, children, strict=True)]
    met = np.array(data.draw(st.lists(st.integers(0, 1), min_size=len(tests), max_size=len(tests))))
    found = decided(answers, asked, children, met, prior)
    nobody = any(not codes_left(schema, here, a) for a in range(len(schema.arities)))
    free = np.array([is_open(schema, here, test) for test in tests]) & ~np.bool_(nobody)
    assert np.isclose(found[-1], prior[free].sum(), rtol=1e-12, atol=0)
    if not nobody:
        assert found[:-1].tolist() == np.where(free, prior, 0.0).tolist()
    assert decided(answers, asked, children, 1 - met, prior).tobytes() == found.tobytes()


def test_an_attribute_of_more_codes_than_a_word_has_bits() -> None:
    wide = Categorical("town", tuple(range(150)))
    schema = Schema((Numeric("x", 0, 130, bins=130), wide), Categorical("class", (0, 1)))
    tests = Tests.binary(schema)
    prior = np.full(len(tests), 1 / len(tests))
    answers = Answers.of(schema, tests, np.ones(schema.total_bins, dtype=bool), prior)
    assert answers.every.shape[1] == 3
    met = np.zeros(len(tests), dtype=np.int64)
    # 10 < x <= 100 has 89 cuts inside, and a town that is neither 3 nor 140 is one of 148.
    listed = list(tests)
    asked = [listed.index(t) for t in (Threshold(0, 10), Threshold(0, 100), OneCategory(1, 3), OneCategory(1, 140))]
    found = decided(answers, asked, [1, 0, 1, 1], met, prior)
    assert np.flatnonzero(found[:129]).tolist() == list(range(11, 100))
    assert np.flatnonzero(found[129:-1]).tolist() == [v for v in range(150) if v not in (3, 140)]
    # The last of three towns is known once the other two are not.
    left = np.array([True] * 130 + [v in (3, 70, 140) for v in range(150)])
    some = tests.take(np.array([*asked, listed.index(OneCategory(1, 70))]))
    answers = Answers.of(schema, some, left, np.ones(5))
    assert decided(answers, [2, 3], [1, 1], met[:5], np.ones(5))[:-1].tolist() == [1, 1, 0, 0, 0]
    assert decided(answers, [2], [1], met[:5], np.ones(5))[:-1].tolist() == [1, 1, 0, 1, 1]
