"""Which terms would add most to a model that was released: an exponential mechanism over candidates.

The score of a candidate is what a record of the table leaves unexplained in its cells: the sum over its cells of
|sum of weight times residual|. A record's residual is at most 1 and its weights sum to 1, so one record moves every
score by at most 1, up or down. Scores are whole multiples of 2**-20, worked out in integers: see
``docs/proofs/perturbed_program.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from privet.errors import ParameterError
from privet.privacy.budget import float_up
from privet.privacy.counting import RESIDUAL_BITS, Engine, FitSums, Partition, whole
from privet.privacy.fits.perturbed_fit import Fit
from privet.privacy.ledger import Receipt
from privet.privacy.noise import current_source, declare
from privet.structure.terms import UNIT

Floats = npt.NDArray[np.float64]

STEP_BITS = 20  # a score has so many bits behind the point; up to 2**32 records, doubles hold it exactly
SENSITIVITY = 1 + Fraction(1, 2**18)  # 1 for the record, and roundings: of probabilities, and down to a step
STEPS_OF_ONE = UNIT * 2**RESIDUAL_BITS


def check_choice(penalties: Sequence[float], candidates: int, count: int) -> None:
    """Refuse, before anything is charged, what is no choice of ``count`` terms."""
    if not 1 <= count <= candidates:
        raise ParameterError(f"count must be from 1 to the number of candidates, {candidates}, not {count}")
    if len(penalties) != candidates or not np.isfinite(penalties).all() or np.abs(penalties).max() > 2**32:
        raise ParameterError("penalties must have a finite number for each candidate")


def choose_terms(
    engine: Engine, cells: Partition, plan: Fit, penalties: Sequence[float], count: int, receipt: Receipt
) -> list[int]:
    """The numbers of ``count`` of the plan's terms, drawn one after another without replacement.

    ``penalties`` are public numbers that are taken off the scores. Each draw gets an equal part of epsilon.
    """
    epsilon = receipt.redeem()
    declare("choice of terms", cells, plan, penalties, count)
    source = current_source()
    receipt.mark(source.caveat)
    scale = float_up(2 * SENSITIVITY * count / epsilon)
    steps = np.rint(np.asarray(penalties) * 2**STEP_BITS)
    scores = (_scores(engine, cells, plan) - steps) / 2**STEP_BITS
    left, chosen = list(range(len(plan.terms))), list[int]()
    for _ in range(count):
        chosen.append(left.pop(source.exponential(scores[left], scale)))
    return chosen


def _scores(engine: Engine, cells: Partition, plan: Fit) -> Floats:
    """What each term leaves unexplained, in whole steps."""
    columns = len(plan.offset)
    tables = (*(np.zeros((term.bins, columns)) for term in plan.terms), *(table for _, table in plan.background))
    terms = (*plan.terms, *(term for term, _ in plan.background))
    question = FitSums(cells, terms, tables, plan.offset, plan.class_weights, len(plan.terms), plan.loss)
    sums = whole(engine.answer([question])[0])
    found, start = np.empty(len(plan.terms)), 0
    for t, term in enumerate(plan.terms):
        total = sum(abs(entry) for entry in term.gather(sums[start : start + term.bins]).ravel().tolist())
        # With more than two classes, the residuals of a record sum to at most 2.
        found[t] = float((total << STEP_BITS) // (STEPS_OF_ONE * (1 if columns == 1 else 2)))
        start += term.bins
    return found
