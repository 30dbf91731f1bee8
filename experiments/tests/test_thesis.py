"""The thesis's grids: what they count by known answers, and that statements can come out either way."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from privet.datasets.fletcher import synth
from privet.engines.memory import MemoryEngine
from privet.growing.forests.random_trees import RandomTrees
from privet.recipes.papers.smooth_forest import SmoothForest
from privet.schema import Categorical, Numeric, Schema
from privet.tables.encoding import encode
from privet_experiments.experiment import Row
from privet_experiments.folds import MEASURES
from privet_experiments.judge import Measure, judge, published
from privet_experiments.outcome import Statement
from privet_experiments.papers.fletcher import contest, greedy, leaves, patterns, retention, signal, smooth
from privet_experiments.papers.fletcher.tables import SYNTHETIC, TABLES, load
from privet_experiments.references import RandomTreesReference
from privet_experiments.registry import entry
from privet_experiments.runner import run
from privet_experiments.sweep import Sweep

CLASSES = Categorical("y", (0, 1))


def form(name: str, size: Any) -> Any:
    return entry(name).form(size)


def invented(grid: Sweep, accuracy: Mapping[str, Any], spread: float = 0.01) -> list[Row]:
    """Rows as if every learner had the accuracy that ``accuracy`` says, by table and epsilon where it is callable."""
    rows = []
    for job in grid.jobs():
        value = accuracy[job["learner"]]
        value = value(job["table"], job["epsilon"]) if callable(value) else value
        folds = [value - spread, value + spread]
        rows.append(job | dict.fromkeys((*MEASURES, "rare_f1"), folds) | {"private": True})
    return rows


def verdicts(statements: tuple[Statement, ...]) -> set[str]:
    return {one.verdict for one in statements}


# ---- leaves ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "attributes",
    [
        tuple(Categorical(f"c{i}", tuple(range(2 + i))) for i in range(4)),
        tuple(Numeric(f"x{i}", 0, 1, bins=64) for i in range(3)),
        (*(Numeric(f"x{i}", 0, 1, bins=64) for i in range(2)), Categorical("c", (0, 1, 2)), Categorical("d", (0, 1))),
    ],
    ids=["discrete", "numbers", "both"],
)
def test_expected_leaves_are_those_of_random_trees(attributes: Any) -> None:
    """A mean of 2,000 trees, within five standard errors."""
    schema = Schema(attributes, CLASSES)
    routes = RandomTrees(2000, 3, "mixed", max_leaves=10_000).draw(schema, np.random.default_rng(0))
    found = np.bincount(routes.owner[routes.leaves], minlength=2000)
    limit = 5 * found.std() / math.sqrt(2000) + 1e-9
    assert leaves.expected_leaves(schema, 3) == pytest.approx(found.mean(), abs=limit)


def test_labels_as_published_by_hand() -> None:
    """Margins 0, 2 and 1 at epsilon 1; three classes, of which two share the first place in the last leaf."""
    counts = np.array([[3, 3, 1], [4, 2, 0], [0, 0, 1]])
    wins, sensitivity = leaves.chance_of_winning(counts, 1.0)
    np.testing.assert_allclose(sensitivity, np.exp([0.0, -2, -1]))
    weights = [math.exp(0.5), math.exp(0.5 * math.exp(2)), math.exp(0.5 * math.e)]
    np.testing.assert_allclose(wins, [2 * weights[0] / (2 * weights[0] + 1), *(w / (w + 2) for w in weights[1:])])


def test_records_are_assigned_to_parts_or_to_all() -> None:
    schema, table = synth("A", records=500)
    prepared = SmoothForest().prepare(schema)
    engine = MemoryEngine(prepared, encode(prepared, table))
    random = np.random.default_rng(0)
    routes = SmoothForest(n_estimators=4, max_depth=3).routes(prepared, random)
    assert leaves.deal_leaves(engine, routes, "disjoint", random).sum() == 500
    whole = leaves.deal_leaves(engine, routes, "all", random)
    assert whole.sum() == 4 * 500
    twin = RandomTreesReference(schema, 3, n_estimators=4).fit(table)
    counts = np.concatenate([tree.counts[tree.is_leaf] for tree in twin.model_.trees])  # type: ignore[union-attr,index]
    assert counts.sum() == 4 * 500
    assert not twin.certificate_.private


def test_leaves_are_judged() -> None:
    """The thesis's own numbers agree with the thesis; others do not."""
    tables = ("SynthA", "SynthB", "wall-robot-4")
    grid = leaves.Leaves(tables, leaves.SIZES, 3)

    def rows(shift: float) -> list[Row]:
        found = []
        for job in grid.jobs():
            name = job["table"]
            empty = dict(zip((1, 30), leaves.EMPTY[name], strict=True)).get(job["trees"], 50.0)
            flipped = dict(zip(leaves.SIZES, leaves.FLIPPED.get(name, (1, 2, 3, 4, 5)), strict=True))[job["trees"]]
            disjoint = job["sharing"] == "disjoint"
            sensitivity = 0.1 if disjoint is (shift == 0) else 0.2
            accuracy = 80.0 if disjoint else 62.0 + 4 * shift
            values = {"empty": empty + shift, "flipped": flipped + shift, "sensitivity": sensitivity}
            found.append(job | {"bound": False, "accuracy": [accuracy]} | {k: [v] for k, v in values.items()})
        return found

    same, other = grid.conclude(rows(0.0)), grid.conclude(rows(6.0))
    assert len(same.statements) == len(other.statements) == 3 + 3 + 2 * 2
    assert verdicts(same.statements) == {"reproduced"}
    apart = [one.source for one in other.statements if one.verdict == "differs"]
    assert set(apart) == {"TH Table 8.3", "TH Fig. 8.2a", "TH 8.4.2", "TH Fig. 8.2b", "TH Fig. 8.5"}


