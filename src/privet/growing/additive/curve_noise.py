"""How far noise moves the curves of a fit, and how much of them it does not explain: free, on released numbers.

With many classes there are few records of each, and the ridge, which is for tables whose classes are well separated,
leaves noise in every curve. What is known of it: its variance and the ridge, and about how many records there are. The
same number in all cells of one curve, taken off all cells of another, changes no score. So records say nothing about
it, it is mostly noise, and noise that cancels: curves are centred before they are compared with their noise.

The comparison is a guess only: many weak curves that agree look like noise one by one. What the records say of it is
bought by :mod:`privet.growing.additive.scaling`.
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
    found = noise = 0.0
    known = zip(terms, values, calibration.deviations, calibration.ridges, strict=True)
    for term, value, deviation, ridge in known:
        found += float(((value - value.mean(axis=0)) ** 2).sum())
        free = (term.size - 1) * (value.shape[1] - 1)  # numbers: means of curves and of classes tell nothing
        evidence = calibration.shape.evidence / term.size
        # Records are a sample: the residuals of a cell vary by about as much as its evidence, beside the noise.
        noise += free * (1 + evidence / deviation**2) * noise_of(term, deviation, ridge, evidence) ** 2
    return max(1 - noise / found, 0.0) if found else 0.0
