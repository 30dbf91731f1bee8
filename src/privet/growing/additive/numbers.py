"""Fit an additive model of a number: find out where the labels lie, then fit curves to them in one perturbed fit.

Scores are in units of the labels' deviation, from their centre. Labels are fine bins, each with its middle as value, so
that every engine can add up residuals by codes. The loss is ln cosh, whose residuals lie between -1 and 1 whatever a
label is: it estimates something between mean and median, and a last fit of one number, with a loss that is nearly the
square, moves all predictions to the mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from privet.growing.additive.bases import Basis, main_basis
from privet.growing.additive.fitting import (
    CHOICE_SHARE,
    PAIR_SHARE,
    SMALLEST,
    STEPS,
    Preferences,
    mean_noise,
    parts_of,
    plan_curves,
)
from privet.growing.additive.pairs import candidates, penalties
from privet.growing.labels import LabelFacts, bin_values, cut_labels
from privet.growing.prelude import Prelude
from privet.growing.whole.number_trees import NumberLevels, cut_for_tree, label_share
from privet.models.additive import Additive, Part
from privet.privacy.dataset import PrivateDataset
from privet.privacy.fits.calibration import FitLayout, calibrate
from privet.privacy.fits.perturbed_fit import Fit
from privet.privacy.losses import NOTHING, Loss
from privet.privacy.noise import Law
from privet.progress import Progress
from privet.schema import Schema
from privet.structure.fit_losses import LogCosh
from privet.structure.terms import Term

Floats = npt.NDArray[np.float64]

LEAST = 200.0  # records times epsilon: with fewer, only the mean is released
BINS = 512  # of the label: each a fortieth of a deviation
TAILS = 6.0  # deviations to either side of the centre: labels further off pull no more than labels there
EVIDENCE = 0.7  # of a record: the mean curvature of the loss, for labels a deviation off
SIGNAL = 0.5  # expected variance of scores, in squared deviations
WITH_PAIRS = 0.035  # ratio of noise to evidence in a cell; below: tables of pairs on top of the curves
MEAN_UNIT = 4.0  # deviations: in such units ln cosh is nearly the square
MEAN_SIGNAL = 0.01  # expected variance of the shift to the mean, in such units: four tenths of a deviation
LEAST_MEAN_SHARE, MOST_MEAN_SHARE, FOR_MEAN = 0.03, 0.1, 20.0  # of what is left; records times epsilon for it


@dataclass
class _Numbers:
    """The parts of a model as they are released, in units of the labels' deviation from their centre."""

    data: PrivateDataset
    facts: LabelFacts
    records: float
    preferences: Preferences

    def __post_init__(self) -> None:
        low, high = fine_range(self.data.schema, self.facts)
        middles = bin_values(self.data.schema.number, low, high)
        self.values = (middles - self.facts.centre) / self.facts.deviation
        self.parts: list[Part] = []
        self.background: list[tuple[Term, Floats]] = []

    def fit(self, bases: Sequence[Basis], loss: Loss, what: str, signal: float = SIGNAL) -> None:
        """Fit terms on top of the parts released before."""
        plan, shape = self._plan(bases), replace(self._shape(bases), signal=signal)
        values, calibration = self.data.perturbed_fit(plan, shape, loss, what=what)
        self.parts += parts_of(bases, values, calibration)
        self.background += [(basis.term, basis.term.spread(value)) for basis, value in zip(bases, values, strict=True)]

    def choose(self, bases: Sequence[Basis], count: int, loss: Loss, what: str) -> tuple[list[Basis], Loss]:
        """Choose the terms that explain most of the residuals. Returns the budget left to fit them."""
        fair, price = penalties(bases, self.records), loss.epsilon * CHOICE_SHARE
        chosen = self.data.choose_terms(self._plan(bases), fair, count, price, what=what)
        return [bases[i] for i in sorted(chosen)], loss - Loss(price)

    def mean_shift(self, loss: Loss) -> float:
        """How far the mean label is from the mean prediction, in deviations."""
        term = Term.one_hot((0,), [np.zeros(self.data.schema.arities[0], dtype=np.int64)], 1)
        background = tuple((one, table / MEAN_UNIT) for one, table in self.background)
        ones = np.ones(self.data.schema.n_classes)
        plan = Fit((term,), np.zeros(1), ones, background, LogCosh(tuple((self.values / MEAN_UNIT).tolist())))
        shape = replace(self._shape([Basis(term, ((),))]), evidence=self.records, signal=MEAN_SIGNAL)
        (found,), _ = self.data.perturbed_fit(plan, shape, loss, what="shift to the mean")
        return float(found[0, 0]) * MEAN_UNIT

    def noise_ratio(self, bases: Sequence[Basis], loss: Loss) -> tuple[float, Law]:
        """The mean ratio of noise to evidence of a cell, and the law of the noise; from public and released numbers."""
        calibration = calibrate(self._shape(bases), loss / self.data.ledger.steps)
        return mean_noise(calibration) / (EVIDENCE * self.records), calibration.law

    def model(self, shift: float) -> Additive:
        """The model in the label's own unit."""
        unit = self.facts.deviation
        parts = [
            replace(
                part,
                table=part.table * unit,
                deviation=part.deviation * unit,
                widest=None if part.widest is None else part.widest * unit,
            )
            for part in self.parts
        ]
        return Additive(self.data.schema, tuple(parts), np.array([self.facts.centre + shift * unit]))

    def _plan(self, bases: Sequence[Basis]) -> Fit:
        ones, loss = np.ones(self.data.schema.n_classes), LogCosh(tuple(self.values.tolist()))
        return Fit(tuple(basis.term for basis in bases), np.zeros(1), ones, tuple(self.background), loss)

    def _shape(self, bases: Sequence[Basis]) -> FitLayout:
        return FitLayout(
            tuple(basis.term.size for basis in bases),
            tuple(basis.term.touched for basis in bases),
            tuple(map(self.preferences.favour, bases)),
            self.data.schema.n_classes,
            self.records,
            EVIDENCE * self.records,
            SIGNAL,
            tuple(basis.term.chain for basis in bases),
            signed=True,
        )