# ---- sweeps ---------------------------------------------------------------------------------------------------------


def test_statements_of_the_greedy_forests() -> None:
    grid = form("fletcher-fig61", "full")
    story = {
        greedy.ONE: lambda _, beta: 0.80 + beta / 100,
        greedy.FOUR: lambda table, beta: (0.70 if table == "car" else 0.81) + beta / 100,
        greedy.FS: lambda table, beta: (0.58 if table == "nursery" else 0.65) + beta / 100,
        greedy.AS_READ: lambda table, beta: (0.58 if table == "nursery" else 0.65) + beta / 100,
        greedy.FOREST: lambda table, _: 0.60 if table == "connect-4" else 0.87,
        "DPDF, 1 tree, sound": 0.8,
        "DPDF, 4 trees, sound": 0.8,
    }
    assert verdicts(grid.conclude(invented(grid, story, 0.03)).statements) == {"reproduced"}
    turned = dict.fromkeys(story, 0.7) | {greedy.FS: 0.8, greedy.AS_READ: 0.8, greedy.FOREST: 0.9}
    assert verdicts(grid.conclude(invented(grid, turned, 0.3)).statements) == {"differs"} | {
        one.verdict for one in grid.conclude(invented(grid, turned, 0.3)).statements if "rises" in one.says
    }


def test_statements_of_the_signal_forest() -> None:
    grid = form("fletcher-fig71", "full")

    def ours(table: str, beta: float) -> float:
        return 0.95 if (table, beta) == ("mushroom", 2.0) else 0.45 if (table, beta) == ("yeast", 0.01) else 0.55

    story = {signal.OURS: ours, signal.JPW: 0.5, "majority": 0.4}
    assert verdicts(grid.conclude(invented(grid, story, 0.02)).statements) == {"reproduced"}
    turned = {signal.OURS: 0.4, signal.JPW: 0.5, "majority": 0.4}
    assert verdicts(grid.conclude(invented(grid, turned, 0.2)).statements) == {"differs"}


def test_statements_of_the_contest() -> None:
    grid = form("fletcher-fig88", "full")
    printed = published("fletcher.fig88", "rgv")

    def ours(table: str, _: float) -> float:
        return printed.get(table, (80.0, 0.0))[0] / 100

    def jpw(table: str, epsilon: float) -> float:
        return ours(table, epsilon) - {"claves": -0.025, "adult-complete": 0.035, "SynthA": 0.36}.get(table, 0.1)

    story = {
        contest.OURS: ours,
        contest.SOUND: 0.8,
        contest.JPW: jpw,
        contest.FS: lambda table, e: jpw(table, e) - 0.05,
        contest.RGV: lambda table, _: printed.get(table, (0.0, 70.0))[1] / 100,
        contest.FOREST: 0.99,
    }
    found = grid.conclude(invented(grid, story, 0.01)).statements
    assert verdicts(found) == {"reproduced"}
    assert sum(one.source == "TH Fig. 8.11" for one in found) == len(printed) + 3
    turned = story | {contest.OURS: 0.3, contest.FOREST: 0.2, contest.FS: 0.9, contest.JPW: 0.8}
    apart = [one for one in grid.conclude(invented(grid, turned, 0.01)).statements if one.verdict == "differs"]
    assert {one.source for one in apart} == {one.source for one in found}


