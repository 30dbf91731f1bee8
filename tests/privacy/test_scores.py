"""Every score moves within its bound and to its side, on real tables through the real encoding and engine.

The checker is one function, `faults`; planted bounds that are too small, and planted directions, must not pass it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, example, find, given, settings
from hypothesis import strategies as st

from privet import Categorical, Numeric, ParameterError, Schema, ScoreError
from privet.engines.memory import MemoryEngine
from privet.privacy.counting import ROOT, bin_counts, class_counts
from privet.privacy.scores import (
    MAX_RECORDS,
    Gini,
    Hits,
    InfoGain,
    Max,
    Score,
    Wins,
    float_sensitivity,
    parse_score,
    score_tests,
)
from privet.structure.splits import Tests
from privet.tables.encoding import encode
from privet.testing import neighbouring_tables, schemas

MOST = 12  # records of a generated table
SCORES: list[Score] = [Max(), Gini(), InfoGain(MOST), Hits()]
TESTS = {"binary": Tests.binary, "multiway": Tests.multiway, "mixed": Tests.mixed}


def named(score: Score) -> str:
    return type(score).__name__


# Which way one more record moves all candidates: the proofs use that it is one way, not which.
DIRECTION: dict[type, int] = {Max: 1, Gini: -1, InfoGain: -1, Hits: 1}


def scores_of(schema: Schema, table: dict[str, list[Any]], score: Score) -> np.ndarray:
    """What the kernel computes: the score of every test of every kind, or of every label for Hits."""
    engine = MemoryEngine(schema, encode(schema, table))
    if isinstance(score, Hits):
        return score.node(class_counts(engine, ROOT))[0]
    counts = bin_counts(engine, ROOT)
    return np.concatenate(
        [score_tests(counts, tests, score, schema)[0][0] for tests in (make(schema) for make in TESTS.values())]
    )


def faults(schema: Schema, pair: Any, score: Score, bound: float | None = None, direction: int | None = None) -> bool:
    """Whether adding the record moves some candidate out of [0, bound], measured in the score's direction."""
    bound = float(score.sensitivity) if bound is None else bound
    direction = DIRECTION[type(score)] if direction is None else direction
    without, with_one = (scores_of(schema, table, score) for table in pair)
    moved = direction * (with_one - without)
    return bool((moved < -1e-9).any() or (moved > bound + 1e-9).any())


with_neighbours = schemas().flatmap(
    lambda schema: st.tuples(st.just(schema), neighbouring_tables(schema, "add-remove", MOST))
)

BINARY = Schema((Categorical("x", ("a", "b")),), Categorical("class", ("yes", "no")))


def lone_stranger(n: int) -> Any:
    """Adding a record of a new class to a pure child of n: the worst there is for Gini and InfoGain."""
    return {"x": ["a"] * n, "class": ["yes"] * n}, {"x": ["a"] * (n + 1), "class": ["yes"] * n + ["no"]}


@pytest.mark.parametrize("score", SCORES, ids=named)
@given(case=with_neighbours)
@example(case=(BINARY, lone_stranger(0)))
@example(case=(BINARY, lone_stranger(MOST - 1)))
def test_one_record_moves_a_score_within_its_bound_and_to_its_side(score: Score, case: Any) -> None:
    schema, pair = case
    assert not faults(schema, pair, score)


@pytest.mark.parametrize("score", SCORES, ids=named)
@given(case=schemas().flatmap(lambda s: st.tuples(st.just(s), neighbouring_tables(s, "replace-one", MOST))))
def test_replacing_a_record_is_a_removal_and_an_addition(score: Score, case: Any) -> None:
    schema, pair = case
    before, after = (scores_of(schema, table, score) for table in pair)
    assert (np.abs(after - before) <= float(score.sensitivity) + 1e-9).all()


FEW = 4  # records suffice to show a bound too small
PLANTED = {
    "Max at 1/2": (Max(), 0.5, None),
    "Gini at 1": (Gini(), 1.0, None),
    "Gini at 1.2": (Gini(), 1.2, None),
    "InfoGain without 1/ln 2": (InfoGain(FEW), math.log2(FEW + 1), None),
    "Hits at 1/2": (Hits(), 0.5, None),
    "Max the wrong way": (Max(), None, -1),
    "Gini the wrong way": (Gini(), None, 1),
    "InfoGain the wrong way": (InfoGain(FEW), None, 1),
}


