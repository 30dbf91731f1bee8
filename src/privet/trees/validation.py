"""What makes flat arrays a tree, and codes its input: checked here once, relied on everywhere else.

The compiled kernels do not look twice: a child out of range or a code beyond its attribute's arity would read memory
that is not theirs. So trees from files and codes from callers pass through here first.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from privet.errors import ParameterError
from privet.schema import Numeric, Schema
from privet.structure.splits import Kind
from privet.trees.tree import LEAF, Tree


def arities(tree: Tree) -> npt.NDArray[np.int64]:
    """The number of children of each node; none for a leaf."""
    of_attribute = np.asarray(tree.schema.arities, dtype=np.int64)[tree.attribute]
    inner = np.where(tree.kind == Kind.MULTIWAY, of_attribute, 2)
    return np.where(tree.is_leaf, 0, inner)


def tree_fault(tree: Tree) -> str | None:
    """What is wrong with a tree, in words that follow 'the tree ...', or None.

    Children follow their parents, lie in range and belong to one parent each, so every node is reached exactly once
    and there is no circle; every test fits the schema; every label is a class; every probability is one.
    """
    return _test_fault(tree) or _child_fault(tree) or _value_fault(tree)


def check_tree(tree: Tree) -> None:
    """Raise :class:`ParameterError` unless the tree is sound."""
    if fault := tree_fault(tree):
        raise ParameterError(f"the tree {fault}")


def check_features(schema: Schema, features: npt.NDArray[Any], trees: Iterable[Tree]) -> None:
    """Raise :class:`ParameterError` for codes that the trees cannot read."""
    wanted = len(schema.attributes)
    if features.ndim != 2 or len(features) != wanted or not np.issubdtype(features.dtype, np.integer):
        raise ParameterError(
            f"features must be integer codes, {wanted} attributes x records, as schema.encode_features makes them"
        )
    if features.shape[1] == 0:
        return
    # Only a multiway test uses the code as an address.
    used = {int(a) for tree in trees for a in np.unique(tree.attribute[tree.kind == Kind.MULTIWAY]) if a != LEAF}
    for a in sorted(used):
        if features[a].min() < 0 or features[a].max() >= schema.arities[a]:
            raise ParameterError(f"features hold codes of {schema.names[a]!r} that its {schema.arities[a]} values lack")


def _test_fault(tree: Tree) -> str | None:
    if len(tree) == 0:
        return "has no nodes"
    attributes = tree.schema.attributes
    for node in np.flatnonzero(~tree.is_leaf).tolist():
        a, kind, cut = int(tree.attribute[node]), int(tree.kind[node]), int(tree.cut[node])
        if not 0 <= a < len(attributes):
            return f"tests attribute {a} at node {node}, but the schema has {len(attributes)}"
        numeric, where = isinstance(attributes[a], Numeric), f"at node {node} on {attributes[a].name!r}"
        if kind not in set(Kind):
            return f"has a test of unknown kind {kind} {where}"
        if kind == Kind.THRESHOLD and not (numeric and 0 <= cut <= attributes[a].arity - 2):
            return f"has a threshold {where} that the schema does not have (cut {cut})"
        if kind == Kind.ONE_CATEGORY and (numeric or not 0 <= cut < attributes[a].arity):
            return f"has a category {where} that the schema does not have (value {cut})"
    return None


def _child_fault(tree: Tree) -> str | None:
    nodes, children = len(tree), arities(tree)
    inner = np.flatnonzero(~tree.is_leaf)
    first = tree.first_child[inner].astype(np.int64)
    wrong = (first <= inner) | (first + children[inner] > nodes)
    if wrong.any():
        return f"has children out of place at node {inner[wrong][0]}: they must follow it and lie among {nodes} nodes"
    parents = np.zeros(nodes + 1, dtype=np.int64)
    np.add.at(parents, first, 1)
    np.add.at(parents, first + children[inner], -1)
    parents = parents.cumsum()[:nodes]
    parents[0] += 1  # the root stands for its own parent
    if (parents != 1).any():
        node = int(np.flatnonzero(parents != 1)[0])
        return f"does not reach node {node} exactly once, but {parents[node]} times"
    return None


def _value_fault(tree: Tree) -> str | None:
    classes = tree.schema.n_classes
    if ((tree.label < 0) | (tree.label >= classes)).any():
        node = int(np.flatnonzero((tree.label < 0) | (tree.label >= classes))[0])
        return f"predicts class {tree.label[node]} at node {node}, but the schema has {classes}"
    if not ((tree.proba >= 0) & (tree.proba <= 1)).all():  # written so that NaN fails
        return "has a probability outside [0, 1]"
    if np.isinf(tree.counts).any():
        return "has an infinite count"
    return None
