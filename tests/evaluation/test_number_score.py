"""A private score of numbers: what it measures, what it costs, and what keeps it private."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics
from typer.testing import CliRunner

import privet
from privet import Ledger, Unit, private_score
from privet.audit import audit_learner
from privet.audit.zoo import Pair
from privet.cli.app import app
from privet.evaluation import predictions
from privet.evaluation import private_score as scoring
from privet.evaluation.number_score import PrivateNumberScore
from privet.evaluation.rounding import NoisyGrid, both_sides, clip_of, rounded, sizes_of
from privet.models.model import Model
from privet.models.number_tree import NumberTree
from privet.privacy.dataset import PrivateDataset
from privet.schema import Categorical, Numeric, Schema
from privet.structure.splits import OneCategory
from privet.testing import SeededNoise, ZeroNoise, use_noise

SCHEMA = Schema((Categorical("sex", ("f", "m")), Categorical("ward", ("a", "b"))), Numeric("wage", 0, 100))
CERTIFICATE = Ledger(1).certificate().to_dict()


def tree(schema: Schema = SCHEMA, values: tuple[float, float] = (30.0, 60.0)) -> NumberTree:
    counts, value = np.array([[np.nan], [1.0], [1.0]]), np.array([0.0, *values])
    return NumberTree.of(schema, [OneCategory(0, 0), None, None], counts, value, np.zeros(3))


MODEL = Model("public", tree(), {}, CERTIFICATE)


def table(n: int, seed: int = 0, noise: float = 8.0) -> dict[str, Any]:
    random = np.random.default_rng(seed)
    sex = random.integers(0, 2, n)
    wage = 30 + 30 * sex + random.normal(0, noise, n)
    return {"sex": np.array(["f", "m"])[sex], "ward": np.array(["a", "b"])[random.integers(0, 2, n)], "wage": wage}


def exactly(records: Any, model: Model = MODEL, **more: Any) -> PrivateNumberScore:
    with use_noise(ZeroNoise()):
        score: PrivateNumberScore = private_score(model, records, None, 1, held_out=True, **more)
    return score


# ---- what it measures ---------------------------------------------------------------------------------------------


def test_without_noise_it_is_what_scikit_learn_says() -> None:
    records = table(20_000)
    y = records["wage"]
    predicted = np.where(records["sex"] == "f", 30.0, 60.0)
    score = exactly(records)
    assert score.mae.value == pytest.approx(metrics.mean_absolute_error(y, predicted), rel=0.005)
    assert score.rmse.value == pytest.approx(metrics.root_mean_squared_error(y, predicted), rel=0.005)
    assert score.r2.value == pytest.approx(metrics.r2_score(y, predicted), abs=0.005)
    for name, estimate in score.measures.items():
        assert estimate.low < estimate.value < estimate.high, name


def test_errors_of_one_size_are_right_on_average() -> None:
    """Between two points of the grid: without coins, all of them would be rounded to the same side."""
    grid = sizes_of(SCHEMA.number)
    for size in (7.0, 0.013, 61.0):
        points = grid[rounded(np.full(200_000, size), grid)]
        assert len(set(points.tolist())) == 2
        assert points.mean() == pytest.approx(size, rel=0.002)  # 8 standard deviations of the mean: below 1e-14


@pytest.mark.parametrize("times", [1, 50, 10**6])
def test_wide_bounds_cost_little(times: int) -> None:
    schema = replace(SCHEMA, label=Numeric("wage", 0, 100 * times))
    cuts = replace(schema, label=replace(schema.number, thresholds=(30.0, 45.0, 60.0)))  # as a fit buys them
    with use_noise(SeededNoise(0)):
        score = private_score(Model("public", tree(cuts), {}, CERTIFICATE), table(20_000), None, 1, held_out=True)
    assert score.clip < 200
    assert score.r2.value == pytest.approx(0.78, abs=0.05)
    assert score.mae.value == pytest.approx(6.4, abs=0.3)


def simulated(n: int, epsilon: float, tables: int) -> dict[str, float]:
    """How often intervals hold what infinitely many records would give; seeded, so there is no false alarm."""
    random = np.random.default_rng(1)
    label, held = SCHEMA.number, dict.fromkeys(("R2", "MAE", "RMSE"), 0)
    sizes, stop = sizes_of(label), -math.expm1(-epsilon / 2)
    truth = {"R2": 1 - 64 / (64 + 225), "MAE": 8 * math.sqrt(2 / math.pi), "RMSE": 8.0}
    with use_noise(ZeroNoise()):
        for _ in range(tables):
            off = random.normal(0, 8, n)
            away = off + random.choice([-15, 15], n) + 3  # the public centre is not quite the mean
            found = []
            for values, grid in ((np.abs(off), sizes), (away, both_sides(sizes))):
                counts = np.bincount(rounded(values, grid), minlength=grid.size)
                drawn = random.geometric(stop, (2, grid.size))
                found.append(tuple((counts + drawn[0] - drawn[1]).tolist()))
            fraction = Fraction(str(epsilon))
            score = PrivateNumberScore(label, 0.0, *found, fraction, 2 / fraction, True, Ledger(1).certificate())
            for name, estimate in score.measures.items():
                held[name] += estimate.low <= truth[name] <= estimate.high
    return {name: times / tables for name, times in held.items()}


@pytest.mark.parametrize(("n", "epsilon"), [(500, 0.5), (500, 1), (20_000, 0.1), (20_000, 1)])
def test_intervals_hold_on_a_few_tables(n: int, epsilon: float) -> None:
    found = simulated(n, epsilon, 200)
    assert all(0.90 <= share <= 1 for share in found.values()), found


@pytest.mark.slow
@pytest.mark.parametrize(("n", "epsilon"), [(500, 0.5), (500, 1), (20_000, 0.1), (20_000, 1)])
def test_intervals_hold_19_times_in_20(n: int, epsilon: float) -> None:
    found = simulated(n, epsilon, 2000)
    print(n, epsilon, {name: f"{share:.1%}" for name, share in found.items()})
    assert all(0.93 <= share <= 1 for share in found.values()), found


def test_an_interval_without_the_noise_is_too_narrow(monkeypatch: Any) -> None:
    monkeypatch.setattr("privet.evaluation.rounding.noise_variance", lambda scale: 0.0)
    assert simulated(20_000, 0.1, 100)["MAE"] < 0.7


def test_uninformative_counts_exclude_no_value() -> None:
    sizes = sizes_of(SCHEMA.number)
    empty = tuple([0] * sizes.size), tuple([0] * both_sides(sizes).size)
    score = PrivateNumberScore(SCHEMA.number, 50.0, *empty, Fraction(1), Fraction(2), None, Ledger(1).certificate())
    assert math.isnan(score.mae.value)
    assert math.isnan(score.r2.value)
    assert (score.r2.low, score.r2.high) == (-math.inf, 1)
    assert "unknown" in str(score)


def test_the_clip_leaves_out_noise_and_keeps_records() -> None:
    sizes = sizes_of(Numeric("wage", 0, 10**8))
    counts = np.bincount(rounded(np.abs(np.random.default_rng(0).normal(0, 8, 10_000)), sizes), minlength=sizes.size)
    noisy = counts + np.random.default_rng(1).laplace(0, 2, sizes.size)
    assert 20 < clip_of([NoisyGrid(sizes, noisy, 2.0)], sizes) < 50


# ---- what it costs, and says --------------------------------------------------------------------------------------


def test_one_epsilon_buys_two_histograms() -> None:
    ledger = Ledger(1)
    score = private_score(MODEL, table(500), None, Fraction(1, 2), ledger, held_out=False)
    assert ledger.spent == score.certificate.epsilon == Fraction(1, 2)
    charges = ledger.certificate().charges
    assert [c.what for c in charges] == ["private score: errors", "private score: labels"]
    assert {c.scale for c in charges} == {score.scale} == {4}
    assert "errors above" in str(score)
    told = json.loads(json.dumps(score.to_dict()))
    assert {"r2", "mae", "rmse", "clip", "errors", "labels", "certificate", "held_out"} <= told.keys()


def test_tables_of_any_kind_and_labels_of_none(tmp_path: Any) -> None:
    records = table(2000)
    pd.DataFrame(records).to_csv(tmp_path / "table.csv", index=False)
    wanted = exactly(records)
    for source in (pd.DataFrame(records), tmp_path / "table.csv", privet.protect(records, SCHEMA, Ledger(1))):
        assert exactly(source).mae.value == pytest.approx(wanted.mae.value, rel=0.02)
    some = dict(records, wage=np.where(np.arange(2000) < 500, np.nan, records["wage"]))
    assert sum(exactly(some).errors) == sum(exactly(some).labels) == 1500


def test_a_fitted_regressor_is_scored_from_the_command_line(tmp_path: Any) -> None:
    model = privet.AdditiveRegressor(SCHEMA, epsilon=2).fit(table(4000))
    model.save(tmp_path / "model.json")
    pd.DataFrame(table(4000, seed=1)).to_csv(tmp_path / "table.csv", index=False)
    asked = ["score", str(tmp_path / "model.json"), str(tmp_path / "table.csv"), "--epsilon", "1", "--held-out"]
    shown = CliRunner().invoke(app, asked)
    assert shown.exit_code == 0, shown.output
    assert all(name in shown.output for name in ("R2", "MAE", "RMSE", "count as that"))
    told = json.loads(CliRunner().invoke(app, [*asked, "--json"]).stdout)
    assert told["r2"]["low"] < told["r2"]["value"] < told["r2"]["high"] <= 1


# ---- what keeps it private ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class NumberPair(Pair):
    @property
    def place(self) -> int:
        return 0  # the newcomer comes first


ROWS = (("f", "a", 30.0), ("m", "a", 41.5), ("m", "b", 100.0))
ADDED = [NumberPair(f"one more: {new}", SCHEMA, ROWS, (new, *ROWS)) for new in (("f", "b", 47.0), ("m", "a", 1e9))]
REPLACED = [NumberPair("another", SCHEMA, (("f", "a", 2.0), *ROWS), (("m", "b", 77.7), *ROWS))]
TWO_ROWS = replace(SCHEMA, unit=Unit("who", 2))
OF_A_UNIT = [
    NumberPair("a unit of two rows", TWO_ROWS, tuple((*row, i) for i, row in enumerate(ROWS)),
               (("f", "a", 8.0, 9), ("m", "b", 9.0, 9), *((*row, i) for i, row in enumerate(ROWS))))
]  # fmt: skip


def score_of(data: PrivateDataset, epsilon: Fraction) -> Any:
    return private_score(Model("public", tree(data.schema), {}, CERTIFICATE), data, None, epsilon, held_out=True)


def audited(pairs: Any, neighbours: str = "add-remove") -> Any:
    how: dict[str, Any] = {"transcripts": 3, "complete": 0, "recuts": lambda schema: True}
    return audit_learner(score_of, pairs, 1, neighbours=neighbours, **how)


@pytest.mark.parametrize(("pairs", "neighbours"), [(ADDED, "add-remove"), (REPLACED, "replace-one")])
def test_it_keeps_its_promise_tightly(pairs: Any, neighbours: str) -> None:
    result = audited(pairs, neighbours)
    assert result.verdict == "holds", result
    assert result.lower_bound == pytest.approx(1)


def test_a_unit_of_two_rows_loses_no_more() -> None:
    result = audited(OF_A_UNIT)
    assert result.verdict != "violated"  # it cannot say more: it pairs the coins of one more record, not of two
    assert result.lower_bound == pytest.approx(1)


def full_price_each(data: PrivateDataset, cells: Any, count: int, epsilon: Any, what: str) -> Any:
    """Each histogram with the noise of the whole epsilon, charged as a half."""
    data.ledger.charge(epsilon, what).redeem()
    free = PrivateDataset(privet.protect({n: [] for n in SCHEMA.columns}, SCHEMA, Ledger(1))._engine, Ledger(2))
    return noisy_cells(free, cells, count, 2 * epsilon, what)


noisy_cells = predictions.noisy_cells


def test_a_score_that_breaks_it_is_caught(monkeypatch: Any) -> None:
    for module in (scoring, predictions):
        monkeypatch.setattr(module, "noisy_cells", full_price_each)
    result = audited(ADDED)
    assert result.verdict == "violated"
    assert result.lower_bound == pytest.approx(2)
