"""How much the curves of an additive model count: one private choice, for all of them.

The ridge of a fit expects a signal that a table of many classes need not have. Where noise is most of what was found,
scores are too far apart. Where many attributes say the same, each of their curves was shrunk, and scores are not far
enough apart; the curves alone do not show it. The records know, so a share of epsilon buys a factor: one draw of the
exponential mechanism among public factors, by the log-loss of each on the records. What noise does not explain of the
curves (:mod:`privet.growing.additive.curve_noise`) is a free guess, and the prior of that draw: with too few records it
decides. Claim and proof: ``docs/proofs/scores.md#log-loss-of-public-trees``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from privet.models.additive import Part
from privet.models.link import Link
from privet.privacy.dataset import PrivateDataset
from privet.schema import Schema
from privet.structure.evidence import STEPS, Evidence
from privet.structure.routes import Routes
from privet.structure.splits import Multiway

Floats = npt.NDArray[np.float64]

FACTORS = 2.0 ** np.arange(-4, 4.1, 0.5)  # half octaves; with the least, noise costs little and curves still rank
MOST_NATS = 4.0  # of log-loss, above that of a blind guess, before a record's is cut off: sure errors must show


def choose_factor(
    data: PrivateDataset,
    parts: Sequence[Part],
    routes: Routes | None,
    offset: Floats,
    link: Link,
    class_weights: Floats,
    guess: float,
    epsilon: Fraction,
) -> float:
    """A factor for the scores of all parts but the leaves of a tree, the first. Only released numbers are used."""
    trees, votes = as_trees(data.schema, parts, routes)
    most = round((MOST_NATS + math.log(data.schema.n_classes)) * STEPS)
    fixed = sum(not part.attributes for part in parts)
    evidence = Evidence(trees, votes, offset, FACTORS, most, fixed, link.margin, class_weights)
    return float(FACTORS[data.choose_weight(evidence, epsilon, log_prior=log_prior(guess))])


def log_prior(guess: float) -> Floats:
    """The logarithm of a public prior over ``FACTORS``: half as likely an octave off the guess, with long tails.

    >>> [float(FACTORS[log_prior(guess).argmax()]) for guess in (0.0, 0.7, 1.1)]
    [0.0625, 0.7071067811865476, 1.0]
    """
    octaves = np.log2(FACTORS / max(guess, float(FACTORS[0])))
    return -np.log1p(octaves**2)


def as_trees(schema: Schema, parts: Sequence[Part], routes: Routes | None) -> tuple[Routes, Floats]:
    """A tree for each part: that of the leaves, and a test for a curve, with a child for every code.

    The second array has, for each node, what its leaves score.

    >>> from privet.schema import Categorical
    >>> schema = Schema((Categorical("cough", ("no", "yes")),), Categorical("ill", ("no", "yes")))
    >>> part = Part((0,), (np.array([0, 1]),), np.array([[-1.0], [1.0]]), 0.1)
    >>> trees, votes = as_trees(schema, [part], None)
    >>> trees.first_child.tolist(), votes.ravel().tolist()
    ([1, -1, -1], [0.0, -1.0, 1.0])
    """
    trees, votes = [], []
    for part in parts:
        tree, rows = routes, np.arange(len(part.table), dtype=np.int32)
        if part.attributes:
            (a,), (rows,) = part.attributes, part.levels
            tree = Routes.in_level_order(schema, [Multiway(a), *[None] * schema.arities[a]])
        assert tree is not None
        trees.append((tree.tests.attribute, tree.tests.kind, tree.tests.cut, tree.first_child))
        scores = np.zeros((len(tree.tests), part.table.shape[1]))
        scores[tree.leaves] = part.table[rows]
        votes.append(scores)
    return Routes.end_to_end(schema, trees), np.concatenate(votes)
