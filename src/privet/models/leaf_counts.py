"""Arithmetic on released class counts of leaves, which are sums of a signal and noise of a known scale.

It runs over all trees at once, a level at a time. It uses released numbers only, so it costs no budget.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from privet.models.pruning import compact
from privet.models.tree import Tree
from privet.schema import Schema
from privet.structure.routes import Routes
from privet.structure.splits import Test

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

TIE = 1e-9  # of probability, moved to the label where another class is equally likely


def add_up(routes: Routes, counts: Floats) -> Floats:
    """Sum the leaves' counts into every inner node: noise cancels on the way up (Fletcher 2017, 7.3.1)."""
    summed = np.where(routes.is_leaf[:, None], counts, 0.0)
    for nodes in reversed(routes.levels[1:]):
        np.add.at(summed, routes.parent[nodes], summed[nodes])
    return summed


def leaves_below(routes: Routes) -> Floats:
    """The number of leaves below each node; 1 for a leaf."""
    return add_up(routes, np.ones((len(routes.tests), 1)))[:, 0]


def chances(routes: Routes) -> Floats:
    """The chance of reaching each node if every child of a test is equally likely."""
    chance = np.ones(len(routes.tests))
    for nodes in routes.levels[1:]:
        above = routes.parent[nodes]
        chance[nodes] = chance[above] / routes.tests.arity[above]
    return chance


def expected_tests(routes: Routes) -> Floats:
    """(tree,) the expected number of tests of a record, if every child of a test is equally likely."""
    asked = np.where(routes.is_leaf, chances(routes) * routes.level, 0.0)
    return np.add.reduceat(asked, routes.roots)


def shares(counts: Floats) -> Floats:
    """Class probabilities from counts that noise may have made negative; uniform where nothing is left."""
    positive = np.maximum(np.nan_to_num(counts, nan=0.0), 0.0)
    total = positive.sum(axis=-1, keepdims=True)
    uniform = np.full_like(positive, 1 / positive.shape[-1])
    return np.divide(positive, total, out=uniform, where=total > 0)


def settle(counts: Floats, parent: npt.NDArray[np.intp]) -> tuple[Floats, npt.NDArray[np.intp]]:
    """Class probabilities and labels of nodes, given parents (-1 for a root) before their children.

    A tie goes to the class that is more probable in the parent; a node without a positive count takes its parent's
    probabilities. Where the parent is tied too, classes take turns by node number: the first class must not get all
    leaves that noise has emptied.

    >>> proba, label = settle(np.array([[3.0, 9.0], [3.0, 9.0], [-1.0, -4.0]]), np.array([-1, 0, 0]))
    >>> proba[2], label
    (array([0.25, 0.75]), array([1, 1, 1]))
    """
    positive = np.maximum(np.nan_to_num(counts, nan=0.0), 0.0)
    tied = positive == positive.max(axis=1, keepdims=True)
    proba, label = shares(counts), positive.argmax(axis=1)
    for node in np.flatnonzero(tied.sum(axis=1) > 1).tolist():
        among, above = np.flatnonzero(tied[node]), int(parent[node])
        if above >= 0:
            if not positive[node].any():
                proba[node] = proba[above]
            among = among[proba[above, among] == proba[above, among].max()]
        label[node] = among[node % among.size]
    # The label must be the most probable class, or the two predictions would disagree.
    rows = np.flatnonzero(proba.argmax(axis=1) != label)
    proba[rows] *= 1 - TIE
    proba[rows, label[rows]] += TIE
    return proba, label


def shrink(routes: Routes, summed: Floats, scale: float, strength: float) -> Floats:
    """(node, class) probabilities, shrunk towards the parent; the smaller or noisier a node's counts, the more.

    The parent weighs as much as 1 record plus ``strength`` standard deviations of the node's noise. ``scale`` is the
    Laplace scale of a leaf. All trees hold the same records, so all roots get the same probabilities: a mean weighted
    by the roots' noise, in which a class below the noise is raised to it.

    >>> from privet.schema import Categorical, Schema
    >>> from privet.structure.splits import Multiway, Tests
    >>> schema = Schema((Categorical("sex", ("f", "m")),), Categorical("ill", ("no", "yes")))
    >>> routes = Routes(schema, Tests.of(schema, [Multiway(0), None, None]), [1, -1, -1], [0])
    >>> counts = add_up(routes, np.array([[0, 0], [900, 100], [3, -2]]))
    >>> shrink(routes, counts, scale=10, strength=1).round(2)  # the second leaf has little to say
    array([[0.9 , 0.1 ],
           [0.9 , 0.1 ],
           [0.91, 0.09]])
    """
    leaves = leaves_below(routes)
    noise = scale * np.sqrt(2 * leaves)
    weights = 1 / leaves[routes.roots]
    whole = (weights[:, None] * summed[routes.roots]).sum(axis=0) / weights.sum()
    prior = np.maximum(whole, scale * np.sqrt(2 / weights.sum())) + 1
    proba = np.tile(prior / prior.sum(), (len(summed), 1))
    own = np.maximum(summed, 0.0)
    pseudo = 1 + strength * noise * np.sqrt(summed.shape[1])
    for nodes in routes.levels[1:]:
        mixed = own[nodes] + pseudo[nodes, None] * proba[routes.parent[nodes]]
        proba[nodes] = mixed / mixed.sum(axis=1, keepdims=True)
    return proba


