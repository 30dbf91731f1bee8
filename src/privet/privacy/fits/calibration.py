"""How much noise a perturbed fit needs, and how much ridge: from public numbers alone, checked against what was paid.

Claim and proof, with the letters used here: ``docs/proofs/perturbed_fit.md``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

from privet.errors import ParameterError
from privet.privacy.budget import float_up
from privet.privacy.fits import smoothness
from privet.privacy.fits.normal_noise import ABOVE, row_delta
from privet.privacy.losses import UNLIMITED, Loss
from privet.privacy.noise import Law
from privet.schema import Schema
from privet.structure.terms import Term

RELEASE_SHARE = Fraction(1, 100)  # of epsilon, spent twice: to cover that the solver is not exact
LATTICE = 2.0**-24  # the step of the noise in the objective
RELEASE_STEP = 2.0**-34  # the step in which the result is released
LEAST_EPSILON = Fraction(1, 2**14)  # below, doubles are too coarse
MOST_EPSILON = Fraction(64)  # above, nothing is gained
GRADIENT = 2.0**-18  # how exactly a fit of up to some ten million records is solved
FINEST = 2.0**28  # records times (terms + 8) up to which doubles are that exact, and 64 log-odds from 0
STEEP = 4.0  # how much steeper a residual of a number is than a probability: its rounding errors grow as much
NARROW, LARGEST = 2.0**-16, 2.0**60  # how closely the least noise is searched for, and how far
LEAST_RIDGE = 1.0  # deviations of the noise: less would let cells without records swing
SIGNED_RIDGE = 2.0  # the same for a number, where less than the root of 2 would make noise grow for the determinant
MOST_TILT = 0.9  # of epsilon: what the sum of 1 / ridge may be, or noise would have to grow for it


@dataclass(frozen=True)
class FitLayout:
    """The public facts of a fit: what noise and ridge depend on.

    ``sizes`` are the cells of each term, ``touched`` how many of them a record has a part in, ``favours`` how exactly
    a term should be known (1 unless something is known about it). ``records`` and ``evidence`` were declared or
    released before: about how many records there are, and the sum of p(1 - p) over them. ``signal`` is how much, as a
    variance, the scores of records are expected to differ by all terms together. ``chains`` are the cells of each term
    that have an order, at its beginning; none, if it is left out. With ``signed`` residuals, those of a number, a score
    has one column whatever the number of classes.
    """

    sizes: tuple[int, ...]
    touched: tuple[int, ...]
    favours: tuple[float, ...]
    classes: int
    records: float
    evidence: float
    signal: float = 8.0
    chains: tuple[int, ...] = ()
    signed: bool = False

    def __post_init__(self) -> None:
        if not self.chains:
            object.__setattr__(self, "chains", (0,) * len(self.sizes))
        if not self.sizes or not len(self.sizes) == len(self.touched) == len(self.favours) == len(self.chains):
            raise ParameterError("a fit needs at least one term, and a weight for each")
        if not all(0 < favour < math.inf for favour in self.favours):
            raise ParameterError("favours must be positive numbers; leave a term out that should not count")
        if not 0 < self.signal < math.inf:
            raise ParameterError("signal must be a positive variance")
        if self.classes < 2 or not 1 <= self.records < math.inf or not 0 < self.evidence < math.inf:
            raise ParameterError("a fit needs more than one class, at least one record and some evidence")

    @classmethod
    def of(
        cls, terms: Sequence[Term], favours: Sequence[float], classes: int, records: float, evidence: float,
        signal: float = 8.0,
    ) -> FitLayout:  # fmt: skip
        """The layout of public terms."""
        sizes, touched, chains = zip(*((term.size, term.touched, term.chain) for term in terms), strict=True)
        return cls(sizes, touched, tuple(favours), classes, records, evidence, signal, chains)

    def check(self, terms: Sequence[Term], schema: Schema) -> None:
        """Refuse a shape that is not that of ``terms``: its noise would be for another fit."""
        facts = [(term.size, term.touched, term.chain) for term in terms]
        same = list(zip(self.sizes, self.touched, self.chains, strict=True)) == facts
        kind = (self.classes, self.signed) == (schema.n_classes, schema.predicts_number)
        if type(self) is not FitLayout or not same or not kind:
            raise ParameterError("the shape of a fit must have the sizes of its terms and the classes of the schema")

    @property
    def columns(self) -> int:
        """The numbers of a cell: log-odds for two classes, one for each class where there are more."""
        return 1 if self.kinds == 2 else self.classes

    @property
    def kinds(self) -> int:
        """The classes that scores tell apart: two, too, where a residual has a sign."""
        return 2 if self.signed else self.classes

    @cached_property
    def masses(self) -> tuple[Fraction, ...]:
        """The sum of all entries of the correlation of each term's cells: their number, if they have no order."""
        return tuple(smoothness.mass(*term) for term in zip(self.sizes, self.chains, strict=True))

    @property
    def released(self) -> int:
        """How many numbers are released."""
        return sum(self.sizes) * self.columns

    @property
    def rounded(self) -> Fraction:
        """How far rounding can move two releases apart, in steps: one for each number, and a bit for rows' sums."""
        return self.released * Fraction(1025, 1024)


