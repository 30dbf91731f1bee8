"""What can be computed from released class counts in leaves. They are sums of a signal and of known noise.

All of it is arithmetic on released numbers, over all trees at once and a level at a time, so it costs no budget.
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
    """The counts with every inner node the sum of its leaves: noise cancels on the way up (Fletcher 2017, 7.3.1)."""
    summed = np.where(routes.is_leaf[:, None], counts, 0.0)
    for nodes in reversed(routes.levels[1:]):
        np.add.at(summed, routes.parent[nodes], summed[nodes])
    return summed


def leaves_below(routes: Routes) -> Floats:
    """How many leaves each node stands for; a leaf for itself."""
    return add_up(routes, np.ones((len(routes.tests), 1)))[:, 0]


def chances(routes: Routes) -> Floats:
    """How likely each node is to be reached, if at each test every child is as likely as the others."""
    chance = np.ones(len(routes.tests))
    for nodes in routes.levels[1:]:
        above = routes.parent[nodes]
        chance[nodes] = chance[above] / routes.tests.arity[above]
    return chance


def expected_tests(routes: Routes) -> Floats:
    """(tree,) how many tests a record is asked, if at each of them every child is as likely as the others."""
    asked = np.where(routes.is_leaf, chances(routes) * routes.level, 0.0)
    return np.add.reduceat(asked, routes.roots)


def shares(counts: Floats) -> Floats:
    """Class probabilities from counts that noise may have made negative; uniform where nothing is left."""
    positive = np.maximum(np.nan_to_num(counts, nan=0.0), 0.0)
    total = positive.sum(axis=-1, keepdims=True)
    uniform = np.full_like(positive, 1 / positive.shape[-1])
    return np.divide(positive, total, out=uniform, where=total > 0)


def settle(counts: Floats, parent: npt.NDArray[np.intp]) -> tuple[Floats, npt.NDArray[np.intp]]:
    """Class probabilities and labels of nodes, parents (-1 for a root) before their children.

    Where counts are equal, the class wins that the parent finds likelier. A node without a positive count says what its
    parent says. Where the parent cannot decide either, the classes take turns, node by node: the class listed first
    must not get all leaves that noise has emptied.

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
    # The label must be the likeliest class, or two predictions would disagree.
    rows = np.flatnonzero(proba.argmax(axis=1) != label)
    proba[rows] *= 1 - TIE
    proba[rows, label[rows]] += TIE
    return proba, label


def shrink(routes: Routes, summed: Floats, scale: float, strength: float) -> Floats:
    """(node, class) probabilities. The smaller or noisier a node's counts, the closer it moves to its parent.

    The parent's opinion counts as much as 1 record plus ``strength`` standard deviations of the node's own noise.
    ``scale`` is that of the Laplace noise of a leaf. All trees hold the same records, so their roots share one opinion:
    a mean in which roots with less noise count more. A class below the noise's size is raised to it.

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
    released = 1 + strength * noise * np.sqrt(summed.shape[1])
    for nodes in routes.levels[1:]:
        mixed = own[nodes] + released[nodes, None] * proba[routes.parent[nodes]]
        proba[nodes] = mixed / mixed.sum(axis=1, keepdims=True)
    return proba


def signal_share(routes: Routes, counts: Floats, scale: float, prior: Floats) -> float:
    """How much of what sets the leaves apart from the whole table is signal, from 0 to 1; the rest is noise.

    A leaf of n records differs from n times the class shares of the table (``prior``). Were there nothing but Laplace
    noise of ``scale`` and chance, the expected square of that difference would be known, and about how it varies. What
    the squares, summed over the leaves of all trees, have beyond it is signal.

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
    # Noise of variance v in every count moves count c minus prior_c times their sum by v (1 - 2 prior_c + C prior_c^2).
    noise = 2 * scale**2 * (1 - 2 * prior + classes * prior**2)
    chance = np.maximum(sizes, 0.0) * prior * (1 - prior)
    expected = (noise + chance).sum(axis=1)
    # Squares of noise vary too, in a leaf by nearly twice their mean: half a standard deviation more is not signal yet.
    noisy = float(expected.sum()) + math.sqrt(0.75 * float((expected**2).sum()))
    found = float(((leaves - sizes * prior) ** 2).sum())
    return max(0.0, 1 - noisy / found) if found > 0 else 0.0


def above_noise(routes: Routes, summed: Floats, epsilon: float) -> Bools:
    """Which nodes have a signal-to-noise ratio of at least 1, as do all nodes above them; roots always (TH eq. 7.8)."""
    ratio = epsilon * summed.sum(axis=1) / (summed.shape[1] * np.sqrt(2 * leaves_below(routes)))
    alive = ratio >= 1
    alive[routes.roots] = True
    for nodes in routes.levels[1:]:
        alive[nodes] &= alive[routes.parent[nodes]]
    return alive


def surest_opinion(routes: Routes, proba: Floats, alive: Bools) -> Floats:
    """(node, class) the most confident opinion on the way from the root to each node; only the ``alive`` have one."""
    text = proba.copy()
    for nodes in routes.levels[1:]:
        above = text[routes.parent[nodes]]
        own = alive[nodes] & (proba[nodes].max(axis=1) > above.max(axis=1))
        text[nodes] = np.where(own[:, None], proba[nodes], above)
    return text


def as_trees(
    routes: Routes,
    proba: Floats,
    counts: Floats,
    alive: Bools | None = None,
    label: npt.NDArray[np.intp] | None = None,
    draws: npt.NDArray[Any] | None = None,
) -> tuple[Tree, ...]:
    """The trees of the routes with what their nodes say; below a node that is not ``alive`` nothing is left.

    ``draws`` is as in :class:`~privet.models.tree.Tree`; leave it out where counts are no sums of noisy counts.
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
    """A tree in level order whose nodes say what their counts say.

    An inner node without counts of its own has the sum of its children's.
    """
    routes, counts = Routes.in_level_order(schema, tests), counts.copy()
    draws = bought(counts)
    silent = ~routes.is_leaf & (draws == 0)
    counts[silent] = 0.0
    for nodes in reversed(routes.levels[1:]):
        released = nodes[silent[routes.parent[nodes]]]
        np.add.at(counts, routes.parent[released], counts[released])
        np.add.at(draws, routes.parent[released], draws[released])
    proba, label = settle(counts, routes.parent)
    return as_trees(routes, proba, counts, label=label, draws=draws)[0]


def bought(counts: Floats) -> npt.NDArray[np.int32]:
    """How many draws of noise are in each node's counts where they are as they were bought: one, or none if unknown."""
    return np.asarray(~np.isnan(counts).any(axis=1), dtype=np.int32)


def _barren(tree: Tree, alive: Bools) -> Bools:
    """Nodes that become leaves: dead ones, and those whose children are all dead."""
    barren = ~alive
    for node in np.flatnonzero(~tree.is_leaf).tolist():
        children = tree.children(node)
        barren[node] |= not alive[children.start : children.stop].any()
    return barren
