"""The classifiers, each made from its recipe on first access.

``classifiers.pyi`` declares them for editors and type checkers; ``make stubs`` writes it and a test compares.

>>> from privet.estimators.classifiers import SuLQTreeClassifier
>>> SuLQTreeClassifier.recipe_class
<class 'privet.recipes.papers.sulq.SuLQ'>
"""

from __future__ import annotations

from functools import cache
from typing import Any

from privet.estimators.base import PrivateEstimator
from privet.estimators.faces import classifier_from
from privet.recipes.recipe import Recipe
from privet.recipes.registry import ALL, classifier_name, recipe_class, recipe_classes


def classifier_class(recipe: str) -> type[PrivateEstimator]:
    """The classifier of a recipe, by the recipe's name."""
    return _made(recipe_class(recipe))


@cache  # a class is made once, so that its instances pickle
def _made(recipe: type[Recipe]) -> type[PrivateEstimator]:
    return classifier_from(recipe, module=__name__)


def __getattr__(name: str) -> Any:
    for recipe, line in ALL.items():
        if line.classifier == name:
            return classifier_class(recipe)
    if name.endswith(("Classifier", "Regressor")):  # of another package: this is how pickle finds them
        for kind in (*recipe_classes().values(), *recipe_classes("numbers").values()):
            if classifier_name(kind) == name:
                return _made(kind)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *(line.classifier for line in ALL.values())])
