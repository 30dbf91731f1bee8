"""What a draw adds to the loss of a transcript: a log-ratio, or a rho under zCDP.

Under zCDP no single outcome has a loss that is bounded. But each draw on the way has one that does not depend on its
outcome: the least rho such that the laws of the two tables differ by no more (a Rényi divergence of rho times the
order, at every order). These add up along a transcript, and their sum must not exceed the rho that was paid for. So the
sum is reported as the epsilon that it stands for. Proof that such sums suffice: ``docs/proofs/zcdp.md``.

A tree that is drawn as a whole is one draw, made node by node. Its law is bounded as a whole and not node by node, so
that a walk leaves it out; ``tests/privacy/samplers/test_zcdp.py`` compares whole laws.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np

from privet.audit.draws import FITTED, Call, Outcome, gain
from privet.privacy.concentrated import epsilon_of

ORDERS = 1 + np.logspace(-3, 4, 141)  # the largest rho of two close laws is near order 1, of far ones anywhere


class Weighing(Protocol):
    """How draws are weighed."""

    def gain(self, ours: Call, outcome: Outcome, theirs: Call, their_outcome: Outcome) -> float:
        """What one draw adds."""

    def loss(self, total: float) -> float:
        """The loss of a transcript whose draws add up to ``total``."""


@dataclass(frozen=True, slots=True)
class LogRatios:
    """Pure epsilon: the log-ratio of the probabilities of a transcript on both tables."""

    def gain(self, ours: Call, outcome: Outcome, theirs: Call, their_outcome: Outcome) -> float:
        return gain(ours, outcome, theirs, their_outcome)

    def loss(self, total: float) -> float:
        return abs(total)


@dataclass(frozen=True, slots=True)
class Concentrated:
    """zCDP: the sum of rhos, as an epsilon at ``delta``."""

    delta: Fraction

    def gain(self, ours: Call, outcome: Outcome, theirs: Call, their_outcome: Outcome) -> float:
        return rho_between(ours, theirs)

    def loss(self, total: float) -> float:
        return float(epsilon_of(Fraction(total), self.delta)) if 0 < total < math.inf else total


def rho_between(ours: Call, theirs: Call) -> float:
    """The least rho that bounds the divergences of two laws, either way; 0 for what is not released by itself.

    >>> one, other = Call("gaussian", np.array([3, 5]), 2.0), Call("gaussian", np.array([3, 6]), 2.0)
    >>> rho_between(one, other)
    0.125
    """
    if ours.kind == "coins" or ours.kind in FITTED or ours.in_tree:
        return 0.0
    if ours.kind in ("laplace", "gaussian"):
        if ours.scale != theirs.scale:
            return math.inf
        away = np.abs(ours.values - theirs.values)
        if ours.kind == "gaussian":
            return float((away**2).sum() / (2 * ours.scale**2))
        return float((away.sum() / ours.scale) ** 2 / 2)
    p, q = ours.log_chances(), theirs.log_chances()
    if (np.isfinite(p) != np.isfinite(q)).any():
        return math.inf
    p, q = p[np.isfinite(p)], q[np.isfinite(q)]
    return max(0.0, _largest(p, q), _largest(q, p))


def _largest(p: np.ndarray, q: np.ndarray) -> float:
    """The largest divergence by its order, over many orders."""
    terms = np.outer(ORDERS, p) - np.outer(ORDERS - 1, q)
    most = terms.max(axis=1)
    divergences = (most + np.log(np.exp(terms - most[:, None]).sum(axis=1))) / (ORDERS - 1)
    return float((divergences / ORDERS).max())