def signal_share(routes: Routes, counts: Floats, scale: float, prior: Floats) -> float:
    """The share of signal, from 0 to 1, in the differences between the leaves and the whole table.

    A leaf of n records differs from n times the class shares of the table (``prior``). If there were only Laplace noise
    of ``scale`` and chance, the mean and the variance of the squared difference would be known. What the squares,
    summed over the leaves of all trees, have beyond that is signal.

    >>> from privet.schema import Categorical, Schema
    >>> from privet.structure.splits import Multiway, Tests
    >>> schema = Schema((Categorical("sex", ("f", "m")),), Categorical("ill", ("no", "yes")))
    >>> routes = Routes(schema, Tests.of(schema, [Multiway(0), None, None]), [1, -1, -1], [0])
    >>> counts = add_up(routes, np.array([[0, 0], [900, 100], [600, 400]]))
    >>> [round(signal_share(routes, counts, scale, np.array([0.75, 0.25])), 2) for scale in (1, 50, 500)]
    [0.99, 0.76, 0.0]
    """
    leaves = counts[routes.leaves]
    sizes = leaves.sum(axis=1, keepdims=True)
    classes = leaves.shape[1]
    # If every count has noise of variance v, that of (count c) - prior_c sum is v (1 - 2 prior_c + C prior_c^2).
    noise = 2 * scale**2 * (1 - 2 * prior + classes * prior**2)
    chance = np.maximum(sizes, 0.0) * prior * (1 - prior)
    expected = (noise + chance).sum(axis=1)
    # Squares of noise vary too, by nearly twice their mean in a leaf: half a standard deviation more is no signal yet.
    noisy = float(expected.sum()) + math.sqrt(0.75 * float((expected**2).sum()))
    found = float(((leaves - sizes * prior) ** 2).sum())
    return max(0.0, 1 - noisy / found) if found > 0 else 0.0


def above_noise(routes: Routes, summed: Floats, epsilon: float) -> Bools:
    """(node,) signal-to-noise ratio of at least 1, here and in all nodes above; roots always (TH eq. 7.8)."""
    ratio = epsilon * summed.sum(axis=1) / (summed.shape[1] * np.sqrt(2 * leaves_below(routes)))
    alive = ratio >= 1
    alive[routes.roots] = True
    for nodes in routes.levels[1:]:
        alive[nodes] &= alive[routes.parent[nodes]]
    return alive


def surest_opinion(routes: Routes, proba: Floats, alive: Bools) -> Floats:
    """(node, class) the most confident probabilities on the path from the root; only ``alive`` nodes count."""
    surest = proba.copy()
    for nodes in routes.levels[1:]:
        above = surest[routes.parent[nodes]]
        own = alive[nodes] & (proba[nodes].max(axis=1) > above.max(axis=1))
        surest[nodes] = np.where(own[:, None], proba[nodes], above)
    return surest


def as_trees(
    routes: Routes,
    proba: Floats,
    counts: Floats,
    alive: Bools | None = None,
    label: npt.NDArray[np.intp] | None = None,
    draws: npt.NDArray[Any] | None = None,
) -> tuple[Tree, ...]:
    """Split routes into trees with these node values; nothing is kept below a node that is not ``alive``.

    ``draws`` is as in :class:`~privet.models.tree.Tree`; leave it out where counts are not sums of noisy counts.
    """
    labels = proba.argmax(axis=1) if label is None else label
    noise = np.zeros(len(counts)) if draws is None else draws
    trees = []
    for t in range(len(routes)):
        nodes = routes.nodes_of(t)
        tests = routes.tests.take(nodes)
        first_child = np.where(routes.is_leaf[nodes], -1, routes.first_child[nodes] - nodes[0])
        columns = labels[nodes].astype(np.int32), proba[nodes], counts[nodes], noise[nodes].astype(np.int32)
        tree = Tree(routes.schema, tests.attribute, tests.kind, tests.cut, first_child, *columns)
        if alive is not None and not alive[nodes].all():
            tree = compact(tree, _barren(tree, alive[nodes]))
        trees.append(tree)
    return tuple(trees)


def tree_of_counts(schema: Schema, tests: Sequence[Test | None], counts: Floats) -> Tree:
    """A tree in level order that predicts by its counts; an inner node without counts gets its children's sum."""
    routes, counts = Routes.in_level_order(schema, tests), counts.copy()
    draws = bought(counts)
    unreleased = ~routes.is_leaf & (draws == 0)
    counts[unreleased] = 0.0
    for nodes in reversed(routes.levels[1:]):
        below = nodes[unreleased[routes.parent[nodes]]]
        np.add.at(counts, routes.parent[below], counts[below])
        np.add.at(draws, routes.parent[below], draws[below])
    proba, label = settle(counts, routes.parent)
    return as_trees(routes, proba, counts, label=label, draws=draws)[0]


def bought(counts: Floats) -> npt.NDArray[np.int32]:
    """Draws of noise in each node's counts as bought: one, or 0 where there are none."""
    return np.asarray(~np.isnan(counts).any(axis=1), dtype=np.int32)


def _barren(tree: Tree, alive: Bools) -> Bools:
    """Nodes that become leaves: those not alive, and those with no child alive."""
    barren = ~alive
    for node in np.flatnonzero(~tree.is_leaf).tolist():
        children = tree.children(node)
        barren[node] |= not alive[children.start : children.stop].any()
    return barren
