"""Pictures by matplotlib: what they show is what was given, and they fit where they are put."""

from __future__ import annotations

import io
import re
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import privet
from privet.errors import ParameterError
from privet.models.model import Model
from privet.report.figures import Point, pareto

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402


@pytest.fixture(autouse=True)
def _closed() -> Any:
    yield
    pyplot.close("all")


def texts(ax: Any) -> list[str]:
    return [text.get_text() for text in ax.texts]


def test_a_tree_is_drawn_in_words(tree_model: Model) -> None:
    ax = privet.plot_tree(tree_model)
    said = texts(ax)
    leaves = [words for words in said if re.fullmatch(r"(no|yes <b>)( [\d,]+| fewer than \d+)?", words)]
    # Four leaves, with their counts (two of the model's five say the same), and two answers that are "no".
    assert leaves == ["no 100", "yes <b> 140", "no", "no fewer than 30", "no", "yes <b> 190"]
    assert "age ≤ 30?" in said
    assert "job & co?" in said
    assert "≠ clerk" in said
    # Any text is only text. Of a tree alone nobody knows the noise, so all leaves are told apart.
    assert [text for text in texts(privet.plot_tree(tree_model.trees)) if text.startswith("</script>")]
    picture = io.BytesIO()
    ax.figure.savefig(picture)
    assert picture.getvalue().startswith(b"\x89PNG")


def test_no_two_boxes_overlap_and_all_are_inside(tree_model: Model) -> None:
    _, given = pyplot.subplots(figsize=(4, 3))
    for ax in (privet.plot_tree(tree_model), privet.plot_tree(tree_model.trees, ax=given)):
        ax.figure.canvas.draw()
        outer = ax.get_window_extent()
        boxes = [patch.get_window_extent() for patch in ax.patches if type(patch).__name__ == "FancyBboxPatch"]
        assert len(boxes) == (8 if ax is given else 7)
        for i, box in enumerate(boxes):
            assert outer.x0 <= box.x0 <= box.x1 <= outer.x1
            assert not any(box.overlaps(other) for other in boxes[i + 1 :])
        for text in ax.texts:
            width = text.get_window_extent().width
            assert width < 0.6 * outer.width, text


def test_any_tree_of_a_forest(forest_model: Model) -> None:
    assert texts(privet.plot_tree(forest_model, number=4)) == texts(privet.plot_tree(forest_model.trees.trees[4]))
    with pytest.raises(ParameterError, match="from 0 to 4, not 5"):
        privet.plot_tree(forest_model, number=5)
    with pytest.raises(ParameterError, match="not str"):
        privet.plot_tree("tree.json")  # type: ignore[arg-type]


def test_the_tradeoff_holds_the_undominated_points() -> None:
    rng = np.random.default_rng(0)
    points = [Point(str(i), float(rng.choice([0.1, 0.5, 1, 2])), float(rng.random())) for i in range(60)]
    found = pareto(points)
    for point in points:
        beaten = any(
            other.epsilon <= point.epsilon and other.accuracy >= point.accuracy and other[1:3] != point[1:3]
            for other in points
        )
        assert (point in found) != beaten


def test_a_tradeoff_is_drawn() -> None:
    points = [("a", 0.1, 0.8, 0.01), ("b", 0.1, 0.7), ("a", 1, 0.85), ("b", 1, 0.9)]
    ax = privet.plot_tradeoff(points, limits={"majority class": 0.6})
    assert {text.get_text() for text in ax.get_legend().get_texts()} == {"a", "b", "best of all", "majority class"}
    front = next(line for line in ax.lines if line.get_label() == "best of all")
    assert np.allclose(front.get_xydata(), [(0.1, 20), (1, 10)])
    for bad in ([], [("a", 0, 0.5)]):
        with pytest.raises(ParameterError, match="points"):
            privet.plot_tradeoff(bad)


def test_a_tradeoff_of_an_evaluation() -> None:
    from privet.datasets.clinic import clinic
    from privet.evaluation.cross_validation import evaluate

    learners = [privet.make_classifier("mohammed2015", epsilon=epsilon) for epsilon in (1, 2)]
    ax = privet.plot_tradeoff(evaluate(*clinic(300), learners, folds=2, references=("c45",)))
    assert {text.get_text() for text in ax.get_legend().get_texts()} == {"mohammed2015", "best of all", "c45"}


@pytest.mark.parametrize("classes", [2, 3])
def test_the_curves_of_a_sum_are_drawn(classes: int, make_sum: Any) -> None:
    model = make_sum(classes)
    figure = privet.plot_shapes(model)
    assert {ax.get_title() for ax in figure.axes} == set(model.schema.names)
    age = next(ax for ax in figure.axes if ax.get_title() == "age")
    part = model.trees.parts[0]
    assert np.allclose(age.patches[0].get_data().values, part.table[:3, 0])  # the fourth is that of missing ages
    assert len(privet.plot_shapes(model, most=2).axes) == 2
    picture = io.BytesIO()
    figure.savefig(picture)


def test_only_a_sum_has_curves(tree_model: Model, make_sum: Any) -> None:
    with pytest.raises(ParameterError, match="not a decision tree"):
        privet.plot_shapes(tree_model)
    with pytest.raises(ParameterError, match="an additive model; see plot_shapes"):
        privet.plot_tree(make_sum(2))
    with pytest.raises(ParameterError, match="not str"):
        privet.plot_tree("tree.json")  # type: ignore[arg-type]


def test_a_ledger_is_drawn_to_its_end() -> None:
    ledger = privet.Ledger(2)
    ledger.charge(0.5, "counts")
    ledger.charge(0.25, "choices")
    bars = privet.plot_ledger(ledger).patches
    assert [(bar.get_x(), bar.get_width()) for bar in bars] == [(0, 0.5), (0.5, 0.25), (0.75, 1.25)]
    assert len(privet.plot_ledger(ledger.certificate()).patches) == 2


def test_without_matplotlib_it_says_what_to_install() -> None:
    code = "import sys; sys.modules['matplotlib'] = None; import privet; privet.plot_ledger(privet.Ledger(1))"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "pip install 'privet[plots]'" in ended.stderr.splitlines()[-1]
