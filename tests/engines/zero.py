"""Fits without noise, on any engine: the same records must give the same model, wherever they live."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from privet.fitting import Request, fit
from privet.models.codec import to_text
from privet.privacy.counting import Engine
from privet.recipes.recipe import Recipe
from privet.recipes.registry import recipe_classes
from privet.schema import Schema
from privet.testing import ZeroNoise, use_noise

SMALL: dict[str, dict[str, Any]] = {
    "embedded": {"max_depth": 2},
    "exact": {"max_depth": 2},
    "greedy-forest": {"n_estimators": 3},
    "smooth-forest": {"n_estimators": 5},
    "snr-forest": {"n_estimators": 5},
}
"""Parameters that make a fit shorter."""


class PiecewiseCoins(ZeroNoise):
    """No noise, and coins that fall alike however many are thrown at a time."""

    def __init__(self) -> None:
        super().__init__()
        self._bits = np.random.default_rng(0).bit_generator

    def coins(self, sides: int, size: int) -> Any:
        return (self._bits.random_raw(size) % np.uint64(sides)).astype(np.int64)


def every_recipe() -> Iterator[Recipe]:
    """Every recipe in every variant."""
    for name, kind in recipe_classes().items():
        for variant in kind.info.variants:
            yield kind(variant=variant, **SMALL.get(name, {}))


def model_of(recipe: Recipe, schema: Schema, make: Callable[[Schema], Engine]) -> dict[str, Any]:
    """All that a model file holds, certificate and all, of a fit without noise; but for the minute it was made in."""
    with use_noise(PiecewiseCoins()):
        engine = make(recipe.prepare(schema))
        model = fit(Request(recipe, engine, 8, random=np.random.default_rng(1), prepared=True))
    written: dict[str, Any] = json.loads(to_text(replace(model, made={})))["model"]
    return written
