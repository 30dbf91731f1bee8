"""What a path leaves open, against a walk over every code."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from privet.growing.greedy.candidates import TEST_KINDS, Candidates, Domains
from privet.schema import Categorical, Numeric, Schema
from privet.structure.splits import OneCategory, Test, Tests, Threshold
from privet.testing import schemas


def possible_codes(schema: Schema, attribute: int, path: list[tuple[Test, int]]) -> list[int]:
    """The codes of an attribute that take the given branch of every test on the way."""
    mine = [(test, child) for test, child in path if test.attribute == attribute]
    return [
        code
        for code in range(schema.arities[attribute])
        if all(int(test.branch(np.array([code]))[0]) == child for test, child in mine)
    ]


def is_allowed(schema: Schema, test: Test, path: list[tuple[Test, int]]) -> bool:
    codes = possible_codes(schema, test.attribute, path)
    return len({int(test.branch(np.array([code]))[0]) for code in codes}) > 1


@given(st.data(), schemas(max_attributes=3), st.sampled_from(sorted(TEST_KINDS)))
def test_allowed_is_what_a_walk_over_all_codes_finds(data: st.DataObject, schema: Schema, kind: str) -> None:
    candidates = Candidates.of(schema, kind)  # type: ignore[arg-type]
    domains, path = Domains.whole(schema), []
    for depth in range(candidates.most_tests_on_a_path(schema) + 1):
        allowed = candidates.allowed(domains)
        assert allowed.shape == (1, len(candidates.tests))
        assert allowed[0].tolist() == [is_allowed(schema, test, path) for test in candidates.tests]
        if not allowed.any():
            break
        # The clamp promises that no path is longer.
        assert depth < candidates.most_tests_on_a_path(schema)
        test = candidates.tests[data.draw(st.sampled_from(np.flatnonzero(allowed[0]).tolist()))]
        child = data.draw(st.integers(0, test.arity(schema) - 1))
        path.append((test, child))
        narrowed = domains.split([test])
        assert len(narrowed.possible) == test.arity(schema)
        domains = Domains(schema, narrowed.possible[child : child + 1])


def test_children_follow_the_order_of_the_level_and_leaves_drop_out() -> None:
    schema = Schema((Numeric("age", 0, 4, bins=4), Categorical("sex", ("f", "m"))), Categorical("ill", ("n", "y")))
    domains = Domains.whole(schema, 3).split([Threshold(0, 1), None, OneCategory(1, 0)])
    assert domains.possible.astype(int).tolist() == [
        [1, 1, 0, 0, 1, 1],
        [0, 0, 1, 1, 1, 1],
        [1, 1, 1, 1, 1, 0],
        [1, 1, 1, 1, 0, 1],
    ]
    assert Domains.whole(schema).split([None]).possible.shape == (0, schema.total_bins)


def test_the_longest_path_by_hand() -> None:
    schema = Schema(
        (Numeric("age", 0, 4, bins=4), Categorical("town", ("a", "b", "c")), Categorical("one", ("x",))),
        Categorical("ill", ("n", "y")),
    )
    longest = {kind: Candidates.of(schema, kind).most_tests_on_a_path(schema) for kind in TEST_KINDS}  # type: ignore[arg-type]
    assert longest == {"binary": 3 + 2, "multiway": 2, "mixed": 3 + 1}


def test_each_attribute_has_the_same_mass() -> None:
    schema = Schema((Numeric("age", 0, 9, bins=9), Categorical("sex", ("f", "m"))), Categorical("ill", ("n", "y")))
    candidates = Candidates(Tests.binary(schema), "attributes")
    domains = Domains.whole(schema).split([Threshold(0, 2)])
    allowed = candidates.allowed(domains)
    prior = candidates.log_prior(allowed)
    assert prior is not None
    for row, mass in zip(allowed, np.exp(prior), strict=True):
        for attribute in (0, 1):
            mine = row & (candidates.tests.attribute == attribute)
            assert np.isclose(mass[mine].sum(), 1)
    assert Candidates(Tests.binary(schema)).log_prior(allowed) is None


def test_some_attributes_are_drawn_without_looking_at_records() -> None:
    schema = Schema(tuple(Categorical(f"a{i}", (0, 1, 2)) for i in range(6)), Categorical("c", (0, 1)))
    every = Candidates.of(schema, "binary")
    some = every.some(2, np.random.default_rng(0))
    assert len(np.unique(some.tests.attribute)) == 2
    assert len(some.tests) == len(every.tests) / 3
    assert every.some(None, np.random.default_rng(0)) is every.some(6, np.random.default_rng(0)) is every
