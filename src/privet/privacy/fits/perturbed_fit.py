"""One convex fit with noise in its objective, released once. Claim and proof: ``docs/proofs/perturbed_fit.md``.

The noise is drawn on a lattice, the fit is solved until its gradient is certified to be small, and what is released
has noise of its own that covers what is left between the solver's answer and the exact one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from privet.errors import ParameterError, ReceiptError
from privet.privacy.counting import Engine, Partition
from privet.privacy.fits.calibration import LATTICE, RELEASE_STEP, Calibration
from privet.privacy.fits.smoothness import Ridge
from privet.privacy.fits.solver import Objective, solve
from privet.privacy.ledger import Receipt
from privet.privacy.noise import Law, NoiseSource, current_source, declare
from privet.schema import Schema
from privet.structure.fit_losses import LOG_LOSS, FitLoss, LogCosh, MarginLoss
from privet.structure.terms import Term, check_terms

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

OBJECTIVE = "objective with {} noise"  # the mechanism, as charges have it
LARGEST = np.iinfo(np.int64).max
FAR = 2.0**28  # log-odds: what is released is clipped there, so that its steps fit into 64 bits


@dataclass(frozen=True, eq=False)
class Fit:
    """A public plan of a fit: what is fitted, on top of what was released before.

    ``background`` has terms with their released tables; ``offset`` a number for each column, and ``class_weights`` one
    in [0, 1] for each class. ``loss`` says what a record leaves unexplained.
    """

    terms: tuple[Term, ...]
    offset: Floats
    class_weights: Floats
    background: tuple[tuple[Term, Floats], ...] = ()
    loss: FitLoss = LOG_LOSS

    def check(self, schema: Schema, cells: int) -> None:
        """Refuse, before anything is charged, what is no plan over this schema and a partition into ``cells``."""
        check_terms([*self.terms, *(term for term, _ in self.background)], schema, cells)
        if type(self.loss) is not (LogCosh if schema.predicts_number else MarginLoss):
            raise ParameterError("the loss of a fit must be the one of privet.structure.fit_losses for its label")
        if isinstance(self.loss, LogCosh) and len(self.loss.values) != schema.n_classes:
            raise ParameterError("the loss of a fit must have a value for each bin of the label")
        if fault := self.loss.fault:
            raise ParameterError(fault)
        columns = schema.n_scores
        shapes: list[tuple[Floats, tuple[int, ...]]] = [(self.offset, (columns,))]
        shapes += [(self.class_weights, (schema.n_classes,))]
        shapes += [(table, (term.bins, columns)) for term, table in self.background]
        for numbers, shape in shapes:
            if numbers.shape != shape or numbers.dtype != np.float64 or not np.isfinite(numbers).all():
                raise ParameterError(f"offset, class_weights and tables of a fit must be finite numbers, here {shape}")
        if self.class_weights.min() < 0 or self.class_weights.max() > 1:
            raise ParameterError("class_weights must lie between 0 and 1; they are public and never n / (k n_c)")


def release_fit(
    engine: Engine, cells: Partition, plan: Fit, calibration: Calibration, receipt: Receipt
) -> list[Floats]:
    """(cell, column) released numbers of each term: scores of the second class, or a number for each class."""
    if not calibration.spent() <= receipt.loss:
        raise ReceiptError(f"the receipt for {receipt.what!r} pays {receipt.loss}, and this fit costs more")
    receipt.redeem()
    declare("perturbed fit", cells, plan, calibration, receipt.loss)
    source = current_source()
    receipt.mark(source.caveat)
    sizes, columns = [term.size for term in plan.terms], calibration.shape.columns
    scales = zip(sizes, calibration.scales, strict=True)
    noise = np.concatenate([_noise(source, calibration.law, size, columns, scale) for size, scale in scales])
    objective = Objective(
        engine=engine,
        cells=cells,
        terms=plan.terms,
        background=plan.background,
        offset=plan.offset,
        class_weights=plan.class_weights,
        ridge=Ridge.of(sizes, calibration.shape.chains, calibration.ridges),
        noise=noise,
        loss=plan.loss,
    )
    # The uniform part that the proof adds to the lattice moves a row by at most (columns - 1) halves of a step.
    theta = solve(objective, calibration.gradient - LATTICE * columns)
    steps = np.rint(np.clip(theta, -FAR, FAR) / RELEASE_STEP).astype(np.int64)
    return objective.split(source.covering(steps, calibration.release_scale).astype(np.float64) * RELEASE_STEP)


def _noise(source: NoiseSource, law: Law, size: int, columns: int, scale: float) -> Floats:
    """(cell, column) noise of an objective, on a lattice."""
    steps = scale / LATTICE
    if columns == 1:
        return _unbounded(source, law, size, steps)[:, None] * LATTICE
    if law == "gaussian":
        drawn = _unbounded(source, law, size * columns, steps).reshape(size, columns) * LATTICE
        return np.asarray(drawn - drawn.mean(axis=1, keepdims=True))
    return _zero_sum(source, size, columns, steps) * LATTICE


def _zero_sum(source: NoiseSource, rows: int, columns: int, scale: float) -> Floats:
    """Rows of discrete Laplace noise, given that each sums to 0: by rejection, exactly.

    All entries of a row but the last are drawn; the last is what makes the sum 0, and the row is kept with the chance
    exp(-|last| / scale), up to a factor: so likely is another Laplace number to be at least |last|.
    """
    kept = np.empty((rows, columns))
    waiting = np.arange(rows)
    while waiting.size:
        drawn = _unbounded(source, "laplace", waiting.size * (columns - 1), scale).reshape(waiting.size, columns - 1)
        last = -drawn.sum(axis=1)
        keep = _unbounded(source, "laplace", waiting.size, scale) >= np.abs(last)
        kept[waiting[keep]] = np.column_stack([drawn[keep], last[keep]])
        waiting = waiting[~keep]
    return kept


def _unbounded(source: NoiseSource, law: Law, size: int, scale: float) -> Floats:
    """Whole noise as floats. OpenDP stops at the ends of 64 bits; beyond, Laplace noise goes on as it began."""
    drawn = source.hidden(law, size, scale)
    values = drawn.astype(np.float64)
    beyond = np.flatnonzero((drawn == LARGEST) | (drawn <= -LARGEST))
    for i in beyond if law == "laplace" else ():
        more = -1.0
        while more < 0:
            more = float(_unbounded(source, law, 1, scale)[0])
        values[i] += np.sign(values[i]) * more
    return values
