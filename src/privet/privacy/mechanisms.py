"""Mechanisms take exact values and a receipt, and give values to release: noisy numbers, or choices by scores.

Each redeems the receipt before it draws and takes its loss from it. So do ``samplers/``, which draw whole trees.
Proofs: ``docs/proofs/laplace.md``, ``docs/proofs/selection.md`` and, for a receipt in rho, ``docs/proofs/zcdp.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np
import numpy.typing as npt

from privet.errors import ParameterError
from privet.privacy.budget import float_up
from privet.privacy.concentrated import GAUSSIAN, choice_epsilon, gaussian_scale, pure_epsilon
from privet.privacy.ledger import Receipt
from privet.privacy.losses import Loss
from privet.privacy.noise import current_source
from privet.privacy.scores import Score, float_sensitivity

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
CellIndex = npt.NDArray[np.intp]
LAPLACE = "discrete Laplace"


@dataclass(frozen=True, slots=True)
class Selection:
    """How a candidate is drawn.

    ``one-sided`` draws with weights ``exp(eps q / S)``: adding a record moves all scores the same way. ``two-sided`` is
    the textbook's ``exp(eps q / 2S)``, which the published methods use.
    """

    mechanism: Literal["exponential", "permute-and-flip"] = "exponential"
    constant: Literal["one-sided", "two-sided"] = "one-sided"

    def __post_init__(self) -> None:
        if self.mechanism not in ("exponential", "permute-and-flip"):
            raise ParameterError(f"mechanism must be 'exponential' or 'permute-and-flip', not {self.mechanism!r}")
        if self.constant not in ("one-sided", "two-sided"):
            raise ParameterError(f"constant must be 'one-sided' or 'two-sided', not {self.constant!r}")

    @property
    def factor(self) -> int:
        return 1 if self.constant == "one-sided" else 2

    def epsilon(self, loss: Loss) -> Fraction:
        """The epsilon to draw with. Permute-and-flip has no bounded range, so that it gets less for a rho."""
        return choice_epsilon(loss) if self.mechanism == "exponential" else pure_epsilon(loss)


@dataclass(frozen=True, slots=True)
class Reach:
    """How far one record can move the integers of its cell.

    ``total`` bounds the moves, added up, and ``squares`` their squares. Both are 1 for the class counts of a cell, and
    for a sum ``total`` is the bound of the quantised values.
    """

    total: int = 1
    squares: int | None = None

    def __post_init__(self) -> None:
        if self.total < 1 or not (self.squares is None or 1 <= self.squares <= self.total**2):
            raise ParameterError(f"sensitivity must be at least 1, not {self.total} ({self.squares})")

    def noise(self, loss: Loss) -> tuple[str, float]:
        """The law of the noise that a loss buys, and its scale; of Gaussian noise that is the standard deviation."""
        if loss.rho:
            return GAUSSIAN, gaussian_scale(self.squares or self.total**2, loss.rho)
        return LAPLACE, float_up(self.total / loss.epsilon)


ONE = Reach()
How = Reach | tuple[Selection, Fraction] | str
"""What is paid for: counts, a choice by scores of a sensitivity (with the selection's factor), or a name alone."""


def described(how: How, loss: Loss) -> tuple[str, Fraction | None]:
    """The mechanism's name, and the scale of its noise if it has one, for the books."""
    if isinstance(how, str):
        return how, None
    if isinstance(how, Reach):
        law, scale = how.noise(loss)
        return law, Fraction(scale) if loss.rho else how.total / loss.epsilon
    selection, sensitivity = how
    return selection.mechanism, sensitivity / selection.epsilon(loss)


def noisy_counts(exact: Ints, receipt: Receipt, *, cells: CellIndex | None = None, reach: Reach = ONE) -> Ints:
    """Integers plus discrete noise, for a histogram in whose cells one record reaches as far as ``reach`` says.

    The noise is Laplace, or Gaussian for a receipt in rho.
    """
    law, scale = reach.noise(receipt.redeem_loss(cells))
    source = current_source()
    receipt.mark(source.caveat)
    return source.gaussian(exact, scale) if law == GAUSSIAN else source.laplace(exact, scale)


def check_candidates(
    selection: Selection, shape: tuple[int, int], allowed: npt.NDArray[np.bool_] | None, log_prior: Floats | None
) -> None:
    """Refuse what ``choose`` cannot do, before anything is charged. All of it is public."""
    if type(selection) is not Selection:
        raise ParameterError(f"selection must be a Selection, not {type(selection).__name__}")
    for name, array, kind in (("allowed", allowed, "b"), ("log_prior", log_prior, "f")):
        if array is not None and (array.shape != shape or array.dtype.kind != kind):
            raise ParameterError(
                f"{name} must be a (cell, candidate) array of {'booleans' if kind == 'b' else 'floats'}, {shape[0]} x "
                f"{shape[1]}"
            )
    if selection.mechanism == "permute-and-flip" and log_prior is not None:
        raise ParameterError("permute-and-flip needs a uniform prior; use mechanism='exponential' with a prior")
    if log_prior is not None and not (log_prior < np.inf).all():
        raise ParameterError("log_prior must hold logarithms of probabilities: no NaN and no +infinity")
    if allowed is not None and not allowed.any(axis=1).all():
        raise ParameterError("a cell has no candidate to choose from; turn it into a leaf instead")


def choose(
    scores: Floats,
    score: Score,
    receipt: Receipt,
    selection: Selection,
    *,
    terms: int,
    allowed: npt.NDArray[np.bool_] | None = None,
    log_prior: Floats | None = None,
    cells: CellIndex | None = None,
) -> npt.NDArray[np.intp]:
    """One candidate for each row of ``scores`` (cells x candidates).

    ``terms`` is the largest number of class counts that any one score sums, ``allowed`` the public candidate set of
    each cell and ``log_prior`` the log of its public base measure, both of the shape of ``scores``.
    """
    check_candidates(selection, (scores.shape[0], scores.shape[1]), allowed, log_prior)
    epsilon = selection.epsilon(receipt.redeem_loss(cells))
    shift = np.zeros(1)
    if log_prior is not None:
        # The public prior is added to the score, in the score's unit, so that exp(shift / scale) is its weight.
        shift = log_prior * float_up(score.sensitivity * selection.factor / epsilon)
    shift_bound = float(np.abs(np.where(np.isfinite(shift), shift, 0.0)).max(initial=0.0))
    sensitivity = float_sensitivity(score, terms, shift_bound)
    scale = float_up(sensitivity * selection.factor / epsilon)
    source = current_source()
    receipt.mark(source.caveat)
    draw = source.exponential if selection.mechanism == "exponential" else source.permute_and_flip
    chosen = np.empty(scores.shape[0], dtype=np.intp)
    for row, values in enumerate(scores + shift):
        candidates = np.arange(values.size) if allowed is None else np.flatnonzero(allowed[row])
        chosen[row] = candidates[draw(values[candidates], scale)]
    return chosen
