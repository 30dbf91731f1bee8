"""The suite of shapes: tables that are what their shapes say, and verdicts that can be bad."""

from __future__ import annotations

import numpy as np
import pytest

from privet.errors import ParameterError
from privet.owner.inspection import check_table
from privet_experiments.ours import shapes
from privet_experiments.ours.shapes import (
    LARGE_SHAPES,
    LARGEST,
    NUMBERS,
    SHAPES,
    Cell,
    Shapes,
    ShapeSuite,
    cells_of,
    world,
)
from privet_experiments.runner import run


@pytest.mark.parametrize("shape", SHAPES)
def test_values_lie_inside_their_bounds_and_deciles_are_deciles(shape: str) -> None:
    schema, [(columns, labels), (other, _)] = world(shape, 5, (4_000, 100), seed=3)
    values = np.array([columns[f"x{i}"] for i in range(NUMBERS)])
    inside = (values > SHAPES[shape].low) & (values < SHAPES[shape].high)
    assert inside.mean() > 0.999
    assert check_table(schema, columns | {"class": labels}) is not None
    assert set(labels.tolist()) == set(range(5))
    cuts = shapes.declared_deciles(shape, schema).attributes[0].thresholds  # type: ignore[union-attr]
    assert cuts is not None
    below = np.searchsorted(np.sort(values[0]), cuts, side="right") / 4_000
    if shape != "spikes":
        np.testing.assert_allclose(below, np.arange(1, 10) / 10, atol=0.03)
    assert not np.array_equal(other["x0"], columns["x0"][:100])
    again = world(shape, 5, (4_000, 100), seed=3)[1][0]
    assert np.array_equal(again[0]["x0"], columns["x0"])


def test_the_rule_is_the_same_whatever_the_shape() -> None:
    """The latent bells are, so the best that anybody can do is too."""
    labels = [world(shape, 2, (500,), seed=1)[1][0][1] for shape in ("uniform", "bell", "bounds x 1,000,000")]
    assert np.array_equal(labels[0], labels[1])
    assert np.array_equal(labels[1], labels[2])


def test_only_few_shapes_are_tried_on_the_largest_tables() -> None:
    cells = cells_of(tuple(SHAPES), (2_000, LARGEST), (2,), (0.1, 1.0))
    assert len(cells) == 2 * (len(SHAPES) + len(LARGE_SHAPES))
    with pytest.raises(ParameterError, match="no shape is called 'square'"):
        cells_of(("square",), (100,), (2,), (1.0,))


def cell(exact: float, best: float, majority: float, records: int = 100_000) -> Cell:
    accuracy = {"exact": exact, "diffpc45": best - 1, "true deciles": best}
    return Cell("bell", records, 2, 1.0, accuracy, dict.fromkeys(accuracy, 0.1), majority, 1)


def test_verdicts() -> None:
    assert cell(86.5, 87, 60).verdict == "close"
    assert cell(86, 87, 60).verdict == "too far behind"
    assert cell(80, 87, 60, records=2_000).verdict == "little signal"
    assert cell(58, 87, 60, records=2_000).verdict == "below the majority class"
    assert cell(88, 87, 60).behind == -1
    suite = ShapeSuite((cell(86.5, 87, 60), cell(86, 87, 60)))
    assert len(suite.missed) == 1
    assert suite.verdict == "1 of 2 cells miss their target"
    assert suite.rows()[0] == ("bell", "2", "100,000", "1", "86.5", "87.0 true deciles", "60.0", "0.1", "close")


def test_a_small_run() -> None:
    grid = Shapes(("bounds x 1,000,000",), (1_500,), (2,), (1.0,), ("exact", "diffpc45"), 1)
    found = run("shapes", "full", grid, processes=1)
    exact, other = found.rows
    assert [row["learner"] for row in found.rows] == ["exact", "diffpc45"]
    assert exact["scores"][0] > exact["scores"][2] + 5  # it finds what an even grid cannot see
    assert exact["scores"][2] == other["scores"][2]  # one table, one majority
    assert len(found.outcome.tables[0].rows) == 1
    with pytest.raises(ParameterError, match="no learner is called 'oak'"):
        run("shapes", "full", Shapes(learners=("oak",)))
