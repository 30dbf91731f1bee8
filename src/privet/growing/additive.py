"""From private records to an additive model: what is bought, and what is then fitted, decided by released numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from privet.growing.knots import Basis, main_basis
from privet.privacy.dataset import PrivateDataset
from privet.privacy.fits.calibration import Calibration, Shape
from privet.privacy.fits.perturbed_fit import Fit
from privet.privacy.losses import Loss
from privet.structure.terms import Term
from privet.trees.additive import Additive, Part

Floats = npt.NDArray[np.float64]

COUNT_SHARE = Fraction(1, 50)  # of epsilon, for the class counts that everything else is decided by


@dataclass(frozen=True)
class Outlook:
    """What was bought first: about how many records there are of each class, none below 1."""

    counts: Floats

    @property
    def records(self) -> float:
        return float(self.counts.sum())

    @property
    def shares(self) -> Floats:
        return self.counts / self.records

    @property
    def evidence(self) -> float:
        """About the sum of p(1 - p) over all records, for predictions that are about right."""
        return self.records * max((1 - float((self.shares**2).sum())) / 2, 0.02)

    @property
    def offset(self) -> Floats:
        """The scores of a model that says the released shares of everyone."""
        logs = np.log(self.shares)
        return np.array([logs[1] - logs[0]]) if len(logs) == 2 else logs - logs.mean()


def shape_of(terms: Sequence[Term], outlook: Outlook, classes: int, favours: Sequence[float]) -> Shape:
    return Shape(
        tuple(term.size for term in terms),
        tuple(term.touched for term in terms),
        tuple(favours),
        classes,
        outlook.records,
        outlook.evidence,
    )


def parts_of(bases: Sequence[Basis], values: Sequence[Floats], calibration: Calibration) -> list[Part]:
    """What was released, as parts of a model, each with about the noise that its numbers have."""
    shape = calibration.shape
    parts = []
    for basis, value, deviation, ridge in zip(bases, values, calibration.deviations, calibration.ridges, strict=True):
        term = basis.term
        noise = deviation / (shape.evidence / term.size + ridge)
        parts.append(Part(term.attributes, term.levels, term.spread(value), noise, basis.knots))
    return parts


def grow_additive(data: PrivateDataset, epsilon: Fraction, delta: Fraction, class_weights: Floats) -> Additive:
    schema, k = data.schema, data.schema.n_classes
    counts = data.frontier().class_counts_all(epsilon * COUNT_SHARE)[0]
    outlook = Outlook(np.maximum(counts, 1.0))
    if k < 2:
        return Additive(schema, (), np.zeros(1))
    bases = [main_basis(schema, a) for a in range(len(schema.attributes))]
    terms = tuple(basis.term for basis in bases)
    shape = shape_of(terms, outlook, k, [1.0] * len(terms))
    left = Loss(epsilon * (1 - COUNT_SHARE), delta)
    values, calibration = data.perturbed_fit(Fit(terms, outlook.offset, class_weights), shape, left)
    return Additive(schema, tuple(parts_of(bases, values, calibration)), outlook.offset)
