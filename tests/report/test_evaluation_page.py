"""The page of an evaluation: what was measured stands in it, and what may not be released says so."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from page_reader import axe_faults
from typer.testing import CliRunner

import privet
from privet.cli import app
from privet.datasets.clinic import clinic
from privet.evaluation.cross_validation import WARNING, Evaluation, evaluate
from privet.evaluation.private_evaluation import evaluate_privately
from privet.markup import Html
from privet.models.intervals import Estimate
from privet.promise import amounts
from privet.report.chart import Limit, Series, accuracy_chart
from privet.report.evaluation_page import _commonest, evaluation_page, private_evaluation_page

SCHEMA, TABLE = clinic(400, seed=1)


@pytest.fixture(scope="module")
def result() -> Evaluation:
    recipes = ("mohammed2015", "sulq")
    learners = [privet.make_classifier(name, epsilon=epsilon) for name in recipes for epsilon in (0.5, 5)]
    return evaluate(SCHEMA, TABLE, learners, folds=2, references=("majority", "c45", "sklearn-tree"))


def words(page: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page))


def test_every_number_is_in_the_page(result: Evaluation) -> None:
    page = words(evaluation_page(result, SCHEMA))
    assert WARNING in page
    assert "2 stratified folds" in page
    for score in (*result.results, *result.references):
        epsilon = "none" if score.epsilon is None else f"{score.epsilon:g}"
        name = "commonest class" if score.recipe == "majority" else score.recipe
        assert f"{name} {epsilon} {100 * score.accuracy_mean:.1f} % ± {100 * score.accuracy_std:.1f}" in page
    assert "What is promised" not in page


def test_the_unbeaten_are_named_and_joined(result: Evaluation) -> None:
    """A Pareto picture: fewer records are a third objective beside accuracy and epsilon."""
    small = tuple(replace(score, records=50) for score in result.results)
    both = replace(result, results=(*result.results, *small), positive="Sick", beta=2.0)
    page = evaluation_page(both, SCHEMA)
    rows = re.findall(r'<th scope="row">(.*?)</th>(.*?)</tr>', page, re.DOTALL)
    shown = [re.findall(r"<td[^>]*>(.*?)</td>", cells) for _, cells in rows][: len(both.results)]
    assert [cells[-1] for cells in shown] == ["yes" if best else "no" for best in both.efficient]
    assert {cells[1] for cells in shown} == {"all", "50"}  # the same accuracy with fewer records beats all records
    assert not any(both.efficient[: len(result.results)])
    assert 'class="curve c4 dashed"' in page  # after two methods at two numbers of records
    assert "F2 of Sick" in words(page)


def points_of(chart: Html, kind: str) -> list[tuple[float, float]]:
    return [
        (float(x), float(y)) for x, y in re.findall(rf'<circle cx="([\d.]+)" cy="([\d.]+)" r="4" class="{kind}"', chart)
    ]


def test_the_chart_is_to_scale() -> None:
    near = Series("a & b", tuple((epsilon, Estimate(0.6, 0.55, 0.65)) for epsilon in (0.1, 1.0, 10.0)))
    far = Series("far", ((0.1, Estimate(0.7, 0.7, 0.7)), (10.0, Estimate(0.8, 0.8, 0.8))))
    chart = accuracy_chart([near, far], [Limit("c45", 0.7), Limit("commonest class", 0.6, floor=True)], "a title")
    (x1, y1), (x2, _), (x3, _) = points_of(chart, "c0")[:3]
    assert x2 - x1 == pytest.approx(x3 - x2, abs=0.2)  # logarithmic
    (_, y70), (_, y80) = points_of(chart, "c1")[:2]
    assert y1 - y70 == pytest.approx(y70 - y80, abs=0.2)
    for kind, at in (("limit", y70), ("limit floor", y1)):
        limit = re.search(rf'y1="([\d.]+)" y2="[\d.]+" class="{kind}"', chart)
        assert limit is not None
        assert float(limit[1]) == at
    assert "a &amp; b" in chart


def test_one_epsilon_and_unknown_scores_can_be_drawn() -> None:
    unknown = Series("unknown", ((1.0, Estimate(float("nan"), 0.0, 1.0)),))
    chart = accuracy_chart([unknown, Series("known", ((1.0, Estimate(0.5, 0.5, 0.5)),))], [], "one")
    assert len(points_of(chart, "c1")) == 2  # the point, and the mark at its name
    assert "nan" not in chart


def test_a_private_evaluation_carries_its_certificate() -> None:
    tree = privet.papers.DiffPID3Classifier(SCHEMA, epsilon=1, max_depth=2)
    results, certificate = evaluate_privately([tree], TABLE, 0.5, privet.Ledger(2))
    page = words(private_evaluation_page(results, certificate, SCHEMA))
    assert amounts(certificate) in page
    assert "What was spent on what" in page
    assert "intervals of 95 %" in page
    assert "not differentially private" not in page
    true = np.array(results[0].score.confusion).sum(axis=1)
    assert "The dotted line always says the commonest class, whose share the same noisy counts tell." in page
    assert _commonest(results)[0].value == true.max() / true.clip(min=0).sum()


@pytest.mark.parametrize("private", [False, True])
def test_no_faults_are_found(private: bool, reader: Any, result: Evaluation) -> None:
    page = evaluation_page(result, SCHEMA)
    if private:
        tree = privet.papers.DiffPID3Classifier(SCHEMA, epsilon=1, max_depth=2)
        page = private_evaluation_page(*evaluate_privately([tree], TABLE, 0.5, privet.Ledger(2)), SCHEMA)
    opened = reader.open(page)
    for width, scheme in ((1280, "light"), (360, "dark")):
        opened.set_viewport_size({"width": width, "height": 740})
        opened.emulate_media(color_scheme=scheme)
        assert axe_faults(opened) == []
        assert opened.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert (reader.complaints, reader.outside()) == ([], [])


# ---- the command --------------------------------------------------------------------------------------------------


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., Any]:
    SCHEMA.to_json(tmp_path / "schema.json")
    lines = [",".join(TABLE), *(",".join(map(str, row)) for row in zip(*TABLE.values(), strict=True))]
    (tmp_path / "table.csv").write_text("\n".join(lines))

    def command(*more: object) -> Any:
        start = ["evaluate", tmp_path / "table.csv", "--schema", tmp_path / "schema.json", "--recipe", "mohammed2015"]
        return CliRunner().invoke(app, [str(part) for part in (*start, *more)], prog_name="privet")

    return command


def test_the_command_writes_a_page_beside_its_table(run: Callable[..., Any], tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    ended = run("--epsilon", 1, "--folds", 2, "--no-references", "--report", page, "--json")
    assert ended.exit_code == 0, ended.stderr
    assert f"wrote the page {page}" in ended.stderr
    score = json.loads(ended.stdout)["results"][0]
    assert f"{100 * score['accuracy_mean']:.1f} %" in page.read_text("utf-8")
    again = run("--epsilon", 1, "--folds", 2, "--no-references", "--report", page)
    assert again.exit_code == 1
    assert "it is there already" in again.stderr


def test_a_page_that_cannot_be_written_costs_nothing(run: Callable[..., Any], tmp_path: Path) -> None:
    journal = tmp_path / "journal"
    ended = run("--epsilon", 1, "--private", "--epsilon-scores", 1, "--journal", journal, "--report", tmp_path)
    assert ended.exit_code == 1
    assert "nothing was charged" in ended.stderr
    assert not journal.exists()


def test_a_private_page_from_the_command(run: Callable[..., Any], tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    ended = run("--epsilon", 1, "--private", "--epsilon-scores", 1, "--report", page)
    assert ended.exit_code == 0, ended.stderr
    assert "What is promised" in page.read_text("utf-8")