SEARCH = settings(max_examples=3000, phases=[Phase.generate], derandomize=True, deadline=None, database=None)
few_records = schemas(max_attributes=1, max_labels=2).flatmap(
    lambda schema: st.tuples(st.just(schema), neighbouring_tables(schema, "add-remove", FEW))
)


@pytest.mark.parametrize("name", PLANTED)
def test_the_checker_finds_a_planted_bound(name: str) -> None:
    score, bound, direction = PLANTED[name]
    schema, pair = find(few_records, lambda case: faults(*case, score, bound, direction), settings=SEARCH)
    assert not faults(schema, pair, score)  # and the true bound forgives the example


@pytest.mark.parametrize(
    ("score", "bound"), [(Gini(), 1.0), (Gini(), 1.8), (InfoGain(MOST), math.log2(MOST + 1))], ids=["1", "1.8", "log2"]
)
def test_the_worst_case_by_hand(score: Score, bound: float) -> None:
    worst = lone_stranger(MOST - 1)
    assert faults(BINARY, worst, score, bound)
    assert not faults(BINARY, worst, score)


def test_normalised_gini_would_not_be_one_sided() -> None:
    """Why scores are not divided by the number of records: then one candidate rises and another falls."""
    split = np.array([[[4, 0], [0, 4]], [[2, 2], [2, 2]]])  # two tests, their children, the classes
    after = split.copy()
    after[0, 0, 0] += 1
    after[1, 0, 1] += 1
    mean = Gini().node(split).sum(axis=1) / 8, Gini().node(after).sum(axis=1) / 9
    assert mean[1][1] > mean[0][1]
    plain = Gini().node(after).sum(axis=1) - Gini().node(split).sum(axis=1)
    assert (plain <= 0).all()


def test_bounds_of_card_0() -> None:
    assert Max().sensitivity == 1
    assert Hits().sensitivity == 1
    assert Gini().sensitivity == 2
    exact = math.log2(5001) + 1 / math.log(2)
    assert exact <= InfoGain(5000).sensitivity <= exact * (1 + 1e-12)


def test_an_empty_child_scores_nothing() -> None:
    empty = np.zeros((3, 2), dtype=np.int64)
    for score in (Max(), Gini(), InfoGain(10)):
        assert (score.node(empty) == 0).all()


# ---- floating point -----------------------------------------------------------------------------------------------


def exact_gini(counts: np.ndarray) -> Fraction:
    total = Fraction(0)
    for child in counts.tolist():
        if size := sum(child):
            total += Fraction(sum(c * c for c in child), size) - size
    return total


def exact_infogain(counts: np.ndarray) -> Fraction:
    with localcontext(prec=60):
        total = Decimal(0)
        for child in counts.tolist():
            size = sum(child)
            total += sum((c * (Decimal(c) / size).ln() for c in child if c), Decimal(0))
        return Fraction(total / Decimal(2).ln())


def exact_max(counts: np.ndarray) -> Fraction:
    return Fraction(sum(max(child) for child in counts.tolist()))


@dataclass(frozen=True)
class Oracle:
    score: Score
    exact: Any


ORACLES = [
    Oracle(Max(), exact_max),
    Oracle(Gini(), exact_gini),
    Oracle(InfoGain(MAX_RECORDS), exact_infogain),
]


def large_counts(children: int, classes: int) -> st.SearchStrategy[np.ndarray]:
    """Counts of all sizes, up to 2**31 records in the whole node."""
    most = 2**31 // (children * classes)
    one = st.integers(0, most) | st.integers(0, 31).map(lambda bits: min(2**bits + 1, most)) | st.integers(0, 3)
    return st.lists(one, min_size=children * classes, max_size=children * classes).map(
        lambda flat: np.array(flat, dtype=np.int64).reshape(children, classes)
    )


