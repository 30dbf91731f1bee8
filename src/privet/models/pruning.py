"""Pruning with released numbers only, so it costs no budget.

Friedman & Schuster (KDD 2010), Algorithm 3: make the noisy counts of a tree consistent (sizes from the top down, class
counts from the bottom up), then replace subtrees by leaves, by C4.5's error estimate. All passes run over the flat
arrays. Parents come before their children, so forwards is down and backwards is up.
"""

from __future__ import annotations

from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from privet.errors import ParameterError
from privet.models.tree import LEAF, Floats, Tree
from privet.models.validation import check_tree

CONFIDENCE = 0.25  # C4.5's default certainty factor, also the paper's
TOLERANCE = 0.1  # C4.5 prunes even when the leaf is worse by up to a tenth of an error


class Corrected(NamedTuple):
    """Consistent numbers: children's sizes add up to their parent's, and class counts add up to sizes."""

    sizes: Floats  # (node,)
    counts: Floats  # (node, class)


def correct_counts(tree: Tree, sizes: Floats | None = None) -> Corrected:
    """TopDownCorrect and BottomUpAggregate: make released node sizes and class counts consistent.

    ``sizes`` are released node sizes, NaN where none was bought. A missing size comes from the node's class counts,
    else from its children, else from what its siblings leave over. Negative numbers are clipped to 0. Children
    that are all 0 share their parent's size equally, and so do a leaf's classes. A leaf without class counts uses its
    ``proba``.

    >>> from privet.schema import Categorical, Schema
    >>> from privet.structure.splits import Multiway
    >>> schema = Schema((Categorical("sex", ("f", "m")),), Categorical("ill", ("no", "yes")))
    >>> counts = np.array([[np.nan, np.nan], [30, 10], [-2, 5]])
    >>> tree = Tree.build(schema, [Multiway(0), None, None], [1, -1, -1], [0, 0, 1], counts=counts)
    >>> sizes, counts = correct_counts(tree, np.array([100.0, 60.0, 20.0]))
    >>> sizes
    array([100.,  75.,  25.])
    >>> counts
    array([[56.25, 43.75],
           [56.25, 18.75],
           [ 0.  , 25.  ]])
    """
    check_tree(tree)
    fixed = _sizes_top_down(tree, _claimed_sizes(tree, sizes))
    counts = np.zeros_like(tree.counts)
    for node in reversed(range(len(tree))):
        if tree.attribute[node] == LEAF:
            counts[node] = _shared(fixed[node], _opinion(tree, node))
        else:
            counts[node] = counts[_children(tree, node)].sum(axis=0)
    return Corrected(fixed, counts)


def extra_errors(records: float, errors: float, confidence: float = CONFIDENCE) -> float:
    """The errors that C4.5 adds to those seen in a leaf: a pessimistic bound at the certainty factor.

    >>> round(extra_errors(6, 0), 4), round(extra_errors(1, 0), 4)
    (1.2378, 0.75)
    """
    if records <= 0:
        return 0.0
    if errors < 1:
        # The exact bound for no error: the rate p at which N records show none with probability CF, (1 - p)^N = CF.
        none = records * (1 - confidence ** (1 / records))
        return none if errors <= 0 else none + errors * (extra_errors(records, 1, confidence) - none)
    if errors + 0.5 >= records:
        return max(records - errors, 0.0)
    # The upper end of Wilson's interval for a binomial rate, with half an error for continuity.
    z = NormalDist().inv_cdf(1 - confidence)
    f, n = (errors + 0.5) / records, records
    upper = (f + z**2 / (2 * n) + z * (f / n - f**2 / n + z**2 / (4 * n**2)) ** 0.5) / (1 + z**2 / n)
    return upper * n - errors


def prune_c45(tree: Tree, sizes: Floats | None = None, confidence: float = CONFIDENCE) -> Tree:
    """Replace a subtree by a leaf where C4.5 expects no more errors from the leaf (up to 0.1 more is accepted).

    A new leaf predicts its largest corrected class count (ties to the first class) and carries the corrected counts and
    their proportions; an empty one keeps the node's label and probabilities. All other nodes stay as they were. A
    smaller ``confidence`` (0 < CF <= 0.5) trusts small leaves less and prunes more.
    """
    if not 0 < confidence <= 0.5:
        raise ParameterError(f"confidence must be above 0 and at most 0.5, not {confidence!r}")
    corrected = correct_counts(tree, sizes)
    known = _counts_known(tree)
    collapse = np.zeros(len(tree), dtype=np.bool_)
    labels, proba, new_counts, draws = (column.copy() for column in (tree.label, tree.proba, tree.counts, tree.draws))
    expected = np.zeros(len(tree))
    for node in reversed(range(len(tree))):
        size, counts = float(corrected.sizes[node]), corrected.counts[node]
        total = float(counts.sum())
        is_leaf = tree.attribute[node] == LEAF
        label = int(tree.label[node]) if is_leaf or total <= 0 else int(counts.argmax())
        errors = max(size - float(counts[label]), 0.0)
        expected[node] = errors + extra_errors(size, errors, confidence)
        if is_leaf:
            continue
        of_subtree = float(expected[_children(tree, node)].sum())
        if expected[node] > of_subtree + TOLERANCE:
            expected[node] = of_subtree
            continue
        collapse[node] = True
        labels[node] = label
        new_counts[node] = counts if known[node] else np.nan  # a guess must not look like a released count
        draws[node] = 0  # corrected with the counts of other nodes, so its noise is unknown
        if total > 0:
            proba[node] = counts / total
    return compact(tree, collapse, label=labels, proba=proba, counts=new_counts, draws=draws)


