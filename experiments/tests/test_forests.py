"""The forests' experiments, small: what they compute, and the one figure of the thesis that no instance hides."""

from __future__ import annotations

import math

import numpy as np
import pytest
from forest_twins import forest_twins

from privet.datasets import real
from privet.datasets.fletcher import SYNTH, synth
from privet.engines.memory import MemoryEngine
from privet.errors import ParameterError
from privet.recipes.papers.smooth_forest import SmoothForest
from privet.tables.encoding import encode, encode_features
from privet.testing import SeededNoise, use_noise
from privet_experiments.ours import forest_claims, forest_settings
from privet_experiments.papers.fletcher import fig81 as fletcher_fig81
from privet_experiments.papers.fletcher import instances as fletcher_instances
from privet_experiments.papers.fletcher.leaves import deal_leaves
from privet_experiments.runner import run


def test_claims_are_judged_by_both_measures() -> None:
    good = {"table": "t", "epsilon": 1.0, "majority": [0.9], "accuracy": [0.895], "balanced_accuracy": [0.5]}
    good |= {"shares_log_loss": [0.3], "log_loss": [0.319], "auc": [None]}
    dull, brash = good | {"accuracy": [0.889]}, good | {"log_loss": [0.321]}
    assert [forest_claims.claims(row) for row in (good, dull, brash)] == [(True, True), (False, True), (True, False)]
    told = forest_claims.ForestClaims(("t",)).conclude([good, dull])
    assert [row[-1] for row in told.tables[0].rows] == ["yes", "no"]
    assert told.notes == ("claims: missed on t at 1",)


@pytest.mark.usefixtures("tables")
def test_claims_on_a_table() -> None:
    found = run("forest-claims", "full", forest_claims.ForestClaims(("wbc",), (10.0,), 2), processes=1)
    row = found.rows[0]
    assert (row["table"], row["epsilon"], len(row["accuracy"])) == ("wbc", 10, 48)  # a small table is dealt more often
    means = {name: np.mean(row[name]) for name in ("accuracy", "majority", "log_loss", "shares_log_loss")}
    assert means["accuracy"] > means["majority"] == pytest.approx(0.655, abs=0.001)
    assert means["log_loss"] < means["shares_log_loss"] == pytest.approx(0.64, abs=0.03)
    assert found.outcome.notes == ("claims: all 1 hold",)


@pytest.mark.usefixtures("tables")
def test_settings_on_a_table() -> None:
    wanted = ("defaults", "majority vote", "half as many trees")
    grid = forest_settings.ForestSettings(("vote",), (10.0,), 2, who=wanted)
    found = run("forest-settings", "full", grid, processes=1)
    assert [row[0] for row in found.outcome.tables[0].rows] == list(wanted)
    assert all(75 < float(row[1]) <= 100 for row in found.outcome.tables[0].rows)  # a constant has 61.4
    schema = real.load_schema("vote")
    trees = {name: grid.way(grid.known[name], "vote", schema, 1.0) for name in wanted}
    assert trees["half as many trees"].recipe == "random-forest"
    with pytest.raises(ParameterError, match="no learner here is called 'fewer'"):
        run("forest-settings", "full", forest_settings.ForestSettings(("vote",), who=("fewer",)))


def test_the_synthetic_tables() -> None:
    for name, (informative, random) in SYNTH.items():
        schema, table = synth(name, records=50)
        assert len(schema.attributes) == informative + random
        assert set(np.unique(table["class"])) == {0, 1}
    with pytest.raises(ParameterError, match="'Z'"):
        synth("Z")


# TH Table 8.3: per cent of leaves without records, with 1 tree and with 30 on disjoint parts, and the thesis's ±.
TABLE_83 = {"A": ((49.8, 12.8), (68.5, 2.0)), "B": ((79.1, 6.3), (90.3, 0.7)), "F": ((79.2, 6.2), (89.9, 0.7))}


@pytest.mark.parametrize("name", TABLE_83)
def test_as_many_leaves_are_empty_as_in_the_thesis(name: str) -> None:
    """Within a point or two: a mean of 30 single trees, and one forest of 30."""
    schema, table = synth(name)
    prepared = SmoothForest().prepare(schema)
    codes = encode(prepared, table)
    (one, spread), (thirty, _) = TABLE_83[name]
    engine = MemoryEngine(prepared, codes)

    def empty(trees: int, forests: int) -> float:
        found = []
        for seed in range(forests):
            random = np.random.default_rng(seed)
            routes = SmoothForest(n_estimators=trees).routes(prepared, random)
            found.append((deal_leaves(engine, routes, "disjoint", random).sum(axis=1) == 0).mean())
        return 100 * float(np.mean(found))

    assert empty(1, 30) == pytest.approx(one, abs=4 * spread / np.sqrt(30))
    assert empty(30, 2) == pytest.approx(thirty, abs=2.5)


