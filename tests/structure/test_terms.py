"""Terms: every record's weights are whole and sum to exactly one, and what is no term is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privet.errors import ParameterError
from privet.growing.additive.bases import FEW, main_basis
from privet.growing.cutting.points import fine_bins
from privet.schema import Categorical, Numeric, Schema
from privet.structure.terms import UNIT, Term, check_terms

bounds = st.tuples(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6)).map(lambda pair: (pair[0], pair[0] + pair[1]))


@given(bounds, st.booleans(), st.booleans())
def test_every_bin_of_a_number_is_a_mix_of_neighbouring_knots(
    ends: tuple[float, float], integer: bool, missing: bool
) -> None:
    low, high = ends
    if integer:
        low, high = np.floor(low), np.ceil(high)
    number = Numeric("x", low, high, integer=bool(integer), missing="?" if missing else None)
    schema = fine_bins(Schema((number,), Categorical("y", (0, 1))))
    term = main_basis(schema, 0).term
    assert (term.weights.sum(axis=1) == UNIT).all()
    assert term.touched <= 2
    assert term.bins == schema.arities[0] <= 257
    assert set(np.unique(term.cells)) == set(range(term.size)), "no cell without a bin"
    present = term.cells[: term.bins - missing]
    assert (present[:, -1] - present[:, 0] <= 1).all()
    assert (np.diff(present[:, 0]) >= 0).all()
    if missing:
        assert (term.cells[-1] == term.size - 1).all()
        assert (present < term.size - 1).all()


def test_a_line_through_the_knots_is_a_line_in_the_bins() -> None:
    schema = fine_bins(Schema((Numeric("x", 0, 64),), Categorical("y", (0, 1))))
    term = main_basis(schema, 0).term
    knots = np.array([0, 1, 2, 4, 6, 8, 12, 16, 24, 32, 48, 64.0])[:, None]
    edges = np.concatenate([[0], schema.attributes[0].cuts, [64]])
    assert term.spread(knots)[:, 0] == pytest.approx((edges[:-1] + edges[1:]) / 2, abs=1e-4)


def test_categories_and_few_bins_have_a_cell_each() -> None:
    schema = fine_bins(
        Schema((Categorical("c", tuple("abcd")), Numeric("n", 1, FEW, integer=True)), Categorical("y", (0, 1)))
    )
    for a in range(2):
        term = main_basis(schema, a).term
        assert term.size == term.bins == schema.arities[a]
        assert term.touched == 1


def test_cuts_of_the_owner_are_kept() -> None:
    schema = Schema((Numeric("bmi", 10, 60, thresholds=(18.5, 25, 30)),), Categorical("y", (0, 1)))
    assert fine_bins(schema) == schema
    assert main_basis(schema, 0).term.size == 4


@pytest.mark.parametrize(
    ("facts", "says"),
    [
        ({"weights": [[UNIT - 1], [UNIT]]}, "sum to"),
        ({"weights": [[2 * UNIT, -UNIT], [UNIT, 0]], "cells": [[0, 1], [0, 1]]}, "sum to"),
        ({"levels": []}, "with levels for each"),
        ({"cells": [[0], [1], [2]], "weights": [[UNIT]] * 3}, "every combination"),
        ({"cells": [[0, 1], [0, 1]]}, "a row of cells"),
    ],
)
def test_invalid_terms_are_refused(facts: dict[str, Any], says: str) -> None:
    good: dict[str, Any] = {"levels": [[0, 1]], "cells": [[0], [1]], "weights": [[UNIT], [UNIT]]}
    with pytest.raises(ParameterError, match=says):
        Term.of((0,), **(good | facts))


def test_terms_must_fit_the_schema() -> None:
    schema = Schema((Categorical("c", tuple("abc")), Categorical("d", tuple("ab"))), Categorical("y", (0, 1)))
    good = Term.one_hot((0, 1), [np.arange(3), np.arange(2)], 6)
    check_terms([good, Term.one_hot((), [], 4)], schema, 4)
    for wrong in (
        Term.one_hot((1,), [np.arange(3)], 3),
        Term.one_hot((7,), [np.arange(3)], 3),
        Term.one_hot((0, 0), [np.arange(3), np.arange(3)], 9),
        Term.one_hot((), [], 3),
    ):
        with pytest.raises(ParameterError):
            check_terms([wrong], schema, 4)
