"""Fit an additive model: buy class counts, then decide from released numbers what to fit."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from privet.growing.additive.bases import (
    COARSE,
    FINE,
    SPARSE,
    Basis,
    buy_knots,
    has_knots,
    knots_share,
    main_basis,
)
from privet.growing.additive.first_tree import draw_first_tree
from privet.growing.additive.pairs import candidates, penalties
from privet.growing.prelude import ClassEstimate, Prelude
from privet.models.additive import Additive, Part
from privet.privacy.dataset import PrivateDataset
from privet.privacy.fits.calibration import LEAST_EPSILON, Calibration, FitLayout, calibrate
from privet.privacy.fits.perturbed_fit import Fit
from privet.privacy.losses import NOTHING, Loss
from privet.progress import Progress
from privet.structure.routes import Routes
from privet.structure.terms import Term

Floats = npt.NDArray[np.float64]

# The ratio of noise to evidence in a cell (see `noise_ratio`) decides what is fitted.
TREE_ONLY = 1.5  # above: a tree, without curves
FEW_KNOTS = 0.7  # above: curves have the fewest knots, none of them bought
FINE_KNOTS = 0.1  # below: more knots
WITH_PAIRS = 0.05  # below: curves without a tree, and tables of pairs on top of them
LEAST_RECORDS = 25.0  # times epsilon: with fewer there is nothing to learn but the largest class
LEAST_OF_CLASS = 20.0  # times epsilon, for each class but one: with fewer nothing but the shares of the classes

# A tree before curves needs so many records times its part of epsilon; with fewer it is useless.
TREE_RECORDS, LEAST_TREE_RECORDS = 600.0, 100.0
UNEQUAL = 0.5  # of the records outside the largest class: with fewer, accuracy says less, and so does a tree
CLEAR = 0.1  # noise ratio, as above: below, curves need less help
LEAST_TREE_SHARE, TREE_SHARE = Fraction(1, 1000), Fraction(7, 10)  # of what is left, where curves follow
PAIRS, PAIR_SHARE, CHOICE_SHARE = 3, Fraction(3, 10), Fraction(1, 4)  # tables, what they cost, and of that the choice
SIGNAL, LEFT_SIGNAL = 8.0, 2.0  # expected variance of log-odds: of a whole model, and after a tree
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


class _Growing:
    """The parts of a model as they are released, one fit after another."""

    def __init__(self, data: PrivateDataset, estimate: ClassEstimate, preferences: Preferences) -> None:
        self.data, self.estimate, self.preferences = data, estimate, preferences
        self.parts: list[Part] = []
        self.background: list[tuple[Term, Floats]] = []
        self.routes: Routes | None = None

    def fit(self, bases: Sequence[Basis], loss: Loss, what: str, signal: float = SIGNAL) -> None:
        """Fit terms on top of the parts released before."""
        plan, shape = self._plan(bases), self._shape(bases, signal)
        values, calibration = self.data.perturbed_fit(plan, shape, loss, routes=self.routes, what=what)
        self.parts += parts_of(bases, values, calibration)
        self.background += [(basis.term, basis.term.spread(value)) for basis, value in zip(bases, values, strict=True)]

    def choose(self, bases: Sequence[Basis], count: int, epsilon: Fraction) -> list[Basis]:
        """Choose the terms that explain most of the residuals."""
        fair = penalties(bases, self.estimate.records)
        chosen = self.data.choose_terms(
            self._plan(bases), fair, count, epsilon, routes=self.routes, what="choice of pairs"
        )
        return [bases[i] for i in chosen]

    def noise_ratio(self, bases: Sequence[Basis], loss: Loss) -> float:
        """The ratio of noise to evidence of a cell, averaged over terms; from public and released numbers."""
        calibration = calibrate(self._shape(bases), loss / self.data.ledger.steps)
        noise = [d * k for d, k in zip(calibration.deviations, calibration.shape.sizes, strict=True)]
        return float(np.mean(noise)) / self.estimate.evidence

    def model(self) -> Additive:
        return Additive(self.data.schema, tuple(self.parts), self.estimate.offset, self.routes)

    def _plan(self, bases: Sequence[Basis]) -> Fit:
        terms = tuple(basis.term for basis in bases)
        return Fit(terms, self.estimate.offset, self.preferences.class_weights, tuple(self.background))

    def _shape(self, bases: Sequence[Basis], signal: float = SIGNAL) -> FitLayout:
        return FitLayout(
            tuple(basis.term.size for basis in bases),
            tuple(basis.term.touched for basis in bases),
            tuple(map(self.preferences.favour, bases)),
            self.data.schema.n_classes,
            self.estimate.records,
            self.estimate.evidence,
            signal,
        )


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
    served = left.epsilon >= SMALLEST * data.ledger.steps
    worth = estimate.records * float(epsilon)
    if schema.n_classes < 2 or not served or worth < LEAST_RECORDS:
        return _largest_only(data, estimate, left.epsilon)
    if worth < LEAST_OF_CLASS * (schema.n_classes - 1):
        return Additive(schema, (), bought.refined(data, epsilon).weighted(preferences.class_weights).offset)
    noise_ratio = growing.noise_ratio(bases, left)
    if noise_ratio >= WITH_PAIRS:
        left = _tree_first(growing, left, noise_ratio)
        _tell(progress, 3)
        if noise_ratio > TREE_ONLY:
            return growing.model()
    pairs = min(preferences.pairs, len(wanted) * (len(wanted) - 1) // 2) if noise_ratio < WITH_PAIRS else 0
    for_pairs = _curves(growing, left, wanted, noise_ratio, pairs)
    _tell(progress, 4)
    if pairs:
        _pairs(growing, for_pairs, pairs)
    _tell(progress, STEPS)
    return growing.model()


def _tree_first(growing: _Growing, left: Loss, noise_ratio: float) -> Loss:
    """Draw a tree with leaf values. Returns the budget left for curves: none where noise is too large for them."""
    data, epsilon, preferences = growing.data, left.epsilon, growing.preferences
    needed = records_for_tree(growing.estimate, noise_ratio)
    if noise_ratio > TREE_ONLY:
        cost = epsilon
    elif needed < LEAST_TREE_RECORDS:
        return left
    else:
        part = Fraction(needed / (growing.estimate.records * float(epsilon))).limit_denominator(1000)
        cost = epsilon * min(max(part, LEAST_TREE_SHARE), TREE_SHARE)
    growing.routes, leaves = draw_first_tree(
        data, cost, growing.estimate, preferences.class_weights, preferences.favours
    )
    growing.parts.append(leaves)
    growing.background.append((Term.one_hot((), [], len(leaves.table)), leaves.table))
    return left - Loss(cost)


def records_for_tree(estimate: ClassEstimate, noise_ratio: float) -> float:
    """How many records times epsilon a tree gets before curves: fewer where accuracy says little, or curves suffice.

    >>> counts = {"mushrooms": (3900.0, 4200.0), "incomes": (34_000.0, 11_200.0), "sales": (40_000.0, 5300.0)}
    >>> estimates = {name: ClassEstimate(np.array(both), 1.0, Fraction(0)) for name, both in counts.items()}
    >>> [round(records_for_tree(estimate, noise_ratio=0.3)) for estimate in estimates.values()]
    [556, 147, 33]
    """
    others = 1 - float(estimate.shares.max())
    by_hits = min(others / UNEQUAL, 1.0) ** 2 * min(noise_ratio / CLEAR, 1.0)
    return TREE_RECORDS * max(by_hits, min(noise_ratio / TREE_ONLY, 1.0) ** 3)


def _curves(growing: _Growing, left: Loss, wanted: Sequence[int], noise_ratio: float, pairs: int) -> Loss:
    """Fit a curve per wanted attribute, with more knots where noise is smaller. Returns the budget left for pairs."""
    data, schema, records = growing.data, growing.data.schema, growing.estimate.records
    moved: dict[int, Floats] = {}
    numbers = sum(has_knots(schema.attributes[a]) for a in wanted) if noise_ratio <= FEW_KNOTS else 0
    if price := left.epsilon * knots_share(numbers, records, float(left.epsilon)):
        moved, left = buy_knots(data, wanted, price), left - Loss(price)
    shares = SPARSE if noise_ratio > FEW_KNOTS else COARSE if noise_ratio >= FINE_KNOTS else FINE
    bases = [main_basis(schema, a, shares, moved.get(a)) for a in wanted]
    for_pairs = Loss(left.epsilon * PAIR_SHARE, left.delta / 2) if pairs else NOTHING
    explained = growing.routes is not None and len(growing.routes.leaves) > 1
    growing.fit(bases, left - for_pairs, "additive fit", LEFT_SIGNAL if explained else SIGNAL)
    return for_pairs


def _pairs(growing: _Growing, left: Loss, count: int) -> None:
    """Fit tables for the pairs that explain most of the residuals of the curves."""
    bases = candidates(growing.data.schema, growing.parts)
    chosen = growing.choose(bases, count, left.epsilon * CHOICE_SHARE)
    growing.fit(chosen, left - Loss(left.epsilon * CHOICE_SHARE), "fit of pairs")


def _largest_only(data: PrivateDataset, estimate: ClassEstimate, left: Fraction) -> Additive:
    """Spend all that is left on one label for everyone; shares are the counted ones, with this class the largest."""
    label = int(data.level().choose_labels_all(left)[0])
    return Additive(data.schema, (), estimate.led_by(label).offset)


def parts_of(bases: Sequence[Basis], values: Sequence[Floats], calibration: Calibration) -> list[Part]:
    """The released values as parts of a model, each with its approximate and its largest noise.

    Whatever the records are, the variance of a cell is at most ``most`` / ridge: "How far noise moves a curve" in
    ``docs/proofs/perturbed_fit.md``.
    """
    parts = []
    spread = 2.0 if calibration.law == "laplace" else 1.0
    most = spread * max(d * d / ridge for d, ridge in zip(calibration.deviations, calibration.ridges, strict=True))
    for basis, value, deviation, ridge in zip(bases, values, calibration.deviations, calibration.ridges, strict=True):
        term = basis.term
        noise = deviation / (calibration.shape.evidence / term.size + ridge)
        widest = math.sqrt(most / ridge)
        parts.append(Part(term.attributes, term.levels, term.spread(value), noise, basis.knots, widest))
    return parts


def _tell(progress: Progress | None, step: int) -> None:
    if progress is not None:
        progress(step, STEPS)
