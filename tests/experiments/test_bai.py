"""Bai et al. run again: traces, distances, the benchmark's rows, what they are judged by, and their pictures."""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from privet.errors import ParameterError
from privet.experiments import bai, bai_chain, bai_pictures
from privet.experiments.bai import BLOCKS, PER_LEVEL, Figures, Point
from privet.published.mcmc import Chain
from privet.schema import Categorical, Schema
from privet.schema.encoding import Codes

# ---- the chain ----------------------------------------------------------------------------------------------------


def test_a_trace_as_text_and_as_a_file(tmp_path: Path) -> None:
    trace = bai_chain.Trace("toy", 0.5, tuple(np.linspace(-100, -20, 200)))
    lines = trace.to_text(width=40, height=8).splitlines()
    assert lines[0] == "toy, epsilon 0.5"
    assert len(lines) == 10
    assert "200 steps" in lines[-1]
    assert lines[1].rstrip().endswith("*")  # it climbs: the last column is on top
    assert bai_chain.Trace("flat", 1, (3.0, 3.0)).to_text()
    trace.to_csv(tmp_path / "trace.csv")
    with open(tmp_path / "trace.csv", newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["step", "score"]
    assert len(rows) == 201


def test_spaces_too_large_to_list_are_refused() -> None:
    schema = Schema(tuple(Categorical(f"a{i}", (0, 1)) for i in range(8)), Categorical("c", (0, 1)))
    table = Codes(np.zeros((8, 4), dtype=np.uint8), np.zeros(4, dtype=np.uint8))
    with pytest.raises(ParameterError, match="more than 5000 subtrees"):
        bai_chain.chain_law(schema, table, 3, 1.0)


@pytest.mark.slow
def test_the_chain_settles_elsewhere_where_arities_differ() -> None:
    """The table of the page: nothing is simulated, so it is the same each time."""
    found = {(d.arities, d.epsilon, d.steps): d.distance for d in bai_chain.distances()}
    assert len(found) == len(bai_chain.SPACES) * 2 * 6
    for (arities, _, steps), distance in found.items():
        if steps == 10_000:
            assert (distance < 1e-6) == (len(set(arities)) == 1)
    assert round(found[(2, 2, 4), 0.1, 10_000], 3) == 0.215
    assert round(found[(2, 2, 2, 2), 1.0, 0], 3) == 0.665


def test_traces_need_two_layers() -> None:
    with pytest.raises(ParameterError, match="layers"):
        bai_chain.trace(layers=1)


@pytest.mark.needs_data
def test_the_score_of_the_chain_rises_on_vote(data_dir: Path) -> None:
    trace = bai_chain.trace("vote", 10, layers=4, chain=Chain(50, 300, 0.0), data_dir=data_dir)
    assert len(trace.scores) == 300
    assert np.mean(trace.scores[-50:]) > trace.scores[0]
    assert trace == bai_chain.trace("vote", 10, layers=4, chain=Chain(50, 300, 0.0), data_dir=data_dir)


@pytest.mark.needs_data
def test_the_four_chains_of_the_figure(data_dir: Path) -> None:
    steps: list[tuple[int, int]] = []
    found = bai_chain.traces("vote", 20, lambda *step: steps.append(step), data_dir)
    assert [trace.epsilon for trace in found] == [0.01, 0.1, 1, 10]
    assert [len(trace.scores) for trace in found] == [20] * 4
    assert len({trace.scores for trace in found}) == 4  # not one and the same dice
    assert steps == [(1, 4), (2, 4), (3, 4), (4, 4)]


# ---- accuracy -----------------------------------------------------------------------------------------------------


def test_unknown_tables_are_refused() -> None:
    with pytest.raises(ParameterError, match="choose among"):
        bai.run(["iris"])


@pytest.mark.needs_data
def test_the_benchmark_has_a_row_for_every_point(data_dir: Path) -> None:
    steps: list[tuple[int, int]] = []
    figures = bai.run(
        ["vote"], [1], layers=3, folds=2, steps=20, data_dir=data_dir, progress=lambda *step: steps.append(step)
    )
    assert [point.method for point in figures.points] == list(bai.methods("vote", 3))
    assert {point.private for point in figures.points if "published" in point.method} == {False}
    assert {point.private for point in figures.points if "published" not in point.method} == {True}
    assert figures.to_markdown().count("| no |") == 4
    assert figures.to_dict()["points"][0]["table"] == "vote"
    assert steps[-1] == (len(figures.points),) * 2
    assert [contest.cells for contest in figures.contests] == [1] * 4


def point(method: str, accuracy: float, error: float = 0.01, epsilon: float = 1.0, table: str = "vote") -> Point:
    return Point(table, method, epsilon, 5, 5, 1, accuracy, error, 0.1, "published" not in method)


def made_up() -> Figures:
    """Two cells: whole trees win clearly in one, are within noise in the other; exact wins, then falls behind."""
    rows: dict[str, tuple[float, float]] = {
        "exact": (0.95, 0.70),
        "exact, multiway": (0.9, 0.9),
        "diffpc45": (0.8, 0.9),
        "embedded, exact search": (0.8, 0.9),
        PER_LEVEL: (0.80, 0.90),
        BLOCKS[0]: (0.70, 0.92),
        BLOCKS[1]: (0.81, 0.79),
        BLOCKS[2]: (0.86, 0.91),
    }
    cells = [point(m, a[i], epsilon=e) for m, a in rows.items() for i, e in enumerate((0.1, 1.0))]
    return Figures(tuple(cells), (bai_chain.Distance((2, 3), 20, 0.1, 10, 0.25),))


def test_who_is_ahead_of_whom() -> None:
    """A difference is clear from two of its standard errors on: 2 sqrt(2) points here."""
    found = [(contest.ahead, contest.behind, contest.cells) for contest in made_up().contests]
    assert found == [(0, 1, 2), (0, 1, 2), (1, 0, 2), (1, 1, 2)]
    text = [str(contest) for contest in made_up().contests]
    assert (
        text[2]
        == "as published, d = whole, against d = 1, a mechanism per level: ahead in 1 and behind in 0 of 2 cells"
    )
    assert text[3].startswith("exact, against the best published form: ahead in 1 and behind in 1")


def test_the_page_in_markdown() -> None:
    lines = made_up().to_markdown().splitlines()
    assert lines[0] == "**vote** (5 layers, 5 folds x 1)"
    assert lines[2:4] == ["| method | private | eps 0.1 | eps 1 |", "|---|---|---|---|"]
    assert "| as published, d = 1 | no | 80.0 ± 1.0 | 90.0 ± 1.0 |" in lines
    assert lines[-3:] == ["| arities | subtrees | eps' | 10 steps |", "|---|---|---|---|", "| 2 3 | 20 | 0.1 | 0.250 |"]


# ---- pictures -----------------------------------------------------------------------------------------------------


def test_a_picture_needs_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ParameterError, match=r"pip install 'privet\[plots\]'"):
        bai_pictures.check_matplotlib()


def test_pictures_are_written(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    traces = [bai_chain.Trace("mushroom", e, tuple(np.linspace(0, e, 60))) for e in (0.01, 0.1, 1, 10)]
    written: list[Any] = [bai_pictures.plot_traces(traces, tmp_path), *bai_pictures.plot_figures(made_up(), tmp_path)]
    assert [path.name for path in written] == ["bai-fig3-mushroom.png", "bai-fig4-vote.png"]
    assert all(path.stat().st_size > 10_000 for path in written)
