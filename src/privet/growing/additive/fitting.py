"""Fit an additive model: buy class counts, then decide from released numbers what to fit."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Protocol

import numpy as np
import numpy.typing as npt

from privet.growing.additive.bases import Basis, buy_knots, has_knots, knots_share, main_basis
from privet.growing.additive.curve_noise import guess_factor, noise_of
from privet.growing.additive.decisions import curves_kept, margin, tree_records, tree_share
from privet.growing.additive.first_tree import draw_first_tree
from privet.growing.additive.pairs import candidates, penalties
from privet.growing.additive.scaling import choose_factor
from privet.growing.prelude import LEAST_EVIDENCE, ClassEstimate, Prelude
from privet.models.additive import Additive, Part
from privet.models.link import Link
from privet.privacy.dataset import PrivateDataset
from privet.privacy.fits import smoothness
from privet.privacy.fits.calibration import LEAST_EPSILON, Calibration, FitLayout, calibrate
from privet.privacy.fits.perturbed_fit import Fit
from privet.privacy.losses import NOTHING, Loss
from privet.privacy.noise import Law
from privet.progress import Progress
from privet.structure.fit_losses import MarginLoss
from privet.structure.routes import Routes
from privet.structure.terms import Term

Floats = npt.NDArray[np.float64]
Fitted = tuple[list[Floats], Calibration]

WITH_PAIRS = 0.085  # ratio of noise to evidence of one class in a cell; below: tables of pairs on top of the curves
LEAST_OF_CLASS = 20.0  # records times epsilon, for each class but one: with fewer nothing but the shares of the classes
LEAST_TREE_SHARE = Fraction(1, 10)  # of what is left: a tree of less is drawn blindly, and curves hardly miss it
PAIRS, PAIR_SHARE = 3, Fraction(3, 10)  # tables of pairs, and what they cost of what is left
CHOICE_SHARE = Fraction(1, 4)  # of what terms cost that are chosen
FACTOR_SHARE = Fraction(1, 10)  # of what curves of more than two classes cost: for how much they count
SIGNAL = 12.0  # expected variance of scores
SMALLEST = 16 * LEAST_EPSILON  # the smallest of its parts is then enough for a fit
STEPS = 5  # of progress, at most


@dataclass(frozen=True)
class Preferences:
    """The user's preferences, all public."""

    class_weights: Floats
    favours: Mapping[int, float] = field(default_factory=dict)
    pairs: int = PAIRS

    def favour(self, basis: Basis) -> float:
        asked = basis.term.attributes
        return float(np.mean([self.favours.get(a, 1.0) for a in asked])) if asked else 1.0

    def pairs_of(self, curves: int) -> int:
        """How many tables of pairs there can be on top of some curves."""
        return min(self.pairs, math.comb(curves, 2))


class Growing(Protocol):
    """What growing has released so far, and what it can buy, of a model of classes or of a number."""

    data: PrivateDataset

    @property
    def records(self) -> float: ...
    def noise_ratio(self, bases: Sequence[Basis], loss: Loss) -> tuple[float, Law]: ...
    def choose(self, bases: Sequence[Basis], count: int, loss: Loss, what: str) -> tuple[list[Basis], Loss]: ...


