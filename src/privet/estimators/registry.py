"""Classifiers by the name of their recipe."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from fractions import Fraction
from typing import Any

from privet.errors import ModelFileError, RecipeError
from privet.estimators.base import PrivateEstimator, SchemaEstimator
from privet.estimators.classifiers import classifier_class
from privet.estimators.references import REFERENCES
from privet.models.model import Model
from privet.privacy.budget import exact, read_fraction
from privet.recipes.registry import NUMBERS, OWN
from privet.recipes.saved import read_model

CLASSIFIERS: dict[str, type[PrivateEstimator]] = {name: classifier_class(name) for name in OWN}
"""Those of privet's own recipes for classes. For a name that may be another package's there is ``classifier_class``."""

REGRESSORS: dict[str, type[PrivateEstimator]] = {name: classifier_class(name) for name in NUMBERS}
"""And those for numbers."""

OLD_NAMES = {"trees": "n_estimators", "bins": "max_bins", "class_weights": "class_weight"}
"""What parameters were called in model files of version 0.1, and are called now."""


def make_classifier(recipe: str, **params: Any) -> PrivateEstimator:
    """A classifier by the name of its recipe.

    >>> import privet
    >>> privet.make_classifier("diffpid3", epsilon=0.5, max_depth=2)
    DiffPID3Classifier(epsilon=0.5, max_depth=2)
    """
    return classifier_class(recipe)(**params)


def load_model(path: str | os.PathLike[str]) -> SchemaEstimator:
    """A fitted classifier from a file that ``save`` wrote, with the parameters of that fit (but for its ledger)."""
    model, _ = read_model(path)
    return adopt(model, f"the model file {os.fspath(path)!r}")


def adopt(model: Model, name: str = "the model") -> SchemaEstimator:
    """The fitted classifier of a model, with the parameters of its fit (but for its ledger)."""
    chosen = _classifier_of_file(model.recipe, name)
    params = _known(model.params, chosen().get_params())
    try:
        if issubclass(chosen, PrivateEstimator):
            params = chosen.recipe_class.restore(params)
        if "epsilon" in params:
            params["epsilon"] = _epsilon(params["epsilon"])
        return chosen(schema=model.schema, **params)._adopt(model)
    except (AttributeError, KeyError, TypeError, ValueError, ZeroDivisionError) as error:
        raise ModelFileError(f"{name} is damaged: its parameters cannot be read") from error


def _known(params: Mapping[str, Any], known: Collection[str]) -> dict[str, Any]:
    """The parameters of a file that the classifier still has, under their current names."""
    today = {key if key in known else OLD_NAMES.get(key, key): value for key, value in params.items()}
    return {key: value for key, value in today.items() if key in known}


def _epsilon(value: Any) -> Fraction:
    """Parse epsilon: files hold exact fractions as text, files of older versions numbers."""
    return read_fraction(value, "epsilon") if isinstance(value, str) else exact(value, "epsilon")


def _classifier_of_file(recipe: str, name: str) -> type[SchemaEstimator]:
    if recipe in REFERENCES:
        return REFERENCES[recipe]
    try:
        return classifier_class(recipe)
    except RecipeError as error:
        raise ModelFileError(
            f"{name} holds a model of recipe {recipe!r}, which this privet does not know: upgrade, or install the "
            f"package that brings it ({error})"
        ) from error