def survey_numbers(prelude: Prelude) -> Prelude:
    """Buy the number of records and where the labels lie."""
    prelude = prelude.count().note_records()
    prelude = prelude.find_labels(label_share(prelude.strength))
    if _is_weak(prelude):
        return prelude.note("There are too few records, at this epsilon, for more than the mean.")
    return prelude


def _is_weak(prelude: Prelude) -> bool:
    return prelude.strength < LEAST or prelude.left < SMALLEST * prelude.data.ledger.steps


def grow_additive_numbers(
    prelude: Prelude, delta: Fraction, preferences: Preferences, progress: Progress | None = None
) -> Additive:
    """Fit curves, tables of pairs and the mean, after ``survey_numbers``."""
    facts, schema, strength = prelude.labels, prelude.data.schema, prelude.strength
    assert facts is not None
    _tell(progress, 1)
    if _is_weak(prelude):
        return only_mean(prelude, facts)
    low, high = fine_range(schema, facts)
    data = prelude.data.recut(cut_labels(schema, np.linspace(low, high, BINS + 1)[1:-1]))
    growing = _Numbers(data, facts, prelude.counted.surely, preferences)
    left = Loss(prelude.left, delta)
    for_mean = Loss(left.epsilon * Fraction(_mean_share(strength)).limit_denominator(1000))
    left = left - for_mean
    wanted = [a for a in range(len(schema.attributes)) if preferences.favours.get(a, 1.0) > 0]
    ratio, _ = growing.noise_ratio([main_basis(schema, a) for a in wanted], left)
    bases, left = plan_curves(growing, left, wanted)
    _tell(progress, 2)
    pairs = preferences.pairs_of(len(bases)) if ratio < WITH_PAIRS else 0
    for_pairs = Loss(left.epsilon * PAIR_SHARE, left.delta / 2) if pairs else NOTHING
    signal = SIGNAL * len(bases) / len(wanted)  # as much from each as if all were fitted
    growing.fit(bases, left - for_pairs, "additive fit", signal)
    _tell(progress, 4)
    if pairs:
        some = candidates(schema, growing.parts)
        growing.fit(*growing.choose(some, pairs, for_pairs, "choice of pairs"), "fit of pairs")
    model = growing.model(growing.mean_shift(for_mean))
    _tell(progress, STEPS)
    return model


def fine_range(schema: Schema, facts: LabelFacts) -> tuple[float, float]:
    """The range of a label's fine bins: some deviations to either side of the centre, and all of the usual labels."""
    low = min(facts.centre - TAILS * facts.deviation, facts.low)
    high = max(facts.centre + TAILS * facts.deviation, facts.high)
    return max(low, schema.number.low), min(high, schema.number.high)


def only_mean(prelude: Prelude, facts: LabelFacts) -> Additive:
    """Spend all that is left on the mean of the labels, clipped to where most of them lie."""
    data = prelude.data.recut(cut_for_tree(prelude.data.schema, facts))
    leaf = NumberLevels(data.level(), prelude.left, data.ledger.steps, Fraction(0), facts)
    leaf.add([None], [leaf.middle])
    return Additive(data.schema, (), leaf.number_tree().value[:1])


def _mean_share(strength: float) -> float:
    return min(max(FOR_MEAN / strength, LEAST_MEAN_SHARE), MOST_MEAN_SHARE)


def _tell(progress: Progress | None, step: int) -> None:
    if progress is not None:
        progress(step, STEPS)