class _Growing:
    """The parts of a model as they are released, one fit after another."""

    def __init__(self, data: PrivateDataset, estimate: ClassEstimate, preferences: Preferences) -> None:
        self.data, self.estimate, self.preferences = data, estimate, preferences
        self.parts: list[Part] = []
        self.background: list[tuple[Term, Floats]] = []
        self.routes: Routes | None = None
        self.link = Link()

    @property
    def records(self) -> float:
        return self.estimate.records

    @property
    def offset(self) -> Floats:
        """The scores of everyone: those of the released shares."""
        return self.link.scores(self.estimate.shares[None])[0]

    @property
    def evidence(self) -> float:
        """About what the residuals of all records of a class sum to, at the offset: without a margin, of p(1 - p)."""
        return self.estimate.records * max(self.link.residual(self.estimate.shares), LEAST_EVIDENCE)

    def fit(self, bases: Sequence[Basis], loss: Loss, what: str, signal: float = SIGNAL) -> Fitted:
        """Fit terms on top of the parts released before."""
        plan, shape = self._plan(bases), self._shape(bases, signal)
        values, calibration = self.data.perturbed_fit(plan, shape, loss, routes=self.routes, what=what)
        self.parts += parts_of(bases, values, calibration)
        self.background += [(basis.term, basis.term.spread(value)) for basis, value in zip(bases, values, strict=True)]
        return values, calibration

    def fit_curves(self, bases: Sequence[Basis], loss: Loss, signal: float) -> None:
        """Fit curves; with more than two classes, buy how much they count."""
        price = loss.epsilon * FACTOR_SHARE if self.data.schema.n_classes > 2 else Fraction(0)
        values, calibration = self.fit(bases, loss - Loss(price), "additive fit", signal)
        if not price:
            return
        guess = guess_factor([basis.term for basis in bases], values, calibration)
        known = self.parts, self.routes, self.offset, self.link, self.preferences.class_weights
        factor = choose_factor(self.data, *known, guess, price)
        self.parts = [part.times(factor) if part.attributes else part for part in self.parts]
        self.background = [(term, factor * table if term.attributes else table) for term, table in self.background]

    def choose(self, bases: Sequence[Basis], count: int, loss: Loss, what: str) -> tuple[list[Basis], Loss]:
        """Choose the terms that explain most of the residuals. Returns the budget left to fit them."""
        fair, price = penalties(bases, self.estimate.records), loss.epsilon * CHOICE_SHARE
        chosen = self.data.choose_terms(self._plan(bases), fair, count, price, routes=self.routes, what=what)
        return [bases[i] for i in sorted(chosen)], loss - Loss(price)

    def noise_ratio(self, bases: Sequence[Basis], loss: Loss) -> tuple[float, Law]:
        """The mean ratio of noise to evidence of a cell, and the law of the noise; from public and released numbers."""
        calibration = calibrate(self._shape(bases), loss / self.data.ledger.steps)
        return mean_noise(calibration) / self.estimate.evidence, calibration.law

    def model(self) -> Additive:
        return Additive(self.data.schema, tuple(self.parts), self.offset, self.routes, self.link.margin)

    def _plan(self, bases: Sequence[Basis]) -> Fit:
        terms = tuple(basis.term for basis in bases)
        loss = MarginLoss(self.link.margin)
        return Fit(terms, self.offset, self.preferences.class_weights, tuple(self.background), loss)

    def _shape(self, bases: Sequence[Basis], signal: float = SIGNAL) -> FitLayout:
        favours = [self.preferences.favour(basis) for basis in bases]
        classes = self.data.schema.n_classes
        known = classes, self.estimate.records, self.evidence * 2 / classes  # of one class, on average
        return FitLayout.of([basis.term for basis in bases], favours, *known, signal)


def grow_additive(
    prelude: Prelude, delta: Fraction, preferences: Preferences, progress: Progress | None = None
) -> Additive:
    """Buy class counts first; they decide whether curves, a small tree or both are fitted, and whether pairs follow."""
    prelude = prelude.count_classes()
    data, epsilon, bought = prelude.data, prelude.epsilon, prelude.classes
    assert bought is not None
    schema, estimate = data.schema, bought.weighted(preferences.class_weights)
    growing = _Growing(data, estimate, preferences)
    left = Loss(prelude.left, delta)
    _tell(progress, 1)
    wanted = [a for a in range(len(schema.attributes)) if preferences.favours.get(a, 1.0) > 0]
    bases = [main_basis(schema, a) for a in wanted]
    served = schema.n_classes > 1 and left.epsilon >= SMALLEST * data.ledger.steps
    worth = estimate.records * float(epsilon)
    if not served or worth < LEAST_OF_CLASS * (schema.n_classes - 1):
        return Additive(schema, (), bought.refined(data, epsilon).weighted(preferences.class_weights).offset)
    noise_ratio, _ = growing.noise_ratio(bases, left)
    growing.link = Link(margin(estimate, noise_ratio))
    share, records = tree_share(estimate, noise_ratio, len(bases)), tree_records(estimate, len(bases))
    left = _tree_first(growing, left, share, records)
    _tell(progress, 3)
    chosen, left = plan_curves(growing, left, wanted)
    of_class = noise_ratio * schema.n_classes / 2  # a class has less evidence where there are more
    pairs = preferences.pairs_of(len(chosen)) if of_class < WITH_PAIRS else 0
    for_pairs = Loss(left.epsilon * PAIR_SHARE, left.delta / 2) if pairs else NOTHING
    growing.fit_curves(chosen, left - for_pairs, SIGNAL * len(chosen) / len(bases))
    _tell(progress, 4)
    if pairs:
        _pairs(growing, for_pairs, pairs)
    _tell(progress, STEPS)
    return growing.model()


