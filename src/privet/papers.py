"""Classifiers of published methods, for comparison and study; privet's own are at the top of the package.

Each is imported on first use, as in ``privet/__init__.py``.

>>> from privet.papers import SuLQTreeClassifier
>>> SuLQTreeClassifier.recipe_class.info.citation
'Blum, Dwork, McSherry & Nissim, PODS 2005; Friedman & Schuster, KDD 2010, Alg. 1'
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from privet.estimators.classifiers import (
        DiffPC45Classifier,
        DiffPID3Classifier,
        EmbeddedTreeClassifier,
        GreedyForestClassifier,
        Jagannathan2012Classifier,
        Jagannathan2013Classifier,
        Mohammed2015Classifier,
        PatilSingh2014Classifier,
        Rana2016Classifier,
        SmoothForestClassifier,
        SNRForestClassifier,
        SuLQTreeClassifier,
    )

__all__ = [
    "DiffPC45Classifier",
    "DiffPID3Classifier",
    "EmbeddedTreeClassifier",
    "GreedyForestClassifier",
    "Jagannathan2012Classifier",
    "Jagannathan2013Classifier",
    "Mohammed2015Classifier",
    "PatilSingh2014Classifier",
    "Rana2016Classifier",
    "SNRForestClassifier",
    "SmoothForestClassifier",
    "SuLQTreeClassifier",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module("privet.estimators.classifiers"), name)


def __dir__() -> list[str]:
    return __all__
