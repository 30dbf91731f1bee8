"""Pages of models that predict a number, in a real browser: one case is followed to the number that the model says."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from privet.models.additive import Additive, Part
from privet.models.model import Model
from privet.models.number_tree import NumberTree
from privet.models.released import Released
from privet.report.page import model_page
from privet.schema import Categorical, Numeric, Schema
from privet.structure.splits import OneCategory, Threshold
from privet.tables.encoding import encode_features

SCHEMA = Schema(
    (Numeric("age", 0, 100, thresholds=(30.0, 60.5), missing="?"), Categorical("job & co", ("clerk", "smith", "<b>"))),
    Numeric("wage", 0, 80),
)
CASES = [(30, "clerk"), (30, "smith"), (30.01, "clerk"), (60.5, "smith"), (99, "<b>"), (None, "smith"), (None, "clerk")]


def tree() -> NumberTree:
    tests = [Threshold(0, 0), OneCategory(1, 0), None, None, None]
    counts = np.array([[np.nan], [np.nan], [200.0], [120.0], [90.0]])
    return NumberTree.of(SCHEMA, tests, counts, np.array([0, 0, 41.25, 12.5, 20.75]), np.full(5, 1.25))


def curves() -> Additive:
    """Sums below, between and above the bounds."""
    age = Part((0,), (np.array([0, 1, 2, 3]),), np.array([[-30.5], [5.0], [20.25], [70.0]]), 0.1)
    job = Part((1,), (np.array([0, 1, 2]),), np.array([[-25.125], [1.5], [3.0]]), 0.1)
    return Additive(SCHEMA, (age, job), np.array([38.5]))


@pytest.mark.parametrize("model", [tree(), curves()], ids=["tree", "curves"])
def test_a_case_is_followed_to_its_number(reader: Any, make_certificate: Any, model: Released) -> None:
    page = reader.open(model_page(Model("a model", model, certificate=make_certificate())))
    table = {name: [case[i] for case in CASES] for i, name in enumerate(SCHEMA.names)}
    expected = model.predict(encode_features(SCHEMA, table)).tolist()
    assert len(set(expected)) > 2
    for (age, job), number in zip(CASES, expected, strict=True):
        page.fill("#field-0", "" if age is None else str(age))
        page.select_option("#field-1", label=job)
        assert float(page.locator("#case-result").get_attribute("data-value")) == pytest.approx(number, abs=1e-6)
        assert page.inner_text("#case-result .verdict").startswith("The model says about ")
    assert reader.complaints == []


def test_steps_and_noise_of_a_tree_are_said(reader: Any, make_certificate: Any) -> None:
    page = reader.open(model_page(Model("a tree", tree(), certificate=make_certificate())))
    page.fill("#field-0", "20")
    page.select_option("#field-1", label="smith")
    assert page.locator("#case-result li").all_inner_texts() == ["age ≤ 30", "job & co ≠ clerk"]
    assert page.inner_text("#case-result .reason").startswith("± ")


def test_what_each_curve_adds_is_said(reader: Any, make_certificate: Any) -> None:
    page = reader.open(model_page(Model("curves", curves(), certificate=make_certificate())))
    page.fill("#field-0", "")
    page.select_option("#field-1", label="smith")
    steps = page.locator("#case-result li").all_inner_texts()
    assert steps == ["everyone: 38.5", "age = missing: +70", "job & co = smith: +1.5"]
    assert page.inner_text("#case-result .verdict") == "The model says about 80"  # the upper bound


def test_a_page_that_adds_up_wrongly_is_seen(reader: Any, make_certificate: Any) -> None:
    """Planted: another number for everyone, in the page alone."""
    wrong = replace(curves(), offset=np.array([37.5]))
    page = reader.open(model_page(Model("curves", wrong, certificate=make_certificate())))
    page.fill("#field-0", "30.01")
    page.select_option("#field-1", label="clerk")
    right = curves().predict(encode_features(SCHEMA, {"age": [30.01], "job & co": ["clerk"]}))[0]
    assert float(page.locator("#case-result").get_attribute("data-value")) != pytest.approx(right, abs=1e-6)
