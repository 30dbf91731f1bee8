"""``where`` by value: what each operator keeps, where it snaps, what it refuses."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privet import Categorical, Numeric, Schema
from privet.errors import ParameterError, SchemaError
from privet.structure.comparisons import LABEL, Comparison, Op, with_cuts
from privet.tables.encoding import encode

SCHEMA = Schema(
    (
        Numeric("age", 0, 120, integer=True),
        Numeric("heat", 35, 42, missing="?", bins=7),
        Categorical("ward", ("A", "B 2", "?")),
        Categorical("stage", (1, 2, 3)),
        Categorical("smoker", (False, True)),
    ),
    Categorical("ill", ("no", "yes")),
)


@pytest.mark.parametrize(
    ("column", "op", "value", "cells", "met"),
    [
        ("age", ">", 63.7, [63, 64, 200, None], [False, True, True, False]),
        ("age", "at most", 63.7, [63, 64, -5, None], [True, False, True, True]),  # without a marker, None is 60
        ("age", "is", 30, [29, 30, 31], [False, True, False]),
        ("age", "in", [0, 120], [0, 1, 119, 120, 500], [True, False, False, True, True]),
        ("age", "<=", 0, [0, 1], [True, False]),
        ("age", "<=", 120, [0, 120], [True, True]),
        ("heat", "<=", 35, [35, 35.000001, 30], [True, False, True]),
        ("heat", "above", 38.25, [38.25, 38.26, "?"], [False, True, False]),
        ("heat", "missing", None, [38.25, "?", None], [False, True, True]),
        ("ward", "in", ["A", "B 2"], ["A", "B 2", "?", "C"], [True, True, False, False]),
        ("ward", "missing", None, ["A", "?", "C", None], [False, True, True, True]),
        ("stage", "<=", 2, [1, 2, 3], [True, True, False]),
        ("stage", "is", "2", [1, 2, 3], [False, True, False]),
        ("smoker", "is", "True", [False, True], [False, True]),
        ("smoker", "is", True, [False, True], [False, True]),
    ],
)
def test_a_comparison_keeps_what_it_says(column: str, op: Any, value: Any, cells: list[Any], met: list[bool]) -> None:
    one = Comparison(column, op, value)
    schema = with_cuts(SCHEMA, [one])
    kept = one.kept(schema)
    rows = {name: [None] * len(cells) for name in SCHEMA.names} | {column: cells, "ill": ["no"] * len(cells)}
    codes = encode(schema, {name: np.array(column, dtype=object) for name, column in rows.items()})
    assert kept.note == ""
    assert kept.codes[codes.features[kept.attribute]].tolist() == met


@given(value=st.floats(35, 41.9), cell=st.floats(34, 43), above=st.booleans())
def test_with_its_own_cut_a_comparison_is_exact(value: float, cell: float, above: bool) -> None:
    one = Comparison("heat", Op.ABOVE if above else Op.AT_MOST, value)
    schema = with_cuts(SCHEMA, [one])
    heat = schema.attributes[1]
    assert isinstance(heat, Numeric)
    assert set(SCHEMA.attributes[1].cuts) <= set(heat.cuts)
    code = int(np.searchsorted(heat.cuts, cell, side="left"))
    clipped = min(max(cell, 35), 42)
    assert bool(one.kept(schema).codes[code]) == ((clipped > value) == above)


def test_between_public_points_it_snaps_and_says_so() -> None:
    kept = Comparison("heat", Op.parse(">"), 38.2).kept(SCHEMA)
    assert kept.note == "heat > 38.2 was read as heat > 38: cuts lie on a public grid"
    assert kept.codes.tolist() == [False] * 3 + [True] * 4 + [False]
    assert Comparison("heat", ">", 38).kept(SCHEMA).note == ""
    assert "(25.5, 31.5]" not in Comparison("age", "<=", 63).kept(SCHEMA).note
    assert "age in (24.5, 30.5]" in Comparison("age", "is", 30).kept(SCHEMA).note


def test_the_label_can_be_compared() -> None:
    kept = Comparison("ill", "is", "yes").kept(SCHEMA)
    assert (kept.attribute, kept.codes.tolist()) == (LABEL, [False, True])


@pytest.mark.parametrize(
    ("column", "op", "value", "says"),
    [
        ("age", "<", 3, "use <=, with the largest value"),
        ("age", ">=", 3, "use >, with the largest value that is not meant"),
        ("ward", "!=", "A", "use in, with the values"),
        ("age", "like", 3, "use is, in, at_most"),
        ("age", ">", "old", "must be a number, not 'old'"),
        ("age", ">", math.nan, "must be a number"),
        ("age", ">", 120, "beyond the declared bounds of 'age', 0 to 120"),
        ("age", "<=", -1, "beyond the declared bounds"),
        ("age", "missing", None, "declare missing in the schema"),
        ("age", "missing", 3, "must be left out"),
        ("heat", "is", 36, "use at_most and above"),
        ("age", "is", 30.5, "whole number within its bounds"),
        ("ward", ">", 3, "it has no order; use is or in"),
        ("ward", "is", "b 2", "did you mean 'B 2'"),
        ("ward", "is", "zzz", "the values are A, B 2, ?"),
        ("ward", "in", "A", "must be a list of values"),
        ("ward", "in", [], "must list 1 to 1000"),
        ("stage", "missing", None, "list '\\?' in the schema"),
        ("warp", "is", "A", "did you mean 'ward'"),
    ],
)
def test_refusals_name_the_fix(column: str, op: Any, value: Any, says: str) -> None:
    with pytest.raises((ParameterError, SchemaError), match=says):
        Comparison(column, op, value).kept(SCHEMA)
