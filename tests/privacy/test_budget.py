"""Epsilon is an exact rational, read as it is written."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privet.errors import EpsilonError, ParameterError
from privet.privacy.budget import Neighbours, epsilon, float_up, read_fraction


@pytest.mark.parametrize(
    ("given", "exact"),
    [
        (0.1, Fraction(1, 10)),
        (1, Fraction(1)),
        (Fraction(1, 3), Fraction(1, 3)),
        (np.float64(0.1), Fraction(1, 10)),
        (np.float32(0.1), Fraction(1, 10)),
        (np.int64(2), Fraction(2)),
        (np.uint8(3), Fraction(3)),
        (1e-9, Fraction(1, 10**9)),
        (1e16, Fraction(10**16)),
    ],
)
def test_a_number_is_read_as_it_is_written(given: object, exact: Fraction) -> None:
    assert epsilon(given) == exact
    assert type(epsilon(given).numerator) is int  # a numpy integer inside would overflow in sums


NOT_POSITIVE = (0, 0.0, -1, -0.5, Fraction(-1, 3), -(10**400))
NOT_FINITE = (math.nan, math.inf, -math.inf, np.float64("nan"))
NOT_DRAWABLE = (10**400, 1e-320)  # a noise scale of such an epsilon is no double
NOT_NUMBERS = ("1", "abc", b"1", None, True, False, np.True_, 1j, [1], np.array(0.5), object(), Decimal("0.1"))


@pytest.mark.parametrize(
    "bad", [*NOT_POSITIVE, *NOT_FINITE, *NOT_DRAWABLE, *NOT_NUMBERS], ids=lambda value: repr(value)[:20]
)
def test_anything_else_is_refused_by_name(bad: object) -> None:
    with pytest.raises(EpsilonError, match=r"^budget must .*(0\.5|finite)"):
        epsilon(bad, name="budget")


@given(st.floats(min_value=1e-99, max_value=1e99), st.floats(min_value=1e-99, max_value=1e99))
def test_reading_loses_nothing(a: float, b: float) -> None:
    assert float(epsilon(a)) == a
    assert (epsilon(a) < epsilon(b)) == (a < b)


@given(st.fractions(min_value=Fraction(1, 10**30), max_value=10**30))
def test_a_scale_is_never_rounded_down(value: Fraction) -> None:
    up = float_up(value)
    assert Fraction(up) >= value
    assert Fraction(math.nextafter(up, 0)) < value, "a smaller double would have done"


def test_rounding_to_nearest_would_have_been_wrong() -> None:
    # The property above can fail: 1/10 rounds up, 3/10 and 1/3 round down.
    assert Fraction(float(Fraction(1, 3))) < Fraction(1, 3) <= Fraction(float_up(Fraction(1, 3)))


def test_a_replacement_is_two_steps() -> None:
    assert Neighbours.ADD_REMOVE.steps == 1
    assert Neighbours.REPLACE_ONE.steps == 2
    assert Neighbours.parse("replace-one") is Neighbours.REPLACE_ONE


@pytest.mark.parametrize("bad", ["swap", "", "ADD-REMOVE", None, 1])
def test_an_unknown_relation_names_the_choices(bad: object) -> None:
    with pytest.raises(ParameterError, match="neighbours must be 'add-remove' or 'replace-one'"):
        Neighbours.parse(bad)  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["1/3", "0.1", "-2", "+2.", ".5", "1e-3", "25E+2", "9" * 4300, "1e4299", "0/7"])
def test_a_written_number_is_read_exactly(text: str) -> None:
    assert read_fraction(text, "epsilon") == Fraction(text)


HOSTILE = ("1e999999999", "1e-999999999", "1e" + "9" * 5000, "9" * 4301, "1/" + "9" * 4301, "9" * 10_000_000, "1e4300")
NO_NUMBERS = ("", ".", "e5", "1/0", "1/00", "nan", "inf", "1_0", " 1", "1\n", "\u0663", "0x1", "1/2/3", "1/2e3", "--1")


@pytest.mark.parametrize(
    "text", [*HOSTILE, *NO_NUMBERS, 1, 0.5, None, True, ["1"], b"1", Fraction(1)], ids=lambda text: repr(text)[:20]
)
def test_a_number_of_unbounded_length_is_refused(text: object) -> None:
    with pytest.raises(EpsilonError, match=r"^the loss must be a number") as refused:
        read_fraction(text, "the loss")
    assert len(str(refused.value)) < 200
