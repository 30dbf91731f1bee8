"""The convex fit: descend until the gradient is certified to be small, however long that takes.

It asks for sums over records only, through ``FitSums``. It looks at gradients and never at the objective, whose
differences vanish in rounding errors long before the gradient is as small as it must be. The number of steps, what they
saw and what the last one reached are never shown. Steps come from limited-memory BFGS, preconditioned by the curvature
of the terms; a step is as long as the slope along it says. Any answer with the certificate is as good for the proof
(``docs/proofs/perturbed_program.md``), so nothing here but the certificate can break it.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from privet.privacy.counting import (
    CURVATURE_BITS,
    RESIDUAL_BITS,
    Engine,
    FitCurvature,
    FitSums,
    Partition,
    class_counts,
    whole,
)
from privet.privacy.fits.calibration import STEEP
from privet.privacy.fits.smoothness import Ridge
from privet.structure.fit_losses import LOG_LOSS, FitLoss, LogCosh
from privet.structure.terms import UNIT, Term

Floats = npt.NDArray[np.float64]

MEMORY = 30  # steps that the quasi-Newton method remembers
FLAT_ENOUGH = 0.9  # a step is taken if the slope at its end is that much smaller than at its start
TOO_FAR = 0.5  # or, beyond the lowest point, that much; after PATIENCE steps, only short of it: that always ends
PATIENCE = 60
SLOW = 0.2  # a step that leaves more than this of the gradient makes a new curvature worth its pass
REBEND = 4  # with more classes curvature is a rough guide: it is asked for at the start and after so many steps
ULP = 2.0**-53


@dataclass(frozen=True, eq=False)
class Objective:
    """sum of log-losses + ridge + noise . theta, over records in an engine; theta has a row for each cell.

    ``background`` are terms that were released before, with what they add to a score. ``noise`` has a row for each
    cell; with more than two columns, the rows of noise, and so of theta, sum to 0.
    """

    engine: Engine
    cells: Partition
    terms: tuple[Term, ...]
    background: tuple[tuple[Term, Floats], ...]
    offset: Floats
    class_weights: Floats
    ridge: Ridge
    noise: Floats
    loss: FitLoss = LOG_LOSS

    def question(self, theta: Floats, kind: type[FitSums] = FitSums) -> FitSums:
        terms = (*self.terms, *(term for term, _ in self.background))
        parts = zip(self.terms, self.split(theta), strict=True)
        tables = (*(term.spread(part) for term, part in parts), *(table for _, table in self.background))
        return kind(self.cells, terms, tables, self.offset, self.class_weights, len(self.terms), self.loss)

    def split(self, theta: Floats) -> list[Floats]:
        """The rows of each term."""
        return np.split(theta, np.cumsum([term.size for term in self.terms])[:-1])


def solve(objective: Objective, gradient: float) -> Floats:
    """A point at which every entry of the gradient is certified to be at most ``gradient`` from 0."""
    counts = class_counts(objective.engine, objective.cells).sum(axis=0)
    records = float(counts.sum())
    theta = np.zeros_like(objective.noise)
    slope, error = _gradient(objective, theta, records)
    path, steps = _Path(objective, theta, counts), 0
    while not np.abs(slope).max() + error <= gradient:  # in these words, so that no number at all is no certificate
        way = path.direction(slope)
        fall = float((slope * way).sum())
        if not fall < 0:  # rounding has spoilt what was remembered
            path.bend(theta)
            continue
        step, short, long = 1.0, 0.0, np.inf
        at_short, at_long = fall, np.nan
        while True:
            there = _balanced(theta + step * way)
            ahead, error = _gradient(objective, there, records)
            along = float((ahead * way).sum())
            beyond = TOO_FAR if steps < PATIENCE else 0.0
            if FLAT_ENOUGH * fall <= along <= -beyond * fall or np.abs(ahead).max() + error <= gradient:
                break
            if not along <= 0:
                long, at_long = step, along if np.isfinite(along) else -at_short
            else:
                short, at_short = step, along
            step = _between(short, at_short, long, at_long)
        shrunk = np.abs(ahead).max() / max(np.abs(slope).max(), np.finfo(float).tiny)
        path.learn(there - theta, ahead - slope)
        theta, slope = there, ahead
        steps += 1
        if shrunk > SLOW and (theta.shape[1] == 1 or steps == REBEND):
            path.bend(theta)
    return theta


def _between(short: float, at_short: float, long: float, at_long: float) -> float:
    """Where the slope should be about 0: by the secant, but never close to either end; further on if there is no end.

    The slope along a way grows from below 0, since the objective is convex.
    """
    if not np.isfinite(long):
        return 3 * max(short, 0.25)
    return short + (long - short) * float(np.clip(at_short / (at_short - at_long), 0.1, 0.9))


def _gradient(objective: Objective, theta: Floats, records: float) -> tuple[Floats, float]:
    """The gradient at ``theta`` as computed, and how far an entry of it can be from the true one."""
    question = objective.question(theta)
    sums = whole(objective.engine.answer([question])[0])
    bounds = np.cumsum([term.bins for term in objective.terms])[:-1]
    parts = [term.gather(part) for term, part in zip(objective.terms, np.split(sums, bounds), strict=True)]
    data = np.asarray(np.concatenate(parts) / (UNIT * 2**RESIDUAL_BITS), dtype=np.float64)
    slope = _balanced(data + objective.ridge.pull(theta) + objective.noise)
    # One record: the score is a sum of as many terms, each a mix of up to four numbers, and of the margin; the
    # exponentials and the quotient are off by a few units in the last place; then comes the rounding to whole numbers.
    added = [objective.offset, *objective.split(theta), *(table for _, table in objective.background)]
    loss = objective.loss
    number = isinstance(loss, LogCosh)  # the slope of a hyperbolic tangent is four times that of a probability
    beside = max(map(abs, loss.values)) if isinstance(loss, LogCosh) else loss.margin
    highest = sum(float(np.abs(part).max()) for part in added) + beside
    steep = STEEP if number else 1.0
    one = 2.0 ** -(RESIDUAL_BITS + 1) + steep * (len(question.tables) + 9) * ULP * (highest + 4)
    largest = max(float(np.abs(data).max()), float(np.abs(objective.noise).max()), objective.ridge.most(theta))
    return slope, 2 * records * one + 16 * ULP * largest * objective.noise.shape[1]


def _balanced(rows: Floats) -> Floats:
    """With a column for each class, only differences matter: rows that sum to 0."""
    return rows if rows.shape[1] == 1 else rows - rows.mean(axis=1, keepdims=True)


class _Path:
    """Where to go next: what the curvature says, corrected by what the last steps saw."""

    def __init__(self, objective: Objective, theta: Floats, counts: npt.NDArray[np.int64]) -> None:
        self._objective = objective
        self._seen: deque[tuple[Floats, Floats, float]] = deque(maxlen=MEMORY)
        share = (counts + 1) / (counts.sum() + len(counts))
        spread = share * (1 - share)
        # A class that most records (or hardly any) belong to bends less than the others.
        self._bends = np.ones(1) if objective.noise.shape[1] == 1 else spread / spread.mean() * (2 / len(share))
        self.bend(theta)

    def bend(self, theta: Floats) -> None:
        """Ask for the curvature at a point."""
        asked = self._objective.question(theta, FitCurvature)
        upper = self._objective.engine.answer([asked])[0] / 2.0**CURVATURE_BITS
        full = upper + np.triu(upper, 1).T
        ridge = self._objective.ridge.matrix
        self._inverse = [np.linalg.inv(bend * full + ridge) for bend in self._bends]
        self._seen.clear()

    def learn(self, step: Floats, change: Floats) -> None:
        """What a step did to the gradient."""
        curved = float((step * change).sum())
        if curved > 0:  # always, but for rounding
            self._seen.append((step, change, curved))

    def direction(self, slope: Floats) -> Floats:
        left, used = slope.copy(), []
        for step, change, curved in reversed(self._seen):
            share = float((step * left).sum()) / curved
            left -= share * change
            used.append(share)
        way = np.stack([inverse @ left[:, c] for c, inverse in enumerate(self._inverse)], axis=1)
        for (step, change, curved), share in zip(self._seen, reversed(used), strict=True):
            way += (share - float((change * way).sum()) / curved) * step
        return _balanced(-way)
