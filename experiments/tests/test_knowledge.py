"""Experiments on what is learned: small runs of each, and what they are judged by."""

from __future__ import annotations

import numpy as np
import pytest

from privet.errors import ParameterError
from privet.schema import Categorical, Numeric, Schema
from privet.tables.frozen import freeze
from privet_experiments.papers.fletcher import anonymising, rule_similarity
from privet_experiments.papers.fletcher.rule_similarity import ARMS, DPDF, READINGS, Figure91, Table43
from privet_experiments.runner import run
from privet_experiments.settling import averaged


def test_complete_records_as_numbers() -> None:
    schema = Schema((Numeric("x", 0, 9), Categorical("c", ("p", "q", "?"))), Categorical("y", ("n", "m")))
    frozen = freeze(schema, {"x": [1, 2, None, 4], "c": ["p", "q", "p", "?"], "y": ["n", "m", "n", "m"]})
    x, labels, names = rule_similarity.matrix(frozen)
    assert x.tolist() == [[1, 1, 0, 0], [2, 0, 1, 0]]
    assert labels.tolist() == [0, 1]
    assert [attribute for _, attribute in names] == ["x", "c", "c", "c"]


@pytest.mark.usefixtures("tables")
def test_table43() -> None:
    found = run("fletcher-table43", "full", Table43(("wbc", "car"), 2), processes=1)
    assert [row["table"] for row in found.rows] == ["wbc", "car"]
    for row in map(averaged, found.rows):
        assert 0 <= row["jaccard"] <= row["upper"] <= 1
        assert row["difference"] < 0.1
    assert [row["categories"] for row in found.rows] == [False, True]
    assert found.outcome.tables[0].rows[0][5] == "6/8"  # of the thesis
    with pytest.raises(ParameterError, match="has no 'vote'"):
        run("fletcher-table43", "full", Table43(("vote",)))


def test_an_index_is_judged_by_its_distance() -> None:
    row = {"table": "wbc", "upper": 0.9, "shorter": 6, "longer": 8, "difference": 0.007, "categories": False}
    for index, verdict in ((0.17, "reproduced"), (0.18, "differs")):
        statement, _ = Table43(("wbc",)).conclude([row | {"jaccard": index}]).statements
        assert (statement.verdict, statement.published) == (verdict, "0.077")


@pytest.mark.usefixtures("tables")
def test_figure91() -> None:
    [row] = run("fletcher-fig91", "full", Figure91(("vote",), (2.0,), 2), processes=1).rows
    assert set(row["methods"]) == {*ARMS, "CART"}
    methods = averaged(row)["methods"]
    assert methods["CART"][2] > 0.9
    assert all(0 <= jaccard <= upper for jaccard, upper, _ in methods.values())


def test_the_thesiss_tree_is_judged_by_means_over_tables() -> None:
    methods = {name: [[0.2], [1.0], [0.8]] for name in (*ARMS, "CART")} | {DPDF: [[0.3], [1.0], [0.7]]}
    other = methods | {DPDF: [[0.0], [1.0], [0.95]]}
    rows = [{"table": t, "epsilon": 2.0, "methods": m} for t, m in (("vote", methods), ("car", other))]
    found = Figure91(("vote", "car"), (2.0,)).conclude(rows).statements
    assert len(found) == 2 * len(READINGS)  # each reading of FS is judged for itself
    rules, accuracy = found[0], found[len(READINGS)]
    assert (rules.verdict, rules.ours) == ("differs", "0.150 against 0.200, ahead on 1 of 2 tables")
    assert (accuracy.verdict, accuracy.ours) == ("reproduced", "0.825 against 0.800, ahead on 1 of 2 tables")


@pytest.mark.usefixtures("tables")
def test_retention() -> None:
    grid = anonymising.Retention(("banknote",), (0.0, 0.3), (1.0,), 2)
    rows = run("fletcher-retention", "full", grid, processes=1).rows
    by = {(row["method"], row["setting"]): averaged(row) for row in rows}
    for name in anonymising.NOISES:
        assert by[name, 0.0]["psd"] == by[name, 0.0]["pld"] == by[name, 0.0]["pattern_accuracy"] == 0
        assert by[name, 0.3]["pld"] > 0.02
    assert by["uniform", 0.0]["accuracy"] > 0.9
    assert np.isfinite([row["auc"] for row in rows]).all()
    told = grid.conclude(rows)
    assert ("banknote", "dpcube", "1") in [row[:3] for row in told.tables[0].rows]
    swapped = {"uniform": "gaussian", "gaussian": "uniform"}
    wrong = grid.conclude([row | {"method": swapped.get(row["method"], row["method"])} for row in rows])
    assert [s.verdict for s in (told.statements[0], wrong.statements[0])] == ["reproduced", "differs"]


@pytest.mark.slow
@pytest.mark.usefixtures("tables")
def test_contest() -> None:
    found = run("publish-or-grow", "full", anonymising.Contest(("banknote",), (1.0,), 2), processes=1)
    by = {row["way"]: row for row in found.rows}
    assert set(by) == set(anonymising.WAYS)
    assert np.mean(by[anonymising.REFERENCE]["accuracy"]) > 0.9
    assert by[anonymising.REFERENCE]["epsilon"] is None
    assert all("±" in row[2] for row in found.outcome.tables[0].rows)
