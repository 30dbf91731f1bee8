"""Helpful errors for unknown names on an estimator; the table of names is recipes/unoffered.py."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self

from privet.recipes.unoffered import ATTRIBUTES, UnknownArgument


class Answering:
    """A mixin for scikit-learn estimators, to be the first base class.

    >>> import privet
    >>> privet.ExactTreeClassifier(criterion="gini")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    privet.recipes.unoffered.UnknownArgument: ExactTreeClassifier has no parameter 'criterion'; its score is part of...
    """

    def __new__(cls, *args: Any, **params: Any) -> Self:
        """Not in ``__init__``, whose signature scikit-learn reads."""
        _refuse_unknown(cls, params)
        return super().__new__(cls)

    def set_params(self, **params: Any) -> Self:
        _refuse_unknown(type(self), (name.partition("__")[0] for name in params))
        super().set_params(**params)  # type: ignore[misc]  # of BaseEstimator, which comes after this
        return self

    def __getattr__(self, name: str) -> Any:
        if name in ATTRIBUTES and not hasattr(type(self), name):
            raise AttributeError(f"{type(self).__name__} has no {name}: {ATTRIBUTES[name]}")
        return object.__getattribute__(self, name)  # raises what a property raised, too


def _refuse_unknown(kind: Any, names: Iterable[str]) -> None:
    offered = kind._get_param_names()
    for name in names:
        if name not in offered:
            raise UnknownArgument(kind.__name__, name, offered)
