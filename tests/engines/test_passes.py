"""How often an engine is asked: a pass over the records costs one scan wherever they live."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from privet import Ledger
from privet.datasets.clinic import clinic
from privet.engines.memory import MemoryEngine
from privet.fitting import Request, fit
from privet.growing.whole.blocks import block_space
from privet.privacy.counting import ROOT, Ints, Question
from privet.privacy.dataset import PrivateDataset
from privet.recipes.ours.exact import ExactTree
from privet.recipes.ours.random_forest import RandomForest
from privet.recipes.papers.diffpc45 import DiffPC45
from privet.recipes.papers.jagannathan2012 import Jagannathan2012
from privet.recipes.papers.mohammed2015 import Mohammed2015
from privet.recipes.papers.smooth_forest import SmoothForest
from privet.recipes.recipe import Recipe
from privet.schema import Categorical, Schema
from privet.structure.splits import Tests
from privet.tables.encoding import Codes, encode

SCHEMA, TABLE = clinic(400, seed=1)


class Scanning(MemoryEngine):
    """Counts its passes."""

    passes = 0

    def answer(self, questions: Sequence[Question]) -> list[Ints]:
        self.passes += 1
        return super().answer(questions)


def passes_of(recipe: Recipe) -> int:
    schema = recipe.prepare(SCHEMA)
    engine = Scanning(schema, encode(schema, TABLE))
    fit(Request(recipe, engine, 100, random=np.random.default_rng(0), prepared=True))
    return engine.passes


@pytest.mark.parametrize(
    ("recipe", "most"),
    [
        (DiffPC45(max_depth=4), 5),  # one a level
        (Mohammed2015(max_depth=3), 4),
        (RandomForest(), 3),  # the number of records (which a source tells by being read), all trees, what they count
        (Jagannathan2012(), 2),
        (SmoothForest(n_estimators=20), 1),
        (ExactTree(max_depth=2, leaf_share=0), 0),  # its joint counts are one pass of their own
        (ExactTree(max_depth=2), 2),  # and one for leaves at each depth
        (ExactTree(max_depth=3, tests="multiway", max_bins=3, leaf_share=0), 2),
    ],
    ids=lambda value: value.info.name if isinstance(value, Recipe) else str(value),
)
def test_at_most(recipe: Recipe, most: int) -> None:
    assert passes_of(recipe) <= most


def test_a_multiway_block_is_one_pass() -> None:
    """All sets of three tests out of ten, where a pass a set would be over a hundred."""
    attributes = tuple(Categorical(f"a{i}", ("x", "y", "z")) for i in range(10))
    schema = Schema(attributes, Categorical("class", ("no", "yes")))
    random = np.random.default_rng(0)
    codes = Codes(random.integers(0, 3, (10, 50), dtype=np.uint8), random.integers(0, 2, 50, dtype=np.uint8))
    engine: Any = Scanning(schema, codes)
    space = block_space(Tests.multiway(schema), 2, 3)
    PrivateDataset(engine, Ledger(1), ROOT).level().sample_trees_all([space], 1)
    assert engine.passes <= 2
