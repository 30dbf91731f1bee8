"""A tree knows how many draws of noise are in each of its counts, and the certificate knows their scale."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from privet.datasets.clinic import clinic
from privet.estimators.registry import make_classifier
from privet.models.forest import Forest
from privet.models.tree import Tree
from privet.privacy.budget import float_up
from privet.tables.encoding import encode
from privet.testing import ZeroNoise, use_noise

EPSILON = 2
SCHEMA, TABLE = clinic(3000)

# Those whose leaves release class counts as they were bought, or sums of such counts.
COUNTING = ("sulq", "diffpid3", "embedded", "mohammed2015", "greedy-forest", "snr-forest", "random-forest")
COUNTING += ("jagannathan2013", "exact")
PARAMS = {
    "exact": {"leaf_share": 0.5, "max_depth": 2},
    "snr-forest": {"n_estimators": 2},
    "greedy-forest": {"n_estimators": 2},
}
PARAMS |= {"diffpc45": {"prune": True}}


class OneEach(ZeroNoise):
    """Adds 1 to each count, so that what was added says how often noise was drawn; remembers the scales."""

    def __init__(self) -> None:
        super().__init__(same_coins=True)
        self.scales: set[float] = set()

    def laplace(self, values: np.ndarray, scale: float) -> np.ndarray:
        self.scales.add(scale)
        return values + 1


def grown(recipe: str, neighbours: str = "add-remove") -> tuple[tuple[Tree, ...], set[Fraction], set[float]]:
    """The trees, the scales of the class counts that the certificate states, and all scales that were drawn with."""
    options = PARAMS.get(recipe, {})
    model = make_classifier(recipe, schema=SCHEMA, epsilon=EPSILON, neighbours=neighbours, random_state=0, **options)
    with use_noise(OneEach()) as noise:
        model.fit(TABLE)
    trees = model.model_.trees
    stated = {c.scale for c in model.certificate_.charges if "class counts" in c.what and c.scale is not None}
    return trees.trees if isinstance(trees, Forest) else (trees,), stated, noise.scales


def true_counts(tree: Tree) -> np.ndarray:
    """(node, class) what is really there."""
    codes = encode(tree.schema, TABLE)
    counts = np.zeros((len(tree), tree.schema.n_classes))
    np.add.at(counts, (tree.apply(codes.features), codes.labels), 1)
    for node, _ in reversed(list(tree.walk())):
        for child in tree.children(node):
            counts[node] += counts[child]
    return counts


@pytest.mark.parametrize("recipe", COUNTING)
@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
def test_the_noise_of_every_count_is_known(recipe: str, neighbours: str) -> None:
    trees, stated, drawn = grown(recipe, neighbours)
    assert len(stated) == 1
    assert {float_up(scale) for scale in stated} <= drawn
    for tree in trees:
        counted = tree.draws > 0
        assert counted[tree.is_leaf].all()
        assert np.array_equal(counted, ~np.isnan(tree.counts).any(axis=1))
        extra = tree.counts - true_counts(tree)
        assert np.array_equal(extra[counted], np.repeat(tree.draws[counted, None], tree.schema.n_classes, axis=1))


def test_disjoint_trees_add_up_to_the_table() -> None:
    trees, stated, drawn = grown("smooth-forest")
    roots = np.sum([tree.counts[0] for tree in trees], axis=0)
    noise = sum(int(tree.draws[0]) for tree in trees)
    assert np.array_equal(roots - noise, true_counts(trees[0])[0])
    assert {float_up(scale) for scale in stated} == drawn


def test_no_interval_where_a_count_is_not_a_sum_of_noisy_counts() -> None:
    (tree,), _, _ = grown("diffpc45")  # pruning corrects the counts of the leaves that it makes
    extra = tree.counts - true_counts(tree)
    known = tree.draws > 0
    assert np.array_equal(extra[known], np.repeat(tree.draws[known, None], 2, axis=1))
    for clipped in grown("jagannathan2012")[0]:
        assert not clipped.draws.any()
