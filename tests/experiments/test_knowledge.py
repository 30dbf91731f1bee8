"""Experiments on what is learned: small runs of each, and their pictures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from privet.errors import ParameterError
from privet.experiments import anonymising, knowledge_pictures, rule_similarity
from privet.schema import Categorical, Numeric, Schema
from privet.schema.frozen import freeze


def test_complete_records_as_numbers() -> None:
    schema = Schema((Numeric("x", 0, 9), Categorical("c", ("p", "q", "?"))), Categorical("y", ("n", "m")))
    frozen = freeze(schema, {"x": [1, 2, None, 4], "c": ["p", "q", "p", "?"], "y": ["n", "m", "n", "m"]})
    x, labels, names = rule_similarity.matrix(frozen)
    assert x.tolist() == [[1, 1, 0, 0], [2, 0, 1, 0]]
    assert labels.tolist() == [0, 1]
    assert [attribute for _, attribute in names] == ["x", "c", "c", "c"]


def test_table43(data_dir: Path) -> None:
    table = rule_similarity.run_table43(("wbc", "car"), folds=2, data_dir=data_dir, processes=1)
    assert [row.table for row in table.rows] == ["wbc", "car"]
    assert all(0 <= row.jaccard <= row.upper <= 1 and row.difference < 0.1 for row in table.rows)
    assert json.dumps(table.to_dict())
    assert table.to_markdown().count("\n") == 3
    with pytest.raises(ParameterError, match="has no 'vote'"):
        rule_similarity.run_table43(("vote",), data_dir=data_dir)


@pytest.mark.slow
def test_figure91(data_dir: Path, tmp_path: Path) -> None:
    figure = rule_similarity.run_fig91(("vote",), (2.0,), folds=2, data_dir=data_dir, processes=1)
    by = {point.method: point for point in figure.points}
    assert set(by) == {"exact", "greedy-forest", "diffpc45", "CART"}
    assert by["CART"].accuracy > 0.9
    assert all(0 <= point.jaccard <= point.upper for point in figure.points)
    assert json.dumps(figure.to_dict())
    pytest.importorskip("matplotlib")
    assert knowledge_pictures.plot_similarity(figure, tmp_path).read_bytes()[:4] == b"\x89PNG"


def test_retention(data_dir: Path) -> None:
    found = anonymising.run_retention(
        ("banknote",), rates=(0.0, 0.3), epsilons=(1.0,), folds=2, data_dir=data_dir, processes=1
    )
    by: dict[Any, Any] = {(one.method, one.setting): one for one in found.results}
    for name in anonymising.NOISES:
        assert by[name, 0.0].psd == by[name, 0.0].pld == by[name, 0.0].pattern_accuracy == 0
        assert by[name, 0.3].pld > 0.02
        assert not by[name, 0.3].private
    assert by["dpcube", 1.0].private
    assert by["uniform", 0.0].accuracy > 0.9
    assert np.isfinite([one.auc for one in found.results]).all()
    assert "| banknote | dpcube | 1 |" in found.to_markdown()


@pytest.mark.slow
def test_contest(data_dir: Path, tmp_path: Path) -> None:
    contest = anonymising.run_contest(("banknote",), (1.0,), folds=2, data_dir=data_dir, processes=1)
    by = {one.way: one for one in contest.results}
    assert {way for way, one in by.items() if one.published} == {"CART on dpcube", "CART on diffgen"}
    assert by[anonymising.REFERENCE].accuracy > 0.9
    assert json.dumps(contest.to_dict())
    assert "± " in contest.to_markdown()
    pytest.importorskip("matplotlib")
    assert knowledge_pictures.plot_contest(contest, tmp_path).read_bytes()[:4] == b"\x89PNG"


def test_the_commands_print(data_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from typer.testing import CliRunner

    from privet.cli import app

    monkeypatch.setenv("PRIVET_DATA", str(data_dir))
    monkeypatch.setattr("os.cpu_count", lambda: 1)  # in place: a worker would not see what this test did
    told = CliRunner().invoke(app, ["reproduce", "fletcher-table43", "--table", "wbc", "--folds", "2"])
    assert told.exit_code == 0, told.stderr
    assert "wbc" in told.stdout
    assert "NOT PRIVATE" in told.stderr
    as_json = CliRunner().invoke(app, ["reproduce", "fletcher-table43", "--table", "wbc", "--folds", "2", "--json"])
    assert json.loads(as_json.stdout)["rows"][0]["table"] == "wbc"
    picture = knowledge_pictures.picture_of_contest(tmp_path)
    picture.write_text("mine")
    refused = CliRunner().invoke(app, ["reproduce", "publish-or-grow", "--quick", "--plots", str(tmp_path)])
    assert refused.exit_code == 1
    assert picture.read_text() == "mine"
