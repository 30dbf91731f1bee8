"""Both tests against scipy, against all signs by hand, against known answers, and against chance itself."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from privet.errors import ParameterError
from privet.evaluation.significance import EXACT_UP_TO, _student_tails
from privet.rules import corrected_t, wilcoxon

SCORES = st.floats(0, 1).map(lambda value: round(value, 3))


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 5, 9, 10, 29, 99, 250])
@pytest.mark.parametrize("t", [0.0, 0.1, 1.0, 2.2621571628, 5.0, 40.0])
def test_students_distribution(freedom: int, t: float) -> None:
    for signed in (t, -t):
        assert _student_tails(signed, freedom) == pytest.approx(2 * stats.t.sf(t, freedom), abs=1e-13)


def test_the_correction_is_what_a_plain_test_lacks() -> None:
    random = np.random.default_rng(0)
    first, second = random.random(10), random.random(10) + 0.2
    plain = stats.ttest_rel(first, second)
    found = corrected_t(first, second, test_to_train=1 / 9)
    assert found is not None
    # Nadeau & Bengio: 1/n becomes 1/n + test/train.
    assert found.statistic == pytest.approx(plain.statistic * math.sqrt((1 / 10) / (1 / 10 + 1 / 9)))
    assert found.p_value == pytest.approx(2 * stats.t.sf(abs(found.statistic), 9))
    assert found.p_value > plain.pvalue
    assert found.difference == pytest.approx(float(np.mean(first - second)))


def test_a_plain_t_test_is_the_limit() -> None:
    first, second = [0.1, 0.5, 0.4, 0.9], [0.2, 0.3, 0.1, 0.8]
    found = corrected_t(first, second, test_to_train=1e-15)
    assert found is not None
    assert found.p_value == pytest.approx(stats.ttest_rel(first, second).pvalue)


def test_a_known_answer() -> None:
    """Student's sleep data: t = 4.0621 with 9 degrees of freedom, p = 0.002833, and V = 45 of 45 with a zero."""
    one = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
    two = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]
    found = corrected_t(two, one, test_to_train=1e-15)
    assert found is not None
    assert (round(found.statistic, 4), round(found.p_value, 6)) == (4.0621, 0.002833)
    ranks = wilcoxon(two, one)
    assert ranks is not None
    assert (ranks.pairs, ranks.statistic, ranks.p_value) == (9, 0.0, 2 / 2**9)


@given(st.lists(st.tuples(SCORES, SCORES), min_size=2, max_size=9))
def test_wilcoxon_is_the_count_of_all_signs(pairs: list[tuple[float, float]]) -> None:
    first, second = zip(*pairs, strict=True)
    differences = [round(a - b, 12) for a, b in pairs if round(a - b, 12)]
    found = wilcoxon(first, second)
    if not differences:
        assert found is None
        return
    assert found is not None
    ranks = stats.rankdata(np.abs(differences))
    sums = [sum(rank for rank, up in zip(ranks, signs, strict=True) if up)
            for signs in itertools.product((False, True), repeat=len(ranks))]  # fmt: skip
    mine = sum(rank for rank, d in zip(ranks, differences, strict=True) if d > 0)
    smaller = min(mine, ranks.sum() - mine)
    as_small = sum(value <= smaller for value in sums)
    assert found.statistic == smaller
    assert found.p_value == pytest.approx(min(1.0, 2 * as_small / len(sums)))


@pytest.mark.parametrize("count", [6, 20, EXACT_UP_TO, EXACT_UP_TO + 1, 200])
def test_wilcoxon_is_scipys(count: int) -> None:
    random = np.random.default_rng(count)
    first, second = random.random(count), random.random(count) + 0.03
    method = "exact" if count <= EXACT_UP_TO else "approx"
    theirs = stats.wilcoxon(first, second, method=method, correction=True)
    found = wilcoxon(first, second)
    assert found is not None
    assert found.statistic == theirs.statistic
    assert found.p_value == pytest.approx(theirs.pvalue, rel=1e-9)


def test_where_the_exact_form_ends_nothing_jumps() -> None:
    random = np.random.default_rng(1)
    first, second = random.random(EXACT_UP_TO), random.random(EXACT_UP_TO) + 0.1
    exact = wilcoxon(first, second)
    assert exact is not None
    near = stats.wilcoxon(first, second, method="approx", correction=True).pvalue
    assert exact.p_value == pytest.approx(near, abs=2e-3)


@given(st.lists(st.tuples(SCORES, SCORES), min_size=3, max_size=60))
def test_the_other_way_round_is_the_same_answer(pairs: list[tuple[float, float]]) -> None:
    first, second = zip(*pairs, strict=True)
    for one, other in (
        (wilcoxon(first, second), wilcoxon(second, first)),
        (corrected_t(first, second, test_to_train=0.5), corrected_t(second, first, test_to_train=0.5)),
    ):
        assert (one is None) == (other is None)
        if one is not None and other is not None:
            assert one.p_value == pytest.approx(other.p_value)
            assert one.difference == pytest.approx(-other.difference)
            assert 0 <= one.p_value <= 1


def rejections(correction: float) -> int:
    """How often 400 comparisons of two coins, on folds that share what they learn from, are called significant at 5 %.

    A fold's difference is the mean of a shared part and of its own: with ten folds the training parts overlap, and the
    correlation between folds is what Nadeau & Bengio suppose, test / (test + train) = 1/10.
    """
    random, found = np.random.default_rng(3), 0
    for _ in range(400):
        differences = math.sqrt(0.1) * random.normal() + math.sqrt(0.9) * random.normal(size=10)
        tested = corrected_t(differences, np.zeros(10), test_to_train=correction)
        assert tested is not None
        found += tested.p_value < 0.05
    return found


def test_chance_is_called_so_and_a_plain_test_is_fooled() -> None:
    # Seeded, so it cannot fail by chance. 5 % of 400 are 20, with a standard deviation of 4.4.
    assert 5 <= rejections(1 / 9) <= 35
    assert rejections(1e-15) > 45


def test_nothing_differs() -> None:
    assert wilcoxon([0.5, 0.6], [0.5, 0.6]) is None
    assert corrected_t([0.5, 0.6], [0.4, 0.5], test_to_train=0.5) is None  # alike in every fold: no spread


@pytest.mark.parametrize(
    ("first", "second"),
    [([0.1], [0.2]), ([0.1, 0.2], [0.1]), ([0.1, math.nan], [0.1, 0.2]), ([[0.1, 0.2]], [[0.1, 0.2]])],
)
def test_incomparable_values_are_refused(first: list[float], second: list[float]) -> None:
    for test in (wilcoxon, lambda a, b: corrected_t(a, b, test_to_train=0.5)):
        with pytest.raises(ParameterError, match="first and second"):
            test(first, second)


@pytest.mark.parametrize("ratio", [0, -1.0, math.nan])
def test_a_ratio_that_no_fold_has(ratio: float) -> None:
    with pytest.raises(ParameterError, match="1/9"):
        corrected_t([0.1, 0.2], [0.2, 0.2], test_to_train=ratio)
