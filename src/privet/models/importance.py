"""How much each attribute decides, from released numbers alone: it costs no budget."""

from __future__ import annotations

import numpy as np

from privet.models.additive import Additive
from privet.models.counts import MOST
from privet.models.curves import attribute_shares
from privet.models.forest import Forest
from privet.models.leaf_counts import add_up, chances
from privet.models.tree import Floats, Tree


def importances(trees: Tree | Forest | Additive) -> Floats:
    """(attribute,) its share of all the impurity (Gini) that the tests take away; a forest's is the mean of its trees.

    A node weighs as much as its released counts, clipped at 0 and added up from the leaves. Where leaves released no
    counts nobody knows how many records take a branch: then all branches of a test weigh the same, and a leaf is as
    sure as its probabilities say. All are 0 if no test takes anything away. Of a sum it is the share of what its parts
    move scores by.

    >>> from privet.schema import Categorical, Schema
    >>> from privet.structure.splits import OneCategory
    >>> schema = Schema([Categorical(name, (0, 1)) for name in "ab"], Categorical("ill", ("no", "yes")))
    >>> tree = Tree.build(schema, [OneCategory(1, 1), None, None], [1, -1, -1], [0, 1, 0])
    >>> importances(tree)
    array([0., 1.])
    """
    if isinstance(trees, Additive):
        return attribute_shares(trees)
    members = trees.trees if isinstance(trees, Forest) else (trees,)
    return np.mean([_of_tree(tree) for tree in members], axis=0)


def _of_tree(tree: Tree) -> Floats:
    routes, found = tree.routes, np.zeros(len(tree.schema.attributes))
    counted = not np.isnan(tree.counts[tree.is_leaf]).any()
    leaves = tree.counts.clip(0, MOST) if counted else chances(routes)[:, None] * tree.proba
    mass = add_up(routes, leaves)
    total = mass.sum(axis=1)
    squares = np.divide((mass**2).sum(axis=1), total, out=np.zeros(len(tree)), where=total > 0)
    impurity = total - squares
    below = np.zeros(len(tree))
    children = routes.parent >= 0
    np.add.at(below, routes.parent[children], impurity[children])
    inner = ~tree.is_leaf
    np.add.at(found, tree.attribute[inner], np.maximum(impurity - below, 0.0)[inner])
    return found / found.sum() if found.sum() > 0 else found