def test_smooth_beats_global_and_the_sound_form_keeps_up() -> None:
    """Fig. 8.1 on one table, two folds. Global labels are right in 62 per cent of leaves; smooth ones nearly always."""
    found = run("fletcher-fig81", "full", fletcher_fig81.Figure81(("B",), 2), processes=1)
    accuracy = {row["column"]: float(np.mean(row["accuracy"])) for row in found.rows}
    assert found.outcome.tables[0].rows[0][:3] == ("SynthB", str(fletcher_fig81.SEEDS["B"]), "8")
    assert accuracy["smooth"] > accuracy["global"] + 5
    assert accuracy["sound"] > accuracy["global"]
    assert accuracy["smooth"] == pytest.approx(85.4, abs=4)


def test_figure_81_is_judged_by_points() -> None:
    def verdicts(smooth: float, plain: float) -> list[str]:
        columns = {"smooth": smooth, "global": plain, "sound": 80.0, "random-forest": 80.0}
        rows = [{"table": "A", "column": name, "accuracy": value} for name, value in columns.items()]
        return [one.verdict for one in fletcher_fig81.Figure81(("A",)).conclude(rows).statements]

    assert verdicts(90.0, 73.0) == ["reproduced"] * 3
    assert verdicts(70.0, 76.0) == ["differs"] * 3
    with pytest.raises(ParameterError, match="no synthetic table is called 'Z'; choose among A"):
        run("fletcher-fig81", "full", fletcher_fig81.Figure81(("Z",)))


def test_the_nearest_instance() -> None:
    scores = {0: {"smooth": 90.0, "global": 50.0}, 1: {"smooth": 88.0, "global": 72.0}}
    assert fletcher_instances.nearest("A", scores) == 1
    assert fletcher_instances.distance("A", scores[0]) == pytest.approx(22.6)


def test_chances_of_labels_known_beforehand() -> None:
    """Sensitivity 1: e^(1/2) / (1 + e^(1/2)) for the larger, a coin for equal ones; a large margin leaves no doubt."""
    counts = np.array([[3, 1], [1, 3], [2, 2], [0, 0], [0, 50]])
    plain = fletcher_instances.label_chances(counts, 1.0, np.ones(5))
    right = math.exp(0.5) / (1 + math.exp(0.5))
    np.testing.assert_allclose(plain, [1 - right, right, 0.5, 0.5, right])
    smooth = fletcher_instances.label_chances(counts, 1.0, np.exp(-np.array([2.0, 2, 0, 0, 50])))
    sharp = math.exp(0.5 * math.exp(2))
    np.testing.assert_allclose(smooth, [1 / (1 + sharp), sharp / (1 + sharp), 0.5, 0.5, 1])


def test_expected_columns_are_what_forests_score() -> None:
    """On one instance, against five forests with seeded noise, whose mean is good to some two points."""
    _, _, columns = fletcher_instances.expected("A", fletcher_fig81.SEEDS["A"])
    with use_noise(SeededNoise(0)):
        folds = {column: fletcher_fig81.accuracy("A", fletcher_fig81.SEEDS["A"], column, 5) for column in columns}
    assert columns["smooth"] == pytest.approx(np.mean(folds["smooth"]), abs=5)
    assert columns["global"] == pytest.approx(np.mean(folds["global"]), abs=5)
    assert columns["smooth"] > columns["global"] + 5
    searched = run("fletcher-instances", "full", fletcher_instances.Instances(("A",), 1), processes=1)
    expected = fletcher_instances.expected("A", 0)[2]
    assert {name: searched.rows[0][name] for name in expected} == pytest.approx(expected, rel=1e-5)
    assert searched.outcome.tables[0].rows[0][0] == "SynthA"


def test_twins() -> None:
    """Privacy flips labels, the less the larger epsilon; the twin, with all records and no noise, is no worse."""
    schema, table = synth("A", records=6000)
    flipped, accuracies = [], []
    for epsilon in (0.2, 1, 1000):
        twins = forest_twins(SmoothForest(n_estimators=20), schema, table, epsilon)
        features, labels = encode_features(twins.private.schema, table), table["class"]
        flipped.append(twins.flipped)
        accuracies.append((twins.private.predict(features) == labels).mean())
        assert (twins.twin.predict(features) == labels).mean() >= accuracies[-1] - 0.02
        assert 0.3 < twins.empty < 0.95
    assert flipped[0] > flipped[1] > flipped[2] == 0
    published = forest_twins(SmoothForest(n_estimators=20, variant="as-published"), schema, table, 1)
    plain = forest_twins(SmoothForest(n_estimators=20, variant="global-sensitivity"), schema, table, 1)
    # With sensitivity 1 and two classes a label is right with chance e^(1/2) / (1 + e^(1/2)) = 0.622.
    assert plain.flipped == pytest.approx(1 - 0.622, abs=0.08)
    assert published.flipped < plain.flipped / 2
    assert published.empty == plain.empty == twins.empty