def test_statements_of_depths_sizes_records_and_budgets() -> None:
    depths = form("fletcher-fig83", "full")
    story: dict[str, Any] = {smooth.HALF: 0.7, smooth.THEOREM: 0.8, smooth.FULL: 0.75}
    assert "differs" not in verdicts(depths.conclude(invented(depths, story)).statements)
    turned = {smooth.HALF: 0.8, smooth.THEOREM: 0.7, smooth.FULL: 0.75}
    assert [one.verdict for one in depths.conclude(invented(depths, turned)).statements[:2]] == ["differs"] * 2

    sizes = form("fletcher-fig84", "full")
    names = [learner.name for learner in sizes.learners()]
    best = {name: 0.9 if name.startswith("100 ") else 0.8 for name in names}
    spots = [one for one in sizes.conclude(invented(sizes, best)).statements if "highest" in one.says]
    assert verdicts(tuple(spots)) == {"reproduced"}
    worst = {name: 0.9 if name.startswith("1 ") else 0.8 for name in names}
    spots = [one for one in sizes.conclude(invented(sizes, worst)).statements if "highest" in one.says]
    assert verdicts(tuple(spots)) == {"differs"}

    records = form("fletcher-fig86", "full")

    def rising(table: str, epsilon: float) -> float:
        return 0.5 + 0.08 * math.log10(int(table.split()[1]) * epsilon)

    found = records.conclude(invented(records, {smooth.SMOOTH: rising, smooth.SOUND: 0.5}))
    assert [one.verdict for one in found.statements] == ["reproduced"] * 5
    assert [figure.across for figure in found.figures] == ["records", "records"]
    falling = {smooth.SMOOTH: lambda table, _: 1.2 - rising(table, 1.0), smooth.SOUND: 0.5}
    assert verdicts(records.conclude(invented(records, falling)).statements) == {"differs"}

    budgets = form("fletcher-fig87", "full")
    near = {smooth.SMOOTH: lambda _, e: 0.8 - 0.02 / e, smooth.SOUND: 0.8, smooth.TWIN: 0.8, smooth.FOREST: 0.85}
    assert verdicts(budgets.conclude(invented(budgets, near)).statements) == {"reproduced"}
    far = near | {smooth.SMOOTH: 0.7, smooth.FOREST: 0.6}
    assert verdicts(budgets.conclude(invented(budgets, far)).statements) == {"differs"}


def test_statements_of_the_chapters() -> None:
    grid = form("fletcher-fig93", "full")
    story = dict.fromkeys((learner.name for learner in grid.learners()), 0.9)
    story |= {contest.SIXTH: 0.7, contest.SEVENTH: 0.8, contest.EIGHTH: 0.85}
    assert verdicts(grid.conclude(invented(grid, story)).statements) == {"reproduced"}
    turned = story | {contest.SIXTH: 0.95}
    assert [one.verdict for one in grid.conclude(invented(grid, turned)).statements] == [
        "reproduced",
        "differs",
        "differs",
    ]


def test_few_tables_judge_nothing() -> None:
    assert run("depths", "smoke", form("fletcher-fig83", "smoke"), processes=1).outcome.statements == ()


def test_tables_of_chapter_8() -> None:
    assert len(TABLES) == 14
    assert set(SYNTHETIC) < set(TABLES)
    schema, columns = load("SynthF: 100 of 300")
    assert len(columns["class"]) == 100
    assert len(schema.attributes) == 10
    _, more = load("SynthF: 300 of 300")
    np.testing.assert_array_equal(more["x1"][:100], columns["x1"])


# ---- chapter 5 ------------------------------------------------------------------------------------------------------


