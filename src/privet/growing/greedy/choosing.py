"""Choosers: how a node finds its test. Each spends exactly the epsilon it is given, on every cell it is given."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np

from privet.growing.greedy.candidates import Bools, Candidates
from privet.growing.greedy.questions import Index, Questions
from privet.privacy.mechanisms import Selection
from privet.privacy.scores import Score


class Chooser(Protocol):
    """Chooses one allowed test for each of ``cells``."""

    def choose(
        self, level: Questions, cells: Index, candidates: Candidates, allowed: Bools, epsilon: Fraction | None
    ) -> Index:
        """Indices into ``candidates.tests``, or ``NO_TEST``; ``allowed`` has a row for each of ``cells``."""


@dataclass(frozen=True, slots=True)
class JointChoice:
    """One mechanism over all candidates, split points of numbers included. It spends epsilon once for all of them."""

    score: Score
    selection: Selection = Selection()  # noqa: RUF009 - frozen

    def choose(
        self, level: Questions, cells: Index, candidates: Candidates, allowed: Bools, epsilon: Fraction | None
    ) -> Index:
        return level.choose_all(
            candidates.tests,
            self.score,
            epsilon,
            cells,
            selection=self.selection,
            allowed=allowed,
            log_prior=candidates.log_prior(allowed),
        )


@dataclass(frozen=True, slots=True)
class PointsFirst:
    """Friedman & Schuster's choice with numbers: buy a split point for each numeric attribute, then an attribute.

    With m attributes that have thresholds, epsilon is shared equally among m points and the choice. If a domain is too
    narrow to be cut, its share is not spent.
    """

    score: Score
    selection: Selection = Selection()  # noqa: RUF009 - frozen

    def choose(
        self, level: Questions, cells: Index, candidates: Candidates, allowed: Bools, epsilon: Fraction | None
    ) -> Index:
        schema, tests = level.schema, candidates.tests
        numeric = candidates.point_attributes
        assert epsilon is not None
        share = epsilon / (len(numeric) + 1)
        finalists = allowed.copy()
        for a in numeric:
            mine = np.zeros_like(allowed)
            mine[:, tests.of_attribute(a)] = allowed[:, tests.of_attribute(a)]
            rows = np.flatnonzero(mine.any(axis=1))
            finalists[:, tests.of_attribute(a)] = False
            if rows.size:
                name = schema.names[a]
                points = level.choose_all(
                    tests,
                    self.score,
                    share,
                    cells[rows],
                    selection=self.selection,
                    allowed=mine[rows],
                    what=f"split point of {name}",
                )
                finalists[rows, points] = True
        return level.choose_all(tests, self.score, share, cells, selection=self.selection, allowed=finalists)


@dataclass(frozen=True, slots=True)
class NoisyGain:
    """SuLQ's choice: noisy counts of every remaining attribute, and the best information gain computed from them.

    Half of epsilon buys the bin counts, and half the class counts in the bins. With ``reuse_counts`` all of it buys the
    class counts, and the bin counts are their sums.
    """

    reuse_counts: bool = False

    def choose(
        self, level: Questions, cells: Index, candidates: Candidates, allowed: Bools, epsilon: Fraction | None
    ) -> Index:
        schema, tests = level.schema, candidates.tests
        assert epsilon is not None
        asked = np.zeros((len(cells), len(schema.attributes)), dtype=bool)
        asked[:, tests.attribute] = allowed
        if self.reuse_counts:
            by_class = level.attribute_counts_all(epsilon, asked, cells)
            in_bin = by_class.sum(axis=2)
        else:
            by_class = level.attribute_counts_all(epsilon / 2, asked, cells)
            in_bin = level.attribute_counts_all(epsilon / 2, asked, cells, by_class=False)
        size = np.broadcast_to(in_bin[:, :, None], by_class.shape)
        usable = (by_class > 0) & (size > 0)  # a count that noise made negative says nothing
        gains = np.zeros(by_class.shape)
        gains[usable] = by_class[usable] * np.log(by_class[usable] / size[usable])
        per_bin = gains.sum(axis=2)
        per_attribute = np.add.reduceat(per_bin, schema.offsets[:-1], axis=1)
        return np.argmax(np.where(allowed, per_attribute[:, tests.attribute], -np.inf), axis=1)
