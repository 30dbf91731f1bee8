"""A tree or a forest as the dictionary that ``shap.TreeExplainer`` takes.

It explains codes, which :func:`privet.tables.encoding.encode_features` makes of a table (transposed: a row for each
record). What it explains is the score before the link: probabilities of one tree, sums of votes of a forest, log-odds
of one that votes by evidence. Give the explainer a background table: without one it weighs the two sides of every test
alike, because a model releases no number of records for most of its nodes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from privet.errors import ParameterError
from privet.models.export.metadata import metadata
from privet.models.export.thresholds import NOWHERE, Thresholds
from privet.models.formula import Summand

if TYPE_CHECKING:
    from privet.models.model import Model


def to_shap(model: Model) -> dict[str, Any]:
    """``trees`` and ``base_offset`` for ``shap.TreeExplainer``; ``features``, ``classes`` and ``privet`` for people."""
    formula = model.trees.formula()
    if not model.trees.members:
        raise ParameterError(
            "an additive model needs no SHAP: its parts add up to the score, so the exact values are the model's own "
            "curves; see explain() and shapes_ of the estimator, or privet show"
        )
    if formula.combine != "sum":
        raise ParameterError("SHAP explains sums of trees, and here the most confident tree decides alone")
    trees = [_tree(summand) for summand in formula.summands if summand.routes is not None]
    same = [summand.table[0] for summand in formula.summands if summand.routes is None]
    return {
        "trees": trees,
        "base_offset": np.sum([np.zeros(formula.columns), *same], axis=0),
        "features": list(formula.schema.names),
        "privet": metadata(model),
    }


def shap_json(model: Model) -> str:
    """The dictionary as JSON, with arrays as lists."""
    import json

    return json.dumps(to_shap(model), default=lambda array: array.tolist()) + "\n"


def _tree(summand: Summand) -> dict[str, Any]:
    tree = Thresholds.of(summand)
    left, right = np.array(tree.left), np.array(tree.right)
    leaf = left == NOWHERE
    values = np.zeros((len(tree), summand.table.shape[1]))
    values[leaf] = summand.table[summand.leaf_row[np.array(tree.origin)[leaf]]]
    weight = np.ones(len(tree))
    inner = np.flatnonzero(~leaf)
    for node in inner:  # parents come before their children
        weight[left[node]] = weight[right[node]] = weight[node] / 2
    for node in inner[::-1]:
        values[node] = (values[left[node]] + values[right[node]]) / 2
    return {
        "children_left": left,
        "children_right": right,
        "children_default": right,
        "features": np.where(leaf, -2, tree.attribute),
        "thresholds": np.where(leaf, -2.0, np.array(tree.cut) + 0.5),
        "values": values,
        "node_sample_weight": weight,
    }