def retained(turn: float) -> list[Row]:
    """Rows of anonymisers: patterns get worse with noise and trees do not care, or the other way round."""
    rows: list[Row] = []
    for number, table in enumerate(("banknote", "wilt", "magic")):
        for method in ("uniform", "gaussian"):
            for place, rate in enumerate((0.02, 0.1, 0.2, 0.3)):
                loss = turn * rate + (0.01 * (place % 2) if turn < 0 else 0)
                tree = 0.8 + (0.01 if (place + number) % 2 else -0.01) + (0 if turn > 0 else 5 * loss)
                lost = {"pattern_accuracy": 1 + loss, "pld": 1 + loss / 2, "psd": 1 + loss / 4}
                rows.append(
                    {
                        "table": table,
                        "method": method,
                        "setting": rate,
                        **lost,
                        **dict.fromkeys(retention.OF_TREES, tree),
                    }
                )
    for epsilon, lost, accuracy in ((0.02, 0.4, 0.5), (0.1, 0.1, 0.8), (0.5, 0.1, 0.81), (1.0, 0.099, 0.82)):
        lost, accuracy = (lost, accuracy) if turn > 0 else (0.5 - lost, 1.3 - accuracy)
        measures = dict.fromkeys(retention.OF_PATTERNS, lost) | dict.fromkeys(retention.OF_TREES, accuracy)
        rows.append({"table": "banknote", "method": "dpcube", "setting": epsilon, **measures})
    return rows


def test_statements_of_chapter_5() -> None:
    def judged(measures: Any, rows: list[Row]) -> tuple[Statement, ...]:
        return judge("fletcher.retention", (one for one in measures(rows) if one.name != "matrix"))

    for measures, count in ((retention.trends, 3), (retention.correlations, 4), (retention.budgets, 4)):
        found = judged(measures, retained(1.0))
        assert len(found) == count
        assert verdicts(found) == {"reproduced"}, found
    turned = retained(-1.0)
    assert verdicts(judged(retention.trends, turned)) == {"differs"}
    assert verdicts(judged(retention.budgets, turned)) == {"differs"}
    weak = [one for one in judged(retention.correlations, turned) if "weak" in one.says]
    assert verdicts(tuple(weak)) == {"differs"}
    assert tuple(retention.correlations(turned[:8])) == ()


def test_the_matrix_of_correlations_is_printed_and_judged_by_its_signs() -> None:
    thesis = published("fletcher.retention", "matrix")["uniform"]
    for sign, verdict in ((1, "reproduced"), (-1, "differs")):
        [found] = judge("fletcher.retention", [Measure("matrix", at="uniform", r=[sign * r for r in thesis])])
        assert found.verdict == verdict
    uniform, gaussian = retention.printed_matrix(retained(1.0))
    assert uniform.columns == ("measure", *retention.TOLD[1:])
    assert uniform.rows[0][1] == "-1.00 (-0.77)"  # pattern accuracy falls as labels are lost
    assert gaussian.rows[-1][1:] == ("", "", "", "", "1.00 (0.93)")


def test_patterns_are_matched_as_they_are_written() -> None:
    columns = {"age": np.array(["40", "41", "70"], dtype=object), "fnlwgt": np.array([10.0, 20, 30])}
    assert patterns.matches(columns, (("age", 40, np.inf), ("fnlwgt", -np.inf, 20))).tolist() == [False, True, False]
    rows: list[Row] = [
        {"rate": 0.0, "support": [283, 199, 932, 8276], "rich": [0.43, 0.08, 0.95, 0.19], "distance": [0.0] * 4},
        {"rate": 0.3, "support": [315, 92, 4000, 3000], "rich": [0.3, 0.1, 0.32, 0.19], "distance": [0, 0, 0.4, 0.0]},
    ]
    found = patterns.Patterns((0.0, 0.3)).conclude(rows)
    assert len(found.statements) == 6
    assert verdicts(found.statements) == {"reproduced"}
    rows = [
        rows[0] | {"rich": [0.6] * 4, "support": [400, 10, 2000, 900]},
        rows[1] | {"rich": [0.9] * 4, "distance": [0.3] * 4},
    ]
    rows[1]["support"] = [100, 92, 900, 8000]
    assert verdicts(patterns.Patterns((0.0, 0.3)).conclude(rows).statements) == {"differs"}