def _tree_first(growing: _Growing, left: Loss, share: Fraction, records: float) -> Loss:
    """Draw a tree with leaf values, where its part of epsilon is enough. Returns the budget left for curves."""
    if share < LEAST_TREE_SHARE:
        return left
    enough = Fraction(records / growing.estimate.records).limit_denominator(10**6) * growing.data.ledger.steps
    cost = min(left.epsilon * share, max(enough, SMALLEST))
    wanted, favours = growing.preferences.class_weights, growing.preferences.favours
    growing.routes, leaves = draw_first_tree(growing.data, cost, growing.estimate, wanted, favours, growing.link)
    growing.parts.append(leaves)
    growing.background.append((Term.one_hot((), [], len(leaves.table)), leaves.table))
    return left - Loss(cost)


def plan_curves(growing: Growing, left: Loss, wanted: Sequence[int]) -> tuple[list[Basis], Loss]:
    """Curves of the wanted attributes, or of the most telling ones where noise would hide all; the budget left.

    Knots of numbers are bought, too, where that is cheap.
    """
    data = growing.data
    bases = [main_basis(data.schema, a) for a in wanted]
    count = curves_kept(len(bases), *growing.noise_ratio(bases, left), data.schema.n_scores)
    if count < len(bases):
        bases, left = growing.choose(bases, count, left, "choice of curves")
    kept = [basis.term.attributes[0] for basis in bases]
    numbers = sum(has_knots(data.schema.attributes[a]) for a in kept)
    if price := left.epsilon * knots_share(numbers, growing.records, float(left.epsilon)):
        moved = buy_knots(data, kept, price)
        bases, left = [main_basis(data.schema, a, moved.get(a)) for a in kept], left - Loss(price)
    return bases, left


def _pairs(growing: _Growing, left: Loss, count: int) -> None:
    """Fit tables for the pairs that explain most of the residuals of the curves."""
    bases = candidates(growing.data.schema, growing.parts)
    growing.fit(*growing.choose(bases, count, left, "choice of pairs"), "fit of pairs")


def mean_noise(calibration: Calibration) -> float:
    """The noise in the sums of a curve's cells, averaged over curves: its deviation in a cell times the cells."""
    return float(np.mean([d * k for d, k in zip(calibration.deviations, calibration.shape.sizes, strict=True)]))


def parts_of(bases: Sequence[Basis], values: Sequence[Floats], calibration: Calibration) -> list[Part]:
    """The released values as parts of a model, each with its approximate and its largest noise.

    Whatever the records are, the variance of a cell is at most ``most`` / ridge: "How far noise moves a curve" in
    ``docs/proofs/perturbed_program.md``.
    """
    parts = []
    spread = 2.0 if calibration.law == "laplace" else 1.0
    known = list(zip(bases, values, calibration.deviations, calibration.ridges, strict=True))
    most = spread * max(smoothness.stretch(basis.term.chain) * d * d / ridge for basis, _, d, ridge in known)
    for basis, value, deviation, ridge in known:
        term = basis.term
        noise = noise_of(term, deviation, ridge, calibration.shape.evidence / term.size)
        parts.append(
            Part(term.attributes, term.levels, term.spread(value), noise, basis.knots, math.sqrt(most / ridge))
        )
    return parts


def _tell(progress: Progress | None, step: int) -> None:
    if progress is not None:
        progress(step, STEPS)
