"""Rules of scikit-learn's trees and forests, from their documented attributes.

Such a tree has thresholds and no schema. Its rules get a schema of the same columns, cut exactly at those thresholds,
so that they can be matched, compared and described like any others.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from privet.errors import ParameterError
from privet.models.rules import Condition, Rule
from privet.schema import Categorical, Numeric, Schema
from privet.structure.splits import Threshold


def is_foreign(model: Any) -> bool:
    """Whether this is a fitted tree, or a forest of trees, with scikit-learn's attributes."""
    return not hasattr(model, "model_") and (hasattr(model, "tree_") or hasattr(model, "estimators_"))


def foreign_rules(model: Any, names: Sequence[str] | None = None) -> tuple[Schema, tuple[Rule, ...]]:
    """The schema of a classifier's own thresholds, and a rule for each leaf."""
    trees = [model] if hasattr(model, "tree_") else list(np.ravel(model.estimators_))
    classes = getattr(model, "classes_", None)
    if classes is None or isinstance(classes, list) or not all(hasattr(tree, "tree_") for tree in trees):
        raise ParameterError("rules come from classifiers with one label: a tree, or a forest of trees")
    if any(len(classes) != tree.tree_.value.shape[2] for tree in trees):
        raise ParameterError("the trees of this model do not tell its classes apart (boosting adds up numbers); "
                             "give a classifier's tree or a forest of them")  # fmt: skip
    columns = getattr(model, "estimators_features_", [range(int(model.n_features_in_))])
    if any(list(mine) != list(range(int(model.n_features_in_))) for mine in columns):
        raise ParameterError("the trees of this model see other columns than the model does; set max_features=1.0")
    labels = tuple(np.asarray(classes).tolist())
    names = _names(model, names)
    cuts = _cuts(trees, len(names))
    # Values beyond the outermost cut fall into the outermost bin, so any bounds around the cuts will do.
    attributes = [
        Numeric(name, *_around(mine), thresholds=tuple(mine)) if mine else Numeric(name, 0, 1, bins=2)
        for name, mine in zip(names, cuts, strict=True)
    ]
    label = Categorical("label" if "label" not in names else "class of the model", labels)
    schema = Schema(tuple(attributes), label)
    return schema, tuple(rule for tree in trees for rule in _rules(tree.tree_, cuts, labels))


def _names(model: Any, names: Sequence[str] | None) -> list[str]:
    count = int(model.n_features_in_)
    found = list(names) if names is not None else list(getattr(model, "feature_names_in_", ()))
    if not found:
        return [f"x{number}" for number in range(count)]
    if len(found) != count:
        raise ParameterError(f"names must have one entry for each of the {count} columns that the model was fitted on")
    return [str(name) for name in found]


def _cuts(trees: Sequence[Any], columns: int) -> list[list[float]]:
    cuts: list[set[float]] = [set() for _ in range(columns)]
    for tree in trees:
        inner = tree.tree_.children_left >= 0
        for column, cut in zip(tree.tree_.feature[inner], tree.tree_.threshold[inner], strict=True):
            cuts[column].add(float(cut))
    return [sorted(mine) for mine in cuts]


def _around(cuts: list[float]) -> tuple[float, float]:
    width = max(1.0, cuts[-1] - cuts[0], abs(cuts[0]) / 2**20, abs(cuts[-1]) / 2**20)
    return math.nextafter(cuts[0] - width, -math.inf), math.nextafter(cuts[-1] + width, math.inf)


def _rules(tree: Any, cuts: list[list[float]], labels: tuple[Any, ...]) -> Iterator[Rule]:
    stack: list[tuple[int, tuple[Condition, ...]]] = [(0, ())]
    while stack:
        node, path = stack.pop()
        if tree.children_left[node] < 0:
            share = tree.value[node, 0] / max(float(tree.value[node, 0].sum()), math.ulp(0.0))
            best = int(share.argmax())
            yield Rule(path, labels[best], float(tree.weighted_n_node_samples[node]), float(share[best]))
            continue
        column = int(tree.feature[node])
        test = Threshold(column, cuts[column].index(float(tree.threshold[node])))
        stack.append((int(tree.children_right[node]), (*path, Condition(test, 1))))
        stack.append((int(tree.children_left[node]), (*path, Condition(test, 0))))
