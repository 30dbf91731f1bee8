"""Classifiers by the name of their recipe."""

from __future__ import annotations

import os
from fractions import Fraction
from typing import Any

from privet.errors import ModelFileError, RecipeError
from privet.estimators.base import PrivateClassifier, SchemaClassifier
from privet.estimators.embedded import EmbeddedTreeClassifier
from privet.estimators.forests import (
    Jagannathan2012Classifier,
    Jagannathan2013Classifier,
    PrivateForestClassifier,
    SmoothForestClassifier,
    SNRForestClassifier,
)
from privet.estimators.greedy_forests import (
    GreedyForestClassifier,
    Mohammed2015Classifier,
    PatilSingh2014Classifier,
    Rana2016Classifier,
)
from privet.estimators.references import REFERENCES
from privet.estimators.trees import (
    DiffPC45Classifier,
    DiffPID3Classifier,
    ExactTreeClassifier,
    SuLQTreeClassifier,
)
from privet.trees.codec import load

CLASSIFIERS: dict[str, type[PrivateClassifier]] = {
    classifier.recipe_class.info.name: classifier
    for classifier in (
        SuLQTreeClassifier,
        DiffPID3Classifier,
        DiffPC45Classifier,
        EmbeddedTreeClassifier,
        ExactTreeClassifier,
        Mohammed2015Classifier,
        PatilSingh2014Classifier,
        GreedyForestClassifier,
        Rana2016Classifier,
        Jagannathan2012Classifier,
        Jagannathan2013Classifier,
        SNRForestClassifier,
        SmoothForestClassifier,
        PrivateForestClassifier,
    )
}


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


def load_model(path: str | os.PathLike[str]) -> SchemaClassifier:
    """A fitted classifier from a file that ``save`` wrote, with the parameters of that fit (but for its ledger)."""
    model = load(path)
    name = f"the model file {os.fspath(path)!r}"
    chosen: type[SchemaClassifier] | None = CLASSIFIERS.get(model.recipe) or REFERENCES.get(model.recipe)
    if chosen is None:
        raise ModelFileError(
            f"{name} holds a model of recipe {model.recipe!r}, which this privet does not know; upgrade"
        )
    params = {key: value for key, value in model.params.items() if key in chosen().get_params()}
    try:
        if "epsilon" in params:
            params["epsilon"] = Fraction(params["epsilon"])  # files hold exact fractions as text
        return chosen(schema=model.schema, **params)._adopt(model)
    except (AttributeError, KeyError, TypeError, ValueError, ZeroDivisionError) as error:
        raise ModelFileError(f"{name} is damaged: its parameters or its certificate cannot be read") from error