@dataclass(frozen=True)
class Calibration:
    """Noise of scale ``scales[j]`` and ridge ``ridges[j]`` in every cell of term j, and how exactly to solve.

    ``gradient`` is what the solver must certify, and ``release_scale`` the noise of the release, in its steps.
    """

    shape: FitLayout
    law: Law
    epsilon: Fraction
    scales: tuple[float, ...]
    ridges: tuple[float, ...]
    gradient: float
    release_scale: float

    @property
    def deviations(self) -> tuple[float, ...]:
        """The standard deviation of the noise in the gradient of each term."""
        return tuple(_deviation(self.law) * scale for scale in self.scales)

    @property
    def reach(self) -> Fraction:
        """How far apart, in steps, the releases of the solver's answer and of the exact one can be before noise."""
        spread = sum(mass / Fraction(r) for mass, r in zip(self.shape.masses, self.ridges, strict=True))
        return Fraction(self.gradient) * spread * self.shape.columns / Fraction(RELEASE_STEP) + self.shape.rounded

    def spent(self) -> Loss:
        """What this fit loses, from its numbers alone: an upper bound."""
        k, cover = self.shape.kinds, self.reach / Fraction(self.release_scale)
        signed = 2 if self.shape.signed else 1  # curvature may be twice, and either tail of the noise may count
        tilt = sum((1 / Fraction(ridge) for ridge in self.ridges), Fraction(0))  # q of the proof
        bend = Fraction(k - 2, k - 1) * tilt  # ln(1 + x) <= x; the rest is second order in a small number
        most = tilt * (signed if k == 2 else Fraction(k, k - 1))  # what the noise must cost, or the determinant would
        inverse = [1 / Fraction(scale) for scale in self.scales]
        if self.law == "laplace":
            main = sum(inverse, Fraction(0)) * (1 if k == 2 else 2)
            roundings = 1 if k == 2 else 2 * (k - 1)
            touched = sum((m * one for m, one in zip(self.shape.touched, inverse, strict=True)), Fraction(0))
            lattice = Fraction(LATTICE) * roundings * touched
            return Loss(main + lattice + bend + 2 * cover) if most <= main else UNLIMITED
        # Gaussian noise keeps any epsilon with some delta: here what bend and cover leave of it. The ideal law then
        # keeps main + bend, and so much does a draw cost that is not the ideal one.
        main = max(self.epsilon - bend - 2 * cover, most)
        mu = math.sqrt(sum((one * one for one in inverse), Fraction(0))) * ABOVE
        apart = self.shape.released * (LATTICE / min(self.scales)) ** 2 / 24
        factor = math.exp(float(cover))
        delta = factor * signed * row_delta(k, mu, float_up(tilt), float(main + bend) / ABOVE)
        delta += apart * (1 + factor * math.exp(float(main + bend)))
        return Loss(main + bend + 2 * cover, Fraction(delta * ABOVE))


