"""Validate a released tree: its structure (see ``privet.structure.faults``) and its values."""

from __future__ import annotations

import numpy as np

from privet.errors import ParameterError
from privet.models.tree import Tree
from privet.structure.faults import structure_fault
from privet.structure.splits import Tests


def tree_fault(tree: Tree) -> str | None:
    """What is wrong with a tree, as a clause after 'the tree ...', or None.

    A sound tree has tests that fit the schema, labels that are classes, and probabilities in [0, 1].
    """
    tests = Tests.of_columns(tree.schema, tree.attribute, tree.kind, tree.cut)
    return structure_fault(tree.schema, tests, tree.first_child, np.zeros(1, dtype=np.int32)) or _value_fault(tree)


def check_tree(tree: Tree) -> None:
    """Raise :class:`ParameterError` unless the tree is sound."""
    if fault := tree_fault(tree):
        raise ParameterError(f"the tree {fault}")


def _value_fault(tree: Tree) -> str | None:
    classes = tree.columns
    if ((tree.label < 0) | (tree.label >= classes)).any():
        node = int(np.flatnonzero((tree.label < 0) | (tree.label >= classes))[0])
        return f"predicts class {tree.label[node]} at node {node}, but the schema has {classes}"
    if not ((tree.proba >= 0) & (tree.proba <= 1)).all():  # written so that NaN fails
        return "has a probability outside [0, 1]"
    if np.isinf(tree.counts).any():
        return "has an infinite count"
    return None