def prune_gini(tree: Tree) -> Tree:
    """Collapse nodes whose children are leaves and on average no purer than the node, until none is left.

    Purity is that of the nodes' released class counts, clipped at 0 (Fletcher 2017, eq. 6.24); children weigh by size.
    A split stays where its counts or those of a child were not released.
    """
    check_tree(tree)
    counts = tree.counts.clip(min=0)
    sizes = counts.sum(axis=1)
    squares = (counts**2).sum(axis=1)
    purity = np.divide(squares, sizes**2, out=np.zeros(len(tree)), where=sizes > 0)
    collapse = tree.is_leaf.copy()
    for node in reversed(range(len(tree))):
        below = _children(tree, node)
        if tree.attribute[node] == LEAF or not collapse[below].all() or np.isnan([sizes[node], *sizes[below]]).any():
            continue
        total = sizes[below].sum()
        of_children = (sizes[below] * purity[below]).sum() / total if total > 0 else 0.0
        collapse[node] = purity[node] >= of_children
    return compact(tree, collapse)


def _children(tree: Tree, node: int) -> slice:
    children = tree.children(node)
    return slice(children.start, children.stop)


def _claimed_sizes(tree: Tree, sizes: Floats | None) -> Floats:
    """The best released estimate of each node's size, NaN where there is none."""
    claimed = np.full(len(tree), np.nan) if sizes is None else np.array(sizes, dtype=np.float64)
    if claimed.shape != (len(tree),) or np.isinf(claimed).any():
        raise ParameterError(f"sizes must hold one finite number or NaN for each of the {len(tree)} nodes")
    claimed = np.where(np.isnan(claimed), tree.counts.clip(min=0).sum(axis=1), claimed.clip(min=0))
    for node in reversed(range(len(tree))):
        if np.isnan(claimed[node]) and tree.attribute[node] != LEAF:
            claimed[node] = claimed[_children(tree, node)].sum()
    if np.isnan(claimed[0]):
        raise ParameterError("the tree carries too few counts to prune by; give sizes, at least that of the root")
    return claimed


def _sizes_top_down(tree: Tree, claimed: Floats) -> Floats:
    fixed = claimed.copy()
    for node in range(len(tree)):
        if tree.attribute[node] == LEAF:
            continue
        below = _children(tree, node)
        children = claimed[below].copy()
        unknown = np.isnan(children)
        if unknown.any():
            children[unknown] = max(fixed[node] - children[~unknown].sum(), 0) / unknown.sum()
        fixed[below] = _shared(fixed[node], children)
    return fixed


def _opinion(tree: Tree, leaf: int) -> Floats:
    counts = tree.counts[leaf]
    return tree.proba[leaf] if np.isnan(counts).any() else counts.clip(min=0)


def _shared(total: float, parts: Floats) -> Floats:
    """Split ``total`` in proportion to the parts; equally if they are all 0."""
    largest = parts.max()
    if largest <= 0:
        return np.full_like(parts, total / len(parts))
    weights = parts / largest  # in [0, 1], so that no sum or quotient overflows
    return total * (weights / weights.sum())


def _counts_known(tree: Tree) -> npt.NDArray[np.bool_]:
    """Whether all leaves below a node released their class counts."""
    known = np.array([not np.isnan(counts).any() for counts in tree.counts])
    for node in reversed(range(len(tree))):
        if tree.attribute[node] != LEAF:
            known[node] = known[_children(tree, node)].all()
    return known


def compact(tree: Tree, collapse: npt.NDArray[np.bool_], **changed: npt.NDArray[Any]) -> Tree:
    """The tree without the nodes below collapsed ones, and with the ``changed`` columns.

    Siblings go or stay together, so they stay contiguous.
    """
    keep = np.zeros(len(tree), dtype=np.bool_)
    keep[0] = True
    for node in range(len(tree)):
        if keep[node] and not collapse[node]:
            keep[_children(tree, node)] = True
    new_number = keep.cumsum() - 1
    inner = keep & ~collapse & ~tree.is_leaf
    first_child = np.where(inner, new_number[np.where(inner, tree.first_child, 0)], -1)
    attribute, kind, cut = (
        np.where(inner, column, blank) for column, blank in ((tree.attribute, LEAF), (tree.kind, 0), (tree.cut, 0))
    )
    rest = (changed.get(name, getattr(tree, name))[keep] for name in ("label", "proba", "counts", "draws"))
    return Tree(tree.schema, attribute[keep], kind[keep], cut[keep], first_child[keep], *rest)