def calibrate(shape: FitLayout, loss: Loss) -> Calibration:
    """The least noise that ``loss`` buys, Laplace or (where it has a delta, and that is less noise) Gaussian."""
    if loss.epsilon < LEAST_EPSILON:
        raise ParameterError(f"a fit needs an epsilon of at least {float(LEAST_EPSILON):.1g}, not {loss.epsilon}")
    usable = Loss(min(loss.epsilon, MOST_EPSILON), loss.delta)
    laws: tuple[Law, ...] = ("laplace", "gaussian") if usable.delta else ("laplace",)
    found = [one for one in (_least(shape, law, usable) for law in laws) if one is not None]
    best = min(found, key=lambda one: sum(k * d * d for k, d in zip(shape.sizes, one.deviations, strict=True)))
    if not best.spent() <= loss:  # never, unless the search is wrong
        raise ParameterError("the calibration of a fit does not keep what was paid")
    return best


def _least(shape: FitLayout, law: Law, loss: Loss) -> Calibration | None:
    """The least noise of one law, by halving: the loss falls as noise grows. None where no amount of it is enough."""
    power = 0.5 if law == "laplace" else 0.25
    relative = [1 / (size**power * favour) for size, favour in zip(shape.sizes, shape.favours, strict=True)]
    low, high = 0.0, 1.0
    while not (best := _at(shape, law, relative, high, loss.epsilon)).spent() <= loss:
        low, high = high, 2 * high
        if high > LARGEST:
            return None
    while high - low > NARROW * high:
        middle = (low + high) / 2
        tried = _at(shape, law, relative, middle, loss.epsilon)
        if tried.spent() <= loss:
            best, high = tried, middle
        else:
            low = middle
    return best


def _at(shape: FitLayout, law: Law, relative: list[float], size: float, epsilon: Fraction) -> Calibration:
    scales = tuple(size * one for one in relative)
    ridges = _ridges(shape, law, scales, epsilon)
    steep = STEEP if shape.signed else 1.0
    gradient = GRADIENT * max(1.0, steep * shape.records * (len(shape.sizes) + 8) / FINEST)
    gradient = max(gradient, 4 * LATTICE * shape.columns)  # a step of the lattice for each class is taken off it
    rough = Calibration(shape, law, epsilon, scales, ridges, gradient, 1.0)
    return replace(rough, release_scale=float_up(rough.reach / (epsilon * RELEASE_SHARE)))


def _ridges(shape: FitLayout, law: Law, scales: tuple[float, ...], epsilon: Fraction) -> tuple[float, ...]:
    """One and a half of the noise's deviation, and more where noise exceeds the evidence.

    A cell whose curvature is h and whose noise has deviation d is off by d / (h + ridge), and by what the ridge takes
    away. If the cell's number has variance v before anything is seen, the best ridge is d^2 / (h v). Here v is an equal
    part of ``signal`` for each term. Gaussian noise in many terms needs more, for the determinant to stay free.
    """
    deviations = [_deviation(law) * scale for scale in scales]
    each = shape.signal / len(shape.sizes)
    least = SIGNED_RIDGE if shape.signed else LEAST_RIDGE
    found = [max(least * d, d * d * k / (shape.evidence * each)) for k, d in zip(shape.sizes, deviations, strict=True)]
    factor = 1.0 if shape.kinds == 2 else shape.classes / (shape.classes - 1)
    factor = 2.0 if shape.signed else factor
    more = max(1.0, factor * sum(1 / ridge for ridge in found) / (MOST_TILT * float(epsilon)))
    return tuple(more * ridge for ridge in found)


def _deviation(law: Law) -> float:
    return math.sqrt(2) if law == "laplace" else 1.0
