"""Scripts, chances and the walk of two tables through the same draws."""

from __future__ import annotations

import math
from collections.abc import Hashable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privet.audit import explore
from privet.audit.draws import Call, Script, gain, run
from privet.audit.released import Reach, skeleton
from privet.privacy.noise import current_source
from privet.testing import Draw
from privet.testing.noise import discrete_laplace

SCORES = st.lists(st.integers(-30, 30), min_size=1, max_size=6).map(lambda xs: np.array(xs, dtype=np.float64))


@given(scores=SCORES, scale=st.floats(0.3, 10), kind=st.sampled_from(["exponential", "permute-and-flip"]))
def test_chances_of_choices_are_those_of_the_replay_noise(scores: np.ndarray, scale: float, kind: str) -> None:
    chances = np.exp(Call(kind, scores, scale).log_chances())  # type: ignore[arg-type]
    np.testing.assert_allclose(chances, Draw(kind, scores, scale).probabilities(), rtol=1e-9, atol=1e-300)  # type: ignore[arg-type]
    assert chances.sum() == pytest.approx(1)


@pytest.mark.parametrize("kind", ["exponential", "permute-and-flip"])
def test_chances_do_not_underflow(kind: str) -> None:
    call = Call(kind, np.array([0.0, 5000.0]), 1.0)  # type: ignore[arg-type]
    assert call.log_chance((0,)) == pytest.approx(-5000, abs=1)


@given(values=st.lists(st.integers(-5, 5), max_size=4), noise=st.integers(-20, 20), scale=st.floats(0.2, 9))
def test_chances_of_counts(values: list[int], noise: int, scale: float) -> None:
    call = Call("laplace", np.array(values, dtype=np.int64), scale)
    outcome = tuple(value + noise for value in values)
    assert call.log_chance(outcome) == pytest.approx(len(values) * math.log(discrete_laplace(noise, scale)))


@given(ours=st.lists(st.integers(0, 9), min_size=1, max_size=4), drawn=st.integers(-99, 99), more=st.integers(0, 1))
def test_a_gain_is_the_difference_of_log_chances(ours: list[int], drawn: int, more: int) -> None:
    a = Call("laplace", np.array(ours), 2.0)
    b = Call("laplace", np.array([ours[0] + more, *ours[1:]]), 2.0)
    outcome = (drawn,) * len(ours)
    assert gain(a, outcome, b, outcome) == pytest.approx(a.log_chance(outcome) - b.log_chance(outcome))
    assert abs(gain(a, outcome, b, outcome)) == pytest.approx(more / 2)


def count(value: int, scale: float = 1.0) -> int:
    return int(current_source().laplace(np.array([value]), scale)[0])


def choose(*scores: float, scale: float = 1.0) -> int:
    return current_source().exponential(np.array(scores), scale)


def test_a_script_answers_in_order_and_then_asks_its_policy() -> None:
    script = Script([(7,)], lambda call, number: (number,))
    assert run(lambda: (count(3), choose(0, 1)), script) == (7, 1)
    assert [call.kind for call in script.calls] == ["laplace", "exponential"]
    assert script.outcomes == [(7,), (1,)]


def test_errors_are_releases_too() -> None:
    def fail() -> Hashable:
        raise KeyError("red")

    assert run(fail, Script([], lambda call, number: (0,))) == ("raised", ("KeyError", "'red'"))


def test_the_walk_finds_the_ends_of_two_counts_and_a_choice() -> None:
    def fit(more: int) -> Hashable:
        return count(more, 2.0), choose(0, -20 + more), count(5 - more, 4.0)

    found = list(explore(lambda: fit(0), lambda: fit(1), limit=12))
    assert all(transcript.follows_from_the_draws for transcript in found)
    assert max(transcript.log_ratio for transcript in found) == pytest.approx(1 / 2 + 1 + 1 / 4)
    assert len({transcript.outcomes for transcript in found}) == len(found) == 12


def test_a_walk_of_a_small_space_ends_by_itself() -> None:
    found = list(explore(lambda: choose(0, 1), lambda: choose(1, 1), limit=1000))
    assert sorted(transcript.outcomes for transcript in found) == [((0,),), ((1,),)]


def test_coins_lack_the_record_that_a_table_lacks() -> None:
    def shards(records: list[str]) -> Hashable:
        sides = current_source().coins(4, len(records))
        return tuple(sorted(zip(records, sides.tolist(), strict=True)))[1:]

    longer, shorter = ["a", "b", "c", "d"], ["b", "c", "d"]
    for ours, theirs, lacking in ((longer, shorter, 0), (shorter, longer, 0)):
        found = list(
            explore(lambda r=ours: shards(r)[-2:], lambda r=theirs: shards(r)[-2:], place=lacking, limit=6)  # type: ignore[misc]
        )
        assert len(found) > 1
        assert all(transcript.follows_from_the_draws and transcript.log_ratio == 0 for transcript in found)


@pytest.mark.parametrize("other", [lambda: (count(1), count(1)), lambda: 0, lambda: choose(1, 2)])
def test_other_draws_are_a_leak(other: object) -> None:
    found = next(explore(lambda: count(1), other))  # type: ignore[arg-type]
    assert not found.same_draws
    assert not found.follows_from_the_draws


def test_equal_draws_and_other_releases_are_a_leak() -> None:
    found = next(explore(lambda: (count(1), "a"), lambda: (count(1), "b")))
    assert found.same_draws
    assert not found.follows_from_the_draws


def test_reach_depends_on_shapes_only() -> None:
    reach = Reach(lambda: (count(3), "leaf" if count(3) > 9 else "split"))
    assert reach.has((-5, "leaf"))
    assert reach.has((10**9, "split"))
    assert not reach.has((3, "forest"))
    assert skeleton((1, (2.0, True), "x", None)) == ("int", ("float", True), "x", None)
