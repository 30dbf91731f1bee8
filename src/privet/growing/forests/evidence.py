"""The weight of a forest's combined evidence: one private choice for all trees.

Trees that vote by evidence add up log-odds, as if they were independent. They are not: attributes are correlated, and
noise in the leaves looks like evidence too. A weight below 1 corrects both. The noise is known, so a first guess of the
weight is free (:func:`privet.models.leaf_counts.signal_share`). How strongly attributes are correlated is not known, so
a share of epsilon buys it: one draw of the exponential mechanism among public weights, by the log-loss of each on the
records. The guess is the prior of that draw: with too few records, it decides. Claim and proof:
``docs/proofs/scores.md#log-loss-of-public-trees``.
"""

from __future__ import annotations

import math

import numpy as np

from privet.models.forest import Forest
from privet.models.voting import LEAST
from privet.privacy.dataset import PrivateDataset
from privet.structure.evidence import STEPS, Evidence

WEIGHTS = np.concatenate([[0.0], 2.0 ** np.arange(-6, 0.1, 0.5)])  # the class shares alone, then half octaves up to 1
LEAST_GUESS = 0.03  # a guess of 0 would rule all weights out; twice the smallest weight, as good as nothing
SPREAD = 0.7  # octaves: how far from the guess the weight is expected
MOST_NATS = 3.0  # of log-loss, above that of a blind guess, before a record's is cut off


def choose_weight(data: PrivateDataset, forest: Forest, guess: float, epsilon: object) -> float:
    """The weight of the trees' evidence, from 0 to 1. Only the forest's released numbers are used."""
    most = round((MOST_NATS + math.log(data.schema.n_classes)) * STEPS)
    evidence = Evidence(forest.routes, forest.votes, np.log(np.maximum(forest.prior, LEAST)), WEIGHTS, most)
    return float(WEIGHTS[data.choose_weight(evidence, epsilon, log_prior=log_prior(guess))])


def log_prior(guess: float) -> np.ndarray:
    """The logarithm of a public prior over ``WEIGHTS``, normal in octaves; 0 counts as an octave below the smallest.

    >>> WEIGHTS[log_prior(0.2).argmax()].round(3), bool(log_prior(0).argmax() > 0)
    (np.float64(0.177), True)
    """
    octaves = np.log2(np.maximum(WEIGHTS, WEIGHTS[1] / 2) / max(guess, LEAST_GUESS))
    return np.asarray(-(octaves**2) / (2 * SPREAD**2))
