"""Plans for labels that are numbers: invented tables, R2 in place of accuracy, and the same words everywhere."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from privet.cli.app import app
from privet.errors import ParameterError, RecipeError
from privet.planning import pictures
from privet.planning.forecast import Forecast
from privet.planning.planner import FOR_NUMBERS, plan
from privet.planning.strength import STRENGTHS, NumberWorld
from privet.schema import Categorical, Numeric, Schema

SCHEMA = Schema(
    (Numeric("age", 0, 100), Categorical("sex", ("f", "m")), Categorical("ward", ("a", "b", "c"))),
    Numeric("wage", 0, 80),
    name="wages",
)


@pytest.fixture(scope="module")
def forecast() -> Forecast:
    return plan(SCHEMA, 2_000, signal="strong", epsilons=[0.001, 20], worlds=4, seed=1)


def test_less_epsilon_costs_more(forecast: Forecast) -> None:
    """At 0.001, 2,000 records are two noise scales: a model says one number, drawn nearly at random."""
    assert forecast.measure == "R2"
    assert tuple(line.recipe for line in forecast.lines[::2]) == FOR_NUMBERS
    for recipe in FOR_NUMBERS:
        little, much = forecast.of(recipe)
        assert 0.4 < much.without_noise < 1
        assert abs(much.lost) < 25 < little.lost
        assert little.score < much.score
    assert all(line.leaf_records is None for line in forecast.lines)
    assert all(answer.class_counts_within is None for answer in forecast.answers)


def test_stronger_signals_can_be_explained_better() -> None:
    """What the hidden classes explain of the numbers: the best that a learner could."""
    rng, best = np.random.default_rng(0), {}
    for name, signal in STRENGTHS.items():
        shares = []
        for _ in range(30):
            world = NumberWorld.draw(SCHEMA, signal, rng)
            records = world.sample(2000, rng)
            hidden = world.classes.tree.classify(records)
            groups = [records.labels[hidden == c] for c in np.unique(hidden)]
            inside = sum(group.var() * group.size for group in groups) / records.labels.size
            shares.append(1 - inside / records.labels.var())
        best[name] = float(np.mean(shares))
    assert 0.05 < best["weak"] < best["medium"] < best["strong"] < 0.95


def test_labels_are_as_declared() -> None:
    whole = Schema(SCHEMA.attributes, Numeric("stars", 1, 5, integer=True))
    rng = np.random.default_rng(0)
    labels = NumberWorld.draw(whole, STRENGTHS["weak"], rng).sample(1000, rng).labels
    assert set(labels.tolist()) <= {1, 2, 3, 4, 5}


def test_refusals_name_the_parameter() -> None:
    with pytest.raises(ParameterError, match="largest_class is for labels that are classes"):
        plan(SCHEMA, 1000, largest_class=0.7)
    with pytest.raises(RecipeError, match="'diffpc45' predicts classes"):
        plan(SCHEMA, 1000, recipes=["diffpc45"])


def test_words_and_pictures(forecast: Forecast, tmp_path: Any) -> None:
    told = json.loads(json.dumps(forecast.to_dict()))
    assert told["measure"] == "R2"
    assert told["forecasts"][0].keys() >= {"r2", "without_noise", "lost"}
    assert "accuracy" not in told["forecasts"][0]
    assert pictures.draw(forecast).startswith(b"\x89PNG")
    SCHEMA.to_json(tmp_path / "schema.json")
    asked = ["plan", "--schema", str(tmp_path / "schema.json"), "--records", "500", "--epsilon", "1", "--worlds", "3"]
    shown = CliRunner().invoke(app, [*asked, "--recipe", "exact-regression"])
    assert shown.exit_code == 0, shown.output
    assert "R2 %" in shown.stdout
    assert "class counts" not in shown.stdout


@pytest.mark.parametrize("ask", [{"ask": "fit", "recipe": "exact-regression"}, {"ask": "count"}])
def test_the_server_forecasts_the_same(ask: dict[str, str]) -> None:
    from privet.server.answering import forecast as asked

    request = {"ask": ask | {"epsilon": "1"}, "schema": SCHEMA.to_dict(), "signal": "weak", "records": 500}
    found = asked(request | {"seconds": 0})
    assert found["measure"] == "R2"
    assert [line["recipe"] for line in found["forecasts"]] == (["exact-regression"] if ask["ask"] == "fit" else [])
