"""All recipes by name, and the classifiers that wear them."""

from __future__ import annotations

import os
from typing import Any

from privet.errors import RecipeError
from privet.estimators.base import PrivateClassifier
from privet.estimators.trees import DiffPC45Classifier, DiffPID3Classifier, SuLQTreeClassifier
from privet.recipes.recipe import Info
from privet.trees.codec import load

CLASSIFIERS: dict[str, type[PrivateClassifier]] = {
    classifier.recipe_class.info.name: classifier
    for classifier in (SuLQTreeClassifier, DiffPID3Classifier, DiffPC45Classifier)
}


def recipes() -> tuple[Info, ...]:
    """What there is to choose from.

    >>> import privet
    >>> [info.name for info in privet.recipes()][:2]
    ['sulq', 'diffpid3']
    """
    return tuple(classifier.recipe_class.info for classifier in CLASSIFIERS.values())


def classifier_class(recipe: str) -> type[PrivateClassifier]:
    if recipe not in CLASSIFIERS:
        raise RecipeError(f"unknown recipe {recipe!r}; choose one of {', '.join(CLASSIFIERS)}")
    return CLASSIFIERS[recipe]


def make_classifier(recipe: str, **params: Any) -> PrivateClassifier:
    """A classifier by the name of its recipe.

    >>> import privet
    >>> privet.make_classifier("diffpid3", epsilon=0.5, max_depth=2)
    DiffPID3Classifier(epsilon=0.5, max_depth=2)
    """
    chosen = classifier_class(recipe)
    known = chosen().get_params()
    unknown = sorted(set(params) - set(known))
    if unknown:
        raise RecipeError(f"recipe {recipe!r} has no parameter {unknown[0]!r}; it has {', '.join(sorted(known))}")
    return chosen(**params)


def load_model(path: str | os.PathLike[str]) -> PrivateClassifier:
    """A fitted classifier from a file that ``save`` wrote."""
    model = load(path)
    chosen = classifier_class(model.recipe)
    params = {name: value for name, value in model.params.items() if name in chosen().get_params()}
    return chosen(schema=model.schema, **params)._adopt(model)
