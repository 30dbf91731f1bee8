"""Bai et al. run again: traces, distances and the benchmark's rows."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from privet.encoding import Codes
from privet.errors import ParameterError
from privet.experiments import bai
from privet.growing.mcmc import Chain
from privet.schema import Categorical, Schema


def test_a_trace_as_text_and_as_a_file(tmp_path: Path) -> None:
    trace = bai.Trace("toy", 0.5, tuple(np.linspace(-100, -20, 200)))
    lines = trace.to_text(width=40, height=8).splitlines()
    assert lines[0] == "toy, epsilon 0.5"
    assert len(lines) == 10
    assert "200 steps" in lines[-1]
    assert lines[1].rstrip().endswith("*")  # it climbs: the last column is on top
    assert bai.Trace("flat", 1, (3.0, 3.0)).to_text()
    trace.to_csv(tmp_path / "trace.csv")
    with open(tmp_path / "trace.csv", newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["step", "score"]
    assert len(rows) == 201


def test_a_picture_needs_matplotlib(tmp_path: Path) -> None:
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        with pytest.raises(ParameterError, match="to_csv"):
            bai.plot_traces([bai.Trace("toy", 1, (1.0, 2.0))], tmp_path / "trace.png")
    else:
        bai.plot_traces([bai.Trace("toy", 1, (1.0, 2.0))], tmp_path / "trace.png")
        assert (tmp_path / "trace.png").stat().st_size > 1000


def test_spaces_too_large_to_list_are_refused() -> None:
    schema = Schema(tuple(Categorical(f"a{i}", (0, 1)) for i in range(8)), Categorical("c", (0, 1)))
    table = Codes(np.zeros((8, 4), dtype=np.uint8), np.zeros(4, dtype=np.uint8))
    with pytest.raises(ParameterError, match="more than 5000 subtrees"):
        bai.chain_law(schema, table, 3, 1.0)


def test_unknown_tables_are_refused() -> None:
    with pytest.raises(ParameterError, match="choose among"):
        bai.run(["iris"])
    with pytest.raises(ParameterError, match="layers"):
        bai.trace(layers=1)


@pytest.mark.needs_data
def test_the_score_of_the_chain_rises_on_vote(data_dir: Path) -> None:
    trace = bai.trace("vote", 10, layers=4, chain=Chain(50, 300, 0.0), data_dir=data_dir)
    assert len(trace.scores) == 300
    assert np.mean(trace.scores[-50:]) > trace.scores[0]
    assert trace == bai.trace("vote", 10, layers=4, chain=Chain(50, 300, 0.0), data_dir=data_dir)


@pytest.mark.needs_data
def test_the_benchmark_has_a_row_for_every_point(data_dir: Path) -> None:
    figures = bai.run(["vote"], [1], layers=3, folds=2, steps=20, data_dir=data_dir)
    assert [point.method for point in figures.points] == list(bai.methods("vote", 3))
    assert {point.private for point in figures.points if "published" in point.method} == {False}
    assert {point.private for point in figures.points if "published" not in point.method} == {True}
    assert figures.to_markdown().count("| no |") == 4
    assert figures.to_dict()["points"][0]["table"] == "vote"
