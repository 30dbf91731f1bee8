"""One paper, one file: citation, composition, errata and where privet differs.

Calling the package lists what it holds, so that ``privet.recipes()`` is the registry and ``privet.recipes.sulq`` a page
of it.

>>> import privet
>>> [info.name for info in privet.recipes()][:2]
['sulq', 'diffpid3']
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from privet.recipes.recipe import Info, Recipe

# File -> class, in the order of the papers.
_RECIPES = {
    "sulq": "SuLQ",
    "diffpid3": "DiffPID3",
    "diffpc45": "DiffPC45",
    "embedded": "Embedded",
    "exact": "ExactTree",
    "mohammed2015": "Mohammed2015",
    "patil_singh2014": "PatilSingh2014",
    "greedy_forest": "GreedyForest",
    "rana2016": "Rana2016",
    "jagannathan2012": "Jagannathan2012",
    "jagannathan2013": "Jagannathan2013",
    "snr_forest": "SNRForest",
    "smooth_forest": "SmoothForest",
    "random_forest": "RandomForest",
}


def recipe_classes() -> dict[str, type[Recipe]]:
    """Recipe classes by the name a user knows them by."""
    classes = [getattr(import_module(f"{__name__}.{file}"), name) for file, name in _RECIPES.items()]
    return {recipe.info.name: recipe for recipe in classes}


class _Registry(ModuleType):
    def __call__(self) -> tuple[Info, ...]:
        """What there is to choose from: name, citation, budget formula, guarantee and variants of every recipe."""
        return tuple(recipe.info for recipe in recipe_classes().values())


# Importing any recipe sets the attribute `privet.recipes` to this module, so the module itself must be the function.
sys.modules[__name__].__class__ = _Registry
