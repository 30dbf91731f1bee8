"""The text form of questions: parsed, round trips, and refused with a place and a fix."""

from __future__ import annotations

import contextlib
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privet.errors import ParameterError
from privet.structure.comparisons import Comparison, Op
from privet.structure.grammar import parse_comparison, parse_question
from privet.structure.questions import Ask, Question


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("count", Question(Ask.COUNT)),
        ("  COUNT  by ward ", Question(Ask.COUNT, by="ward")),
        ("class counts", Question(Ask.CLASS_COUNTS)),
        ("average of age", Question(Ask.AVERAGE, "age")),
        ("median of age", Question(Ask.QUANTILES, "age", at=[0.5])),
        ("quantiles 0.25,.5 of age", Question(Ask.QUANTILES, "age", at=[Fraction(1, 4), Fraction(1, 2)])),
        ("most frequent 'job title'", Question(Ask.MOST_FREQUENT, "job title")),
        (
            'count where age > 63.7 and ward in (a, "b ""2""", \'c,d\') by sex',
            Question(
                Ask.COUNT,
                where=(Comparison("age", Op.ABOVE, 63.7), Comparison("ward", Op.IN, ["a", 'b "2"', "c,d"])),
                by="sex",
            ),
        ),
        ("sum of x where y is missing", Question(Ask.SUM, "x", (Comparison("y", Op.MISSING),))),
        ("sum of x where y is 'missing'", Question(Ask.SUM, "x", (Comparison("y", Op.IS, "missing"),))),
        ("histogram of x where zip = 01234", Question(Ask.HISTOGRAM, "x", (Comparison("zip", Op.IS, "01234"),))),
        ("count where 'by' at most -1e3", Question(Ask.COUNT, where=(Comparison("by", Op.AT_MOST, -1000),))),
    ],
)
def test_a_question_is_parsed(text: str, question: Question) -> None:
    assert parse_question(text) == question
    assert Question.from_dict(question.to_dict()) == question


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "expects count, class counts.* at its end"),
        ("delete all", "at 'delete all'"),
        ("sum age", "expects 'of' and a column at 'age'"),
        ("count where", "expects a column at its end"),
        ("count where age", "expects =, in, <=, > or 'is missing'"),
        ("count where age >= 3", "use >, with"),
        ("count where age in a", r"expects '\(' at 'a'"),
        ("count where name = 'O", "quote that is not closed"),
        ("count by ward where age > 3", "at 'where age > 3'"),
        ("count where age > old", "must be a number, not 'old'"),
        ("quantiles 2 of age", "between 0 and 1"),
        ("__import__('os').system('x')", "expects count"),
        ("count" + " where a > 1" * 2000, "at most 10000 characters"),
        ("count where a>1 and " + " and ".join(["a>1"] * 8), "at most 8 comparisons"),
    ],
)
def test_a_wrong_question_says_where_and_what_to_do(text: str, says: str) -> None:
    with pytest.raises(ParameterError, match=says):
        parse_question(text)


NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)


@given(column=NAMES, value=NAMES)
def test_any_name_and_value_can_be_quoted(column: str, value: str) -> None:
    def quoted(text: str) -> str:
        return '"' + text.replace('"', '""') + '"'

    assert parse_comparison(f"{quoted(column)} = {quoted(value)}") == Comparison(column, Op.IS, value)


@given(st.text(max_size=60))
def test_no_text_does_more_than_parse_or_refuse(text: str) -> None:
    with contextlib.suppress(ParameterError):
        assert isinstance(parse_question(text), Question)


@pytest.mark.parametrize(
    "facts",
    [
        {"ask": "fit"},
        {"ask": "count", "of": "age"},
        {"ask": "sum"},
        {"ask": "count", "extra": 1},
        {"ask": "count", "where": "age > 3"},
        {"ask": "count", "where": [{"column": "age", "op": "above", "value": 3, "extra": 1}]},
        {"ask": "count", "where": [{"column": "age", "op": "above", "value": [3]}]},
        {"ask": "quantiles", "of": "age", "at": [True]},
        {"ask": "quantiles", "of": "age", "at": []},
        {"ask": "count", "by": 3},
        None,
    ],
)
def test_a_body_with_anything_else_is_refused(facts: Any) -> None:
    with pytest.raises(ParameterError):
        Question.from_dict(facts)
