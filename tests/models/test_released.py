"""Every kind of model answers the same questions, and a kind that nobody has met yet is shown, written and read."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tree_strategies import all_records

from privet.errors import ModelFileError, ParameterError
from privet.evaluation.metrics import performance
from privet.models import codec
from privet.models.additive import Additive, Part
from privet.models.forest import Forest
from privet.models.model import Model
from privet.models.released import Released
from privet.models.tree import Tree
from privet.privacy.ledger import Ledger
from privet.report.page import model_page
from privet.rules import rule_list
from privet.schema import Categorical, Numeric, Schema
from privet.structure.splits import OneCategory, Threshold

SCHEMA = Schema(
    (Numeric("age", 0, 90, bins=3), Categorical("job", ("clerk", "cook", "smith"))), Categorical("ill", ("no", "yes"))
)
TREE = Tree.build(SCHEMA, [OneCategory(1, 2), Threshold(0, 1), None, None, None], [1, 3, -1, -1, -1], [0, 0, 1, 1, 0])
FOREST = Forest(SCHEMA, (TREE, Tree.build(SCHEMA, [None], [-1], [1], proba=np.array([[0.4, 0.6]]))), "proba")
PARTS = (
    Part((0,), (np.arange(3),), np.array([[-1.0], [0.5], [2.0]]), 0.1),
    Part((0, 1), (np.arange(3), np.arange(3)), np.zeros((9, 1)), 0.1),
)
SUM = Additive(SCHEMA, PARTS, np.array([0.25]))


class Stump(Released):
    """A kind of its own, around a tree."""

    title = "stump"

    def __init__(self, tree: Tree) -> None:
        self.schema, self.tree = tree.schema, tree

    @property
    def members(self) -> tuple[Tree, ...]:
        return (self.tree,)

    def predict(self, features: Any) -> Any:
        return self.tree.predict(features)

    def predict_proba(self, features: Any) -> Any:
        return self.tree.predict_proba(features)

    predict_scores = predict_proba

    def to_dict(self) -> dict[str, Any]:
        return {"stump": super().to_dict()["trees"][0]}


KINDS = {"tree": TREE, "forest": FOREST, "sum": SUM, "stump": Stump(TREE)}


@pytest.fixture(autouse=True)
def stump_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(codec.KINDS, "stump", lambda facts, schema: Stump(codec._tree(facts, schema, 0)))


@pytest.mark.parametrize("released", KINDS.values(), ids=list(KINDS))
def test_every_kind_answers(released: Released) -> None:
    assert isinstance(released, Released)
    features = all_records(SCHEMA)
    proba = released.predict_proba(features)
    assert np.allclose(proba.sum(axis=1), 1)
    assert (proba.argmax(axis=1) == released.predict(features)).all()
    assert len(released.predict_scores(features)) == features.shape[1]
    assert 0 < released.importances().sum() <= 1 + 1e-9
    assert set(released.asked()) <= {0, 1}
    assert released.fault() is None
    assert released.arrays(0) is None
    assert released.arrays(1000) is not None
    assert released.overview(released.sections()).endswith("\n")
    assert released.html().startswith("<")
    assert len(released.rules()) == sum(tree.n_leaves for tree in released.members)
    assert all(number > 0 for number in released.size.values())


@pytest.mark.parametrize("released", KINDS.values(), ids=list(KINDS))
def test_every_kind_travels_as_text(released: Released) -> None:
    model = Model("exact", released, {"epsilon": 1}, Ledger(1).certificate().to_dict())
    text = model.to_text()
    again = Model.from_text(text)
    assert Model.from_text(text.encode()).to_text() == again.to_text() == text
    features = all_records(SCHEMA)
    assert np.array_equal(again.trees.predict_proba(features), released.predict_proba(features))
    assert f" {released.title} for “ill”" in model_page(again)
    assert again._repr_html_() == released.html()
    table = {"age": [10, 80], "job": ["cook", "smith"], "ill": ["no", "yes"]}
    assert performance(again, table) == performance(released, table)
    if released.members:
        assert rule_list(again).rules == released.rules()
    else:
        with pytest.raises(ParameterError, match="cannot take rules"):
            rule_list(again)


def test_limits_are_for_trees() -> None:
    with pytest.raises(ParameterError, match="for trees"):
        SUM.sections(max_leaves=3)
    with pytest.raises(ParameterError, match="leave max_leaves"):
        TREE.sections(raw=True, max_leaves=3)


def test_a_text_that_is_not_a_model() -> None:
    for text in ("", "age,ill\n1,no\n", "[]", '{"format": "privet-model"', "\ud800"):
        with pytest.raises(ModelFileError, match="the text is "):
            Model.from_text(text)


def test_only_what_was_released_becomes_a_model() -> None:
    assert Model.of(Tree) is None
    assert Model.of("tree.json") is None
    assert Model.of(None) is None
    model = Model.of(TREE)
    assert model is not None
    assert (model.trees, model.scale, Model.of(model)) == (TREE, None, model)
