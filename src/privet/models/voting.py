"""How the trees of a forest vote: what a node says when a record ends there, and how all of that is combined.

================  ====================================================================================================
``majority``      each tree has one vote, for its label
``proba``         the mean of the trees' probabilities
``confidence``    each tree votes for its label with the probability it gives to it
``counts``        the trees' class counts, added up (Jagannathan et al. 2012)
``surest``        the label of the most confident tree; where two are equally sure, the larger sum of probabilities
                  (Fletcher 2017, 7.4.7)
``evidence``      every tree says by how much it changes the odds that the whole table gives, and the changes add up,
                  each counted with ``weight``: naive Bayes, with a tree for each piece of evidence
================  ====================================================================================================

Ties go to the class listed first in the schema, so a prediction never depends on chance.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Voting = Literal["majority", "proba", "confidence", "counts", "surest", "evidence"]

LEAST = 1e-9  # the smallest probability in a logarithm: one tree must not rule a class out against all others

WORDS: dict[Voting, str] = {
    "majority": "each tree has one vote",
    "proba": "the probabilities of all trees are averaged",
    "confidence": "each tree has one vote, which counts as much as the tree is sure",
    "counts": "the counts of all leaves that a case ends in are added up",
    "surest": "the tree that is surest decides",
    "evidence": "each tree says by how much it changes the odds, and these changes are multiplied",
}


class Opinions(NamedTuple):
    """What the nodes of all trees say, end to end."""

    label: npt.NDArray[np.int32]
    proba: Floats
    counts: Floats
    prior: Floats
    """(node, class) the opinion of the root above."""


def votes(voting: Voting, nodes: Opinions, weight: float) -> Floats:
    """(node, class) what a node adds to the tally of a record that ends there."""
    match voting:
        case "proba":
            return nodes.proba
        case "counts":
            return np.nan_to_num(nodes.counts, nan=0.0)
        case "evidence":
            return weight * np.log(np.maximum(nodes.proba, LEAST) / np.maximum(nodes.prior, LEAST))
    ballots = np.eye(nodes.proba.shape[1])[nodes.label]
    return ballots if voting == "majority" else ballots * nodes.proba


def scores(voting: Voting, tally: Floats, prior: Floats) -> Floats:
    """(record, class) the tally. Votes by evidence are changes of the roots' opinion, so ``prior`` is added to them."""
    return tally + np.log(np.maximum(prior, LEAST)) if voting == "evidence" else tally


def shares(voting: Voting, scores: Floats) -> Floats:
    """(record, class) each class's share, adding up to 1; equal shares where there are no votes."""
    weights = np.exp(scores - scores.max(axis=1, keepdims=True)) if voting == "evidence" else np.maximum(scores, 0.0)
    total = weights.sum(axis=1, keepdims=True)
    return np.divide(weights, total, out=np.full_like(weights, 1 / weights.shape[1]), where=total > 0)
