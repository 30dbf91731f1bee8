"""Bai et al. run again: traces, distances, accuracies and times, and what they are judged by."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from privet.engines.memory import MemoryEngine
from privet.errors import ParameterError
from privet.privacy.counting import ROOT
from privet.recipes.unsound.mcmc import Chain, ExactStop, OpenBlock
from privet.schema import Categorical, Schema
from privet.tables.encoding import Codes
from privet_experiments.experiment import Row
from privet_experiments.papers.bai import chain as bai_chain
from privet_experiments.papers.bai import depths as bai
from privet_experiments.papers.bai.chain import BaiChain
from privet_experiments.papers.bai.complexity import Complexity, at
from privet_experiments.papers.bai.depths import PUBLISHED, Bai
from privet_experiments.papers.bai.time import BaiTime
from privet_experiments.registry import entry
from privet_experiments.runner import run

# ---- the chain ----------------------------------------------------------------------------------------------------


def test_spaces_too_large_to_list_are_refused() -> None:
    schema = Schema(tuple(Categorical(f"a{i}", (0, 1)) for i in range(8)), Categorical("c", (0, 1)))
    table = Codes(np.zeros((8, 4), dtype=np.uint8), np.zeros(4, dtype=np.uint8))
    with pytest.raises(ParameterError, match="more than 5000 subtrees"):
        bai_chain.chain_law(schema, table, 3, 1.0)


@pytest.mark.slow
def test_the_chain_settles_elsewhere_where_arities_differ() -> None:
    """The table of the page: nothing is simulated, so it is the same each time."""
    grid = BaiChain()
    rows = [job | grid.run(job) for job in grid.jobs() if "space" in job]
    assert len(rows) == len(bai_chain.SPACES) * 2
    for row in rows:
        assert (row["distances"][-1] < 1e-6) == (len(set(row["space"])) == 1)
    by = {(tuple(row["space"]), row["epsilon"]): row["distances"] for row in rows}
    assert round(by[(2, 2, 4), 0.1][-1], 3) == 0.215
    assert round(by[(2, 2, 2, 2), 1.0][0], 3) == 0.665


def test_traces_need_two_layers() -> None:
    with pytest.raises(ParameterError, match="layers"):
        bai_chain.trace(layers=1)


@pytest.mark.needs_data
def test_the_score_of_the_chain_rises_on_vote(data_dir: Path) -> None:
    trace = bai_chain.trace("vote", 10, layers=4, chain=Chain(50, 300, 0.0), data_dir=data_dir)
    assert len(trace.scores) == 300
    assert np.mean(trace.scores[-50:]) > trace.scores[0]
    assert trace == bai_chain.trace("vote", 10, layers=4, chain=Chain(50, 300, 0.0), data_dir=data_dir)


@pytest.mark.usefixtures("tables")
def test_the_chains_of_the_figure() -> None:
    found = run("bai-chain", "full", BaiChain(("vote",), steps=20, spaces=0), processes=1)
    assert [row["epsilon"] for row in found.rows] == [0.01, 0.1, 1.0, 10.0]
    assert [row["steps"] for row in found.rows] == [20] * 4
    assert len({tuple(row["scores"]) for row in found.rows}) == 4  # not one and the same dice
    assert len(found.outcome.figures[0].series) == 4


def test_a_chain_that_climbs_is_not_stable() -> None:
    def chains(last: float, spread: float) -> list[Row]:
        same: Row = {"table": "vote", "steps": 8, "scores": [0.0] * 7 + [last]}
        return [same | {"epsilon": e, "spread": spread * e} for e in (1.0, 10.0)]

    grid = BaiChain(("vote",), (1.0, 10.0), spaces=0)
    stable, wild = grid.conclude(chains(1.0, 1.0)).statements
    assert (stable.verdict, wild.verdict) == ("reproduced", "reproduced")
    assert grid.conclude(chains(50.0, 1.0)).statements[0].verdict == "differs"
    assert grid.conclude(chains(1.0, -1.0)).statements[1].verdict == "differs"


# ---- accuracy -----------------------------------------------------------------------------------------------------


def test_unknown_tables_are_refused() -> None:
    with pytest.raises(ParameterError, match="no figure shows 'iris'; choose among vote"):
        run("bai", "full", Bai(("iris",)))


@pytest.mark.usefixtures("tables")
def test_every_learner_on_a_table() -> None:
    found = run("bai", "full", Bai(("vote",), (1.0,), 2, layers=3, steps=20), processes=1)
    private = {row["learner"]: row["private"] for row in found.rows}
    assert set(private) == set(Bai.known)
    assert {name for name, kept in private.items() if not kept} == set(PUBLISHED)


def test_the_papers_settings() -> None:
    given = bai.parameters("as published, d = whole", "mushroom", 5, 22, 0)
    assert given == {"max_depth": 4, "search": "mcmc", "min_records": 50, "buffer": 500, "step_limit": 30_000}
    assert bai.parameters("as published, d = whole", "mushroom", 5, 22, 100)["step_limit"] == 100
    assert bai.parameters("as published, d = 2", "vote", 5, 16, 100)["search"] == "exhaustive"
    assert bai.parameters(bai.RDT, "vote", 9, 16, 0) == {"max_depth": 8, "n_estimators": 5}


def rows(accuracy: dict[str, float], epsilon: float, spread: float = 0.01) -> list[Row]:
    return [
        {"table": "vote", "learner": name, "epsilon": epsilon, "repeat": 0, "private": False,
         "accuracy": [value - spread, value + spread]}
        for name, value in accuracy.items()
    ]  # fmt: skip


def verdicts(grid: Bai, made: list[Row]) -> dict[str, Any]:
    return {statement.says: statement.verdict for statement in grid.conclude(made).statements}


def test_deeper_is_better_only_if_it_is_clear() -> None:
    grid = Bai(("vote",), (1.0,), 2, who=tuple(PUBLISHED))
    says = "vote, epsilon 1: the deeper the embedding, the better"
    rising = dict(zip(PUBLISHED, (0.6, 0.7, 0.8, 0.9), strict=True))
    assert verdicts(grid, rows(rising, 1.0))[says] == "reproduced"
    assert verdicts(grid, rows(rising | {bai.WHOLE: 0.61}, 1.0))[says] == "differs"  # within the noise of d = 1
    assert verdicts(grid, rows(rising | {bai.TWO: 0.95}, 1.0))[says] == "differs"


def test_the_whole_tree_at_both_ends() -> None:
    grid = Bai(("vote",), (0.01, 10.0), 2, who=tuple(PUBLISHED))
    low, high = dict.fromkeys(PUBLISHED, 0.5), dict.fromkeys(PUBLISHED, 0.9)
    found = verdicts(grid, rows(low | {bai.WHOLE: 0.6}, 0.01) + rows(high | {bai.WHOLE: 0.8}, 10.0))
    assert set(found.values()) == {"reproduced"}
    found = verdicts(grid, rows(low | {bai.WHOLE: 0.4}, 0.01) + rows(high | {bai.WHOLE: 0.95}, 10.0))
    assert list(found.values()) == ["differs", "differs", "reproduced"]


def test_figure_7_is_judged_against_private_rdt() -> None:
    grid = Bai(("vote",), (1.0,), 2, who=(bai.RDT, *PUBLISHED))
    made = dict(zip(PUBLISHED, (0.6, 0.65, 0.8, 0.9), strict=True)) | {bai.RDT: 0.7}
    assert list(verdicts(grid, rows(made, 1.0)).values()) == ["reproduced"] * 4
    assert list(verdicts(grid, rows(made | {bai.RDT: 0.5}, 1.0)).values()) == ["differs"] * 2 + ["reproduced"] * 2


# ---- times --------------------------------------------------------------------------------------------------------


def test_growth_and_order_of_times() -> None:
    def timed(power: float, order: int) -> list[str]:
        grid = BaiTime((500, 2000), (1.0,))
        made = [
            job | {"fit_seconds": (1 + order * place) * (job["records"] / 500) ** power}
            for job in grid.jobs()
            for place, method in enumerate(PUBLISHED)
            if method == job["method"]
        ]
        return [statement.verdict for statement in grid.conclude(made).statements]

    assert timed(1.0, 1) == ["reproduced"] * 3
    assert timed(2.0, 1) == ["differs", "reproduced", "reproduced"]
    assert timed(1.0, 40) == ["reproduced", "reproduced", "differs"]  # minutes
    assert np.isclose(bai.CLEAR, 2)


def toy(arities: tuple[int, ...], records: int = 200, seed: int = 0) -> tuple[Schema, Codes]:
    attributes = tuple(Categorical(f"a{i}", tuple(range(arity))) for i, arity in enumerate(arities))
    rng = np.random.default_rng(seed)
    features = np.array([rng.integers(0, arity, records) for arity in arities], dtype=np.uint8)
    labels = ((features[0] == 1) ^ (rng.random(records) < 0.2)).astype(np.uint8)
    return Schema(attributes, Categorical("c", (0, 1))), Codes(features, labels)


@pytest.mark.parametrize("arities", [(2, 2, 2, 2), (3, 3, 3)])
@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_the_chain_tends_to_the_mechanism_where_arities_agree(arities: tuple[int, ...], epsilon: float) -> None:
    law = bai_chain.chain_law(*toy(arities), 2, epsilon)
    assert np.allclose(law.moves.sum(axis=1), 1)
    assert law.start.sum() == pytest.approx(1)
    far = [law.distance(steps) for steps in (0, 1, 5, 20, 50, 1000)]
    assert far[:-1] == sorted(far[:-1], reverse=True)
    assert far[0] > 0.1
    assert far[2] > 1e-3  # a few steps are not enough
    assert far[-1] < 1e-9


def test_the_chain_tends_elsewhere_where_arities_differ() -> None:
    """The Hastings ratio is missing: however long it runs, the chain does not sample the mechanism."""
    law = bai_chain.chain_law(*toy((2, 2, 4)), 2, 0.1)
    assert law.distance(10_000) == pytest.approx(law.distance(100_000), abs=1e-9)
    assert law.distance(100_000) > 0.1


def test_the_law_is_that_of_the_chain_that_runs() -> None:
    schema, codes = toy((2, 3, 2), 60)
    law, steps, runs = bai_chain.chain_law(schema, codes, 2, 0.8), 5, 1500
    engine = MemoryEngine(schema, codes)
    block, dice = OpenBlock(engine, ROOT, frozenset(), 2, ExactStop(0, pure=False)), np.random.default_rng(2)
    chain = Chain(buffer=steps + 1, step_limit=steps, variance_threshold=0)
    seen = Counter(chain.run(block, 0.8 / 4, dice).asked for _ in range(runs))
    for subtree, p in zip(law.subtrees, law.after(steps), strict=True):
        assert abs(seen[subtree] - runs * p) < 5 * math.sqrt(runs * p) + 3


def test_depth_is_judged_at_every_step_and_between_embeddings() -> None:
    grid = Complexity(("vote",), (1.0,), layers=(3, 6, 10))

    def found(one: list[float], whole: list[float]) -> list[str]:
        lines = dict.fromkeys(bai.PUBLISHED, one) | {bai.WHOLE: whole}
        made = [
            {"table": "vote", "learner": at(name, n), "epsilon": 1.0, "repeat": 0, "accuracy": [value]}
            for name, line in lines.items()
            for n, value in zip(grid.layers, line, strict=True)
        ]
        return [one.verdict for one in grid.conclude(made).statements]

    assert found([0.95, 0.88, 0.80], [0.91, 0.89, 0.88]) == ["reproduced"] * 5
    assert found([0.95, 0.88, 0.80], [0.91, 0.93, 0.75])[3:] == ["differs", "differs"]


def test_the_seventh_figure_is_half_of_the_attributes_deep() -> None:
    grid = entry("bai-fig7").form("full")
    assert isinstance(grid, Bai)
    assert (grid.layers_of(16), grid.layers_of(22)) == (9, 12)  # vote and mushroom: depths 8 and 11
    assert Bai(layers=5).layers_of(16) == 5
