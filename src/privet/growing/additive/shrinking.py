"""How far noise moves the curves of a fit, and how much of them it does not explain: free, on released numbers.

With many classes there are few records of each, and the ridge, which is for tables whose classes are well separated,
leaves noise in every curve. What is known of it: its variance and the ridge, and about how many records there are, but
not how many of them lie in which cell.

The same number in all cells of one curve, taken off all cells of another, changes no score. So records say nothing
about it, it is mostly noise, and noise that cancels: curves are centred first. Then the values of a cell are those of a
signal of unknown variance, the same in all cells of a curve, and of noise that depends on the cell's unknown share of
the records. Both are averaged out by how likely they make the values (empirical Bayes). It is a guess only: many weak
curves that agree look like noise one by one. What the records say of it is bought by
:mod:`privet.growing.additive.scaling`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from privet.privacy.fits.calibration import Calibration
from privet.privacy.fits.smoothness import Ridge
from privet.structure.terms import UNIT, Term

Floats = npt.NDArray[np.float64]

LOTS = -np.log1p(-np.array([0.125, 0.375, 0.625, 0.875]))  # quantiles of a part of something shared out by chance
SHARES = ((LOTS[:, None] + LOTS) / 2).ravel()  # of a cell's even share of the records: two parts, so few are very poor
SIGNALS = 4.0 ** np.arange(-10, 1.5, 0.5)  # variances of log-odds: from none to clearly separated classes
LAPLACE = 0.4  # of a Gaussian's: what a square of Laplace noise tells of its variance
ROUNDS = 20  # after which it hardly changes how often a signal is expected
TINY = 1e-300  # instead of 0, where all values are 0


def noise_of(term: Term, deviation: float, ridge: float, evidence: float) -> float:
    """How far noise moves a cell of a term whose cells have that evidence each: the root mean square.

    >>> noise_of(Term.one_hot((), [], 4), deviation=1.0, ridge=3.0, evidence=1.0)
    0.25
    """
    squares = (term.size - term.chain) / (ridge + evidence) ** 2
    if term.chain:  # only these cells depend on one another: there may be very many others
        matrix = Ridge.of((term.chain,), (term.chain,), (ridge,)).matrix + evidence * overlap(term)
        squares += float((np.linalg.inv(matrix) ** 2).sum())
    return deviation * math.sqrt(squares / term.size)


def overlap(term: Term) -> Floats:
    """(cell, cell) the curvature of a term's chain by the evidence of a cell, if all bins are equally likely.

    A record between two knots is part of both: it says more about their mean than about their difference.

    >>> overlap(Term.of((0,), [[0, 1, 2]], [[0, 1]] * 3, [[UNIT, 0], [UNIT // 2, UNIT // 2], [0, UNIT]], 2)).round(2)
    array([[0.83, 0.17],
           [0.17, 0.83]])
    """
    bins, places = np.nonzero(term.cells < term.chain)
    parts = np.zeros((term.bins, term.chain))
    np.add.at(parts, (bins, term.cells[bins, places]), term.weights[bins, places] / UNIT)
    whole = np.sqrt(parts.sum(axis=0))
    return np.asarray(parts.T @ parts / np.outer(whole, whole))


def guess_factor(terms: Sequence[Term], values: Sequence[Floats], calibration: Calibration) -> float:
    """How much the curves of many classes should count: the share of their squares that noise does not explain."""
    centred = [value - value.mean(axis=0) for value in values]
    squares = np.array([float((value**2).sum()) for value in centred])
    return float(np.array(kept_shares(terms, centred, calibration)) @ squares / max(float(squares.sum()), TINY))


def kept_shares(terms: Sequence[Term], centred: Sequence[Floats], calibration: Calibration) -> list[float]:
    """What to keep of each curve: the best guess of the signal, by its values. More than all where the ridge took much.

    How often signals are strong is found out from all curves together, and one of which nothing is known: where most
    are clear, an unclear one is likely to be one, too.
    """
    noises = zip(terms, centred, calibration.deviations, calibration.ridges, strict=True)
    found = [_by_signal(*one, calibration) for one in noises]
    logs = np.array([log for log, _ in found])
    likely = np.exp(logs - logs.max(axis=1, keepdims=True))
    often = unknown = np.full(len(SIGNALS), 1 / len(SIGNALS))
    for _ in range(ROUNDS):
        weights = often * likely / (likely @ often)[:, None]
        often = (unknown + weights.sum(axis=0)) / (len(weights) + 1)
    return [float(weight @ best) for weight, (_, best) in zip(weights, found, strict=True)]


def _by_signal(
    term: Term, value: Floats, deviation: float, ridge: float, calibration: Calibration
) -> tuple[Floats, Floats]:
    """(signal,) how likely the values of a centred curve are, as logarithms, and what to keep of them."""
    free = max((value.shape[1] - 1) * (1 - 1 / term.size), 1.0)
    square = (value**2).sum(axis=1) / free
    evidence = calibration.shape.evidence / term.size * SHARES
    # Records are a sample: the residuals of a cell vary by about as much as its evidence, beside the noise.
    noise = [(1 + h / deviation**2) * noise_of(term, deviation, ridge, h) ** 2 for h in evidence]
    reached = evidence / (evidence + ridge)  # of a signal: the ridge takes off the rest
    signal = SIGNALS[:, None, None] * reached**2  # (signal, cell, share of records)
    variance = signal + np.array(noise)
    weight = free * (LAPLACE if calibration.law == "laplace" else 1.0) / 2
    logs = -weight * (np.log(variance) + square[None, :, None] / variance)
    likely = np.exp(logs - logs.max(axis=2, keepdims=True))
    best = (signal / reached / variance * likely).sum(axis=2) / likely.sum(axis=2)
    total = (np.log(likely.sum(axis=2)) + logs.max(axis=2)).sum(axis=1)
    return total, best @ square / max(float(square.sum()), TINY)
