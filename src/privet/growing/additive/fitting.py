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
    Basis,
    buy_knots,
    has_knots,
    knots_share,
    main_basis,
)
from privet.growing.additive.first_tree import draw_first_tree
from privet.growing.additive.pairs import candidates, penalties
from privet.growing.additive.shrinking import noise_of, shrink_curves
from privet.growing.prelude import LEAST_EVIDENCE, ClassEstimate, Prelude
from privet.models.additive import Additive, Part
from privet.models.link import Link
from privet.privacy.dataset import PrivateDataset
from privet.privacy.fits import smoothness
from privet.privacy.fits.calibration import LEAST_EPSILON, Calibration, FitLayout, calibrate
from privet.privacy.fits.perturbed_fit import Fit
from privet.privacy.losses import NOTHING, Loss
from privet.progress import Progress
from privet.structure.fit_losses import MarginLoss
from privet.structure.routes import Routes
from privet.structure.terms import Term

Floats = npt.NDArray[np.float64]

# The ratio of noise to evidence in a cell (see `noise_ratio`) decides what is fitted.
EVEN = 0.5  # where a tree before curves gets half of what is left, if as many records are outside the largest class
FINE_KNOTS = 0.1  # below: more knots
WITH_PAIRS = 0.05  # below: tables of pairs on top of the curves
CHOSEN = 0.2  # what curves are chosen for, where that leaves out at least half of them
CLEAR = 0.02  # below: the margin shrinks, since noise hides less than the margin's own distortion would
LEAST_OF_CLASS = 20.0  # records times epsilon, for each class but one: with fewer nothing but the shares of the classes
TREE_RECORDS = 600.0  # times epsilon: with as many, more would not make a better tree
MOST_TREE_SHARE = Fraction(9, 10)  # of what is left: curves follow every tree, and their ridge knows their noise
LEAST_TREE_SHARE = Fraction(1, 5)  # of what is left: a tree of less is drawn blindly, and curves hardly miss it
PAIRS, PAIR_SHARE = 3, Fraction(3, 10)  # tables of pairs, and what they cost of what is left
CHOICE_SHARE = Fraction(1, 4)  # of what terms cost that are chosen
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


