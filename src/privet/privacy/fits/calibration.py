"""How much noise a perturbed fit needs, and how much ridge: from public numbers alone, checked against what was paid.

Claim and proof, with the letters used here: ``docs/proofs/perturbed_fit.md``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from privet.errors import ParameterError
from privet.privacy.budget import float_up
from privet.privacy.losses import Loss
from privet.privacy.noise import Law
from privet.schema import Schema
from privet.structure.terms import Term

RELEASE_SHARE = Fraction(1, 100)  # of epsilon, spent twice: to cover that the solver is not exact
LATTICE = 2.0**-24  # the step of the noise in the objective
RELEASE_STEP = 2.0**-34  # the step in which the result is released
LEAST_EPSILON, MOST_EPSILON = Fraction(1, 2**14), Fraction(64)  # below, doubles are too coarse; above, nothing is gained
GRADIENT = 2.0**-18  # how exactly a fit of up to some ten million records is solved
FINEST = 2.0**28  # records times (terms + 8) up to which doubles are that exact, and 64 log-odds from 0
ABOVE = 1 + 1e-9  # what is rounded here is rounded to the safe side, by far more than any rounding error


@dataclass(frozen=True)
class Shape:
    """The public facts of a fit: what noise and ridge depend on.

    ``sizes`` are the cells of each term, ``touched`` how many of them a record has a part in, ``favours`` how exactly
    a term should be known (1 unless something is known about it). ``records`` and ``evidence`` were declared or
    released before: about how many records there are, and the sum of p(1 - p) over them.
    """

    sizes: tuple[int, ...]
    touched: tuple[int, ...]
    favours: tuple[float, ...]
    classes: int
    records: float
    evidence: float

    def __post_init__(self) -> None:
        if not self.sizes or not len(self.sizes) == len(self.touched) == len(self.favours):
            raise ParameterError("a fit needs at least one term, and a weight for each")
        if not all(0 < favour < math.inf for favour in self.favours):
            raise ParameterError("favours must be positive numbers; leave a term out that should not count")
        if self.classes < 2 or not 1 <= self.records < math.inf or not 0 < self.evidence < math.inf:
            raise ParameterError("a fit needs two classes, at least one record and some evidence")

    def check(self, terms: Sequence[Term], schema: Schema) -> None:
        """Refuse a shape that is not that of ``terms``: its noise would be for another fit."""
        same = self.sizes == tuple(t.size for t in terms) and self.touched == tuple(t.touched for t in terms)
        if type(self) is not Shape or not same or self.classes != schema.n_classes:
            raise ParameterError("the shape of a fit must have the sizes of its terms and the classes of the schema")

    @property
    def columns(self) -> int:
        """The numbers of a cell: log-odds for two classes, one for each class where there are more."""
        return 1 if self.classes == 2 else self.classes

    @property
    def released(self) -> int:
        return sum(self.sizes) * self.columns


@dataclass(frozen=True)
class Calibration:
    """Noise of scale ``scales[j]`` and ridge ``ridges[j]`` in every cell of term j, and how exactly to solve."""

    shape: Shape
    law: Law
    scales: tuple[float, ...]
    ridges: tuple[float, ...]
    gradient: float
    release_epsilon: Fraction
    release_scale: float  # in steps

    @property
    def deviations(self) -> tuple[float, ...]:
        """The standard deviation of the noise that a term's gradient has."""
        return tuple(_deviation(self.law) * scale for scale in self.scales)

    @property
    def reach(self) -> Fraction:
        """How far the solver's answer can be from the exact one, all numbers added up."""
        shape = self.shape
        spread = sum(Fraction(size) / Fraction(ridge) for size, ridge in zip(shape.sizes, self.ridges, strict=True))
        return Fraction(self.gradient) * spread * shape.columns

    def spent(self) -> Loss:
        """What this fit loses, from its numbers alone: an upper bound, in exact rationals."""
        shape, k = self.shape, self.shape.classes
        tilt = sum((1 / Fraction(ridge) for ridge in self.ridges), Fraction(0))  # q of the proof
        # ln(1 + x) <= x; the difference is second order in a small number.
        bend = Fraction(k - 2, k - 1) * tilt
        inverse = [1 / Fraction(scale) for scale in self.scales]
        cover = 2 * self._cover_epsilon()
        if self.law == "laplace":
            sums = 1 if k == 2 else 2
            epsilon = sums * sum(inverse, Fraction(0))
            if tilt * k > (k - 1) * epsilon * (2 if k == 2 else 1):
                return Loss(Fraction(10**6))  # the determinant is no longer free
            roundings = 1 if k == 2 else 2 * (k - 1)
            lattice = sum((m * roundings * i for m, i in zip(shape.touched, inverse, strict=True)), Fraction(0))
            return Loss(epsilon + bend + lattice * Fraction(LATTICE) + cover)
        mu = math.sqrt((1 if k == 2 else 2) * float(sum((i * i for i in inverse), Fraction(0)))) * ABOVE
        least = tilt * (1 if k == 2 else Fraction(k, k - 1))
        # Any epsilon can be bought with some delta; take the one that the release leaves.
        epsilon, cost = self._gaussian_split(mu, least)
        cells = shape.released
        apart = cells * (LATTICE / min(self.scales)) ** 2 / 24
        delta = (k - 1) * cost * math.exp(float(self._cover_epsilon()))
        delta += apart * (1 + math.exp(float(epsilon + self._cover_epsilon())))
        return Loss(epsilon + bend + cover, Fraction(delta * ABOVE))

    def _cover_epsilon(self) -> Fraction:
        """What the noise of the release is worth, given how far apart the answers can be."""
        moved = self.reach / Fraction(RELEASE_STEP) + self.shape.released
        return max(moved / Fraction(self.release_scale), self.release_epsilon)

    def _gaussian_split(self, mu: float, least: Fraction) -> tuple[Fraction, float]:
        epsilon = max(self.release_epsilon / RELEASE_SHARE * (1 - 2 * RELEASE_SHARE) - self._bend(), least)
        return epsilon, gaussian_delta(mu, float(epsilon) / ABOVE)

    def _bend(self) -> Fraction:
        k = self.shape.classes
        return Fraction(k - 2, k - 1) * sum((1 / Fraction(ridge) for ridge in self.ridges), Fraction(0))


