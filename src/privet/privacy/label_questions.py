"""Questions about labels whose codes are the bins of a number: sums of public values, and sets that hold their share.

Both are functions of class counts alone, so every engine can answer them.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from privet.errors import ParameterError
from privet.kinds import ChargeKind
from privet.privacy import mechanisms
from privet.privacy.level import BY_FLIPPING, Index, Ints, Level
from privet.privacy.mechanisms import Reach
from privet.privacy.noise import declare
from privet.privacy.scores import Balance, check_score

Bools = npt.NDArray[np.bool_]

MOST = 2**20  # of a public value: times 2**32 records a sum still fits into 64 bits


def noisy_label_sums(
    level: Level, epsilon: object, values: Ints, cells: Index | None = None, what: str = "label sums"
) -> Ints:
    """Noisy (cell,) sums over the records of a public whole number: ``values[cell, class]`` for one of that class.

    One record moves the sum of its cell by at most the largest of these numbers, which is the sensitivity.
    """
    values = np.asarray(values)
    shape = (level.size if cells is None else len(cells), level.schema.n_classes)
    if values.shape != shape or values.dtype != np.int64 or np.abs(values).max(initial=0) > MOST:
        raise ParameterError(f"values must be a (cell, class) array of whole numbers up to {MOST}")
    most = max(int(np.abs(values).max(initial=0)), 1)
    reach = Reach(most)
    chosen, receipt = level._charge(epsilon, cells, what, ChargeKind.SUM, reach)
    declare("label sums", values, chosen)
    exact = (level._class_counts[chosen] * values).sum(axis=1)
    return mechanisms.noisy_counts(exact, receipt, cells=chosen, reach=reach)


def choose_label_set(
    level: Level, epsilon: object, sets: tuple[Bools, Bools], score: Balance, what: str = "where the labels lie"
) -> int:
    """The number of a pair of sets of classes that are in balance: both are public (pair, class) arrays.

    What balance is depends on ``score``; it is one-sided (``docs/proofs/scores.md``).
    """
    check_score(score, (Balance,))
    pairs = np.stack(sets)
    if pairs.dtype != np.bool_ or pairs.ndim != 3 or pairs.shape[2] != level.schema.n_classes or level.size != 1:
        raise ParameterError("sets must be two (pair, class) arrays of booleans, asked of a single cell")
    mechanisms.check_candidates(BY_FLIPPING, (1, pairs.shape[1]), None, None)
    how = BY_FLIPPING, score.sensitivity * BY_FLIPPING.factor
    chosen, receipt = level._charge(epsilon, None, what, ChargeKind.CHOICE, how)
    declare("choice of a label set", pairs, score)
    counts = (pairs.astype(np.int64) @ level._class_counts[chosen[0]]).T
    return int(mechanisms.choose(score.node(counts)[None], score, receipt, BY_FLIPPING, terms=1, cells=chosen)[0])