class _Growing:
    """The parts of a model as they are released, one fit after another."""

    def __init__(self, data: PrivateDataset, estimate: ClassEstimate, preferences: Preferences) -> None:
        self.data, self.estimate, self.preferences = data, estimate, preferences
        self.parts: list[Part] = []
        self.background: list[tuple[Term, Floats]] = []
        self.routes: Routes | None = None
        self.link = Link()
        self.shift = np.zeros(data.schema.n_scores)

    @property
    def offset(self) -> Floats:
        """The scores of everyone: those of the released shares, and what curves leave to them."""
        return np.asarray(self.link.scores(self.estimate.shares[None])[0] + self.shift)

    @property
    def evidence(self) -> float:
        """About what the residuals of all records of a class sum to, at the offset: without a margin, of p(1 - p)."""
        return self.estimate.records * max(self.link.residual(self.estimate.shares), LEAST_EVIDENCE)

    def fit(self, bases: Sequence[Basis], loss: Loss, what: str, signal: float = SIGNAL) -> None:
        """Fit terms on top of the parts released before."""
        plan, shape = self._plan(bases), self._shape(bases, signal)
        values, calibration = self.data.perturbed_fit(plan, shape, loss, routes=self.routes, what=what)
        kept: Sequence[float] | None = None
        if shape.columns > 1:  # with two classes curves have too few values to tell noise by, and records enough
            values, kept, moved = shrink_curves(plan.terms, values, calibration)
            self.shift = self.shift + moved
        self.parts += parts_of(bases, values, calibration, kept)
        self.background += [(basis.term, basis.term.spread(value)) for basis, value in zip(bases, values, strict=True)]

    def choose(self, bases: Sequence[Basis], count: int, loss: Loss, what: str) -> tuple[list[Basis], Loss]:
        """Choose the terms that explain most of the residuals. Returns the budget left to fit them."""
        fair, price = penalties(bases, self.estimate.records), loss.epsilon * CHOICE_SHARE
        chosen = self.data.choose_terms(self._plan(bases), fair, count, price, routes=self.routes, what=what)
        return [bases[i] for i in sorted(chosen)], loss - Loss(price)

    def noise_ratio(self, bases: Sequence[Basis], loss: Loss) -> float:
        """The ratio of noise to evidence of a cell, averaged over terms; from public and released numbers."""
        calibration = calibrate(self._shape(bases), loss / self.data.ledger.steps)
        noise = [d * k for d, k in zip(calibration.deviations, calibration.shape.sizes, strict=True)]
        return float(np.mean(noise)) / self.estimate.evidence

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
    noise_ratio = growing.noise_ratio(bases, left)
    growing.link = Link(margin(estimate, noise_ratio))
    left = _tree_first(growing, left, noise_ratio)
    _tell(progress, 3)
    pairs = min(preferences.pairs, len(wanted) * (len(wanted) - 1) // 2) if noise_ratio < WITH_PAIRS else 0
    for_pairs = _curves(growing, left, wanted, noise_ratio, pairs)
    _tell(progress, 4)
    if pairs:
        _pairs(growing, for_pairs, pairs)
    _tell(progress, STEPS)
    return growing.model()


def margin(estimate: ClassEstimate, noise_ratio: float) -> float:
    """The margin of the loss: residuals are capped at a quarter for two classes, and at less for more.

    A record at the boundary then leaves four fifths of the cap unexplained, where the plain log-loss has one half.

    >>> even = [ClassEstimate(np.full(k, 100.0), 1.0, Fraction(0)) for k in (2, 10)]
    >>> [round(math.exp(-margin(estimate, noise_ratio=0.3)), 3) for estimate in even]
    [0.25, 0.05]
    """
    kinds = max(2.0, 1 / float((estimate.shares**2).sum()))
    return math.log(2 * kinds) * min(noise_ratio / CLEAR, 1.0)


def _tree_first(growing: _Growing, left: Loss, noise_ratio: float) -> Loss:
    """Draw a tree with leaf values, where its part of epsilon is enough. Returns the budget left for curves."""
    share = tree_share(growing.estimate, noise_ratio)
    if share < LEAST_TREE_SHARE:
        return left
    enough = Fraction(TREE_RECORDS / growing.estimate.records).limit_denominator(10**6) * growing.data.ledger.steps
    cost = min(left.epsilon * share, max(enough, SMALLEST))
    wanted, favours = growing.preferences.class_weights, growing.preferences.favours
    growing.routes, leaves = draw_first_tree(growing.data, cost, growing.estimate, wanted, favours, growing.link)
    growing.parts.append(leaves)
    growing.background.append((Term.one_hot((), [], len(leaves.table)), leaves.table))
    return left - Loss(cost)


def tree_share(estimate: ClassEstimate, noise_ratio: float) -> Fraction:
    """The share of a tree before curves: near 1 where curves would be mostly noise, near 0 elsewhere.

    A tree is drawn by the number of records that it classifies right, so it says less where classes are unequal. Both
    parts keep what they need for longer than they are of use: a wrong share costs little.

    >>> counts = {"mushrooms": (3900.0, 4200.0), "incomes": (34_000.0, 11_200.0), "sales": (40_000.0, 5300.0)}
    >>> estimates = {name: ClassEstimate(np.array(both), 1.0, Fraction(0)) for name, both in counts.items()}
    >>> [round(float(tree_share(estimate, noise_ratio=0.5)), 2) for estimate in estimates.values()]
    [0.46, 0.06, 0.0]
    """
    balance = min((1 - float(estimate.shares.max())) / 0.5, 1.0) ** 2
    odds = (balance * noise_ratio / EVEN) ** 2
    return min(Fraction(odds / (1 + odds)).limit_denominator(100), MOST_TREE_SHARE)


def curves_kept(attributes: int, noise_ratio: float) -> int:
    """How many attributes get a curve. Noise grows with their number, and hides all of them where they are many.

    >>> [curves_kept(40, noise_ratio) for noise_ratio in (0.1, 0.3, 0.4, 1.2, 20)]
    [40, 40, 20, 7, 1]
    """
    few = math.ceil(attributes * CHOSEN / noise_ratio)
    return few if 2 * few <= attributes else attributes


def _curves(growing: _Growing, left: Loss, wanted: Sequence[int], noise_ratio: float, pairs: int) -> Loss:
    """Fit a curve per wanted attribute, with more knots where noise is smaller. Returns the budget left for pairs."""
    data, schema, records = growing.data, growing.data.schema, growing.estimate.records
    every = [main_basis(schema, a) for a in wanted]
    if (count := curves_kept(len(every), growing.noise_ratio(every, left))) < len(every):
        kept, left = growing.choose(every, count, left, "choice of curves")
        wanted = [basis.term.attributes[0] for basis in kept]
    moved: dict[int, Floats] = {}
    numbers = sum(has_knots(schema.attributes[a]) for a in wanted)
    if price := left.epsilon * knots_share(numbers, records, float(left.epsilon)):
        moved, left = buy_knots(data, wanted, price), left - Loss(price)
    shares = COARSE if noise_ratio >= FINE_KNOTS else FINE
    bases = [main_basis(schema, a, shares, moved.get(a)) for a in wanted]
    for_pairs = Loss(left.epsilon * PAIR_SHARE, left.delta / 2) if pairs else NOTHING
    signal = SIGNAL * len(bases) / len(every)  # as much from each as if all were fitted
    growing.fit(bases, left - for_pairs, "additive fit", signal)
    return for_pairs


def _pairs(growing: _Growing, left: Loss, count: int) -> None:
    """Fit tables for the pairs that explain most of the residuals of the curves."""
    bases = candidates(growing.data.schema, growing.parts)
    growing.fit(*growing.choose(bases, count, left, "choice of pairs"), "fit of pairs")


def parts_of(
    bases: Sequence[Basis], values: Sequence[Floats], calibration: Calibration, kept: Sequence[float] | None = None
) -> list[Part]:
    """The released values as parts of a model, each with its approximate and its largest noise.

    ``kept`` are the shares of them that were kept, if not all. Whatever the records are, the variance of a cell is at
    most ``most`` / ridge: "How far noise moves a curve" in ``docs/proofs/perturbed_program.md``.
    """
    parts = []
    spread = 2.0 if calibration.law == "laplace" else 1.0
    known = list(
        zip(bases, values, calibration.deviations, calibration.ridges, kept or [1.0] * len(bases), strict=True)
    )
    most = spread * max(smoothness.stretch(basis.term.chain) * d * d / ridge for basis, _, d, ridge, _ in known)
    for basis, value, deviation, ridge, share in known:
        term = basis.term
        noise = noise_of(term, deviation, ridge, calibration.shape.evidence / term.size) * share
        widest = math.sqrt(most / ridge) * share
        parts.append(Part(term.attributes, term.levels, term.spread(value), noise, basis.knots, widest))
    return parts


def _tell(progress: Progress | None, step: int) -> None:
    if progress is not None:
        progress(step, STEPS)
