"""One way to fit a recipe to a small table; and every recipe of forests in small settings."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

from privet.engines.memory import MemoryEngine
from privet.growing.prelude import Prelude
from privet.models.forest import Forest
from privet.models.tree import Tree
from privet.privacy.budget import epsilon as parse_epsilon
from privet.privacy.dataset import PrivateDataset
from privet.privacy.ledger import Ledger
from privet.recipes.ours.random_forest import RandomForest
from privet.recipes.papers.greedy_forest import GreedyForest
from privet.recipes.papers.jagannathan2012 import Jagannathan2012
from privet.recipes.papers.jagannathan2013 import Jagannathan2013
from privet.recipes.papers.mohammed2015 import Mohammed2015
from privet.recipes.papers.patil_singh2014 import PatilSingh2014
from privet.recipes.papers.rana2016 import Rana2016
from privet.recipes.papers.smooth_forest import SmoothForest
from privet.recipes.papers.snr_forest import SNRForest
from privet.recipes.recipe import Recipe
from privet.schema import Categorical, Numeric, Schema
from privet.tables.encoding import encode
from privet.testing import SeededNoise, ZeroNoise, use_noise

RELATIONS = ["add-remove", "replace-one"]
EPSILONS = st.one_of(
    st.fractions(min_value=Fraction(1, 10_000), max_value=100),
    st.floats(0.001, 50),
    st.sampled_from([Fraction(1, 3), 0.1, 1, 10**6]),
)
WIDE = Schema(
    (
        Numeric("age", 0, 120),
        Categorical("town", ("a", "b", "c")),
        Numeric("weight", 0, 200),
        Categorical("sex", ("f", "m")),
        Categorical("smokes", ("no", "yes")),
    ),
    Categorical("ill", ("no", "yes")),
)


def wide_table(n: int = 200, seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    table = {"age": rng.uniform(0, 120, n), "weight": rng.uniform(0, 200, n), "town": rng.choice(list("abc"), n)}
    table |= {"sex": rng.choice(["f", "m"], n), "smokes": rng.choice(["no", "yes"], n)}
    return table | {"ill": rng.choice(["no", "yes"], n)}


PUBLIC = {name: column for name, column in wide_table(60, seed=9).items() if name != "ill"}

SOUND: dict[str, Callable[..., Recipe]] = {
    "greedy-forest": lambda **o: GreedyForest(**({"n_estimators": 2, "max_depth": 2, "max_bins": 3} | o)),
    "greedy-forest, all roots": lambda **o: GreedyForest(**({"n_estimators": 99, "max_depth": 1, "prune": False} | o)),
    "snr-forest": lambda **o: SNRForest(**({"max_bins": 3} | o)),
    "snr-forest, three trees": lambda **o: SNRForest(**({"n_estimators": 3, "max_bins": 3} | o)),
    "snr-forest, n is public": lambda **o: SNRForest(**({"n_public": 200, "max_bins": 3} | o)),
    "smooth-forest": lambda **o: SmoothForest(**({"n_estimators": 4, "max_depth": 2, "max_bins": 4} | o)),
    "smooth-forest, chosen": lambda **o: SmoothForest(
        **({"n_estimators": 3, "max_depth": 2, "max_bins": 4, "labels": "chosen"} | o)
    ),
    "smooth-forest, global": lambda **o: SmoothForest(
        **({"variant": "global-sensitivity", "n_estimators": 3, "max_depth": 2, "max_bins": 4} | o)
    ),
    "random-forest": lambda **o: RandomForest(**({"max_bins": 3} | o)),
    "random-forest, n is public": lambda **o: RandomForest(**({"n_public": 200, "max_bins": 3} | o)),
    "random-forest, disjoint": lambda **o: RandomForest(
        **({"n_estimators": 3, "sharing": "disjoint", "max_bins": 3} | o)
    ),
    "random-forest, pruned": lambda **o: RandomForest(
        **({"n_estimators": 2, "prune": True, "shrinkage": 0, "voting": "proba", "tests": "binary", "max_bins": 3} | o)
    ),
    "jagannathan2012": lambda **o: Jagannathan2012(**({"max_bins": 4} | o)),
    "jagannathan2012, all given": lambda **o: Jagannathan2012(
        **({"n_estimators": 2, "max_depth": 2, "max_bins": 4} | o)
    ),
    "jagannathan2013": lambda **o: Jagannathan2013(
        **({"n_estimators": 2, "public_trees": 2, "max_depth": 2, "max_bins": 4} | o)
    ),
    "mohammed2015": lambda **o: Mohammed2015(**({"max_depth": 2, "max_bins": 3} | o)),
    "mohammed2015, as published": lambda **o: Mohammed2015(
        **({"variant": "as-published", "max_depth": 2, "max_bins": 3, "tests": "binary"} | o)
    ),
    "patil-singh2014": lambda **o: PatilSingh2014(**({"n_estimators": 2, "max_depth": 2, "max_bins": 3} | o)),
}
UNSOUND: dict[str, Callable[..., Recipe]] = {
    "greedy-forest": lambda **o: GreedyForest("as-published", n_estimators=2, max_depth=2, max_bins=3, **o),
    "smooth-forest": lambda **o: SmoothForest("as-published", n_estimators=3, max_depth=2, max_bins=4, **o),
    "patil-singh2014": lambda **o: PatilSingh2014("as-published", n_estimators=2, max_depth=2, max_bins=3, **o),
    "rana2016": lambda **o: Rana2016("as-published", n_estimators=2, max_depth=2, max_bins=4, **o),
    "rana2016, auto": lambda **o: Rana2016("as-published", max_trees=3, max_depth=1, max_bins=4, **o),
}
sound = pytest.mark.parametrize("make", SOUND.values(), ids=SOUND)
unsound = pytest.mark.parametrize("make", UNSOUND.values(), ids=UNSOUND)


class Crowded(ZeroNoise):
    """Every count comes out huge, so that no rule stops a path before its depth."""

    def laplace(self, values: np.ndarray, scale: float) -> np.ndarray:
        return values + 10**12


def fit(
    recipe: Recipe,
    schema: Schema,
    table: Any,
    epsilon: Any = 1,
    noise: Any = None,
    neighbours: str = "add-remove",
    seed: int = 0,
) -> tuple[Any, Ledger]:
    """A model and its ledger, which would allow more: it is the recipe that must keep within."""
    budget = parse_epsilon(epsilon)
    ledger = Ledger(3 * budget, neighbours=neighbours)
    if recipe.variant in recipe.unsound:
        ledger.allow_nonprivate()
    prepared = recipe.prepare(schema)
    data = PrivateDataset(MemoryEngine(prepared, encode(prepared, table)), ledger)
    with use_noise(noise or SeededNoise(0)):
        return recipe.grow_model(Prelude(data, budget), np.random.default_rng(seed)), ledger


def members(model: Tree | Forest) -> tuple[Tree, ...]:
    return (model,) if isinstance(model, Tree) else model.trees