def calibrate(shape: Shape, loss: Loss) -> Calibration:
    """The least noise that ``loss`` buys, Laplace or (where it has a delta, and that is less noise) Gaussian."""
    if loss.epsilon < LEAST_EPSILON:
        raise ParameterError(f"a fit needs an epsilon of at least {float(LEAST_EPSILON):.1g}, not {loss.epsilon}")
    usable = Loss(min(loss.epsilon, MOST_EPSILON), loss.delta)
    found = [_calibrated(shape, usable, "laplace")]
    if usable.delta:
        found += [other for other in [_gaussian(shape, usable)] if other is not None]
    best = min(found, key=lambda one: sum(k * d * d for k, d in zip(shape.sizes, one.deviations, strict=True)))
    if not best.spent() <= loss:  # never, unless the formulas here are wrong
        raise ParameterError("the calibration of a fit does not keep what was paid")
    return best


def _calibrated(shape: Shape, loss: Loss, law: Law) -> Calibration:
    """Laplace noise, its size found by halving: the loss falls as the noise grows."""
    relative = [1 / (math.sqrt(size) * favour) for size, favour in zip(shape.sizes, shape.favours, strict=True)]
    low, high = 0.0, 1.0
    while not _at(shape, law, relative, high, loss.epsilon).spent() <= loss:
        low, high = high, 2 * high
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if _at(shape, law, relative, middle, loss.epsilon).spent() <= loss else (middle, high)
    return _at(shape, law, relative, high, loss.epsilon)


def _gaussian(shape: Shape, loss: Loss) -> Calibration | None:
    """The same with Gaussian noise; None where no amount of it keeps so small a delta."""
    relative = [size**-0.25 / favour for size, favour in zip(shape.sizes, shape.favours, strict=True)]
    low, high = 0.0, 1.0
    while not _at(shape, "gaussian", relative, high, loss.epsilon).spent() <= loss:
        low, high = high, 2 * high
        if high > 2**60:
            return None
    for _ in range(40):
        middle = (low + high) / 2
        kept = _at(shape, "gaussian", relative, middle, loss.epsilon).spent() <= loss
        low, high = (low, middle) if kept else (middle, high)
    return _at(shape, "gaussian", relative, high, loss.epsilon)


def _at(shape: Shape, law: Law, relative: list[float], size: float, epsilon: Fraction) -> Calibration:
    scales = tuple(size * one for one in relative)
    ridges = _ridges(shape, tuple(_deviation(law) * scale for scale in scales))
    gradient = GRADIENT * max(1.0, shape.records * (len(shape.sizes) + 8) / FINEST)
    cover = epsilon * RELEASE_SHARE
    rough = Calibration(shape, law, scales, ridges, gradient, cover, 1.0)
    moved = rough.reach / Fraction(RELEASE_STEP) + shape.released
    return Calibration(shape, law, scales, ridges, gradient, cover, float_up(moved / cover))


def _ridges(shape: Shape, deviations: tuple[float, ...]) -> tuple[float, ...]:
    """Twice the noise's deviation, and more where noise drowns the evidence: what shrinks the expected error most.

    A cell whose curvature is h and whose noise has deviation d is off by d / (h + ridge), and by what the ridge takes
    away; for log-odds of about 1 the best ridge is d^2 / h.
    """
    each = zip(shape.sizes, deviations, strict=True)
    return tuple(max(2 * d, d * d * size / shape.evidence) for size, d in each)


def _deviation(law: Law) -> float:
    return math.sqrt(2) if law == "laplace" else 1.0


def gaussian_delta(mu: float, epsilon: float) -> float:
    """The delta of Gaussian noise of deviation 1 where one record moves the answer by ``mu``, rounded up.

    >>> round(gaussian_delta(1, 1), 4)
    0.1269
    """
    root = math.sqrt(2)
    above = math.erfc((epsilon / mu - mu / 2) / root) / 2
    if epsilon > 700 or above == 0.0:
        return above
    return max(above - math.exp(epsilon) * math.erfc((epsilon / mu + mu / 2) / root) / 2, above * 1e-9) * ABOVE
