"""Draws by exponents: one by one for a few rows, by coins for many, with one law."""

from __future__ import annotations

from fractions import Fraction
from math import exp

import numpy as np
import pytest

from privet.engines.memory import MemoryEngine
from privet.privacy.dataset import PrivateDataset
from privet.privacy.ledger import Ledger
from privet.recipes.papers.smooth_forest import SmoothForest
from privet.recipes.unsound.margin_labels import margin_labels
from privet.recipes.unsound.nonprivate import ONE_BY_ONE, draw_rows
from privet.schema import Categorical, Numeric, Schema
from privet.tables.encoding import encode

ROWS = 20_000
FALSE_ALARM = 5.0  # standard deviations of a share: less than one in a million by chance


def far(share: float, chance: float, size: int = ROWS) -> bool:
    return abs(share - chance) > FALSE_ALARM * (chance * (1 - chance) / size) ** 0.5


@pytest.mark.parametrize("at_once", [ROWS, ONE_BY_ONE // 2])
def test_few_and_many_rows_have_one_law(at_once: int) -> None:
    """The odds of two candidates are e to the difference of their exponents, however many rows are drawn at once."""
    lead = 0.8
    parts = [draw_rows(np.tile([lead - 3, -3.0], (at_once, 1))) for _ in range(ROWS // at_once)]
    share = float((np.concatenate(parts) == 0).mean())
    assert not far(share, exp(lead) / (1 + exp(lead)))
    assert far(share, exp(1.3 * lead) / (1 + exp(1.3 * lead)))


def test_what_is_far_behind_is_never_drawn() -> None:
    assert not draw_rows(np.tile([0.0, -1e9], (ONE_BY_ONE + 1, 1))).any()


@pytest.mark.parametrize("smooth", [True, False])
def test_a_label_of_a_leaf_is_drawn_with_its_sensitivity(smooth: bool) -> None:
    """Each tree of depth 0 has one leaf, whose records are all of one class. The sensitivity is 1, or shrinks with the
    margin; with hundreds of records it is nearly 0, and the label is certain."""
    schema = Schema((Numeric("x", 0, 1),), Categorical("y", ("no", "yes")))
    trees, epsilon = 2000, Fraction(2)
    table = {"x": np.zeros(400 * trees), "y": np.array(["yes"] * 400 * trees, dtype=object)}
    recipe = SmoothForest(n_estimators=trees, max_depth=0)
    prepared = recipe.prepare(schema)
    data = PrivateDataset(MemoryEngine(prepared, encode(prepared, table)), Ledger(epsilon).allow_nonprivate())
    routes = recipe.routes(prepared, np.random.default_rng(0))
    labels = margin_labels(data, routes, epsilon, "a test", smooth=smooth)
    share = float((labels == 1).mean())
    chance = exp(1) / (1 + exp(1))
    assert (share == 1) if smooth else not far(share, chance, trees)


def test_empty_leaves_say_either_class_as_often() -> None:
    schema = Schema((Numeric("x", 0, 1),), Categorical("y", ("no", "yes")))
    trees = 2000
    recipe = SmoothForest(n_estimators=trees, max_depth=0)
    prepared = recipe.prepare(schema)
    codes = encode(prepared, {"x": np.zeros(1), "y": np.array(["yes"], dtype=object)})
    data = PrivateDataset(MemoryEngine(prepared, codes), Ledger(Fraction(2)).allow_nonprivate())
    routes = recipe.routes(prepared, np.random.default_rng(0))
    share = float((margin_labels(data, routes, Fraction(2), "a test") == 1).mean())
    assert not far(share, 0.5, trees)
    assert far(0.65, 0.5, trees)  # 30 % off would be seen
