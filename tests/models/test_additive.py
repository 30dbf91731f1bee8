"""An additive model: scores are sums, the file holds all of it, and what is unsound is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from privet.errors import ModelFileError, ParameterError
from privet.models.additive import Additive, Part
from privet.models.codec import FORMAT, _checksum
from privet.models.curves import curves_of, describe, pairs_of, reasons_of
from privet.models.model import Model
from privet.schema import Categorical, Numeric, Schema
from privet.structure.routes import Routes
from privet.structure.splits import OneCategory


def schema(classes: int = 2) -> Schema:
    return Schema(
        (Numeric("age", 0, 100, bins=4, missing="?"), Categorical("town", tuple("abc"))),
        Categorical("ill", tuple(f"class {c}" for c in range(classes))),
    )


def model(classes: int = 2, *, leaves: bool = False, margin: float = 0.0) -> Additive:
    random = np.random.default_rng(classes)
    columns = 1 if classes == 2 else classes
    facts = schema(classes)
    parts = [
        Part((0,), (np.arange(5),), random.normal(size=(5, columns)), 0.1, ((0.0, 50.0, 100.0),), 0.7),
        Part((1,), (np.array([0, 1, 1]),), random.normal(size=(2, columns)), 0.2, ((),)),
        Part((0, 1), (np.array([0, 0, 1, 1, 2]), np.arange(3)), random.normal(size=(9, columns)), 0.3),
    ]
    routes = None
    if leaves:
        routes = Routes.in_level_order(facts, [OneCategory(1, 0), None, None])
        parts.append(Part((), (), random.normal(size=(2, columns)), 0.4))
    return Additive(facts, tuple(parts), random.normal(size=columns), routes, margin)


CODES = np.array([[0, 1, 2, 3, 4, 0], [0, 1, 2, 0, 1, 2]])


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("leaves", [False, True])
def test_scores_are_sums_looked_up(classes: int, leaves: bool) -> None:
    made = model(classes, leaves=leaves)
    age, town, pair = made.parts[:3]
    scores = made.predict_scores(CODES)
    for i, (a, t) in enumerate(CODES.T):
        said = made.offset + age.table[a] + town.table[min(t, 1)] + pair.table[[0, 0, 1, 1, 2][a] * 3 + t]
        said = said + (made.parts[3].table[0 if t == 0 else 1] if leaves else 0)
        assert scores[i] == pytest.approx(said)
    proba = made.predict_proba(CODES)
    assert proba.shape == (6, classes)
    assert proba.sum(axis=1) == pytest.approx(1)
    logits = np.column_stack([np.zeros(6), scores]) if classes == 2 else scores
    assert np.log(proba[:, 1] / proba[:, 0]) == pytest.approx(logits[:, 1] - logits[:, 0])
    assert (made.predict(CODES) == proba.argmax(axis=1)).all()


@pytest.mark.parametrize("margin", [0.0, 1.4])
@pytest.mark.parametrize("classes", [2, 3])
def test_reasons_add_up_and_name_what_they_saw(classes: int, margin: float) -> None:
    made = model(classes, leaves=True, margin=margin)
    reasons = reasons_of(made, CODES[:, 4:5])
    total, said = np.sum([reason.added for reason in reasons], axis=0), made.predict_scores(CODES[:, 4:5])[0]
    if classes > 2 and margin:  # only differences between classes matter
        total, said = total - total.mean(), said - said.mean()
    assert total == pytest.approx(said)
    assert [(reason.what, reason.saw) for reason in reasons] == [
        ("everyone", "class counts"),
        ("age", "age is missing"),
        ("town", "town = b"),
        ("age x town", "age is missing and town = b"),
        ("leaf", "town != a"),
    ]


def test_curves_tables_and_importances() -> None:
    made = model()
    age, town = curves_of(made)
    assert (age.attribute, town.attribute) == ("age", "town")
    assert age.starts is not None
    assert age.starts[:-1].tolist() == [0, 25, 50, 75]
    assert np.isnan(age.starts[-1])
    assert age.knots == (0.0, 50.0, 100.0)
    assert town.starts is None
    assert (town.values[1] == town.values[2]).all()
    (pair,) = pairs_of(made)
    assert pair.attributes == ("age", "town")
    assert pair.values.shape == (3, 3, 1)
    assert pair.names[0][0] == "age <= 25 ... 25 < age <= 50"
    text = describe(made)
    assert text.startswith("score = ")
    assert all(name in text for name in ("age", "town", "age x town"))


@pytest.mark.parametrize("margin", [0.0, 1.4])
@pytest.mark.parametrize("classes", [2, 3])
def test_probabilities_are_those_of_the_log_odds(classes: int, margin: float) -> None:
    made = model(classes, margin=margin)
    scores, proba = made.predict_scores(CODES), made.predict_proba(CODES)
    full = np.column_stack([np.zeros(len(scores)), scores]) if classes == 2 else scores
    assert np.exp(full) / np.exp(full).sum(axis=1, keepdims=True) == pytest.approx(proba)
    plain = model(classes).predict_proba(CODES)
    assert (proba.argmax(axis=1) == plain.argmax(axis=1)).all()
    assert (proba.max(axis=1) < plain.max(axis=1)).all() if margin else np.array_equal(proba, plain)


def test_a_curve_shows_what_the_link_makes_of_it() -> None:
    """The first level of age, alone: its log-odds less those of everyone."""
    made = model(margin=1.4)
    (age, town), plain = curves_of(made), curves_of(model())
    alone = Additive(made.schema, made.parts[:1], made.offset, margin=1.4).predict_scores(CODES[:, :1])
    everyone = Additive(made.schema, (), made.offset, margin=1.4).predict_scores(CODES[:, :1])
    assert age.values[0] == pytest.approx((alone - everyone)[0])
    assert age.deviation < plain[0].deviation
    assert town.values.shape == plain[1].values.shape


@pytest.mark.parametrize("margin", [0.0, 1.4])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("leaves", [False, True])
def test_a_model_survives_its_file(classes: int, leaves: bool, margin: float, tmp_path: Path) -> None:
    made = model(classes, leaves=leaves, margin=margin)
    Model("additive", made).save(tmp_path / "model.json")
    assert json.loads((tmp_path / "model.json").read_text())["version"] == (2 if margin else 1)
    read = Model.read(tmp_path / "model.json").trees
    assert isinstance(read, Additive)
    assert np.array_equal(read.predict_scores(CODES), made.predict_scores(CODES))
    assert read.to_dict() == made.to_dict()


@pytest.mark.parametrize(
    "damage",
    [
        lambda facts: facts.clear(),
        lambda facts: facts.pop("offset"),
        lambda facts: facts.update(offset=[1.0, 2.0]),
        lambda facts: facts.update(offset=["1"]),
        lambda facts: facts.update(margin=-1.0),
        lambda facts: facts.update(margin="much"),
        lambda facts: facts.update(parts={}),
        lambda facts: facts["parts"][0].pop("table"),
        lambda facts: facts["parts"][0].update(table=[[1e305]]),
        lambda facts: facts["parts"][0]["table"].pop(),
        lambda facts: facts["parts"][0].update(attributes=[9]),
        lambda facts: facts["parts"][0].update(attributes=[True]),
        lambda facts: facts["parts"][0].update(levels=[[0, 1, 2, 3, 70]]),
        lambda facts: facts["parts"][0].update(levels=[[0, 1, 2, 3, -1]]),
        lambda facts: facts["parts"][0].update(levels=[[]]),
        lambda facts: facts["parts"][0].update(deviation=-1.0),
        lambda facts: facts["parts"][0].update(widest=-1.0),
        lambda facts: facts["parts"][0].update(widest="much"),
        lambda facts: facts["parts"][0].update(knots=[[1.0], [2.0]]),
        lambda facts: facts["parts"][2].update(attributes=[0, 0]),
        lambda facts: facts.pop("routes"),
        lambda facts: facts["routes"]["first_child"].append(0),
        lambda facts: facts["routes"].update(first_child=[5, -1, -1]),
        lambda facts: facts["routes"].update(kind=[99, 0, 0]),
    ],
)
def test_a_damaged_model_is_refused(damage: Any, tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    Model("additive", model(leaves=True)).save(path)
    document = json.loads(path.read_text())
    damage(document["model"]["additive"])
    document["sha256"] = _checksum(document["model"])
    path.write_text(json.dumps(document))
    with pytest.raises(ModelFileError):
        Model.read(path)


def test_trees_and_a_sum_together_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    Model("additive", model()).save(path)
    payload = json.loads(path.read_text())["model"] | {"voting": "proba"}
    path.write_text(json.dumps({"format": FORMAT, "version": 1, "sha256": _checksum(payload), "model": payload}))
    with pytest.raises(ModelFileError, match="trees and 'additive'"):
        Model.read(path)


def test_codes_that_the_model_cannot_read_are_refused() -> None:
    for codes in (np.zeros((3, 2), int), np.zeros((2, 2)), np.array([[9], [0]])):
        with pytest.raises(ParameterError, match="features"):
            model().predict(codes)
