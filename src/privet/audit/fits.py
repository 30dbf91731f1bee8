"""The law of a perturbed fit, by integration, on tables small enough for a closed form.

The release of such a fit follows from no single draw, so transcripts say nothing about it. But for one or two
parameters the density of the exact solution is a formula (``docs/proofs/perturbed_fit.md``). It is computed here from
the records of a small table and from the scales and ridges of the real calibration, and compared between neighbours.
The distance of the real solver from that solution, and the noise that covers it, are tested in
``tests/audit/fit_release.py``, on the real code.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

import numpy as np
import numpy.typing as npt

from privet.audit.fit_cases import Case, cases, number_cases
from privet.privacy.fits.calibration import Calibration, FitLayout, calibrate
from privet.privacy.fits.smoothness import Ridge
from privet.privacy.losses import Loss

Floats = npt.NDArray[np.float64]
Calibrate = Callable[[FitLayout, Loss], Calibration]

INTEGRATED = "the law of its fits, by integration"
FAR = 60.0  # log-odds: beyond, a density's ratio does not change any more


@dataclass(frozen=True)
class FitLaw:
    """The worst case: the loss, and the delta beyond the claimed epsilon."""

    loss: float
    delta: float
    case: str

    def keeps(self, claimed: Loss) -> bool:
        return self.loss <= float(claimed.epsilon) * (1 + 1e-9) and self.delta <= float(claimed.delta) * (1 + 1e-3)


def audit_law(claimed: Loss, calibration: Calibrate = calibrate, *, numbers: bool = False) -> FitLaw:
    """The loss of the calibrations for ``claimed`` over small neighbouring tables. Pure if ``claimed`` is pure.

    ``numbers``: of fits whose labels are numbers, not classes.

    >>> audit_law(Loss(1)).keeps(Loss(1))
    True
    """
    loss, delta, worst = 0.0, 0.0, ""
    given_for = cache(lambda shape: calibration(shape, claimed))  # many cases have the same shape
    for case in number_cases() if numbers else cases():
        given = given_for(case.shape)
        if given.law == "gaussian" and case.classes > 3:
            continue  # a delta is an integral over (classes - 1) dimensions
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
    """The log-density at grid points, and the volume of each point."""

    values: Floats
    volumes: Floats

    @property
    def mass(self) -> float:
        return float((np.exp(self.values) * self.volumes).sum())

    def beyond(self, other: Density, epsilon: float) -> float:
        """The delta at ``epsilon``."""
        more = np.exp(self.values) - np.exp(epsilon + other.values)
        return float((np.maximum(more, 0.0) * self.volumes).sum())


def log_density(case: Case, calibration: Calibration, records: int) -> Density:
    """The log-density of the exact solution for the table of the first records, on a grid."""
    features, labels, times = case.features(records), case.labels(records), case.times(records)
    sizes = calibration.shape.sizes
    scales = np.repeat(calibration.scales, sizes)
    if case.classes > 2:
        counts = np.bincount(labels.astype(np.int64), times, minlength=case.classes).astype(np.float64)
        return _of_rows(case, counts, float(scales[0]), calibration.ridges[0], calibration.law)
    ridge = Ridge.of(sizes, calibration.shape.chains, calibration.ridges).matrix
    points, volumes = _grid(len(scales), 4001 if len(scales) == 1 else 301)
    if case.crowd > 1 and case.numbers:
        points = points + _peak(case, ridge)
    residual, bend = _residuals(case, points @ features.T + case.offset, labels)
    noise = -((times * residual) @ features + points @ ridge)
    squares = (features[:, :, None] * features[:, None, :]).reshape(records, len(scales) ** 2)
    bent = (times * bend) @ squares
    jacobian = bent.reshape(-1, len(scales), len(scales)) + ridge
    return Density(_log_noise(noise, scales, calibration.law) + np.linalg.slogdet(jacobian)[1], volumes)


def _peak(case: Case, ridge: Floats) -> Floats:
    """The solution without noise for the crowd alone, by halving: the density is narrow around it. For one cell."""
    records = len(case.records) - 1
    labels, times = case.labels(records), case.times(records)
    low, high = -FAR, FAR
    while low < (middle := (low + high) / 2) < high:
        residual, _ = _residuals(case, np.array(middle + case.offset), labels)
        slope = float(times @ residual + middle * ridge[0, 0])
        low, high = (low, middle) if slope > 0 else (middle, high)
    return np.array([middle])


def _residuals(case: Case, scores: Floats, labels: Floats) -> tuple[Floats, Floats]:
    """The derivative of each record's loss by its score, and the second derivative."""
    if case.numbers:
        residual = np.tanh(scores - labels)
        return residual, 1 - residual**2
    p = _logistic(scores - case.margin * (2 * labels - 1))  # by the margin of each record
    return p - labels, p * (1 - p)


def _of_rows(case: Case, counts: Floats, scale: float, ridge: float, law: str) -> Density:
    """One cell and more than two classes: rows that sum to 0.

    For three classes they are a plane. For more, two lines are integrated, on which all classes but one have the same
    value: by the proof, losses are largest there.
    """
    k = case.classes
    basis = np.array([[1.0] * i + [-i] + [0.0] * (k - 1 - i) for i in range(1, k)])
    basis /= np.linalg.norm(basis, axis=1, keepdims=True)
    points, volumes = _grid(2, 301) if k == 3 else _grid(1, 1001)
    if k > 3:
        points = np.concatenate([points * basis[:, y] for y in (0, k - 1)])
        volumes = np.concatenate([volumes, volumes])
    theta = points @ basis
    noise, jacobian = -ridge * theta, np.tile(ridge * np.eye(k - 1), (len(theta), 1, 1))
    for label in np.flatnonzero(counts):
        scores = theta + case.offsets - case.margin * np.eye(k)[label]
        weights = np.exp(scores - scores.max(axis=1, keepdims=True))
        p = weights / weights.sum(axis=1, keepdims=True)
        noise -= counts[label] * (p - np.eye(k)[label])
        turned = p @ basis.T  # diag p - p p^T, in the coordinates of rows that sum to 0
        jacobian += counts[label] * (((p[:, None, :] * basis) @ basis.T) - turned[:, :, None] * turned[:, None, :])
    log_det = np.linalg.slogdet(jacobian)[1]
    if law == "laplace":
        # The normaliser on the plane is the same for both tables.
        logs = -np.abs(noise).sum(axis=1) / scale
    else:
        logs = -(noise**2).sum(axis=1) / (2 * scale**2) - (k - 1) / 2 * math.log(2 * math.pi * scale**2)
    return Density(logs + log_det, volumes)


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
