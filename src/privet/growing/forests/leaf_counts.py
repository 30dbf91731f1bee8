"""Buy class counts in the leaves of public trees, from all records in every tree or from disjoint parts."""

from __future__ import annotations

from fractions import Fraction
from typing import Literal

import numpy as np
import numpy.typing as npt

from privet.privacy.dataset import PrivateDataset
from privet.privacy.mechanisms import Selection
from privet.privacy.scores import Wins
from privet.progress import Progress
from privet.structure.routes import Routes

Floats = npt.NDArray[np.float64]
Sharing = Literal["all", "disjoint"]
"""Whether every tree gets all records and a share of epsilon, or each its own records and all of epsilon."""


def leaf_epsilon(epsilon: Fraction, trees: int, sharing: Sharing) -> Fraction:
    """The epsilon for the class counts of a leaf."""
    return epsilon if sharing == "disjoint" else epsilon / trees


def buy_leaf_counts(
    data: PrivateDataset, routes: Routes, epsilon: Fraction, sharing: Sharing, progress: Progress | None = None
) -> Floats:
    """(node, class) noisy counts of the leaves of all trees, NaN elsewhere. Which leaves there are is public."""
    counts = np.full((len(routes.tests), data.schema.n_classes), np.nan)
    each = leaf_epsilon(epsilon, len(routes), sharing)
    if sharing == "disjoint":
        level = data.level(len(routes)).descend(routes)
        counts[routes.leaves] = level.class_counts_all(each, what="leaf class counts of disjoint trees")
        return counts
    for t, level in enumerate(data.descend_each(routes)):
        bought = level.class_counts_all(each, what=f"leaf class counts of tree {t + 1}")
        counts[routes.leaves[routes.owner[routes.leaves] == t]] = bought
        if progress is not None:
            progress(t + 1, len(routes))
    return counts


def buy_leaf_labels(
    data: PrivateDataset, routes: Routes, epsilon: Fraction, *, by_winning: bool = False
) -> npt.NDArray[np.intp]:
    """A label for each leaf of disjoint trees, one draw of permute-and-flip by its class counts.

    ``by_winning`` is the thesis's form: the textbook's exponential mechanism with a 0/1 score for the largest class.
    """
    leaves = data.level(len(routes)).descend(routes)
    if by_winning:
        return leaves.choose_labels_all(epsilon, selection=Selection(constant="two-sided"), score=Wins())
    return leaves.choose_labels_all(epsilon)
