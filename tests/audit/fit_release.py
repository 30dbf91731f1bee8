"""The real solver and the real release of a perturbed fit, against a solution by other means."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from privet.audit.draws import Call, Outcome, Script
from privet.audit.fit_cases import Case
from privet.audit.seam import use_noise
from privet.engines.memory import MemoryEngine
from privet.privacy.counting import ROOT
from privet.privacy.fits.calibration import LATTICE, RELEASE_STEP, Calibration, calibrate
from privet.privacy.fits.perturbed_fit import Fit, release_fit
from privet.privacy.ledger import Ledger
from privet.privacy.losses import Loss
from privet.schema import Categorical, Schema
from privet.structure.fit_losses import LogCosh, MarginLoss
from privet.tables.encoding import Codes

Floats = npt.NDArray[np.float64]


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
    """Run the real fit of a case of numbers or two classes with scripted noise, and solve it again by other means."""
    random = np.random.default_rng(seed)
    calibration = calibrate(case.shape, claimed)
    values = tuple(sorted({label for _, label in case.records})) if case.numbers else tuple(range(case.classes))
    schema = Schema(
        tuple(Categorical(f"a{a}", tuple(range(len(mix)))) for a, mix in enumerate(case.mixes)),
        Categorical("class", tuple(range(max(len(values), 2)))),  # a number is given by the value of its bin
    )
    each = np.repeat(np.arange(len(case.records)), case.times(len(case.records)).astype(int))
    bins = np.array([bins for bins, _ in case.records], dtype=np.uint8)[each].T
    labels = np.searchsorted(values, case.labels(len(case.records))).astype(np.uint8)[each]
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
    loss = LogCosh((*values, 0.0)[: schema.n_classes]) if case.numbers else MarginLoss(case.margin)
    plan = Fit(case.terms, case.offsets, np.ones(schema.n_classes), loss=loss)
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
    apart = np.subtract.outer(np.arange(features.shape[1]), np.arange(features.shape[1]))
    chain = 0.5 ** np.abs(apart) if case.chained else np.eye(features.shape[1])  # one term, if it is chained
    ridge = np.linalg.inv(chain) * np.repeat(calibration.ridges, calibration.shape.sizes)
    theta = np.zeros(len(ridge), dtype=np.longdouble)

    def slope(at: npt.NDArray[np.longdouble]) -> tuple[npt.NDArray[np.longdouble], Floats]:
        scores = features.astype(np.longdouble) @ at + case.offset
        if case.numbers:
            residual = np.tanh(scores - labels)
            bend = 1 - residual**2
        else:
            p = 1 / (1 + np.exp(-(scores - case.margin * (2 * labels - 1))))
            residual, bend = p - labels, p * (1 - p)
        gradient = features.T.astype(np.longdouble) @ (times * residual) + ridge @ at + noise
        return np.asarray(gradient), (features.T * (times * bend).astype(np.float64)) @ features + ridge

    for _ in range(200):
        here, jacobian = slope(theta)
        step = np.linalg.solve(jacobian, here.astype(np.float64)).astype(np.longdouble)
        while np.abs(slope(theta - step)[0]).max() > np.abs(here).max() and np.abs(step).max() > 1e-18:
            step /= 2
        theta = theta - step
    return theta.astype(np.float64)
