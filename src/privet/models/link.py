"""From the scores of a fit with a margin to probabilities, and back.

A fit whose loss takes a margin off the score of a record's own class pushes scores further apart than log-odds are. At
the minimum of that loss a class has a probability in proportion to q (1 - (1 - e^-margin) q), q being the softmax of
the scores (``docs/proofs/perturbed_fit.md``). Without a margin, scores are log-odds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from privet.errors import ParameterError

Floats = npt.NDArray[np.float64]

MOST_MARGIN = 32.0  # as in a fit
HALVINGS = 100  # of an interval around the inverse of a link: the end of doubles
NODES = 48  # of the integral along a way to a record's score: exact to ten digits on ways as long as models have


@dataclass(frozen=True)
class Link:
    """The link of a margin. Scores have a column, that of the second class, or a column for each class.

    >>> Link(1.4).log_odds(np.array([[0.0], [2.0], [-30.0]])).round(2).tolist()
    [[0.0], [1.0], [-28.6]]
    """

    margin: float = 0.0

    def __post_init__(self) -> None:
        if not 0 <= self.margin <= MOST_MARGIN:
            raise ParameterError(parameter="margin", problem=f"must be a number from 0 to {MOST_MARGIN:g}")

    @property
    def taken(self) -> float:
        """What is taken off a class that is sure."""
        return -math.expm1(-self.margin)

    def log_odds(self, scores: Floats) -> Floats:
        """The same rows as log-odds; with a column for each class, logarithms of probabilities, of mean 0."""
        if not self.margin:
            return scores
        if scores.shape[-1] == 1:
            return np.asarray(np.logaddexp(0, scores - self.margin) - np.logaddexp(0, -scores - self.margin))
        logs = _logs(scores)
        return _centred(logs + np.log1p(-self.taken * np.exp(logs)))

    def probabilities(self, scores: Floats) -> Floats:
        """(row, class) probabilities."""
        found = self.log_odds(scores)
        return np.exp(_logs(np.concatenate([np.zeros_like(found), found], axis=1) if found.shape[1] == 1 else found))

    def scores(self, probabilities: Floats) -> Floats:
        """Rows of scores that have these positive (row, class) probabilities.

        >>> said = np.array([[0.98, 0.01, 0.01], [0.2, 0.3, 0.5]])
        >>> Link(2.0).probabilities(Link(2.0).scores(said)).round(6).tolist() == said.tolist()
        True
        """
        logs = np.log(probabilities)
        if probabilities.shape[1] == 2:
            odds = logs[:, 1:] - logs[:, :1]
            rest = np.exp(-np.abs(odds))  # of the likelier class's odds, the other's
            root = np.sqrt((1 - rest) ** 2 + 4 * math.exp(-2 * self.margin) * rest)
            return np.asarray(np.sign(odds) * (np.abs(odds) + self.margin + np.log((1 - rest + root) / 2)))
        return _centred(logs) if not self.margin else _centred(np.log(self._softmax_of(probabilities)))

    def _softmax_of(self, probabilities: Floats) -> Floats:
        """The softmax of the scores: the q with q (1 - taken q) in proportion to ``probabilities`` and the sum 1.

        Both roots of that equation are below 1 for the largest class at most; which is right, its end tells.
        """
        p = probabilities / probabilities.max(axis=1, keepdims=True)
        largest = np.arange(p.shape[1]) == p.argmax(axis=1)[:, None]

        def both(factor: Floats) -> tuple[Floats, Floats]:
            root = np.sqrt(np.maximum(1 - 4 * self.taken * factor * p, 0.0))
            return 2 * factor * p / (1 + root), (1 + root) / (2 * self.taken)

        low, high = np.zeros((len(p), 1)), np.full((len(p), 1), 1 / (4 * self.taken))
        beyond = both(high)[0].sum(axis=1, keepdims=True) < 1  # then the largest class has the larger root
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            small, large = both(middle)
            total = np.where(beyond & largest, large, small).sum(axis=1, keepdims=True)
            low, high = np.where((total < 1) != beyond, middle, low), np.where((total < 1) != beyond, high, middle)
        small, large = both((low + high) / 2)
        return np.where(beyond & largest, large, small)

    def slope(self, scores: Floats) -> Floats:
        """(row, column) by how much log-odds change with a score: at most 1, which is said where classes are more."""
        if not self.margin or scores.shape[-1] > 1:
            return np.ones_like(scores)
        both = np.concatenate([scores, -scores], axis=-1) - self.margin
        return np.asarray(np.exp(-np.logaddexp(0, -both)).sum(axis=-1, keepdims=True))

    def residual(self, shares: Floats) -> float:
        """The mean residual of one class, at scores that have these (class,) probabilities: p(1 - p) without a margin.

        >>> [round(Link(margin).residual(np.array([0.5, 0.5])), 2) for margin in (0.0, 1.4)]
        [0.25, 0.4]
        """
        scores = self.scores(shares[None])
        q = np.exp(_logs(np.concatenate([np.zeros_like(scores), scores], axis=1) if len(shares) == 2 else scores))[0]
        return float((shares * (1 - q) / (1 - self.taken * q)).sum() / 2)

    def effects(self, offset: Floats, table: Floats) -> Floats:
        """(row, column) what each row of a table changes log-odds by, for a record that has the offset without it."""
        return self.log_odds(offset + table) - self.log_odds(offset[None])

    def shared(self, offset: Floats, added: Sequence[Floats]) -> list[Floats]:
        """What each of the numbers ``added`` to a score adds to its log-odds: the mean effect on the way there.

        The way is straight, from ``offset`` to the sum. So effects add up to the log-odds of the sum.
        """
        whole = np.sum(added, axis=0) if len(added) else np.zeros_like(offset)
        if not self.margin:
            return list(added)
        if len(offset) == 1:
            far = float(whole[0])
            mean = self.slope(offset[None])[0] if far == 0 else self.effects(offset, whole[None])[0] / far
            return [part * mean for part in added]
        at, weights = np.polynomial.legendre.leggauss(NODES)
        q = np.exp(_logs(offset + (at[:, None] + 1) / 2 * whole))
        bend = self.taken * q / (1 - self.taken * q)
        moved = [part - bend * (part - (q @ part)[:, None]) for part in added]
        return [_centred(weights / 2 @ one) for one in moved]


def _logs(scores: Floats) -> Floats:
    """Logarithms of the softmax of rows."""
    shifted = scores - scores.max(axis=-1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True)))


def _centred(rows: Floats) -> Floats:
    return np.asarray(rows - rows.mean(axis=-1, keepdims=True))
