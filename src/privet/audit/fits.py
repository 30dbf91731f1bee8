"""The law of a perturbed fit, by integration, on tables so small that it can be written down.

What such a fit releases follows from no single draw, so walking transcripts says nothing about it. But for one or two
numbers the density of the exact solution is a formula (``docs/proofs/perturbed_fit.md``): it is computed here from the
records of a small table and from the scales and ridges that the real calibration gives, and compared between
neighbours. How far the real solver is from that solution, and the noise that covers it, are looked at on the real code.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from privet.audit.draws import Call, Outcome, Script
from privet.engines.memory import MemoryEngine
from privet.privacy.counting import ROOT
from privet.privacy.fits.calibration import LATTICE, RELEASE_STEP, Calibration, Shape, calibrate
from privet.privacy.fits.perturbed_fit import Fit, release_fit
from privet.privacy.ledger import Ledger
from privet.privacy.losses import Loss
from privet.schema import Categorical, Schema
from privet.schema.encoding import Codes
from privet.structure.terms import UNIT, Term
from privet.testing.noise import use_noise

Floats = npt.NDArray[np.float64]
Calibrate = Callable[[Shape, Loss], Calibration]

INTEGRATED = "the law of its fits, by integration"
FAR = 60.0  # log-odds: beyond, a density's ratio does not change any more


@dataclass(frozen=True)
class Case:
    """One term or two, and what the last of some records adds to a table of the others.

    A record is the bin that it has in each term, and its class; all but the last are there ``crowd`` times. ``mixes``
    has the cells of each bin of a term.
    """

    name: str
    classes: int
    mixes: tuple[tuple[tuple[float, ...], ...], ...]
    records: tuple[tuple[tuple[int, ...], int], ...]
    crowd: int = 1

    @property
    def terms(self) -> tuple[Term, ...]:
        return tuple(
            Term.of((a,), [np.arange(len(mix))], [range(len(mix[0]))] * len(mix), np.rint(np.array(mix) * UNIT))
            for a, mix in enumerate(self.mixes)
        )

    @property
    def shape(self) -> Shape:
        sizes, touched = zip(*((term.size, term.touched) for term in self.terms), strict=True)
        return Shape(sizes, touched, (1.0,) * len(sizes), self.classes, 10.0, 1e6)  # no more ridge than needed

    def features(self, records: int) -> Floats:
        """(record, cell) of the first ``records``."""
        rows = [np.concatenate([mix[b] for mix, b in zip(self.mixes, bins, strict=True)])
                for bins, _ in self.records[:records]]  # fmt: skip
        return np.array(rows).reshape(records, sum(len(mix[0]) for mix in self.mixes))

    def times(self, records: int) -> Floats:
        """How often each of the first ``records`` is there."""
        return np.where(np.arange(records) == len(self.records) - 1, 1.0, float(self.crowd))

    def labels(self, records: int) -> npt.NDArray[np.int64]:
        return np.array([label for _, label in self.records[:records]], dtype=np.int64)


def cases() -> Iterator[Case]:
    """One cell, two cells of a term, two terms of a cell each, and three classes; over a few small tables."""
    one, mixed = (((1.0,),),), (((1.0, 0.0), (0.0, 1.0), (0.5, 0.5)),)
    for before in ((), (0,), (1,), (0, 1, 1), (0,) * 6, (1,) * 6):
        for label in (0, 1):
            yield Case("one cell", 2, one, (*(((0,), y) for y in before), ((0,), label)))
            if before:
                yield Case("a crowd", 2, one, (((0,), before[0]), ((0,), label)), crowd=1000 * len(before))
    for bins in ((0, 0, 1, 0), (2, 0, 1, 2), (1, 2, 2, 0)):
        yield Case("two cells", 2, mixed, tuple(((b,), i % 2) for i, b in enumerate(bins)))
    for label in (0, 1):
        yield Case("two terms", 2, one * 2, (((0, 0), 1), ((0, 0), 0), ((0, 0), label)))
    for label in (0, 2):
        yield Case("three classes", 3, one, (((0,), 0), ((0,), 1), ((0,), label)))
        yield Case("three classes, a crowd", 3, one, (((0,), 0), ((0,), 1), ((0,), label)), crowd=2000)


@dataclass(frozen=True)
class FitLaw:
    """The worst of all cases: the loss, and the delta beyond the claimed epsilon."""

    loss: float
    delta: float
    case: str

    def keeps(self, claimed: Loss) -> bool:
        return self.loss <= float(claimed.epsilon) * (1 + 1e-9) and self.delta <= float(claimed.delta) * (1 + 1e-3)


def audit_law(claimed: Loss, calibration: Calibrate = calibrate) -> FitLaw:
    """What the calibrations for ``claimed`` lose over small neighbouring tables. Pure where ``claimed`` is.

    >>> audit_law(Loss(1)).keeps(Loss(1))
    True
    """
    loss, delta, worst = 0.0, 0.0, ""
    for case in cases():
        given = calibration(case.shape, claimed)
        cover = 2 * float(given.reach / Fraction(given.release_scale))
        large, small = (log_density(case, given, records) for records in (len(case.records), len(case.records) - 1))
        if given.law == "laplace":
            found = float(np.abs(large.values - small.values).max()) + cover
            loss, worst = max((loss, worst), (found, case.name))
        else:
            epsilon = float(claimed.epsilon) - cover
            found = max(large.beyond(small, epsilon), small.beyond(large, epsilon))
            delta, worst = max((delta, worst), (found, case.name))
    return FitLaw(loss, delta, worst)


@dataclass(frozen=True, eq=False)
class Density:
    """The logarithm of a density at points, and the volume that each point stands for."""

    values: Floats
    volumes: Floats

    @property
    def mass(self) -> float:
        return float((np.exp(self.values) * self.volumes).sum())

    def beyond(self, other: Density, epsilon: float) -> float:
        """The delta that ``epsilon`` leaves."""
        more = np.exp(self.values) - np.exp(epsilon + other.values)
        return float((np.maximum(more, 0.0) * self.volumes).sum())


def log_density(case: Case, calibration: Calibration, records: int) -> Density:
    """Of the exact solution, for the table of the first records, on a grid."""
    features, labels, times = case.features(records), case.labels(records), case.times(records)
    sizes = calibration.shape.sizes
    scales, ridges = np.repeat(calibration.scales, sizes), np.repeat(calibration.ridges, sizes)
    if case.classes > 2:
        counts = np.bincount(labels, times, minlength=3).astype(np.float64)
        return _of_three(counts, float(scales[0]), float(ridges[0]), calibration.law)
    points, volumes = _grid(len(scales), 4001 if len(scales) == 1 else 301)
    p = _logistic(points @ features.T)
    noise = -((times * (p - labels)) @ features + ridges * points)
    bent = (times * p * (1 - p)) @ np.einsum("na,nb->nab", features, features).reshape(records, len(scales) ** 2)
    jacobian = bent.reshape(-1, len(scales), len(scales)) + np.diag(ridges)
    return Density(_log_noise(noise, scales, calibration.law) + np.linalg.slogdet(jacobian)[1], volumes)


def _of_three(counts: Floats, scale: float, ridge: float, law: str) -> Density:
    """One cell and three classes: a plane of rows that sum to 0."""
    basis = np.array([[1, -1, 0], [1, 1, -2]]) / np.sqrt([[2], [6]])
    points, volumes = _grid(2, 301)
    theta = points @ basis
    weights = np.exp(theta - theta.max(axis=1, keepdims=True))
    p = weights / weights.sum(axis=1, keepdims=True)
    noise = -(counts.sum() * p - counts + ridge * theta)
    curved = counts.sum() * (np.einsum("ma,ab->mab", p, np.eye(3)) - np.einsum("ma,mb->mab", p, p))
    jacobian = np.einsum("ia,mab,jb->mij", basis, curved, basis) + ridge * np.eye(2)
    if law == "laplace":
        # The normaliser on the plane is the same for both tables.
        logs = -np.abs(noise).sum(axis=1) / scale
    else:
        logs = -(noise**2).sum(axis=1) / (2 * scale**2) - math.log(2 * math.pi * scale**2)
    return Density(logs + np.linalg.slogdet(jacobian)[1], volumes)


def _grid(dimensions: int, points: int) -> tuple[Floats, Floats]:
    """Points that are dense around 0, and the volume of each."""
    inner = np.linspace(-1, 1, points)
    axis = FAR * np.sign(inner) * np.abs(inner) ** 3
    width = np.gradient(axis)
    meshes = np.meshgrid(*(axis,) * dimensions, indexing="ij")
    volumes = np.meshgrid(*(width,) * dimensions, indexing="ij")
    return np.stack([mesh.ravel() for mesh in meshes], axis=1), np.prod([v.ravel() for v in volumes], axis=0)


def _logistic(scores: Floats) -> Floats:
    return np.asarray(np.exp(-np.logaddexp(0, -scores)))


def _log_noise(noise: Floats, scales: Floats, law: str) -> Floats:
    if law == "laplace":
        return np.asarray((-np.abs(noise) / scales - np.log(2 * scales)).sum(axis=1))
    return np.asarray((-((noise / scales) ** 2) / 2 - np.log(scales * math.sqrt(2 * math.pi))).sum(axis=1))


# ---- the real solver and the real release ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Covered:
    """How far, in steps, the solver was from the exact solution; and the scale of the noise that covers it."""

    apart: float
    reach: float
    scale: float

    @property
    def loss(self) -> float:
        """What the noise leaves of that distance; infinite without any."""
        return math.inf if self.scale <= 0 else self.reach / self.scale

    @property
    def kept(self) -> bool:
        return self.apart <= self.reach


def audit_release(case: Case, claimed: Loss, seed: int = 0) -> Covered:
    """Run the real fit of a case of two classes with scripted noise, and solve it again by other means."""
    random = np.random.default_rng(seed)
    calibration = calibrate(case.shape, claimed)
    schema = Schema(
        tuple(Categorical(f"a{a}", tuple(range(len(mix)))) for a, mix in enumerate(case.mixes)),
        Categorical("class", tuple(range(case.classes))),
    )
    each = np.repeat(np.arange(len(case.records)), case.times(len(case.records)).astype(int))
    bins = np.array([bins for bins, _ in case.records], dtype=np.uint8)[each].T
    labels = case.labels(len(case.records)).astype(np.uint8)[each]
    engine = MemoryEngine(schema, Codes(np.ascontiguousarray(bins), labels))
    drawn: list[int] = []
    seen: list[Call] = []

    def answer(call: Call, number: int) -> Outcome:
        if call.kind == "hidden":
            noise = np.rint(random.laplace(0, call.scale, call.values.size)).astype(np.int64).tolist()
            drawn.extend(noise)
            return tuple(noise)
        seen.append(call)
        return tuple(call.values.tolist())

    ledger = Ledger(claimed.epsilon, claimed.delta)
    plan = Fit(case.terms, np.zeros(1), np.ones(case.classes))
    with use_noise(Script((), answer)):
        released = release_fit(engine, ROOT, plan, calibration, ledger.charge(claimed, "audit"))
    exact = _solution(case, calibration, np.array(drawn) * LATTICE)
    apart = float(np.abs(np.concatenate(released)[:, 0] - exact).sum() / RELEASE_STEP)
    scale = seen[0].scale if len(seen) == 1 and seen[0].values.size == exact.size else 0.0
    return Covered(apart, float(calibration.reach), scale)


def _solution(case: Case, calibration: Calibration, noise: Floats) -> Floats:
    """The exact solution in extended precision, by Newton's method with halved steps."""
    records = len(case.records)
    features, labels, times = case.features(records), case.labels(records), case.times(records)
    ridges = np.repeat(calibration.ridges, calibration.shape.sizes)
    theta = np.zeros(len(ridges), dtype=np.longdouble)

    def slope(at: npt.NDArray[np.longdouble]) -> npt.NDArray[np.longdouble]:
        p = 1 / (1 + np.exp(-(features.astype(np.longdouble) @ at)))
        return np.asarray(features.T.astype(np.longdouble) @ (times * (p - labels)) + ridges * at + noise)

    for _ in range(200):
        here = slope(theta)
        p = 1 / (1 + np.exp(-(features @ theta.astype(np.float64))))
        jacobian = (features.T * (times * p * (1 - p))) @ features + np.diag(ridges)
        step = np.linalg.solve(jacobian, here.astype(np.float64)).astype(np.longdouble)
        while np.abs(slope(theta - step)).max() > np.abs(here).max() and np.abs(step).max() > 1e-18:
            step /= 2
        theta = theta - step
    return theta.astype(np.float64)
