"""How the trees of a forest vote: the vote of a node for a record that ends there, and how votes are combined.

================  ====================================================================================================
``majority``      each tree has one vote, for its label
``proba``         the mean of the trees' probabilities
``confidence``    each tree votes for its label with the probability of that label
``counts``        the sum of the trees' class counts (Jagannathan et al. 2012)
``surest``        the label of the most confident tree; between equal ones, the larger sum of probabilities
                  (Fletcher 2017, 7.4.7)
``evidence``      naive Bayes with a tree for each piece of evidence: the changes that the trees make to the log-odds
                  of the whole table, each times ``weight``, are added up
================  ====================================================================================================

Ties go to the class listed first in the schema, so a prediction never depends on chance.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from privet.models.formula import Link, linked

Floats = npt.NDArray[np.float64]
Voting = Literal["majority", "proba", "confidence", "counts", "surest", "evidence"]

LEAST = 1e-9  # the smallest probability in a logarithm: one tree must not veto a class

WORDS: dict[Voting, str] = {
    "majority": "each tree has one vote",
    "proba": "the probabilities of all trees are averaged",
    "confidence": "each tree has one vote, weighted by its confidence",
    "counts": "the counts of all leaves that a case ends in are added up",
    "surest": "the most confident tree decides",
    "evidence": "each tree gives a factor for the odds, and these factors are multiplied",
}

LINKS: dict[Voting, Link] = {voting: "softmax" if voting == "evidence" else "shares" for voting in get_args(Voting)}


class Opinions(NamedTuple):
    """The values of the nodes of all trees, end to end."""

    label: npt.NDArray[np.int32]
    proba: Floats
    counts: Floats
    prior: Floats
    """(node, class) the probabilities of the root above."""


def votes(voting: Voting, nodes: Opinions, weight: float) -> Floats:
    """(node, class) the vote of a node for a record that ends there."""
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
    """(record, class) the tally; votes by evidence are changes of the log prior, which is added."""
    return tally + np.log(np.maximum(prior, LEAST)) if voting == "evidence" else tally


def shares(voting: Voting, scores: Floats) -> Floats:
    """(record, class) the share of each class, adding up to 1; equal shares where there are no votes."""
    return linked(LINKS[voting], scores)
