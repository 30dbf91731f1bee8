"""Planted faults: each build fails the check that a sound server passes, so the check can fail."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from checks import accepted_of_sixty, answers_that_change, mutant, seen_early, tells_neighbours, tells_sizes, told_apart
from house import House

TIMES = int(os.environ.get("PRIVET_TIMINGS", "20"))
LARGE = int(os.environ.get("PRIVET_TIMINGS_RECORDS", "1500000"))
Build = Callable[[str], House]


@pytest.fixture
def build(tmp_path: Path) -> Iterator[Build]:
    """Starts ``privet serve``, or a build with a planted fault in its place."""
    made: list[House] = []

    def start(name: str) -> House:
        program = ("-m", "privet", "serve") if name == "sound" else mutant(name)
        made.append(House(tmp_path / "folder", "--slots", "1", program=program))
        return made[-1].warm()

    yield start
    for house in made:
        house.stop()


@pytest.mark.parametrize(("name", "fails"), [("sound", False), ("unlocked", True)])
def test_the_limit_is_checked_inside_the_transaction(build: Build, name: str, fails: bool) -> None:
    assert (accepted_of_sixty(build(name)) > 3) == fails


@pytest.mark.parametrize(("name", "fails"), [("sound", False), ("unstored", True)])
def test_an_answer_is_stored_before_it_leaves(build: Build, name: str, fails: bool) -> None:
    assert (answers_that_change(build(name)) > 0) == fails


@pytest.mark.parametrize(("name", "fails"), [("sound", False), ("unpadded", True)])
def test_time_does_not_tell_the_size_of_a_table(build: Build, name: str, fails: bool) -> None:
    assert tells_sizes(build(name), TIMES, LARGE, looks=5 if fails else 1) == fails


@pytest.mark.parametrize(("name", "fails"), [("sound", False), ("unpadded", True)])
def test_nothing_shows_before_it_is_due(build: Build, name: str, fails: bool) -> None:
    assert (seen_early(build(name)) > 0) == fails


@pytest.mark.skipif(TIMES < 100, reason="at length: make server-timing")
def test_time_does_not_tell_a_record(build: Build) -> None:
    assert not tells_neighbours(build("sound"), TIMES)


def test_the_test_of_times_accepts_equal_laws_and_rejects_others() -> None:
    import random

    dice = random.Random(0)
    one, same, later = ([dice.gauss(m, 1) for _ in range(40)] for m in (0, 0, 3))
    assert not told_apart(one, same)
    assert told_apart(one, later)
