"""What privacy costs a forest of disjoint random trees, leaf by leaf. It counts exactly: for invented records only."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from privet.engines.memory import MemoryEngine
from privet.estimators.references import exact_forest
from privet.fitting import Request, fit
from privet.models.forest import Forest
from privet.models.released import Released
from privet.privacy.budget import epsilon as parse_epsilon
from privet.privacy.counting import ROOT, class_counts, descend
from privet.recipes.papers.smooth_forest import SmoothForest
from privet.schema import Schema
from privet.tables.encoding import encode
from privet.testing.noise import SeededNoise, use_noise


@dataclass(frozen=True, eq=False)
class Twins:
    """A private forest and its non-private twin: the same trees, exact labels, all records in every one.

    ``flipped`` is the share of leaves with records whose label is not their largest class (Fletcher 2017, Fig. 8.5),
    ``empty`` the share of leaves without records (Table 8.3); both of the private forest's disjoint parts.
    """

    private: Released
    twin: Forest
    flipped: float
    empty: float


class _OwnCoins(SeededNoise):
    """Coins that fall the same whatever else is drawn."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self._coins = np.random.default_rng(seed)

    def coins(self, sides: int, size: int) -> Any:
        return self._coins.integers(0, sides, size)


def forest_twins(recipe: SmoothForest, schema: Schema, table: Any, epsilon: object, seed: int = 0) -> Twins:
    """Grow a forest with seeded noise, and look at what no one else may see; numbers are cut evenly, at public points.

    >>> from privet.datasets.clinic import clinic
    >>> schema, table = clinic(2000)
    >>> twins = forest_twins(SmoothForest(n_estimators=10), schema, table, epsilon=1)
    >>> 0 < twins.flipped < 0.5
    True
    """
    budget, recipe = parse_epsilon(epsilon), replace(recipe, grid="even")
    prepared = recipe.prepare(schema)
    engine = MemoryEngine(prepared, encode(prepared, table))
    random = np.random.default_rng(seed)
    with use_noise(_OwnCoins(seed)):
        private = fit(Request(recipe, engine, budget, random=random, prepared=True)).trees
    assert isinstance(private, Forest)
    routes = recipe.routes(prepared, np.random.default_rng(seed))
    parts = engine.shards(ROOT, recipe.n_estimators, _OwnCoins(seed).coins) if recipe.n_estimators > 1 else ROOT
    counts = class_counts(engine, descend(parts, routes))
    labels = np.concatenate([tree.label[tree.is_leaf] for tree in private.members])
    reached = counts.sum(axis=1) > 0
    wrong = counts[np.arange(len(labels)), labels] < counts.max(axis=1)
    twin = exact_forest(engine, routes)
    flipped = float(wrong[reached].mean()) if reached.any() else 0.0
    return Twins(private, twin, flipped, float((~reached).mean()))