@pytest.mark.parametrize("oracle", ORACLES, ids=lambda o: named(o.score))
@given(st.data())
def test_rounding_is_covered(oracle: Oracle, data: st.DataObject) -> None:
    children, classes = data.draw(st.sampled_from([(2, 2), (2, 5), (20, 2), (3, 3)]))
    before = data.draw(large_counts(children, classes))
    after = before.copy()
    after[data.draw(st.integers(0, children - 1)), data.draw(st.integers(0, classes - 1))] += 1
    score, terms = oracle.score, children * classes + 8
    computed = [Fraction(float(score.node(counts).sum())) for counts in (before, after)]
    exact = [oracle.exact(counts) for counts in (before, after)]
    for approximate, true in zip(computed, exact, strict=True):
        assert abs(approximate - true) <= score.rounding(terms)
    slack = 2 * score.rounding(terms)
    assert -slack <= DIRECTION[type(score)] * (computed[1] - computed[0]) <= score.sensitivity + slack
    assert float_sensitivity(score, terms) >= score.sensitivity + 2 * slack


def test_the_worst_case_at_full_size() -> None:
    """The largest change there is, exactly: above every smaller constant, below the bound."""
    n = 2**31 - 1
    before, after = np.array([[n, 0]]), np.array([[n, 1]])
    assert Fraction(199, 100) < exact_gini(before) - exact_gini(after) < 2
    moved = exact_infogain(before) - exact_infogain(after)
    assert math.log2(n + 1) + 1.44 < moved <= InfoGain(n).sensitivity


def test_a_rounding_bound_of_nothing_would_be_caught() -> None:
    rng = np.random.default_rng(0)
    for oracle in ORACLES[1:]:
        many = rng.integers(0, 2**28, (200, 2, 3))
        errors = [abs(Fraction(float(oracle.score.node(c).sum())) - oracle.exact(c)) for c in many]
        assert max(errors) > 0
        assert max(errors) <= oracle.score.rounding(14)


@given(st.integers(0, 2**31), st.floats(-1e9, 1e9))
def test_adding_a_prior_rounds_within_its_allowance(count: int, shift: float) -> None:
    error = abs(Fraction(float(count) + shift) - (count + Fraction(shift)))
    assert 4 * error <= float_sensitivity(Max(), 12, shift) - Max().sensitivity


# ---- names --------------------------------------------------------------------------------------------------------


def test_gain_ratio_is_refused_with_the_reason() -> None:
    with pytest.raises(ScoreError, match=r"whole range \[0, 1\]"):
        parse_score("gainratio")


def test_names() -> None:
    assert parse_score("max") == Max()
    assert parse_score("gini") == Gini()
    assert parse_score("infogain", 100) == InfoGain(100)
    with pytest.raises(ScoreError, match="unknown"):
        parse_score("accuracy")


@pytest.mark.parametrize("bound", [None, 0, -1, 2.5, True, "100", MAX_RECORDS + 1])
def test_infogain_needs_a_declared_bound(bound: Any) -> None:
    with pytest.raises(ParameterError, match="max_records"):
        parse_score("infogain", bound)


def test_numeric_and_missing_take_part() -> None:
    """The generated tables do reach thresholds and the missing branch (a guard for the strategies)."""
    both = find(
        schemas(),
        lambda s: (
            any(isinstance(a, Numeric) and a.missing is not None for a in s.attributes) and len(Tests.binary(s)) > 3
        ),
        settings=settings(derandomize=True, database=None, max_examples=2000),
    )
    assert len(Tests.multiway(both)) >= 1


def test_wins_moves_all_labels_to_one_side_by_one_at_most() -> None:
    """Every table of up to five records of each of three classes; which side depends on the table."""
    seen, counts = set(), np.indices((6, 6, 6)).reshape(3, -1).T
    for label in range(3):
        more = counts.copy()
        more[:, label] += 1
        moved = Wins().node(more) - Wins().node(counts)
        assert ((moved >= 0).all(axis=1) | (moved <= 0).all(axis=1)).all()
        assert np.abs(moved).max() <= Wins().sensitivity
        seen |= set(moved.ravel().tolist())
    assert seen == {-1.0, 0.0, 1.0}
    assert Wins().node(np.array([[2, 2, 1], [0, 0, 0]])).tolist() == [[1, 1, 0], [1, 1, 1]]
