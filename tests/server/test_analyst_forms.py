"""The form of a question makes the question that a program would send, and back; and forecasts are read both ways."""

from __future__ import annotations

from typing import Any

import pytest
from house import facts

from privet.schema import Schema
from privet.server.asks import Ask
from privet.server.pages.analyst.forecasts import ForecastCurve
from privet.server.pages.analyst.forms import FIELDS, LONGEST, Choices, ask_of, fields_of, read_fields
from privet.server.problems import Problem

OFFERS = [
    {"name": "exact", "makes": "tree", "sizes": ["max_depth"], "recommended": "first"},
    {"name": "sulq", "makes": "tree", "sizes": ["max_depth"], "recommended": ""},
    {"name": "random-forest", "makes": "forest", "sizes": ["max_depth", "n_estimators"], "recommended": ""},
]
CHOICES = Choices(Schema.from_dict(facts()), OFFERS)
QUESTIONS: list[dict[str, Any]] = [
    {"ask": "count", "epsilon": "1/10"},
    {"ask": "class-counts", "epsilon": "1/3", "by": "ward"},
    {"ask": "histogram", "of": "ward", "epsilon": "1", "where": [{"column": "age", "op": "above", "value": 50}]},
    {"ask": "average", "of": "dose", "epsilon": "1", "where": [{"column": "ward", "op": "in", "value": ["a", "b"]}]},
    {"ask": "sum", "of": "age", "epsilon": "2", "where": [{"column": "dose", "op": "at_most", "value": 0.5}]},
    {"ask": "quantiles", "of": "age", "epsilon": "1", "at": [0.25, 0.5]},
    {"ask": "most-frequent", "of": "ward", "epsilon": "1", "where": [{"column": "ward", "op": "missing"}]},
    {"ask": "fit", "recipe": "exact", "epsilon": "1/2", "params": {"max_depth": 3}},
    {"ask": "fit", "recipe": "random-forest", "epsilon": "1/2", "params": {"max_depth": 3, "n_estimators": 50}},
    {"ask": "score", "of": "0" * 32, "epsilon": "1/10"},
]


@pytest.mark.parametrize("ask", QUESTIONS, ids=[f"{one['ask']}-{i}" for i, one in enumerate(QUESTIONS)])
def test_a_question_comes_back_from_its_form(ask: dict[str, Any]) -> None:
    canonical = Ask.model_validate(ask).canonical()
    fields = fields_of(canonical, OFFERS)
    assert set(fields) == set(FIELDS)
    assert ask_of(fields, CHOICES).canonical() == canonical


def test_what_people_type_is_read() -> None:
    fields = read_fields({"what": "number", "question": "quantiles", "of": "age", "at": "25 %, 50%", "epsilon": "0,5"})
    assert ask_of(fields, CHOICES).canonical() == {"ask": "quantiles", "of": "age", "at": [0.25, 0.5], "epsilon": "1/2"}


@pytest.mark.parametrize(
    "fields",
    [
        {"what": "count", "epsilon": ""},
        {"what": "count", "epsilon": "1e999"},
        {"what": "count", "question": "fit", "epsilon": "1"},
        {"what": "tree", "recipe": "exact", "depth": "-1", "epsilon": "1"},
        {"what": "tree", "recipe": "exact", "depth": "2.5", "epsilon": "1"},
        {"what": "tree", "recipe": "", "epsilon": "1"},
        {"what": "score", "answer": "nothing", "epsilon": "1"},
        {"what": "count", "column1": "age", "op1": "like", "value1": "1", "epsilon": "1"},
    ],
)
def test_what_makes_no_question_is_refused(fields: dict[str, str]) -> None:
    with pytest.raises(Problem):
        ask_of(read_fields(fields), CHOICES)


def test_a_long_field_is_refused() -> None:
    with pytest.raises(Problem):
        read_fields({"value1": "x" * (LONGEST + 1)})


def test_the_recommended_recipe_is_first_and_what_nothing_makes_is_not_offered() -> None:
    assert [one["name"] for one in CHOICES.recipes("tree")] == ["exact", "sulq"]
    assert CHOICES.whats == ["tree", "forest", "count", "number", "score"]


CURVE = ForecastCurve("exact", "accuracy", ((0.1, 0.6), (1.0, 0.8), (10.0, 0.79)), 0.85, 1.0, 1000)


def test_a_forecast_is_straight_between_its_points() -> None:
    assert CURVE.at(0.1) == CURVE.at(0.01) == 0.6
    assert CURVE.at(0.1**0.5) == pytest.approx(0.7)
    assert CURVE.at(100) == pytest.approx(0.79)


def test_the_epsilon_that_is_needed_reaches_the_target() -> None:
    for target in (0.61, 0.7, 0.75, 0.799):
        needed = CURVE.needed(target)
        assert needed is not None
        assert CURVE.at(needed) >= target
        assert CURVE.at(0.9 * needed) < target
    assert CURVE.needed(0.5) == 0.1
    assert CURVE.needed(0.9) is None


def test_a_forecast_is_drawn_with_a_mark_where_one_is() -> None:
    assert 'class="pick"' in CURVE.picture(1.0, "a forecast")
    assert 'class="pick"' not in CURVE.picture(None, "a forecast")
