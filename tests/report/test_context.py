"""The page's script predicts what the library predicts, for every record that a schema can tell apart."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tree_strategies import all_records, schemas, trees

from privet.models.forest import Forest
from privet.models.model import Model
from privet.models.tree import Tree
from privet.models.voting import Voting
from privet.report.context import follow_data
from privet.report.page import model_page
from privet.schema import Numeric, Schema

FOLLOW = """(cases) => {
  const fields = [...document.querySelectorAll("[data-attribute]")];
  const result = document.getElementById("case-result");
  return cases.map((answers) => {
    for (const field of fields) field.value = answers[field.dataset.attribute];
    fields[0].dispatchEvent(new Event("input", {bubbles: true}));
    return [result.dataset.label, JSON.parse(result.dataset.shares)];
  });
}"""


def typed(schema: Schema, a: int, code: int) -> str:
    """What somebody types into the form to get a code: a number on its cut, the place of a category, nothing."""
    attribute = schema.attributes[a]
    if not isinstance(attribute, Numeric):
        return str(code)
    if code > len(attribute.cuts):
        return ""
    return repr(float(attribute.cuts[code]) if code < len(attribute.cuts) else attribute.high)


@st.composite
def models(draw: Any) -> Tree | Forest:
    schema = draw(schemas())
    members = draw(st.lists(trees(schema, counted=True), min_size=1, max_size=4))
    voting = draw(st.sampled_from([None, *get_args(Voting)]))
    return members[0] if voting is None else Forest(schema, tuple(members), voting, 0.5)


@settings(max_examples=20, suppress_health_check=list(HealthCheck))
@given(models())
def test_the_script_predicts_what_the_library_predicts(
    reader: Any, make_certificate: Any, model: Tree | Forest
) -> None:
    if not model.asked():
        assert follow_data(model) is None
        return
    features = all_records(model.schema)
    page = reader.open(model_page(Model("exact", model, {}, make_certificate())))
    cases = [{str(a): typed(model.schema, a, int(code)) for a, code in enumerate(record)} for record in features.T]
    answers = page.evaluate(FOLLOW, cases)
    values = [str(value) for value in model.schema.label.values]
    assert [label for label, _ in answers] == [values[code] for code in model.predict(features)]
    assert np.allclose([shares for _, shares in answers], model.predict_proba(features), atol=1e-6)
    assert reader.complaints == []


@pytest.mark.parametrize("leaf", [False, True])
@pytest.mark.parametrize("classes", [2, 3])
def test_the_script_adds_up_what_the_library_adds_up(
    classes: int, leaf: bool, reader: Any, make_sum: Callable[..., Model]
) -> None:
    model = make_sum(classes, leaf=leaf)
    page = reader.open(model_page(model))
    features = all_records(model.schema)
    cases = [{str(a): typed(model.schema, a, int(code)) for a, code in enumerate(record)} for record in features.T]
    answers = page.evaluate(FOLLOW, cases)
    values = [str(value) for value in model.schema.label.values]
    assert [label for label, _ in answers] == [values[code] for code in model.trees.predict(features)]
    assert np.allclose([shares for _, shares in answers], model.trees.predict_proba(features), atol=1e-6)
    assert page.locator("#case-result li").count() == 1 + len(model.trees.parts)
    assert reader.complaints == []


def test_a_missing_number_without_a_marker_is_the_middle(reader: Any, tree_model: Model) -> None:
    from privet.structure.splits import Threshold

    tree = Tree.build(tree_model.schema, [Threshold(2, 1), None, None], [1, -1, -1], [0, 0, 1])
    page = reader.open(model_page(Model("exact", tree, {}, tree_model.certificate)))
    (answer,) = page.evaluate(FOLLOW, [{"2": ""}])
    middle = tree.predict(np.array([[0], [0], [tree.schema.attributes[2].fallback], [0]]))[0]
    assert answer[0] == str(tree.schema.label.values[middle])


def test_what_is_too_much_for_a_page_is_left_out(forest_model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("privet.report.context.MOST_NUMBERS", 10)
    assert 'id="case"' not in model_page(forest_model)
